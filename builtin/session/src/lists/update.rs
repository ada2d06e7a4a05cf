//! The tool TaskUpdate.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolquay::capability::lists::{WorkChange, WorkOk, WorkStatus};
use toolquay::{Context, Output, Schema, ToolError, tool};

use super::words::{name, noted};

/// A state that a task can be put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "snake_case")]
pub enum NewStatus {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

impl From<NewStatus> for WorkStatus {
    fn from(status: NewStatus) -> Self {
        match status {
            NewStatus::Pending => Self::Pending,
            NewStatus::InProgress => Self::InProgress,
            NewStatus::Completed => Self::Completed,
            NewStatus::Deleted => Self::Deleted,
        }
    }
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateInput {
    /// The number of the task.
    #[schema(min_length = 1)]
    task_id: String,
    #[schema(min_length = 1, max_length = 500)]
    subject: Option<String>,
    #[schema(max_length = 20000)]
    description: Option<String>,
    /// What is being done, shown while in progress.
    #[schema(max_length = 500)]
    active_form: Option<String>,
    /// deleted removes the task for good.
    status: Option<NewStatus>,
    /// Tasks that are to wait for this one.
    #[schema(max_items = 1000)]
    add_blocks: Option<Vec<String>>,
    /// Tasks that this one is to wait for.
    #[schema(max_items = 1000)]
    add_blocked_by: Option<Vec<String>>,
    /// The agent that does it; empty is nobody.
    #[schema(max_length = 256)]
    owner: Option<String>,
    /// Merged into what there is; null removes a key.
    metadata: Option<Map<String, Value>>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateOutput {
    /// Whether the task is now as it was to be.
    success: bool,
    /// The number of the task.
    task_id: String,
    /// The fields that changed.
    updated_fields: Vec<String>,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_change: Option<StatusChange>,
    /// Whether it was completed, three or more are, and none is a check of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_nudge_needed: Option<bool>,
}

#[derive(Serialize, Schema)]
pub struct StatusChange {
    from: &'static str,
    to: &'static str,
}

/// Changes a task: its state, its text, its owner, what waits for what.
///
/// - Mark a task in_progress when you start on it, which makes it yours, and completed when
///   it is done: not while tests fail or a part is missing.
/// - Give only what changes.
#[tool(name = "TaskUpdate", output = UpdateOutput)]
pub fn task_update(input: UpdateInput, cx: &mut Context) -> Result<Output, ToolError> {
    let task_id = input.task_id;
    let change = WorkChange {
        subject: input.subject,
        description: input.description,
        active_form: input.active_form,
        status: input.status.map(WorkStatus::from),
        owner: input.owner,
        add_blocks: input.add_blocks.unwrap_or_default(),
        add_blocked_by: input.add_blocked_by.unwrap_or_default(),
        metadata: input.metadata.unwrap_or_default(),
    };
    Ok(match cx.lists().update(&task_id, &change) {
        Ok(ok) => updated(task_id, ok),
        Err(err) => refused(task_id, err),
    })
}

fn updated(task_id: String, ok: WorkOk) -> Output {
    let status_change = ok.from.zip(ok.to).map(|(from, to)| StatusChange { from: name(from), to: name(to) });
    let text = match (&status_change, ok.updated.is_empty()) {
        (Some(StatusChange { to: "deleted", .. }), _) => format!("Deleted task #{task_id}."),
        (Some(change), _) => {
            let others: Vec<_> = ok.updated.iter().map(String::as_str).filter(|field| *field != "status").collect();
            let also = if others.is_empty() { String::new() } else { format!("; changed: {}", others.join(", ")) };
            format!("Task #{task_id}: {} -> {}{also}.", change.from, change.to)
        }
        (None, true) => format!("Task #{task_id} is as it was."),
        (None, false) => format!("Task #{task_id}: changed {}.", ok.updated.join(", ")),
    };
    Output::text(noted(text, ok.unchecked, &ok.notes)).structured(&UpdateOutput {
        success: true,
        task_id,
        updated_fields: ok.updated,
        error: None,
        status_change,
        verification_nudge_needed: ok.unchecked.then_some(true),
    })
}

fn refused(task_id: String, err: ToolError) -> Output {
    let structured = UpdateOutput {
        success: false,
        task_id,
        updated_fields: Vec::new(),
        error: Some(err.message.clone()),
        status_change: None,
        verification_nudge_needed: None,
    };
    Output::new().structured(&structured).failed(err)
}
