//! Encoding what was scaled.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat, RgbImage};
use toolquay::ToolError;

use super::MAX_BYTES;
use crate::shown::Picture;
use crate::too_large;

/// The qualities of JPEG that are tried, best first.
const QUALITIES: [u8; 4] = [85, 75, 60, 40];

/// Encodes an image that was scaled. Drawings and what can be seen through stay
/// without loss, as PNG, unless that is too long; photographs become JPEG.
pub fn encode(pixels: DynamicImage, from: ImageFormat) -> Result<Picture, ToolError> {
    let pixels = plain(pixels);
    if matches!(from, ImageFormat::Png | ImageFormat::Gif) || pixels.color().has_alpha() {
        let mut data = Cursor::new(Vec::new());
        let encoded = pixels.write_to(&mut data, ImageFormat::Png).is_ok();
        if encoded && data.get_ref().len() <= MAX_BYTES {
            return Ok(Picture { media_type: "image/png", data: data.into_inner() });
        }
    }
    let pixels = on_white(pixels);
    for quality in QUALITIES {
        let mut data = Vec::new();
        let encoder = JpegEncoder::new_with_quality(&mut data, quality);
        if pixels.write_with_encoder(encoder).is_ok() && data.len() <= MAX_BYTES {
            return Ok(Picture { media_type: "image/jpeg", data });
        }
    }
    Err(too_large(format!("the image cannot be brought under {MAX_BYTES} bytes")))
}

/// The pixels with a byte for each value, and with alpha only where it does something.
fn plain(pixels: DynamicImage) -> DynamicImage {
    match pixels {
        DynamicImage::ImageLuma8(_) | DynamicImage::ImageRgb8(_) => pixels,
        _ if is_transparent(&pixels) => pixels.into_rgba8().into(),
        _ => pixels.into_rgb8().into(),
    }
}

fn is_transparent(pixels: &DynamicImage) -> bool {
    match pixels {
        DynamicImage::ImageRgba8(pixels) => pixels.pixels().any(|pixel| pixel.0[3] < u8::MAX),
        _ => pixels.color().has_alpha(),
    }
}

/// What can be seen through is put on white, since JPEG knows no alpha.
fn on_white(pixels: DynamicImage) -> DynamicImage {
    if !pixels.color().has_alpha() {
        return pixels;
    }
    let pixels = pixels.into_rgba8();
    let mut out = RgbImage::new(pixels.width(), pixels.height());
    for (to, from) in out.pixels_mut().zip(pixels.pixels()) {
        let [red, green, blue, alpha] = from.0.map(u32::from);
        to.0 = [red, green, blue].map(|value| ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8);
    }
    out.into()
}
