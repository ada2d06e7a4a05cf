//! What the model is told besides the content: notes in square brackets.

use toolquay::Context;
use toolquay::capability::fs::LinesOk;

use crate::reading::MAX_LINE;

/// Says what the text does not show, one note a line.
pub fn of_lines(shown: &LinesOk, path: &str, offset: u64, encoding: &str) -> String {
    if shown.count == 0 && shown.total == 0 && !shown.more {
        return format!("[{path} exists and is empty]");
    }
    let limit = seconds(shown.timeout);
    if shown.count == 0 && shown.timed_out {
        let passed = count(shown.passed, "line");
        return format!(
            "[line {offset} was not reached within {limit}: {path} has more than {passed} before it; \
             find the place with Grep, or ask for lines further up]"
        );
    }
    if shown.count == 0 {
        return format!("[nothing to show from line {offset} on: {path} has {}]", count(shown.total, "line"));
    }
    let mut notes: Vec<String> = encoded(encoding).into_iter().collect();
    if shown.cut_lines > 0 {
        notes.push(format!("[{} cut after {MAX_LINE} characters]", count(shown.cut_lines, "line")));
    }
    if shown.more {
        let next = shown.first + shown.count;
        let why = match () {
            () if shown.timed_out => format!(" at the time limit of {limit}"),
            () if shown.stopped => " to stay under 100,000 characters".to_owned(),
            () => String::new(),
        };
        notes.push(format!("[stopped after line {}{why}; the file goes on: continue with offset {next}]", next - 1));
    }
    notes.join("\n")
}

/// A time in milliseconds as seconds, to a tenth.
fn seconds(ms: u64) -> String {
    match ms % 1_000 / 100 {
        0 => format!("{} s", ms / 1_000),
        tenths => format!("{}.{tenths} s", ms / 1_000),
    }
}

/// Says what text is that is not plain UTF-8.
fn encoded(encoding: &str) -> Option<String> {
    match encoding {
        "" | "utf-8" => None,
        "utf-8-bom" => Some("[UTF-8 with a byte order mark, which is not shown]".to_owned()),
        other => Some(format!("[{} text, shown as UTF-8]", encoding_name(other))),
    }
}

/// The name of an encoding as people write it.
pub fn encoding_name(encoding: &str) -> &str {
    match encoding {
        "utf-8-bom" => "UTF-8 with a byte order mark",
        "utf-16le" => "UTF-16LE",
        "utf-16be" => "UTF-16BE",
        "latin-1" => "Latin-1",
        other => other,
    }
}

/// Says that there is nothing new to show.
pub fn unchanged(path: &str) -> String {
    format!(
        "[{path} has not changed since the same was shown earlier in this conversation; \
         read it again to have it shown once more]"
    )
}

/// A sentence as a note, without a full stop.
pub fn bracketed(sentence: &str) -> String {
    format!("[{}]", sentence.trim().trim_end_matches('.'))
}

/// Says what a relative path is relative to.
pub fn relative_to(path: &str, cx: &Context) -> String {
    if path.starts_with('/') { String::new() } else { format!(" (the working directory is {})", cx.cwd()) }
}

/// A number of things.
pub fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
