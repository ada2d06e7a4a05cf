//! Makes lines and paragraphs of characters that lie somewhere.

use super::columns;
use super::glyphs::Placed;

/// How far, in sizes of the font, the next character may be: over the first there is
/// a space between them, over the second they are apart, in columns or cells.
const SPACE: f64 = 0.2;
const APART: f64 = 1.1;
/// How far back it may begin, in sizes of the font.
const BACK: f64 = 0.5;
/// How far baselines of one line may be from each other.
const LEVEL: f64 = 0.4;
/// From how many usual distances between lines on a paragraph begins.
const PARAGRAPH: f64 = 1.4;

/// A piece of a line: characters that follow each other.
#[derive(Clone, Debug)]
pub struct Piece {
    pub text: String,
    pub x: f64,
    pub end: f64,
    pub y: f64,
    pub size: f64,
}

/// Writes what a page shows as text, line by line; text that is turned comes last.
pub fn text(placed: &[Placed]) -> String {
    let mut out = String::new();
    for turn in 0..4 {
        let pieces = pieces(placed.iter().filter(|glyph| glyph.turn == turn));
        for group in columns::order(pieces) {
            write(&mut out, group);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Joins characters as they were drawn, which is how they follow each other.
fn pieces<'a>(placed: impl Iterator<Item = &'a Placed>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for glyph in placed {
        let blank = glyph.text.chars().all(char::is_whitespace);
        match pieces.last_mut() {
            Some(last) if last.goes_on(glyph) => last.add(glyph, blank),
            _ if blank => {}
            _ => pieces.push(Piece {
                text: glyph.text.clone(),
                x: glyph.x,
                end: glyph.x + glyph.width,
                y: glyph.y,
                size: glyph.size,
            }),
        }
    }
    for piece in &mut pieces {
        piece.text.truncate(piece.text.trim_end().len());
    }
    pieces
}

impl Piece {
    fn goes_on(&self, glyph: &Placed) -> bool {
        let (gap, size) = (glyph.x - self.end, self.size.max(glyph.size));
        (glyph.y - self.y).abs() < LEVEL * size && gap > -BACK * size && gap < APART * size
    }

    fn add(&mut self, glyph: &Placed, blank: bool) {
        let gap = glyph.x - self.end;
        if (blank || gap > SPACE * self.size.min(glyph.size)) && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        if blank {
            // A space may be stretched; where it ends says the next character.
            self.end = self.end.max(glyph.x + glyph.width);
            return;
        }
        self.text.push_str(&glyph.text);
        self.end = glyph.x + glyph.width;
        if glyph.size > self.size {
            (self.size, self.y) = (glyph.size, glyph.y);
        }
    }
}

/// Pieces of one height.
struct Line {
    pieces: Vec<Piece>,
    y: f64,
    size: f64,
}

/// Writes pieces that are read from top to bottom.
fn write(out: &mut String, mut pieces: Vec<Piece>) {
    pieces.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut lines: Vec<Line> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if (piece.y - line.y).abs() < LEVEL * line.size.max(piece.size) => line.add(piece),
            _ => lines.push(Line { y: piece.y, size: piece.size, pieces: vec![piece] }),
        }
    }
    let usual = usual_distance(&lines);
    let mut above: Option<&Line> = None;
    if !out.is_empty() {
        out.push('\n');
    }
    for line in &lines {
        if above.is_some_and(|above| line.y - above.y > PARAGRAPH * usual.max(above.size.min(line.size))) {
            out.push('\n');
        }
        line.write(out);
        out.push('\n');
        above = Some(line);
    }
}

/// The distance that lines have in the middle.
fn usual_distance(lines: &[Line]) -> f64 {
    let mut distances: Vec<f64> = lines.windows(2).map(|pair| pair[1].y - pair[0].y).collect();
    distances.sort_by(f64::total_cmp);
    // A little below the middle, since distances between paragraphs count as well.
    distances.get(distances.len() * 2 / 5).copied().unwrap_or(0.0)
}

impl Line {
    fn add(&mut self, piece: Piece) {
        if piece.size > self.size {
            (self.size, self.y) = (piece.size, piece.y);
        }
        self.pieces.push(piece);
    }

    /// Writes the pieces from left to right, cells of a table with two spaces between
    /// them.
    fn write(&self, out: &mut String) {
        let mut pieces: Vec<&Piece> = self.pieces.iter().collect();
        pieces.sort_by(|a, b| a.x.total_cmp(&b.x));
        let mut end = f64::INFINITY;
        for piece in pieces {
            let gap = piece.x - end;
            if gap > APART * self.size {
                out.push_str("  ");
            } else if gap > SPACE * piece.size {
                out.push(' ');
            }
            out.push_str(&piece.text);
            end = piece.end;
        }
    }
}
