//! Changing one cell.

use std::ops::Range;

use toolquay::{ErrorCode, ToolError};

use crate::notebook::{Cell, Notebook, place};
use crate::{CellType, EditMode, NotebookEditInput};

/// What is to be done.
pub enum Mode<'a> {
    Replace { source: &'a str, kind: Option<&'static str> },
    Insert { source: &'a str, kind: &'static str },
    Delete,
}

impl<'a> Mode<'a> {
    pub(crate) fn of(input: &'a NotebookEditInput) -> Result<Self, ToolError> {
        let source = input.new_source.as_str();
        let kind = input.cell_type.map(name_of);
        let named = input.cell_id.is_some();
        match input.edit_mode.unwrap_or_default() {
            EditMode::Insert => match kind {
                Some(kind) => Ok(Self::Insert { source, kind }),
                None => Err(ToolError::invalid_input("insert needs cell_type: code, markdown or raw")),
            },
            _ if !named => Err(ToolError::invalid_input("cell_id is needed to say which cell; Read shows the ids")),
            EditMode::Replace => Ok(Self::Replace { source, kind }),
            EditMode::Delete => Ok(Self::Delete),
        }
    }
}

fn name_of(kind: CellType) -> &'static str {
    match kind {
        CellType::Code => "code",
        CellType::Markdown => "markdown",
        CellType::Raw => "raw",
    }
}

/// A notebook as it will be.
pub struct Change {
    pub text: String,
    /// The name of the cell that it is about.
    pub id: String,
    /// How many cells there will be.
    pub cells: u64,
}

/// Applies a change to a notebook's text.
pub fn apply(text: &str, name: Option<&str>, mode: &Mode<'_>) -> Result<Change, ToolError> {
    let notebook = Notebook::parse(text)?;
    let index = name.map(|name| notebook.find(name)).transpose()?;
    let count = notebook.cells.len() as u64;
    match (mode, index) {
        (Mode::Insert { source, kind }, behind) => {
            let id = new_id(&notebook);
            let at = behind.map_or(0, |index| index + 1);
            let text = insert(&notebook, at, kind, source, &id);
            Ok(Change { text, id: if notebook.has_ids { id } else { format!("cell-{at}") }, cells: count + 1 })
        }
        (Mode::Replace { source, kind }, Some(index)) => {
            let text = replace(&notebook, index, *kind, source)?;
            Ok(Change { text, id: notebook.name(index), cells: count })
        }
        (Mode::Delete, Some(index)) => {
            Ok(Change { text: delete(&notebook, index), id: notebook.name(index), cells: count - 1 })
        }
        (_, None) => Err(ToolError::invalid_input("cell_id is needed to say which cell")),
    }
}

/// How the text of a notebook is laid out.
struct Layout<'a> {
    /// What a line ends with, and the indent of one level; nothing where all is on one
    /// line.
    newline: &'a str,
    indent: &'a str,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str) -> Self {
        let inside = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{').unwrap_or_default();
        let space = &inside[..inside.len() - inside.trim_start().len()];
        match space.rfind('\n') {
            None => Self { newline: "", indent: "" },
            Some(end) => {
                let newline = if space[..end].ends_with('\r') { "\r\n" } else { "\n" };
                Self { newline, indent: &space[end + 1..] }
            }
        }
    }

    /// The beginning of a line so many levels deep.
    fn line(&self, depth: usize) -> String {
        format!("{}{}", self.newline, self.indent.repeat(depth))
    }

    /// A source as the format has it: a list of lines, each with its end.
    fn source(&self, source: &str, depth: usize) -> String {
        if source.is_empty() {
            return "[]".to_owned();
        }
        let lines: Vec<_> =
            source.split_inclusive('\n').map(|line| format!("{}{}", self.line(depth + 1), quoted(line))).collect();
        format!("[{}{}]", lines.join(","), self.line(depth))
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The depths of a cell in the list, and of its keys.
const CELL: usize = 2;
const KEY: usize = 3;

fn replace(notebook: &Notebook<'_>, index: usize, kind: Option<&str>, source: &str) -> Result<String, ToolError> {
    let (cell, layout) = (&notebook.cells[index], Layout::of(notebook.text));
    let kind = kind.unwrap_or(&cell.cell_type);
    if kind != cell.cell_type {
        return Ok(spliced(notebook.text, &[(cell.place.clone(), whole(notebook, cell, kind, source)?)]));
    }
    let old: Source = serde_json::from_str(cell.source.get()).map_err(|_| {
        ToolError::invalid_input(format!("the cell {} has a source that is no text", notebook.name(index)))
    })?;
    if old.text() == source {
        return Err(ToolError::new(
            ErrorCode::SameText,
            format!("the cell {} has this source already", notebook.name(index)),
        ));
    }
    let mut edits = vec![(place(notebook.text, cell.source), layout.source(source, KEY))];
    edits.extend(cell.outputs.map(|outputs| (place(notebook.text, outputs), "[]".to_owned())));
    edits.extend(cell.execution_count.map(|count| (place(notebook.text, count), "null".to_owned())));
    edits.sort_by_key(|(place, _)| place.start);
    Ok(spliced(notebook.text, &edits))
}

/// A source: one text, or its lines.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Source {
    Text(String),
    Lines(Vec<String>),
}

impl Source {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Lines(lines) => lines.concat(),
        }
    }
}

/// A cell of another kind keeps its id and its metadata, and its attachments where the
/// format has a place for them: not in code cells.
fn whole(notebook: &Notebook<'_>, cell: &Cell<'_>, kind: &str, source: &str) -> Result<String, ToolError> {
    #[derive(serde::Deserialize)]
    struct Kept<'a> {
        #[serde(borrow, default)]
        metadata: Option<&'a serde_json::value::RawValue>,
        #[serde(borrow, default)]
        attachments: Option<&'a serde_json::value::RawValue>,
    }
    let kept: Kept<'_> = serde_json::from_str(&notebook.text[cell.place.clone()])
        .map_err(|err| ToolError::invalid_input(format!("the cell cannot be read: {err}")))?;
    let metadata = kept.metadata.map_or("{}", |metadata| metadata.get());
    let attachments = kept.attachments.map(|attachments| attachments.get()).filter(|_| kind != "code");
    Ok(written(&Layout::of(notebook.text), kind, source, cell.id.as_deref(), metadata, attachments))
}

/// A cell as Jupyter writes it, with its keys in order.
fn written(
    layout: &Layout<'_>,
    kind: &str,
    source: &str,
    id: Option<&str>,
    metadata: &str,
    attachments: Option<&str>,
) -> String {
    let code = kind == "code";
    let mut keys: Vec<_> = attachments.map(|attachments| ("attachments", attachments.to_owned())).into_iter().collect();
    keys.push(("cell_type", quoted(kind)));
    if code {
        keys.push(("execution_count", "null".to_owned()));
    }
    keys.extend(id.map(|id| ("id", quoted(id))));
    keys.push(("metadata", metadata.to_owned()));
    if code {
        keys.push(("outputs", "[]".to_owned()));
    }
    keys.push(("source", layout.source(source, KEY)));
    let keys: Vec<_> = keys.iter().map(|(key, value)| format!("{}\"{key}\": {value}", layout.line(KEY))).collect();
    format!("{{{}{}}}", keys.join(","), layout.line(CELL))
}

fn insert(notebook: &Notebook<'_>, at: usize, kind: &str, source: &str, id: &str) -> String {
    let layout = Layout::of(notebook.text);
    let cell = written(&layout, kind, source, notebook.has_ids.then_some(id), "{}", None);
    let line = layout.line(CELL);
    let (place, new) = match at.checked_sub(1) {
        Some(before) => (notebook.cells[before].place.end, format!(",{line}{cell}")),
        None if notebook.cells.is_empty() => {
            let list = format!("[{line}{cell}{}]", layout.line(1));
            return spliced(notebook.text, &[(notebook.list.clone(), list)]);
        }
        None => (notebook.cells[0].place.start, format!("{cell},{line}")),
    };
    spliced(notebook.text, &[(place..place, new)])
}

/// Takes a cell away, with the comma and the space that part it from the next one, or
/// from the one before.
fn delete(notebook: &Notebook<'_>, index: usize) -> String {
    let cells = &notebook.cells;
    let place = match (index.checked_sub(1), cells.get(index + 1)) {
        (_, Some(next)) => cells[index].place.start..next.place.start,
        (Some(before), None) => cells[before].place.end..cells[index].place.end,
        (None, None) => notebook.list.start + 1..notebook.list.end - 1,
    };
    spliced(notebook.text, &[(place, String::new())])
}

/// The text with parts of it replaced, which are in order.
fn spliced(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for (place, new) in edits {
        out.push_str(&text[from..place.start]);
        out.push_str(new);
        from = place.end;
    }
    out.push_str(&text[from..]);
    out
}

/// An id that no cell has: eight hexadecimal digits, made from the notebook's text, so
/// that the same edit of the same notebook makes the same id.
fn new_id(notebook: &Notebook<'_>) -> String {
    // FNV-1a: any function that spreads will do, as ids that are taken are passed over.
    let spread = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut hash = notebook.text.bytes().fold(0xcbf2_9ce4_8422_2325, spread);
    loop {
        let id = format!("{:08x}", (hash >> 32) as u32);
        if !notebook.cells.iter().any(|cell| cell.id.as_deref() == Some(&id)) {
            return id;
        }
        hash = spread(hash, 1);
    }
}
