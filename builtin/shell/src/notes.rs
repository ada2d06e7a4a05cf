//! What the model is told besides the output: notes in square brackets. They stand
//! before it, so that they stay where a long output is cut to a preview.

use toolquay::Context;
use toolquay::capability::shell::ShellOk;

use crate::ending::Ending;

/// All there is to say of a command, the most important first.
pub fn of(ok: &ShellOk, ending: &Ending, cx: &Context) -> Vec<String> {
    let mut notes: Vec<String> = ending.note.iter().cloned().collect();
    if !ok.note.is_empty() {
        notes.push(ok.note.trim().trim_end_matches('.').to_owned());
    }
    if !ok.cwd.is_empty() {
        notes.push(format!("the working directory is now {}", ok.cwd));
    }
    if !ok.refused.is_empty() {
        notes.push(format!(
            "the working directory is still {}: {} is outside the session's directories",
            cx.cwd(),
            ok.refused
        ));
    }
    if ok.left > 0 {
        notes.push(format!("left behind, and ended: {}", count(ok.left, "process")));
    }
    notes.extend(of_output(ok));
    notes.iter().map(|note| format!("[{note}]")).collect()
}

/// Says what the text is not that the command wrote.
fn of_output(ok: &ShellOk) -> Vec<String> {
    let mut notes = Vec::new();
    if !ok.output_file.is_empty() {
        notes.push(match (ok.task.is_empty(), ok.kept) {
            (false, _) => format!("its output goes to {}", ok.output_file),
            (_, 0) => format!("all of the output, {}, is in {}", count(ok.bytes, "byte"), ok.output_file),
            (_, kept) => {
                format!("of the output, {}, the first {kept} are kept, in {}", count(ok.bytes, "byte"), ok.output_file)
            }
        });
    }
    if ok.invalid > 0 {
        notes.push(format!("not UTF-8, and shown as U+FFFD: {} of the output", count(ok.invalid, "byte")));
    }
    notes
}

/// A number of things.
fn count(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ if thing.ends_with('s') => format!("{number} {thing}es"),
        _ => format!("{number} {thing}s"),
    }
}

/// A time in milliseconds as seconds, to a tenth.
pub fn seconds(ms: u64) -> String {
    match ms % 1_000 / 100 {
        0 => format!("{} s", ms / 1_000),
        tenths => format!("{}.{tenths} s", ms / 1_000),
    }
}
