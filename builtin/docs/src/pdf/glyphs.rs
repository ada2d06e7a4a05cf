//! Collects the characters of a page with their places.

use std::collections::HashSet;

use hayro_interpret::font::{Glyph, GlyphRun, PositionedGlyph};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};

/// The most characters of a page. More is no page but an attempt on the memory.
const MOST: usize = 300_000;

/// Glyphs have this many units to the size of their font.
const UNITS: f64 = 1000.0;

/// One character, or a ligature of several, in points from the page's upper left
/// corner, turned so that its line runs to the right.
#[derive(Clone, Debug)]
pub struct Placed {
    pub text: String,
    /// Where its baseline begins.
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub size: f64,
    /// How the line was turned, in quarters.
    pub turn: u8,
}

/// A device that draws nothing, and notes what would be read.
pub struct Glyphs {
    pub placed: Vec<Placed>,
    /// How many have no meaning in the file.
    pub unknown: usize,
    /// Whether there were more than are kept.
    pub cut: bool,
    bounds: Rect,
    seen: HashSet<(String, i32, i32)>,
}

impl Glyphs {
    pub fn new(bounds: Rect) -> Self {
        Self { placed: Vec::new(), unknown: 0, cut: false, bounds, seen: HashSet::new() }
    }

    fn add(&mut self, glyph: &PositionedGlyph<'_>, to_page: Affine) {
        let transform = to_page * glyph.transform();
        let origin = transform * Point::ORIGIN;
        let along = transform * Point::new(UNITS, 0.0) - origin;
        let up = transform * Point::new(0.0, UNITS) - origin;
        let size = up.hypot();
        // What lies off the page is not read, and what is not a number nowhere.
        if !(0.1..10_000.0).contains(&size) || !along.is_finite() || !self.bounds.inflate(1.0, 1.0).contains(origin) {
            return;
        }
        let text = meaning(glyph);
        if text.is_none() {
            self.unknown += 1;
        }
        let text = text.unwrap_or_else(|| "\u{fffd}".to_owned());
        // Shadows and fat letters are drawn twice, nearly at the same place.
        let place = |value: f64| (value / (size * 0.1)) as i32;
        let blank = text.chars().all(char::is_whitespace);
        if !blank && !self.seen.insert((text.clone(), place(origin.x), place(origin.y))) {
            return;
        }
        let turn = ((along.atan2() / std::f64::consts::FRAC_PI_2).round() as i8).rem_euclid(4) as u8;
        let (x, y) = match turn {
            0 => (origin.x, origin.y),
            1 => (origin.y, -origin.x),
            2 => (-origin.x, -origin.y),
            _ => (-origin.y, origin.x),
        };
        let width = advance(glyph) / UNITS * along.hypot();
        self.placed.push(Placed { text, x, y, width, size, turn });
    }
}

fn advance(glyph: &Glyph<'_>) -> f64 {
    const USUAL: f32 = 500.0;
    let advance = match glyph {
        Glyph::Outline(glyph) => glyph.advance_width(),
        Glyph::Type3(glyph) => glyph.advance_width(),
    };
    f64::from(advance.filter(|width| width.is_finite() && *width >= 0.0).unwrap_or(USUAL))
}

/// What a glyph stands for: `None` where the file does not tell.
fn meaning(glyph: &Glyph<'_>) -> Option<String> {
    let mut text = String::new();
    match glyph.as_unicode()? {
        BfString::Char(char) => push(&mut text, char),
        BfString::String(string) => string.chars().for_each(|char| push(&mut text, char)),
    }
    Some(text).filter(|text| !text.is_empty())
}

/// Adds a character: ligatures in their letters, and no controls.
fn push(text: &mut String, char: char) {
    match char {
        '\u{fb00}' => text.push_str("ff"),
        '\u{fb01}' => text.push_str("fi"),
        '\u{fb02}' => text.push_str("fl"),
        '\u{fb03}' => text.push_str("ffi"),
        '\u{fb04}' => text.push_str("ffl"),
        '\u{fb05}' | '\u{fb06}' => text.push_str("st"),
        '\u{a0}' => text.push(' '),
        '\u{ad}' => text.push('-'),
        _ if char.is_control() => text.push(' '),
        _ => text.push(char),
    }
}

impl<'a> Device<'a> for Glyphs {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        for glyph in run.glyphs() {
            if self.placed.len() >= MOST {
                self.cut = true;
                return;
            }
            self.add(glyph, props.transform);
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
