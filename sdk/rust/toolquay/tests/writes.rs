//! Tools that write files and show documents, run by the testing host.

use serde::Deserialize;
use serde_json::{Value, json};
use toolquay::capability::fs::{Content, Expect, Lines, ReplaceArgs, WriteArgs, WriteOk};
use toolquay::testing::{Host, Reply};
use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};

#[derive(Deserialize, Schema)]
struct Input {
    path: String,
    #[serde(default)]
    offset: u64,
    #[serde(default)]
    limit: u64,
    old: Option<String>,
    #[serde(default)]
    new: String,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    expect: String,
}

/// Shows lines of a file.
#[tool(name = "Show")]
fn show(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
    let lines = Lines { offset: input.offset, limit: input.limit, ..Lines::default() };
    let answer = cx.fs().show_lines(&input.path, lines)?;
    Ok(if answer.ok.unchanged { Output::text("[unchanged]") } else { Output::text(answer.body) })
}

/// Writes a file, or replaces a text in it.
#[tool(name = "Put")]
fn put(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
    let (path, new) = (input.path.as_str(), input.new.as_str());
    let expect = match input.expect.as_str() {
        "" => Expect::Seen,
        "absent" => Expect::Absent,
        "hash" => Expect::Hash(&cx.fs().hash(path)?),
        hash => Expect::Hash(hash),
    };
    let done = match &input.old {
        Some(old) => cx.call(&ReplaceArgs { path, expect, all: input.all, old, new })?,
        None => cx.call(&WriteArgs { path, expect, content: Content::Text(new) })?,
    };
    Ok(Output::text(done.body).structured(&done.ok))
}

fn code(host: &Host, input: Value) -> Option<ErrorCode> {
    let before = input["path"].as_str().and_then(|path| host.file(path));
    let outcome = host.call::<put>(&input);
    let code = outcome.error().map(|err| err.code);
    let unchanged = outcome.structured().is_some_and(|ok: Value| ok["unchanged"] == true);
    let after = input["path"].as_str().and_then(|path| host.file(path));
    assert_eq!(before == after, code.is_some() || unchanged, "{input}: {}", outcome.text());
    code
}

#[test]
fn what_was_not_seen_is_not_written_over() {
    let host = Host::new().without_manifest().with_file("a.txt", "one\ntwo\nthree\n");
    let write = json!({"path": "a.txt", "new": "x\n"});
    assert_eq!(code(&host, write.clone()), Some(ErrorCode::NotRead));
    host.call::<show>(json!({"path": "a.txt", "limit": 2}));
    assert_eq!(code(&host, write.clone()), Some(ErrorCode::NotRead), "half of it was seen");
    assert_eq!(code(&host, json!({"path": "a.txt", "old": "three", "new": "3"})), Some(ErrorCode::NotRead));
    assert_eq!(code(&host, json!({"path": "a.txt", "old": "one", "new": "1\n1"})), None);
    assert_eq!(code(&host, json!({"path": "a.txt", "old": "two", "new": "2"})), None, "it was seen further up");
    host.call::<show>(json!({"path": "a.txt"}));
    host.set_file("a.txt", "others\n");
    assert_eq!(code(&host, write.clone()), Some(ErrorCode::Changed));
    host.call::<show>(json!({"path": "a.txt"}));
    assert_eq!(code(&host, write.clone()), None);
    assert_eq!(code(&host, write), None, "it has this content already");
    assert_eq!(host.file("a.txt").as_deref(), Some(&b"x\n"[..]));
    assert_eq!(code(&host, json!({"path": "new.txt", "new": "a\r\nb\r\n"})), None);
    assert_eq!(host.file("new.txt").as_deref(), Some(&b"a\nb\n"[..]), "new files have LF");
}

#[test]
fn replacing_has_a_code_for_each_failure() {
    let host = Host::new().without_manifest().with_file("a.txt", "one one two");
    host.call::<show>(json!({"path": "a.txt"}));
    for (path, old, new, want) in [
        ("b.txt", "one", "x", ErrorCode::NotFound),
        ("a.txt", "one", "one", ErrorCode::SameText),
        ("a.txt", "three", "x", ErrorCode::NoMatch),
        ("a.txt", "one", "x", ErrorCode::NotUnique),
    ] {
        assert_eq!(code(&host, json!({"path": path, "old": old, "new": new})), Some(want));
    }
    let outcome = host.call::<put>(json!({"path": "a.txt", "old": "one", "new": "1", "all": true}));
    assert_eq!(outcome.text(), "--- /project/a.txt\n+++ /project/a.txt\n@@ -1,1 +1,1 @@\n-one one two\n+1 1 two\n");
    let ok: WriteOk = outcome.structured().expect("an answer");
    assert_eq!((ok.replaced, ok.size, ok.created, outcome.bytes_read()), (2, 7, false, 0));
    assert_eq!(code(&host, json!({"path": "new/c.txt", "old": "", "new": "made"})), None);
    assert_eq!(host.file("new/c.txt").as_deref(), Some(&b"made"[..]));
}

#[test]
fn writers_say_what_they_expect() {
    let host = Host::new().without_manifest().with_file("a.txt", "one");
    assert_eq!(code(&host, json!({"path": "b.txt", "new": "x", "expect": "absent"})), None);
    host.call::<show>(json!({"path": "a.txt"}));
    assert_eq!(code(&host, json!({"path": "a.txt", "new": "x", "expect": "absent"})), Some(ErrorCode::Changed));
    assert_eq!(code(&host, json!({"path": "a.txt", "new": "x", "expect": "00"})), Some(ErrorCode::Changed));
    assert_eq!(code(&host, json!({"path": "c.txt", "new": "x", "expect": "00"})), Some(ErrorCode::Changed));
    assert_eq!(code(&host, json!({"path": "a.txt", "new": "x", "expect": "hash"})), None);
}

#[test]
fn what_was_shown_is_not_shown_again_at_once() {
    let host = Host::new().without_manifest().with_file("a.txt", "one\ntwo");
    let told = |input: Value| host.call::<show>(input).text();
    assert_eq!(told(json!({"path": "a.txt"})), "one\ntwo");
    assert_eq!(told(json!({"path": "a.txt", "offset": 2})), "two");
    assert_eq!(told(json!({"path": "a.txt"})), "[unchanged]");
    assert_eq!(told(json!({"path": "a.txt"})), "one\ntwo", "whoever asks again has lost it");
    host.set_file("a.txt", "three");
    assert_eq!(told(json!({"path": "a.txt"})), "three");
}

/// Shows a document, and with it what was left out.
#[tool(name = "Doc")]
fn doc(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
    let document = cx.docs().read(&input.path, "1")?;
    let notes = document.ok.notes.join(" ");
    Ok(Output::new().and_doc(document).and_text(notes))
}

#[test]
fn documents_pass_the_guest_by_in_pieces() {
    for (body, last) in [("onePNG!restPDF", "PDF"), ("onePNG!rest", "")] {
        let host = Host::new().without_manifest().on("docs.read", move |args| {
            assert_eq!(args, &json!({"path": "a.pdf", "pages": "1"}));
            Ok(Reply::new(
                json!({"path": "/a.pdf", "kind": "pdf", "pages": 3, "notes": ["Two pages are left out."], "blocks": [
                    {"type": "text", "size": 3},
                    {"type": "text", "size": 0},
                    {"type": "image", "media_type": "image/png", "size": 4},
                    {"type": "text", "size": 4},
                    {"type": "document", "media_type": "application/pdf", "title": "a", "size": 9},
                ]}),
            )
            .with_body(body))
        });
        let outcome = host.call::<doc>(json!({"path": "a.pdf"}));
        let blocks: Vec<_> = outcome
            .content()
            .iter()
            .map(|block| format!("{}/{}: {}", block.kind, block.media_type, String::from_utf8_lossy(&block.data)))
            .collect();
        let document = format!("document/application/pdf: {last}");
        let want = [
            "text/: one",
            "text/: ",
            "image/image/png: PNG!",
            "text/: rest",
            &document,
            "text/: Two pages are left out.",
        ];
        assert_eq!(blocks, want);
        assert_eq!(outcome.bytes_read(), 0);
    }
}

/// Fails, and says more than that.
#[tool(name = "Fail")]
fn fail(input: Input) -> Output {
    let failed = Output::new().failed(ToolError::new(ErrorCode::NoMatch, "it is not there"));
    failed.meta(json!({"path": input.path}))
}

#[test]
fn failures_can_have_more_to_say() {
    let outcome = Host::new().without_manifest().call::<fail>(json!({"path": "a"}));
    assert_eq!(
        (outcome.error().map(|err| err.code), outcome.text()),
        (Some(ErrorCode::NoMatch), "it is not there".into())
    );
    assert_eq!(outcome.meta(), Some(&json!({"path": "a"})));
}
