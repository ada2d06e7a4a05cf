//! How lists of work are told of.

use serde::{Deserialize, Serialize};
use toolquay::Schema;
use toolquay::capability::lists::WorkStatus;

/// What a model is told that checked nothing.
pub const UNCHECKED: &str =
    "[three or more are completed, and none of them checked the work: run or review it before you report it done]";

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    InProgress,
    Completed,
}

impl From<Status> for WorkStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::InProgress => Self::InProgress,
            Status::Completed => Self::Completed,
        }
    }
}

/// The name of a status.
pub const fn name(status: WorkStatus) -> &'static str {
    match status {
        WorkStatus::Pending => "pending",
        WorkStatus::InProgress => "in_progress",
        WorkStatus::Completed => "completed",
        WorkStatus::Deleted => "deleted",
        _ => "unknown",
    }
}

/// Puts notes behind a text, each in a line of its own.
pub fn noted(mut text: String, unchecked: bool, notes: &[String]) -> String {
    for note in notes {
        text.push_str(&format!("\n[{note}]"));
    }
    if unchecked {
        text.push('\n');
        text.push_str(UNCHECKED);
    }
    text
}

/// Ids as #1, #2.
pub fn ids(list: &[String]) -> String {
    list.iter().map(|id| format!("#{id}")).collect::<Vec<_>>().join(", ")
}

/// None for an empty text.
pub fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
