//! `fs.read`, `fs.stat` and `fs.list` of the testing host.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};

use super::seen::Glance;
use super::tree::Tree;
use super::{Files, Reads, Reply, sha256};
use crate::capability::fs::{FileKind, Lines, LinesOk, ListOk, ReadOk};
use crate::error::{ErrorCode, ToolError};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args {
    path: String,
    offset: usize,
    length: usize,
    lines: Option<Lines>,
    limit: usize,
    shown: bool,
    hash: bool,
}

fn args(args: &Value) -> Result<Args, ToolError> {
    Ok(Args::deserialize(args)?)
}

pub fn read(files: &mut Files, call: &mut Reads, request: &Value) -> Result<Reply, ToolError> {
    let args = args(request)?;
    let content = files.tree.read(&args.path)?;
    let stat = files.tree.stat(&args.path)?;
    let mut ok = ReadOk { path: stat.path, size: stat.size, mod_time: stat.mod_time, ..ReadOk::default() };
    let view = request.to_string();
    if args.shown && files.seen.again(&ok.path, &content, &view) {
        return Ok(Reply::new(json!(ReadOk { unchanged: true, ..ok })));
    }
    let (ranges, body) = if let Some(lines) = args.lines {
        let text = text(&content, &ok.path)?;
        let (shown, ranges, body) = read_lines(text, lines);
        (ok.lines, ok.encoding) = (Some(shown), "utf-8".to_owned());
        (ranges, body.into_bytes())
    } else {
        let start = args.offset.min(content.len());
        let end = if args.length == 0 { content.len() } else { content.len().min(start.saturating_add(args.length)) };
        (std::iter::once(start..end).collect(), content[start..end].to_vec())
    };
    call.own.look(&ok.path, &content, &ranges);
    if args.shown {
        call.shown.push(Glance { path: ok.path.clone(), content, ranges, view });
    }
    Ok(Reply::new(json!(ok)).with_body(body))
}

fn text<'a>(content: &'a [u8], path: &str) -> Result<&'a str, ToolError> {
    let text = std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| ToolError::new(ErrorCode::NotText, format!("{path} is a binary file")))
}

/// Returns what was read, which bytes of the text it stands for, and the lines. Lines that
/// were cut are not among those bytes.
fn read_lines(text: &str, lines: Lines) -> (LinesOk, Vec<Range<usize>>, String) {
    let first = lines.offset.max(1);
    let mut shown = LinesOk { first, ..LinesOk::default() };
    let (mut out, mut chars, mut number, mut from, mut seen) = (String::new(), 0, 0, 0, Vec::new());
    for whole in text.split_inclusive('\n') {
        let place = from..from + whole.len();
        from = place.end;
        number += 1;
        if number < first {
            continue;
        }
        if lines.limit > 0 && shown.count == lines.limit {
            shown.more = true;
            return (shown, seen, out);
        }
        let (line, cut) = render(plain(whole, number), number, lines);
        let separator = if shown.count == 0 { "" } else { "\n" };
        chars += (separator.len() + line.chars().count()) as u64;
        if lines.max_chars > 0 && chars > lines.max_chars {
            (shown.more, shown.stopped) = (true, true);
            return (shown, seen, out);
        }
        if !cut {
            seen.push(place);
        }
        out.push_str(separator);
        out.push_str(&line);
        shown.count += 1;
        shown.cut_lines += u64::from(cut);
    }
    shown.total = number;
    (shown, seen, out)
}

/// A line without its end, the first one without a byte order mark.
fn plain(line: &str, number: u64) -> &str {
    let line = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
    if number == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line }
}

fn render(line: &str, number: u64, lines: Lines) -> (String, bool) {
    let end = match lines.max_line {
        0 => None,
        most => line.char_indices().nth(most as usize).map(|(end, _)| end),
    };
    let shown = &line[..end.unwrap_or(line.len())];
    let text = if lines.number { format!("{number:>6}\t{shown}") } else { shown.to_owned() };
    (text, end.is_some())
}

pub fn stat(tree: &Tree, request: &Value) -> Result<Reply, ToolError> {
    let args = args(request)?;
    let mut stat = tree.stat(&args.path)?;
    if args.hash && stat.kind == FileKind::File {
        stat.hash = sha256::hex(&tree.read(&args.path)?);
    }
    Ok(Reply::new(json!(stat)))
}

pub fn list(tree: &Tree, request: &Value) -> Result<Reply, ToolError> {
    let args = args(request)?;
    let mut entries = tree.list(&args.path)?;
    let truncated = args.limit > 0 && entries.len() > args.limit;
    if truncated {
        entries.truncate(args.limit);
    }
    let ok = ListOk { path: tree.absolute(&args.path), count: entries.len() as u64, truncated };
    Ok(Reply::new(json!(ok)).with_body(json!(entries).to_string()))
}
