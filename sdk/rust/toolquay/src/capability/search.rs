//! Searching: `search.names`, `search.contents`.

use serde::{Deserialize, Serialize};

use super::{Capability, is_zero};
use crate::context::Context;
use crate::error::{ErrorCode, ToolError};
use crate::pending::Answer;

/// The arguments of `search.names`. The body of the answer is a JSON array of
/// [`Found`], newest first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NamesArgs<'a> {
    /// The directory to search; empty is the session's working directory.
    #[serde(skip_serializing_if = "is_zero")]
    pub path: &'a str,
    /// A glob with `*`, `?`, `[...]`, `{a,b}` and `**`, relative to `path` or
    /// absolute.
    pub pattern: &'a str,
    /// The most names; 0 is the host's bound of 10,000.
    #[serde(skip_serializing_if = "is_zero")]
    pub limit: u32,
    /// Leaves out what `.gitignore` and `.ignore` files name.
    #[serde(skip_serializing_if = "is_zero")]
    pub ignore: bool,
}

/// The answer to `search.names`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NamesOk {
    /// The directory, absolute and without links.
    pub path: String,
    /// How many names there are in the body.
    pub count: u64,
    /// How many matched, or 0 where the walk was cut short.
    pub total: u64,
    /// Whether there are more.
    pub truncated: bool,
    /// How many files rules left out.
    pub denied: u64,
    /// How many files the system left out.
    pub unreadable: u64,
    /// Whether the host ended the search at its time limit. The body has what was found
    /// by then.
    pub timed_out: bool,
    /// That limit in milliseconds.
    #[serde(rename = "timeout_ms")]
    pub timeout: u64,
}

/// One file that matched a glob.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    /// Relative to the session's working directory where it lies below it, else
    /// absolute.
    pub path: String,
    /// When it was modified, in milliseconds since 1970.
    #[serde(rename = "mod_time_ms", default)]
    pub mod_time: i64,
}

impl Capability for NamesArgs<'_> {
    const NAME: &'static str = "search.names";
    type Ok = NamesOk;
}

/// The files that matched a glob.
#[derive(Clone, Debug)]
pub struct Names {
    /// The answer's head.
    pub ok: NamesOk,
    /// The files, newest first.
    pub files: Vec<Found>,
}

/// What a search for contents shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// The lines, as `path:line:text`.
    #[serde(rename = "content")]
    Content,
    /// The files, as `path`.
    #[default]
    #[serde(rename = "files_with_matches")]
    Files,
    /// How many matches each file has, as `path:count`.
    #[serde(rename = "count")]
    Count,
}

/// The arguments of `search.contents`, as of ripgrep. The body of the answer is
/// text in ripgrep's shape for the mode.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ContentsArgs<'a> {
    /// A regular expression in ripgrep's syntax, as far as the host knows it.
    pub pattern: &'a str,
    /// The file or directory; empty is the session's working directory.
    #[serde(skip_serializing_if = "is_zero")]
    pub path: &'a str,
    /// Filters files as ripgrep's `-g` does: `!` excludes, the last match
    /// decides.
    #[serde(skip_serializing_if = "is_zero")]
    pub globs: Vec<String>,
    /// A name of ripgrep's list of types, such as `rust`.
    #[serde(rename = "type", skip_serializing_if = "is_zero")]
    pub file_type: &'a str,
    /// What is shown.
    pub mode: Mode,
    /// How many lines before each match.
    #[serde(skip_serializing_if = "is_zero")]
    pub before: u64,
    /// How many lines after each match.
    #[serde(skip_serializing_if = "is_zero")]
    pub after: u64,
    /// Whether lines have their numbers.
    #[serde(skip_serializing_if = "is_zero")]
    pub line_numbers: bool,
    /// Whether upper and lower case are the same.
    #[serde(skip_serializing_if = "is_zero")]
    pub case_insensitive: bool,
    /// Lets matches span lines and `.` match newlines.
    #[serde(skip_serializing_if = "is_zero")]
    pub multiline: bool,
    /// The most entries, lines or files; 0 is the host's bound.
    #[serde(skip_serializing_if = "is_zero")]
    pub limit: u64,
    /// How many entries to skip.
    #[serde(skip_serializing_if = "is_zero")]
    pub offset: u64,
    /// Cuts longer lines, in bytes; 0 does not.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_columns: u64,
    /// Says that the model gets to see the lines, so that the session takes them for
    /// read: text in them may then be replaced. Counts with [`Mode::Content`] only.
    #[serde(skip_serializing_if = "is_zero")]
    pub shown: bool,
}

/// The answer to `search.contents`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ContentsOk {
    /// What was searched, absolute and without links.
    pub path: String,
    /// How many files the body shows.
    pub files: u64,
    /// How many matches the body shows; 0 for [`Mode::Files`].
    pub matches: u64,
    /// How many lines the body has.
    pub entries: u64,
    /// Whether `limit` left entries out.
    pub truncated: bool,
    /// How many files rules left out.
    pub denied: u64,
    /// How many files the system left out.
    pub unreadable: u64,
    /// How many files were opened.
    pub searched: u64,
    /// Whether the host ended the search at its time limit. The body has what was found
    /// by then; the count of a file that was not searched to its end is of what was.
    pub timed_out: bool,
    /// That limit in milliseconds.
    #[serde(rename = "timeout_ms")]
    pub timeout: u64,
}

impl Capability for ContentsArgs<'_> {
    const NAME: &'static str = "search.contents";
    type Ok = ContentsOk;
}

/// Blocking searches. For searches that go on meanwhile, hand the arguments to
/// [`Context::submit`].
#[derive(Clone, Copy, Debug)]
pub struct Search<'a>(&'a Context);

impl<'a> Search<'a> {
    pub(crate) const fn new(cx: &'a Context) -> Self {
        Self(cx)
    }

    /// Finds files by name.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`], [`ErrorCode::NotDirectory`],
    /// [`ErrorCode::InvalidInput`] for a broken glob, [`ErrorCode::Denied`], or
    /// whatever else the host answers.
    pub fn names(self, args: &NamesArgs<'_>) -> Result<Names, ToolError> {
        let answer = self.0.call(args)?;
        let files = serde_json::from_slice(&answer.body.into_bytes()?)
            .map_err(|err| ToolError::new(ErrorCode::Protocol, format!("the host's list of files: {err}")))?;
        Ok(Names { ok: answer.ok, files })
    }

    /// Finds text in files. What was found stays with the host until it is read.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::NotFound`], [`ErrorCode::InvalidInput`] for a broken
    /// expression, [`ErrorCode::Denied`], or whatever else the host answers.
    pub fn contents(self, args: &ContentsArgs<'_>) -> Result<Answer<ContentsOk>, ToolError> {
        self.0.call(args)
    }
}
