//! What exit statuses mean.

/// What a status other than 0 says where it is no failure, as some programs have one for
/// "no".
pub fn harmless(program: &str, exit: i64) -> Option<&'static str> {
    match (base_name(program), exit) {
        ("grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ugrep" | "ag" | "ack" | "git grep" | "findstr", 1) => {
            Some("nothing matched")
        }
        // The host names the program for this status only where that is all it complains of.
        ("grep" | "egrep" | "fgrep" | "rg", 2) => Some("all else but what is hidden was searched"),
        ("diff" | "cmp" | "sdiff" | "colordiff", 1)
        | ("git diff" | "git diff-files" | "git diff-index" | "git diff-tree", 1) => Some("the files differ"),
        ("test" | "[" | "[[", 1) => Some("the condition does not hold"),
        ("expr", 1) => Some("the result is empty or 0"),
        ("find", 1) => Some("some places could not be searched"),
        ("pgrep" | "pidof", 1) => Some("no process matched"),
        ("which", 1) => Some("there is no such program"),
        ("git check-ignore", 1) => Some("none of the paths is ignored"),
        ("robocopy", 1..=7) => Some("files were copied, or differ"),
        _ => None,
    }
}

/// What a failure's status says.
pub fn failure(exit: i64) -> Option<String> {
    match exit {
        124 => Some("what timeout has for a command that took too long".to_owned()),
        126 => Some("what was named is there and cannot be run".to_owned()),
        127 => Some("there is no such command".to_owned()),
        129..=192 => {
            let number = exit - 128;
            Some(match signal(number) {
                Some(name) => format!("what a shell has for a command that {name} ended"),
                None => format!("what a shell has for a command that signal {number} ended"),
            })
        }
        _ => None,
    }
}

/// The names of the signals that have the same number wherever there are signals.
const fn signal(number: i64) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        _ => return None,
    })
}

/// A program's name without the folder it lies in. With git the host names the
/// subcommand too.
fn base_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}
