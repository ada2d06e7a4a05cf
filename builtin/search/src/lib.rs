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

/// Says that a search was ended at its time limit, and what makes the next one faster.
fn stopped(timeout: u64, faster: &str) -> String {
    let limit = seconds(timeout);
    format!("[stopped at the time limit of {limit}, with what was found by then; there may be more: {faster}]")
}

/// A time in milliseconds as seconds, to a tenth.
fn seconds(ms: u64) -> String {
    match ms % 1_000 / 100 {
        0 => format!("{} s", ms / 1_000),
        tenths => format!("{}.{tenths} s", ms / 1_000),
    }
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
