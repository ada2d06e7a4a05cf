//! What a running tool knows and can ask for.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use crate::capability::docs::Docs;
use crate::capability::fs::Fs;
use crate::capability::lists::Lists;
use crate::capability::message::{MessageArgs, MessageOk};
use crate::capability::search::Search;
use crate::capability::shell::Shell;
use crate::capability::task::Tasks;
use crate::capability::{Capability, Custom};
use crate::error::{ErrorCode, ToolError};
use crate::frame::{Frame, Part};
use crate::host;
use crate::pending::{Answer, Pending};
use crate::wire::{CallHead, Config, ProgressHead, RequestHead};

/// One call of a tool: what it knows, and its way to the host.
#[derive(Debug)]
pub struct Context {
    tool: String,
    id: String,
    cwd: String,
    user_modified: bool,
    config: Config,
}

impl Context {
    pub(crate) fn new(head: CallHead) -> Self {
        Self { tool: head.tool, id: head.id, cwd: head.cwd, user_modified: head.user_modified, config: head.config }
    }

    /// The name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The id of this call, for logs.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session's working directory, an absolute path. Capability calls take
    /// paths relative to it.
    #[must_use]
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Whether a person wrote the input in place of the model's.
    #[must_use]
    pub fn user_modified(&self) -> bool {
        self.user_modified
    }

    /// A value of the plugin's configuration, or `None` where it is not set.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidInput`], where the operator set something else.
    pub fn config<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        config(&self.config, key)
    }

    /// Files and directories.
    #[must_use]
    pub fn fs(&self) -> Fs<'_> {
        Fs::new(self)
    }

    /// PDFs, images and notebooks.
    #[must_use]
    pub fn docs(&self) -> Docs<'_> {
        Docs::new(self)
    }

    /// Searching by name and by content.
    #[must_use]
    pub fn search(&self) -> Search<'_> {
        Search::new(self)
    }

    /// Running commands.
    #[inline]
    #[must_use]
    pub fn shell(&self) -> Shell<'_> {
        Shell::new(self)
    }

    /// The session's lists of work: the todos of its agent, and the tasks that agents share.
    #[inline]
    #[must_use]
    pub fn lists(&self) -> Lists<'_> {
        Lists::new(self)
    }

    /// The session's background tasks.
    #[inline]
    #[must_use]
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks::new(self)
    }

    /// Tells the person something, attributed to the plugin.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidInput`], [`ErrorCode::NotFound`] for a file,
    /// [`ErrorCode::Denied`], or whatever else the host answers; the person is then told
    /// nothing.
    #[inline]
    pub fn tell(&self, args: &MessageArgs<'_>) -> Result<MessageOk, ToolError> {
        self.call(args).map(|answer| answer.ok)
    }

    /// Starts a capability call and goes on.
    pub fn submit<C: Capability>(&self, args: &C) -> Pending<C::Ok> {
        submit(C::NAME, args, &args.parts())
    }

    /// Makes a capability call and waits for its answer.
    ///
    /// # Errors
    ///
    /// What the host answered instead, with its code.
    pub fn call<C: Capability>(&self, args: &C) -> Result<Answer<C::Ok>, ToolError> {
        call(args)
    }

    /// Starts a call of a capability this SDK has no types for, with its bulk.
    pub fn submit_custom(&self, request: &Custom<'_>) -> Pending<serde_json::Value> {
        submit(request.name, &request.args, request.parts)
    }

    /// Tells people how far the call has come, and what it has put out. The host
    /// bounds how many reports and log lines of a call it passes on.
    pub fn progress(&self, progress: &Progress) {
        report(&ProgressHead::Progress(progress));
    }

    /// Writes a line to the operator's log.
    pub fn log(&self, level: Level, message: &str) {
        log(level, message);
    }

    /// Writes a line of level info to the operator's log.
    pub fn info(&self, message: &str) {
        log(Level::Info, message);
    }
}

pub(crate) fn config<T: DeserializeOwned>(config: &Config, key: &str) -> Result<Option<T>, ToolError> {
    let Some(value) = config.get(key) else { return Ok(None) };
    T::deserialize(value)
        .map(Some)
        .map_err(|err| ToolError::new(ErrorCode::InvalidInput, format!("the configuration value {key:?}: {err}")))
}

/// Makes a capability call and waits for its answer, where no context is at hand.
pub(crate) fn call<C: Capability>(args: &C) -> Result<Answer<C::Ok>, ToolError> {
    submit(C::NAME, args, &args.parts()).wait()
}

fn submit<A: Serialize, T: DeserializeOwned>(capability: &str, args: &A, parts: &[Part<'_>]) -> Pending<T> {
    let head = serde_json::to_vec(&RequestHead { capability, args }).unwrap_or_default();
    // What cannot be encoded goes out empty: the host refuses it as a broken
    // message, which is where the fault belongs.
    let message = Frame { head: &head, parts: parts.to_vec() }.encode().unwrap_or_default();
    Pending::submit(&message)
}

/// How far a call has come, for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// What is being done. Of more than 8 KiB the beginning is kept.
    #[serde(skip_serializing_if = "String::is_empty", serialize_with = "short_text")]
    pub message: String,
    /// How much is done, in whatever unit the tool likes; 0 is unknown.
    #[serde(skip_serializing_if = "is_unknown")]
    pub done: f64,
    /// Of how much; 0 is unknown.
    #[serde(skip_serializing_if = "is_unknown")]
    pub total: f64,
    /// What the call has put out since it last told. Of more than 64 KiB the end is
    /// kept.
    #[serde(skip_serializing_if = "String::is_empty", serialize_with = "last_output")]
    pub output: String,
}

/// JSON has no NaN and no infinity; nobody knows how much that would be.
fn is_unknown(value: &f64) -> bool {
    *value == 0.0 || !value.is_finite()
}

/// How many bytes of output the host takes in one report.
const MAX_OUTPUT: usize = 64 << 10;

fn last_output<S: Serializer>(output: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut from = output.len().saturating_sub(MAX_OUTPUT);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    serializer.serialize_str(&output[from..])
}

/// How many bytes of a message or log line are sent: however they are escaped, they
/// leave room for all the output that the host takes.
const MAX_TEXT: usize = 8 << 10;

fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_TEXT {
        return text.into();
    }
    let mut end = MAX_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end]).into()
}

fn short_text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shortened(text))
}

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For whoever debugs the plugin.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is off.
    Warn,
    /// Something failed.
    Error,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Writes a line to the operator's log. Of more than 8 KiB the beginning is kept.
pub fn log(level: Level, message: &str) {
    report(&ProgressHead::Log { level: level.as_str(), message: &shortened(message) });
}

fn report(head: &ProgressHead<'_>) {
    let encoded = serde_json::to_vec(head).ok().and_then(|head| Frame { head: &head, parts: Vec::new() }.encode().ok());
    if let Some(message) = encoded {
        host::progress(&message);
    }
}
