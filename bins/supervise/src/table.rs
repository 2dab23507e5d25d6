//! `status --table`: for a person.

use crate::look::Status;

/// The rows as text, a line each.
#[must_use]
pub fn table(monitors: &[Status]) -> String {
    let head = ["NAME", "STATE", "PID", "UP", "RESTARTS", "LINES", "LAST LINE", "TASK"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(monitors.iter().map(row));
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    if monitors.is_empty() {
        text.push_str("no monitors here\n");
    }
    text
}

fn row(monitor: &Status) -> [String; 8] {
    let dash = || "-".to_owned();
    [
        monitor.name.clone(),
        state(monitor),
        monitor.pid.map_or_else(dash, |pid| pid.to_string()),
        span(monitor.uptime_seconds),
        monitor.restarts.to_string(),
        monitor.lines.to_string(),
        monitor.last_line_at.clone().unwrap_or_else(dash),
        monitor.task_id.clone(),
    ]
}

fn state(monitor: &Status) -> String {
    if let Some(err) = &monitor.log_error {
        return format!("no log: {err}");
    }
    if monitor.alive && monitor.pid.is_some() {
        return if monitor.ready { "running" } else { "starting" }.to_owned();
    }
    let reason = monitor.end_reason.and_then(|reason| serde_json::to_value(reason).ok());
    // Its keeper is there, and ends it or is about to start it again.
    let reason =
        if monitor.alive { None } else { reason.as_ref().and_then(|reason| reason.as_str()) };
    let reason = reason.unwrap_or("down").to_owned();
    match (monitor.exit_code, monitor.exit_signal) {
        (Some(code), _) => format!("{reason} ({code})"),
        (_, Some(signal)) => format!("{reason} (signal {signal})"),
        _ => reason,
    }
}

/// The two largest units: `3d 4h`, `5m 6s`.
fn span(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, _, _) => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units() {
        let shown = [5, 65, 3_700, 90_061].map(span);
        assert_eq!(shown, ["5s", "1m 5s", "1h 1m", "1d 1h"]);
    }
}
