//! What the programs cost, beside the usual tools, all in one run: `tests/bench [SUBJECT]`.
//!
//! Figures are medians, and ratios of the same run; absolute numbers belong to the machine. What
//! another tool is missing for is left out and said.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench for a person")]

mod agents;
mod collab;
mod cost;
mod latency;
mod measure;
mod supervise;
mod throughput;

use measure::Table;

type Measure = fn(&mut Table);

fn main() {
    let subjects: [(&str, Measure); 11] = [
        ("start", cost::start_up),
        ("stop", cost::stop),
        ("idle", cost::idle),
        ("latency", latency::changes),
        ("stores", latency::stores),
        ("divergence", cost::divergence),
        ("agents", agents::agents),
        ("collab", collab::boards),
        ("supervise", supervise::supervise),
        ("tail", throughput::event_tail),
        ("classify", throughput::classify),
    ];
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut table = Table::default();
    for (name, measure) in subjects {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            measure(&mut table);
        }
    }
    table.print();
}
