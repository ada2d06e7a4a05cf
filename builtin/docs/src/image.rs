//! Images: as they are where they are small enough, else scaled down.

mod encode;
mod shrink;

use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{AnimationDecoder, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use toolquay::ToolError;

use crate::shown::{Block, Picture, Shown};
use crate::{invalid, too_large};

/// The longest side that is shown, in pixels.
pub const MAX_SIDE: u32 = 2_000;
/// The most bytes of an image file that are shown: 5 MB, as the file has them.
pub const MAX_BYTES: usize = 5_000_000;
/// The most pixels that are decoded at all.
const MAX_PIXELS: u64 = 64_000_000;
/// The most memory that decoding may take of the guest's 256 MiB.
const MAX_MEMORY: u64 = 192 << 20;

/// Whether the bytes begin as one of the known formats does.
pub fn is_image(data: &[u8]) -> bool {
    format(data).is_some()
}

fn format(data: &[u8]) -> Option<ImageFormat> {
    let known = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    image::guess_format(data).ok().filter(|format| known.contains(format))
}

/// Shows an image file.
pub fn show(data: Vec<u8>) -> Result<Shown, ToolError> {
    let (picture, notes) = fit(data)?;
    Ok(Shown { kind: "image", blocks: vec![Block::Image(picture)], notes, whole: true, ..Shown::default() })
}

/// Makes an image fit to be shown, and says what was done to it. One that is fit is
/// decoded all the same: a model's service refuses a whole conversation over an image
/// that is broken.
pub fn fit(data: Vec<u8>) -> Result<(Picture, Vec<String>), ToolError> {
    let format = format(&data).ok_or_else(|| invalid("it is no PNG, JPEG, GIF or WebP image"))?;
    let fault = |err| broken(format, &err);
    let mut reader = ImageReader::with_format(Cursor::new(&data), format);
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(fault)?;
    let (width, height) = decoder.dimensions();
    bound(format, &data, (width, height), decoder.total_bytes())?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    if format == ImageFormat::Jpeg && is_cut(&data) {
        return Err(invalid("the JPEG image is broken or cut off: it has no end"));
    }
    let pixels = DynamicImage::from_decoder(decoder).map_err(fault)?;
    if width.max(height) <= MAX_SIDE && data.len() <= MAX_BYTES {
        return Ok((Picture { media_type: format.to_mime_type(), data }, Vec::new()));
    }
    let animated = is_animated(format, &data);
    let size = data.len();
    drop(data); // its memory is needed
    let small = shrink::to_fit(pixels, MAX_SIDE, orientation);
    let (now_width, now_height) = (small.width(), small.height());
    let picture = encode::encode(small, format)?;
    let mut notes = vec![format!(
        "the image has {width} x {height} pixels in {size} bytes and is shown with {now_width} x {now_height}"
    )];
    if animated {
        notes.push("it is animated: only its first frame is shown".to_owned());
    }
    Ok((picture, notes))
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_MEMORY);
    limits
}

/// Refuses what takes too much memory. A progressive JPEG is held as coefficients, of
/// two bytes each, before there is a pixel.
fn bound(format: ImageFormat, data: &[u8], (width, height): (u32, u32), bytes: u64) -> Result<(), ToolError> {
    let pixels = u64::from(width) * u64::from(height);
    let needs = if format == ImageFormat::Jpeg && is_progressive(data) { 3 * bytes } else { bytes };
    if pixels <= MAX_PIXELS && needs <= MAX_MEMORY {
        return Ok(());
    }
    Err(too_large(format!(
        "the image has {width} x {height} pixels, which take {} MiB to decode; at most {} megapixels and {} MiB are",
        needs.div_ceil(1 << 20),
        MAX_PIXELS / 1_000_000,
        MAX_MEMORY >> 20
    )))
}

/// Whether a JPEG's frame is a progressive one.
fn is_progressive(data: &[u8]) -> bool {
    segments(data).any(|(marker, _)| matches!(marker, 0xC2 | 0xC6 | 0xCA | 0xCE))
}

/// Whether the picture of a JPEG is cut off, which its decoder takes for grey: behind
/// where it begins there is no end. An end before that may be a thumbnail's.
fn is_cut(data: &[u8]) -> bool {
    let scan = segments(data).find(|(marker, _)| *marker == 0xDA);
    !scan.is_some_and(|(_, rest)| rest.windows(2).any(|marker| marker == [0xFF, 0xD9]))
}

/// The segments of a JPEG up to where its picture begins: each one's marker, and what
/// follows the marker. Its header was read already, so that they are whole.
fn segments(data: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = data.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        while let [0xFF, 0xFF, ..] = rest {
            rest = &rest[1..]; // filling
        }
        let [0xFF, marker, after @ ..] = rest else { return None };
        let [high, low, ..] = after else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        rest = if *marker == 0xDA { &[] } else { after.get(length..).unwrap_or_default() };
        Some((*marker, after))
    })
}

fn is_animated(format: ImageFormat, data: &[u8]) -> bool {
    let data = Cursor::new(data);
    match format {
        ImageFormat::Gif => GifDecoder::new(data).is_ok_and(|gif| gif.into_frames().take(2).count() > 1),
        ImageFormat::WebP => WebPDecoder::new(data).is_ok_and(|webp| webp.has_animation()),
        ImageFormat::Png => PngDecoder::new(data).is_ok_and(|png| png.is_apng().unwrap_or(false)),
        _ => false,
    }
}

fn broken(format: ImageFormat, err: &ImageError) -> ToolError {
    let name = match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        _ => "WebP",
    };
    match err {
        ImageError::Limits(_) => {
            too_large(format!("the {name} image takes more than {} MiB to decode", MAX_MEMORY >> 20))
        }
        ImageError::Unsupported(_) => invalid(format!("the {name} image is of a kind that is not known here: {err}")),
        _ => invalid(format!("the {name} image is broken or cut off: {err}")),
    }
}
