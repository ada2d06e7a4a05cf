use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{ErrorCode, ToolError};

use super::ask::ask_user_question;
use super::enter::enter_plan_mode;
use super::exit::exit_plan_mode;
use super::requests::{
    AskedOption, AskedQuestion, ChoiceAnswer, Do, PlanArgs, PlanOk, Proposal, QuestionArgs, QuestionOk,
};

fn plans(ok: Value, body: &'static str) -> Host {
    Host::new().on("session.plan", move |_| Ok(Reply::new(ok.clone()).with_body(body)))
}

fn asks(ok: Value) -> Host {
    Host::new().on("session.question", move |_| Ok(Reply::new(ok.clone())))
}

fn message(outcome: &Outcome) -> String {
    outcome.error().map(|err| err.message.clone()).unwrap_or_default()
}

#[test]
fn entering_names_the_plan_file() {
    for (already, begins) in [(false, "The mode is now plan. "), (true, "The mode is plan already. ")] {
        let outcome = plans(json!({"path": "/s/plan.md", "mode": "plan", "already": already}), "")
            .call::<enter_plan_mode>(json!({}));
        let text = outcome.text();
        assert!(!outcome.is_error() && text.starts_with(begins) && text.contains(" /s/plan.md. "), "{text}");
        assert_eq!(outcome.structured(), Some(json!({"message": text})));
        assert_eq!(outcome.requests()[0].args, json!({"do": "enter"}));
    }
}

#[test]
fn leaving_passes_proposals_on() {
    let ok = json!({"path": "/s/plan.md", "mode": "default"});
    for (input, want) in [
        (json!({}), json!({"do": "exit"})),
        (json!({"allowedPrompts": []}), json!({"do": "exit"})),
        (
            json!({"allowedPrompts": [{"tool": "Bash", "prompt": "run the tests"}]}),
            json!({"do": "exit", "proposals": [{"tool": "Bash", "prompt": "run the tests"}]}),
        ),
    ] {
        let outcome = plans(ok.clone(), "Mend it.").call::<exit_plan_mode>(input.clone());
        assert!(!outcome.is_error(), "{input}: {}", outcome.text());
        assert_eq!(outcome.requests()[0].args, want, "{input}");
    }
}

#[test]
fn an_accepted_plan_is_told() {
    let ok =
        json!({"path": "/s/plan.md", "mode": "acceptEdits", "agent": true, "rules": ["Bash(make)", "Bash(go test:*)"]});
    let outcome = plans(ok, "Mend it.").call::<exit_plan_mode>(json!({}));
    assert_eq!(
        outcome.text(),
        "The person accepted the plan. The mode is now acceptEdits: begin with the work. They allow, in this session: \
         Bash(make), Bash(go test:*). It is in /s/plan.md."
    );
    let want = json!({"plan": "Mend it.", "isAgent": true, "filePath": "/s/plan.md", "planWasEdited": false});
    assert_eq!(outcome.structured(), Some(want));
}

#[test]
fn a_plan_that_the_person_changed_is_repeated() {
    let ok = json!({"path": "/s/plan.md", "mode": "default", "edited": true});
    let outcome = plans(ok, "Leave it.\n").call::<exit_plan_mode>(json!({}));
    assert!(
        outcome.text().ends_with("They changed the plan; /s/plan.md now says:\n\nLeave it.\n"),
        "{}",
        outcome.text()
    );
    let structured: Value = outcome.structured().expect("an answer");
    assert_eq!((&structured["planWasEdited"], &structured["plan"]), (&json!(true), &json!("Leave it.\n")));
}

#[test]
fn a_refusal_has_the_words_of_the_person() {
    for (words, want) in [("Test it first.", "and said: Test it first."), (" ", "without a word why")] {
        let ok = json!({"path": "/s/plan.md", "mode": "plan", "declined": true, "message": words});
        let outcome = plans(ok, "").call::<exit_plan_mode>(json!({}));
        assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::Denied));
        let text = message(&outcome);
        assert!(
            text.contains(want) && text.contains("The mode is still plan.") && text.contains("/s/plan.md"),
            "{text}"
        );
        let outcome = asks(json!({"declined": true, "message": words})).call::<ask_user_question>(question());
        assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::Denied));
        assert!(message(&outcome).contains(want), "{}", message(&outcome));
    }
}

#[test]
fn what_the_host_answers_instead_is_passed_on() {
    let fails = |_: &Value| Err(ToolError::new(ErrorCode::NotFound, "there is no plan yet"));
    let outcome = Host::new().on("session.plan", fails).call::<exit_plan_mode>(json!({}));
    assert_eq!(
        (outcome.error().map(|err| err.code), message(&outcome)),
        (Some(ErrorCode::NotFound), "there is no plan yet".to_owned())
    );
    let outcome = Host::new().on("session.plan", fails).call::<enter_plan_mode>(json!({}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotFound));
}

fn question() -> Value {
    json!({
        "questions": [
            {"question": "Which?", "header": "Kind", "options": [{"label": "a", "description": "the first", "value": "x"}, {"label": "b"}]},
            {"question": "What else?", "options": [{"label": "c"}, {"label": "d"}], "multiSelect": true},
        ],
        "metadata": {"source": "test"},
    })
}

#[test]
fn answers_are_told_by_question() {
    let ok = json!({"answers": [
        {"question": "Which?", "chosen": ["b"], "note": "for now"},
        {"question": "What else?", "chosen": ["c", "my own"]},
    ]});
    let outcome = asks(ok).call::<ask_user_question>(question());
    assert_eq!(outcome.text(), "Which? b (they noted: for now)\nWhat else? c, my own");
    let asked = json!({"questions": [
        {"question": "Which?", "header": "Kind", "options": [{"label": "a", "description": "the first"}, {"label": "b"}]},
        {"question": "What else?", "options": [{"label": "c"}, {"label": "d"}], "multiSelect": true},
    ]});
    assert_eq!(outcome.requests()[0].args, asked);
    let want = json!({
        "questions": [
            {"question": "Which?", "header": "Kind", "options": [{"label": "a", "description": "the first", "value": "x"}, {"label": "b"}], "multiSelect": false},
            {"question": "What else?", "options": [{"label": "c"}, {"label": "d"}], "multiSelect": true},
        ],
        "answers": {"Which?": "b", "What else?": ["c", "my own"]},
        "annotations": {"Which?": {"notes": "for now"}},
    });
    assert_eq!(outcome.structured(), Some(want));
}

#[test]
fn one_answer_of_several_is_a_list() {
    let ok = json!({"answers": [{"question": "Which?", "chosen": ["a"]}, {"question": "What else?", "chosen": ["c"]}]});
    let structured: Value = asks(ok).call::<ask_user_question>(question()).structured().expect("an answer");
    assert_eq!(structured["answers"], json!({"Which?": "a", "What else?": ["c"]}));
    assert_eq!(structured.get("annotations"), None);
}

/// The keys in JSON that a struct of the ABI defines.
fn defined(source: &str, name: &str) -> BTreeSet<String> {
    let start = source.find(&format!("type {name} struct {{")).expect(name);
    let body = &source[start..start + source[start..].find("\n}").expect(name)];
    body.lines().filter_map(|line| line.split("`json:\"").nth(1)?.split(['"', ',']).next()).map(str::to_owned).collect()
}

fn written(value: impl serde::Serialize) -> BTreeSet<String> {
    let value = serde_json::to_value(value).expect("JSON");
    value.as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn the_keys_are_those_of_the_abi() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../abi/capability_session.go");
    let source = std::fs::read_to_string(path).expect("abi/capability_session.go");
    let proposals = [Proposal { tool: "Bash".to_owned(), prompt: "test".to_owned() }];
    let options = || vec![AskedOption { label: "a", description: "b" }];
    let questions = [AskedQuestion { question: "Which?", header: "Kind", options: options(), multi_select: true }];
    for (name, keys) in [
        ("PlanArgs", written(PlanArgs { what: Do::Exit, proposals: &proposals })),
        ("PlanProposal", written(&proposals[0])),
        ("PlanOK", written(PlanOk::default())),
        ("QuestionArgs", written(QuestionArgs { questions: &questions })),
        ("ChoiceQuestion", written(&questions[0])),
        ("ChoiceOption", written(&options()[0])),
        ("QuestionOK", written(QuestionOk::default())),
        ("ChoiceAnswer", written(ChoiceAnswer::default())),
    ] {
        assert_eq!(keys, defined(&source, name), "{name}");
    }
}
