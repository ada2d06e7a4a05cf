//! What a tool answers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{ErrorCode, ToolError};
use crate::frame::{Frame, Part, PartType};
use crate::pending::{self, Body};
use crate::wire::{BlockHead, ResultHead, Source};

/// What a tool answers: content for the model, and what goes with it.
///
/// ```
/// use toolquay::Output;
///
/// let output = Output::text("2 files match").structured(&serde_json::json!({"files": 2}));
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct Output {
    content: Vec<Block>,
    structured: Option<Vec<u8>>,
    is_error: bool,
    error: Option<ToolError>,
    changes: Vec<Change>,
    messages: Vec<Message>,
    meta: Option<Value>,
    /// What went wrong while it was built; told instead of it.
    fault: Option<ToolError>,
}

#[derive(Debug)]
struct Block {
    head: BlockHead,
    content: Text,
}

impl Output {
    /// An answer without content.
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer of one text block.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::new().and_text(text)
    }

    /// Adds a text block.
    pub fn and_text(self, text: impl Into<Text>) -> Self {
        self.block(BlockHead { kind: "text".to_owned(), ..BlockHead::default() }, text.into())
    }

    /// Adds an image: its media type, such as `image/png`, and its bytes.
    pub fn image(self, media_type: impl Into<String>, data: impl Into<Data>) -> Self {
        let head = BlockHead { kind: "image".to_owned(), media_type: media_type.into(), ..BlockHead::default() };
        self.block(head, Text(vec![data.into().0]))
    }

    /// Adds a document, such as one of type `application/pdf`.
    pub fn document(self, title: impl Into<String>, media_type: impl Into<String>, data: impl Into<Data>) -> Self {
        let head = BlockHead {
            kind: "document".to_owned(),
            media_type: media_type.into(),
            title: title.into(),
            ..BlockHead::default()
        };
        self.block(head, Text(vec![data.into().0]))
    }

    /// Adds a pointer at another tool.
    pub fn tool_reference(self, tool_name: impl Into<String>) -> Self {
        let head = BlockHead { kind: "tool_reference".to_owned(), tool_name: tool_name.into(), ..BlockHead::default() };
        self.block(head, Text::new())
    }

    /// Sets the machine-readable answer, which fits the tool's output schema.
    pub fn structured<T: Serialize>(mut self, value: &T) -> Self {
        match serde_json::to_vec(value) {
            Ok(json) => self.structured = Some(json),
            Err(err) => {
                self.fault = Some(ToolError::new(ErrorCode::Protocol, format!("the structured answer: {err}")));
            }
        }
        self
    }

    /// Marks an answer whose content tells of a failure. Where the failure has
    /// a code, return a [`ToolError`] instead.
    pub fn is_error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// Makes it a failure with a code, told by its message unless there is content.
    /// To return nothing else, return the [`ToolError`].
    pub fn failed(mut self, error: ToolError) -> Self {
        self.error = Some(error);
        self
    }

    /// Sets the session's working directory, for plugins that declare
    /// `session.cwd`.
    pub fn change_cwd(mut self, path: impl Into<String>) -> Self {
        self.changes.push(Change { kind: "cwd".to_owned(), value: Value::String(path.into()) });
        self
    }

    /// Adds a text to the conversation, after the results.
    pub fn message(mut self, role: impl Into<String>, text: impl Into<String>) -> Self {
        self.messages.push(Message { role: role.into(), text: text.into() });
        self
    }

    /// Sets what is passed through unread.
    pub fn meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }

    fn block(mut self, head: BlockHead, content: Text) -> Self {
        self.content.push(Block { head, content });
        self
    }

    /// Encodes the answer. Bodies in it now belong to the result.
    pub(crate) fn encode(self) -> Result<Vec<u8>, ToolError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let mut parts = Parts::default();
        let content = self.content.into_iter().map(|block| parts.block(block)).collect();
        let structured = self.structured.map(|json| parts.add(PartType::Json, json.into()));
        let head = ResultHead {
            content,
            structured,
            is_error: self.is_error,
            error: self.error,
            changes: self.changes,
            messages: self.messages,
            meta: self.meta,
        };
        parts.encode(&head)
    }
}

/// Encodes a failure.
pub fn encode_error(error: ToolError) -> Vec<u8> {
    let head = ResultHead { error: Some(error), ..ResultHead::default() };
    // A message so long that no head holds it is the only way to fail.
    Parts::default().encode(&head).unwrap_or_else(encode_error)
}

/// The parts of a result while its head is made.
#[derive(Default)]
struct Parts(Vec<(PartType, Cow<'static, [u8]>)>);

impl Parts {
    fn add(&mut self, kind: PartType, data: Cow<'static, [u8]>) -> Source {
        self.0.push((kind, data));
        Source::part(self.0.len() - 1)
    }

    fn block(&mut self, block: Block) -> BlockHead {
        let source = block.content.0.into_iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(self.add(PartType::Text, into_bytes(text))),
            Piece::Bytes(bytes) => Some(self.add(PartType::Bytes, bytes)),
            Piece::Body(body) => body.into_id().map(Source::handle),
            Piece::Some(piece) => piece.into_source().map(|(id, size)| Source::piece(id, size)),
        });
        BlockHead { source: source.collect(), ..block.head }
    }

    fn encode(&self, head: &ResultHead) -> Result<Vec<u8>, ToolError> {
        let head = serde_json::to_vec(head)
            .map_err(|err| ToolError::new(ErrorCode::Protocol, format!("the head of the result: {err}")))?;
        let parts = self.0.iter().map(|(kind, data)| Part { kind: *kind, data }).collect();
        Frame { head: &head, parts }.encode()
    }
}

fn into_bytes(text: Cow<'static, str>) -> Cow<'static, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// A text in pieces: strings, and bodies of capability answers that are joined
/// in by the host without entering the guest.
///
/// ```no_run
/// # use toolquay::{Context, Output, Text, ToolError};
/// # fn show(cx: &mut Context) -> Result<Output, ToolError> {
/// let file = cx.fs().read("notes.txt")?;
/// Ok(Output::text(Text::from(file.body).with("\n[end of the file]")))
/// # }
/// ```
#[derive(Debug, Default)]
#[must_use]
pub struct Text(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    Text(Cow<'static, str>),
    Bytes(Cow<'static, [u8]>),
    Body(Body),
    Some(pending::Piece),
}

impl Text {
    /// An empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text with more behind it.
    pub fn with(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }
}

/// The bytes of an image or document, or the body of a capability's answer.
#[derive(Debug)]
pub struct Data(Piece);

macro_rules! pieces {
    ($($from:ty => $to:ident, $value:ident => $piece:expr;)+) => {$(
        impl From<$from> for $to {
            fn from($value: $from) -> Self {
                $piece
            }
        }
    )+};
}

pieces! {
    String => Text, text => Self(vec![Piece::Text(text.into())]);
    &'static str => Text, text => Self(vec![Piece::Text(text.into())]);
    Body => Text, body => Self(vec![Piece::Body(body)]);
    pending::Piece => Text, piece => Self(vec![Piece::Some(piece)]);
    Vec<u8> => Data, bytes => Self(Piece::Bytes(bytes.into()));
    &'static [u8] => Data, bytes => Self(Piece::Bytes(bytes.into()));
    Body => Data, body => Self(Piece::Body(body));
    pending::Piece => Data, piece => Self(Piece::Some(piece));
    String => Output, text => Self::text(text);
    &'static str => Output, text => Self::text(text);
    Text => Output, text => Self::text(text);
    Body => Output, body => Self::text(body);
}

/// What a tool's function may return: an [`Output`] or what becomes one, or a
/// `Result` of it with an error that becomes a [`ToolError`].
pub trait IntoResult {
    /// Turns it into the one shape.
    ///
    /// # Errors
    ///
    /// The error that it is.
    fn into_result(self) -> Result<Output, ToolError>;
}

impl<T: Into<Output>, E: Into<ToolError>> IntoResult for Result<T, E> {
    fn into_result(self) -> Result<Output, ToolError> {
        self.map(Into::into).map_err(Into::into)
    }
}

impl IntoResult for Output {
    fn into_result(self) -> Result<Output, ToolError> {
        Ok(self)
    }
}

impl IntoResult for String {
    fn into_result(self) -> Result<Output, ToolError> {
        Ok(self.into())
    }
}

/// An effect on the session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Change {
    pub kind: String,
    pub value: Value,
}

/// A text for the conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    pub role: String,
    pub text: String,
}
