//! Jupyter notebooks of format 4: cells with what they put out.

mod ansi;
mod format;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;
use toolquay::ToolError;

use crate::shown::{Block, MAX_CHARS, Shown, head, tail};
use crate::{image, invalid};
use format::{Cell, Notebook, Output, text_of};

/// The most characters of one output, of which so many are of its end.
const MAX_OUTPUT: usize = 10_000;
const OUTPUT_TAIL: usize = 3_000;
/// The most images.
const MAX_IMAGES: usize = 20;
/// Kinds of text, the better first.
const TEXTS: [&str; 4] = ["text/plain", "text/markdown", "text/latex", "application/json"];
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Shows a notebook.
pub fn show(data: &[u8]) -> Result<Shown, ToolError> {
    let notebook = read(data)?;
    let total = notebook.cells.len();
    let mut page =
        Page { shown: Shown { kind: "notebook", pages: total, whole: true, ..Shown::default() }, ..Page::default() };
    for (index, cell) in notebook.cells.iter().enumerate() {
        let mut written = Vec::new();
        let images = page.images;
        page.cell(index, total, cell, &notebook, &mut written);
        let length: usize = written.iter().map(Block::chars).sum();
        if page.chars + length > MAX_CHARS && index > 0 {
            page.images = images;
            page.stopped(index, total);
            break;
        }
        page.chars += length;
        page.take(written);
    }
    if total == 0 {
        page.shown.notes.push("the notebook has no cells".to_owned());
    }
    Ok(page.shown)
}

/// Reads the notebook, and says what it is if it is none of format 4.
fn read(data: &[u8]) -> Result<Notebook, ToolError> {
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    if data.iter().all(u8::is_ascii_whitespace) {
        return Err(invalid("the notebook is empty: not even JSON is in it"));
    }
    let notebook: Notebook =
        serde_json::from_slice(data).map_err(|err| invalid(format!("the notebook is broken: {err}")))?;
    match notebook.nbformat {
        Some(4) => Ok(notebook),
        Some(old @ 1..=3) => Err(invalid(format!(
            "the notebook is of the old format {old}, and 4 is read; convert it with jupyter nbconvert --to notebook"
        ))),
        Some(new) => Err(invalid(format!("the notebook is of format {new}, and 4 is read"))),
        None => Err(invalid("the file is JSON but no notebook: it has no nbformat")),
    }
}

/// What is shown so far.
#[derive(Default)]
struct Page {
    shown: Shown,
    chars: usize,
    images: usize,
}

impl Block {
    fn chars(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Image(_) => 0,
        }
    }
}

impl Page {
    fn take(&mut self, blocks: Vec<Block>) {
        for block in blocks {
            match block {
                Block::Text(text) if text.chars().count() > MAX_CHARS => {
                    self.shown.whole = false;
                    self.note(format!("the first cell is cut after {MAX_CHARS} characters"));
                    self.shown.push_text(head(&text, MAX_CHARS));
                }
                Block::Text(text) => self.shown.push_text(&text),
                image => self.shown.blocks.push(image),
            }
        }
    }

    /// Notes that something is not shown, once.
    fn note(&mut self, note: String) {
        if !self.shown.notes.contains(&note) {
            self.shown.notes.push(note);
        }
    }

    fn stopped(&mut self, index: usize, total: usize) {
        self.shown.whole = false;
        self.note(format!(
            "stopped before cell {} of {total} to stay under {MAX_CHARS} characters; Grep finds what the others say, and NotebookEdit takes them as well",
            index + 1
        ));
    }

    fn cell(&mut self, index: usize, total: usize, cell: &Cell, notebook: &Notebook, out: &mut Vec<Block>) {
        let mut header = format!("--- cell {} of {total}: {}", index + 1, cell.kind());
        if cell.cell_type == "code" && !notebook.language().is_empty() {
            header.push_str(&format!(", {}", notebook.language()));
        }
        // NotebookEdit takes the place of a cell that has no id, counted from 0.
        match &cell.id {
            Some(id) => header.push_str(&format!(", id {id}")),
            None => header.push_str(&format!(", id cell-{index}")),
        }
        if let Some(count) = cell.execution_count {
            header.push_str(&format!(", run {count}"));
        }
        push(out, &format!("{header} ---\n{}\n", cell.source().trim_end_matches('\n')));
        for output in &cell.outputs {
            self.output(output, out);
        }
    }

    fn output(&mut self, output: &Output, out: &mut Vec<Block>) {
        match output.output_type.as_str() {
            "stream" => {
                let name = output.name.as_deref().unwrap_or("stdout");
                self.text(name, &text_of(&output.text), out);
            }
            "error" => {
                let trace: Vec<String> = output.traceback.iter().map(text_of).collect();
                let said =
                    if trace.is_empty() { format!("{}: {}", output.ename, output.evalue) } else { trace.join("\n") };
                self.text("error", &said, out);
            }
            _ => self.data(output, out),
        }
    }

    /// Shows a result or display: its picture if it has one, and else its text.
    fn data(&mut self, output: &Output, out: &mut Vec<Block>) {
        let pictured = IMAGES.iter().any(|kind| match output.data.get(*kind) {
            Some(data) => self.picture(kind, &text_of(data), out),
            None => false,
        });
        for kind in TEXTS {
            let Some(data) = output.data.get(kind) else { continue };
            let text = match data {
                Value::String(_) | Value::Array(_) => text_of(data),
                other => other.to_string(),
            };
            // "<Figure size 640x480 with 1 Axes>" says nothing beside the figure.
            if !(pictured && text.starts_with('<')) {
                self.text("output", &text, out);
            }
            return;
        }
        if !pictured && !output.data.is_empty() {
            let kinds: Vec<&str> = output.data.keys().map(String::as_str).collect();
            push(out, &format!("[output: {}, which is not rendered]\n", kinds.join(", ")));
        }
    }

    fn text(&mut self, name: &str, text: &str, out: &mut Vec<Block>) {
        let text = ansi::strip(text);
        let text = text.trim_end_matches('\n');
        let count = text.chars().count();
        if count <= MAX_OUTPUT {
            push(out, &format!("[{name}]\n{text}\n"));
            return;
        }
        self.note(format!("outputs of more than {MAX_OUTPUT} characters are cut in the middle"));
        let (first, last) = (head(text, MAX_OUTPUT - OUTPUT_TAIL), tail(text, OUTPUT_TAIL));
        push(out, &format!("[{name}]\n{first}\n[... {} characters are left out ...]\n{last}\n", count - MAX_OUTPUT));
    }

    /// Shows a picture, and reports whether it could.
    fn picture(&mut self, kind: &str, base64: &str, out: &mut Vec<Block>) -> bool {
        if self.images == MAX_IMAGES {
            self.note(format!("only the first {MAX_IMAGES} images are shown"));
            push(out, &format!("[{kind}, not shown]\n"));
            return true;
        }
        let packed: String = base64.chars().filter(|char| !char.is_ascii_whitespace()).collect();
        let decoded = BASE64.decode(packed).map_err(|_| invalid("it is no base64"));
        match decoded.and_then(image::fit) {
            Ok((picture, notes)) => {
                self.images += 1;
                push(out, &format!("[{kind}]\n"));
                out.push(Block::Image(picture));
                self.shown.notes.extend(notes);
                true
            }
            Err(err) => {
                push(out, &format!("[{kind}, which cannot be shown: {}]\n", err.message));
                false
            }
        }
    }
}

fn push(out: &mut Vec<Block>, text: &str) {
    match out.last_mut() {
        Some(Block::Text(last)) => last.push_str(text),
        _ => out.push(Block::Text(text.to_owned())),
    }
}
