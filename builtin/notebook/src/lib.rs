//! The tool NotebookEdit. Of a notebook's text only what changes is written anew: all
//! else stays byte for byte, whatever wrote it.
#![deny(unsafe_code)]

mod edit;
mod notebook;
#[cfg(test)]
mod tests;

use edit::{Change, Mode};
use serde::{Deserialize, Serialize};
use toolquay::capability::fs::{Content, Expect, WriteArgs};
use toolquay::{Context, ErrorCode, Output, Schema, Text, ToolError, tool};

#[derive(Clone, Copy, Deserialize, PartialEq, Schema)]
#[serde(rename_all = "snake_case")]
pub enum CellType {
    Code,
    Markdown,
    Raw,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq, Schema)]
#[serde(rename_all = "snake_case")]
pub enum EditMode {
    #[default]
    Replace,
    Insert,
    Delete,
}

#[derive(Deserialize, Schema)]
struct NotebookEditInput {
    /// The notebook, as an absolute path or relative to the working directory.
    #[schema(min_length = 1)]
    notebook_path: String,
    /// The id of the cell, as Read shows it; cell-0 is the first cell, and so on. With
    /// insert the cell behind which the new one goes: without it that is the first.
    cell_id: Option<String>,
    /// The new source of the cell. Empty for delete.
    new_source: String,
    /// What kind of cell it is to be; needed for insert.
    cell_type: Option<CellType>,
    /// What to do.
    edit_mode: Option<EditMode>,
}

/// What was done, for machines.
#[derive(Serialize, Schema)]
struct Edited {
    /// The notebook, absolute and without links.
    path: String,
    /// The id of the cell that was replaced, inserted or deleted.
    cell_id: String,
    /// How many cells there are now.
    cells: u64,
    /// The size of the notebook in bytes.
    size: u64,
    /// The SHA-256 of its content, in hexadecimal.
    hash: String,
    /// The name of the record by which the change can be undone, where one is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<String>,
}

/// Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb).
///
/// - The notebook must have been shown by Read first, and be as it was then.
/// - replace gives the cell a new source; a code cell loses its outputs and its count.
///   insert puts a new cell behind the one that is named, or at the beginning. delete
///   takes the cell away.
/// - What the notebook held before is kept, and the user can bring it back.
#[tool(name = "NotebookEdit", output = Edited)]
fn notebook_edit(input: NotebookEditInput, cx: &mut Context) -> Output {
    match run(&input, cx) {
        Ok(output) => output,
        Err(err) => failed(err, &input.notebook_path, cx),
    }
}

fn run(input: &NotebookEditInput, cx: &Context) -> Result<Output, ToolError> {
    let path = input.notebook_path.as_str();
    if !path.to_ascii_lowercase().ends_with(".ipynb") {
        let message = format!("{path} is not named as a notebook (.ipynb); change text files with Edit");
        return Err(ToolError::invalid_input(message));
    }
    let mode = Mode::of(input)?;
    // What is written over must be what is read now. The hash is taken first: where the
    // file changes after it, the host refuses the write.
    let hash = cx.fs().hash(path)?;
    let text = cx.fs().read_to_string(path)?;
    let change =
        edit::apply(&text, input.cell_id.as_deref(), &mode).map_err(|err| unread(err, path, &text, &hash, cx))?;
    let args = WriteArgs { path, expect: Expect::Hash(&hash), content: content(&change.text) };
    let answer = cx.call(&args)?;
    let edited = Edited {
        path: answer.ok.path,
        cell_id: change.id.clone(),
        cells: change.cells,
        size: answer.ok.size,
        hash: answer.ok.hash,
        history: Some(answer.ok.history).filter(|name| !name.is_empty()),
    };
    Ok(Output::text(Text::from(format!("{}\n", done(&mode, path, &change))).with(answer.body)).structured(&edited))
}

/// A notebook to write: as text, so that the answer has a diff, but where lines end in
/// two ways, of which the host would make one.
fn content(text: &str) -> Content<'_> {
    let marked = text.matches("\r\n").count();
    if marked == 0 || marked == text.matches('\n').count() {
        Content::Text(text)
    } else {
        Content::Bytes(text.as_bytes())
    }
}

fn done(mode: &Mode<'_>, path: &str, change: &Change) -> String {
    let cells = if change.cells == 1 { "1 cell".to_owned() } else { format!("{} cells", change.cells) };
    let what = match mode {
        Mode::Replace { .. } => "Replaced",
        Mode::Insert { .. } => "Inserted",
        Mode::Delete => "Deleted",
    };
    format!("{what} cell {} of {path}, which has {cells} now", change.id)
}

/// Puts the lowest number first: that a notebook was not read, or has changed since, is
/// told before what is wrong with the cell. Writing what is there already changes
/// nothing, and fails for the one reason or the other.
fn unread(err: ToolError, path: &str, text: &str, hash: &str, cx: &Context) -> ToolError {
    let same = WriteArgs { path, expect: Expect::Hash(hash), content: content(text) };
    match cx.call(&same) {
        Err(first) if matches!(first.code, ErrorCode::NotRead | ErrorCode::Changed | ErrorCode::Denied) => first,
        _ => err.context(path),
    }
}

/// Tells of a failure, with the number by which it is known.
fn failed(err: ToolError, path: &str, cx: &Context) -> Output {
    let number = match err.code {
        ErrorCode::NotFound | ErrorCode::Denied => 1,
        ErrorCode::NotRead => 2,
        ErrorCode::Changed => 3,
        ErrorCode::SameText => 4,
        ErrorCode::NoMatch => 5,
        ErrorCode::NotUnique => 6,
        _ => return Output::new().failed(err),
    };
    let err = match err.code {
        ErrorCode::NotFound => ToolError::new(
            err.code,
            format!("{path} does not exist (the working directory is {}); Write makes new files", cx.cwd()),
        ),
        _ => err,
    };
    Output::new().failed(err).meta(serde_json::json!({"code": number}))
}

toolquay::plugin!(notebook_edit);
