//! Documents: PDFs, images and notebooks, which the host has turned into blocks.

use toolquay::capability::docs::DocKind;
use toolquay::{Context, ErrorCode, Output, ToolError};

use crate::notes;
use crate::reading::{ReadInput, explain};
use crate::shown::Shown;

/// Shows a document. Its blocks pass this plugin by; what is said of it stands behind
/// them.
pub fn show(input: &ReadInput, cx: &Context) -> Result<Output, ToolError> {
    let path = &input.file_path;
    let pages = input.pages.as_deref().unwrap_or_default();
    let document = cx.docs().show(path, pages).map_err(|err| said_of(path, explain(err, path, cx)))?;
    let shown = Shown::document(&document.ok);
    if document.ok.unchanged {
        return Ok(Output::text(notes::unchanged(path)).structured(&shown));
    }
    let mut told: Vec<_> = document.ok.notes.iter().map(|note| notes::bracketed(note)).collect();
    if input.offset.is_some() || input.limit.is_some() {
        told.push(format!("[offset and limit choose lines of text; {} is shown without them]", kind(document.ok.kind)));
    }
    if document.ok.blocks.is_empty() && told.is_empty() {
        told.push(format!("[there is nothing to show of {path}]"));
    }
    let output = Output::new().and_doc(document).structured(&shown);
    Ok(if told.is_empty() { output } else { output.and_text(told.join("\n")) })
}

fn kind(kind: DocKind) -> &'static str {
    match kind {
        DocKind::Pdf => "a PDF",
        DocKind::Image => "an image",
        DocKind::Notebook => "a notebook",
        _ => "a document",
    }
}

/// Names the file, where the failure is about what is in it.
fn said_of(path: &str, err: ToolError) -> ToolError {
    match err.code {
        ErrorCode::InvalidInput | ErrorCode::TooLarge if !err.message.contains(path) => err.context(path),
        _ => err,
    }
}
