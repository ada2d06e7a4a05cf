//! What both tools do: run a command and tell what it came to.

use serde::Serialize;
use toolquay::capability::shell::{ShellArgs, ShellOk};
use toolquay::{Body, Context, Output, Schema, Text, ToolError};

use crate::ending::Ending;
use crate::notes;

/// What a command came to, for machines.
#[derive(Serialize, Schema)]
pub struct Ran {
    /// The exit status; left out where the command goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// What it means, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<String>,
    /// The signal that ended the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Whether the command was ended at its time limit.
    timed_out: bool,
    /// What the command used too much of, for which it was ended: memory, processes,
    /// output or cpu.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    /// The id of the background task that the command is.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// The file that the output lies in as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_file: Option<String>,
    /// How many bytes the command has written.
    bytes: u64,
    /// How many of them are line ends.
    lines: u64,
    /// How many of them are no UTF-8.
    invalid: u64,
    /// The working directory where it is another now.
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Whether the command ran in a sandbox.
    sandboxed: bool,
    /// How long it took, in milliseconds.
    duration_ms: u64,
}

/// Runs a command.
pub fn run(args: &ShellArgs<'_>, cx: &Context) -> Result<Output, ToolError> {
    let answer = cx.shell().run(args)?;
    let ok = answer.ok;
    let ending = Ending::of(&ok);
    let mut output = content(&ok, answer.body, &ending, cx);
    if ending.failed {
        output = output.is_error();
    }
    if !ok.cwd.is_empty() {
        output = output.change_cwd(&ok.cwd);
    }
    Ok(output.structured(&structured(ok, ending)))
}

/// The notes and behind them the output, which does not enter the guest.
fn content(ok: &ShellOk, body: Body, ending: &Ending, cx: &Context) -> Output {
    let mut notes = notes::of(ok, ending, cx);
    let image = !ok.media_type.is_empty();
    // A model's service takes no images in the result of a call that failed.
    if image && ending.failed {
        notes.push(format!("[the output is an image, {}, which is not shown]", ok.media_type));
    }
    let notes = notes.join("\n");
    let shown = ok.out_size > 0 && !(image && ending.failed);
    match (notes.as_str(), shown) {
        ("", true) if image => Output::new().image(&ok.media_type, body),
        (_, true) if image => Output::text(notes).image(&ok.media_type, body),
        ("", true) => Output::text(body),
        (_, true) => Output::text(Text::from(notes + "\n").with(body)),
        // The host would show the structured answer instead.
        ("", false) => Output::text(format!("({} completed with no output)", cx.tool())),
        (_, false) => Output::text(notes),
    }
}

fn structured(ok: ShellOk, ending: Ending) -> Ran {
    Ran {
        exit_code: ok.task.is_empty().then_some(ok.exit),
        meaning: ending.meaning,
        signal: said(ok.signal),
        timed_out: ok.timed_out,
        limit: said(ok.limit),
        task_id: said(ok.task),
        output_file: said(ok.output_file),
        bytes: ok.bytes,
        lines: ok.lines,
        invalid: ok.invalid,
        cwd: said(ok.cwd),
        sandboxed: ok.sandboxed,
        duration_ms: ok.duration,
    }
}

fn said(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
