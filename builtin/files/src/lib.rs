//! The tool Read. The host numbers and cuts the lines, and their text passes
//! into the result as a handle: this plugin only says what to read and how to go
//! on.
#![deny(unsafe_code)]

mod near;
#[cfg(test)]
mod tests;

use toolquay::capability::fs::{Lines, LinesOk};
use toolquay::{Context, ErrorCode, Output, Schema, Text, ToolError, tool};

/// The most lines shown, and what is shown where the call does not say.
const MAX_LINES: u64 = 2_000;
/// The most characters of a line.
const MAX_LINE: u64 = 2_000;
/// The most characters in all, line numbers included.
const MAX_CHARS: u64 = 100_000;

#[derive(serde::Deserialize, Schema)]
struct ReadInput {
    /// The file, as an absolute path or relative to the working directory.
    #[schema(min_length = 1)]
    file_path: String,
    /// The line to start at, counting from 1. For files too long to show at once.
    offset: Option<u64>,
    /// How many lines to show, 2000 at most.
    #[schema(minimum = 1, default = 2000)]
    limit: Option<u64>,
}

/// Shows the text of a file, each line with its number and a tab in front.
///
/// - Shows at most 2,000 lines and 100,000 characters at once, from offset on; a
///   closing note says where to go on.
/// - Lines over 2,000 characters are cut.
/// - Line numbers and notes in square brackets are not part of the file.
/// - Reads text only. Use Glob to see what is in a directory.
#[tool(name = "Read")]
fn read(input: ReadInput, cx: &mut Context) -> Result<Output, ToolError> {
    let lines = Lines {
        offset: input.offset.unwrap_or(0),
        limit: input.limit.unwrap_or(MAX_LINES).min(MAX_LINES),
        max_line: MAX_LINE,
        max_chars: MAX_CHARS,
        number: true,
    };
    let path = &input.file_path;
    let answer = cx.fs().read_lines(path, lines).map_err(|err| explain(err, path, cx))?;
    let shown = answer.ok.lines.unwrap_or_default();
    let notes = notes(&shown, path, lines.offset.max(1));
    if shown.count == 0 {
        return Ok(Output::text(notes));
    }
    let text = Text::from(answer.body);
    Ok(Output::text(if notes.is_empty() { text } else { text.with(format!("\n{notes}")) }))
}

/// Says what the text does not show, one note a line.
fn notes(shown: &LinesOk, path: &str, offset: u64) -> String {
    if shown.count == 0 && shown.total == 0 && !shown.more {
        return format!("[{path} exists and is empty]");
    }
    if shown.count == 0 {
        return format!("[nothing to show from line {offset} on: {path} has {}]", lines(shown.total));
    }
    let mut notes = Vec::new();
    if shown.cut_lines > 0 {
        notes.push(format!("[{} cut after {MAX_LINE} characters]", lines(shown.cut_lines)));
    }
    if shown.more {
        let next = shown.first + shown.count;
        let why = if shown.stopped { " to stay under 100,000 characters" } else { "" };
        notes.push(format!("[stopped after line {}{why}; the file goes on: continue with offset {next}]", next - 1));
    }
    notes.join("\n")
}

fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

/// Adds to a failure what the model can do about it.
fn explain(err: ToolError, path: &str, cx: &Context) -> ToolError {
    let message = match err.code {
        ErrorCode::NotFound => missing(path, cx),
        ErrorCode::IsDirectory => {
            format!("{path} is a directory; Read shows files. List it with Glob: pattern \"*\", path \"{path}\"")
        }
        ErrorCode::NotText => format!("{path} {}", binary(path)),
        _ => return err,
    };
    ToolError::new(err.code, message)
}

fn missing(path: &str, cx: &Context) -> String {
    let mut message = format!("{path} does not exist");
    if !path.starts_with('/') {
        message.push_str(&format!(" (the working directory is {})", cx.cwd()));
    }
    let names = near::names(path, cx);
    if !names.is_empty() {
        message.push_str(&format!("; did you mean {}?", names.join(" or ")));
    }
    message
}

/// Says why a file without text is refused.
fn binary(path: &str) -> String {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    let what = match extension.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "ico" | "tiff" => "is an image",
        "pdf" => "is a PDF document",
        "zip" | "gz" | "tgz" | "xz" | "bz2" | "zst" | "tar" | "7z" | "jar" => "is an archive",
        "wasm" | "so" | "dll" | "dylib" | "exe" | "o" | "a" | "class" | "pyc" => "is compiled code",
        "mp3" | "wav" | "flac" | "ogg" | "mp4" | "mov" | "mkv" | "webm" | "avi" => "is sound or video",
        _ => "is a binary file",
    };
    format!("{what}, not text, so Read cannot show it")
}

toolquay::plugin!(read);
