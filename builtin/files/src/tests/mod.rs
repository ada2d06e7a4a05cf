mod documents;
mod writing;

use serde_json::{Value, json};
use toolquay::ErrorCode;
use toolquay::testing::{Host, Reply};

use crate::reading::read;

/// Reads a file that is not read twice by the test.
fn read_text(host: &Host, input: Value) -> String {
    let outcome = host.call::<read>(&input);
    assert!(!outcome.is_error(), "{input}: {}", outcome.text());
    assert_eq!(outcome.bytes_read(), 0, "the text of {input} entered the guest");
    outcome.text()
}

fn numbered(lines: impl IntoIterator<Item = u64>) -> String {
    let lines: Vec<_> = lines.into_iter().map(|n| format!("{n:>6}\tline {n}")).collect();
    lines.join("\n")
}

fn long_file(lines: u64) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn shows_numbered_lines() {
    let host = Host::new().with_file("a.txt", long_file(3));
    assert_eq!(read_text(&host, json!({"file_path": "a.txt"})), numbered(1..=3));
    assert_eq!(read_text(&host, json!({"file_path": "/project/a.txt", "offset": 0})), numbered(1..=3));
    assert_eq!(read_text(&host, json!({"file_path": "./a.txt", "offset": 2})), numbered(2..=3));
}

#[test]
fn tells_machines_what_was_shown() {
    let host = Host::new().with_file("a.txt", long_file(9)).with_file("empty.txt", "");
    let told = |input: Value| host.call::<read>(&input).structured::<Value>().expect("an answer");
    let part = json!({
        "path": "/project/a.txt", "kind": "text", "unchanged": false, "first_line": 2, "lines": 3, "truncated": true,
        "encoding": "utf-8",
    });
    assert_eq!(told(json!({"file_path": "a.txt", "offset": 2, "limit": 3})), part);
    let end = told(json!({"file_path": "a.txt", "offset": 8}));
    assert_eq!((&end["lines"], &end["total_lines"], &end["truncated"]), (&json!(2), &json!(9), &json!(false)));
    let empty = told(json!({"file_path": "empty.txt"}));
    assert_eq!((&empty["lines"], &empty["total_lines"], empty.get("first_line")), (&json!(0), &json!(0), None));
}

#[test]
fn says_where_to_go_on() {
    let host = Host::new().with_file("a.txt", long_file(2001));
    let text = read_text(&host, json!({"file_path": "a.txt"}));
    let note = "\n[stopped after line 2000; the file goes on: continue with offset 2001]";
    assert_eq!(text, numbered(1..=2000) + note);
    assert_eq!(read_text(&host, json!({"file_path": "./a.txt", "limit": 5000})), text);
    assert_eq!(read_text(&host, json!({"file_path": "a.txt", "offset": 2001})), numbered([2001]));
    let text = read_text(&host, json!({"file_path": "a.txt", "offset": 5, "limit": 2}));
    assert_eq!(text, numbered(5..=6) + "\n[stopped after line 6; the file goes on: continue with offset 7]");
}

#[test]
fn bounds_lines_and_the_whole() {
    let host = Host::new().with_file("wide.txt", format!("{}\n", "é".repeat(2_500)).repeat(100));
    let text = read_text(&host, json!({"file_path": "wide.txt"}));
    assert!(text.chars().count() < 100_200, "{} characters", text.chars().count());
    let first = text.lines().next().expect("a line");
    assert_eq!(first.chars().count(), 7 + 2_000);
    let notes: Vec<_> = text.lines().filter(|line| line.starts_with('[')).collect();
    let stopped = "[stopped after line 49 to stay under 100,000 characters; the file goes on: continue with offset 50]";
    assert_eq!(notes, ["[49 lines cut after 2000 characters]", stopped]);
}

#[test]
fn says_when_time_was_up() {
    for (lines, want) in [
        (
            json!({"first": 70_000, "more": true, "timed_out": true, "timeout_ms": 20_000, "passed": 1_200}),
            "[line 70000 was not reached within 20 s: a.log has more than 1200 lines before it; find the place with \
             Grep, or ask for lines further up]",
        ),
        (
            json!({"first": 3, "count": 2, "more": true, "cut_lines": 1, "timed_out": true, "timeout_ms": 500}),
            "text\n[1 line cut after 2000 characters]\n\
             [stopped after line 4 at the time limit of 0.5 s; the file goes on: continue with offset 5]",
        ),
    ] {
        let host = Host::new().on("fs.read", move |_| {
            let ok = json!({"path": "/p/a.log", "size": 9, "lines": lines.clone()});
            Ok(Reply::new(ok).with_body("text"))
        });
        assert_eq!(read_text(&host, json!({"file_path": "a.log", "offset": 70_000})), want);
    }
}

#[test]
fn says_when_there_is_nothing() {
    let host = Host::new().with_file("empty.txt", "").with_file("three.txt", long_file(3)).with_file("one.txt", "x");
    for (input, want) in [
        (json!({"file_path": "empty.txt"}), "[empty.txt exists and is empty]"),
        (json!({"file_path": "three.txt", "offset": 9}), "[nothing to show from line 9 on: three.txt has 3 lines]"),
        (json!({"file_path": "one.txt", "offset": 2}), "[nothing to show from line 2 on: one.txt has 1 line]"),
    ] {
        assert_eq!(read_text(&host, input), want);
    }
}

#[test]
fn failures_say_what_to_do() {
    let host = Host::new()
        .with_file("README.md", "")
        .with_file("src/main.tsx", "")
        .with_file("src/server.go", "")
        .with_file("data.zip", [0x50, 0, 1])
        .with_file("data", [0, 0xff]);
    let cwd = "(the working directory is /project)";
    for (path, code, want) in [
        ("Readme.md", ErrorCode::NotFound, format!("Readme.md does not exist {cwd}; did you mean README.md?")),
        ("src/main.ts", ErrorCode::NotFound, format!("src/main.ts does not exist {cwd}; did you mean src/main.tsx?")),
        (
            "/project/src/sevrer.go",
            ErrorCode::NotFound,
            "/project/src/sevrer.go does not exist; did you mean /project/src/server.go?".into(),
        ),
        ("other.txt", ErrorCode::NotFound, format!("other.txt does not exist {cwd}")),
        ("none/a.txt", ErrorCode::NotFound, format!("none/a.txt does not exist {cwd}")),
        ("/etc", ErrorCode::NotFound, "/etc does not exist".into()),
        (
            "src",
            ErrorCode::IsDirectory,
            "src is a directory; Read shows files. List it with Glob: pattern \"*\", path \"src\"".into(),
        ),
        ("data.zip", ErrorCode::NotText, "data.zip is an archive, not text, so Read cannot show it".into()),
        ("data", ErrorCode::NotText, "data is a binary file, not text, so Read cannot show it".into()),
    ] {
        let outcome = host.call::<read>(json!({"file_path": path}));
        assert_eq!((outcome.error().map(|err| err.code), outcome.text()), (Some(code), want), "{path}");
    }
}

#[test]
fn other_failures_are_the_hosts() {
    let denied = "reading /project/.env is denied by the rule Read(.env)";
    let host = Host::new().on("fs.read", move |_| Err(toolquay::ToolError::new(ErrorCode::Denied, denied)));
    let outcome = host.call::<read>(json!({"file_path": ".env"}));
    assert_eq!((outcome.error().map(|err| err.code), outcome.text()), (Some(ErrorCode::Denied), denied.to_owned()));
}

#[test]
fn near_names_need_no_permission_to_fail() {
    let host =
        Host::new().with_file("a.txt", "").on("fs.list", |_| Err(toolquay::ToolError::new(ErrorCode::Denied, "no")));
    assert_eq!(
        host.call::<read>(json!({"file_path": "b.txt"})).text(),
        "b.txt does not exist (the working directory is /project)"
    );
}

#[test]
fn asks_for_no_more_than_it_shows() {
    let host = Host::new().on("fs.read", |args| {
        let want = json!({"offset": 3, "limit": 7, "max_line": 2000, "max_chars": 100_000, "number": true});
        assert_eq!((&args["lines"], &args["shown"]), (&want, &json!(true)));
        Ok(Reply::new(json!({"path": "/a", "size": 1, "lines": {"first": 3, "count": 1, "total": 3}})).with_body("x"))
    });
    assert_eq!(read_text(&host, json!({"file_path": "/a", "offset": 3, "limit": 7})), "x");
}

#[test]
fn what_was_shown_is_not_shown_again_at_once() {
    let host = Host::new().with_file("a.txt", "one");
    let again = "[a.txt has not changed since the same was shown earlier in this conversation; \
                 read it again to have it shown once more]";
    for want in ["     1\tone", again, "     1\tone"] {
        assert_eq!(read_text(&host, json!({"file_path": "a.txt"})), want);
    }
}

#[test]
fn says_what_is_not_plain_utf8() {
    for (encoding, note) in [
        ("utf-8", ""),
        ("utf-8-bom", "\n[UTF-8 with a byte order mark, which is not shown]"),
        ("utf-16le", "\n[UTF-16LE text, shown as UTF-8]"),
        ("utf-16be", "\n[UTF-16BE text, shown as UTF-8]"),
        ("latin-1", "\n[Latin-1 text, shown as UTF-8]"),
    ] {
        let host = Host::new().on("fs.read", move |_| {
            let lines = json!({"first": 1, "count": 1, "total": 1});
            Ok(Reply::new(json!({"path": "/a", "size": 1, "encoding": encoding, "lines": lines})).with_body("x"))
        });
        assert_eq!(read_text(&host, json!({"file_path": "/a"})), format!("x{note}"));
    }
}
