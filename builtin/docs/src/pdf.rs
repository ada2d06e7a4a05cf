//! PDF documents: the text of pages, in the order in which it is read.

mod columns;
mod glyphs;
mod lines;

use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::util::{RectExt, TransformExt};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};
use toolquay::ToolError;

use crate::shown::{MAX_CHARS, Shown, head};
use crate::{invalid, pages};
use glyphs::Glyphs;

/// A header may have so much rubbish before it.
const HEADER_WITHIN: usize = 1024;

/// Whether the bytes begin as a PDF does.
pub fn is_pdf(data: &[u8]) -> bool {
    data[..data.len().min(HEADER_WITHIN)].windows(5).any(|bytes| bytes == b"%PDF-")
}

/// Shows pages of a PDF.
pub fn show(data: Vec<u8>, wanted: Option<&str>) -> Result<Shown, ToolError> {
    let pdf = Pdf::new(data).map_err(explain)?;
    let total = pdf.pages().len();
    if total == 0 {
        return Err(invalid("the PDF is broken: it has no pages that can be read"));
    }
    let choice = pages::choose(wanted, total)?;
    let mut shown = Shown { kind: "pdf", pages: total, ..Shown::default() };
    let cache = InterpreterCache::new();
    let (mut left, mut unknown, mut chars, mut empty) = (MAX_CHARS, 0, 0, Vec::new());
    let mut next = choice.next;
    for (i, number) in choice.pages.iter().enumerate() {
        let Some(page) = pdf.pages().get(number - 1) else { continue };
        let glyphs = read(page, &cache);
        let text = lines::text(&glyphs.placed);
        let mut block = format!("--- page {number} of {total} ---\n{text}\n");
        let length = block.chars().count();
        if length > left && i > 0 {
            shown.notes.push(format!("stopped before page {number} to stay under {MAX_CHARS} characters"));
            next = Some(*number);
            break;
        }
        if length > left {
            block.truncate(head(&block, left).len());
            shown.notes.push(format!("page {number} is cut after {MAX_CHARS} characters"));
        }
        left = left.saturating_sub(length);
        unknown += glyphs.unknown;
        chars += glyphs.placed.len();
        if text.is_empty() {
            empty.push(*number);
        }
        if glyphs.cut {
            shown.notes.push(format!("page {number} draws more than can be shown"));
        }
        shown.push_text(&block);
    }
    shown.whole = choice.pages.len() == total && shown.notes.is_empty();
    shown.notes.extend(about_empty(&empty, choice.pages.len()));
    if unknown > 0 {
        shown
            .notes
            .push(format!("{unknown} of {chars} characters have no known meaning in the file and stand as \u{fffd}"));
    }
    if let Some(next) = next {
        shown.notes.push(format!("the document has {total} pages; go on with pages \"{next}-\""));
    }
    Ok(shown)
}

/// Says which pages had no text.
fn about_empty(empty: &[usize], of: usize) -> Option<String> {
    match empty {
        [] => None,
        _ if empty.len() == of => Some(
            "there is no text on these pages: they were probably scanned, or hold pictures alone, and need text recognition"
                .to_owned(),
        ),
        [page] => Some(format!("there is no text on page {page}")),
        _ => {
            let numbers: Vec<String> = empty.iter().map(ToString::to_string).collect();
            Some(format!("there is no text on the pages {}", numbers.join(", ")))
        }
    }
}

/// Collects what a page shows.
fn read<'a>(page: &'a Page<'a>, cache: &InterpreterCache<'a>) -> Glyphs {
    let (width, height) = page.render_dimensions();
    let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let mut glyphs = Glyphs::new(bounds);
    let crop = page.intersected_crop_box().to_kurbo();
    let transform = page.initial_transform(true).to_kurbo();
    let settings = InterpreterSettings::default();
    let mut context = Context::new(transform, crop, cache, page.xref(), settings);
    interpret_page(page, &mut context, &mut glyphs);
    glyphs
}

fn explain(err: LoadPdfError) -> ToolError {
    invalid(match err {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            "the PDF is encrypted and opens with a password only; have it decrypted first, for example with qpdf --decrypt"
        }
        LoadPdfError::Decryption(_) => "the PDF is encrypted in a way that is not known here",
        LoadPdfError::Invalid => "the PDF is broken: no pages can be found in it",
    })
}
