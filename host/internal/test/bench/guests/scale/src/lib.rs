//! Scales an image of 4000 x 3000 pixels down.

use fast_image_resize::images::Image;
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

const WIDTH: u32 = 4000;
const HEIGHT: u32 = 3000;

common::guest!(Input, input, scale);

struct Input {
    image: Image<'static>,
    width: u32,
}

/// An image with edges and gradients, to be scaled to a width of `n`.
fn input(n: usize) -> Input {
    let mut pixels = Vec::with_capacity((WIDTH * HEIGHT * 3) as usize);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            pixels.extend([x as u8, (x ^ y) as u8, (y / 16) as u8]);
        }
    }
    let image = Image::from_vec_u8(WIDTH, HEIGHT, pixels, PixelType::U8x3).expect("sizes agree");
    Input { image, width: n as u32 }
}

fn scale(input: &Input) -> u32 {
    let mut small = Image::new(input.width, input.width * HEIGHT / WIDTH, PixelType::U8x3);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
    Resizer::new().resize(&input.image, &mut small, &options).expect("pixel types agree");
    common::checksum(small.buffer())
}
