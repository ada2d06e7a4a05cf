use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{ErrorCode, ToolError};

use super::create::task_create;
use super::get::task_get;
use super::list::task_list;
use super::todo::todo_write;
use super::update::task_update;
use super::words::UNCHECKED;

/// A host that answers so.
fn answering(capability: &'static str, ok: &Value, body: &Value) -> Host {
    let (ok, body) = (ok.clone(), body.to_string());
    Host::new().on(capability, move |_| Ok(Reply::new(ok.clone()).with_body(body.clone())))
}

/// A host of tasks that answers so.
fn tasks(ok: &Value) -> Host {
    let ok = ok.clone();
    Host::new().on("session.task", move |_| Ok(Reply::new(ok.clone())))
}

fn args(outcome: &Outcome) -> Value {
    outcome.requests()[0].args.clone()
}

#[test]
fn a_list_is_replaced() {
    let body = json!({
        "todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress", "activeForm": "doing b", "id": "2", "priority": "high"}],
        "before": [{"content": "a", "status": "pending"}],
    });
    let host = answering("session.todo", &json!({"count": 2}), &body);
    let todos = json!([
        {"content": "a", "status": "completed"},
        {"content": "b", "status": "in_progress", "activeForm": "doing b", "id": "2", "priority": "high"},
    ]);
    let outcome = host.call::<todo_write>(json!({"todos": todos}));
    assert_eq!(outcome.text(), "Todos: 1 completed, 1 in progress, 0 pending.");
    let request = &outcome.requests()[0];
    assert_eq!(request.args, json!({}));
    let sent: Value = serde_json::from_slice(&request.parts[0]).expect("a list");
    assert_eq!(sent, todos);
    let want = json!({"oldTodos": body["before"], "newTodos": body["todos"]});
    assert_eq!(outcome.structured(), Some(want));
}

#[test]
fn what_became_of_a_list_is_told() {
    let list = |n: usize| json!(vec![json!({"content": "a", "status": "completed"}); n]);
    for (given, ok, now, text) in [
        (
            3,
            json!({"cleared": true, "unchecked": true}),
            0,
            format!("All 3 todos are completed; the list is empty now.\n{UNCHECKED}"),
        ),
        (0, json!({}), 0, "The list of todos is empty now.".to_owned()),
        (
            1,
            json!({"count": 1, "notes": ["it was damaged"]}),
            1,
            "Todos: 1 completed, 0 in progress, 0 pending.\n[it was damaged]".to_owned(),
        ),
    ] {
        let host = answering("session.todo", &ok, &json!({"todos": list(now), "before": []}));
        let outcome = host.call::<todo_write>(json!({"todos": list(given)}));
        assert_eq!(outcome.text(), text);
        let told: Value = outcome.structured().expect("an answer");
        assert_eq!(told.get("verificationNudgeNeeded"), ok.get("unchecked"), "{ok}");
    }
}

#[test]
fn a_task_is_created() {
    let host = tasks(&json!({"task": {"id": "3", "subject": "Fix it", "status": "pending"}}));
    let outcome = host.call::<task_create>(json!({
        "subject": "Fix it", "description": "All of it", "activeForm": "Fixing it", "metadata": {"a": [1]},
    }));
    assert_eq!(outcome.text(), "Created task #3: Fix it");
    assert_eq!(outcome.structured(), Some(json!({"task": {"id": "3", "subject": "Fix it"}})));
    let change =
        json!({"subject": "Fix it", "description": "All of it", "activeForm": "Fixing it", "metadata": {"a": [1]}});
    assert_eq!(args(&outcome), json!({"do": "create", "change": change}));
    let outcome = host.call::<task_create>(json!({"subject": "Fix it", "description": ""}));
    assert_eq!(args(&outcome), json!({"do": "create", "change": {"subject": "Fix it", "description": ""}}));
}

#[test]
fn a_task_is_shown() {
    let task = json!({
        "id": "3", "subject": "Fix it", "description": "All\nof it", "activeForm": "Fixing it", "status": "in_progress",
        "owner": "main", "blocks": ["4"], "blockedBy": ["1", "2"], "metadata": {"a": 1},
    });
    let outcome = tasks(&json!({"task": task})).call::<task_get>(json!({"taskId": "3"}));
    assert_eq!(
        outcome.text(),
        "#3 [in_progress] Fix it\nowner: main\nblocked by: #1, #2\nblocks: #4\nmetadata: {\"a\":1}\n\nAll\nof it"
    );
    assert_eq!(outcome.structured(), Some(json!({"task": task})));
    assert_eq!(args(&outcome), json!({"do": "get", "id": "3"}));
    let bare = json!({"id": "1", "subject": "a", "status": "pending", "blocks": [], "blockedBy": []});
    let outcome = tasks(&json!({"task": bare})).call::<task_get>(json!({"taskId": "1"}));
    assert_eq!(outcome.text(), "#1 [pending] a");
    let outcome = tasks(&json!({"notes": ["there are 1, 2"]})).call::<task_get>(json!({"taskId": "9"}));
    assert_eq!((outcome.text().as_str(), outcome.is_error()), ("No such task.\n[there are 1, 2]", false));
    assert_eq!(outcome.structured(), Some(json!({"task": null})));
}

#[test]
fn tasks_are_listed() {
    let list = json!([
        {"id": "1", "subject": "a", "status": "completed", "owner": "main", "blocks": ["2"], "blockedBy": []},
        {"id": "2", "subject": "b", "status": "pending", "blocks": [], "blockedBy": ["3", "4"]},
    ]);
    let host = answering("session.task", &json!({"count": 2, "hidden": 1}), &list);
    let outcome = host.call::<task_list>(json!({}));
    assert_eq!(outcome.text(), "#1 [completed] a (main)\n#2 [pending] b [blocked by #3, #4]");
    let want = json!({"tasks": [
        {"id": "1", "subject": "a", "status": "completed", "owner": "main", "blockedBy": []},
        {"id": "2", "subject": "b", "status": "pending", "blockedBy": ["3", "4"]},
    ]});
    assert_eq!(outcome.structured(), Some(want));
    assert_eq!(args(&outcome), json!({"do": "list"}));
    let outcome =
        answering("session.task", &json!({"notes": ["task 1 is lost"]}), &json!([])).call::<task_list>(json!({}));
    assert_eq!(outcome.text(), "No tasks.\n[task 1 is lost]");
}

#[test]
fn every_field_of_an_update_is_passed_on() {
    let host = tasks(&json!({"updated": ["subject"]}));
    let outcome = host.call::<task_update>(json!({
        "taskId": "3", "subject": "a", "description": "b", "activeForm": "c", "status": "in_progress", "owner": "",
        "addBlocks": ["4"], "addBlockedBy": ["1"], "metadata": {"a": null},
    }));
    let change = json!({
        "subject": "a", "description": "b", "activeForm": "c", "status": "in_progress", "owner": "",
        "addBlocks": ["4"], "addBlockedBy": ["1"], "metadata": {"a": null},
    });
    assert_eq!(args(&outcome), json!({"do": "update", "id": "3", "change": change}));
    for status in ["pending", "in_progress", "completed", "deleted"] {
        let outcome = host.call::<task_update>(json!({"taskId": "3", "status": status}));
        assert_eq!(args(&outcome), json!({"do": "update", "id": "3", "change": {"status": status}}));
    }
}

#[test]
fn what_became_of_an_update_is_told() {
    for (ok, text, structured) in [
        (
            json!({"updated": ["subject", "status", "owner"], "from": "pending", "to": "in_progress", "notes": ["task 3 waits for 1, not completed yet"]}),
            "Task #3: pending -> in_progress; changed: subject, owner.\n[task 3 waits for 1, not completed yet]"
                .to_owned(),
            json!({"success": true, "taskId": "3", "updatedFields": ["subject", "status", "owner"], "statusChange": {"from": "pending", "to": "in_progress"}}),
        ),
        (
            json!({"updated": ["status"], "from": "in_progress", "to": "completed", "unchecked": true}),
            format!("Task #3: in_progress -> completed.\n{UNCHECKED}"),
            json!({"success": true, "taskId": "3", "updatedFields": ["status"], "statusChange": {"from": "in_progress", "to": "completed"}, "verificationNudgeNeeded": true}),
        ),
        (
            json!({"updated": ["deleted"], "from": "pending", "to": "deleted"}),
            "Deleted task #3.".to_owned(),
            json!({"success": true, "taskId": "3", "updatedFields": ["deleted"], "statusChange": {"from": "pending", "to": "deleted"}}),
        ),
        (
            json!({"updated": ["blocks", "metadata"]}),
            "Task #3: changed blocks, metadata.".to_owned(),
            json!({"success": true, "taskId": "3", "updatedFields": ["blocks", "metadata"]}),
        ),
        (
            json!({"notes": ["nothing changed"]}),
            "Task #3 is as it was.\n[nothing changed]".to_owned(),
            json!({"success": true, "taskId": "3", "updatedFields": []}),
        ),
    ] {
        let outcome = tasks(&ok).call::<task_update>(json!({"taskId": "3", "owner": "x"}));
        assert_eq!(outcome.text(), text);
        assert_eq!(outcome.structured(), Some(structured));
        assert!(!outcome.is_error());
    }
}

#[test]
fn failures_are_passed_on() {
    let refused = || ToolError::new(ErrorCode::Denied, "a hook refused it");
    let host = ["session.todo", "session.task"]
        .into_iter()
        .fold(Host::new(), |host, name| host.on(name, move |_| Err(refused())));
    for outcome in [
        host.call::<todo_write>(json!({"todos": []})),
        host.call::<task_create>(json!({"subject": "a", "description": "b"})),
        host.call::<task_get>(json!({"taskId": "1"})),
        host.call::<task_list>(json!({})),
    ] {
        assert_eq!(outcome.error(), Some(&refused()));
    }
    let outcome = host.call::<task_update>(json!({"taskId": "1", "status": "completed"}));
    assert_eq!((outcome.error(), outcome.text()), (Some(&refused()), refused().to_string()));
    let want = json!({"success": false, "taskId": "1", "updatedFields": [], "error": "a hook refused it"});
    assert_eq!(outcome.structured(), Some(want));
}

#[test]
fn what_the_schema_refuses_reaches_no_host() {
    let host = Host::new();
    let long = "x".repeat(2001);
    for outcome in [
        host.call::<todo_write>(json!({})),
        host.call::<todo_write>(json!({"todos": {}})),
        host.call::<todo_write>(json!({"todos": [{"content": "a"}]})),
        host.call::<todo_write>(json!({"todos": [{"content": "", "status": "pending"}]})),
        host.call::<todo_write>(json!({"todos": [{"content": long, "status": "pending"}]})),
        host.call::<todo_write>(json!({"todos": [{"content": "a", "status": "done"}]})),
        host.call::<todo_write>(json!({"todos": [{"content": "a", "status": "pending", "priority": "urgent"}]})),
        host.call::<todo_write>(json!({"todos": vec![json!({"content": "a", "status": "pending"}); 201]})),
        host.call::<task_create>(json!({"subject": "a"})),
        host.call::<task_create>(json!({"description": "a"})),
        host.call::<task_create>(json!({"subject": "a", "description": "b", "activeForm": {}})),
        host.call::<task_create>(json!({"subject": "a", "description": "b", "metadata": []})),
        host.call::<task_get>(json!({"taskId": 1})),
        host.call::<task_list>(json!({"all": true})),
        host.call::<task_update>(json!({"status": "completed"})),
        host.call::<task_update>(json!({"taskId": "1", "status": "done"})),
        host.call::<task_update>(json!({"taskId": "1", "addBlocks": "2"})),
    ] {
        assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::InvalidInput), "{}", outcome.text());
        assert!(outcome.requests().is_empty());
    }
}
