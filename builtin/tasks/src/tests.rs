use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{ErrorCode, ToolError};

use crate::output::task_output;
use crate::sleep::sleep;
use crate::stop::task_stop;
use crate::words::{sentence, span};

/// A host whose one task is so.
fn host(ok: &Value, text: &'static str) -> Host {
    let ok = ok.clone();
    let stopped = ok.clone();
    Host::new()
        .on("task.output", move |_| Ok(Reply::new(ok.clone()).with_body(text)))
        .on("task.stop", move |_| Ok(Reply::new(stopped.clone())))
}

fn shown(ok: Value, text: &'static str) -> Outcome {
    host(&ok, text).call::<task_output>(json!({"task_id": "b1"}))
}

/// The arguments that a call of TaskOutput becomes.
fn arguments(input: Value) -> Value {
    let outcome = host(&json!({"id": "b1", "state": "running"}), "").call::<task_output>(input);
    assert!(!outcome.is_error(), "{}", outcome.text());
    outcome.requests()[0].args.clone()
}

#[test]
fn every_field_is_passed_on() {
    for (input, want) in [
        (json!({"task_id": "b1"}), json!({"id": "b1", "block": true, "timeout_ms": 30_000})),
        (json!({"task_id": "b1", "timeout": 600_000}), json!({"id": "b1", "block": true, "timeout_ms": 600_000})),
        // Neither waits.
        (json!({"task_id": "b1", "timeout": 0}), json!({"id": "b1"})),
        (json!({"task_id": "b1", "block": false, "timeout": 9}), json!({"id": "b1"})),
        (json!({"task_id": "b1", "block": false, "filter": "error|\\d+"}), json!({"id": "b1", "filter": "error|\\d+"})),
    ] {
        assert_eq!(arguments(input.clone()), want, "{input}");
    }
}

#[test]
fn new_output_is_passed_under_how_the_task_is() {
    let running = json!({
        "id": "b1", "kind": "bash", "state": "running", "title": "npm run dev", "from": 10, "to": 14, "bytes": 14,
        "elapsed_ms": 62_500, "output_file": "/s/b1.txt",
    });
    let outcome = shown(running, "two\n");
    assert_eq!(
        outcome.text(),
        "[task b1 (npm run dev) is running, for 1 min 2 s so far]\n\
         [new output: 4 of 14 bytes, from byte 10 on; its file is /s/b1.txt]\ntwo\n"
    );
    assert_eq!((outcome.bytes_read(), outcome.is_error(), outcome.content().len()), (0, false, 1));
    let want = json!({
        "task_id": "b1", "kind": "bash", "state": "running", "ended": false, "retrieval_status": "not_ready", "timed_out": false,
        "from": 10, "to": 14,
        "bytes": 14, "output_file": "/s/b1.txt", "elapsed_ms": 62_500,
    });
    assert_eq!(outcome.structured(), Some(want));
}

#[test]
fn it_says_whether_the_task_was_waited_for() {
    for (ok, want) in [
        (json!({"state": "running"}), "not_ready"),
        (json!({"state": "running", "timed_out": true}), "timeout"),
        (json!({"state": "completed", "ended": true}), "success"),
        (json!({"state": "lost", "ended": true}), "success"),
    ] {
        let mut task = ok.clone();
        task["id"] = json!("b1");
        let told: Value = shown(task, "").structured().expect("an answer");
        assert_eq!(told["retrieval_status"], want, "{ok}");
    }
}

#[test]
fn every_state_is_told() {
    for (task, want) in [
        (json!({"state": "pending"}), "[task b1 has not begun yet]\n[no output yet]"),
        (json!({"state": "running", "elapsed_ms": 900}), "[task b1 is running, for 900 ms so far]\n[no output yet]"),
        (
            json!({"state": "completed", "ended": true, "exit": 0, "elapsed_ms": 2_340}),
            "[task b1 completed after 2.3 s with exit status 0]\n[no output]",
        ),
        (
            json!({"state": "failed", "ended": true, "exit": 2, "elapsed_ms": 2_000, "reason": "It used more than 1 GiB. "}),
            "[task b1 failed after 2 s with exit status 2: It used more than 1 GiB]\n[no output]",
        ),
        (
            json!({"state": "killed", "ended": true, "exit": 143, "elapsed_ms": 7_260_000, "left": 1}),
            "[task b1 was ended after 2 h 1 min with exit status 143; left behind, and ended too: 1 process]\n\
             [no output]",
        ),
        (
            json!({"state": "lost", "ended": true, "reason": "its host ended before it did", "bytes": 5, "from": 5, "to": 5}),
            "[task b1 is lost: its host ended before it did]\n[no new output after 5 bytes]",
        ),
        (
            json!({"state": "asleep", "left": 3, "bytes": 1}),
            "[task b1 has not ended; left behind, and ended too: 3 processes]\n\
             [no new output after 1 byte]\n[there is more: call TaskOutput again to go on]",
        ),
    ] {
        let mut ok = task.clone();
        ok["id"] = json!("b1");
        let outcome = shown(ok, "");
        assert_eq!(outcome.text(), want, "{task}");
        assert!(!outcome.is_error(), "{task}");
    }
}

#[test]
fn waits_filters_and_long_outputs_are_told() {
    let ok = json!({
        "id": "b1", "state": "running", "elapsed_ms": 31_000, "timed_out": true, "from": 0, "to": 70_000,
        "bytes": 90_000, "skipped": 1_200,
    });
    let input = json!({"task_id": "b1", "filter": "x"});
    let text = host(&ok, "x1\nx2\n").call::<task_output>(&input).text();
    assert_eq!(
        text,
        "[task b1 is running, for 31 s so far]\n\
         [it did not end within 30 s: go on with something else, and the next result after its end says so, or wait \
         again]\n\
         [new output: 70000 of 90000 bytes, from byte 0 on]\n\
         [left out by the filter: 1200 new lines]\n\
         [there is more: call TaskOutput again to go on]\nx1\nx2\n"
    );
    let ok = json!({"id": "b1", "state": "completed", "ended": true, "exit": 0, "to": 4, "bytes": 4, "skipped": 1});
    let text = host(&ok, "").call::<task_output>(&input).text();
    assert_eq!(
        text,
        "[task b1 completed with exit status 0]\n[output: 4 bytes]\n[left out by the filter: 1 new line]\n"
    );
}

#[test]
fn a_task_is_stopped() {
    let ok = json!({
        "id": "b1", "kind": "bash", "state": "killed", "ended": true, "title": "npm run dev", "exit": 143,
        "reason": "it was stopped with TaskStop", "elapsed_ms": 5_000, "left": 2, "bytes": 90, "output_file": "/s/b1.txt",
    });
    let outcome = host(&ok, "").call::<task_stop>(json!({"task_id": "b1"}));
    assert_eq!(
        outcome.text(),
        "Task b1 (npm run dev) was ended after 5 s with exit status 143: it was stopped with TaskStop; left behind, and \
         ended too: 2 processes. Its output, 90 bytes, is in /s/b1.txt."
    );
    assert_eq!(outcome.requests()[0].args, json!({"id": "b1"}));
    let want = json!({"task_id": "b1", "kind": "bash", "state": "killed", "exit_code": 143, "elapsed_ms": 5_000});
    assert_eq!(outcome.structured(), Some(want));
}

#[test]
fn one_that_had_ended_is_no_error() {
    let ok = json!({"id": "b1", "state": "completed", "ended": true, "exit": 0, "reason": "it had ended already"});
    let outcome = host(&ok, "").call::<task_stop>(json!({"task_id": "b1"}));
    assert_eq!(outcome.text(), "Task b1 completed with exit status 0: it had ended already.");
    assert!(!outcome.is_error());
}

#[test]
fn sleep_says_how_long_and_who_woke_it() {
    let slept = |ok: Value| {
        let host = Host::new().on("task.sleep", move |_| Ok(Reply::new(ok.clone())));
        host.call::<sleep>(json!({"duration_ms": 60_000}))
    };
    let outcome = slept(json!({"slept_ms": 60_001}));
    assert_eq!(outcome.text(), "Waited 1 min 0 s.");
    assert_eq!(outcome.requests()[0].args, json!({"duration_ms": 60_000}));
    assert_eq!(outcome.structured(), Some(json!({"slept_ms": 60_001})));
    let outcome = slept(json!({"slept_ms": 1_250, "woken": "b1"}));
    assert_eq!(outcome.text(), "Waited 1.2 s of 1 min 0 s: then task b1 ended. TaskOutput shows what it has put out.");
    assert_eq!(outcome.structured(), Some(json!({"slept_ms": 1_250, "woken_by": "b1"})));
}

#[test]
fn failures_are_passed_on() {
    let missing = || ToolError::new(ErrorCode::NotFound, "no task b9; there is b1 (npm run dev)");
    let host = ["task.output", "task.stop", "task.sleep"]
        .into_iter()
        .fold(Host::new(), |host, name| host.on(name, move |_| Err(missing())));
    for outcome in [
        host.call::<task_output>(json!({"task_id": "b9"})),
        host.call::<task_stop>(json!({"task_id": "b9"})),
        host.call::<sleep>(json!({"duration_ms": 1})),
    ] {
        assert_eq!(outcome.error(), Some(&missing()));
    }
}

#[test]
fn times_are_told_as_people_do() {
    for (ms, want) in [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (1_099, "1 s"),
        (1_100, "1.1 s"),
        (59_999, "59.9 s"),
        (60_000, "1 min 0 s"),
        (3_599_999, "59 min 59 s"),
        (3_600_000, "1 h 0 min"),
        (u64::MAX, "5124095576030 h 25 min"),
    ] {
        assert_eq!(span(ms), want);
    }
    assert_eq!(sentence("é was"), "é was.");
    assert_eq!(sentence(""), ".");
}
