//! Holds this side of the ABI to the golden vectors under `abi/testdata`, whose
//! README says what they mean.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::capability::clock::{ClockArgs, ClockOk};
use crate::capability::docs::{DocKind, DocsArgs, DocsOk};
use crate::capability::fs::{
    Content, Expect, FileKind, Lines, ListArgs, ListOk, ReadArgs, ReadOk, ReplaceArgs, StatArgs, StatOk, WriteArgs,
    WriteOk,
};
use crate::capability::lists::{
    Todo, TodoLists, TodosArgs, TodosOk, WorkArgs, WorkChange, WorkItem, WorkOk, WorkOperation, WorkStatus,
};
use crate::capability::message::{MessageArgs, MessageOk, Status};
use crate::capability::random::{RandomArgs, RandomOk};
use crate::capability::search::{ContentsArgs, ContentsOk, NamesArgs, NamesOk};
use crate::capability::shell::{Background, ShellArgs, ShellKind, ShellOk};
use crate::capability::task::{SleepArgs, SleepOk, TaskArgs, TaskOk, TaskOutputArgs, TaskState};
use crate::error::{ErrorCode, ToolError};
use crate::frame::Frame;
use crate::output::{self, Output};
use crate::tool::decode;
use crate::wire::{AssessHead, CallHead, ProgressHead, RequestHead, ResultHead};
use crate::{Assessment, Progress, Verdict, pending};

#[derive(Deserialize)]
struct Vector {
    #[serde(skip)]
    name: String,
    message: String,
    #[serde(default)]
    head: Value,
    #[serde(default)]
    parts: Vec<Part>,
    error: Option<ErrorCode>,
    #[serde(skip)]
    bytes: Vec<u8>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    hex: Option<String>,
    repeat: Option<usize>,
}

impl Part {
    fn data(&self) -> Vec<u8> {
        match (&self.text, &self.hex) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(hex)) => {
                let digit = |i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex digits");
                (0..hex.len()).step_by(2).map(digit).collect()
            }
            (None, None) => Vec::new(),
        }
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../abi/testdata").join(name)
}

fn vectors(directory: &str) -> Vec<Vector> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder(directory)).expect("abi/testdata, in a clone of the repository") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            found.push(load(&path));
        }
    }
    assert!(found.len() > 20, "only {} vectors in {directory}", found.len());
    found
}

fn load(path: &Path) -> Vector {
    let text = fs::read(path).expect("a vector");
    let mut vector: Vector = serde_json::from_slice(&text).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    vector.name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    vector.bytes = fs::read(path.with_extension("bin")).expect("its bytes");
    vector
}

fn valid(name: &str) -> Vector {
    load(&folder("valid").join(name).with_extension("json"))
}

fn value(head: &[u8]) -> Value {
    serde_json::from_slice(head).expect("a head of JSON")
}

#[test]
fn valid_frames_are_taken_apart() {
    for vector in vectors("valid") {
        let frame = Frame::decode(&vector.bytes).unwrap_or_else(|err| panic!("{}: {err}", vector.name));
        assert_eq!(value(frame.head), vector.head, "{}", vector.name);
        let got: Vec<_> =
            frame.parts.iter().map(|p| (format!("{:?}", p.kind).to_lowercase(), p.data.to_vec())).collect();
        let want: Vec<_> = vector
            .parts
            .iter()
            .flat_map(|part| vec![(part.kind.clone(), part.data()); part.repeat.unwrap_or(1)])
            .collect();
        assert_eq!(got, want, "{}", vector.name);
    }
}

#[test]
fn invalid_frames_are_refused() {
    for vector in vectors("invalid").iter().filter(|vector| vector.message == "frame") {
        let err = Frame::decode(&vector.bytes).expect_err(&vector.name);
        assert_eq!(Some(err.code), vector.error, "{}: {err}", vector.name);
    }
}

/// What a guest's readers make of a message, as far as a guest gets such ones.
fn read(vector: &Vector) -> Option<Result<(), ToolError>> {
    match vector.message.as_str() {
        "call" => Some(decode::<CallHead>(&vector.bytes).map(drop)),
        "assess" => Some(decode::<AssessHead>(&vector.bytes).map(drop)),
        "answer" => {
            let head = |frame: Frame<'_>| pending::decode_head::<Value>(frame.head).map(drop);
            Some(Frame::decode(&vector.bytes).and_then(head))
        }
        _ => None,
    }
}

#[test]
fn readers_take_valid_messages_and_refuse_others() {
    let mut seen = BTreeSet::new();
    for vector in vectors("valid").iter().chain(&vectors("invalid")) {
        let Some(result) = read(vector) else { continue };
        let told = value_error(&vector.head);
        let want = vector.error.or(told);
        assert_eq!(result.err().map(|err| err.code), want, "{}", vector.name);
        seen.insert((vector.message.clone(), vector.error.is_some()));
    }
    assert!(seen.len() >= 5, "too few kinds of message: {seen:?}");
}

/// The code of the failure that an answer tells of.
fn value_error(head: &Value) -> Option<ErrorCode> {
    ErrorCode::deserialize(head.get("error")?.get("code")?).ok()
}

fn answer<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let vector = valid(name);
    let frame = Frame::decode(&vector.bytes).expect("a frame");
    pending::decode_head(frame.head).unwrap_or_else(|err| panic!("{name}: {err}"))
}

#[test]
fn answers_become_types() {
    let stat: StatOk = answer("answer_fs_stat");
    assert_eq!((stat.kind, stat.size, stat.mod_time), (FileKind::Directory, 4096, 1_700_000_000_123));
    let read: ReadOk = answer("answer_fs_read_lines");
    let lines = read.lines.expect("lines");
    assert_eq!((lines.first, lines.count, lines.cut_lines, lines.more), (2, 2, 1, true));
    assert_eq!((lines.timed_out, lines.timeout, lines.passed), (true, 20_000, 1));
    let list: ListOk = answer("answer_fs_list");
    assert_eq!((list.count, list.truncated), (2, true));
    let names: NamesOk = answer("answer_search_names");
    assert_eq!((names.total, names.denied, names.unreadable), (3, 1, 1));
    assert_eq!((names.timed_out, names.timeout), (true, 20_000));
    let contents: ContentsOk = answer("answer_search_contents");
    assert_eq!((contents.entries, contents.searched, contents.truncated), (2, 12, true));
    assert_eq!((contents.timed_out, contents.timeout), (true, 20_000));
}

#[test]
fn calls_become_types() {
    let vector = valid("call_config");
    let (head, _): (CallHead, _) = decode(&vector.bytes).expect("a call");
    assert_eq!((head.tool.as_str(), head.id.as_str(), head.cwd.as_str()), ("Query", "c-2", "/"));
    assert_eq!(head.config["rows"], json!(100));
    let vector = valid("assess_facts");
    let (head, _): (AssessHead, _) = decode(&vector.bytes).expect("an assessment");
    let fact = &head.facts[0];
    assert_eq!((fact.path.as_str(), fact.exists, fact.size, fact.read, fact.changed), ("a.csv", true, 12, true, true));
}

/// Checks what is written against a vector. Arguments may spell out what the
/// vector leaves to the default, so only those that it names are compared.
fn check_request<C: crate::capability::Capability>(name: &str, args: &C) {
    let vector = valid(name);
    let parts: Vec<_> =
        args.parts().iter().map(|p| (format!("{:?}", p.kind).to_lowercase(), p.data.to_vec())).collect();
    let want: Vec<_> = vector.parts.iter().map(|part| (part.kind.clone(), part.data())).collect();
    assert_eq!(parts, want, "{name}");
    let written = serde_json::to_value(RequestHead { capability: C::NAME, args }).expect("JSON");
    assert_eq!(written["capability"], vector.head["capability"], "{name}");
    for (key, want) in vector.head["args"].as_object().expect("arguments") {
        assert_eq!(&written["args"][key], want, "{name}: {key}");
    }
}

#[test]
fn requests_are_written() {
    let lines = Lines { offset: 2, limit: 2, max_line: 2000, max_chars: 100_000, number: true };
    check_request("request_fs_read", &ReadArgs { path: "a.png", offset: 8, length: 3, ..ReadArgs::default() });
    check_request(
        "request_fs_read_lines",
        &ReadArgs { path: "/work/a.txt", lines: Some(lines), ..ReadArgs::default() },
    );
    check_request("request_fs_stat", &StatArgs { path: "sub", hash: false });
    check_request("request_fs_list", &ListArgs { path: ".", limit: 2 });
    check_request(
        "request_search_names",
        &NamesArgs { path: "/work", pattern: "**/*.{go,rs}", limit: 100, ignore: true },
    );
    check_request("request_minimal", &ContentsArgs { pattern: "x", ..ContentsArgs::default() });
    let want = &valid("request_search_contents").head["args"];
    let text = |key: &str| want[key].as_str().expect(key);
    let number = |key: &str| want.get(key).map_or(0, |n| n.as_u64().expect(key));
    let flag = |key: &str| want.get(key).is_some_and(|b| b.as_bool().expect(key));
    let args = ContentsArgs {
        pattern: text("pattern"),
        path: text("path"),
        globs: serde_json::from_value(want["globs"].clone()).expect("globs"),
        file_type: text("type"),
        mode: serde_json::from_value(want["mode"].clone()).expect("mode"),
        before: number("before"),
        after: number("after"),
        line_numbers: flag("line_numbers"),
        case_insensitive: flag("case_insensitive"),
        multiline: flag("multiline"),
        limit: number("limit"),
        offset: number("offset"),
        max_columns: number("max_columns"),
        shown: flag("shown"),
    };
    check_request("request_search_contents", &args);
}

#[test]
fn requests_to_write_are_written() {
    let hash = valid("answer_fs_write").head["ok"]["hash"].as_str().expect("a hash").to_owned();
    let lines = Lines { number: true, ..Lines::default() };
    check_request(
        "request_fs_read_shown",
        &ReadArgs { path: "a.txt", lines: Some(lines), shown: true, ..ReadArgs::default() },
    );
    check_request("request_fs_stat_hash", &StatArgs { path: "abc", hash: true });
    check_request(
        "request_fs_write",
        &WriteArgs { path: "a.txt", expect: Expect::Hash(&hash), content: Content::Text("drei\n") },
    );
    let pixel = valid("request_fs_write_bytes").parts[0].data();
    check_request(
        "request_fs_write_bytes",
        &WriteArgs { path: "a.png", expect: Expect::Absent, content: Content::Bytes(&pixel) },
    );
    check_request(
        "request_fs_replace",
        &ReplaceArgs { path: "a.txt", all: true, old: "zwei", new: "drei", ..ReplaceArgs::default() },
    );
    check_request("request_clock_now", &ClockArgs {});
    check_request("request_random_bytes", &RandomArgs { length: 4 });
    check_request("request_docs_read", &DocsArgs { path: "a.pdf", pages: "1-3", shown: true });
    check_request(
        "request_session_message",
        &MessageArgs { message: "Built **ä**", attachments: &["a.png".to_owned()], status: Status::Proactive },
    );
}

#[test]
fn answers_to_writes_become_types() {
    let read: ReadOk = answer("answer_fs_read_shown");
    assert_eq!((read.encoding.as_str(), read.unchanged), ("utf-16le", false));
    assert!(answer::<ReadOk>("answer_fs_read_unchanged").unchanged);
    assert!(answer::<StatOk>("answer_fs_stat_hash").hash.starts_with("ba7816bf"));
    let made: WriteOk = answer("answer_fs_write");
    assert!(made.created && made.hash.ends_with("15ad") && made.line_ending == "lf", "{made:?}");
    assert!(!made.unchanged && answer::<WriteOk>("answer_fs_write_unchanged").unchanged);
    let edited: WriteOk = answer("answer_fs_replace");
    assert_eq!(
        (edited.replaced, edited.added, edited.removed, edited.other_names, edited.diff_cut),
        (2, 1, 1, 1, true)
    );
    assert_eq!((edited.encoding.as_str(), edited.history.as_str()), ("utf-8-bom", "h-1"));
    let clock: ClockOk = answer("answer_clock_now");
    assert_eq!((clock.unix_ns, clock.monotonic_ns), (1_700_000_000_123_456_789, 9_007_199_254_740_993));
    assert_eq!(answer::<RandomOk>("answer_random_bytes").length, 4);
    let doc: DocsOk = answer("answer_docs_read");
    assert_eq!((doc.kind, doc.pages, doc.notes.len(), doc.unchanged), (DocKind::Pdf, 12, 1, false));
    let last = doc.blocks.last().expect("a block");
    assert_eq!(
        (last.kind.as_str(), last.media_type.as_str(), last.title.as_str()),
        ("document", "application/pdf", "a.pdf")
    );
    assert_eq!(last.size, 11);
    assert!(answer::<DocsOk>("answer_docs_unchanged").unchanged);
    let told: MessageOk = answer("answer_session_message");
    let file = told.attachments.first().expect("a file");
    assert_eq!((file.path.as_str(), file.size, file.is_image), ("/work/a.png", 68, true));
    assert_eq!(told.sent, "2026-01-02T03:04:05.678Z");
}

/// The keys of a struct of the ABI, read from where it is defined.
fn defined_keys(source: &str, name: &str) -> BTreeSet<String> {
    let start = source.find(&format!("type {name} struct {{")).expect(name);
    let fields = source[start..].lines().skip(1).take_while(|line| *line != "}");
    let tags = fields.filter_map(|line| line.split("`json:\"").nth(1)?.split(['"', ',']).next());
    tags.map(str::to_owned).collect()
}

fn written_keys(value: impl serde::Serialize) -> BTreeSet<String> {
    let value = serde_json::to_value(value).expect("JSON");
    value.as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn commands_and_tasks_have_the_keys_of_the_abi() {
    let shell = fs::read_to_string(folder("../capability_shell.go")).expect("abi/capability_shell.go");
    let task = fs::read_to_string(folder("../capability_task.go")).expect("abi/capability_task.go");
    let run = ShellArgs {
        command: "true",
        shell: ShellKind::PowerShell,
        timeout: 1,
        description: "nothing",
        background: true,
        unsandboxed: true,
        separate: true,
    };
    let read = TaskOutputArgs { id: "b0", block: true, timeout: 1, filter: "x" };
    for (source, name, keys) in [
        (&shell, "ShellArgs", written_keys(run)),
        (&shell, "ShellOK", written_keys(ShellOk::default())),
        (&task, "TaskOutputArgs", written_keys(read)),
        (&task, "TaskArgs", written_keys(TaskArgs::default())),
        (&task, "TaskOK", written_keys(TaskOk::default())),
        (&task, "SleepArgs", written_keys(SleepArgs::default())),
        (&task, "SleepOK", written_keys(SleepOk::default())),
    ] {
        assert_eq!(keys, defined_keys(source, name), "{name}");
    }
}

/// The values of the constants of the ABI whose names begin so.
fn defined_values<'a>(source: &'a str, prefix: &str) -> Vec<&'a str> {
    let constants = source.lines().filter(|line| line.trim_start().starts_with(prefix) && line.contains(" = \""));
    constants.filter_map(|line| line.split('"').nth(1)).collect()
}

#[test]
fn commands_and_tasks_have_the_values_of_the_abi() {
    let shell = fs::read_to_string(folder("../capability_shell.go")).expect("abi/capability_shell.go");
    let task = fs::read_to_string(folder("../capability_task.go")).expect("abi/capability_task.go");
    let kinds = [ShellKind::Bash, ShellKind::PowerShell];
    assert_eq!(json!(kinds), json!(defined_values(&shell, "Shell")));
    let reasons = [Background::Asked, Background::Timeout, Background::Budget, Background::Person];
    assert_eq!(json!(reasons), json!(defined_values(&shell, "Background")));
    let states = [
        TaskState::Pending,
        TaskState::Running,
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Killed,
        TaskState::Lost,
    ];
    assert_eq!(json!(states), json!(defined_values(&task, "Task")));
}

#[test]
fn lists_of_work_have_the_keys_and_values_of_the_abi() {
    let lists = fs::read_to_string(folder("../capability_lists.go")).expect("abi/capability_lists.go");
    let session = fs::read_to_string(folder("../capability_session.go")).expect("abi/capability_session.go");
    let text = || "x".to_owned();
    let todo = Todo { id: text(), content: text(), status: WorkStatus::Pending, active_form: text(), priority: text() };
    let change = WorkChange {
        subject: Some(text()),
        description: Some(text()),
        active_form: Some(text()),
        status: Some(WorkStatus::Completed),
        owner: Some(text()),
        add_blocks: vec![text()],
        add_blocked_by: vec![text()],
        metadata: [(text(), json!(1))].into_iter().collect(),
    };
    let args = WorkArgs { operation: WorkOperation::Update, id: "1", change: Some(&change) };
    for (source, name, keys) in [
        (&session, "Todo", written_keys(todo)),
        (&session, "WorkItem", written_keys(WorkItem::default())),
        (&lists, "TodosArgs", written_keys(TodosArgs { read: true, list: &[] })),
        (&lists, "TodosOK", written_keys(TodosOk::default())),
        (&lists, "TodoLists", written_keys(TodoLists::default())),
        (&lists, "WorkChange", written_keys(&change)),
        (&lists, "WorkArgs", written_keys(args)),
        (&lists, "WorkOK", written_keys(WorkOk::default())),
    ] {
        assert_eq!(keys, defined_keys(source, name), "{name}");
    }
    let states = [WorkStatus::Pending, WorkStatus::InProgress, WorkStatus::Completed, WorkStatus::Deleted];
    assert_eq!(json!(states), json!(defined_values(&session, "Work")));
    let operations = [WorkOperation::Create, WorkOperation::Get, WorkOperation::Update, WorkOperation::List];
    assert_eq!(json!(operations), json!(defined_values(&lists, "Work")));
}

#[test]
fn what_comes_later_is_read_too() {
    let ok: ShellOk = serde_json::from_value(json!({"exit": 1, "background": "tired", "new": 1})).expect("an answer");
    assert_eq!((ok.exit, ok.background, ok.task.as_str()), (1, Some(Background::Other), ""));
    let ok: TaskOk = serde_json::from_value(json!({"id": "b0", "state": "asleep"})).expect("an answer");
    assert_eq!((ok.state, ok.exit), (TaskState::Other, None));
}

#[test]
fn results_are_written() {
    let text = |name: &str| String::from_utf8(valid(name).parts[0].data()).expect("text");
    let encode = |output: Output| output.encode().expect("a result");
    for (name, written) in [
        ("result_empty", encode(Output::new())),
        ("result_text", encode(Output::text(text("result_text")))),
        ("result_is_error", encode(Output::text(text("result_is_error")).is_error())),
        ("result_error", output::encode_error(ToolError::new(ErrorCode::NotFound, "no such file: /work/a.txt"))),
        (
            "result_changes",
            encode(
                Output::new()
                    .change_cwd("/work/sub")
                    .message("user", "Read the manual first.")
                    .meta(json!({"trace": [1, 2]})),
            ),
        ),
    ] {
        assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&valid(name).bytes), "{name}");
    }
}

#[test]
fn results_are_read_by_the_testing_host() {
    for vector in vectors("valid").iter().filter(|vector| vector.message == "result") {
        let frame = Frame::decode(&vector.bytes).expect("a frame");
        serde_json::from_slice::<ResultHead>(frame.head).unwrap_or_else(|err| panic!("{}: {err}", vector.name));
    }
}

#[test]
fn assessments_are_written() {
    for (name, assessment) in [
        ("assessment_empty", Assessment::new()),
        ("assessment_check", Assessment::new().check(Verdict::Ask, "deletes rows")),
        ("assessment_invalid", Assessment::new().and_invalid("file is not read yet; read it first", 2)),
        ("assessment_touches", Assessment::new().read_only(false).reads("src/ä.rs").writes("/build/out")),
        (
            "assessment",
            Assessment::new()
                .read_only(true)
                .concurrency_safe(true)
                .destructive(false)
                .enabled(true)
                .rendering("query a.csv"),
        ),
        (
            "assessment_lines",
            Assessment::new()
                .lines(
                    crate::Lines::new()
                        .queued("will query {file_path}")
                        .using("{file_path}[ by {order_by}]")
                        .progress("{done} of {total|row}")
                        .result("{result.rows|row}[, {result.cut?more follow}]")
                        .rejection("not queried: {error}")
                        .error(format!("{}: {{error}}", crate::Lines::escape("[a]{b}"))),
                )
                .classifier_text("query a.csv\nby ä"),
        ),
    ] {
        assert_eq!(serde_json::to_value(assessment).expect("JSON"), valid(name).head, "{name}");
    }
}

#[test]
fn progress_is_written() {
    let told = |message: &str, done: f64, total: f64, output: &str| Progress {
        message: message.into(),
        done,
        total,
        output: output.into(),
    };
    for (name, progress) in [
        ("progress", told("searching", 12.5, 100.0, "")),
        ("progress_text", told("…", 0.0, 0.0, "")),
        ("progress_output", told("", 0.0, 0.0, "compiling\r\u{1b}[32m日本\n\0")),
    ] {
        let written = serde_json::to_value(ProgressHead::Progress(&progress)).expect("JSON");
        let (got, want) = (&written["progress"], &valid(name).head["progress"]);
        assert_eq!((&got["message"], &got["output"]), (&want["message"], &want["output"]), "{name}");
        for number in ["done", "total"] {
            assert_eq!(got[number].as_f64(), want[number].as_f64(), "{name}"); // 100.0 is 100
        }
    }
    let long = "🦀".repeat(20_000);
    let written = serde_json::to_value(ProgressHead::Progress(&told("", 0.0, 0.0, &format!("{long}!")))).expect("JSON");
    let kept = written["progress"]["output"].as_str().expect("output");
    assert!(kept.len() > (64 << 10) - 4 && kept.len() <= 64 << 10 && kept.starts_with('🦀') && kept.ends_with("🦀!"));
}

#[test]
fn every_code_keeps_its_name() {
    for code in ErrorCode::ALL {
        assert_eq!(ErrorCode::from_name(code.as_str()), *code);
    }
    assert_eq!(ErrorCode::from_name("of_tomorrow"), ErrorCode::Internal);
    // The codes of the ABI, read from where they are defined.
    let source = fs::read_to_string(folder("../errors.go")).expect("abi/errors.go");
    let defined: BTreeSet<&str> = source
        .lines()
        .filter(|line| line.trim_start().starts_with("Code") && line.contains(" Code = \""))
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    let known: BTreeSet<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(known, defined);
}
