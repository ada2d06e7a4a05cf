//! The tool TaskGet.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolquay::capability::lists::WorkItem;
use toolquay::schema::Nullable;
use toolquay::{Context, Output, Schema, ToolError, tool};

use super::words::{ids, name, noted, some};

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct GetInput {
    /// The number of the task.
    #[schema(min_length = 1)]
    task_id: String,
}

#[derive(Serialize, Schema)]
pub struct GetOutput {
    /// The task; null where there is none of the number.
    task: Nullable<ShownTask>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ShownTask {
    id: String,
    subject: String,
    description: String,
    /// pending, in_progress or completed.
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    active_form: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// The tasks that wait for this one.
    blocks: Vec<String>,
    /// The tasks that this one waits for, completed ones too.
    blocked_by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
}

impl From<WorkItem> for ShownTask {
    fn from(task: WorkItem) -> Self {
        Self {
            id: task.id,
            subject: task.subject,
            description: task.description,
            status: name(task.status),
            active_form: some(task.active_form),
            owner: some(task.owner),
            blocks: task.blocks,
            blocked_by: task.blocked_by,
            metadata: Some(task.metadata).filter(|metadata| !metadata.is_empty()),
        }
    }
}

/// Shows all of a task: read it before you start on it.
#[tool(name = "TaskGet", output = GetOutput)]
pub fn task_get(input: GetInput, cx: &mut Context) -> Result<Output, ToolError> {
    let ok = cx.lists().get(&input.task_id)?;
    let text = match &ok.task {
        Some(task) => shown(task),
        None => "No such task.".to_owned(),
    };
    let structured = GetOutput { task: Nullable(ok.task.map(ShownTask::from)) };
    Ok(Output::text(noted(text, false, &ok.notes)).structured(&structured))
}

/// A task as text.
fn shown(task: &WorkItem) -> String {
    let mut text = format!("#{} [{}] {}", task.id, name(task.status), task.subject);
    let mut line = |what: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("\n{what}: {value}"));
        }
    };
    line("owner", &task.owner);
    line("blocked by", &ids(&task.blocked_by));
    line("blocks", &ids(&task.blocks));
    if !task.metadata.is_empty() {
        line("metadata", &Value::Object(task.metadata.clone()).to_string());
    }
    if !task.description.is_empty() {
        text.push_str(&format!("\n\n{}", task.description));
    }
    text
}
