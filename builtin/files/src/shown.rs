//! What Read answers for machines.

use toolquay::Schema;
use toolquay::capability::docs::{DocKind, DocsOk};
use toolquay::capability::fs::{LinesOk, ReadOk};

/// What was shown of a file. The content itself is in the result alone.
#[derive(serde::Serialize, Schema)]
pub struct Shown {
    /// The file that was read, absolute and without links.
    path: String,
    /// What it is.
    kind: Kind,
    /// Whether just this was shown before and the file is as it was, so that nothing is shown.
    unchanged: bool,
    /// The first line shown, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<u64>,
    /// How many lines are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    /// How many lines the file has, where its end was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    /// Whether the text goes on behind the lines shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// The encoding of the text: utf-8, utf-8-bom, utf-16le, utf-16be or latin-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    /// How many pages a PDF has, or how many cells a notebook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<u64>,
}

#[derive(serde::Serialize, Schema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Pdf,
    Image,
    Notebook,
    Document,
}

impl Shown {
    fn new(path: &str, kind: Kind, unchanged: bool) -> Self {
        let (path, first_line, lines, total_lines, pages) = (path.to_owned(), None, None, None, None);
        Self { path, kind, unchanged, first_line, lines, total_lines, truncated: None, encoding: None, pages }
    }

    /// Lines of text; none where they were shown before.
    pub fn text(ok: &ReadOk, lines: Option<&LinesOk>) -> Self {
        let mut shown = Self::new(&ok.path, Kind::Text, ok.unchanged);
        shown.encoding = Some(ok.encoding.clone()).filter(|name| !name.is_empty());
        if let Some(lines) = lines {
            shown.lines = Some(lines.count);
            shown.truncated = Some(lines.more);
            shown.first_line = Some(lines.first).filter(|_| lines.count > 0);
            shown.total_lines = Some(lines.total).filter(|_| !lines.more);
        }
        shown
    }

    /// A document.
    pub fn document(ok: &DocsOk) -> Self {
        let kind = match ok.kind {
            DocKind::Pdf => Kind::Pdf,
            DocKind::Image => Kind::Image,
            DocKind::Notebook => Kind::Notebook,
            _ => Kind::Document,
        };
        let mut shown = Self::new(&ok.path, kind, ok.unchanged);
        shown.pages = Some(ok.pages).filter(|&pages| pages > 0);
        shown
    }
}
