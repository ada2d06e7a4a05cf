//! The tools Read, Write and Edit. The host numbers lines, compares and replaces; text,
//! pictures and diffs pass into the result as handles: this plugin only says what to
//! do, and what the model is told of it.
#![deny(unsafe_code)]

mod change;
mod document;
mod near;
mod notebook;
mod notes;
mod reading;
mod shown;
#[cfg(test)]
mod tests;
mod writing;

use reading::read;
use writing::{edit, write};

/// A path's extension in lower case, without the dot; empty where it has none.
fn extension(path: &str) -> String {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

toolquay::plugin!(read, write, edit);
