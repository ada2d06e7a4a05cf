use serde_json::{Value, json};
use toolquay::ErrorCode;
use toolquay::testing::{Host, Reply};

use crate::glob::glob;
use crate::grep::grep;

#[test]
fn glob_shows_the_newest_first() {
    let host = Host::new().with_file("old.rs", "").with_file("src/new.rs", "").with_file("a.txt", "");
    let outcome = host.call::<glob>(json!({"pattern": "**/*.rs"}));
    assert_eq!(outcome.text(), "src/new.rs\nold.rs");
    let want = json!({"files": ["src/new.rs", "old.rs"], "total": 2, "truncated": false, "timed_out": false});
    assert_eq!(outcome.structured(), Some(want));
    assert_eq!(host.call::<glob>(json!({"pattern": "*.rs", "path": "src"})).text(), "src/new.rs");
}

#[test]
fn glob_says_when_there_are_more_or_none() {
    let host = (0..130).fold(Host::new(), |host, i| host.with_file(&format!("f{i}.txt"), ""));
    let text = host.call::<glob>(json!({"pattern": "*"})).text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (101, "f129.txt"));
    assert_eq!(lines[100], "[showing the newest 100 of 130 files; narrow the pattern or the path to see others]");
    assert_eq!(host.call::<glob>(json!({"pattern": "*.rs"})).text(), "No files match *.rs in /project.");
    let outcome = host.call::<glob>(json!({"pattern": "*", "path": "none"}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotFound));
}

#[test]
fn glob_counts_what_was_left_out() {
    let host = Host::new().on("search.names", |_| {
        let ok = json!({"path": "/p", "count": 0, "total": 0, "truncated": true, "denied": 1, "unreadable": 2});
        Ok(Reply::new(ok).with_body("[]"))
    });
    assert_eq!(
        host.call::<glob>(json!({"pattern": "*"})).text(),
        "No files match * in /p.\n\
         [showing the newest 0 files of many; narrow the pattern or the path to see others]\n\
         [left out by permission rules: 1 file]\n[could not be read: 2 files]"
    );
}

/// The arguments a call of Grep becomes.
fn arguments(input: Value) -> Value {
    let ok = json!({"path": "/p", "files": 1, "matches": 1, "entries": 1, "searched": 1});
    let host = Host::new().on("search.contents", move |_| Ok(Reply::new(ok.clone()).with_body("a")));
    let outcome = host.call::<grep>(input);
    assert!(!outcome.is_error(), "{}", outcome.text());
    outcome.requests()[0].args.clone()
}

#[test]
fn grep_maps_every_field() {
    let files = json!({"pattern": "x", "mode": "files_with_matches", "limit": 250, "max_columns": 500});
    assert_eq!(arguments(json!({"pattern": "x"})), files);
    // Context and line numbers belong to lines.
    assert_eq!(arguments(json!({"pattern": "x", "-B": 1, "-A": 2, "-C": 3, "-n": true})), files);
    let all = json!({
        "pattern": "x", "path": "src", "glob": "*.{js,ts} !a.js,*.mjs", "output_mode": "content", "-B": 1, "-A": 2,
        "-n": false, "-i": true, "type": "js", "head_limit": 0, "offset": 7, "multiline": true,
    });
    let want = json!({
        "pattern": "x", "path": "src", "globs": ["*.{js,ts}", "!a.js", "*.mjs"], "type": "js", "mode": "content",
        "before": 1, "after": 2, "case_insensitive": true, "multiline": true, "offset": 7, "max_columns": 500,
        "shown": true,
    });
    assert_eq!(arguments(all), want);
    for (context, before, after) in [
        (json!({"-C": 2}), 2, 2),
        (json!({"context": 3}), 3, 3),
        (json!({"context": 3, "-C": 2}), 3, 3),
        (json!({"-C": 2, "-A": 5}), 2, 5),
    ] {
        let mut input = json!({"pattern": "x", "output_mode": "content"});
        input.as_object_mut().expect("an object").extend(context.as_object().expect("an object").clone());
        let got = arguments(input);
        assert_eq!((&got["before"], &got["after"]), (&json!(before), &json!(after)), "{context}");
        assert_eq!(got["line_numbers"], json!(true));
    }
    assert_eq!(arguments(json!({"pattern": "x", "output_mode": "count"}))["mode"], json!("count"));
}

#[test]
fn grep_passes_what_was_found() {
    let host = Host::new().with_file("a.txt", "one\ntwo\n").with_file("b.txt", "two\ntwo\n");
    let outcome = host.call::<grep>(json!({"pattern": "two", "output_mode": "content"}));
    assert_eq!(outcome.text(), "a.txt:2:two\nb.txt:1:two\nb.txt:2:two\n");
    assert_eq!(outcome.bytes_read(), 0);
    let want =
        json!({"mode": "content", "files": 2, "matches": 3, "entries": 3, "truncated": false, "timed_out": false});
    assert_eq!(outcome.structured(), Some(want));
    assert_eq!(host.call::<grep>(json!({"pattern": "two"})).text(), "a.txt\nb.txt\n");
    let count = host.call::<grep>(json!({"pattern": "two", "output_mode": "count"}));
    assert_eq!(count.text(), "a.txt:1\nb.txt:2\n\n[3 matches in 2 files]");
}

#[test]
fn grep_says_how_to_go_on() {
    let host = Host::new().with_file("a.txt", "x\n".repeat(9));
    let input = json!({"pattern": "x", "output_mode": "content", "head_limit": 4, "offset": 3, "-n": false});
    let text = host.call::<grep>(&input).text();
    let note = "\n[stopped after 4 lines; there are more: continue with offset 7, or raise head_limit]";
    assert_eq!(text, "a.txt:x\n".repeat(4) + note);
    let text = host.call::<grep>(json!({"pattern": "x", "offset": 5})).text();
    assert_eq!(text, "No more results from offset 5 on.");
    assert_eq!(host.call::<grep>(json!({"pattern": "nothing"})).text(), "No matches (1 file searched).");
}

#[test]
fn a_search_that_ran_out_of_time_says_so() {
    let grep_of = |ok: Value, body: &'static str| {
        let host = Host::new().on("search.contents", move |_| Ok(Reply::new(ok.clone()).with_body(body)));
        host.call::<grep>(json!({"pattern": "x"}))
    };
    let stopped = "[stopped at the time limit of 20 s, with what was found by then; there may be more: ";
    let narrower = "name a smaller path, a glob or a type, or write a simpler pattern]";
    let some = json!({"path": "/p", "files": 1, "entries": 1, "searched": 4, "timed_out": true, "timeout_ms": 20_000});
    let outcome = grep_of(some, "a.txt\n");
    assert_eq!(outcome.text(), format!("a.txt\n\n{stopped}{narrower}"));
    assert!(!outcome.is_error() && outcome.structured::<Value>().expect("an answer")["timed_out"] == json!(true));
    let none = json!({"path": "/p", "searched": 1, "timed_out": true, "timeout_ms": 20_000});
    let said = format!("No matches so far (1 file searched, not all to the end).\n{stopped}{narrower}");
    assert_eq!(grep_of(none, "").text(), said);
    for (body, said) in [("[]", "No files match * in /p so far."), (r#"[{"path": "a"}]"#, "a")] {
        let host = Host::new().on("search.names", move |_| {
            let ok = json!({"path": "/p", "count": 1, "total": 0, "timed_out": true, "timeout_ms": 1_500});
            Ok(Reply::new(ok).with_body(body))
        });
        let want = "[stopped at the time limit of 1.5 s, with what was found by then; there may be more: \
                    name a smaller path, or begin the pattern with directories]";
        assert_eq!(host.call::<glob>(json!({"pattern": "*"})).text(), format!("{said}\n{want}"));
    }
}

#[test]
fn grep_counts_what_was_left_out() {
    let host = Host::new().on("search.contents", |_| {
        let ok =
            json!({"path": "/p", "files": 1, "matches": 1, "entries": 1, "searched": 4, "denied": 2, "unreadable": 1});
        Ok(Reply::new(ok).with_body("a.txt"))
    });
    assert_eq!(
        host.call::<grep>(json!({"pattern": "x"})).text(),
        "a.txt\n[left out by permission rules: 2 files]\n[could not be read: 1 file]"
    );
}

#[test]
fn grep_passes_failures_on() {
    let host = Host::new()
        .on("search.contents", |_| Err(toolquay::ToolError::invalid_input("the pattern ( is broken: unclosed group")));
    let outcome = host.call::<grep>(json!({"pattern": "("}));
    assert_eq!(outcome.text(), "the pattern ( is broken: unclosed group");
    let outcome = host.call::<grep>(json!({"pattern": "x", "output_mode": "lines"}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::InvalidInput));
}
