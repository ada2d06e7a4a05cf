use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolquay::ErrorCode;
use toolquay::testing::{Host, Outcome, Reply};

use super::{CronJob, CronOk, cron_create, cron_delete, cron_list};

fn answers(ok: Value, body: &'static str) -> Host {
    Host::new().on("session.cron", move |_| Ok(Reply::new(ok.clone()).with_body(body)))
}

fn made(recurring: bool, durable: bool) -> Value {
    json!({"id": "cabc", "cron": "*/5 * * * *", "humanSchedule": "Every 5 minutes", "prompt": "look",
        "recurring": recurring, "durable": durable, "next": "2026-11-28T16:00:00+01:00"})
}

fn done(outcome: &Outcome) -> (String, Value) {
    assert!(!outcome.is_error(), "{}", outcome.text());
    (outcome.text(), outcome.structured().unwrap_or_default())
}

#[test]
fn a_new_job_recurs_unless_told_otherwise() {
    let asked = |input: Value| {
        let outcome = answers(json!({"job": made(true, false)}), "").call::<cron_create>(input);
        outcome.requests()[0].args.clone()
    };
    assert_eq!(
        asked(json!({"cron": "*/5 * * * *", "prompt": "look"})),
        json!({"do": "create", "cron": "*/5 * * * *", "prompt": "look", "recurring": true})
    );
    assert_eq!(
        asked(json!({"cron": "1 2 3 4 *", "prompt": "x", "recurring": false, "durable": true})),
        json!({"do": "create", "cron": "1 2 3 4 *", "prompt": "x", "durable": true})
    );
}

#[test]
fn a_new_job_is_told() {
    let input = json!({"cron": "*/5 * * * *", "prompt": "look"});
    let outcome = answers(json!({"job": made(true, false)}), "").call::<cron_create>(input.clone());
    let want = "Scheduled cabc: Every 5 minutes, for 7 days at most, while this session runs. Next: 2026-11-28T16:00:00+01:00.";
    let (text, structured) = done(&outcome);
    assert_eq!(text, want);
    assert_eq!(
        structured,
        json!({"id": "cabc", "humanSchedule": "Every 5 minutes", "recurring": true, "next": "2026-11-28T16:00:00+01:00"})
    );
    let outcome =
        answers(json!({"job": made(false, true), "notes": ["a file is damaged"]}), "").call::<cron_create>(input);
    let (text, structured) = done(&outcome);
    assert!(text.contains(", once, in later sessions too.") && text.ends_with("\n[a file is damaged]"), "{text}");
    assert_eq!((&structured["recurring"], &structured["durable"]), (&json!(false), &json!(true)));
}

#[test]
fn a_deleted_job_is_told() {
    let outcome = answers(json!({"job": made(true, false)}), "").call::<cron_delete>(json!({"id": "cabc"}));
    assert_eq!(outcome.requests()[0].args, json!({"do": "delete", "id": "cabc"}));
    assert_eq!(done(&outcome), ("Deleted cabc: Every 5 minutes.".to_owned(), json!({"id": "cabc"})));
}

#[test]
fn jobs_are_listed() {
    let jobs = r#"[{"id":"c1","cron":"* * * * *","humanSchedule":"Every minute","prompt":"a","recurring":true,"next":"N"},
        {"id":"c2","cron":"0 9 * * *","humanSchedule":"Every day at 09:00","prompt":"b\nc","recurring":false,"durable":true,"agent":"helper"}]"#;
    let outcome = answers(json!({"notes": ["a note"]}), jobs).call::<cron_list>(json!({}));
    let (text, structured) = done(&outcome);
    assert_eq!(text, "c1 Every minute, next N: a\nc2 Every day at 09:00, once, durable, of helper: b\nc\n[a note]");
    assert_eq!(
        structured,
        json!({"jobs": [
            {"id": "c1", "cron": "* * * * *", "humanSchedule": "Every minute", "prompt": "a", "recurring": true, "next": "N"},
            {"id": "c2", "cron": "0 9 * * *", "humanSchedule": "Every day at 09:00", "prompt": "b\nc", "durable": true, "agent": "helper"},
        ]})
    );
    let (text, structured) = done(&answers(json!({}), "[]").call::<cron_list>(json!({})));
    assert_eq!((text.as_str(), structured), ("Nothing is scheduled.", json!({"jobs": []})));
}

#[test]
fn nonsense_of_the_host_is_an_error() {
    let of = |outcome: Outcome| outcome.error().map(|err| err.code);
    assert_eq!(
        of(answers(json!({}), "").call::<cron_create>(json!({"cron": "x", "prompt": "y"}))),
        Some(ErrorCode::Protocol)
    );
    assert_eq!(of(answers(json!({}), "").call::<cron_delete>(json!({"id": "c"}))), Some(ErrorCode::Protocol));
    assert_eq!(of(answers(json!({}), "{").call::<cron_list>(json!({}))), Some(ErrorCode::Protocol));
}

#[test]
fn the_types_have_the_fields_of_the_host() {
    let names = |value: Value| value.as_object().map(|fields| fields.keys().cloned().collect::<BTreeSet<_>>());
    let of = |list: &[&str]| Some(list.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>());
    assert_eq!(names(json!(CronOk::default())), of(&["job", "notes"]));
    assert_eq!(
        names(json!(CronJob::default())),
        of(&["id", "cron", "humanSchedule", "prompt", "recurring", "durable", "next", "agent"])
    );
}
