use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};

use crate::notebook_edit;

/// As Jupyter writes it.
const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "title",
   "metadata": {},
   "source": [
    "# Größe\n",
    "of things"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "plot",
   "metadata": {"scrolled": true},
   "outputs": [
    {
     "data": {"text/plain": ["1e400"]},
     "execution_count": 7,
     "metadata": {},
     "output_type": "execute_result"
    }
   ],
   "source": "x = 1"
  }
 ],
 "metadata": {
  "weight": 1.10
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

#[derive(serde::Deserialize, Schema)]
struct Path {
    path: String,
}

/// Shows a file to the model.
#[tool(name = "Show")]
fn show(input: Path, cx: &mut Context) -> Result<Output, ToolError> {
    Ok(Output::text(cx.fs().show_lines(&input.path, toolquay::capability::fs::Lines::default())?.body))
}

/// The plugin's own manifest, with the tool that only these tests have.
const MANIFEST: &str = concat!(include_str!("../plugin.toml"), "\n[[tools]]\nname = \"Show\"\n");

fn host(text: &str) -> Host {
    let host = Host::new().as_builtin().with_manifest(MANIFEST).with_file("a.ipynb", text);
    host.call::<show>(json!({"path": "a.ipynb"}));
    host
}

fn edited(text: &str, input: Value) -> (Outcome, String) {
    let host = host(text);
    let mut input = input;
    input["notebook_path"] = json!("a.ipynb");
    let outcome = host.call::<notebook_edit>(&input);
    (outcome, String::from_utf8(host.file("a.ipynb").expect("the notebook")).expect("text"))
}

fn change(text: &str, input: Value) -> String {
    let (outcome, new) = edited(text, input);
    assert!(!outcome.is_error(), "{}", outcome.text());
    serde_json::from_str::<Value>(&new).unwrap_or_else(|err| panic!("{err}: {new}"));
    new
}

#[test]
fn replaces_a_source_and_nothing_else() {
    let new = change(NOTEBOOK, json!({"cell_id": "plot", "new_source": "x = \"ä\"\nx\n"}));
    let outputs = NOTEBOOK.find("[\n    {\n     \"data\"").expect("outputs");
    let source = NOTEBOOK.find(",\n   \"source\": \"x = 1\"").expect("a source");
    let want = format!(
        "{}[],\n   \"source\": [\n    \"x = \\\"ä\\\"\\n\",\n    \"x\\n\"\n   ]{}",
        NOTEBOOK[..outputs].replace("\"execution_count\": 7", "\"execution_count\": null"),
        &NOTEBOOK[source + ",\n   \"source\": \"x = 1\"".len()..],
    );
    assert_eq!(new, want);
    let (outcome, _) = edited(NOTEBOOK, json!({"cell_id": "cell-0", "new_source": "", "edit_mode": "replace"}));
    assert!(
        outcome.text().starts_with("Replaced cell title of a.ipynb, which has 2 cells now\n--- "),
        "{}",
        outcome.text()
    );
}

#[test]
fn changes_the_kind_of_a_cell() {
    let new = change(NOTEBOOK, json!({"cell_id": "plot", "new_source": "text", "cell_type": "markdown"}));
    let cell = "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"plot\",\n   \"metadata\": {\"scrolled\": true},\n   \"source\": [\n    \"text\"\n   ]\n  }\n ],\n";
    assert!(new.contains(cell), "{new}");
    let new = change(NOTEBOOK, json!({"cell_id": "title", "new_source": "1", "cell_type": "code"}));
    let cell = "\"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"title\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\"";
    assert!(new.contains(cell), "{new}");
}

#[test]
fn inserts_and_deletes() {
    for (behind, at) in [(None, 0), (Some("title"), 1), (Some("cell-1"), 2)] {
        let mut input = json!({"new_source": "new", "cell_type": "code", "edit_mode": "insert"});
        if let Some(id) = behind {
            input["cell_id"] = json!(id);
        }
        let (outcome, new) = edited(NOTEBOOK, input);
        let told: Value = outcome.structured().expect("an answer");
        let read: Value = serde_json::from_str(&new.replace("1e400", "")).expect("JSON");
        let cell = &read["cells"][at];
        assert_eq!(cell["source"], json!(["new"]), "{new}");
        let id = cell["id"].as_str().expect("an id");
        assert!(id.len() == 8 && id.bytes().all(|c| c.is_ascii_hexdigit()), "{id}");
        assert_eq!((&told["cell_id"], &told["cells"]), (&json!(id), &json!(3)));
        let back = change(&new, json!({"cell_id": id, "new_source": "", "edit_mode": "delete"}));
        assert_eq!(back, NOTEBOOK, "what was inserted at {at} is gone without a trace");
    }
    let one = change(NOTEBOOK, json!({"cell_id": "plot", "new_source": "", "edit_mode": "delete"}));
    let none = change(&one, json!({"cell_id": "title", "new_source": "", "edit_mode": "delete"}));
    assert!(none.starts_with("{\n \"cells\": [],\n"), "{none}");
    let first = change(&none, json!({"new_source": "a", "cell_type": "raw", "edit_mode": "insert"}));
    assert!(first.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"raw\",\n"), "{first}");
    assert!(first.contains("\n  }\n ],\n \"metadata\""), "{first}");
}

#[test]
fn keeps_the_layout_of_other_writers() {
    let compact =
        r#"{"cells":[{"cell_type":"raw","metadata":{},"source":"a"}],"metadata":{},"nbformat":4,"nbformat_minor":2}"#;
    let new = change(compact, json!({"cell_id": "cell-0", "new_source": "b\nc"}));
    assert_eq!(new, compact.replace(r#""a""#, r#"["b\n","c"]"#));
    let new =
        change(compact, json!({"cell_id": "cell-0", "new_source": "1", "cell_type": "code", "edit_mode": "insert"}));
    assert!(!new.contains("\"id\""), "cells have no ids before 4.5: {new}");
    let crlf = NOTEBOOK.replace('\n', "\r\n").replace(' ', "  ");
    let new = change(&crlf, json!({"cell_id": "title", "new_source": "a\nb"}));
    assert!(new.contains("\"source\":  [\r\n        \"a\\n\",\r\n        \"b\"\r\n      ]"), "{new}");
    let marked = format!("\u{feff}{compact}");
    assert!(change_marked(&marked).starts_with('\u{feff}'));
}

/// A byte order mark is not for readers of JSON, and stays.
fn change_marked(text: &str) -> String {
    let (outcome, new) = edited(text, json!({"cell_id": "cell-0", "new_source": "b"}));
    assert!(!outcome.is_error(), "{}", outcome.text());
    new
}

#[test]
fn failures_say_what_to_do() {
    let same = NOTEBOOK.replace("\"plot\"", "\"title\"");
    for (text, input, code, want) in [
        (
            NOTEBOOK,
            json!({"cell_id": "x", "new_source": ""}),
            ErrorCode::NoMatch,
            "there is no cell \"x\"; there are title, plot",
        ),
        (NOTEBOOK, json!({"cell_id": "cell-2", "new_source": ""}), ErrorCode::NoMatch, "there is no cell"),
        (NOTEBOOK, json!({"new_source": ""}), ErrorCode::InvalidInput, "cell_id is needed"),
        (NOTEBOOK, json!({"new_source": "", "edit_mode": "insert"}), ErrorCode::InvalidInput, "insert needs cell_type"),
        (NOTEBOOK, json!({"cell_id": "plot", "new_source": "x = 1"}), ErrorCode::SameText, "has this source already"),
        (&same, json!({"cell_id": "title", "new_source": ""}), ErrorCode::NotUnique, "such as cell-0"),
        ("{}", json!({"cell_id": "a", "new_source": ""}), ErrorCode::InvalidInput, "missing field `nbformat`"),
        ("{\"nbformat\": 3}", json!({"cell_id": "a", "new_source": ""}), ErrorCode::InvalidInput, "format 3"),
        ("{\"nbformat\": 4}", json!({"cell_id": "a", "new_source": ""}), ErrorCode::InvalidInput, "no list of cells"),
        (
            "{\"nbformat\": 4, \"cells\": [1]}",
            json!({"cell_id": "a", "new_source": ""}),
            ErrorCode::InvalidInput,
            "no notebook",
        ),
    ] {
        let (outcome, left) = edited(text, input);
        assert_eq!(outcome.error().map(|err| err.code), Some(code), "{}", outcome.text());
        assert!(outcome.text().contains(want), "{}", outcome.text());
        assert_eq!(left, text);
    }
    let outcome = Host::new().call::<notebook_edit>(json!({"notebook_path": "a.py", "cell_id": "a", "new_source": ""}));
    assert_eq!(outcome.text(), "a.py is not named as a notebook (.ipynb); change text files with Edit");
    let outcome =
        Host::new().call::<notebook_edit>(json!({"notebook_path": "a.ipynb", "cell_id": "a", "new_source": ""}));
    assert_eq!(
        (outcome.error().map(|err| err.code), outcome.meta()),
        (Some(ErrorCode::NotFound), Some(&json!({"code": 1})))
    );
}

#[test]
fn the_lowest_number_wins() {
    let unread = Host::new().as_builtin().with_file("a.ipynb", NOTEBOOK);
    let changed = host(NOTEBOOK);
    changed.set_file("a.ipynb", NOTEBOOK.replace("x = 1", "x = 2"));
    for cell in ["plot", "none"] {
        let input = json!({"notebook_path": "a.ipynb", "cell_id": cell, "new_source": "y"});
        let outcome = unread.call::<notebook_edit>(&input);
        assert_eq!(
            (outcome.error().map(|err| err.code), outcome.meta()),
            (Some(ErrorCode::NotRead), Some(&json!({"code": 2})))
        );
    }
    let input = json!({"notebook_path": "a.ipynb", "cell_id": "plot", "new_source": "y"});
    let raced = host(NOTEBOOK).on("fs.stat", |_| {
        Ok(Reply::new(json!({"path": "/project/a.ipynb", "kind": "file", "size": 1, "mod_time_ms": 1, "hash": "00"})))
    });
    let outcome = raced.call::<notebook_edit>(&input);
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::Changed), "it changed between two calls");
}

#[test]
fn keeps_attachments_where_the_format_has_them() {
    let text = r#"{"cells":[{"attachments":{"a.png":{"image/png":"aGk="}},"cell_type":"markdown","id":"m","metadata":{},"source":["![](attachment:a.png)"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;
    let raw = change(text, json!({"cell_id": "m", "new_source": "r", "cell_type": "raw"}));
    assert!(raw.contains(r#"[{"attachments": {"a.png":{"image/png":"aGk="}},"cell_type": "raw","id": "m""#), "{raw}");
    let back = change(&raw, json!({"cell_id": "m", "new_source": "m", "cell_type": "markdown"}));
    assert!(back.contains(r#"{"attachments": {"a.png":{"image/png":"aGk="}},"cell_type": "markdown""#), "{back}");
    let code = change(text, json!({"cell_id": "m", "new_source": "1", "cell_type": "code"}));
    assert!(!code.contains("attachments"), "code cells have none: {code}");
}
