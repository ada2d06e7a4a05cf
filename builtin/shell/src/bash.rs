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
    /// The time limit in milliseconds; usually 120000 if left out, and 600000 at most.
    #[schema(minimum = 1)]
    timeout: Option<u64>,
    /// What the command does, in a few words, for the user: "Run the unit tests".
    description: Option<String>,
    /// Starts the command as a background task and answers at once.
    #[serde(default)]
    #[schema(default = false)]
    run_in_background: bool,
    /// Asks to run outside the sandbox. Only where the sandbox has made a command fail
    /// that is needed.
    #[serde(rename = "dangerouslyDisableSandbox", default)]
    #[schema(default = false)]
    disable_sandbox: bool,
}

/// Runs a command in bash and shows its output: standard output and standard error as
/// one text, in the order they came.
///
/// What a command finds:
/// - Every call has a new shell, without start-up files. It begins in the directory in
///   which the last one ended, as long as that is one of the session's; nothing else is
///   carried over, such as variables, functions and options.
/// - There is no terminal and no input. Programs that ask, page or open an editor get no
///   answer: use options that avoid it (-y, -m, --no-pager).
/// - Where there is a sandbox, a command can write to the working directories and to the
///   directory for temporary files, $TMPDIR, and may have no network. Where a needed
///   command fails for that, say so and call it again with dangerouslyDisableSandbox: rules
///   or the user decide.
/// - /tmp is then another one than that of Read and Write: what is for both goes to a
///   working directory or to $TMPDIR.
///
/// How long it runs:
/// - 2 minutes unless timeout says otherwise, up to 10; both limits can be set
///   differently. At its limit a command goes on as a background task, or is ended with
///   all that it has started.
/// - run_in_background is for servers, watchers and long builds. The answer names a task:
///   TaskOutput shows its output, TaskStop ends it, and you are told when it ends. With a
///   final & a process would be ended with its command.
/// - To wait, use Sleep if you have it: a command that begins with a sleep of 2 seconds
///   or more is then refused.
///
/// How to use it:
/// - Prefer Read to cat, head and tail, Grep to grep, Glob to find and ls, Edit and Write
///   to sed, awk and echo. Their results are bounded and need less permission.
/// - Quote paths that have spaces: cat "a b.txt".
/// - Join commands that need each other with &&, and make separate calls in one message of
///   others. Those that only read run side by side; when one fails, the others are
///   cancelled.
/// - A result begins with notes in square brackets where there is something to say, such
///   as an exit status other than 0: a failure, unless the program means something else by
///   it, as grep does when it finds nothing.
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
