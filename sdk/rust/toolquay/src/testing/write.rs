//! `fs.write` and `fs.replace` of the testing host.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};

use super::seen::{Edit, Sight};
use super::{Files, Reads, Reply, sha256};
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
    /// What the write stands on: what the model has seen of the file, or with `own` what
    /// the call has read of it.
    sight: Option<Sight>,
    own: bool,
}

impl Target {
    fn of(files: &Files, call: &Reads, request: &Value) -> Result<Self, ToolError> {
        let args = Args::deserialize(request)?;
        let former = match files.tree.read(&args.path) {
            Err(err) if err.code == ErrorCode::NotFound => None,
            content => Some(content?),
        };
        let path = files.tree.absolute(&args.path);
        let mut target = Self { sight: files.seen.of(&path).cloned(), path, args, former, own: false };
        let known =
            target.sight.as_ref().is_some_and(|sight| sight.whole() && target.former.as_ref() == Some(&sight.content));
        if let Some(read) = call.own.of(&target.path).filter(|read| read.whole() && !call.builtin)
            && target.expects_hash()
            && !known
        {
            (target.sight, target.own) = (Some(read.clone()), true);
        }
        Ok(target)
    }

    fn expects_hash(&self) -> bool {
        !matches!(self.args.expect.as_str(), "" | "absent")
    }

    fn seen_whole(&self) -> bool {
        self.sight.as_ref().is_some_and(Sight::whole)
    }

    /// Checks what is expected of a file that is missing.
    fn may_make(&self) -> Result<(), ToolError> {
        if self.expects_hash() {
            return self.fail(ErrorCode::Changed, "is missing, and its former content was expected");
        }
        Ok(())
    }

    /// Holds the file to what is known of it, enough or not, and to what is expected.
    fn check(&self, former: &[u8], enough: bool) -> Result<(), ToolError> {
        let Some(sight) = &self.sight else {
            return self.fail(ErrorCode::NotRead, "was not read in this session; read it before writing to it");
        };
        if !enough {
            return self.fail(ErrorCode::NotRead, "was read in part; read what is to be written over");
        }
        if self.args.expect == "absent" {
            return self.fail(ErrorCode::Changed, "is there, and was expected to be missing; read it");
        }
        if self.expects_hash() && self.args.expect != sha256::hex(former) || sight.content != former {
            return self.fail(ErrorCode::Changed, "has changed since it was read; read it again");
        }
        Ok(())
    }

    fn fail<T>(&self, code: ErrorCode, what: &str) -> Result<T, ToolError> {
        Err(ToolError::new(code, format!("{} {what}", self.path)))
    }

    /// Puts the new content in place and tells of it. Without edits it is written anew.
    fn put(self, files: &mut Files, call: &mut Reads, content: Vec<u8>, edits: Option<&[Edit]>) -> Reply {
        call.shown.retain(|glance| glance.path != self.path);
        let made = self.former.is_none();
        if self.own || made {
            call.own.wrote(&self.path, &content, true);
        }
        match edits {
            _ if self.own => {} // the model knows what it knew
            Some(edits) if !made && !self.seen_whole() => files.seen.edited(&self.path, &content, edits),
            _ => files.seen.wrote(&self.path, &content, made || self.seen_whole()),
        }
        let (before, after) = (self.former.as_deref().unwrap_or_default(), content.as_slice());
        let change = Change::of(before, after);
        let text = !self.args.bytes;
        let ok = WriteOk {
            created: made,
            size: content.len() as u64,
            hash: sha256::hex(after),
            encoding: if text { "utf-8".to_owned() } else { String::new() },
            line_ending: if text && after.contains(&b'\n') { "lf".to_owned() } else { String::new() },
            replaced: edits.map_or(0, <[_]>::len) as u64,
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

pub fn write(files: &mut Files, call: &mut Reads, request: &Value, parts: &[Vec<u8>]) -> Result<Reply, ToolError> {
    let [content] = parts else { return Err(ToolError::invalid_input("fs.write takes one part, the content")) };
    let target = Target::of(files, call, request)?;
    match &target.former {
        None => target.may_make()?,
        Some(former) => target.check(former, target.expects_hash() || target.seen_whole())?,
    }
    // The lines of a new text end with LF.
    let fresh = target.former.as_deref().unwrap_or_default().is_empty() && !target.args.bytes;
    let content = &if fresh { with_lf(content) } else { content.clone() };
    if target.former.as_ref() == Some(content) {
        let (path, size, hash) = (target.path.clone(), content.len() as u64, sha256::hex(content));
        return Ok(Reply::new(json!(WriteOk { path, size, hash, unchanged: true, ..WriteOk::default() })));
    }
    Ok(target.put(files, call, content.clone(), None))
}

fn with_lf(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace("\r\n", "\n").into_bytes()
}

pub fn replace(files: &mut Files, call: &mut Reads, request: &Value, parts: &[Vec<u8>]) -> Result<Reply, ToolError> {
    let [old, new] = parts else { return Err(ToolError::invalid_input("fs.replace takes two parts, old and new")) };
    let target = Target::of(files, call, request)?;
    let former = match &target.former {
        None if !old.is_empty() => return target.fail(ErrorCode::NotFound, "does not exist"),
        None => target.may_make().map(|()| Vec::new())?,
        Some(former) => former.clone(),
    };
    let places = if old.is_empty() { Vec::new() } else { places(&former, old) };
    if target.former.is_some() {
        // Of several places of which one is to be replaced, one that is known is enough.
        let covered = |place: &&Range<usize>| target.sight.as_ref().is_some_and(|sight| sight.covers(place));
        let known = places.iter().filter(covered).count();
        target.check(&former, known == places.len() || !target.args.all && known > 0)?;
    }
    match places.len() {
        _ if old == new => return target.fail(ErrorCode::SameText, "would stay as it is: both texts are the same"),
        0 if !old.is_empty() || !former.is_empty() => {
            return target.fail(ErrorCode::NoMatch, "does not have the text to replace");
        }
        2.. if !target.args.all => return target.fail(ErrorCode::NotUnique, "has the text to replace more than once"),
        _ => {}
    }
    let edits: Vec<Edit> = places.into_iter().map(|place| (place, new.len())).collect();
    let content = edited(&former, new, &edits);
    Ok(target.put(files, call, content, (!old.is_empty()).then_some(&edits)))
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
