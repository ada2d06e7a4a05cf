//! Scaling down by the mean of the area under each new pixel: sharp enough to read
//! what is written in a screenshot, and quick, since every pixel is looked at once.
//! Rows are added up first: that is most of the work, and the same for every byte.

use image::metadata::Orientation;
use image::{DynamicImage, ImageBuffer, Pixel};

/// Weights are fractions of this.
const ONE: u32 = 1 << 12;

/// Scales an image down until no side is longer than `side`, and turns it upright.
pub fn to_fit(pixels: DynamicImage, side: u32, orientation: Orientation) -> DynamicImage {
    let (width, height) = (pixels.width(), pixels.height());
    let mut small = if width.max(height) <= side {
        pixels
    } else {
        let new = target(width, height, side);
        match pixels {
            DynamicImage::ImageLuma8(grey) => scaled::<_, 1>(&grey, new).into(),
            _ if pixels.color().has_alpha() => scaled::<_, 4>(&pixels.into_rgba8(), new).into(),
            _ => scaled::<_, 3>(&pixels.into_rgb8(), new).into(),
        }
    };
    small.apply_orientation(orientation);
    small
}

/// The size that fits, in the same proportions.
fn target(width: u32, height: u32, side: u32) -> (u32, u32) {
    let longer = u64::from(width.max(height));
    let scale = |length: u32| ((u64::from(length) * u64::from(side) + longer / 2) / longer).max(1) as u32;
    (scale(width), scale(height))
}

/// Scales an image of pixels of `N` bytes.
fn scaled<P, const N: usize>(old: &ImageBuffer<P, Vec<u8>>, (width, height): (u32, u32)) -> ImageBuffer<P, Vec<u8>>
where
    P: Pixel<Subpixel = u8>,
{
    let data = shrink::<N>(old.as_raw(), old.dimensions(), (width, height));
    ImageBuffer::from_raw(width, height, data).unwrap_or_default()
}

/// The old pixels under one new one, and how much of it each covers; their sum is
/// [`ONE`].
struct Span {
    first: usize,
    weights: Vec<u32>,
}

fn spans(old: u32, new: u32) -> Vec<Span> {
    let (old, new) = (u64::from(old), u64::from(new));
    (0..new)
        .map(|i| {
            // In units of 1/new of an old pixel.
            let (from, to) = (i * old, (i + 1) * old);
            let (first, last) = (from / new, to.div_ceil(new));
            let mut before = 0;
            let weights = (first..last).map(|pixel| {
                let covered = ((pixel + 1) * new).min(to) - from;
                let upto = covered * u64::from(ONE) / old;
                upto - std::mem::replace(&mut before, upto)
            });
            Span { weights: weights.map(|weight| weight as u32).collect(), first: first as usize }
        })
        .collect()
}

/// Scales rows of pixels of `N` bytes, the fourth of which is alpha.
fn shrink<const N: usize>(old: &[u8], (width, height): (u32, u32), (new_width, new_height): (u32, u32)) -> Vec<u8> {
    let (columns, rows) = (spans(width, new_width), spans(height, new_height));
    let stride = width as usize * N;
    let mut new = vec![0; new_width as usize * new_height as usize * N];
    let mut sums = vec![0_u32; stride];
    let mut seen = vec![0; if N == 4 { stride } else { 0 }];
    for (line, Span { first, weights }) in new.chunks_exact_mut(new_width as usize * N).zip(rows) {
        sums.fill(0);
        for (row, weight) in old[first * stride..].chunks_exact(stride).zip(weights) {
            add(&mut sums, if N == 4 { visible(row, &mut seen) } else { row }, weight);
        }
        let (pixels, _) = line.as_chunks_mut::<N>();
        let (sums, _) = sums.as_chunks();
        for (pixel, span) in pixels.iter_mut().zip(&columns) {
            *pixel = finished(mean(span, sums));
        }
    }
    new
}

/// Adds a row to the sums, so many times.
fn add(sums: &mut [u32], row: &[u8], weight: u32) {
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum += u32::from(*value) * weight;
    }
}

/// The mean of the pixels under a new one, whose values are [`ONE`] times as large.
fn mean<const N: usize>(span: &Span, sums: &[[u32; N]]) -> [u32; N] {
    let mut out = [1 << 19; N];
    for (pixel, weight) in sums[span.first..].iter().zip(&span.weights) {
        for channel in 0..N {
            out[channel] += (pixel[channel] >> 4) * weight;
        }
    }
    out.map(|value| value >> 20)
}

/// The row with its colours multiplied by their alpha, so that what cannot be seen
/// does not shine through; `seen` has room for it.
fn visible<'a>(row: &'a [u8], seen: &'a mut [u8]) -> &'a [u8] {
    let pixels: &[[u8; 4]] = row.as_chunks().0;
    if pixels.iter().all(|pixel| pixel[3] == u8::MAX) {
        return row;
    }
    for (to, from) in seen.as_chunks_mut().0.iter_mut().zip(pixels) {
        let [red, green, blue, alpha] = from.map(u32::from);
        let [red, green, blue] = [red, green, blue].map(|value| ((value * alpha + 127) / 255) as u8);
        *to = [red, green, blue, from[3]];
    }
    seen
}

/// A new pixel: its colours are no longer multiplied by its alpha.
fn finished<const N: usize>(mut pixel: [u32; N]) -> [u8; N] {
    if N == 4 && pixel[3] < 255 {
        let alpha = pixel[3].max(1);
        for value in &mut pixel[..3] {
            *value = ((*value * 255 + alpha / 2) / alpha).min(255);
        }
    }
    pixel.map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::{ONE, shrink, spans, target};

    #[test]
    fn keeps_proportions() {
        for (width, height, want) in
            [(4000, 3000, (2000, 1500)), (3000, 4000, (1500, 2000)), (2001, 10, (2000, 10)), (60_000, 1, (2000, 1))]
        {
            assert_eq!(target(width, height, 2000), want);
        }
    }

    #[test]
    fn weights_make_one() {
        for (old, new) in [(3, 2), (2001, 2000), (4000, 2000), (9999, 7), (1, 1)] {
            for (i, span) in spans(old, new).iter().enumerate() {
                assert_eq!(span.weights.iter().sum::<u32>(), ONE, "{i} of {old} -> {new}");
                assert!(span.first + span.weights.len() <= old as usize);
            }
        }
    }

    #[test]
    fn takes_the_mean() {
        let old: Vec<u8> = [[0, 0, 0], [255, 100, 0], [0, 0, 0], [255, 100, 0]].concat();
        assert_eq!(shrink::<3>(&old, (2, 2), (1, 1)), [128, 50, 0]);
        assert_eq!(shrink::<3>(&old, (4, 1), (2, 1)), [128, 50, 0, 128, 50, 0]);
        // A pixel in the middle lies under two new ones, in either direction.
        for (old, new) in [((3, 1), (2, 1)), ((1, 3), (1, 2))] {
            assert_eq!(shrink::<1>(&[0, 60, 120], old, new), [20, 100]);
        }
        // Red that cannot be seen leaves the blue as blue as it is.
        let old: Vec<u8> = [[255, 0, 0, 0], [0, 0, 255, 255]].concat();
        assert_eq!(shrink::<4>(&old, (2, 1), (1, 1)), [0, 0, 255, 128]);
    }
}
