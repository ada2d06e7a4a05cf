//! The tool Skill.

use serde::{Deserialize, Serialize};
use toolquay::capability::Capability;
use toolquay::{Context, Output, Schema, ToolError, tool};

/// How many characters a result has room for; `max_result_chars` of the manifest.
const MAX_RESULT: usize = 100_000;

#[derive(Deserialize, Schema)]
pub struct SkillInput {
    /// The name of a skill that is listed above.
    #[schema(min_length = 1, max_length = 20_000)]
    skill: String,
    /// Arguments for it, as one text.
    #[schema(max_length = 20_000)]
    args: Option<String>,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct SkillOutput {
    /// Whether it was loaded.
    success: bool,
    /// The name of the skill.
    command_name: String,
    /// What the user allowed for the session, as the skill proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_tools: Option<Vec<String>>,
}

/// The arguments of `session.skill`.
#[derive(Serialize)]
struct SkillArgs<'a> {
    skill: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    args: &'a str,
}

/// Its answer.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SkillOk {
    name: String,
    source: String,
    dir: String,
    path: String,
    chars: usize,
    proposed: Vec<String>,
    allowed: Vec<String>,
    message: String,
}

impl Capability for SkillArgs<'_> {
    const NAME: &'static str = "session.skill";
    type Ok = SkillOk;
}

/// Loads a skill: instructions for a kind of work, which the result then holds.
///
/// - If a skill fits what is to be done, load it before you begin, and follow it.
/// - /name in what the user writes means the skill of that name.
/// - What a skill says is advice: it allows nothing, and the user's words count more.
#[tool(name = "Skill", output = SkillOutput)]
pub fn skill(input: SkillInput, cx: &mut Context) -> Result<Output, ToolError> {
    let args = input.args.unwrap_or_default();
    let answer = cx.call(&SkillArgs { skill: &input.skill, args: &args })?;
    let ok = answer.ok;
    let body = answer.body.into_string()?;
    let text = loaded(&ok, &body);
    let allowed_tools = (!ok.allowed.is_empty()).then_some(ok.allowed);
    let structured = SkillOutput { success: true, command_name: ok.name, allowed_tools };
    Ok(Output::text(text).structured(&structured))
}

/// The text of a skill, after what is to be known of it. What has no room is told.
fn loaded(ok: &SkillOk, body: &str) -> String {
    let mut text = format!("The skill {} ({})", ok.name, ok.source);
    if !ok.dir.is_empty() {
        text.push_str(&format!(", whose folder is {}: relative paths mean files there", ok.dir));
    }
    text.push_str(".\n");
    if !ok.allowed.is_empty() {
        text.push_str(&format!("The user allowed for this session: {}.\n", ok.allowed.join(", ")));
    } else if !ok.proposed.is_empty() {
        text.push_str(&format!(
            "It proposes to allow {}. Nothing of that was allowed by loading it.\n",
            ok.proposed.join(", ")
        ));
    }
    if !ok.message.is_empty() {
        text.push_str(&format!("The user said of that: {}\n", ok.message));
    }
    text.push('\n');
    let note = |left: usize| match ok.path.is_empty() {
        true => format!("\n[{left} more characters are left out]"),
        false => format!("\n[{left} more characters are left out; they are in {}]", ok.path),
    };
    let room = MAX_RESULT.saturating_sub(text.chars().count());
    if ok.chars <= room {
        text.push_str(body);
        return text;
    }
    let fits = room.saturating_sub(note(ok.chars).chars().count());
    text.extend(body.chars().take(fits));
    text.push_str(&note(ok.chars - fits));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolquay::testing::{Host, Outcome, Reply};
    use toolquay::{ErrorCode, ToolError};

    use super::{MAX_RESULT, skill};

    fn load(ok: Value, body: String, input: Value) -> Outcome {
        Host::new()
            .on("session.skill", move |_| Ok(Reply::new(ok.clone()).with_body(body.clone())))
            .call::<skill>(input)
    }

    #[test]
    fn a_skill_is_told_with_its_folder() {
        let ok = json!({"name": "pdf", "source": "user", "dir": "/s/pdf", "path": "/s/pdf/SKILL.md", "chars": 9});
        let outcome = load(ok, "Read it.\n".into(), json!({"skill": "pdf", "args": "a b"}));
        assert_eq!(
            outcome.text(),
            "The skill pdf (user), whose folder is /s/pdf: relative paths mean files there.\n\nRead it.\n"
        );
        assert_eq!(outcome.structured(), Some(json!({"success": true, "commandName": "pdf"})));
        assert_eq!(outcome.requests()[0].args, json!({"skill": "pdf", "args": "a b"}));
    }

    #[test]
    fn proposals_are_told_with_what_came_of_them() {
        let ok = |allowed: Value| json!({"name": "pdf", "source": "user", "chars": 1, "proposed": ["Read", "Bash(ls:*)"], "allowed": allowed, "message": "ask me later"});
        for (allowed, want) in [
            (json!([]), "It proposes to allow Read, Bash(ls:*). Nothing of that was allowed by loading it.\n"),
            (json!(["Bash(ls:*)"]), "The user allowed for this session: Bash(ls:*).\n"),
        ] {
            let outcome = load(ok(allowed.clone()), "a".into(), json!({"skill": "pdf"}));
            let text = format!("The skill pdf (user).\n{want}The user said of that: ask me later\n\na");
            assert_eq!(outcome.text(), text);
            let structured: Value = outcome.structured().expect("an output");
            assert_eq!(structured.get("allowedTools").cloned().unwrap_or(json!([])), allowed);
        }
        let outcome = load(ok(json!([])), "a".into(), json!({"skill": "pdf"}));
        assert_eq!(outcome.requests()[0].args, json!({"skill": "pdf"}));
    }

    #[test]
    fn what_has_no_room_is_told() {
        for (chars, path, ends) in [
            (100_000, "/s/a.md", "more characters are left out; they are in /s/a.md]"),
            (300_000, "", "more characters are left out]"),
        ] {
            let ok = json!({"name": "long", "source": "user", "path": path, "chars": chars});
            let outcome = load(ok, "ä".repeat(100_000), json!({"skill": "long"}));
            let text = outcome.text();
            assert!(text.ends_with(ends), "{}", &text[text.len() - 80..]);
            let shown = text.chars().filter(|c| *c == 'ä').count();
            assert!(text.contains(&format!("[{} more", chars - shown)));
            assert!(text.chars().count() <= MAX_RESULT && shown > 99_000, "{shown}");
        }
    }

    #[test]
    fn a_refusal_is_passed_on() {
        let outcome = Host::new()
            .on("session.skill", |_| Err(ToolError::new(ErrorCode::NotFound, "no such skill")))
            .call::<skill>(json!({"skill": "x"}));
        assert_eq!(outcome.error().map(|err| err.code), Some(ErrorCode::NotFound));
    }
}
