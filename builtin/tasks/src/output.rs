//! The tool TaskOutput.

use serde::{Deserialize, Serialize};
use toolquay::capability::task::{TaskOk, TaskOutputArgs};
use toolquay::{Context, Output, Schema, Text, ToolError, tool};

use crate::words::{count, happened, span, state};

/// How long a call waits where it does not say, in milliseconds.
const DEFAULT_TIMEOUT: u64 = 30_000;

#[derive(Deserialize, Schema)]
pub struct TaskOutputInput {
    /// The id of the task.
    #[schema(min_length = 1)]
    task_id: String,
    /// Whether to wait until the task has ended.
    #[schema(default = true)]
    block: Option<bool>,
    /// How long to wait for that at most, in milliseconds.
    #[schema(minimum = 0, maximum = 600000, default = 30000)]
    timeout: Option<u64>,
    /// A regular expression: new lines that it does not match are passed over for good.
    filter: Option<String>,
}

#[derive(Serialize, Schema)]
pub struct TaskOutputOutput {
    /// The id of the task.
    task_id: String,
    /// What kind of task it is, such as bash.
    kind: String,
    /// pending, running, completed, failed, killed or lost.
    state: &'static str,
    /// Whether that is how it ended.
    ended: bool,
    /// success where it has ended, timeout where the wait was over before, not_ready where
    /// none was asked for.
    retrieval_status: &'static str,
    /// The exit status of a command that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// Whether the wait was over before the task was.
    timed_out: bool,
    /// The first byte of the output that this call has read, counted from 0.
    from: u64,
    /// The byte behind the last one.
    to: u64,
    /// How many bytes of output there are.
    bytes: u64,
    /// The file that the output lies in.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_file: Option<String>,
    /// How long the task has run, or ran, in milliseconds.
    elapsed_ms: u64,
}

/// Shows how a background task is and what it has put out since it was last asked.
///
/// - Waits until the task has ended or the time is up; with block false it answers at once.
///   The task is not disturbed.
/// - What was shown before lies in the task's output file, which the answer names.
/// - When a task ends, the next result says so: no need to ask again and again.
#[tool(name = "TaskOutput", output = TaskOutputOutput)]
pub fn task_output(input: TaskOutputInput, cx: &mut Context) -> Result<Output, ToolError> {
    let timeout = input.timeout.unwrap_or(DEFAULT_TIMEOUT);
    let block = input.block.unwrap_or(true) && timeout > 0;
    let filter = input.filter.as_deref().unwrap_or_default();
    let args = TaskOutputArgs { id: &input.task_id, block, timeout: if block { timeout } else { 0 }, filter };
    let answer = cx.tasks().output(&args)?;
    let task = answer.ok;
    // The notes come first, so that they stay where a preview is all that is shown.
    let notes = notes(&task, timeout).join("\n");
    let text = match task.to > task.from {
        true => Text::from(notes + "\n").with(answer.body),
        false => Text::from(notes),
    };
    Ok(Output::text(text).structured(&structured(task)))
}

fn notes(task: &TaskOk, timeout: u64) -> Vec<String> {
    let mut notes = vec![format!("[{}]", happened(task))];
    if task.timed_out {
        notes.push(format!(
            "[it did not end within {}: go on with something else, and the next result after its end says so, or wait \
             again]",
            span(timeout)
        ));
    }
    notes.push(format!("[{}{}]", read(task), file(task)));
    if task.skipped > 0 {
        notes.push(format!("[left out by the filter: {}]", count(task.skipped, "new line")));
    }
    if task.to < task.bytes {
        notes.push("[there is more: call TaskOutput again to go on]".to_owned());
    }
    notes
}

/// Says what of the output was read.
fn read(task: &TaskOk) -> String {
    match (task.to - task.from.min(task.to), task.bytes) {
        (0, 0) if task.ended => "no output".to_owned(),
        (0, 0) => "no output yet".to_owned(),
        (0, bytes) => format!("no new output after {}", count(bytes, "byte")),
        (new, bytes) if new == bytes => format!("output: {}", count(bytes, "byte")),
        (new, bytes) => format!("new output: {new} of {}, from byte {} on", count(bytes, "byte"), task.from),
    }
}

fn file(task: &TaskOk) -> String {
    if task.output_file.is_empty() { String::new() } else { format!("; its file is {}", task.output_file) }
}

fn structured(task: TaskOk) -> TaskOutputOutput {
    TaskOutputOutput {
        state: state(&task),
        task_id: task.id,
        kind: task.kind,
        ended: task.ended,
        retrieval_status: match (task.ended, task.timed_out) {
            (true, _) => "success",
            (false, true) => "timeout",
            (false, false) => "not_ready",
        },
        exit_code: task.exit,
        timed_out: task.timed_out,
        from: task.from,
        to: task.to,
        bytes: task.bytes,
        output_file: Some(task.output_file).filter(|path| !path.is_empty()),
        elapsed_ms: task.elapsed,
    }
}
