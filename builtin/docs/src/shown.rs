//! What is shown of a document.

use serde::Serialize;
use toolquay::Output;

/// The most characters of text of one call.
pub const MAX_CHARS: usize = 100_000;

/// What is shown of a document.
#[derive(Debug, Default)]
pub struct Shown {
    pub kind: &'static str,
    /// Pages of a PDF or cells of a notebook.
    pub pages: usize,
    pub blocks: Vec<Block>,
    /// Sentences for the model: what was left out, scaled or broken.
    pub notes: Vec<String>,
    /// Whether every page or cell is shown, though perhaps not every output of it.
    pub whole: bool,
}

/// One content block.
#[derive(Debug)]
pub enum Block {
    Text(String),
    Image(Picture),
}

/// The bytes of an image, encoded.
#[derive(Debug)]
pub struct Picture {
    pub media_type: &'static str,
    pub data: Vec<u8>,
}

/// The structured answer, which the host reads.
#[derive(Serialize)]
struct Head<'a> {
    kind: &'a str,
    pages: usize,
    notes: &'a [String],
    whole: bool,
}

impl Shown {
    /// Adds text, to the last block where that is text.
    pub fn push_text(&mut self, text: &str) {
        match self.blocks.last_mut() {
            Some(Block::Text(last)) => last.push_str(text),
            _ => self.blocks.push(Block::Text(text.to_owned())),
        }
    }

    /// The answer of the tool.
    pub fn into_output(self) -> Output {
        let head = Head { kind: self.kind, pages: self.pages, notes: &self.notes, whole: self.whole };
        let mut output = Output::new().structured(&head);
        for block in self.blocks {
            output = match block {
                Block::Text(text) => output.and_text(text),
                Block::Image(picture) => output.image(picture.media_type, picture.data),
            };
        }
        output
    }
}

/// The text up to so many characters.
pub fn head(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

/// The last so many characters of a text.
pub fn tail(text: &str, chars: usize) -> &str {
    match text.char_indices().rev().nth(chars.saturating_sub(1)) {
        Some((start, _)) if chars > 0 => &text[start..],
        _ if chars == 0 => "",
        _ => text,
    }
}
