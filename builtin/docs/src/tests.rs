//! Real documents from testdata, whose README says how each was made.
//! UPDATE_GOLDEN=1 writes the golden files anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use toolquay::ErrorCode;
use toolquay::testing::Host;

use crate::shown::{Block, MAX_CHARS, Shown};
use crate::{document, image, show};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn read(name: &str) -> Vec<u8> {
    fs::read(testdata(name)).unwrap_or_else(|err| panic!("{name}: {err}"))
}

fn shown(name: &str, pages: Option<&str>) -> Shown {
    show(name, read(name), pages).unwrap_or_else(|err| panic!("{name}: {}", err.message))
}

/// Writes what is shown as a person would look at it.
fn described(shown: &Shown) -> String {
    let mut out = String::new();
    for block in &shown.blocks {
        match block {
            Block::Text(text) => out.push_str(text),
            Block::Image(picture) => {
                let pixels = ::image::load_from_memory(&picture.data).unwrap();
                writeln!(out, "<{} {}x{}>", picture.media_type, pixels.width(), pixels.height()).unwrap();
            }
        }
    }
    for note in &shown.notes {
        writeln!(out, "note: {note}").unwrap();
    }
    writeln!(out, "{}, {} in all, whole: {}", shown.kind, shown.pages, shown.whole).unwrap();
    out
}

fn golden(name: &str, got: &str) {
    let path = testdata("golden").join(name);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, got).unwrap();
    }
    let want = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, want, "{name} differs; UPDATE_GOLDEN=1 writes it anew");
}

#[test]
fn shows_documents_as_they_are_read() {
    for (file, pages) in [
        ("chromium.pdf", None),
        ("ghostscript.pdf", None),
        ("owner-locked.pdf", Some("2")),
        ("libreoffice.pdf", None),
        ("libreoffice.pdf", Some("12,3")),
        ("scanned.pdf", None),
        ("harbour.ipynb", None),
        ("turned.jpg", None),
        ("progressive.jpg", None),
        ("small.jpg", None),
        ("wide.png", None),
        ("lossy.webp", None),
        ("lossless.webp", None),
        ("moving.gif", None),
        ("still.gif", None),
    ] {
        let name = format!("{file}{}.txt", pages.map(|pages| format!(".{pages}")).unwrap_or_default());
        golden(&name, &described(&shown(file, pages)));
    }
}

#[test]
fn says_what_is_wrong() {
    for (file, data, pages, want) in [
        ("locked.pdf", None, None, "opens with a password only"),
        ("huge.png", None, None, "20000 x 20000 pixels"),
        ("chromium.pdf", None, Some("2"), "the document has 1 page"),
        ("small.jpg", None, Some("1"), "pages are for PDF"),
        ("x.pdf", Some(&b"%PDF-1.7\nnothing"[..]), None, "the PDF is broken"),
        ("x.png", Some(b"not one"), None, "named as a PNG image but is none"),
        ("x.png", Some(b""), None, "empty"),
        ("x.bin", Some(b"?"), None, "no PDF, PNG"),
        ("x.png", Some(b"\x89PNG\r\n\x1a\n\0\0"), None, "PNG image is broken"),
        ("x.ipynb", Some(b" \n"), None, "empty"),
        ("x.ipynb", Some(b"{\"cells\": [}"), None, "broken"),
        ("x.ipynb", Some(b"{\"nbformat\": 3, \"worksheets\": []}"), None, "old format 3"),
        ("x.ipynb", Some(b"{\"cells\": []}"), None, "no nbformat"),
    ] {
        let err = show(file, data.map_or_else(|| read(file), <[u8]>::to_vec), pages).expect_err(file);
        assert!(err.message.contains(want), "{file}: {}", err.message);
    }
}

#[test]
fn refuses_images_that_are_cut_off() {
    for file in ["small.jpg", "turned.jpg", "wide.png", "lossy.webp", "lossless.webp", "still.gif"] {
        let data = read(file);
        let cut = data[..data.len() * 2 / 3].to_vec();
        let err = show(file, cut, None).expect_err(file);
        assert!(err.message.contains("broken or cut off"), "{file}: {}", err.message);
    }
}

/// A picture taken upright comes out upright: its red corner is at the upper right.
#[test]
fn turns_photographs_upright() {
    let (picture, notes) = image::fit(read("turned.jpg")).unwrap();
    let pixels = ::image::load_from_memory(&picture.data).unwrap().into_rgb8();
    assert_eq!(pixels.dimensions(), (1333, 2000));
    let [red, green, blue] = pixels.get_pixel(1300, 30).0;
    assert!(red > 200 && green < 80 && blue < 80, "the corner is {red} {green} {blue}");
    assert!(notes[0].contains("3000 x 2000") && notes[0].contains("1333 x 2000"), "{notes:?}");
}

#[test]
fn leaves_small_images_as_they_are() {
    for file in ["small.jpg", "lossy.webp", "lossless.webp", "still.gif"] {
        let data = read(file);
        let (picture, notes) = image::fit(data.clone()).unwrap();
        assert!(picture.data == data && notes.is_empty(), "{file}: {notes:?}");
    }
}

#[test]
fn keeps_images_under_their_size() {
    // Noise does not pack: 1,400 x 1,300 pixels of it are 5.5 MB as PNG.
    let mut random = Random(7);
    let pixels = ::image::RgbImage::from_fn(1400, 1300, |_, _| {
        ::image::Rgb(random.next().to_le_bytes()[..3].try_into().unwrap())
    });
    let mut data = std::io::Cursor::new(Vec::new());
    pixels.write_to(&mut data, ::image::ImageFormat::Png).unwrap();
    let (picture, notes) = image::fit(data.into_inner()).unwrap();
    assert!(picture.data.len() <= image::MAX_BYTES && picture.media_type == "image/jpeg", "{}", picture.media_type);
    assert_eq!(notes.len(), 1);
}

/// Grey stays grey, and alpha goes where nothing can be seen through.
#[test]
fn scales_each_kind_of_pixels() {
    use ::image::{ColorType, DynamicImage, ImageFormat};
    let side = image::MAX_SIDE * 3 / 2;
    let clear = DynamicImage::from(::image::RgbaImage::from_pixel(side, 4, ::image::Rgba([200, 100, 0, 51])));
    let opaque = DynamicImage::from(::image::RgbaImage::from_pixel(side, 4, ::image::Rgba([200, 100, 0, 255])));
    let grey = DynamicImage::from(::image::GrayImage::from_pixel(side, 4, ::image::Luma([90])));
    let deep = DynamicImage::from(opaque.to_rgb16());
    for (pixels, format, want, colour) in [
        (&clear, ImageFormat::Png, ColorType::Rgba8, [200, 100, 0, 51]),
        (&opaque, ImageFormat::Png, ColorType::Rgb8, [200, 100, 0, 255]),
        (&deep, ImageFormat::Png, ColorType::Rgb8, [200, 100, 0, 255]),
        (&grey, ImageFormat::Png, ColorType::L8, [90, 90, 90, 255]),
        (&grey, ImageFormat::Jpeg, ColorType::L8, [90, 90, 90, 255]),
    ] {
        let mut data = std::io::Cursor::new(Vec::new());
        pixels.write_to(&mut data, format).unwrap();
        let (picture, _) = image::fit(data.into_inner()).unwrap();
        let small = ::image::load_from_memory(&picture.data).unwrap();
        assert_eq!((small.color(), small.width(), small.height()), (want, 2000, 3), "{:?}", pixels.color());
        assert_eq!(small.to_rgba8().get_pixel(1000, 1).0, colour, "{:?}", pixels.color());
        assert_eq!(picture.media_type, format.to_mime_type());
    }
}

#[test]
fn stops_long_notebooks_at_a_cell() {
    let cell = serde_json::json!({"cell_type": "markdown", "metadata": {}, "source": "é".repeat(MAX_CHARS / 4)});
    let book = serde_json::json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": vec![cell; 6]});
    let shown = show("a.ipynb", book.to_string().into_bytes(), None).unwrap();
    assert!(!shown.whole && shown.notes[0].contains("stopped before cell 4 of 6"), "{:?}", shown.notes);
    let book =
        serde_json::json!({"nbformat": 4, "cells": [{"cell_type": "raw", "source": ["x".repeat(2 * MAX_CHARS)]}]});
    let shown = show("a.ipynb", book.to_string().into_bytes(), None).unwrap();
    assert!(!shown.whole && matches!(&shown.blocks[..], [Block::Text(text)] if text.chars().count() == MAX_CHARS));
}

/// Cells without an id are named as NotebookEdit takes them.
#[test]
fn names_cells_without_an_id() {
    let cell = serde_json::json!({"cell_type": "raw", "source": "x"});
    let book = serde_json::json!({"nbformat": 4, "nbformat_minor": 4, "cells": [cell, cell]});
    let shown = show("a.ipynb", book.to_string().into_bytes(), None).unwrap();
    let Block::Text(text) = &shown.blocks[0] else { panic!("no text") };
    assert_eq!(text, "--- cell 1 of 2: raw, id cell-0 ---\nx\n--- cell 2 of 2: raw, id cell-1 ---\nx\n");
}

/// The tool answers blocks, and what the host reads of them.
#[test]
fn answers_as_a_tool() {
    let host = Host::new().with_dir(testdata(""));
    let outcome = host.call::<document>(serde_json::json!({"path": "small.jpg"}));
    assert_eq!(
        outcome.structured(),
        Some(serde_json::json!({"kind": "image", "pages": 0, "notes": [], "whole": true}))
    );
    let outcome = host.call::<document>(serde_json::json!({"path": "missing.pdf"}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotFound));
}

/// A small generator, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Whatever is wrong with a document, it is said and no parser falls over. A parser
/// that does fall over costs one call, since it is a guest; those known are none.
#[test]
fn survives_damage() {
    let mut random = Random(1);
    for file in [
        "chromium.pdf",
        "ghostscript.pdf",
        "owner-locked.pdf",
        "small.jpg",
        "wide.png",
        "lossy.webp",
        "lossless.webp",
        "moving.gif",
    ] {
        let whole = read(file);
        for _ in 0..40 {
            let mut data = whole.clone();
            for _ in 0..=random.below(8) {
                let at = random.below(data.len());
                data[at] = random.next() as u8;
            }
            if random.below(4) == 0 {
                data.truncate(random.below(data.len()));
            }
            if let Ok(shown) = show(file, data, None) {
                let chars: usize = shown
                    .blocks
                    .iter()
                    .map(|block| if let Block::Text(text) = block { text.chars().count() } else { 0 })
                    .sum();
                assert!(chars <= MAX_CHARS);
            }
        }
    }
}
