//! What the subcommands print: one object each, keys in this order.

use serde::{Serialize, Serializer};

use crate::look::Status;

/// What `spawn` prints.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys are the contract's")]
pub(crate) struct Spawned {
    pub(crate) spawned: Ids,
    pub(crate) spawned_at: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) already_running: bool,
}

/// Names and task ids, in the order of their starting.
pub(crate) struct Ids(pub(crate) Vec<(String, String)>);

impl Serialize for Ids {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, id)| (name, id)))
    }
}

/// What `spawn-ci` prints.
#[derive(Serialize)]
pub(crate) struct SpawnedCi {
    pub(crate) monitor: String,
    pub(crate) task_id: String,
    pub(crate) target: String,
    pub(crate) spawned_at: String,
}

/// What `status` prints.
#[derive(Serialize)]
pub(crate) struct Checked<'a> {
    pub(crate) checked_at: String,
    pub(crate) monitors: &'a [Status],
}

/// What `stop` prints.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys are the contract's")]
pub(crate) struct Stopped {
    pub(crate) stopped: Vec<String>,
    pub(crate) stopped_at: String,
    pub(crate) changed: bool,
}
