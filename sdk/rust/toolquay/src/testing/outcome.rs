//! What a call came to.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Session;
use crate::context::Progress;
use crate::error::ToolError;
use crate::frame::Frame;
use crate::wire::{ResultHead, Source};

/// What a call came to, with everything it did on the way.
#[derive(Clone, Debug)]
pub struct Outcome {
    content: Vec<OutcomeBlock>,
    structured: Option<Value>,
    is_error: bool,
    error: Option<ToolError>,
    changes: Vec<(String, Value)>,
    meta: Option<Value>,
    requests: Vec<Request>,
    reports: Vec<Value>,
    bytes_read: usize,
}

/// One content block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeBlock {
    /// `text`, `image`, `document` or `tool_reference`.
    pub kind: String,
    /// The media type of an image or document.
    pub media_type: String,
    /// The title of a document.
    pub title: String,
    /// What a tool reference points at.
    pub tool_name: String,
    /// The content.
    pub data: Vec<u8>,
}

/// A capability call that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The operation, such as `fs.read`.
    pub capability: String,
    /// Its arguments.
    pub args: Value,
    /// Its bulk.
    pub parts: Vec<Vec<u8>>,
}

impl Outcome {
    /// The text the model gets: the text blocks joined by newlines, or the
    /// message of the failure.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content.iter().filter(|block| block.kind == "text").collect();
        match &self.error {
            Some(error) if texts.is_empty() => error.to_string(),
            _ => texts.iter().map(|block| String::from_utf8_lossy(&block.data)).collect::<Vec<_>>().join("\n"),
        }
    }

    /// The content blocks.
    #[must_use]
    pub fn content(&self) -> &[OutcomeBlock] {
        &self.content
    }

    /// Whether the model is told of a failure.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error || self.error.is_some()
    }

    /// The failure, where the tool returned one.
    #[must_use]
    pub fn error(&self) -> Option<&ToolError> {
        self.error.as_ref()
    }

    /// The machine-readable answer, if there is one of that type.
    #[must_use]
    pub fn structured<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(self.structured.as_ref()?).ok()
    }

    /// The effects on the session, each as its kind and its value, such as `cwd` and a
    /// path.
    #[must_use]
    pub fn changes(&self) -> &[(String, Value)] {
        &self.changes
    }

    /// What is passed through unread, if there is anything.
    #[must_use]
    pub fn meta(&self) -> Option<&Value> {
        self.meta.as_ref()
    }

    /// The capability calls that were made, in order.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The progress reports and log lines, each an object with `progress` or
    /// `log`, in order.
    #[must_use]
    pub fn reports(&self) -> &[Value] {
        &self.reports
    }

    /// The progress that was reported, in order.
    ///
    /// # Panics
    ///
    /// Where a report is none.
    #[must_use]
    pub fn progress(&self) -> Vec<Progress> {
        let reports = self.reports.iter().filter_map(|report| report.get("progress"));
        reports.map(|progress| Progress::deserialize(progress).expect("progress")).collect()
    }

    /// How many bytes of answers' bodies the tool read: what it passed into its
    /// output unread does not count.
    #[must_use]
    pub fn bytes_read(&self) -> usize {
        self.bytes_read
    }
}

/// What a call came to that the host ends, or does not begin.
pub fn failed(error: ToolError, session: &Session) -> Outcome {
    Outcome {
        content: Vec::new(),
        structured: None,
        is_error: true,
        error: Some(error),
        changes: Vec::new(),
        meta: None,
        requests: session.requests(),
        reports: session.reports(),
        bytes_read: session.bytes_read(),
    }
}

/// Reads a result and resolves its sources, as the host does.
pub fn decode(message: &[u8], session: &Session) -> Outcome {
    if let Err(error) = session.check_output(message.len()) {
        return failed(error, session);
    }
    let frame = Frame::decode(message).expect("a result that is a frame");
    let head: ResultHead = serde_json::from_slice(frame.head).expect("a result with a head");
    let bytes = |source: Source| match (source.part, source.handle) {
        (Some(index), None) => frame.parts[index].data.to_vec(),
        (None, Some(id)) => session.take(id, source.length),
        _ => panic!("a source that names one thing: {source:?}"),
    };
    let content = head.content.into_iter().map(|block| OutcomeBlock {
        kind: block.kind,
        media_type: block.media_type,
        title: block.title,
        tool_name: block.tool_name,
        data: block.source.into_iter().flat_map(bytes).collect(),
    });
    let outcome = Outcome {
        content: content.collect(),
        structured: head.structured.map(|source| serde_json::from_slice(&bytes(source)).expect("structured JSON")),
        is_error: head.is_error,
        error: head.error,
        changes: head.changes.into_iter().map(|change| (change.kind, change.value)).collect(),
        meta: head.meta,
        requests: session.requests(),
        reports: session.reports(),
        bytes_read: session.bytes_read(),
    };
    if outcome.changes.iter().any(|(kind, _)| kind == "cwd") {
        session.may_move().unwrap_or_else(|err| panic!("it changes the working directory: {err}"));
    }
    if !outcome.is_error() {
        session.settle();
    }
    assert_eq!(session.open(), 0, "handles that nobody gave up");
    outcome
}
