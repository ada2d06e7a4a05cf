//! `search.names` and `search.contents` of the testing host, the latter for
//! plain text.

use std::cmp::Reverse;

use serde::Deserialize;
use serde_json::{Value, json};

use super::tree::Tree;
use super::{Reply, glob};
use crate::capability::search::{ContentsOk, Found, Mode, NamesOk};
use crate::error::{ErrorCode, ToolError};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args {
    path: String,
    pattern: String,
    globs: Vec<String>,
    mode: Mode,
    line_numbers: bool,
    case_insensitive: bool,
    limit: usize,
    offset: usize,
}

pub fn names(tree: &Tree, request: &Value) -> Result<Reply, ToolError> {
    let args = Args::deserialize(request)?;
    let root = tree.absolute(&args.path);
    let mut files = tree.files(&root)?;
    files.retain(|(path, _)| {
        let relative = path.strip_prefix(root.trim_end_matches('/')).unwrap_or(path).trim_start_matches('/');
        glob::matches(&args.pattern, relative) || glob::matches(&args.pattern, path)
    });
    files.sort_by_key(|(_, age)| Reverse(*age));
    let total = files.len();
    let limit = if args.limit == 0 { total } else { args.limit };
    let found: Vec<Found> =
        files.into_iter().take(limit).map(|(path, mod_time)| Found { path: tree.shown(&path), mod_time }).collect();
    let ok = NamesOk {
        path: root,
        count: found.len() as u64,
        total: total as u64,
        truncated: total > limit,
        ..NamesOk::default()
    };
    Ok(Reply::new(json!(ok)).with_body(json!(found).to_string()))
}

pub fn contents(tree: &Tree, request: &Value) -> Result<Reply, ToolError> {
    let args = Args::deserialize(request)?;
    if args.pattern.contains(|c| ".^$*+?()[]{}|\\".contains(c)) {
        let message = "the testing host searches for plain text alone; answer search.contents with Host::on";
        return Err(ToolError::new(ErrorCode::Unsupported, message));
    }
    let mut entries: Vec<(usize, usize, String)> = Vec::new();
    let mut ok = ContentsOk { path: tree.absolute(&args.path), ..ContentsOk::default() };
    for (index, (path, _)) in tree.files(&args.path)?.into_iter().enumerate() {
        let name = path.rsplit('/').next().unwrap_or(&path);
        if !args.globs.is_empty() && !args.globs.iter().any(|g| glob::matches(g, name)) {
            continue;
        }
        ok.searched += 1;
        let content = tree.read(&path)?;
        let found = matching(&String::from_utf8_lossy(&content), &args, &tree.shown(&path));
        entries.extend(found.into_iter().map(|(matches, line)| (index, matches, line)));
    }
    let rest = entries.len().saturating_sub(args.offset);
    let limit = if args.limit == 0 { rest } else { args.limit };
    ok.truncated = rest > limit;
    let shown: Vec<_> = entries.into_iter().skip(args.offset).take(limit).collect();
    let mut files: Vec<usize> = shown.iter().map(|(index, ..)| *index).collect();
    files.dedup();
    (ok.files, ok.entries) = (files.len() as u64, shown.len() as u64);
    ok.matches = shown.iter().map(|(_, matches, _)| *matches as u64).sum();
    let text: String = shown.into_iter().map(|(.., line)| line + "\n").collect();
    Ok(Reply::new(json!(ok)).with_body(text))
}

/// The entries of one file: how many matches each stands for, and its line.
fn matching(text: &str, args: &Args, path: &str) -> Vec<(usize, String)> {
    let fold = |text: &str| if args.case_insensitive { text.to_lowercase() } else { text.to_owned() };
    let pattern = fold(&args.pattern);
    let lines = text.lines().enumerate().filter(|(_, line)| fold(line).contains(&pattern));
    let entries: Vec<_> = lines
        .map(|(i, line)| if args.line_numbers { format!("{path}:{}:{line}", i + 1) } else { format!("{path}:{line}") })
        .collect();
    let count = entries.len();
    match args.mode {
        _ if count == 0 => Vec::new(),
        Mode::Content => entries.into_iter().map(|line| (1, line)).collect(),
        Mode::Files => vec![(count, path.to_owned())],
        Mode::Count => vec![(count, format!("{path}:{count}"))],
    }
}
