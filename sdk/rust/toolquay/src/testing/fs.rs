//! `fs.read`, `fs.stat` and `fs.list` of the testing host.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Reply;
use super::tree::Tree;
use crate::capability::fs::{Lines, LinesOk, ListOk, ReadOk};
use crate::error::{ErrorCode, ToolError};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args {
    path: String,
    offset: usize,
    length: usize,
    lines: Option<Lines>,
    limit: usize,
}

fn args(args: &Value) -> Result<Args, ToolError> {
    Ok(Args::deserialize(args)?)
}

pub fn read(tree: &Tree, request: &Value) -> Result<Reply, ToolError> {
    let args = args(request)?;
    let content = tree.read(&args.path)?;
    let stat = tree.stat(&args.path)?;
    let mut ok = ReadOk { path: stat.path, size: stat.size, mod_time: stat.mod_time, lines: None };
    let body = if let Some(lines) = args.lines {
        let (shown, text) = read_lines(&content, lines, &ok.path)?;
        ok.lines = Some(shown);
        text.into_bytes()
    } else {
        let start = args.offset.min(content.len());
        let end = if args.length == 0 { content.len() } else { content.len().min(start.saturating_add(args.length)) };
        content[start..end].to_vec()
    };
    Ok(Reply::new(json!(ok)).with_body(body))
}

fn read_lines(content: &[u8], lines: Lines, path: &str) -> Result<(LinesOk, String), ToolError> {
    let not_text = || ToolError::new(ErrorCode::NotText, format!("{path} is a binary file"));
    let text = std::str::from_utf8(content).map_err(|_| not_text())?;
    if text.contains('\0') {
        return Err(not_text());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = lines.offset.max(1);
    let mut shown = LinesOk { first, ..LinesOk::default() };
    let (mut out, mut chars, mut number) = (String::new(), 0, 0);
    for line in text.lines() {
        number += 1;
        if number < first {
            continue;
        }
        if lines.limit > 0 && shown.count == lines.limit {
            shown.more = true;
            return Ok((shown, out));
        }
        let (line, cut) = render(line, number, lines);
        let separator = if shown.count == 0 { "" } else { "\n" };
        chars += (separator.len() + line.chars().count()) as u64;
        if lines.max_chars > 0 && chars > lines.max_chars {
            (shown.more, shown.stopped) = (true, true);
            return Ok((shown, out));
        }
        out.push_str(separator);
        out.push_str(&line);
        shown.count += 1;
        shown.cut_lines += u64::from(cut);
    }
    shown.total = number;
    Ok((shown, out))
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
    Ok(Reply::new(json!(tree.stat(&args(request)?.path)?)))
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
