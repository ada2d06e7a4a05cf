//! The tool Glob.

use serde::{Deserialize, Serialize};
use toolquay::capability::search::{NamesArgs, NamesOk};
use toolquay::{Context, Output, Schema, ToolError, tool};

use crate::{files, left_out, stopped};

/// The most files shown.
const MAX_FILES: u32 = 100;

#[derive(Deserialize, Schema)]
pub struct GlobInput {
    /// What the paths must look like: `*`, `?`, `[abc]` and `{a,b}` within one
    /// name, `**` for any directories, as in `src/**/*.ts`.
    #[schema(min_length = 1)]
    pattern: String,
    /// The directory to search; the working directory if left out.
    path: Option<String>,
}

#[derive(Serialize, Schema)]
pub struct GlobOutput {
    /// The files shown, newest first.
    files: Vec<String>,
    /// How many files matched, or 0 where the search was cut short.
    total: u64,
    /// Whether more files matched than are shown.
    truncated: bool,
    /// Whether the search ran out of time before its end.
    timed_out: bool,
}

/// Finds files by name, last modified first.
///
/// - Shows paths relative to the working directory, 100 at most.
/// - Finds hidden and ignored files too, but nothing in version control's own
///   folders.
#[tool(name = "Glob", output = GlobOutput)]
pub fn glob(input: GlobInput, cx: &mut Context) -> Result<Output, ToolError> {
    let path = input.path.as_deref().unwrap_or_default();
    let found = cx.search().names(&NamesArgs { path, pattern: &input.pattern, limit: MAX_FILES, ignore: false })?;
    let output = GlobOutput {
        files: found.files.into_iter().map(|file| file.path).collect(),
        total: found.ok.total,
        truncated: found.ok.truncated,
        timed_out: found.ok.timed_out,
    };
    let mut lines = output.files.clone();
    lines.extend(notes(&found.ok, output.files.len(), &input.pattern));
    Ok(Output::text(lines.join("\n")).structured(&output))
}

fn notes(ok: &NamesOk, shown: usize, pattern: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if shown == 0 {
        let so_far = if ok.timed_out { " so far" } else { "" };
        notes.push(format!("No files match {pattern} in {}{so_far}.", ok.path));
    }
    if ok.truncated {
        let of = if ok.total > 0 { format!("of {}", files(ok.total)) } else { "files of many".to_owned() };
        notes.push(format!("[showing the newest {shown} {of}; narrow the pattern or the path to see others]"));
    }
    if ok.timed_out {
        notes.push(stopped(ok.timeout, "name a smaller path, or begin the pattern with directories"));
    }
    notes.extend(left_out(ok.denied, ok.unreadable));
    notes
}
