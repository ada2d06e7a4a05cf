//! How a command ended.

use toolquay::capability::shell::{Background, ShellOk};

use crate::exit;
use crate::notes::seconds;

/// How a command ended, or that it has not.
pub struct Ending {
    /// A few words about it; none where there is nothing to say.
    pub note: Option<String>,
    /// What its exit status means, where that is known.
    pub meaning: Option<String>,
    /// Whether it is to be told as a failure.
    pub failed: bool,
}

impl Ending {
    pub fn of(ok: &ShellOk) -> Self {
        let ended = |note: String| Self { note: Some(note), meaning: None, failed: true };
        match ok {
            _ if !ok.task.is_empty() => Self { note: Some(moved(ok)), meaning: None, failed: false },
            _ if ok.timed_out => ended(format!("ended at its time limit of {}", seconds(ok.timeout))),
            _ if !ok.limit.is_empty() => ended(limit(ok)),
            _ if !ok.signal.is_empty() => ended(format!("ended by {}, exit status {}", ok.signal, ok.exit)),
            _ => Self::with_status(ok),
        }
    }

    fn with_status(ok: &ShellOk) -> Self {
        if ok.exit == 0 {
            return Self { note: None, meaning: None, failed: false };
        }
        let harmless = exit::harmless(&ok.program, ok.exit).map(str::to_owned);
        let failed = harmless.is_none();
        let meaning = harmless.or_else(|| exit::failure(ok.exit));
        let note = match &meaning {
            Some(meaning) if failed => format!("exit status {}: {meaning}", ok.exit),
            Some(meaning) => format!("exit status {}, which is no failure: {meaning}", ok.exit),
            None => format!("exit status {}", ok.exit),
        };
        Self { note: Some(note), meaning, failed }
    }
}

fn limit(ok: &ShellOk) -> String {
    if ok.limit_text.is_empty() {
        return format!("ended, as it went over its limit of {}", ok.limit);
    }
    format!("ended, as {}", ok.limit_text)
}

/// Says that the command goes on, why, and what can be done about it.
fn moved(ok: &ShellOk) -> String {
    let task = &ok.task;
    let why = match ok.background {
        Some(Background::Asked) | None => format!("started in the background as task {task}"),
        Some(Background::Timeout) => {
            format!("not ended within {}: it goes on in the background as task {task}", seconds(ok.timeout))
        }
        Some(Background::Budget) => {
            format!("not ended within {}: it goes on in the background as task {task}", seconds(ok.duration))
        }
        Some(Background::Person) => format!("moved to the background by the user, where it goes on as task {task}"),
        Some(_) => format!("moved to the background, where it goes on as task {task}"),
    };
    format!("{why}; TaskOutput shows what it puts out, TaskStop ends it, and you are told when it ends")
}
