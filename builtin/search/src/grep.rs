//! The tool Grep.

use serde::{Deserialize, Serialize};
use toolquay::capability::search::{ContentsArgs, ContentsOk, Mode};
use toolquay::{Context, Output, Schema, Text, ToolError, tool};

use crate::{counted, files, left_out, stopped};

/// The most entries shown where the call does not say.
const DEFAULT_LIMIT: u64 = 250;
/// The longest line shown, in bytes.
const MAX_COLUMNS: u64 = 500;

#[derive(Clone, Copy, Default, PartialEq, Deserialize, Serialize, Schema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

#[derive(Deserialize, Schema)]
pub struct GrepInput {
    /// The regular expression, in the syntax of ripgrep; literal braces need a backslash.
    #[schema(min_length = 1)]
    pattern: String,
    /// The file or directory to search; the working directory if left out.
    path: Option<String>,
    /// Only files whose paths match, as `*.js` or `src/**/*.{ts,tsx}`; an exclamation
    /// mark in front excludes. Several with spaces between.
    glob: Option<String>,
    /// What to show: matching lines (content), paths (files_with_matches), or how many
    /// matches each file has (count).
    #[serde(default)]
    #[schema(default = "files_with_matches")]
    output_mode: OutputMode,
    /// Lines before each match, for content.
    #[serde(rename = "-B")]
    before: Option<u64>,
    /// Lines after each match, for content.
    #[serde(rename = "-A")]
    after: Option<u64>,
    /// Lines around each match, for content.
    #[serde(rename = "-C")]
    around: Option<u64>,
    /// The same as -C.
    context: Option<u64>,
    /// Line numbers, for content.
    #[serde(rename = "-n")]
    #[schema(default = true)]
    line_numbers: Option<bool>,
    /// Whether to ignore case.
    #[serde(rename = "-i", default)]
    #[schema(default = false)]
    ignore_case: bool,
    /// Only files of this type, as js, py, rust, go or java.
    #[serde(rename = "type")]
    file_type: Option<String>,
    /// The most lines or files to show; 0 is all.
    #[schema(default = 250)]
    head_limit: Option<u64>,
    /// How many lines or files to skip.
    #[serde(default)]
    #[schema(default = 0)]
    offset: u64,
    /// Lets a match span lines and . match line ends.
    #[serde(default)]
    #[schema(default = false)]
    multiline: bool,
}

#[derive(Serialize, Schema)]
pub struct GrepOutput {
    /// What was shown.
    mode: OutputMode,
    /// How many files are shown.
    files: u64,
    /// How many matches are shown; not counted for files_with_matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<u64>,
    /// How many lines the text has.
    entries: u64,
    /// Whether there are more.
    truncated: bool,
    /// Whether the search ran out of time before its end.
    timed_out: bool,
}

/// Searches file contents with a regular expression, as ripgrep does.
///
/// - Leaves out binary files, what .gitignore names, and the folders of version
///   control; hidden files are searched.
/// - A closing note says how to go on where there is more, or the search took too long.
/// - Edit may change lines that are shown, without a Read.
#[tool(name = "Grep", output = GrepOutput)]
pub fn grep(input: GrepInput, cx: &mut Context) -> Result<Output, ToolError> {
    let found = cx.search().contents(&arguments(&input))?;
    let ok = found.ok;
    let structured = GrepOutput {
        mode: input.output_mode,
        files: ok.files,
        matches: (input.output_mode != OutputMode::FilesWithMatches).then_some(ok.matches),
        entries: ok.entries,
        truncated: ok.truncated,
        timed_out: ok.timed_out,
    };
    let notes = notes(&ok, &input).join("\n");
    let text = match (ok.entries, notes.as_str()) {
        (0, _) => Text::from(notes),
        (_, "") => Text::from(found.body),
        _ => Text::from(found.body).with(format!("\n{notes}")),
    };
    Ok(Output::text(text).structured(&structured))
}

fn arguments(input: &GrepInput) -> ContentsArgs<'_> {
    let content = input.output_mode == OutputMode::Content;
    // As for ripgrep, the sides win over both at once.
    let around = input.context.or(input.around);
    let context = |side: Option<u64>| if content { side.or(around).unwrap_or(0) } else { 0 };
    ContentsArgs {
        pattern: &input.pattern,
        path: input.path.as_deref().unwrap_or_default(),
        globs: input.glob.as_deref().map(globs).unwrap_or_default(),
        file_type: input.file_type.as_deref().unwrap_or_default(),
        mode: match input.output_mode {
            OutputMode::Content => Mode::Content,
            OutputMode::FilesWithMatches => Mode::Files,
            OutputMode::Count => Mode::Count,
        },
        before: context(input.before),
        after: context(input.after),
        line_numbers: content && input.line_numbers.unwrap_or(true),
        case_insensitive: input.ignore_case,
        multiline: input.multiline,
        limit: input.head_limit.unwrap_or(DEFAULT_LIMIT),
        offset: input.offset,
        max_columns: MAX_COLUMNS,
        shown: content,
    }
}

/// Splits globs at spaces, and at commas that are not within braces.
fn globs(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let split = text.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    });
    split.filter(|glob| !glob.is_empty()).map(str::to_owned).collect()
}

fn notes(ok: &ContentsOk, input: &GrepInput) -> Vec<String> {
    let mut notes = Vec::new();
    match input.output_mode {
        _ if ok.entries == 0 && input.offset > 0 => {
            notes.push(format!("No more results from offset {} on.", input.offset));
        }
        _ if ok.entries == 0 && ok.timed_out => {
            notes.push(format!("No matches so far ({} searched, not all to the end).", files(ok.searched)));
        }
        _ if ok.entries == 0 => notes.push(format!("No matches ({} searched).", files(ok.searched))),
        OutputMode::Count => notes.push(format!("[{} in {}]", counted(ok.matches, "match"), files(ok.files))),
        OutputMode::Content | OutputMode::FilesWithMatches => {}
    }
    if ok.truncated {
        let unit = if input.output_mode == OutputMode::Content { "line" } else { "file" };
        let next = input.offset.saturating_add(ok.entries);
        notes.push(format!(
            "[stopped after {}; there are more: continue with offset {next}, or raise head_limit]",
            counted(ok.entries, unit)
        ));
    }
    if ok.timed_out {
        notes.push(stopped(ok.timeout, "name a smaller path, a glob or a type, or write a simpler pattern"));
    }
    notes.extend(left_out(ok.denied, ok.unreadable));
    notes
}
