//! The tools Glob and Grep. The host searches; what Grep finds passes into the
//! result as a handle.
#![deny(unsafe_code)]

mod glob;
mod grep;
#[cfg(test)]
mod tests;

toolquay::plugin!(glob::glob, grep::grep);

/// The notes both tools close with: what was left out.
fn left_out(denied: u64, unreadable: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if denied > 0 {
        notes.push(format!("[left out by permission rules: {}]", files(denied)));
    }
    if unreadable > 0 {
        notes.push(format!("[could not be read: {}]", files(unreadable)));
    }
    notes
}

fn files(count: u64) -> String {
    counted(count, "file")
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ if what.ends_with("ch") => format!("{count} {what}es"),
        _ => format!("{count} {what}s"),
    }
}
