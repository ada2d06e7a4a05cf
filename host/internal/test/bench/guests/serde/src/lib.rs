//! Reads a JSON document, changes it, and writes it again.

use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Document {
    path: String,
    limit: u32,
    entries: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    name: String,
    size: u64,
    score: f64,
    tags: Vec<String>,
    hidden: bool,
}

common::guest!(String, input, rewrite);

/// A document of about `n` bytes.
fn input(n: usize) -> String {
    let mut numbers = common::Numbers::default();
    let mut document = Document { path: "/srv/data49/file".into(), limit: 2000, entries: Vec::new() };
    // An entry is about 90 bytes of JSON.
    for line in common::text(n).lines().take(n / 90) {
        let mut words = line.split_whitespace().map(String::from);
        document.entries.push(Entry {
            name: words.next().unwrap_or_default() + "\n\"\u{e9}\"",
            size: numbers.below(1 << 30) as u64,
            score: numbers.below(1 << 20) as f64 / 1024.0,
            tags: words.take(3).collect(),
            hidden: numbers.below(2) == 0,
        });
    }
    serde_json::to_string(&document).expect("plain data")
}

fn rewrite(document: &str) -> u32 {
    let mut document: Document = serde_json::from_str(document).expect("what was written");
    document.limit += 1;
    for entry in &mut document.entries {
        entry.size += 1;
        entry.hidden = !entry.hidden;
        entry.tags.push("seen".into());
    }
    common::checksum(&serde_json::to_vec(&document).expect("plain data"))
}
