//! Files and directories: `fs.read`, `fs.stat`, `fs.list`, `fs.write`, `fs.replace`.

mod write;

use serde::{Deserialize, Serialize};

use super::{Capability, is_zero};
use crate::context::Context;
use crate::error::{ErrorCode, ToolError};
use crate::json::Object;
use crate::pending::Answer;

pub use write::{Content, Expect, ReplaceArgs, WriteArgs, WriteOk};

/// The kinds of file that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, FIFO, socket, or what this version does not know.
    #[serde(other)]
    Other,
}

/// The arguments of `fs.read`. The body of the answer is the bytes or, with
/// `lines`, the lines as UTF-8 text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReadArgs<'a> {
    /// The file, which may be relative to the session's working directory.
    pub path: &'a str,
    /// Where to begin, in bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub offset: u64,
    /// How many bytes to read; 0 is to the end.
    #[serde(skip_serializing_if = "is_zero")]
    pub length: u64,
    /// Reads by lines instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
    /// Says that the model gets to see what is read, so that the session takes the
    /// file for read: it may then be written. A file that was shown in the same way
    /// and has not changed is not read again, once: see [`ReadOk::unchanged`].
    #[serde(skip_serializing_if = "is_zero")]
    pub shown: bool,
}

/// Which lines to read, and how. The host splits at LF, takes a CR before it
/// away, and decodes what [`ReadOk::encoding`] names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lines {
    /// The first line, 1-based; 0 means 1.
    #[serde(skip_serializing_if = "is_zero")]
    pub offset: u64,
    /// The most lines; 0 is no bound but `max_chars`.
    #[serde(skip_serializing_if = "is_zero")]
    pub limit: u64,
    /// Cuts longer lines after so many code points; 0 does not.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_line: u64,
    /// Ends the text before the line that would pass so many code points in
    /// all, numbers included; 0 is the host's own bound.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_chars: u64,
    /// Puts the line number, right-aligned to 6 columns, and a tab before each
    /// line.
    #[serde(skip_serializing_if = "is_zero")]
    pub number: bool,
}

/// The answer to `fs.read`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOk {
    /// The file that was read, absolute and without links.
    pub path: String,
    /// The file's size in bytes.
    pub size: u64,
    /// When it was modified, in milliseconds since 1970.
    #[serde(rename = "mod_time_ms")]
    pub mod_time: i64,
    /// What a read by lines returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LinesOk>,
    /// The encoding of the text: `utf-8`, `utf-8-bom`, `utf-16le`, `utf-16be` or
    /// `latin-1`; empty without lines.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub encoding: String,
    /// Whether the model was shown just this before, and the file is as it was. There
    /// is no body then.
    #[serde(skip_serializing_if = "is_zero")]
    pub unchanged: bool,
}

/// What a read by lines returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinesOk {
    /// The number of the first line returned.
    pub first: u64,
    /// How many lines were returned.
    pub count: u64,
    /// The file's number of lines, where its end was reached; else 0.
    pub total: u64,
    /// Whether the file goes on.
    pub more: bool,
    /// How many lines `max_line` cut.
    pub cut_lines: u64,
    /// Whether `max_chars`, not `limit`, ended the text.
    pub stopped: bool,
    /// Whether the host ended the read at its time limit. The body has the lines that
    /// were read by then.
    pub timed_out: bool,
    /// That limit in milliseconds.
    #[serde(rename = "timeout_ms")]
    pub timeout: u64,
    /// Where that returned no line: how many before the first one were passed over.
    pub passed: u64,
}

impl Capability for ReadArgs<'_> {
    const NAME: &'static str = "fs.read";
    type Ok = ReadOk;
}

/// The arguments of `fs.stat`, which follows links.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StatArgs<'a> {
    /// The file or directory.
    pub path: &'a str,
    /// Asks for the content's SHA-256, which needs all of it read.
    #[serde(skip_serializing_if = "is_zero")]
    pub hash: bool,
}

/// The answer to `fs.stat`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatOk {
    /// The path, absolute and without links.
    pub path: String,
    /// What is there.
    pub kind: FileKind,
    /// Its size in bytes.
    #[serde(default)]
    pub size: u64,
    /// When it was modified, in milliseconds since 1970.
    #[serde(rename = "mod_time_ms", default)]
    pub mod_time: i64,
    /// The SHA-256 of a regular file's content in hexadecimal, where it was asked
    /// for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}

impl Capability for StatArgs<'_> {
    const NAME: &'static str = "fs.stat";
    type Ok = StatOk;
}

/// The arguments of `fs.list`. The body of the answer is a JSON array of
/// [`Entry`], sorted by name.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ListArgs<'a> {
    /// The directory.
    pub path: &'a str,
    /// The most entries; 0 is the host's bound of 10,000.
    #[serde(skip_serializing_if = "is_zero")]
    pub limit: u32,
}

/// The answer to `fs.list`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ListOk {
    /// The directory, absolute and without links.
    pub path: String,
    /// How many entries there are in the body.
    pub count: u64,
    /// Whether there are more.
    pub truncated: bool,
}

/// One name in a directory. Links are not followed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    #[serde(default)]
    pub size: u64,
    /// When it was modified, in milliseconds since 1970.
    #[serde(rename = "mod_time_ms", default)]
    pub mod_time: i64,
}

impl Capability for ListArgs<'_> {
    const NAME: &'static str = "fs.list";
    type Ok = ListOk;
}

/// A directory's entries.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The answer's head.
    pub ok: ListOk,
    /// The entries, sorted by name.
    pub entries: Vec<Entry>,
}

/// Blocking calls about files. For calls that go on meanwhile, hand the
/// arguments to [`Context::submit`].
#[derive(Clone, Copy, Debug)]
pub struct Fs<'a>(&'a Context);

impl<'a> Fs<'a> {
    pub(crate) const fn new(cx: &'a Context) -> Self {
        Self(cx)
    }

    /// Opens a file. Its content stays with the host until it is read.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`], [`ErrorCode::IsDirectory`],
    /// [`ErrorCode::NotRegular`], [`ErrorCode::Denied`], or whatever else the
    /// host answers.
    pub fn read(self, path: &str) -> Result<Answer<ReadOk>, ToolError> {
        self.0.call(&ReadArgs { path, ..ReadArgs::default() })
    }

    /// Opens a range of a file, in bytes; a length of 0 is to the end.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_range(self, path: &str, offset: u64, length: u64) -> Result<Answer<ReadOk>, ToolError> {
        self.0.call(&ReadArgs { path, offset, length, ..ReadArgs::default() })
    }

    /// Opens a file's lines, as text.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and [`ErrorCode::NotText`].
    pub fn read_lines(self, path: &str, lines: Lines) -> Result<Answer<ReadOk>, ToolError> {
        self.0.call(&ReadArgs { path, lines: Some(lines), ..ReadArgs::default() })
    }

    /// Opens a file's lines, as text that the model gets to see: the session takes
    /// them for read.
    ///
    /// # Errors
    ///
    /// As [`read_lines`](Self::read_lines).
    pub fn show_lines(self, path: &str, lines: Lines) -> Result<Answer<ReadOk>, ToolError> {
        self.0.call(&ReadArgs { path, lines: Some(lines), shown: true, ..ReadArgs::default() })
    }

    /// Reads a whole file into the guest's memory.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and [`ErrorCode::NotText`] where it is not UTF-8.
    pub fn read_to_string(self, path: &str) -> Result<String, ToolError> {
        self.read(path)?.body.into_string().map_err(|err| err.context(path))
    }

    /// Asks what is at a path, links followed.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`], [`ErrorCode::Denied`], or whatever else the host
    /// answers.
    pub fn stat(self, path: &str) -> Result<StatOk, ToolError> {
        self.0.call(&StatArgs { path, ..StatArgs::default() }).map(|answer| answer.ok)
    }

    /// Asks for the SHA-256 of a file's content, in hexadecimal: what a later write
    /// can [`Expect`].
    ///
    /// # Errors
    ///
    /// As [`stat`](Self::stat), and [`ErrorCode::NotRegular`] for what has no content.
    pub fn hash(self, path: &str) -> Result<String, ToolError> {
        let stat = self.0.call(&StatArgs { path, hash: true })?.ok;
        if stat.hash.is_empty() {
            return Err(ToolError::new(ErrorCode::NotRegular, format!("{path} is not a regular file")));
        }
        Ok(stat.hash)
    }

    /// Lists a directory; a limit of 0 is the host's bound.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`], [`ErrorCode::NotDirectory`],
    /// [`ErrorCode::Denied`], or whatever else the host answers.
    pub fn list(self, path: &str, limit: u32) -> Result<Listing, ToolError> {
        let answer = self.0.call(&ListArgs { path, limit })?;
        let entries: Vec<Object<Entry>> = serde_json::from_slice(&answer.body.into_bytes()?)
            .map_err(|err| ToolError::new(ErrorCode::Protocol, format!("the host's list of entries: {err}")))?;
        Ok(Listing { ok: answer.ok, entries: entries.into_iter().map(|Object(entry)| entry).collect() })
    }
}
