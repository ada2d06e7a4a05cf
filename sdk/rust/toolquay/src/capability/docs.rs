//! Documents: `docs.read`, which has PDFs, images and notebooks turned into what a
//! model can be shown.

use serde::{Deserialize, Serialize};

use super::{Capability, is_zero};
use crate::context::Context;
use crate::error::ToolError;
use crate::output::Output;
use crate::pending::Answer;

/// The kinds of document that are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DocKind {
    /// A PDF.
    Pdf,
    /// An image.
    Image,
    /// A notebook.
    Notebook,
    /// What this version does not know.
    #[default]
    #[serde(other)]
    Other,
}

/// The arguments of `docs.read`. The body of the answer is the bytes of its blocks,
/// one after the other; [`Output::and_doc`] puts them into a result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DocsArgs<'a> {
    /// The file, which may be relative to the session's working directory.
    pub path: &'a str,
    /// Pages of a PDF, 1-based, such as `3`, `1-5,8` or `10-`; at most 20. Without
    /// it there are up to 10.
    #[serde(skip_serializing_if = "is_zero")]
    pub pages: &'a str,
    /// Says that the model gets to see the document, so that the session takes the
    /// file for read.
    #[serde(skip_serializing_if = "is_zero")]
    pub shown: bool,
}

/// The answer to `docs.read`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DocsOk {
    /// The file that was read, absolute and without links.
    pub path: String,
    /// What it is.
    pub kind: DocKind,
    /// How many pages a PDF has, or how many cells a notebook.
    pub pages: u64,
    /// What is shown, in order.
    pub blocks: Vec<DocBlock>,
    /// What was left out, scaled or broken, a sentence each.
    pub notes: Vec<String>,
    /// Whether the model was shown just this before, and the file is as it was. There
    /// are no blocks then.
    pub unchanged: bool,
}

/// One content block of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocBlock {
    /// `text`, `image` or `document`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The media type of an image or document.
    pub media_type: String,
    /// The title of a document.
    pub title: String,
    /// How many bytes of the body are the block's.
    pub size: u64,
}

impl Capability for DocsArgs<'_> {
    const NAME: &'static str = "docs.read";
    type Ok = DocsOk;
}

/// Blocking reads of documents. For those that go on meanwhile, hand the arguments to
/// [`Context::submit`].
#[derive(Clone, Copy, Debug)]
pub struct Docs<'a>(&'a Context);

impl<'a> Docs<'a> {
    pub(crate) const fn new(cx: &'a Context) -> Self {
        Self(cx)
    }

    /// Reads a document; no pages are up to 10 of a PDF. Its blocks stay with the
    /// host.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`](crate::ErrorCode::NotFound),
    /// [`ErrorCode::Unsupported`](crate::ErrorCode::Unsupported) for what is no such
    /// document, [`ErrorCode::Denied`](crate::ErrorCode::Denied), or whatever else the
    /// host answers.
    pub fn read(self, path: &str, pages: &str) -> Result<Answer<DocsOk>, ToolError> {
        self.0.call(&DocsArgs { path, pages, shown: false })
    }

    /// Reads a document that the model gets to see: the session takes the file for
    /// read. Pass the blocks into the result.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn show(self, path: &str, pages: &str) -> Result<Answer<DocsOk>, ToolError> {
        self.0.call(&DocsArgs { path, pages, shown: true })
    }
}

impl Output {
    /// Adds the blocks of a document, which do not enter the guest.
    ///
    /// ```no_run
    /// # use toolquay::{Context, Output, ToolError};
    /// # fn show(cx: &mut Context) -> Result<Output, ToolError> {
    /// let document = cx.docs().show("paper.pdf", "1-3")?;
    /// Ok(Output::new().and_doc(document))
    /// # }
    /// ```
    pub fn and_doc(self, document: Answer<DocsOk>) -> Self {
        let mut pieces = document.body.into_pieces();
        document.ok.blocks.into_iter().fold(self, |output, block| {
            let piece = pieces.take(block.size);
            match block.kind.as_str() {
                "image" => output.image(block.media_type, piece),
                "document" => output.document(block.title, block.media_type, piece),
                _ => output.and_text(piece),
            }
        })
    }
}
