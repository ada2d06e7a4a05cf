//! Writing: `fs.write`, `fs.replace`.

use serde::{Deserialize, Serialize, Serializer};

use super::Fs;
use crate::capability::{Capability, is_zero};
use crate::error::ToolError;
use crate::frame::{Part, PartType};
use crate::pending::Answer;

/// What a file must hold to be written over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expect<'a> {
    /// What the session has read. A file that is missing is made.
    #[default]
    Seen,
    /// Nothing: there is no such file.
    Absent,
    /// Content of this SHA-256, in hexadecimal.
    Hash(&'a str),
}

impl Serialize for Expect<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Seen => "",
            Self::Absent => "absent",
            Self::Hash(hash) => hash,
        })
    }
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Text, which takes on the encoding and the line ending of the file that it
    /// replaces.
    Text(&'a str),
    /// Bytes, as they are.
    Bytes(&'a [u8]),
}

impl Content<'_> {
    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Text("")
    }
}

/// The arguments of `fs.write`, which puts a file's whole content in place, at once
/// or not at all, and makes the directories above it that are missing. The body of
/// the answer is the change as a unified diff.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WriteArgs<'a> {
    /// The file, which may be relative to the session's working directory.
    pub path: &'a str,
    /// What it must hold.
    #[serde(skip_serializing_if = "is_zero")]
    pub expect: Expect<'a>,
    /// What it will hold. Only what kind of content it is goes into the arguments.
    #[serde(rename = "bytes", skip_serializing_if = "Content::is_text", serialize_with = "marked")]
    pub content: Content<'a>,
}

fn marked<S: Serializer>(_content: &Content<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(true)
}

impl Capability for WriteArgs<'_> {
    const NAME: &'static str = "fs.write";
    type Ok = WriteOk;

    fn parts(&self) -> Vec<Part<'_>> {
        vec![match self.content {
            Content::Text(text) => text_part(text),
            Content::Bytes(data) => Part { kind: PartType::Bytes, data },
        }]
    }
}

/// The arguments of `fs.replace`, which replaces text in a file where it lies: of a
/// file of up to 1 GiB nothing enters the guest. Both texts are with LF. The body of
/// the answer is the change as a unified diff.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplaceArgs<'a> {
    /// The file, which may be relative to the session's working directory.
    pub path: &'a str,
    /// What it must hold.
    #[serde(skip_serializing_if = "is_zero")]
    pub expect: Expect<'a>,
    /// Replaces every occurrence.
    #[serde(skip_serializing_if = "is_zero")]
    pub all: bool,
    /// The text to replace. An empty one makes a file, or fills an empty one.
    #[serde(skip)]
    pub old: &'a str,
    /// What takes its place.
    #[serde(skip)]
    pub new: &'a str,
}

impl Capability for ReplaceArgs<'_> {
    const NAME: &'static str = "fs.replace";
    type Ok = WriteOk;

    fn parts(&self) -> Vec<Part<'_>> {
        vec![text_part(self.old), text_part(self.new)]
    }
}

fn text_part(text: &str) -> Part<'_> {
    Part { kind: PartType::Text, data: text.as_bytes() }
}

/// The answer to `fs.write` and `fs.replace`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WriteOk {
    /// The file that was written, absolute and without links.
    pub path: String,
    /// Whether it was not there before.
    pub created: bool,
    /// Whether it had this content before, and was not written. The body is empty then.
    pub unchanged: bool,
    /// The new size in bytes.
    pub size: u64,
    /// The SHA-256 of the new content, in hexadecimal.
    pub hash: String,
    /// The encoding of the text, such as `utf-8`; empty where bytes were written.
    pub encoding: String,
    /// How lines end: `lf`, `crlf` or `mixed`; empty for a single line, and where
    /// bytes were written.
    pub line_ending: String,
    /// How many occurrences were replaced; 0 for `fs.write`.
    pub replaced: u64,
    /// How many lines the diff adds.
    pub added: u64,
    /// How many lines the diff removes.
    pub removed: u64,
    /// Whether the body is not all of the diff, which is bounded.
    pub diff_cut: bool,
    /// How many other hard links the file had: they still name the former content.
    pub other_names: u64,
    /// The name of the record by which the write can be undone; empty where none
    /// is kept.
    pub history: String,
}

/// Blocking writes. Files that are there must have been read in this session, unless
/// the host keeps no record of it; [`WriteArgs`] and [`ReplaceArgs`] have more to say.
impl Fs<'_> {
    /// Writes a text as a file's whole content.
    ///
    /// # Errors
    ///
    /// [`NotRead`](crate::ErrorCode::NotRead), [`Changed`](crate::ErrorCode::Changed),
    /// [`Denied`](crate::ErrorCode::Denied), or whatever else the host answers; the file
    /// is then as it was.
    pub fn write(self, path: &str, text: &str) -> Result<Answer<WriteOk>, ToolError> {
        self.0.call(&WriteArgs { path, content: Content::Text(text), ..WriteArgs::default() })
    }

    /// Writes bytes as a file's whole content.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn write_bytes(self, path: &str, bytes: &[u8]) -> Result<Answer<WriteOk>, ToolError> {
        self.0.call(&WriteArgs { path, content: Content::Bytes(bytes), ..WriteArgs::default() })
    }

    /// Replaces a text that is in a file once.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write), [`NotFound`](crate::ErrorCode::NotFound),
    /// [`SameText`](crate::ErrorCode::SameText),
    /// [`NoMatch`](crate::ErrorCode::NoMatch) and
    /// [`NotUnique`](crate::ErrorCode::NotUnique).
    pub fn replace(self, path: &str, old: &str, new: &str) -> Result<Answer<WriteOk>, ToolError> {
        self.0.call(&ReplaceArgs { path, old, new, ..ReplaceArgs::default() })
    }

    /// Replaces a text wherever it is in a file.
    ///
    /// # Errors
    ///
    /// As [`replace`](Self::replace), but for `NotUnique`.
    pub fn replace_all(self, path: &str, old: &str, new: &str) -> Result<Answer<WriteOk>, ToolError> {
        self.0.call(&ReplaceArgs { path, old, new, all: true, ..ReplaceArgs::default() })
    }
}
