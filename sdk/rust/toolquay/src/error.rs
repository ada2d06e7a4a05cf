//! Failures that keep their kind across the border of the guest.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])+ $name:ident = $text:literal,)+) => {
        /// A kind of failure, by the name it has on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])+ $name,)+
        }

        impl ErrorCode {
            /// Every code there is.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// The code of that name, or [`ErrorCode::Internal`] for a name this
            /// version does not know.
            #[must_use]
            pub fn from_name(name: &str) -> Self {
                match name {
                    $($text => Self::$name,)+
                    _ => Self::Internal,
                }
            }
        }
    };
}

codes! {
    /// The arguments do not fit the schema or each other.
    InvalidInput = "invalid_input",
    /// No such file, tool, task.
    NotFound = "not_found",
    /// A file was needed.
    IsDirectory = "is_directory",
    /// A directory was needed.
    NotDirectory = "not_directory",
    /// A device, FIFO, socket or kernel file.
    NotRegular = "not_regular",
    /// Binary where text was needed.
    NotText = "not_text",
    /// Over a limit of size.
    TooLarge = "too_large",
    /// No tool of that name.
    UnknownTool = "unknown_tool",
    /// The tool exists and is switched off.
    Disabled = "disabled",
    /// The session has not read what is to be written over.
    NotRead = "not_read",
    /// What is to be written is there already.
    SameText = "same_text",
    /// The text to replace is not in the file.
    NoMatch = "no_match",
    /// The text to replace is there more than once.
    NotUnique = "not_unique",
    /// A rule, hook or person said no.
    Denied = "denied",
    /// A person must decide and none did.
    NeedsApproval = "needs_approval",
    /// A capability the manifest does not declare.
    Undeclared = "undeclared",
    /// A capability that is declared and that nobody consented to.
    NotGranted = "not_granted",
    /// A broken message or pointer.
    Protocol = "protocol",
    /// The guest trapped or exited.
    Trap = "trap",
    /// A limit of memory, output, log lines or calls.
    Limit = "limit",
    /// A limit of time.
    Timeout = "timeout",
    /// The module could not be loaded.
    Load = "load",
    /// A kept instance was called by itself.
    Reentry = "reentry",
    /// What was judged is no longer what is there.
    Changed = "changed",
    /// The system refused or failed.
    Io = "io",
    /// This host or platform has no such thing.
    Unsupported = "unsupported",
    /// The call was given up.
    Cancelled = "cancelled",
    /// The user wrote something new, and the call was ended for it.
    Interrupted = "interrupted",
    /// A defect of the host, or a code this version does not know.
    Internal = "internal",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        Ok(Self::from_name(&name))
    }
}

/// A failure with a code. A tool that returns one tells the model its message.
///
/// Messages say what was wrong, where, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// What the model is told.
    #[serde(default)]
    pub message: String,
}

impl ToolError {
    /// Makes a failure.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// A failure that is the input's fault.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidInput, message)
    }

    /// The same failure, told with more context in front: `context: message`.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() { f.write_str(self.code.as_str()) } else { f.write_str(&self.message) }
    }
}

impl std::error::Error for ToolError {}

impl From<std::io::Error> for ToolError {
    fn from(err: std::io::Error) -> Self {
        Self::new(ErrorCode::Io, err.to_string())
    }
}

impl From<serde_json::Error> for ToolError {
    fn from(err: serde_json::Error) -> Self {
        Self::invalid_input(err.to_string())
    }
}
