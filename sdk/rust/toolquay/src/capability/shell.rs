//! Commands: `shell.run`.

use serde::{Deserialize, Serialize};

use super::{Capability, is_zero};
use crate::context::Context;
use crate::error::ToolError;
use crate::pending::Answer;

/// The shells that run commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShellKind {
    /// bash.
    #[default]
    Bash,
    /// PowerShell, where there is one.
    PowerShell,
}

/// The arguments of `shell.run`. The body of the answer is the output as UTF-8 text, or
/// the bytes of an image; with `separate` standard output and behind it standard error.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ShellArgs<'a> {
    /// What runs, byte for byte.
    pub command: &'a str,
    /// What runs it.
    #[serde(skip_serializing_if = "is_zero")]
    pub shell: ShellKind,
    /// In milliseconds; 0 is the host's usual time, and the host's most bounds it.
    #[serde(rename = "timeout_ms", skip_serializing_if = "is_zero")]
    pub timeout: u64,
    /// What the command does in a few words, for people.
    #[serde(skip_serializing_if = "is_zero")]
    pub description: &'a str,
    /// Starts the command as a task, and answers at once.
    #[serde(skip_serializing_if = "is_zero")]
    pub background: bool,
    /// Asks to run outside the sandbox, which rules and a person decide.
    #[serde(skip_serializing_if = "is_zero")]
    pub unsandboxed: bool,
    /// Keeps standard error apart. Without it both are one text, as they came.
    #[serde(skip_serializing_if = "is_zero")]
    pub separate: bool,
}

/// Why a command is a task in the background now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Background {
    /// The call said so.
    Asked,
    /// It reached its time limit.
    Timeout,
    /// It held the conversation up for as long as it may.
    Budget,
    /// A person moved it.
    Person,
    /// What this version does not know.
    #[serde(other)]
    Other,
}

/// The answer to `shell.run`, which a command that failed has too.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ShellOk {
    /// The exit status, 128 and the signal's number where a signal ended the command.
    /// It says nothing of a task.
    pub exit: i64,
    /// The name of the signal that ended it, such as `SIGKILL`.
    pub signal: String,
    /// Whether it was ended at its time limit.
    pub timed_out: bool,
    /// That limit, in milliseconds.
    #[serde(rename = "timeout_ms")]
    pub timeout: u64,
    /// What it was ended for using too much of: `memory`, `processes`, `output` or
    /// `cpu`.
    pub limit: String,
    /// The same with the figure.
    pub limit_text: String,
    /// The program whose exit status this is, where the host can tell.
    pub program: String,
    /// The id of the background task that the command is; empty where it has ended.
    pub task: String,
    /// Why it is one.
    pub background: Option<Background>,
    /// The file that holds the output as it came, absolute; empty where the body is all
    /// of it.
    pub output_file: String,
    /// How many bytes that file holds where it does not hold all: the first ones of an
    /// output that was too long to be kept. 0 is all.
    pub kept: u64,
    /// How many bytes of the body are output.
    pub out_size: u64,
    /// How many bytes behind them are standard error, with `separate`.
    pub err_size: u64,
    /// How many bytes the command wrote.
    pub bytes: u64,
    /// How many of those are line ends.
    pub lines: u64,
    /// How many of them are no UTF-8, and stand as U+FFFD in the body.
    pub invalid: u64,
    /// The media type of an image, where the output is one.
    pub media_type: String,
    /// The shell's directory at the end, where it is another than before and lies in
    /// the session's directories; for [`Output::change_cwd`](crate::Output::change_cwd).
    pub cwd: String,
    /// The same where it lies elsewhere.
    pub refused: String,
    /// How many processes the command had left behind, which were ended.
    pub left: u64,
    /// Whether it ran in a sandbox.
    pub sandboxed: bool,
    /// What the model should know of how it ran.
    pub note: String,
    /// How long it took, in milliseconds.
    #[serde(rename = "duration_ms")]
    pub duration: u64,
}

impl Capability for ShellArgs<'_> {
    const NAME: &'static str = "shell.run";
    type Ok = ShellOk;
}

/// Blocking runs of commands. For those that go on meanwhile, hand the arguments to
/// [`Context::submit`].
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a>(&'a Context);

// Inlined, so that nothing of it is compiled into plugins that do not use it.
impl<'a> Shell<'a> {
    #[inline]
    pub(crate) const fn new(cx: &'a Context) -> Self {
        Self(cx)
    }

    /// Runs a command. Its output stays with the host until it is read. A command that
    /// fails is no error: see [`ShellOk::exit`].
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidInput`](crate::ErrorCode::InvalidInput) for what no shell
    /// can be given, [`ErrorCode::Unsupported`](crate::ErrorCode::Unsupported) where
    /// the shell is missing, [`ErrorCode::Denied`](crate::ErrorCode::Denied), or
    /// whatever else the host answers.
    #[inline]
    pub fn run(self, args: &ShellArgs<'_>) -> Result<Answer<ShellOk>, ToolError> {
        self.0.call(args)
    }
}
