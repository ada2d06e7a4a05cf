//! The tool Read.

use toolquay::capability::fs::Lines;
use toolquay::{Context, ErrorCode, Output, Schema, Text, ToolError, tool};

use crate::shown::Shown;
use crate::{document, extension, near, notes};

/// The most lines shown, and what is shown where the call does not say.
const MAX_LINES: u64 = 2_000;
/// The most characters of a line.
pub const MAX_LINE: u64 = 2_000;
/// The most characters in all, line numbers included.
const MAX_CHARS: u64 = 100_000;

#[derive(serde::Deserialize, Schema)]
pub struct ReadInput {
    /// The file, as an absolute path or relative to the working directory.
    #[schema(min_length = 1)]
    pub file_path: String,
    /// The line to start at, counting from 1.
    pub offset: Option<u64>,
    /// How many lines to show, 2000 at most.
    #[schema(minimum = 1, default = 2000)]
    pub limit: Option<u64>,
    /// Which pages of a PDF to show, such as "3", "1-5,8" or "10-"; 20 at most.
    #[schema(min_length = 1)]
    pub pages: Option<String>,
}

/// Shows what is in a file: text with line numbers, a PDF, an image or a notebook.
///
/// - Of text at most 2,000 lines and 100,000 characters at once, from offset on; a
///   closing note says where to go on. Lines over 2,000 characters are cut. The number and
///   the tab before each line, and notes in square brackets, are not part of the file.
/// - Text may be UTF-8, UTF-16 or Latin-1.
/// - Of a PDF the text and the pictures of the first 10 pages, or of those that pages
///   names; PNG, JPEG, GIF and WebP as pictures; notebooks (.ipynb) as cells with their ids
///   and outputs.
/// - What has not changed since it was shown is not shown again at once.
/// - Use Glob to see what is in a directory.
#[tool(name = "Read", output = Shown)]
pub fn read(input: ReadInput, cx: &mut Context) -> Result<Output, ToolError> {
    match extension(&input.file_path).as_str() {
        "pdf" => document::show(&input, cx),
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "ipynb" => {
            refuse_pages(&input)?;
            document::show(&input, cx).or_else(|err| text_in_disguise(&input, cx, err))
        }
        "" if input.pages.is_some() => document::show(&input, cx),
        _ => {
            refuse_pages(&input)?;
            text(&input, cx).or_else(|err| document_in_disguise(&input, cx, err))
        }
    }
}

fn refuse_pages(input: &ReadInput) -> Result<(), ToolError> {
    if input.pages.is_none() {
        return Ok(());
    }
    let path = &input.file_path;
    Err(ToolError::invalid_input(format!(
        "pages is for PDF documents, and {path} is none: leave it out, or choose lines of text with offset and limit"
    )))
}

/// Shows a file that is named as a document and is none, such as a pointer that stands
/// for it, or a notebook that is broken.
fn text_in_disguise(input: &ReadInput, cx: &Context, err: ToolError) -> Result<Output, ToolError> {
    if err.code != ErrorCode::InvalidInput {
        return Err(err);
    }
    let shown = text(input, cx).map_err(|_| err.clone())?;
    Ok(shown.and_text(format!("[shown as text: {}]", err.message)))
}

/// Shows a file that is no text, and is a document by another name.
fn document_in_disguise(input: &ReadInput, cx: &Context, err: ToolError) -> Result<Output, ToolError> {
    if err.code != ErrorCode::NotText {
        return Err(err);
    }
    document::show(input, cx).map_err(|_| err)
}

fn text(input: &ReadInput, cx: &Context) -> Result<Output, ToolError> {
    let lines = Lines {
        offset: input.offset.unwrap_or(0),
        limit: input.limit.unwrap_or(MAX_LINES).min(MAX_LINES),
        max_line: MAX_LINE,
        max_chars: MAX_CHARS,
        number: true,
    };
    let path = &input.file_path;
    let answer = cx.fs().show_lines(path, lines).map_err(|err| explain(err, path, cx))?;
    if answer.ok.unchanged {
        return Ok(Output::text(notes::unchanged(path)).structured(&Shown::text(&answer.ok, None)));
    }
    let shown = answer.ok.lines.unwrap_or_default();
    let told = Shown::text(&answer.ok, Some(&shown));
    let notes = notes::of_lines(&shown, path, lines.offset.max(1), &answer.ok.encoding);
    if shown.count == 0 {
        return Ok(Output::text(notes).structured(&told));
    }
    let text = Text::from(answer.body);
    let text = if notes.is_empty() { text } else { text.with(format!("\n{notes}")) };
    Ok(Output::text(text).structured(&told))
}

/// Adds to a failure what the model can do about it.
pub fn explain(err: ToolError, path: &str, cx: &Context) -> ToolError {
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
    let mut message = format!("{path} does not exist{}", notes::relative_to(path, cx));
    let names = near::names(path, cx);
    if !names.is_empty() {
        message.push_str(&format!("; did you mean {}?", names.join(" or ")));
    }
    message
}

/// Says why a file without text is refused.
fn binary(path: &str) -> String {
    let what = match extension(path).as_str() {
        "bmp" | "ico" | "tif" | "tiff" | "heic" | "avif" => "is an image of a kind that is not shown",
        "zip" | "gz" | "tgz" | "xz" | "bz2" | "zst" | "tar" | "7z" | "jar" => "is an archive",
        "wasm" | "so" | "dll" | "dylib" | "exe" | "o" | "a" | "class" | "pyc" => "is compiled code",
        "mp3" | "wav" | "flac" | "ogg" | "mp4" | "mov" | "mkv" | "webm" | "avi" => "is sound or video",
        _ => "is a binary file",
    };
    format!("{what}, not text, so Read cannot show it")
}
