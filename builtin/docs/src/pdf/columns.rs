//! Finds columns: text on both sides of a gutter that is read one side after the
//! other. Cells of a table also have gutters, but are read line by line; what tells
//! them apart is that lines of text fill their column.

use super::lines::Piece;

/// The least lines that a column has.
const LEAST: usize = 4;
/// How much of its column a line of text fills, in the middle.
const FILL: f64 = 0.6;
/// How often columns may be within columns.
const DEPTH: usize = 4;
/// Places that are looked at for a gutter.
const PLACES: usize = 120;

/// Puts pieces into groups, each of which is read from top to bottom, in the order in
/// which they are read.
pub fn order(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut groups = Vec::new();
    split(pieces, DEPTH, &mut groups);
    groups
}

fn split(mut pieces: Vec<Piece>, depth: usize, groups: &mut Vec<Vec<Piece>>) {
    if pieces.is_empty() {
        return;
    }
    let Some(gutter) = (if depth > 0 { find_gutter(&pieces) } else { None }) else {
        groups.push(pieces);
        return;
    };
    pieces.sort_by(|a, b| a.y.total_cmp(&b.y));
    // What crosses the gutter, such as a title, divides what is above from what is
    // below.
    let mut band = Band::default();
    for piece in pieces {
        if piece.crosses(gutter) {
            band.end_sides(gutter, depth, groups);
            band.across.push(piece);
            continue;
        }
        band.end_across(groups);
        if piece.end <= gutter { band.left.push(piece) } else { band.right.push(piece) }
    }
    band.end_across(groups);
    band.end_sides(gutter, depth, groups);
}

#[derive(Default)]
struct Band {
    across: Vec<Piece>,
    left: Vec<Piece>,
    right: Vec<Piece>,
}

impl Band {
    fn end_across(&mut self, groups: &mut Vec<Vec<Piece>>) {
        if !self.across.is_empty() {
            groups.push(std::mem::take(&mut self.across));
        }
    }

    /// Ends a pair of columns. One that is no pair, such as the two halves of a
    /// footer, is read line by line.
    fn end_sides(&mut self, gutter: f64, depth: usize, groups: &mut Vec<Vec<Piece>>) {
        let (left, right) = (std::mem::take(&mut self.left), std::mem::take(&mut self.right));
        if left.len() + right.len() < LEAST {
            groups.extend(Some([left, right].concat()).filter(|both| !both.is_empty()));
            return;
        }
        debug_assert!(left.iter().all(|piece| piece.end <= gutter));
        split(left, depth - 1, groups);
        split(right, depth - 1, groups);
    }
}

impl Piece {
    fn crosses(&self, x: f64) -> bool {
        self.x < x && x < self.end
    }
}

/// Finds the middle of the widest gutter that has columns on both sides.
fn find_gutter(pieces: &[Piece]) -> Option<f64> {
    let from = pieces.iter().map(|piece| piece.x).fold(f64::INFINITY, f64::min);
    let to = pieces.iter().map(|piece| piece.end).fold(f64::NEG_INFINITY, f64::max);
    let step = (to - from) / PLACES as f64;
    if !step.is_finite() || step <= 0.0 {
        return None;
    }
    // The places next to each other that fit make a gutter.
    let mut best: Option<(usize, f64)> = None;
    let mut run = 0;
    for place in 1..=PLACES {
        let x = from + step * place as f64;
        if place < PLACES && divides(pieces, x) {
            run += 1;
            continue;
        }
        if run > 0 && best.is_none_or(|(widest, _)| run > widest) {
            best = Some((run, x - step * (run as f64 + 1.0) / 2.0));
        }
        run = 0;
    }
    best.map(|(_, x)| x)
}

/// Whether there are columns on both sides of a place, and little across it.
fn divides(pieces: &[Piece], x: f64) -> bool {
    let across = pieces.iter().filter(|piece| piece.crosses(x)).count();
    let left: Vec<&Piece> = pieces.iter().filter(|piece| piece.end <= x).collect();
    let right: Vec<&Piece> = pieces.iter().filter(|piece| piece.x >= x).collect();
    across * 3 < left.len() + right.len() && is_column(&left) && is_column(&right)
}

fn is_column(pieces: &[&Piece]) -> bool {
    if pieces.len() < LEAST {
        return false;
    }
    let from = pieces.iter().map(|piece| piece.x).fold(f64::INFINITY, f64::min);
    let to = pieces.iter().map(|piece| piece.end).fold(f64::NEG_INFINITY, f64::max);
    let mut widths: Vec<f64> = pieces.iter().map(|piece| piece.end - piece.x).collect();
    widths.sort_by(|a, b| b.total_cmp(a));
    // Half of the text is in lines at least so long: what is short, such as the cells
    // of a table between the columns, weighs little.
    let mut rest = widths.iter().sum::<f64>() / 2.0;
    let usual = widths.iter().find(|width| {
        rest -= **width;
        rest <= 0.0
    });
    // Narrower than a dozen letters is a column of figures.
    usual.is_some_and(|usual| *usual > FILL * (to - from)) && to - from > 7.0 * pieces[0].size
}
