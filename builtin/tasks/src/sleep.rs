//! The tool Sleep.

use serde::{Deserialize, Serialize};
use toolquay::{Context, Output, Schema, ToolError, tool};

use crate::words::span;

#[derive(Deserialize, Schema)]
pub struct SleepInput {
    /// How long to wait, in milliseconds; an hour at most.
    #[schema(minimum = 1, maximum = 3600000)]
    duration_ms: u64,
}

#[derive(Serialize, Schema)]
pub struct SleepOutput {
    /// How long it was, in milliseconds.
    slept_ms: u64,
    /// The id of the background task whose end has ended the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    woken_by: Option<String>,
}

/// Waits, for as long as you say.
///
/// - Holds no process and no shell, so use it rather than a sleep command. It ends early
///   when a background task ends, and when the user writes something.
/// - To wait for one task, use TaskOutput.
#[tool(name = "Sleep", output = SleepOutput)]
pub fn sleep(input: SleepInput, cx: &mut Context) -> Result<Output, ToolError> {
    let ok = cx.tasks().sleep(input.duration_ms)?;
    let woken_by = Some(ok.woken).filter(|id| !id.is_empty());
    let text = match &woken_by {
        Some(id) => format!(
            "Waited {} of {}: then task {id} ended. TaskOutput shows what it has put out.",
            span(ok.slept),
            span(input.duration_ms)
        ),
        None => format!("Waited {}.", span(ok.slept)),
    };
    Ok(Output::text(text).structured(&SleepOutput { slept_ms: ok.slept, woken_by }))
}
