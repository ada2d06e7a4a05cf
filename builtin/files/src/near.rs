//! Names near one that does not exist.

use toolquay::Context;
use toolquay::capability::fs::Entry;

/// The most names suggested.
const MOST: usize = 3;
/// The most entries of a directory that are looked at.
const MAX_ENTRIES: u32 = 2_000;

/// Finds names like the path's last one in its directory, best first. Where the
/// directory cannot be listed there are none.
pub fn names(path: &str, cx: &Context) -> Vec<String> {
    let (parent, name) = match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(split) => split,
        None => ("", path),
    };
    let Ok(listing) = cx.fs().list(if parent.is_empty() { "." } else { parent }, MAX_ENTRIES) else {
        return Vec::new();
    };
    best(name, &listing.entries).into_iter().map(|near| join(parent, near)).collect()
}

fn join(parent: &str, name: &str) -> String {
    match parent {
        "" => name.to_owned(),
        "/" => format!("/{name}"),
        _ => format!("{parent}/{name}"),
    }
}

fn best<'a>(name: &str, entries: &'a [Entry]) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> = Vec::new();
    for entry in entries {
        if let Some(distance) = distance(name, &entry.name) {
            let found = (distance, entry.name.as_str());
            ranked.insert(ranked.partition_point(|better| *better < found), found);
            ranked.truncate(MOST);
        }
    }
    ranked.into_iter().map(|(_, near)| near).collect()
}

/// How far a name is from the one asked for, or `None` where it is another.
fn distance(name: &str, candidate: &str) -> Option<usize> {
    let (wanted, there) = (name.to_ascii_lowercase(), candidate.to_ascii_lowercase());
    if wanted == there {
        return Some(0);
    }
    if !stem(&wanted).is_empty() && stem(&wanted) == stem(&there) {
        return Some(1);
    }
    // A third of the letters may differ: more is another word.
    let limit = (wanted.chars().count() / 3).max(1);
    let edits = edits(&wanted, &there, limit)?;
    Some(1 + edits)
}

fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// The number of letters to insert, delete, replace or swap with a neighbour,
/// if it is at most `limit`.
fn edits(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let width = b.len() + 1;
    let mut before = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, y) in b.iter().enumerate() {
            row[j + 1] = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        if row.iter().all(|edits| *edits > limit) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    Some(last[width - 1]).filter(|edits| *edits <= limit)
}

#[cfg(test)]
mod tests {
    use super::{distance, edits};

    #[test]
    fn counts_edits() {
        for (a, b, want) in [
            ("config", "config", Some(0)),
            ("config", "confg", Some(1)),
            ("config", "cofnig", Some(1)),
            ("config", "konfigs", Some(2)),
            ("config", "abcdef", None),
            ("é", "e", Some(1)),
        ] {
            assert_eq!(edits(a, b, 2), want, "{a} {b}");
        }
    }

    #[test]
    fn ranks_case_then_stem_then_edits() {
        for (name, candidate, want) in [
            ("Readme.md", "README.md", Some(0)),
            ("main.ts", "main.tsx", Some(1)),
            ("main.rs", "mian.rs", Some(2)),
            ("main.rs", "lib.rs", None),
            (".env", ".gitignore", None),
            ("a", "b", Some(2)),
        ] {
            assert_eq!(distance(name, candidate), want, "{name} {candidate}");
        }
    }
}
