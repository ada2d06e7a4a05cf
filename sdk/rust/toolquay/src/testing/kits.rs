//! Holds the testing host to the table that the real host and the kit for Go are held to:
//! `abi/testdata/kits.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Host, sha256};
use crate::assess::{AssessContext, Assessment};
use crate::capability::Custom;
use crate::context::Context;
use crate::error::{ErrorCode, ToolError};
use crate::frame::{Part, PartType};
use crate::output::Output;
use crate::{Schema, tool};

#[derive(Deserialize, Schema)]
struct Input {
    #[serde(rename = "do")]
    steps: Vec<Step>,
    #[serde(default)]
    pad: usize,
    #[serde(default)]
    fail: bool,
}

#[derive(Deserialize, Schema)]
struct Step {
    capability: String,
    #[serde(default)]
    args: Value,
    #[serde(default)]
    parts: Vec<String>,
}

fn run(input: &Input, cx: &Context) -> Result<Output, ToolError> {
    let mut told = Vec::new();
    for step in &input.steps {
        let parts: Vec<_> =
            step.parts.iter().map(|text| Part { kind: PartType::Text, data: text.as_bytes() }).collect();
        let answer =
            cx.submit_custom(&Custom { name: &step.capability, args: step.args.clone(), parts: &parts }).wait();
        told.push(match answer {
            Ok(answer) => {
                let mut body = Vec::new();
                std::io::Read::read_to_end(&mut { answer.body }, &mut body)?;
                json!({"ok": answer.ok, "body": String::from_utf8_lossy(&body)})
            }
            Err(err) => json!({"code": err.code, "message": err.message}),
        });
    }
    if input.fail {
        return Err(ToolError::new(ErrorCode::Internal, "it fails"));
    }
    Ok(Output::text("x".repeat(input.pad)).structured(&told))
}

/// Asks.
#[tool(name = "Ask")]
fn ask(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
    run(&input, cx)
}

/// Asks too.
#[tool(name = "AskToo")]
fn ask_too(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
    run(&input, cx)
}

#[derive(Deserialize)]
struct Table {
    manifest: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    manifest: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    after: BTreeMap<String, String>,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    tool: String,
    #[serde(rename = "do")]
    steps: Vec<WantedStep>,
    #[serde(default)]
    input: Map<String, Value>, // the rest of it, as it is written
    fails: Option<Want>,
}

#[derive(Deserialize)]
struct WantedStep {
    capability: String,
    #[serde(default)]
    args: Map<String, Value>,
    #[serde(default)]
    parts: Vec<String>,
    #[serde(default)]
    want: Want,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Want {
    code: String,
    says: String,
    body: String,
    ok: Map<String, Value>,
}

fn load<T: DeserializeOwned>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../abi/testdata").join(name);
    serde_json::from_slice(&fs::read(path).expect("the table, in a clone of the repository")).expect("a table")
}

/// Puts hashes in the places that name a content.
fn hashed(values: &Map<String, Value>) -> Map<String, Value> {
    let hash = |value: &Value| match value.as_str().and_then(|text| text.strip_prefix("sha256:")) {
        Some(content) => Value::from(sha256::hex(content.as_bytes())),
        None => value.clone(),
    };
    values.iter().map(|(key, value)| (key.clone(), hash(value))).collect()
}

impl Call {
    fn input(&self) -> Value {
        let step =
            |step: &WantedStep| json!({"capability": step.capability, "args": hashed(&step.args), "parts": step.parts});
        let mut input = json!({"do": self.steps.iter().map(step).collect::<Vec<_>>()});
        for (key, value) in &self.input {
            input[key] = value.clone();
        }
        input
    }
}

impl Want {
    fn check(&self, got: &Value, at: &str) {
        let text = |key: &str| got[key].as_str().unwrap_or_default();
        assert_eq!(text("code"), self.code, "{at}: {got}");
        assert!(text("message").contains(&self.says), "{at}: {got}; want {}", self.says);
        assert!(self.body.is_empty() || text("body") == self.body, "{at}: {got}; want {}", self.body);
        for (key, value) in hashed(&self.ok) {
            assert_eq!(got["ok"][&key], value, "{at}: {key}");
        }
    }
}

#[test]
fn the_cases_of_the_host() {
    let table: Table = load("kits.json");
    assert!(table.cases.len() > 15);
    for case in table.cases {
        let mut host = Host::new().with_manifest(case.manifest.as_ref().unwrap_or(&table.manifest));
        for (path, content) in &case.files {
            host = host.with_file(path, content.as_str());
        }
        for call in &case.calls {
            let input = call.input();
            let outcome = if call.tool == "AskToo" { host.call::<ask_too>(input) } else { host.call::<ask>(input) };
            if let Some(want) = &call.fails {
                let error = outcome.error().unwrap_or_else(|| panic!("{}: {outcome:?}", case.name));
                assert!(
                    error.code.as_str() == want.code && error.message.contains(&want.says),
                    "{}: {error:?}",
                    case.name
                );
                continue;
            }
            let told: Vec<Value> = outcome.structured().unwrap_or_else(|| panic!("{}: {outcome:?}", case.name));
            assert_eq!(told.len(), call.steps.len(), "{}", case.name);
            for (step, got) in call.steps.iter().zip(&told) {
                step.want.check(got, &format!("{}: {} {:?}", case.name, step.capability, step.args));
            }
        }
        for (path, content) in &case.after {
            let got = host.file(path).unwrap_or_default();
            assert_eq!(String::from_utf8_lossy(&got), *content, "{}: {path}", case.name);
        }
    }
}

#[derive(Deserialize)]
struct Regexes {
    lines: Vec<String>,
    patterns: Vec<Pattern>,
}

#[derive(Deserialize)]
struct Pattern {
    pattern: String,
    #[serde(default)]
    code: String,
    lines: Vec<usize>,
}

#[test]
fn the_regexes_of_the_host() {
    let table: Regexes = load("kits_regexes.json");
    let host = Host::new().without_manifest().with_file("a.txt", table.lines.join("\n") + "\n");
    for wanted in table.patterns {
        let args = json!({"pattern": wanted.pattern, "mode": "content", "line_numbers": true});
        let outcome = host.call::<ask>(json!({"do": [{"capability": "search.contents", "args": args}]}));
        let told: Vec<Value> = outcome.structured().expect("an answer");
        let number = |line: &str| line.split(':').nth(1).and_then(|n| n.parse::<usize>().ok());
        let got: Vec<_> = told[0]["body"].as_str().unwrap_or_default().lines().filter_map(number).collect();
        assert_eq!(told[0]["code"].as_str().unwrap_or_default(), wanted.code, "{:?}: {}", wanted.pattern, told[0]);
        assert_eq!(got, wanted.lines, "{:?}", wanted.pattern);
    }
}

/// What ends a test instead of a call.
#[test]
fn faults_of_the_manifest_panic() {
    const TOOL: &str = "[[tools]]\nname = 'Ask'\n";
    let says = |host: &dyn Fn() -> Host| {
        let call = || host().call::<ask>(json!({"do": []}));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).expect_err("a panic");
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    for (manifest, want) in [
        ("tools = ", "plugin.toml: "),
        ("", "no [[tools]] table of the name Ask"),
        ("[limits]\noutput = 'big'\n[[tools]]\nname = 'Ask'\n", "\"big\" is not a size"),
        ("[[capabilities]]\nname = 'fs.read'\nscope = ['//etc/**']\n", "cannot check the scope \"//etc/**\""),
        ("[[config]]\nname = 'unit'\nrequired = true\n[[tools]]\nname = 'Ask'\n", "\"unit\" is required and not set"),
        (
            "[[config]]\nname = 'unit'\ntype = 'boolean'\ndefault = 'yes'\n[[tools]]\nname = 'Ask'\n",
            "\"unit\" is \"yes\", which is not of type boolean",
        ),
    ] {
        let said = says(&|| Host::new().with_manifest(manifest));
        assert!(said.contains(want), "{manifest}: {said}");
    }
    let said = says(&|| Host::new().with_manifest(TOOL).with_config("unit", "m"));
    assert!(said.contains("declares no configuration value \"unit\""), "{said}");
    let said = says(&Host::new);
    assert!(said.contains("name it with Host::with_manifest"), "{said}");
}

#[test]
fn a_schema_of_the_type_holds_where_the_manifest_has_none() {
    let host =
        Host::new().with_manifest("[[tools]]\nname = 'Ask'\nread_only = true\n[[capabilities]]\nname = 'fs.write'\n");
    let error = host.call::<ask>(json!({"do": [], "pad": -1})).error().cloned().expect("a refusal");
    assert_eq!(error.code, ErrorCode::InvalidInput, "{error}");
    let write = json!({"do": [{"capability": "fs.write", "args": {"path": "a"}, "parts": ["x"]}]});
    let told: Vec<Value> = host.call::<ask>(write).structured().expect("an answer");
    assert_eq!(told[0]["code"], "denied", "{}", told[0]);
}

fn rendered(input: &Input, _cx: &AssessContext) -> Assessment {
    Assessment::new().rendering(input.pad.to_string())
}

/// Tells how much it would add.
#[tool(name = "Ask", assess = rendered)]
fn assessed(_input: Input) -> Output {
    Output::new()
}

#[test]
fn a_tool_is_asked_about_what_it_would_be_called_with() {
    let host = Host::new().with_manifest("[[tools]]\nname = 'Ask'\nstrict = true\n");
    let input = json!({"do": [], "pad": 2.0, "fail": null});
    assert_eq!(host.assess::<assessed>(input, &[]), Assessment::new().rendering("2"));
}

/// Tells how many rows are configured.
#[tool(name = "Ask")]
fn rows(_input: Input, cx: &mut Context) -> Result<Output, ToolError> {
    Ok(Output::text(format!("{:?}", cx.config::<u32>("rows")?)))
}

#[test]
fn configuration_is_of_its_type() {
    let key = "[[tools]]\nname = 'Ask'\n[[config]]\nname = 'rows'\ntype = 'integer'\n";
    let call = |host: Host| host.call::<rows>(json!({"do": []})).text();
    assert_eq!(call(Host::new().with_manifest(key)), "None");
    assert_eq!(call(Host::new().with_manifest(&format!("{key}default = ' 10 '\n"))), "Some(10)");
    assert_eq!(call(Host::new().with_manifest(&format!("{key}default = '10'\n")).with_config("rows", 7)), "Some(7)");
    let wrong = || call(Host::new().with_manifest(key).with_config("rows", "7"));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(wrong)).expect_err("a string is not an integer");
}

#[test]
fn tools_in_the_box_stand_on_what_the_model_has_seen() {
    let host = Host::new().without_manifest().as_builtin().with_file("a", "one");
    let expect = sha256::hex(b"one");
    let outcome = host.call::<ask>(json!({"do": [{"capability": "fs.read", "args": {"path": "a"}},
        {"capability": "fs.write", "args": {"path": "a", "expect": expect}, "parts": ["x"]}]}));
    assert_eq!(outcome.structured::<Vec<Value>>().expect("an answer")[1]["code"], "not_read");
}

#[test]
fn time_and_chance_are_the_same_in_every_run() {
    let at = |host: &Host| {
        let steps = json!([{"capability": "clock.now"}, {"capability": "random.bytes", "args": {"length": 9}}]);
        let told: Vec<Value> = host.call::<ask>(json!({"do": steps})).structured().expect("an answer");
        (told[0]["ok"]["unix_ns"].clone(), told[1]["body"].clone())
    };
    let host = Host::new().without_manifest();
    assert_eq!(at(&host), at(&host));
    assert_eq!(at(&host).0, json!(1_700_000_000_000_000_000_i64));
    let early = std::time::UNIX_EPOCH - std::time::Duration::from_nanos(7);
    assert_eq!(at(&host.with_time(early)).0, json!(-7));
}
