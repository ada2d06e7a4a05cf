//! The tool TaskStop.

use serde::{Deserialize, Serialize};
use toolquay::{Context, Output, Schema, ToolError, tool};

use crate::words::{count, happened, sentence, state};

#[derive(Deserialize, Schema)]
pub struct TaskStopInput {
    /// The id of the task, as the call that started it has told it.
    #[schema(min_length = 1)]
    task_id: String,
}

#[derive(Serialize, Schema)]
pub struct TaskStopOutput {
    /// The id of the task.
    task_id: String,
    /// What kind of task it is, such as bash.
    kind: String,
    /// How it ended: killed, or completed, failed or lost before.
    state: &'static str,
    /// The exit status of a command that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// How long the task ran, in milliseconds.
    elapsed_ms: u64,
}

/// Ends a background task, with all processes that it has started.
///
/// - Answers when nothing of the task is left.
/// - A task that has ended by itself is no error. What it put out stays, and TaskOutput
///   shows it.
#[tool(name = "TaskStop", output = TaskStopOutput)]
pub fn task_stop(input: TaskStopInput, cx: &mut Context) -> Result<Output, ToolError> {
    let task = cx.tasks().stop(&input.task_id)?;
    let mut text = sentence(&happened(&task));
    if !task.output_file.is_empty() && task.bytes > 0 {
        text.push_str(&format!(" Its output, {}, is in {}.", count(task.bytes, "byte"), task.output_file));
    }
    let structured = TaskStopOutput {
        state: state(&task),
        task_id: task.id,
        kind: task.kind,
        exit_code: task.exit,
        elapsed_ms: task.elapsed,
    };
    Ok(Output::text(text).structured(&structured))
}
