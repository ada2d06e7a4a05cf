use serde_json::{Value, json};
use toolquay::testing::{Host, Reply};
use toolquay::{ErrorCode, ToolError};

use crate::reading::read;

/// A host that knows one document.
fn host(ok: Value, body: &'static str) -> Host {
    Host::new().on("docs.read", move |_| Ok(Reply::new(ok.clone()).with_body(body)))
}

fn broken(message: &'static str) -> Host {
    Host::new().on("docs.read", move |_| Err(ToolError::invalid_input(message)))
}

#[test]
fn shows_blocks_and_then_notes() {
    let ok = json!({"path": "/project/a.pdf", "kind": "pdf", "pages": 12, "notes": ["Pages 3 to 12 are left out.", "One picture is broken."], "blocks": [
        {"type": "text", "size": 4},
        {"type": "image", "media_type": "image/png", "size": 3},
    ]});
    let outcome = host(ok, "textPNG").call::<read>(json!({"file_path": "a.PDF", "pages": "1-2", "limit": 3}));
    let blocks: Vec<_> = outcome.content().iter().map(|block| String::from_utf8_lossy(&block.data)).collect();
    let notes = "[Pages 3 to 12 are left out]\n[One picture is broken]\n\
                 [offset and limit choose lines of text; a PDF is shown without them]";
    assert_eq!(blocks, ["text", "PNG", notes]);
    let told = outcome.structured::<Value>().expect("an answer");
    assert_eq!(told, json!({"path": "/project/a.pdf", "kind": "pdf", "unchanged": false, "pages": 12}));
    assert_eq!((outcome.bytes_read(), outcome.requests().len()), (0, 1));
    assert_eq!(outcome.requests()[0].args, json!({"path": "a.PDF", "pages": "1-2", "shown": true}));
}

#[test]
fn says_when_there_is_nothing_new_or_nothing_at_all() {
    let shown = |ok| host(ok, "").call::<read>(json!({"file_path": "a.ipynb"})).text();
    let text = shown(json!({"path": "/a", "kind": "notebook", "unchanged": true}));
    assert!(text.starts_with("[a.ipynb has not changed"), "{text}");
    assert_eq!(shown(json!({"path": "/a", "kind": "notebook"})), "[there is nothing to show of a.ipynb]");
}

#[test]
fn pages_are_for_pdfs() {
    for path in ["a.txt", "a.png", "a.ipynb"] {
        let outcome =
            host(json!({"path": "/a", "kind": "pdf"}), "").call::<read>(json!({"file_path": path, "pages": "1"}));
        let want = format!(
            "pages is for PDF documents, and {path} is none: leave it out, or choose lines of text with offset and limit"
        );
        assert_eq!((outcome.error().map(|err| err.code), outcome.text()), (Some(ErrorCode::InvalidInput), want));
        assert!(outcome.requests().is_empty());
    }
    let outcome =
        host(json!({"path": "/a", "kind": "pdf"}), "").call::<read>(json!({"file_path": "paper", "pages": "1"}));
    assert_eq!(outcome.requests()[0].capability, "docs.read", "what has no extension may be a PDF");
}

#[test]
fn a_document_by_another_name_is_found() {
    let ok = json!({"path": "/project/logo", "kind": "image", "blocks": [{"type": "image", "media_type": "image/png", "size": 3}]});
    let outcome = host(ok, "PNG").with_file("logo", [0x89, 0, 1]).call::<read>(json!({"file_path": "logo"}));
    assert_eq!(outcome.content()[0].media_type, "image/png");
    let outcome = broken("the file is none").with_file("logo", [0x89, 0, 1]).call::<read>(json!({"file_path": "logo"}));
    assert_eq!(outcome.text(), "logo is a binary file, not text, so Read cannot show it");
}

#[test]
fn text_in_place_of_a_document_is_shown_as_text() {
    let pointer = "version 1\n";
    let outcome = broken("it is no image").with_file("a.png", pointer).call::<read>(json!({"file_path": "a.png"}));
    assert_eq!(outcome.text(), "     1\tversion 1\n[shown as text: a.png: it is no image]");
    let outcome = broken("it is no image").with_file("a.png", [0, 1]).call::<read>(json!({"file_path": "a.png"}));
    assert_eq!(
        (outcome.error().map(|err| err.code), outcome.text()),
        (Some(ErrorCode::InvalidInput), "a.png: it is no image".into())
    );
    let outcome =
        broken("no page 9").with_file("a.pdf", "%PDF").call::<read>(json!({"file_path": "a.pdf", "pages": "9"}));
    assert_eq!(outcome.text(), "a.pdf: no page 9", "the source of a PDF is not shown");
}

#[test]
fn failures_say_what_to_do() {
    for (code, want) in [
        (ErrorCode::NotFound, "logo.png does not exist (the working directory is /project); did you mean logo2.png?"),
        (ErrorCode::TooLarge, "logo.png: too many pixels"),
        (ErrorCode::Denied, "too many pixels"),
    ] {
        let host = Host::new()
            .with_file("logo2.png", "")
            .on("docs.read", move |_| Err(ToolError::new(code, "too many pixels")));
        let outcome = host.call::<read>(json!({"file_path": "logo.png"}));
        assert_eq!((outcome.error().map(|err| err.code), outcome.text()), (Some(code), want.into()));
    }
}
