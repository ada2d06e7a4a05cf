use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{ErrorCode, ToolError};

use super::{enter_worktree, exit_worktree};

fn answering(ok: Value) -> Host {
    Host::new().on("session.worktree", move |_| Ok(Reply::new(ok.clone())))
}

fn structured(outcome: &Outcome) -> Value {
    outcome.structured().unwrap_or_default()
}

#[test]
fn entering_tells_where_the_session_works() {
    let ok = json!({"path": "/s/x", "branch": "worktree/x", "original": "/p", "notes": ["1 submodules are empty"]});
    for (input, want) in
        [(json!({}), json!({"do": "enter"})), (json!({"name": "x"}), json!({"do": "enter", "name": "x"}))]
    {
        let outcome = answering(ok.clone()).call::<enter_worktree>(input.clone());
        assert!(!outcome.is_error(), "{input}: {}", outcome.text());
        assert_eq!(outcome.requests()[0].args, want, "{input}");
        let text = outcome.text();
        for part in ["worktree /s/x, on the new branch worktree/x.", " in /p is not in it", "\n1 submodules are empty"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let want = json!({"worktreePath": "/s/x", "worktreeBranch": "worktree/x", "message": text});
        assert_eq!(structured(&outcome), want);
    }
}

#[test]
fn a_worktree_without_a_branch_has_none() {
    let outcome = answering(json!({"path": "/s/x", "original": "/p"})).call::<enter_worktree>(json!({}));
    assert!(!outcome.text().contains("branch"), "{}", outcome.text());
    assert_eq!(structured(&outcome).get("worktreeBranch"), None);
}

#[test]
fn leaving_says_what_was_lost() {
    let ok = json!({"path": "/s/x", "branch": "worktree/x", "original": "/p", "files": 2, "commits": 1});
    let kept = json!({"path": "/s/x", "branch": "worktree/x", "original": "/p"});
    let unknown =
        json!({"path": "/s/x", "branch": "worktree/x", "original": "/p", "notes": ["What was lost is not known."]});
    for (input, args, ok, says, lost) in [
        (json!({"action": "keep"}), json!({"do": "keep"}), &kept, "stays, on the branch worktree/x.", None),
        (
            json!({"action": "keep", "discard_changes": true}),
            json!({"do": "keep"}),
            &kept,
            "stays, on the branch worktree/x.",
            None,
        ),
        (
            json!({"action": "remove"}),
            json!({"do": "remove"}),
            &kept,
            "nothing was lost with it but files that git ignores.",
            Some((0, 0)),
        ),
        (
            json!({"action": "remove", "discard_changes": true}),
            json!({"do": "remove", "discard": true}),
            &unknown,
            "is left for good.\nWhat was lost is not known.",
            Some((0, 0)),
        ),
        (
            json!({"action": "remove", "discard_changes": true}),
            json!({"do": "remove", "discard": true}),
            &ok,
            "this was lost with it: 2 uncommitted, 1 committed nowhere else.",
            Some((2, 1)),
        ),
    ] {
        let outcome = answering(ok.clone()).call::<exit_worktree>(input.clone());
        assert!(!outcome.is_error(), "{input}: {}", outcome.text());
        assert_eq!(outcome.requests()[0].args, args, "{input}");
        let text = outcome.text();
        assert!(text.starts_with("The session is in /p again. The worktree /s/x ") && text.ends_with(says), "{text}");
        let mut want = json!({
            "action": input["action"], "originalCwd": "/p", "worktreePath": "/s/x", "worktreeBranch": "worktree/x", "message": text,
        });
        if let Some((files, commits)) = lost {
            want["discardedFiles"] = json!(files);
            want["discardedCommits"] = json!(commits);
        }
        assert_eq!(structured(&outcome), want, "{input}");
    }
}

#[test]
fn what_the_host_refuses_is_the_result() {
    let host = || Host::new().on("session.worktree", |_| Err(ToolError::new(ErrorCode::Denied, "it would be lost")));
    for outcome in [host().call::<enter_worktree>(json!({})), host().call::<exit_worktree>(json!({"action": "remove"}))]
    {
        let error = outcome.error().expect("an error");
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::Denied, "it would be lost"));
    }
}

#[test]
fn other_actions_are_none() {
    for input in [json!({}), json!({"action": "lose"}), json!({"action": "keep", "discard_changes": "yes"})] {
        assert!(answering(json!({})).call::<exit_worktree>(input.clone()).is_error(), "{input}");
    }
}
