//! Numbers the lines of a text.

use std::fmt::Write;

common::guest!(String, common::text, number);

fn number(text: &str) -> u32 {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for (i, line) in text.lines().enumerate() {
        writeln!(out, "{:>6}\t{line}", i + 1).expect("a string takes everything");
    }
    common::checksum(out.as_bytes())
}
