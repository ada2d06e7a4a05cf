//! The tools Write and Edit.

use toolquay::capability::fs::ReplaceArgs;
use toolquay::{Context, Output, Schema, ToolError, tool};

use crate::change::{self, Changed};
use crate::{extension, notebook};

#[derive(serde::Deserialize, Schema)]
pub struct WriteInput {
    /// The file, as an absolute path or relative to the working directory.
    #[schema(min_length = 1)]
    file_path: String,
    /// All that the file is to hold.
    content: String,
}

/// Makes a file, or puts new content in place of all that a file holds. Answers with
/// the change as a unified diff.
///
/// - A file that is there must have been shown whole by Read first, and be as it was then.
///   To change a part of it use Edit.
/// - Missing directories on the way are made.
/// - A file that is there keeps its encoding, line endings, permissions and owner; a new one
///   is UTF-8 with lines that end with LF.
/// - NotebookEdit changes single cells of notebooks (.ipynb).
#[tool(name = "Write", output = Changed)]
pub fn write(input: WriteInput, cx: &mut Context) -> Output {
    let path = input.file_path.as_str();
    if extension(path) == "ipynb"
        && let Some(fault) = notebook::fault(&input.content)
    {
        let message = format!(
            "{path} is a notebook, and the content is not a valid one: {fault}. Change its cells with NotebookEdit, or write \
             all of it as JSON of nbformat 4"
        );
        return Output::new().failed(ToolError::invalid_input(message));
    }
    match cx.fs().write(&input.file_path, &input.content) {
        Ok(answer) => change::told("Wrote", &input.file_path, answer, cx),
        Err(err) => change::failed(err, &input.file_path, cx),
    }
}

#[derive(serde::Deserialize, Schema)]
pub struct EditInput {
    /// The file, as an absolute path or relative to the working directory.
    #[schema(min_length = 1)]
    file_path: String,
    /// The text to replace, without the line numbers that Read shows. Empty to make a file,
    /// or to fill an empty one.
    old_string: String,
    /// What takes its place.
    new_string: String,
    /// Replaces the text wherever it is, not in one place alone.
    #[schema(default = false)]
    replace_all: Option<bool>,
}

/// Replaces a text in a file. Answers with the change as a unified diff.
///
/// - Read or Grep must have shown the place first, and it must be as it was then.
/// - old_string must match to the letter, spaces and indentation included, and be in the
///   file once: take in lines around it until it is, or set replace_all. Only quotes may
///   differ: straight and curly ones match each other, and the file's own are kept.
/// - The file keeps its encoding, line endings, permissions and owner.
/// - NotebookEdit changes cells of notebooks (.ipynb).
#[tool(name = "Edit", output = Changed)]
pub fn edit(input: EditInput, cx: &mut Context) -> Output {
    let path = input.file_path.as_str();
    if extension(path) == "ipynb" {
        let message = format!("{path} is a notebook: change its cells with NotebookEdit, or all of it with Write");
        return Output::new().failed(ToolError::invalid_input(message));
    }
    let all = input.replace_all.unwrap_or(false);
    let (old, new) = (input.old_string.as_str(), input.new_string.as_str());
    match cx.call(&ReplaceArgs { path, all, old, new, ..ReplaceArgs::default() }) {
        Ok(answer) => change::told("Edited", path, answer, cx),
        Err(err) => change::failed(err, path, cx),
    }
}
