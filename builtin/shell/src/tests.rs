use serde_json::{Value, json};
use toolquay::testing::{Host, Outcome, Reply};
use toolquay::{ErrorCode, ToolError};

use crate::bash::bash;
use crate::exit::{failure, harmless};
use crate::notes::seconds;
use crate::powershell::powershell;

/// A host on which every command ends so, with this output.
fn host(ok: Value, output: &'static [u8]) -> Host {
    let mut ok = ok;
    if ok.get("out_size").is_none() {
        ok["out_size"] = json!(output.len());
        ok["bytes"] = json!(output.len());
    }
    Host::new().on("shell.run", move |_| Ok(Reply::new(ok.clone()).with_body(output)))
}

fn ran(ok: Value, output: &'static str) -> Outcome {
    host(ok, output.as_bytes()).call::<bash>(json!({"command": "x"}))
}

fn structured(outcome: &Outcome) -> Value {
    outcome.structured().expect("a structured answer")
}

#[test]
fn every_field_is_passed_on() {
    let arguments = |outcome: Outcome| outcome.requests()[0].args.clone();
    let host = host(json!({"exit": 0}), b"");
    // The command runs as it came, whatever is around it.
    assert_eq!(arguments(host.call::<bash>(json!({"command": " ls\n# é\n "}))), json!({"command": " ls\n# é\n "}));
    let all = json!({
        "command": "make", "timeout": 5_000, "description": "Build", "run_in_background": true,
        "dangerouslyDisableSandbox": true,
    });
    let mut want = json!({
        "command": "make", "timeout_ms": 5_000, "description": "Build", "background": true, "unsandboxed": true,
    });
    assert_eq!(arguments(host.call::<bash>(&all)), want);
    want["shell"] = json!("powershell");
    assert_eq!(arguments(host.call::<powershell>(&all)), want);
}

#[test]
fn output_passes_by_the_guest() {
    let outcome = ran(json!({"exit": 0, "lines": 2, "sandboxed": true, "duration_ms": 12}), "one\ntwo\n");
    assert_eq!((outcome.text().as_str(), outcome.content().len()), ("one\ntwo\n", 1));
    assert_eq!((outcome.bytes_read(), outcome.is_error()), (0, false));
    let want = json!({
        "exit_code": 0, "timed_out": false, "bytes": 8, "lines": 2, "invalid": 0, "sandboxed": true, "duration_ms": 12,
    });
    assert_eq!(structured(&outcome), want);
    let failed = ran(json!({"exit": 2, "program": "make"}), "no rule\n");
    assert_eq!((failed.text().as_str(), failed.bytes_read()), ("[exit status 2]\nno rule\n", 0));
    assert!(failed.is_error());
}

#[test]
fn no_output_is_said() {
    assert_eq!(ran(json!({"exit": 0}), "").text(), "(Bash completed with no output)");
    let outcome = host(json!({"exit": 0}), b"").call::<powershell>(json!({"command": "x"}));
    assert_eq!(outcome.text(), "(PowerShell completed with no output)");
    assert_eq!(ran(json!({"exit": 3}), "").text(), "[exit status 3]");
}

#[test]
fn exit_statuses_are_explained() {
    for (program, exit, want) in [
        ("grep", 1, "[exit status 1, which is no failure: nothing matched]"),
        ("/usr/bin/rg", 1, "[exit status 1, which is no failure: nothing matched]"),
        ("rg", 2, "[exit status 2, which is no failure: all else but what is hidden was searched]"),
        ("git grep", 1, "[exit status 1, which is no failure: nothing matched]"),
        ("diff", 1, "[exit status 1, which is no failure: the files differ]"),
        ("git diff", 1, "[exit status 1, which is no failure: the files differ]"),
        ("git diff-index", 1, "[exit status 1, which is no failure: the files differ]"),
        ("[", 1, "[exit status 1, which is no failure: the condition does not hold]"),
        ("find", 1, "[exit status 1, which is no failure: some places could not be searched]"),
        ("pgrep", 1, "[exit status 1, which is no failure: no process matched]"),
        (r"C:\Windows\System32\robocopy.exe", 3, "[exit status 3, which is no failure: files were copied, or differ]"),
    ] {
        let outcome = ran(json!({"exit": exit, "program": program}), "");
        assert_eq!(outcome.text(), want, "{program}");
        assert!(!outcome.is_error(), "{program}");
        assert_eq!(structured(&outcome)["exit_code"], exit);
    }
    for (program, exit, want) in [
        ("awk", 2, "[exit status 2]"),
        ("test", 2, "[exit status 2]"),
        ("git", 1, "[exit status 1]"),
        ("", 1, "[exit status 1]"),
        ("robocopy", 8, "[exit status 8]"),
        ("notgrep", 1, "[exit status 1]"),
        ("timeout", 124, "[exit status 124: what timeout has for a command that took too long]"),
        ("./x", 126, "[exit status 126: what was named is there and cannot be run]"),
        ("nonesuch", 127, "[exit status 127: there is no such command]"),
        ("sh", 137, "[exit status 137: what a shell has for a command that SIGKILL ended]"),
        ("sh", 138, "[exit status 138: what a shell has for a command that signal 10 ended]"),
        ("", 128, "[exit status 128]"),
        ("", 255, "[exit status 255]"),
        ("", -1, "[exit status -1]"),
    ] {
        let outcome = ran(json!({"exit": exit, "program": program}), "");
        assert_eq!(outcome.text(), want, "{program}");
        assert!(outcome.is_error(), "{program} {exit}");
    }
    assert_eq!(structured(&ran(json!({"exit": 127}), ""))["meaning"], "there is no such command");
}

#[test]
fn success_needs_no_explanation() {
    for program in ["", "grep", "diff", "timeout", "robocopy"] {
        assert_eq!((harmless(program, 0), failure(0)), (None, None), "{program}");
    }
}

#[test]
fn what_ended_a_command_is_told() {
    for (ok, want, key, value) in [
        (
            json!({"exit": 137, "signal": "SIGKILL", "timed_out": true, "timeout_ms": 2_500}),
            "[ended at its time limit of 2.5 s]\n",
            "timed_out",
            json!(true),
        ),
        (
            json!({"exit": 137, "signal": "SIGKILL", "limit": "memory", "limit_text": "it took more than 4 GiB of memory"}),
            "[ended, as it took more than 4 GiB of memory]\n",
            "limit",
            json!("memory"),
        ),
        (json!({"exit": 137, "limit": "cpu"}), "[ended, as it went over its limit of cpu]\n", "limit", json!("cpu")),
        (
            json!({"exit": 139, "signal": "SIGSEGV", "program": "grep"}),
            "[ended by SIGSEGV, exit status 139]\n",
            "signal",
            json!("SIGSEGV"),
        ),
    ] {
        let outcome = ran(ok.clone(), "so far\n");
        assert_eq!(outcome.text(), want.to_owned() + "so far\n", "{ok}");
        assert!(outcome.is_error(), "{ok}");
        assert_eq!(structured(&outcome)[key], value, "{ok}");
    }
}

#[test]
fn a_task_is_named_with_what_can_be_done() {
    let then = "; TaskOutput shows what it puts out, TaskStop ends it, and you are told when it ends]\n\
                [its output goes to /s/b1.txt]";
    for (background, want) in [
        (json!("asked"), "[started in the background as task b1"),
        (json!("timeout"), "[not ended within 120 s: it goes on in the background as task b1"),
        (json!("budget"), "[not ended within 15 s: it goes on in the background as task b1"),
        (json!("person"), "[moved to the background by the user, where it goes on as task b1"),
        (json!("of_tomorrow"), "[moved to the background, where it goes on as task b1"),
    ] {
        let ok = json!({
            "task": "b1", "background": background, "timeout_ms": 120_000, "duration_ms": 15_000,
            "output_file": "/s/b1.txt",
        });
        let outcome = ran(ok.clone(), "");
        assert_eq!(outcome.text(), want.to_owned() + then);
        assert!(!outcome.is_error());
        let structured = structured(&outcome);
        assert_eq!((&structured["task_id"], structured.get("exit_code")), (&json!("b1"), None));
        // What it has put out until then is shown.
        assert_eq!(ran(ok, "so far").text(), format!("{want}{then}\nso far"));
    }
}

#[test]
fn the_working_directory_follows() {
    let outcome = ran(json!({"exit": 0, "cwd": "/project/sub"}), "x\n");
    assert_eq!(outcome.text(), "[the working directory is now /project/sub]\nx\n");
    assert_eq!(structured(&outcome)["cwd"], "/project/sub");
    assert_eq!(outcome.changes(), [("cwd".to_owned(), json!("/project/sub"))]);
    let outcome = ran(json!({"exit": 1, "refused": "/etc"}), "");
    assert_eq!(
        outcome.text(),
        "[exit status 1]\n[the working directory is still /project: /etc is outside the session's directories]"
    );
    assert_eq!(outcome.changes(), []);
}

#[test]
fn notes_come_before_the_output() {
    let ok = json!({
        "exit": 1, "note": "the sandbox has no network. ", "left": 2, "invalid": 1, "output_file": "/s/out.txt",
        "bytes": 70_000, "out_size": 2,
    });
    assert_eq!(
        ran(ok, "x\n").text(),
        "[exit status 1]\n\
         [the sandbox has no network]\n\
         [left behind, and ended: 2 processes]\n\
         [all of the output, 70000 bytes, is in /s/out.txt]\n\
         [not UTF-8, and shown as U+FFFD: 1 byte of the output]\nx\n"
    );
    let cut = json!({"exit": 0, "output_file": "/s/out.txt", "bytes": 70_000, "kept": 900, "out_size": 2});
    assert_eq!(ran(cut, "x\n").text(), "[of the output, 70000 bytes, the first 900 are kept, in /s/out.txt]\nx\n");
    let one = ran(json!({"exit": 0, "left": 1}), "").text();
    assert!(one.starts_with("[left behind, and ended: 1 process]"), "{one}");
}

#[test]
fn an_image_is_shown() {
    const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\xff";
    let shown = |ok: Value| host(ok, PIXEL).call::<bash>(json!({"command": "x"}));
    let outcome = shown(json!({"exit": 0, "media_type": "image/png"}));
    let [image] = outcome.content() else { panic!("{:?}", outcome.content()) };
    assert_eq!((image.kind.as_str(), image.media_type.as_str(), &image.data[..]), ("image", "image/png", PIXEL));
    assert_eq!(outcome.bytes_read(), 0);
    let outcome = shown(json!({"exit": 0, "media_type": "image/png", "cwd": "/project/a"}));
    let kinds: Vec<_> = outcome.content().iter().map(|block| block.kind.as_str()).collect();
    assert_eq!((kinds, outcome.text().as_str()), (vec!["text", "image"], "[the working directory is now /project/a]"));
    // A failure is text alone.
    let outcome = shown(json!({"exit": 1, "media_type": "image/png"}));
    assert_eq!(outcome.text(), "[exit status 1]\n[the output is an image, image/png, which is not shown]");
    assert!(outcome.is_error() && outcome.content().len() == 1);
}

#[test]
fn failures_are_passed_on() {
    let missing = || ToolError::new(ErrorCode::Unsupported, "there is no pwsh here");
    let host = Host::new().on("shell.run", move |_| Err(missing()));
    assert_eq!(host.call::<powershell>(json!({"command": "x"})).error(), Some(&missing()));
    assert_eq!(host.call::<bash>(json!({"command": "x"})).error(), Some(&missing()));
}

#[test]
fn both_tools_take_the_same() {
    use toolquay::schema::to_json;
    use toolquay::{Schema, Tool};
    let names = |text: String| -> Vec<String> {
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        schema["properties"].as_object().expect("properties").keys().cloned().collect()
    };
    let of_bash = names(to_json(&<<bash as Tool>::Input as Schema>::NODE));
    let of_powershell = names(to_json(&<<powershell as Tool>::Input as Schema>::NODE));
    assert_eq!(of_bash, of_powershell);
    let want = ["command", "dangerouslyDisableSandbox", "description", "run_in_background", "timeout"];
    assert_eq!(of_bash, want);
}

#[test]
fn times_are_told_in_seconds() {
    for (ms, want) in [(0, "0 s"), (99, "0 s"), (100, "0.1 s"), (1_000, "1 s"), (120_000, "120 s"), (1_950, "1.9 s")] {
        assert_eq!(seconds(ms), want);
    }
}
