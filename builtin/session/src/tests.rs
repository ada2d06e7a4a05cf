use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{ErrorCode, ToolError};

use crate::config::config;
use crate::message::send_user_message;
use crate::output::structured_output;
use crate::permission::testing_permission;

fn answering(capability: &'static str, ok: Value) -> Host {
    Host::new().on(capability, move |_| Ok(Reply::new(ok.clone())))
}

fn failing(capability: &'static str, code: ErrorCode) -> Host {
    Host::new().on(capability, move |_| Err(ToolError::new(code, "it cannot be")))
}

#[test]
fn output_is_handed_over() {
    for (ok, want) in [
        (json!({}), "The output was taken."),
        (json!({"replaced": true}), "The output was taken, in place of the one before."),
    ] {
        let outcome = answering("session.output", ok).call::<structured_output>(json!({"a": [1, {"b": null}]}));
        assert_eq!(outcome.text(), want);
        assert_eq!(outcome.requests()[0].args, json!({}));
    }
    let outcome = failing("session.output", ErrorCode::Disabled).call::<structured_output>(json!({}));
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::Disabled));
}

#[test]
fn every_field_of_a_message_is_passed_on() {
    let sent = json!({"sent_at": "2026-01-02T03:04:05Z"});
    for (input, want) in [
        (json!({"message": "a"}), json!({"message": "a"})),
        (json!({"message": "a", "status": "normal", "attachments": []}), json!({"message": "a"})),
        (
            json!({"message": "a", "status": "proactive", "attachments": ["b", "c"]}),
            json!({"message": "a", "status": "proactive", "attachments": ["b", "c"]}),
        ),
    ] {
        let outcome = answering("session.message", sent.clone()).call::<send_user_message>(input.clone());
        assert!(!outcome.is_error(), "{input}: {}", outcome.text());
        assert_eq!(outcome.requests()[0].args, want, "{input}");
        assert_eq!(outcome.text(), "The user was told.");
        assert_eq!(outcome.structured(), Some(json!({"message": "a", "sentAt": "2026-01-02T03:04:05Z"})));
    }
}

#[test]
fn attachments_are_told() {
    let file = json!({"path": "/work/a.png", "size": 3, "is_image": true});
    let told = |files: Vec<Value>| {
        answering("session.message", json!({"attachments": files, "sent_at": "t"}))
            .call::<send_user_message>(json!({"message": "a", "attachments": ["a.png"]}))
    };
    let outcome = told(vec![file.clone()]);
    assert_eq!(outcome.text(), "The user was told, and shown 1 file.");
    assert_eq!(
        outcome.structured(),
        Some(
            json!({"message": "a", "attachments": [{"path": "/work/a.png", "size": 3, "isImage": true}], "sentAt": "t"})
        )
    );
    assert_eq!(told(vec![file.clone(), file]).text(), "The user was told, and shown 2 files.");
}

#[test]
fn messages_that_do_not_fit_are_refused() {
    for input in [
        json!({}),
        json!({"message": ""}),
        json!({"message": 1}),
        json!({"message": "x".repeat(50_001)}),
        json!({"message": "a", "status": "loud"}),
        json!({"message": "a", "attachments": "b"}),
        json!({"message": "a", "attachments": vec!["b"; 11]}),
        json!({"message": "a", "more": true}),
    ] {
        let outcome = answering("session.message", json!({})).call::<send_user_message>(input);
        assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::InvalidInput));
        assert!(outcome.requests().is_empty());
    }
}

fn get(ok: Value) -> Outcome {
    answering("session.config", ok).call::<config>(json!({"setting": "scheduler.mode"}))
}

#[test]
fn a_setting_is_read() {
    let outcome = get(json!({"value": "batch", "source": "the user's settings /s.toml:3"}));
    assert_eq!(outcome.text(), "scheduler.mode is \"batch\" (the user's settings /s.toml:3).");
    assert_eq!(outcome.requests()[0].args, json!({"setting": "scheduler.mode"}));
    let want = json!({"success": true, "operation": "get", "setting": "scheduler.mode", "value": "batch"});
    assert_eq!(outcome.structured(), Some(want));
    let outcome = get(json!({}));
    assert_eq!(outcome.text(), "scheduler.mode is not set.");
    let want = json!({"success": true, "operation": "get", "setting": "scheduler.mode", "value": null});
    assert_eq!(outcome.structured(), Some(want));
}

#[test]
fn a_setting_is_set() {
    for value in [json!("batch"), json!(3), json!(true), json!("")] {
        let ok = json!({"previous": "locks", "new": value});
        let input = json!({"setting": "scheduler.mode", "value": value});
        let outcome = answering("session.config", ok).call::<config>(&input);
        assert_eq!(outcome.requests()[0].args, input);
        assert_eq!(outcome.text(), format!("scheduler.mode is {value} now; it was \"locks\"."));
        let want = json!({
            "success": true, "operation": "set", "setting": "scheduler.mode", "previousValue": "locks", "newValue": value,
        });
        assert_eq!(outcome.structured(), Some(want));
    }
    let outcome = answering("session.config", json!({"new": 1})).call::<config>(json!({"setting": "a", "value": 1}));
    assert_eq!(outcome.text(), "a is 1 now; it was not set.");
}

#[test]
fn numbers_are_passed_on_as_they_are() {
    let input = json!({"setting": "a", "value": 9_007_199_254_740_993_i64});
    let outcome = answering("session.config", json!({})).call::<config>(&input);
    assert_eq!(outcome.requests()[0].args, input);
}

#[test]
fn faults_of_a_setting_are_structured() {
    let input = json!({"setting": "sandbox.mode", "value": "off"});
    for code in [ErrorCode::InvalidInput, ErrorCode::NotFound, ErrorCode::Disabled, ErrorCode::Io] {
        let outcome = failing("session.config", code).call::<config>(&input);
        assert_eq!(outcome.error().map(|err| err.code), Some(code));
        let want = json!({"success": false, "operation": "set", "setting": "sandbox.mode", "error": "it cannot be"});
        assert_eq!(outcome.structured(), Some(want));
    }
    let outcome = failing("session.config", ErrorCode::Denied).call::<config>(&input);
    assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::Denied));
    assert_eq!(outcome.structured::<Value>(), None);
}

#[test]
fn only_setting_changes_anything() {
    let host = Host::new();
    let said = |input: Value| serde_json::to_value(host.assess::<config>(input, &[])).expect("an assessment");
    let get = said(json!({"setting": "a"}));
    assert_eq!((&get["read_only"], &get["concurrency_safe"]), (&json!(true), &json!(true)));
    let set = said(json!({"setting": "a", "value": false}));
    assert_eq!((&set["read_only"], &set["concurrency_safe"]), (&json!(false), &json!(false)));
    assert_eq!(set["rendering"], "set a to false");
}

#[test]
fn testing_permission_asks() {
    let host = Host::new();
    let said = serde_json::to_value(host.assess::<testing_permission>(json!({}), &[])).expect("an assessment");
    assert_eq!(said["check"]["verdict"], "ask");
    assert_eq!(host.call::<testing_permission>(json!({})).text(), "The permission was given, and the tool ran.");
    assert!(host.call::<testing_permission>(json!({"a": 1})).is_error());
}
