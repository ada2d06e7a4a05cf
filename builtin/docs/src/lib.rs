//! Turns a PDF, an image or a notebook into what a model can be shown. The host
//! runs it for the capability `docs.read`, in an instance of its own, whose only
//! capability is to read that one file: whatever a hostile document does to a
//! parser, it has nothing else to reach.
#![deny(unsafe_code)]

mod image;
mod notebook;
mod pages;
mod pdf;
mod shown;
#[cfg(test)]
mod tests;

use shown::Shown;
use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};

#[derive(serde::Deserialize, Schema)]
struct DocumentInput {
    /// The document.
    #[schema(min_length = 1)]
    path: String,
    /// Pages of a PDF, such as "3", "1-5,8" or "10-"; at most 20.
    pages: Option<String>,
}

/// Turns a document into text and images.
#[tool(name = "document")]
fn document(input: DocumentInput, cx: &mut Context) -> Result<Output, ToolError> {
    let data = cx.fs().read(&input.path)?.body.into_bytes()?;
    Ok(show(&input.path, data, input.pages.as_deref())?.into_output())
}

/// Shows a document. What it is, its content says; only a notebook, which is JSON
/// like any other, needs its name.
fn show(path: &str, data: Vec<u8>, pages: Option<&str>) -> Result<Shown, ToolError> {
    let pages = pages.map(str::trim).filter(|pages| !pages.is_empty());
    if pdf::is_pdf(&data) {
        return pdf::show(data, pages);
    }
    if pages.is_some() {
        return Err(invalid("pages are for PDF documents, and this is none; leave them out"));
    }
    if image::is_image(&data) {
        return image::show(data);
    }
    match extension(path).as_str() {
        "ipynb" => notebook::show(&data),
        extension => Err(invalid(unknown(extension, &data))),
    }
}

fn extension(path: &str) -> String {
    path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

/// Says what a file that is none of the documents should have been.
fn unknown(extension: &str, data: &[u8]) -> String {
    let what = match extension {
        "pdf" => "a PDF document",
        "png" => "a PNG image",
        "jpg" | "jpeg" => "a JPEG image",
        "gif" => "a GIF image",
        "webp" => "a WebP image",
        _ => return "the file is no PDF, PNG, JPEG, GIF, WebP or notebook".to_owned(),
    };
    if data.is_empty() {
        return "the file is empty".to_owned();
    }
    format!("the file is named as {what} but is none: it does not begin as one does")
}

fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidInput, message.into())
}

fn too_large(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::TooLarge, message.into())
}

toolquay::plugin!(document);
