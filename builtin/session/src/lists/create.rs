//! The tool TaskCreate.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolquay::capability::lists::WorkChange;
use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};

use super::words::noted;

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CreateInput {
    /// What is to be done, in a line.
    #[schema(min_length = 1, max_length = 500)]
    subject: String,
    /// What to do, and how to tell that it is done.
    #[schema(max_length = 20000)]
    description: String,
    /// What is being done, shown while in progress.
    #[schema(max_length = 500)]
    active_form: Option<String>,
    /// Notes of your own, by keys.
    metadata: Option<Map<String, Value>>,
}

#[derive(Serialize, Schema)]
pub struct CreateOutput {
    /// The new task.
    task: CreatedTask,
}

#[derive(Serialize, Schema)]
pub struct CreatedTask {
    id: String,
    subject: String,
}

/// Adds a task to the task list, which the user and the other agents see.
///
/// - Use it for work of three steps or more, before you begin, with a task for each.
/// - TaskUpdate starts and completes them, and says what waits for what.
#[tool(name = "TaskCreate", output = CreateOutput)]
pub fn task_create(input: CreateInput, cx: &mut Context) -> Result<Output, ToolError> {
    let change = WorkChange {
        subject: Some(input.subject),
        description: Some(input.description),
        active_form: input.active_form,
        metadata: input.metadata.unwrap_or_default(),
        ..WorkChange::default()
    };
    let ok = cx.lists().create(&change)?;
    let Some(task) = ok.task else {
        return Err(ToolError::new(ErrorCode::Protocol, "the host made no task"));
    };
    let text = noted(format!("Created task #{}: {}", task.id, task.subject), false, &ok.notes);
    Ok(Output::text(text).structured(&CreateOutput { task: CreatedTask { id: task.id, subject: task.subject } }))
}
