//! `fs.write` and `fs.replace` of the testing host.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};

use super::seen::Edit;
use super::{Files, Reply, sha256};
use crate::capability::fs::WriteOk;
use crate::error::{ErrorCode, ToolError};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args {
    path: String,
    expect: String,
    bytes: bool,
    all: bool,
}

/// The file that a request is about.
struct Target {
    args: Args,
    path: String,
    /// What it holds; nothing where it is missing.
    former: Option<Vec<u8>>,
}

impl Target {
    fn of(files: &Files, request: &Value) -> Result<Self, ToolError> {
        let args = Args::deserialize(request)?;
        let former = match files.tree.read(&args.path) {
            Err(err) if err.code == ErrorCode::NotFound => None,
            content => Some(content?),
        };
        Ok(Self { path: files.tree.absolute(&args.path), args, former })
    }

    /// Holds the file to what the request expects, and to what was seen of it.
    fn check(&self, files: &Files, places: Option<&[Range<usize>]>) -> Result<(), ToolError> {
        let changed = |what: &str| Err(ToolError::new(ErrorCode::Changed, format!("{} {what}", self.path)));
        let expect = self.args.expect.as_str();
        let Some(former) = &self.former else {
            return if matches!(expect, "" | "absent") { Ok(()) } else { changed("is gone") };
        };
        files.seen.check(&self.path, former, places, !expect.is_empty())?;
        match expect {
            "" => Ok(()),
            "absent" => changed("is there already"),
            hash if hash == sha256::hex(former) => Ok(()),
            _ => changed("is not what was expected"),
        }
    }

    fn fail<T>(&self, code: ErrorCode, what: &str) -> Result<T, ToolError> {
        Err(ToolError::new(code, format!("{} {what}", self.path)))
    }

    /// Puts the new content in place and tells of it.
    fn put(self, files: &mut Files, content: Vec<u8>, replaced: usize) -> Reply {
        let (before, after) = (self.former.as_deref().unwrap_or_default(), content.as_slice());
        let change = Change::of(before, after);
        let text = !self.args.bytes;
        let ok = WriteOk {
            created: self.former.is_none(),
            size: content.len() as u64,
            hash: sha256::hex(after),
            encoding: if text { "utf-8".to_owned() } else { String::new() },
            line_ending: if text && after.contains(&b'\n') { "lf".to_owned() } else { String::new() },
            replaced: replaced as u64,
            added: change.added.len() as u64,
            removed: change.removed.len() as u64,
            path: self.path.clone(),
            ..WriteOk::default()
        };
        let diff = change.unified(&self.path);
        files.tree.add(&self.path, content);
        Reply::new(json!(ok)).with_body(diff)
    }
}

pub fn write(files: &mut Files, request: &Value, parts: &[Vec<u8>]) -> Result<Reply, ToolError> {
    let [content] = parts else { return Err(ToolError::invalid_input("fs.write takes one part, the content")) };
    let target = Target::of(files, request)?;
    target.check(files, None)?;
    // The lines of a new text end with LF.
    let fresh = target.former.as_deref().unwrap_or_default().is_empty() && !target.args.bytes;
    let content = &if fresh { with_lf(content) } else { content.clone() };
    if target.former.as_ref() == Some(content) {
        let (path, size, hash) = (target.path.clone(), content.len() as u64, sha256::hex(content));
        return Ok(Reply::new(json!(WriteOk { path, size, hash, unchanged: true, ..WriteOk::default() })));
    }
    files.seen.wrote(&target.path, content);
    Ok(target.put(files, content.clone(), 0))
}

fn with_lf(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace("\r\n", "\n").into_bytes()
}

pub fn replace(files: &mut Files, request: &Value, parts: &[Vec<u8>]) -> Result<Reply, ToolError> {
    let [old, new] = parts else { return Err(ToolError::invalid_input("fs.replace takes two parts, old and new")) };
    let target = Target::of(files, request)?;
    let former = match &target.former {
        None if !old.is_empty() => return target.fail(ErrorCode::NotFound, "does not exist"),
        former => former.clone().unwrap_or_default(),
    };
    let places = if old.is_empty() { Vec::new() } else { places(&former, old) };
    target.check(files, Some(&places))?;
    match places.len() {
        _ if old == new => return target.fail(ErrorCode::SameText, "would stay as it is: both texts are the same"),
        0 if !old.is_empty() || !former.is_empty() => {
            return target.fail(ErrorCode::NoMatch, "does not have the text to replace");
        }
        2.. if !target.args.all => return target.fail(ErrorCode::NotUnique, "has the text to replace more than once"),
        _ => {}
    }
    let count = places.len();
    let edits: Vec<Edit> = places.into_iter().map(|place| (place, new.len())).collect();
    let content = edited(&former, new, &edits);
    if old.is_empty() {
        files.seen.wrote(&target.path, &content);
    } else {
        files.seen.edited(&target.path, &content, &edits);
    }
    Ok(target.put(files, content, count))
}

/// Where a text is, from left to right, without overlaps.
fn places(content: &[u8], text: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = content[from..].windows(text.len()).position(|window| window == text) {
        found.push(from + at..from + at + text.len());
        from += at + text.len();
    }
    found
}

fn edited(former: &[u8], new: &[u8], edits: &[Edit]) -> Vec<u8> {
    let (mut content, mut from) = (Vec::new(), 0);
    for (place, _) in edits {
        content.extend(&former[from..place.start]);
        content.extend(new);
        from = place.end;
    }
    content.extend(&former[from..]);
    if edits.is_empty() { new.to_vec() } else { content }
}

/// What differs between two texts, as one change of the lines in their middle.
struct Change {
    line: usize,
    removed: Vec<String>,
    added: Vec<String>,
}

impl Change {
    fn of(before: &[u8], after: &[u8]) -> Self {
        let lines = |text: &[u8]| -> Vec<String> {
            String::from_utf8_lossy(text).split_inclusive('\n').map(str::to_owned).collect()
        };
        let (before, after) = (lines(before), lines(after));
        let shorter = before.len().min(after.len());
        let start = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let same_end = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
        let end = same_end.min(shorter - start);
        Self {
            line: start + 1,
            removed: before[start..before.len() - end].to_vec(),
            added: after[start..after.len() - end].to_vec(),
        }
    }

    /// A unified diff without lines around the change.
    fn unified(&self, path: &str) -> String {
        let (removed, added) = (self.removed.len(), self.added.len());
        let mut diff = format!("--- {path}\n+++ {path}\n@@ -{0},{removed} +{0},{added} @@\n", self.line);
        for (sign, lines) in [('-', &self.removed), ('+', &self.added)] {
            for line in lines {
                diff.push(sign);
                diff.push_str(line.trim_end_matches('\n'));
                diff.push('\n');
            }
        }
        diff
    }
}
