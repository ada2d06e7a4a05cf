//! Which tools a query means.
//!
//! | where a word is | points | of an MCP server's tool |
//! | --- | --- | --- |
//! | it is a part of the name | 10 | 12 |
//! | else, within the name | 5 | 6 |
//! | a word of the search hint | 4 | 4 |
//! | a word of the description | 2 | 2 |
//!
//! The points of all words add up. Among equals those come first that are offered
//! first, so the outcome depends on the tools alone.

use crate::Deferred;
use crate::query::Word;

/// What a tool's name says, taken apart.
struct Name {
    /// Its parts: `NotebookEdit` has notebook and edit, `mcp__slack__send_message`
    /// slack, send and message.
    parts: Vec<String>,
    /// All of them together.
    joined: String,
    /// Whether it is that of an MCP server's tool.
    mcp: bool,
}

/// What such a name begins with, and what is no part of it here.
const MCP_PREFIX: &str = "mcp__";

impl Name {
    fn of(tool: &Deferred) -> Self {
        let name = tool.name.strip_prefix(MCP_PREFIX).filter(|_| tool.mcp).unwrap_or(&tool.name);
        let parts = parts(name);
        Self { joined: parts.concat(), parts, mcp: tool.mcp }
    }

    /// Whether a word is in the name, however it is written there.
    fn contains(&self, word: &str) -> bool {
        self.joined.contains(&squeezed(self.bare(word)))
    }

    /// A word that is a whole name, or begins as one, without what the names of all
    /// tools of MCP servers begin with.
    fn bare<'a>(&self, word: &'a str) -> &'a str {
        word.strip_prefix(MCP_PREFIX).filter(|_| self.mcp).unwrap_or(word)
    }

    fn points(&self, word: &str) -> u32 {
        match (self.parts.iter().any(|part| part == self.bare(word)), self.contains(word)) {
            (true, _) => 10 + 2 * u32::from(self.mcp),
            (_, true) => 5 + u32::from(self.mcp),
            _ => 0,
        }
    }
}

/// Splits a name at marks, and where a capital follows a small letter or begins a
/// word after other capitals: `LSPServer2Go` is lsp, server2 and go.
pub fn parts(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut parts = vec![String::new()];
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(i + 1);
        let begins =
            c.is_uppercase() && before.is_some_and(|b| !b.is_uppercase() || after.is_some_and(|a| a.is_lowercase()));
        if !c.is_alphanumeric() || begins {
            parts.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// A word without marks, as names are compared.
fn squeezed(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a text has a word, in whatever case.
fn has_word(text: &str, word: &str) -> bool {
    let text = text.to_lowercase();
    let ends = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    text.match_indices(word)
        .any(|(at, _)| ends(text[..at].chars().next_back()) && ends(text[at + word.len()..].chars().next()))
}

/// The points a word gives a tool.
fn points(tool: &Deferred, name: &Name, word: &str) -> u32 {
    name.points(word) + 4 * u32::from(has_word(&tool.hint, word)) + 2 * u32::from(has_word(&tool.description, word))
}

/// The points of a tool; none where it has not what is required. Required words
/// rank where there are no others.
pub fn score(tool: &Deferred, words: &[Word]) -> Option<u32> {
    let name = Name::of(tool);
    if words.iter().any(|word| word.required && !name.contains(&word.text)) {
        return None;
    }
    let required = words.iter().any(|word| word.required);
    let only = words.iter().all(|word| word.required);
    let sum = words.iter().filter(|word| only || !word.required).map(|word| points(tool, &name, &word.text)).sum();
    (required || sum > 0).then_some(sum)
}

/// The best tools for some words, the best first.
pub fn search<'a>(tools: &'a [Deferred], words: &[Word], limit: usize) -> Vec<&'a Deferred> {
    let mut found: Vec<_> = tools.iter().filter_map(|tool| score(tool, words).map(|points| (points, tool))).collect();
    found.sort_by(|(a, _), (b, _)| b.cmp(a)); // stable: equals stay in the host's order
    found.into_iter().take(limit).map(|(_, tool)| tool).collect()
}

/// The tools of these names, in the order they are named, each once. A name that no
/// tool has counts in another case.
pub fn select<'a>(tools: &'a [Deferred], names: &[String]) -> Vec<&'a Deferred> {
    let mut found: Vec<&Deferred> = Vec::new();
    for name in names {
        let exact = tools.iter().find(|tool| tool.name == *name);
        let tool = exact.or_else(|| tools.iter().find(|tool| tool.name.eq_ignore_ascii_case(name)));
        if let Some(tool) = tool.filter(|tool| !found.iter().any(|known| known.name == tool.name)) {
            found.push(tool);
        }
    }
    found
}

/// At most three names that may be meant by names that no tool has: those that
/// share most of their parts with them.
pub fn near(tools: &[Deferred], names: &[String]) -> Vec<String> {
    let words: Vec<_> = names.iter().flat_map(|name| parts(name)).filter(|part| part != "mcp").collect();
    let words: Vec<_> = words.into_iter().map(|text| Word { text, required: false }).collect();
    let named = |tool: &&Deferred| words.iter().any(|word| Name::of(tool).contains(&word.text));
    search(tools, &words, tools.len()).into_iter().filter(named).take(3).map(|tool| tool.name.clone()).collect()
}
