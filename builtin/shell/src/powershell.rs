//! The tool PowerShell.

use serde::Deserialize;
use toolquay::capability::shell::{ShellArgs, ShellKind};
use toolquay::{Context, Output, Schema, ToolError, tool};

use crate::run::{Ran, run};

#[derive(Deserialize, Schema)]
pub struct PowerShellInput {
    /// What to run, with PowerShell's syntax.
    #[schema(min_length = 1)]
    command: String,
    /// The time limit in milliseconds: usually 120000 if left out, 600000 at most.
    #[schema(minimum = 1)]
    timeout: Option<u64>,
    /// What the command does, in a few words, for the user: "List the services".
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

/// Runs a command in PowerShell (pwsh) and shows its output: standard output and standard
/// error as one text, in the order in which they came.
///
/// What a command finds:
/// - A new PowerShell without profiles, in the directory in which the last one ended, if
///   that is one of the session's. No variables, functions or modules are carried over.
/// - No terminal and no input: Read-Host, Get-Credential, menus and windows get no answer,
///   and cmdlets that ask before they act need -Confirm:$false.
/// - Where there is a sandbox: only the working directories and $env:TMPDIR to write to,
///   perhaps no network, and another /tmp than that of Read and Write. Where a needed command
///   fails for that, say so and call it again with dangerouslyDisableSandbox.
///
/// How long it runs:
/// - At its time limit it goes on as a background task, or is ended with all that it has
///   started.
/// - run_in_background is for servers, watchers and long builds. TaskOutput shows the output
///   of the task that the answer names, TaskStop ends it, and you are told when it ends. Jobs
///   of Start-Job end with their command.
/// - To wait, use Sleep if you have it, and not Start-Sleep.
///
/// How to use it:
/// - Prefer Read to Get-Content, Grep to Select-String, Glob to Get-ChildItem, Edit and
///   Write to Set-Content: their results are bounded and need less permission.
/// - Quote paths that have spaces, and call programs that lie there with &: & "a b.exe".
///   Double quotes expand $names and single ones do not; the escape character is the
///   backtick.
/// - Join commands that need each other with &&, and make separate calls in one message of
///   those that do not.
/// - Environment variables are $env:NAME. The exit status is that of the last program, or
///   what exit says.
/// - Notes in square brackets begin the result, such as an exit status other than 0.
#[tool(name = "PowerShell", output = Ran)]
pub fn powershell(input: PowerShellInput, cx: &mut Context) -> Result<Output, ToolError> {
    let args = ShellArgs {
        command: &input.command,
        shell: ShellKind::PowerShell,
        timeout: input.timeout.unwrap_or_default(),
        description: input.description.as_deref().unwrap_or_default(),
        background: input.run_in_background,
        unsandboxed: input.disable_sandbox,
        separate: false,
    };
    run(&args, cx)
}
