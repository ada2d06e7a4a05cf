//! `search.names` and `search.contents` of the testing host.

use std::cmp::Reverse;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::tree::{Tree, below};
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
    before: usize,
    after: usize,
    #[serde(rename = "type")]
    file_type: String,
    multiline: bool,
    case_insensitive: bool,
    limit: usize,
    offset: usize,
}

pub fn names(tree: &Tree, keep: &dyn Fn(&str) -> bool, request: &Value) -> Result<Reply, ToolError> {
    let args = Args::deserialize(request)?;
    let root = tree.absolute(&args.path);
    let mut files = tree.files(&root)?;
    files.retain(|(path, _)| {
        if !keep(path) {
            return false;
        }
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

pub fn contents(tree: &Tree, keep: &dyn Fn(&str) -> bool, request: &Value) -> Result<Reply, ToolError> {
    let args = Args::deserialize(request)?;
    if args.multiline || !args.file_type.is_empty() {
        let message =
            "the testing host searches neither by type nor across lines; answer search.contents with Host::on";
        return Err(ToolError::new(ErrorCode::Unsupported, message));
    }
    let pattern = compile(&args)?;
    let root = tree.absolute(&args.path);
    let mut entries: Vec<(usize, usize, String)> = Vec::new();
    let mut ok = ContentsOk { path: root.clone(), ..ContentsOk::default() };
    for (index, (path, _)) in tree.files(&args.path)?.into_iter().enumerate() {
        let name = below(&path, &root).filter(|name| !name.is_empty()).unwrap_or(&path);
        if !keep(&path) || !chosen(&args.globs, name) {
            continue;
        }
        ok.searched += 1;
        let content = tree.read(&path)?;
        if content.contains(&0) {
            continue;
        }
        let found = matching(&content, &pattern, &args, &tree.shown(&path), entries.is_empty());
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

/// Compiles a pattern as the host does, whose engine is the same.
fn compile(args: &Args) -> Result<Regex, ToolError> {
    let invalid = |why: String| ToolError::invalid_input(format!("pattern: {why}"));
    let parsed =
        ParserBuilder::new().utf8(false).build().parse(&args.pattern).map_err(|err| invalid(err.to_string()))?;
    in_one_line(&parsed).map_err(|why| invalid(why.to_owned()))?;
    let mut builder = RegexBuilder::new(&args.pattern);
    builder.case_insensitive(args.case_insensitive).multi_line(true).size_limit(64 << 20);
    builder.build().map_err(|err| invalid(err.to_string()))
}

/// Refuses texts that no line holds.
fn in_one_line(hir: &Hir) -> Result<(), &'static str> {
    match hir.kind() {
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Err("it holds a newline, and no match spans lines"),
        HirKind::Literal(literal) if literal.0.contains(&0) => {
            Err("it holds a NUL byte; binary files are not searched")
        }
        kind => kind.subs().iter().try_for_each(in_one_line),
    }
}

/// Applies ripgrep's globs: the last that matches decides.
fn chosen(globs: &[String], name: &str) -> bool {
    let mut keep = globs.iter().all(|glob| glob.starts_with('!'));
    for glob in globs {
        let (glob, excludes) = glob.strip_prefix('!').map_or((glob.as_str(), false), |glob| (glob, true));
        let anywhere = if glob.contains('/') { glob.trim_start_matches('/').to_owned() } else { format!("**/{glob}") };
        if glob::matches(&anywhere, name) {
            keep = !excludes;
        }
    }
    keep
}

/// The entries of one file: how many matches each stands for, and its line.
fn matching(content: &[u8], pattern: &Regex, args: &Args, path: &str, first: bool) -> Vec<(usize, String)> {
    let mut lines: Vec<_> = content.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let hits: Vec<_> = (0..lines.len()).filter(|i| pattern.is_match(lines[*i])).collect();
    match args.mode {
        _ if hits.is_empty() => Vec::new(),
        Mode::Content => with_context(&lines, &hits, args, path, first),
        Mode::Files => vec![(hits.len(), path.to_owned())],
        Mode::Count => vec![(hits.len(), format!("{path}:{}", hits.len()))],
    }
}

/// The lines that match, with those around them, groups apart.
fn with_context(lines: &[&[u8]], hits: &[usize], args: &Args, path: &str, first: bool) -> Vec<(usize, String)> {
    let (mut entries, mut next) = (Vec::new(), None::<usize>);
    for (n, hit) in hits.iter().enumerate() {
        let last = (hit + args.after).min(lines.len() - 1);
        let last = hits.get(n + 1).map_or(last, |following| last.min(following - 1));
        let begin = hit.saturating_sub(args.before).max(next.unwrap_or_default());
        let apart = next.map_or(!first, |next| begin > next);
        if apart && args.before + args.after > 0 {
            entries.push((0, "--".to_owned()));
        }
        for (i, line) in lines.iter().enumerate().take(last + 1).skip(begin) {
            let sign = if i == *hit { ':' } else { '-' };
            let number = if args.line_numbers { format!("{}{sign}", i + 1) } else { String::new() };
            entries.push((usize::from(i == *hit), format!("{path}{sign}{number}{}", String::from_utf8_lossy(line))));
        }
        next = Some(last + 1);
    }
    entries
}
