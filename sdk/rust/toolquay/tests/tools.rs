//! Tools, run by the testing host.

use std::cell::RefCell;
use std::io::Read;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolquay::capability::Custom;
use toolquay::capability::fs::{FileKind, Lines, ReadArgs, StatArgs};
use toolquay::capability::search::{ContentsArgs, Mode, NamesArgs};
use toolquay::testing::{Host, Reply};
use toolquay::{
    AssessContext, Assessment, Context, ErrorCode, Fact, Level, Output, Progress, Schema, Text, ToolError, Verdict,
    tool, wait_any,
};

#[derive(Deserialize, Schema)]
struct PathInput {
    path: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Schema)]
struct Answered {
    bytes: u64,
}

/// Passes a file into the result.
#[tool(name = "Pass", output = Answered)]
fn pass(input: PathInput, cx: &mut Context) -> Result<Output, ToolError> {
    let file = cx.fs().read(&input.path)?;
    let text = Text::from("<").with(file.body).with(String::from(">"));
    Ok(Output::text(text).structured(&Answered { bytes: file.ok.size }))
}

#[test]
fn bodies_pass_the_guest_by() {
    let outcome = Host::new().without_manifest().with_file("a.txt", "content").call::<pass>(json!({"path": "a.txt"}));
    assert_eq!(outcome.text(), "<content>");
    assert_eq!(outcome.structured(), Some(Answered { bytes: 7 }));
    assert_eq!(outcome.bytes_read(), 0);
    assert!(!outcome.is_error());
    assert_eq!(outcome.requests()[0].args, json!({"path": "a.txt"}));
}

#[tool(
    name = "Worded",
    output = Answered,
    lines(use = "{path}", result = "{result.bytes|byte} \"read\"",),
    classifier_text = "read {path}"
)]
fn worded(input: PathInput) -> Output {
    Output::text(input.path)
}

#[test]
fn lines_are_in_the_module() {
    let written = |piece: toolquay::schema::Piece| -> Value {
        let mut text = vec![0; piece.render(&mut [])];
        assert_eq!(piece.render(&mut text), text.len());
        serde_json::from_slice(&text).expect("JSON")
    };
    let worded = written(toolquay::tool_piece::<worded>());
    assert_eq!(worded["lines"], json!({"use": "{path}", "result": "{result.bytes|byte} \"read\""}));
    assert_eq!(worded["classifier_text"], json!("read {path}"));
    let half = written(toolquay::tool_piece::<half>());
    assert_eq!((half.get("lines"), half.get("classifier_text")), (None, None));
}

#[tool(name = "Half")]
fn half(input: PathInput, cx: &mut Context) -> Result<Output, ToolError> {
    let mut body = cx.fs().read(&input.path)?.body;
    let mut first = [0; 3];
    body.read_exact(&mut first)?;
    Ok(Output::text(Text::from(body).with("|").with(String::from_utf8_lossy(&first).into_owned())))
}

#[test]
fn the_unread_rest_of_a_body_is_passed_on() {
    let host = Host::new().without_manifest().with_file("a.txt", "abcdef");
    let outcome = host.call::<half>(json!({"path": "a.txt"}));
    assert_eq!(outcome.text(), "def|abc");
    assert_eq!(outcome.bytes_read(), 3);
    let outcome = host.with_file("short.txt", "ab").call::<half>(json!({"path": "short.txt"}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::Io));
}

#[test]
fn bodies_of_unknown_length_are_read_to_their_end() {
    for body in ["", "abcdef"] {
        let host = Host::new().without_manifest().on("fs.read", move |_| Ok(Reply::new(json!({})).with_body(body)));
        let outcome = host.call::<whole>(json!({"path": "a"}));
        assert_eq!((outcome.text().as_str(), outcome.bytes_read()), (body, body.len()));
    }
    let host = Host::new().without_manifest().on("fs.read", |_| Ok(Reply::new(json!({}))));
    assert_eq!(host.call::<whole>(json!({"path": "a"})).text(), "", "an answer without a body");
    let host = Host::new().without_manifest().on("fs.read", |_| Ok(Reply::new(json!({})).with_body([0xff])));
    let outcome = host.call::<whole>(json!({"path": "a"}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotText));
}

#[tool(name = "Twice")]
fn twice(input: PathInput, cx: &mut Context) -> Result<Output, ToolError> {
    let mut body = cx.fs().read(&input.path)?.body;
    let mut text = String::new();
    body.read_to_string(&mut text)?;
    Ok(Output::text(Text::from(text).with("|").with(body)))
}

#[test]
fn a_body_read_to_its_end_adds_nothing() {
    let host = Host::new().without_manifest().with_file("a", "all");
    assert_eq!(host.call::<twice>(json!({"path": "a"})).text(), "all|");
    let host = Host::new().without_manifest().on("fs.read", |_| Ok(Reply::new(json!({})).with_body("all")));
    assert_eq!(host.call::<twice>(json!({"path": "a"})).text(), "all|");
}

#[tool(name = "Whole")]
fn whole(input: PathInput, cx: &mut Context) -> Result<String, ToolError> {
    cx.fs().read_to_string(&input.path)
}

#[tool(name = "Sizes")]
fn sizes(input: Vec2, cx: &mut Context) -> Result<String, ToolError> {
    let mut pending: Vec<_> =
        input.paths.iter().map(|path| cx.submit(&StatArgs { path, ..StatArgs::default() })).collect();
    // One that nobody waits for is given up.
    drop(cx.submit(&ReadArgs { path: "a", ..ReadArgs::default() }));
    let mut sum = 0;
    while let Some(index) = wait_any(&pending) {
        sum += pending.swap_remove(index).wait()?.ok.size;
    }
    Ok(format!("{sum} bytes"))
}

#[derive(Deserialize, Schema)]
struct Vec2 {
    paths: Vec<String>,
}

#[test]
fn calls_run_side_by_side() {
    let host = Host::new().without_manifest().with_file("a", "1").with_file("b", "22").with_file("c", "333");
    assert_eq!(host.call::<sizes>(json!({"paths": ["a", "b", "c"]})).text(), "6 bytes");
    let outcome = host.call::<sizes>(json!({"paths": ["a", "x", "c"]}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotFound));
    assert_eq!(outcome.requests().len(), 4);
}

#[tool(name = "Printing")]
fn printing(input: PathInput, _cx: &mut Context) -> Result<Output, ToolError> {
    toolquay::println!();
    toolquay::println!("looking at {}", input.path);
    toolquay::eprintln!("{0} is {0:?}", input.path);
    Ok(Output::text("done"))
}

#[test]
fn prints_are_logged() {
    let outcome = Host::new().without_manifest().call::<printing>(json!({"path": "a"}));
    assert_eq!(
        outcome.reports(),
        [
            json!({"log": {"level": "info", "message": ""}}),
            json!({"log": {"level": "info", "message": "looking at a"}}),
            json!({"log": {"level": "warn", "message": "a is \"a\""}}),
        ]
    );
}

#[tool(name = "Everything")]
fn everything(input: PathInput, cx: &mut Context) -> Result<Output, ToolError> {
    cx.progress(&Progress { message: "reading".into(), done: 1.0, total: 2.0, output: "one\n".into() });
    cx.log(Level::Warn, "careful");
    let stat = cx.fs().stat(&input.path)?;
    let range = cx.fs().read_range(&input.path, 2, 3)?.body.into_string()?;
    let lines = cx.fs().read_lines(&input.path, Lines { offset: 2, limit: 1, number: true, ..Lines::default() })?;
    let shown = lines.ok.lines.unwrap_or_default();
    let names = cx.search().names(&NamesArgs { pattern: "**/*.txt", ..NamesArgs::default() })?;
    let list = cx.fs().list(".", 0)?;
    let found =
        cx.search().contents(&ContentsArgs { pattern: "three", mode: Mode::Count, ..ContentsArgs::default() })?;
    let separator: String = cx.config("separator")?.unwrap_or_default();
    Ok(Output::text(
        [
            format!("{:?} {}", stat.kind, stat.size),
            range,
            lines.body.into_string()?,
            format!("{} {} {}", shown.first, shown.count, shown.more),
            names.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join(" "),
            list.entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(" "),
            found.body.into_string()?,
            format!("{} {} {}", cx.tool(), cx.id(), cx.cwd()),
        ]
        .join(&separator),
    ))
}

#[test]
fn every_capability_answers() {
    let host = Host::new()
        .without_manifest()
        .with_file("a.txt", "one\ntwo\nthree\n")
        .with_file("sub/b.txt", "three")
        .with_config("separator", ";");
    let outcome = host.call::<everything>(json!({"path": "a.txt"}));
    assert_eq!(
        outcome.text(),
        "File 14;e\nt;     2\ttwo;2 1 true;sub/b.txt a.txt;a.txt sub;a.txt:1\nsub/b.txt:1\n;Everything test /project"
    );
    assert_eq!(
        outcome.reports(),
        [
            json!({"progress": {"message": "reading", "done": 1.0, "total": 2.0, "output": "one\n"}}),
            json!({"log": {"level": "warn", "message": "careful"}}),
        ]
    );
    let host = Host::new().without_manifest().with_file("a.txt", "one\ntwo\n").with_config("separator", 7);
    let outcome = host.call::<everything>(json!({"path": "a.txt"}));
    assert!(outcome.text().contains("\"separator\""), "{}", outcome.text());
}

#[tool(name = "Chatty")]
fn chatty(input: PathInput, cx: &mut Context) -> Output {
    for done in 1..=2 {
        cx.progress(&Progress { done: f64::from(done), total: 2.0, ..Progress::default() });
    }
    cx.log(Level::Info, &input.path);
    cx.progress(&Progress { message: input.path.clone(), output: input.path, done: f64::NAN, ..Progress::default() });
    Output::new()
}

#[test]
fn progress_is_told_in_order() {
    let told = Host::new().without_manifest().call::<chatty>(json!({"path": "é"})).progress();
    let [first, second, last] = &told[..] else { panic!("{told:?}") };
    assert_eq!((first.done, first.total, second.done, second.total), (1.0, 2.0, 2.0, 2.0));
    assert_eq!((last.message.as_str(), last.output.as_str(), last.done), ("é", "é", 0.0));
}

#[test]
fn long_reports_are_cut_for_the_host() {
    let long = format!("a{}", "é".repeat(40_000));
    let outcome = Host::new().without_manifest().call::<chatty>(json!({"path": long}));
    let log = outcome.reports()[2]["log"]["message"].as_str().expect("a line");
    let last = outcome.progress().pop().expect("progress");
    let want = format!("a{}...", "é".repeat(4_095));
    assert!(log == want && last.message == want, "{} and {} bytes", log.len(), last.message.len());
    assert_eq!(last.output, "é".repeat(32_768));
}

#[test]
fn real_files_are_read() {
    let directory = std::env::temp_dir().join(format!("toolquay-sdk-{}", std::process::id()));
    std::fs::create_dir_all(directory.join("sub")).expect("a directory");
    std::fs::write(directory.join("sub/a.txt"), "real").expect("a file");
    let host = Host::new().without_manifest().with_dir(&directory).with_file("memory.txt", "memory");
    assert_eq!(host.call::<pass>(json!({"path": "sub/a.txt"})).text(), "<real>");
    assert_eq!(host.call::<pass>(json!({"path": "memory.txt"})).text(), "<memory>");
    for (path, code) in [("sub", ErrorCode::IsDirectory), ("none", ErrorCode::NotFound), ("../x", ErrorCode::NotFound)]
    {
        assert_eq!(host.call::<pass>(json!({"path": path})).error().map(|err| err.code), Some(code), "{path}");
    }
    std::fs::remove_dir_all(directory).expect("removal");
}

#[tool(name = "Custom")]
fn custom(_input: Value2, cx: &mut Context) -> Result<Output, ToolError> {
    let answer = cx.submit_custom(&Custom { name: "test.now", args: json!({"zone": "UTC"}), parts: &[] }).wait()?;
    Ok(Output::new().and_text(answer.ok.to_string()).image("image/png", answer.body).tool_reference("Other"))
}

#[derive(Deserialize, Schema)]
struct Value2 {}

#[test]
fn capabilities_can_be_answered_by_the_test() {
    let asked = Rc::new(RefCell::new(Value::Null));
    let seen = Rc::clone(&asked);
    let host = Host::new().without_manifest().on("test.now", move |args| {
        *seen.borrow_mut() = args.clone();
        Ok(Reply::new(json!({"hour": 7})).with_body([1, 2, 3]))
    });
    let outcome = host.call::<custom>(json!({}));
    assert_eq!(*asked.borrow(), json!({"zone": "UTC"}));
    assert_eq!(outcome.text(), r#"{"hour":7}"#);
    let kinds: Vec<_> = outcome.content().iter().map(|block| (block.kind.as_str(), block.data.len())).collect();
    assert_eq!(kinds, [("text", 10), ("image", 3), ("tool_reference", 0)]);
    let outcome = Host::new().without_manifest().call::<custom>(json!({}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::Unsupported));
}

#[tool(name = "Assessed", assess = assess)]
fn assessed(input: PathInput) -> Output {
    Output::text(input.path)
}

fn assess(input: &PathInput, cx: &AssessContext) -> Assessment {
    match cx.fact(&input.path) {
        Some(fact) if fact.exists => Assessment::new().read_only(true).check(Verdict::Ask, "it is there"),
        Some(_) => Assessment::invalid(format!("{} is missing", input.path)),
        None => Assessment::new().rendering(format!("{} of {}", cx.tool(), input.path)),
    }
}

#[tool(name = "Copy", assess = copies)]
fn copy(_input: PathInput) -> Output {
    Output::new()
}

fn copies(input: &PathInput, _cx: &AssessContext) -> Assessment {
    Assessment::new().reads(&input.path).writes(format!("{}.bak", input.path))
}

#[test]
fn what_a_call_touches() {
    let a = Host::new().without_manifest().assess::<copy>(json!({"path": "a"}), &[]);
    assert_eq!(a, Assessment::new().reads("a").writes("a.bak"));
    assert_ne!(a, Assessment::new().reads("a").reads("a.bak"));
}

#[test]
fn assessments() {
    let host = Host::new().without_manifest();
    let fact = |exists| Fact { path: "a".into(), exists, ..Fact::default() };
    let input = json!({"path": "a"});
    assert_eq!(host.assess::<assessed>(&input, &[]), Assessment::new().rendering("Assessed of a"));
    assert_eq!(
        host.assess::<assessed>(&input, &[fact(true)]),
        Assessment::new().read_only(true).check(Verdict::Ask, "it is there")
    );
    assert_eq!(host.assess::<assessed>(&input, &[fact(false)]).refusal(), Some("a is missing"));
    let refusal = host.assess::<assessed>(json!({"path": 1}), &[]);
    assert!(refusal.refusal().is_some_and(|text| text.contains("expected a string")), "{refusal:?}");
    assert_eq!(host.assess::<pass>(&input, &[]), Assessment::new());
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let outcome = Host::new().without_manifest().call::<pass>(json!({"path": 1}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::InvalidInput));
    assert!(outcome.text().starts_with("the input: "), "{}", outcome.text());
}

#[tool(name = "Huge")]
fn huge(_input: Value2) -> Result<Output, ToolError> {
    Err(ToolError::invalid_input("x".repeat(2 << 20)))
}

#[test]
fn an_error_too_long_for_a_head_is_told() {
    let outcome = Host::new().without_manifest().call::<huge>(json!({}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::Protocol));
}

#[test]
fn file_kinds_of_tomorrow_are_other() {
    assert_eq!(serde_json::from_value::<FileKind>(json!("door")).ok(), Some(FileKind::Other));
}
