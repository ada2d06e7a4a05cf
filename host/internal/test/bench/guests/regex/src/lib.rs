//! Counts what two regular expressions find in a text: an alternation, and one
//! that ignores case.

use regex::bytes::Regex;

struct Input {
    text: String,
    patterns: [Regex; 2],
}

common::guest!(Input, input, find);

fn input(n: usize) -> Input {
    let compile = |pattern| Regex::new(pattern).expect("a valid pattern");
    Input {
        text: common::text(n),
        patterns: [
            compile(r"(?-u)\b(?:context|module|offset|Writer) \w+ (?:nil|err)\b"),
            compile(r"(?i-u)(?:reader|WRITER) +(?:close|Memory)"),
        ],
    }
}

fn find(input: &Input) -> u32 {
    let found = input.patterns.iter().flat_map(|p| p.find_iter(input.text.as_bytes()));
    found.fold(0, |sum, m| common::checksum(m.as_bytes()) ^ u32::rotate_left(sum, 5))
}
