use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{ErrorCode, ToolError};

use crate::reading::read;
use crate::writing::{edit, write};

fn shown(host: &Host, path: &str) {
    let outcome = host.call::<read>(json!({"file_path": path}));
    assert!(!outcome.is_error(), "{}", outcome.text());
}

fn edited(host: &Host, input: Value) -> Outcome {
    let outcome = host.call::<edit>(&input);
    if let Some(told) = outcome.structured::<Value>() {
        let diff = told["diff"].as_str().expect("a diff");
        assert!(!diff.is_empty() && outcome.text().ends_with(diff), "{input}: {diff}");
        assert_eq!(told["user_modified"], json!(false));
    }
    outcome
}

#[test]
fn makes_a_file() {
    let host = Host::new();
    let outcome = host.call::<write>(json!({"file_path": "new/a.txt", "content": "one\ntwo\n"}));
    let want = "Created new/a.txt: 2 lines added\n--- /project/new/a.txt\n+++ /project/new/a.txt\n@@ -1,0 +1,2 @@\n+one\n+two\n";
    assert_eq!(outcome.text(), want);
    assert_eq!(host.file("new/a.txt").as_deref(), Some(&b"one\ntwo\n"[..]));
    let told: Value = outcome.structured().expect("an answer");
    let hash = "1c67a4a95a48f6b1a56a54a4d1d0b0ec";
    assert_eq!(told["hash"].as_str().map(str::len), Some(hash.len() * 2));
    assert_eq!(
        (&told["path"], &told["created"], &told["size"]),
        (&json!("/project/new/a.txt"), &json!(true), &json!(8))
    );
}

#[test]
fn says_that_the_user_changed_it() {
    let host = Host::new().with_user_modified();
    let told: Value =
        host.call::<write>(json!({"file_path": "a.txt", "content": "one\n"})).structured().expect("an answer");
    assert_eq!(
        (&told["user_modified"], &told["diff"]),
        (&json!(true), &json!("--- /project/a.txt\n+++ /project/a.txt\n@@ -1,0 +1,1 @@\n+one\n"))
    );
}

#[test]
fn writes_over_what_was_shown() {
    let host = Host::new().with_file("a.txt", "one\ntwo\n");
    shown(&host, "a.txt");
    let outcome = host.call::<write>(json!({"file_path": "a.txt", "content": "one\n2\n3\n"}));
    assert!(outcome.text().starts_with("Wrote a.txt: 2 lines added, 1 removed\n--- "), "{}", outcome.text());
    let outcome = host.call::<write>(json!({"file_path": "a.txt", "content": "one\n"}));
    assert!(
        outcome.text().starts_with("Wrote a.txt: 2 lines removed\n"),
        "what was written is known: {}",
        outcome.text()
    );
}

#[test]
fn the_same_content_is_a_success() {
    let host = Host::new().with_file("a.txt", "one\n");
    shown(&host, "a.txt");
    let outcome = host.call::<write>(json!({"file_path": "a.txt", "content": "one\n"}));
    assert_eq!(outcome.text(), "a.txt has just this content already: nothing was written");
    let told: Value = outcome.structured().expect("an answer");
    assert_eq!((&told["unchanged"], &told["diff"], told.get("history")), (&json!(true), &json!(""), None));
    assert!(!outcome.is_error());
}

#[test]
fn a_notebook_is_written_as_one() {
    let cell = |cell: Value| json!({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).to_string();
    let code = json!({
        "cell_type": "code", "metadata": {}, "source": ["x = 1\n", "x"], "execution_count": null,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "1"}],
    });
    let with = |key: &str, value: Value| {
        let mut changed = code.clone();
        changed[key] = value;
        cell(changed)
    };
    let write_it = |content: &str| {
        let host = Host::new().with_file("a.ipynb", "{}");
        host.call::<read>(json!({"file_path": "a.ipynb"}));
        host.call::<write>(json!({"file_path": "sub/A.IPYNB", "content": content}))
    };
    for content in [
        cell(code.clone()),
        cell(json!({"cell_type": "markdown", "metadata": {}, "source": "# a", "id": "b"})),
        r#"{"nbformat": 4, "nbformat_minor": 0, "metadata": {}, "cells": []}"#.to_owned(),
        r#"{"nbformat": 3, "worksheets": []}"#.to_owned(),
    ] {
        let outcome = write_it(&content);
        assert!(!outcome.is_error(), "{content}: {}", outcome.text());
    }
    for (content, fault) in [
        (String::new(), "it is not JSON: "),
        ("print(1)".to_owned(), "it is not JSON: "),
        ("[]".to_owned(), "it has no nbformat"),
        (r#"{"nbformat": 4}"#.to_owned(), "it has no list of cells"),
        (r#"{"nbformat": 5}"#.to_owned(), "it is of format 5"),
        (r#"{"nbformat": 3}"#.to_owned(), "it is of format 3"),
        (r#"{"nbformat": 4, "cells": []}"#.to_owned(), "it has no metadata"),
        (r#"{"nbformat": 4, "cells": [], "metadata": {}}"#.to_owned(), "it has no nbformat_minor"),
        (cell(json!([])), "its cell 0 has no cell_type"),
        (with("cell_type", json!("python")), "its cell 0 has no cell_type"),
        (with("source", json!([1])), "its cell 0 has no source"),
        (with("metadata", json!([])), "its cell 0 has no metadata"),
        (with("id", json!(1)), "its cell 0 has an id"),
        (with("outputs", json!([{}])), "its cell 0 is code and has no list of outputs"),
        (with("execution_count", json!("1")), "its cell 0 is code and has no execution_count"),
        (with("cell_type", json!("raw")), "its cell 0 has outputs"),
    ] {
        let outcome = write_it(&content);
        assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::InvalidInput), "{content}");
        let text = outcome.text();
        assert!(text.contains(fault) && text.contains("NotebookEdit"), "{content}: {text}");
        assert!(outcome.requests().is_empty(), "{content} was written");
    }
}

#[test]
fn edits_what_was_shown() {
    let host = Host::new().with_file("a.txt", "one two\ntwo\n");
    shown(&host, "a.txt");
    let outcome = edited(&host, json!({"file_path": "a.txt", "old_string": "one", "new_string": "1"}));
    assert!(outcome.text().starts_with("Edited a.txt: 1 line added, 1 removed\n---"), "{}", outcome.text());
    let all = json!({"file_path": "a.txt", "old_string": "two", "new_string": "2", "replace_all": true});
    let outcome = edited(&host, all);
    assert!(
        outcome.text().starts_with("Edited a.txt: 2 replacements, 2 lines added, 2 removed\n"),
        "{}",
        outcome.text()
    );
    assert_eq!(outcome.structured::<Value>().expect("an answer")["replaced"], json!(2));
    assert_eq!(host.file("a.txt").as_deref(), Some(&b"1 2\n2\n"[..]));
}

#[test]
fn failures_have_their_numbers() {
    let host = Host::new().with_file("a.txt", "one one").with_file("unread.txt", "one").with_file("other.txt", "one");
    shown(&host, "a.txt");
    shown(&host, "other.txt");
    host.set_file("other.txt", "changed");
    for (path, old, new, code, number) in [
        ("missing.txt", "one", "1", ErrorCode::NotFound, json!(1)),
        ("unread.txt", "one", "1", ErrorCode::NotRead, json!(2)),
        ("other.txt", "one", "1", ErrorCode::Changed, json!(3)),
        ("a.txt", "one", "one", ErrorCode::SameText, json!(4)),
        ("a.txt", "two", "2", ErrorCode::NoMatch, json!(5)),
        ("a.txt", "one", "1", ErrorCode::NotUnique, json!(6)),
    ] {
        let outcome = edited(&host, json!({"file_path": path, "old_string": old, "new_string": new}));
        assert_eq!(outcome.error().map(|err| err.code), Some(code), "{}", outcome.text());
        assert_eq!(outcome.meta(), Some(&json!({"code": number})), "{}", outcome.text());
        assert!(outcome.text().contains(path), "{}", outcome.text());
    }
    let outcome = edited(&host, json!({"file_path": "missing.txt", "old_string": "one", "new_string": "1"}));
    assert_eq!(outcome.text(), "missing.txt does not exist (the working directory is /project); Write makes new files");
    let outcome = host.call::<write>(json!({"file_path": "unread.txt", "content": "x"}));
    assert_eq!(outcome.meta(), Some(&json!({"code": 2})));
}

#[test]
fn refusals_are_the_hosts() {
    let denied = "writing /project/.env is denied by the rule Edit(.env)";
    let host = Host::new().on("fs.write", move |_| Err(ToolError::new(ErrorCode::Denied, denied)));
    let outcome = host.call::<write>(json!({"file_path": ".env", "content": "x"}));
    assert_eq!((outcome.text().as_str(), outcome.meta()), (denied, Some(&json!({"code": 1}))));
    let host = Host::new().on("fs.write", |_| Err(ToolError::new(ErrorCode::Io, "no space left")));
    let outcome = host.call::<write>(json!({"file_path": "a", "content": "x"}));
    assert_eq!((outcome.text().as_str(), outcome.meta()), ("no space left", None));
}

#[test]
fn notebooks_are_not_edited_as_text() {
    for path in ["a.ipynb", "dir.d/A.IPYNB"] {
        let outcome = Host::new().call::<edit>(json!({"file_path": path, "old_string": "a", "new_string": "b"}));
        let want = format!("{path} is a notebook: change its cells with NotebookEdit, or all of it with Write");
        assert_eq!((outcome.text(), outcome.requests().len()), (want, 0));
    }
}

#[test]
fn says_what_is_not_as_one_would_think() {
    let head = |ok: Value| {
        let host = Host::new().on("fs.replace", move |_| Ok(Reply::new(ok.clone()).with_body("diff")));
        edited(&host, json!({"file_path": "a", "old_string": "x", "new_string": "y"})).text()
    };
    for (ok, want) in [
        (json!({"encoding": "utf-8", "line_ending": "lf", "added": 1, "removed": 1}), ""),
        (json!({"encoding": "utf-16le", "added": 1, "removed": 1}), "\n[it stays UTF-16LE]"),
        (json!({"encoding": "utf-8-bom", "added": 1, "removed": 1}), "\n[it stays UTF-8 with a byte order mark]"),
        (json!({"line_ending": "crlf", "added": 1, "removed": 1}), "\n[its lines end with CRLF]"),
        (
            json!({"line_ending": "mixed", "added": 1, "removed": 1}),
            "\n[some of its lines end with LF and some with CRLF]",
        ),
        (
            json!({"other_names": 1, "added": 1, "removed": 1}),
            "\n[1 other hard link of the file keeps the former content]",
        ),
        (
            json!({"other_names": 2, "added": 1, "removed": 1}),
            "\n[2 other hard links of the file keep the former content]",
        ),
    ] {
        assert_eq!(head(ok), format!("Edited a: 1 line added, 1 removed{want}\ndiff"));
    }
    assert_eq!(head(json!({})), "Edited a: no line differs\ndiff");
}
