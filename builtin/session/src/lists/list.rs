//! The tool TaskList.

use serde::{Deserialize, Serialize};
use toolquay::capability::lists::WorkItem;
use toolquay::{Context, Output, Schema, ToolError, tool};

use super::words::{ids, name, noted, some};

#[derive(Deserialize, Schema)]
pub struct ListInput {}

#[derive(Serialize, Schema)]
pub struct ListOutput {
    /// The tasks by their numbers.
    tasks: Vec<ListedTask>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ListedTask {
    id: String,
    subject: String,
    /// pending, in_progress or completed.
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// The tasks that it waits for, without completed ones.
    blocked_by: Vec<String>,
}

impl From<WorkItem> for ListedTask {
    fn from(task: WorkItem) -> Self {
        Self {
            id: task.id,
            subject: task.subject,
            status: name(task.status),
            owner: some(task.owner),
            blocked_by: task.blocked_by,
        }
    }
}

/// Lists the tasks, each in a line.
///
/// - Look for the next one when you have completed one: pending, without an owner and
///   waiting for nothing, low numbers first.
#[tool(name = "TaskList", output = ListOutput)]
pub fn task_list(_input: ListInput, cx: &mut Context) -> Result<Output, ToolError> {
    let (ok, tasks) = cx.lists().list()?;
    let lines: Vec<String> = tasks.iter().map(line).collect();
    let text = if lines.is_empty() { "No tasks.".to_owned() } else { lines.join("\n") };
    let structured = ListOutput { tasks: tasks.into_iter().map(ListedTask::from).collect() };
    Ok(Output::text(noted(text, false, &ok.notes)).structured(&structured))
}

fn line(task: &WorkItem) -> String {
    let mut text = format!("#{} [{}] {}", task.id, name(task.status), task.subject);
    if !task.owner.is_empty() {
        text.push_str(&format!(" ({})", task.owner));
    }
    if !task.blocked_by.is_empty() {
        text.push_str(&format!(" [blocked by {}]", ids(&task.blocked_by)));
    }
    text
}
