//! How tasks and times are told of.

use toolquay::capability::task::{TaskOk, TaskState};

/// A task and how it is, as a sentence without its full stop.
pub fn happened(task: &TaskOk) -> String {
    let mut text = format!("task {}", task.id);
    if !task.title.is_empty() {
        text.push_str(&format!(" ({})", task.title));
    }
    let after = if task.elapsed > 0 { format!(" after {}", span(task.elapsed)) } else { String::new() };
    text.push_str(&match task.state {
        TaskState::Pending => " has not begun yet".to_owned(),
        TaskState::Running => format!(" is running, for {} so far", span(task.elapsed)),
        TaskState::Completed => format!(" completed{after}"),
        TaskState::Failed => format!(" failed{after}"),
        TaskState::Killed => format!(" was ended{after}"),
        TaskState::Lost => " is lost".to_owned(),
        _ => format!(" {} ended{after}", if task.ended { "has" } else { "has not" }),
    });
    if let Some(exit) = task.exit {
        text.push_str(&format!(" with exit status {exit}"));
    }
    if !task.reason.is_empty() {
        text.push_str(&format!(": {}", task.reason.trim_end_matches(['.', ' ', '\n'])));
    }
    if task.left > 0 {
        text.push_str(&format!("; left behind, and ended too: {}", count(task.left, "process")));
    }
    text
}

/// The name of a state, as the host has it.
pub const fn state(task: &TaskOk) -> &'static str {
    match task.state {
        TaskState::Pending => "pending",
        TaskState::Running => "running",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Killed => "killed",
        TaskState::Lost => "lost",
        _ => "unknown",
    }
}

/// A number of things.
pub fn count(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ if thing.ends_with('s') => format!("{number} {thing}es"),
        _ => format!("{number} {thing}s"),
    }
}

/// A time in milliseconds, to the precision that a reader cares for.
pub fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 if ms % 1_000 < 100 => format!("{seconds} s"),
        1..60 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A sentence begins with a capital letter and ends with a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}
