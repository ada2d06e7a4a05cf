//! Telling the person something: `session.message`.

use serde::{Deserialize, Serialize};

use super::{Capability, is_zero};

/// Whether the person waits for a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It answers them.
    #[default]
    Normal,
    /// Nobody asked for it.
    Proactive,
}

/// The arguments of `session.message`. The answer has no body.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MessageArgs<'a> {
    /// In Markdown, at most 50,000 characters, and not blank.
    pub message: &'a str,
    /// The paths of files that belong to it, at most 10 of 25 MiB each. The tool must have
    /// `fs.read` for them, and rules may keep them back.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub attachments: &'a [String],
    /// Whether the person waits for it.
    #[serde(skip_serializing_if = "is_zero")]
    pub status: Status,
}

/// The answer to `session.message`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageOk {
    /// The files, in the order of the arguments.
    pub attachments: Vec<MessageAttachment>,
    /// When the person was told, as RFC 3339 has it, in UTC.
    #[serde(rename = "sent_at")]
    pub sent: String,
}

/// A file that belongs to a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageAttachment {
    /// Where it lies, absolute.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Whether its content is an image.
    pub is_image: bool,
}

impl Capability for MessageArgs<'_> {
    const NAME: &'static str = "session.message";
    type Ok = MessageOk;
}
