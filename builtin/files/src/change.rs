//! What the model is told of a change to a file.

use toolquay::capability::fs::WriteOk;
use toolquay::{Answer, Context, ErrorCode, Output, Schema, Text, ToolError};

use crate::notes::{count, encoding_name, relative_to};

/// What Write and Edit answer for machines.
#[derive(serde::Serialize, Schema)]
pub struct Changed {
    /// The file that was written, absolute and without links.
    path: String,
    /// Whether it was not there before.
    created: bool,
    /// Whether it has had just this content before, and was not written.
    unchanged: bool,
    /// Its size in bytes.
    size: u64,
    /// The SHA-256 of its content, in hexadecimal.
    hash: String,
    /// How many lines the change adds.
    added: u64,
    /// How many lines the change takes away.
    removed: u64,
    /// How many occurrences of a text were replaced; 0 for a whole content.
    replaced: u64,
    /// The change as a unified diff, which is cut where it is long.
    diff: String,
    /// Whether the user changed what was asked for.
    user_modified: bool,
    /// The name of the record by which it can be undone, where one is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<String>,
}

/// Tells of a change: what was done, what to know of it, and the diff.
pub fn told(done: &str, path: &str, answer: Answer<WriteOk>, cx: &Context) -> Output {
    let ok = answer.ok;
    let diff = answer.body.into_string().unwrap_or_default(); // the change is made, whatever becomes of it
    let text = if ok.unchanged {
        Text::from(format!("{path} has just this content already: nothing was written"))
    } else {
        let done = if ok.created { "Created" } else { done };
        let mut text = format!("{done} {path}: {}", extent(&ok));
        for note in notes(&ok) {
            text.push_str(&format!("\n[{note}]"));
        }
        Text::from(text + "\n" + &diff)
    };
    Output::text(text).structured(&Changed {
        path: ok.path,
        created: ok.created,
        unchanged: ok.unchanged,
        size: ok.size,
        hash: ok.hash,
        added: ok.added,
        removed: ok.removed,
        replaced: ok.replaced,
        diff,
        user_modified: cx.user_modified(),
        history: Some(ok.history).filter(|name| !name.is_empty()),
    })
}

fn extent(ok: &WriteOk) -> String {
    let lines = match (ok.added, ok.removed) {
        (0, 0) => "no line differs".to_owned(),
        (added, 0) => format!("{} added", count(added, "line")),
        (0, removed) => format!("{} removed", count(removed, "line")),
        (added, removed) => format!("{} added, {removed} removed", count(added, "line")),
    };
    if ok.replaced > 1 { format!("{}, {lines}", count(ok.replaced, "replacement")) } else { lines }
}

/// What is not as one would think.
fn notes(ok: &WriteOk) -> Vec<String> {
    let mut notes = Vec::new();
    if !matches!(ok.encoding.as_str(), "" | "utf-8") {
        notes.push(format!("it stays {}", encoding_name(&ok.encoding)));
    }
    match ok.line_ending.as_str() {
        "crlf" => notes.push("its lines end with CRLF".to_owned()),
        "mixed" => notes.push("some of its lines end with LF and some with CRLF".to_owned()),
        _ => {}
    }
    if ok.other_names > 0 {
        let names = count(ok.other_names, "other hard link");
        let keep = if ok.other_names == 1 { "keeps" } else { "keep" };
        notes.push(format!("{names} of the file {keep} the former content"));
    }
    notes
}

/// The number by which a failure is known; the lowest that applies is told.
fn number(code: ErrorCode) -> Option<u8> {
    match code {
        ErrorCode::NotFound | ErrorCode::Denied => Some(1),
        ErrorCode::NotRead => Some(2),
        ErrorCode::Changed => Some(3),
        ErrorCode::SameText => Some(4),
        ErrorCode::NoMatch => Some(5),
        ErrorCode::NotUnique => Some(6),
        _ => None,
    }
}

/// Tells of a failure, with its number for machines. What the host says of it names the
/// file and what to do, but for a file that is missing.
pub fn failed(err: ToolError, path: &str, cx: &Context) -> Output {
    let number = number(err.code);
    let err = match err.code {
        ErrorCode::NotFound => {
            let relative = relative_to(path, cx);
            ToolError::new(err.code, format!("{path} does not exist{relative}; Write makes new files"))
        }
        ErrorCode::IsDirectory => ToolError::new(err.code, format!("{path} is a directory; name a file in it")),
        _ => err,
    };
    let output = Output::new().failed(err);
    match number {
        Some(number) => output.meta(serde_json::json!({"code": number})),
        None => output,
    }
}
