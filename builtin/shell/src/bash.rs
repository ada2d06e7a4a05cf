//! The tool Bash.

use serde::Deserialize;
use toolquay::capability::shell::{ShellArgs, ShellKind};
use toolquay::{Context, Output, Schema, ToolError, tool};

use crate::run::{Ran, run};

#[derive(Deserialize, Schema)]
pub struct BashInput {
    /// What to run, with bash's syntax.
    #[schema(min_length = 1)]
    command: String,
    /// The time limit in milliseconds: usually 120000 if left out, 600000 at most.
    #[schema(minimum = 1)]
    timeout: Option<u64>,
    /// What the command does, in a few words, for the user: "Run the unit tests".
    description: Option<String>,
    /// Starts the command as a background task and answers at once.
    #[serde(default)]
    #[schema(default = false)]
    run_in_background: bool,
    /// Asks to run outside the sandbox: rules or the user decide.
    #[serde(rename = "dangerouslyDisableSandbox", default)]
    #[schema(default = false)]
    disable_sandbox: bool,
}

/// Runs a command in bash and shows its output: standard output and standard error as
/// one text, in the order they came.
///
/// What a command finds:
/// - A new shell without start-up files, in the directory in which the last one ended, if
///   that is one of the session's. No variables, functions or options are carried over.
/// - No terminal and no input: have programs neither ask, page nor open an editor
///   (-y, -m, --no-pager).
/// - Where there is a sandbox: only the working directories and $TMPDIR to write to, perhaps
///   no network, and another /tmp than that of Read and Write. Where a needed command fails
///   for that, say so and call it again with dangerouslyDisableSandbox.
///
/// How long it runs:
/// - At its time limit it goes on as a background task, or is ended with all that it has
///   started.
/// - run_in_background is for servers, watchers and long builds. TaskOutput shows the output
///   of the task that the answer names, TaskStop ends it, and you are told when it ends.
///   What a final & began would be ended with its command.
/// - To wait, use Sleep if you have it: a command that begins with a sleep of 2 seconds
///   or more is then refused.
///
/// How to use it:
/// - Prefer Read to cat, head and tail, Grep to grep, Glob to find and ls, Edit and Write
///   to sed, awk and echo: their results are bounded and need less permission.
/// - Join commands that need each other with &&, and make separate calls in one message of
///   others: those that only read run side by side, and when one fails, the others are
///   cancelled.
/// - Notes in square brackets begin the result, such as an exit status other than 0.
#[tool(name = "Bash", output = Ran)]
pub fn bash(input: BashInput, cx: &mut Context) -> Result<Output, ToolError> {
    let args = ShellArgs {
        command: &input.command,
        shell: ShellKind::Bash,
        timeout: input.timeout.unwrap_or_default(),
        description: input.description.as_deref().unwrap_or_default(),
        background: input.run_in_background,
        unsandboxed: input.disable_sandbox,
        separate: false,
    };
    run(&args, cx)
}
