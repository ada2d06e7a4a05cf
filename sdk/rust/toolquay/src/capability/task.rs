//! Background tasks: `task.output`, `task.stop`, `task.sleep`.

use serde::{Deserialize, Serialize};

use super::{Capability, is_zero};
use crate::context::Context;
use crate::error::ToolError;
use crate::pending::Answer;

/// The states of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskState {
    /// It has not begun.
    Pending,
    /// It runs.
    Running,
    /// It ended well.
    Completed,
    /// It ended badly.
    Failed,
    /// It was ended.
    Killed,
    /// Its host ended before it did: nobody knows how it ended.
    Lost,
    /// What this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

/// The arguments of `task.output`, which goes on where the read before ended. The body
/// of the answer is the text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskOutputArgs<'a> {
    /// The task.
    pub id: &'a str,
    /// Waits for the task's end, for at most `timeout`.
    #[serde(skip_serializing_if = "is_zero")]
    pub block: bool,
    /// In milliseconds.
    #[serde(rename = "timeout_ms", skip_serializing_if = "is_zero")]
    pub timeout: u64,
    /// A regular expression: only lines that it matches are returned, and the others
    /// count as read. Empty is all.
    #[serde(skip_serializing_if = "is_zero")]
    pub filter: &'a str,
}

/// The arguments of `task.stop`. The answer has no body.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskArgs<'a> {
    /// The task.
    pub id: &'a str,
}

/// The answer to `task.output` and `task.stop`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskOk {
    /// The task.
    pub id: String,
    /// What it is, such as `bash`.
    pub kind: String,
    /// How it is.
    pub state: TaskState,
    /// Whether it has ended.
    pub ended: bool,
    /// One line for people, such as the command.
    pub title: String,
    /// The exit status of a command that has ended, where it has one.
    pub exit: Option<i64>,
    /// Why it failed or was ended.
    pub reason: String,
    /// Where all of the output lies, absolute.
    pub output_file: String,
    /// The first byte of the output that was read.
    pub from: u64,
    /// The one behind the last.
    pub to: u64,
    /// How many there are.
    pub bytes: u64,
    /// How many lines `filter` left out.
    pub skipped: u64,
    /// Whether `timeout` ended the wait, not the task.
    pub timed_out: bool,
    /// How long it has run, or ran, in milliseconds.
    #[serde(rename = "elapsed_ms")]
    pub elapsed: u64,
    /// How many processes were ended with it.
    pub left: u64,
}

impl Capability for TaskOutputArgs<'_> {
    const NAME: &'static str = "task.output";
    type Ok = TaskOk;
}

impl Capability for TaskArgs<'_> {
    const NAME: &'static str = "task.stop";
    type Ok = TaskOk;
}

/// The arguments of `task.sleep`. The answer has no body.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SleepArgs {
    /// In milliseconds, 1 up to an hour.
    #[serde(rename = "duration_ms")]
    pub duration: u64,
}

/// The answer to `task.sleep`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SleepOk {
    /// In milliseconds.
    #[serde(rename = "slept_ms")]
    pub slept: u64,
    /// A background task that ended meanwhile, which ended the wait; or empty.
    pub woken: String,
}

impl Capability for SleepArgs {
    const NAME: &'static str = "task.sleep";
    type Ok = SleepOk;
}

/// Blocking operations on the session's background tasks. For those that go on
/// meanwhile, hand the arguments to [`Context::submit`].
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a>(&'a Context);

// Inlined, so that nothing of it is compiled into plugins that do not use it.
impl<'a> Tasks<'a> {
    #[inline]
    pub(crate) const fn new(cx: &'a Context) -> Self {
        Self(cx)
    }

    /// Reads what a task has put out since it was read last. The text stays with the
    /// host until it is read.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`](crate::ErrorCode::NotFound),
    /// [`ErrorCode::InvalidInput`](crate::ErrorCode::InvalidInput) for a broken
    /// expression, or whatever else the host answers.
    #[inline]
    pub fn output(self, args: &TaskOutputArgs<'_>) -> Result<Answer<TaskOk>, ToolError> {
        self.0.call(args)
    }

    /// Ends a task and waits until nothing of it is left. One that has ended by itself
    /// is no error.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`](crate::ErrorCode::NotFound), or whatever else the host
    /// answers.
    #[inline]
    pub fn stop(self, id: &str) -> Result<TaskOk, ToolError> {
        self.0.call(&TaskArgs { id }).map(|answer| answer.ok)
    }

    /// Waits so many milliseconds, or until a task ends.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidInput`](crate::ErrorCode::InvalidInput) for more than an
    /// hour, or whatever else the host answers.
    #[inline]
    pub fn sleep(self, duration: u64) -> Result<SleepOk, ToolError> {
        self.0.call(&SleepArgs { duration }).map(|answer| answer.ok)
    }
}
