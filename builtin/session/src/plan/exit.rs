//! The tool ExitPlanMode.

use serde::{Deserialize, Serialize};
use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};

use super::requests::{Do, PlanArgs, PlanOk, Proposal, refusal};

#[derive(Deserialize, Schema)]
pub struct ExitPlanModeInput {
    /// Kinds of call that following the plan will need, which the person is shown. They allow
    /// nothing: what the person allows, they write themselves.
    #[serde(rename = "allowedPrompts", default)]
    #[schema(max_items = 50)]
    allowed_prompts: Vec<AllowedPrompt>,
}

#[derive(Deserialize, Schema)]
struct AllowedPrompt {
    /// The tool, such as Bash.
    #[schema(min_length = 1, max_length = 200)]
    tool: String,
    /// What it is to do, in a few words, such as: run the tests.
    #[schema(min_length = 1, max_length = 500)]
    prompt: String,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ExitPlanModeOutput {
    /// The plan that the person accepted.
    plan: String,
    /// Whether it is the plan of another agent than the main one.
    #[serde(rename = "isAgent")]
    is_agent: bool,
    /// The file that it lies in.
    #[serde(rename = "filePath", skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    /// Whether the person changed it.
    #[serde(rename = "planWasEdited", skip_serializing_if = "Option::is_none")]
    plan_was_edited: Option<bool>,
    /// Whether it waits for the leader of a team.
    #[serde(rename = "awaitingLeaderApproval", skip_serializing_if = "Option::is_none")]
    awaiting_leader_approval: Option<bool>,
    /// The request that the leader is to answer.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

/// Shows the plan file to the person, who accepts, changes or refuses it. If they accept it,
/// the mode plan is over.
///
/// - First write the plan to the plan file. The plan is taken from there, not from the call.
/// - Only for plans of changes. To ask the person something, use AskUserQuestion; do not ask
///   in other ways whether the plan is good.
/// - If they refuse it, change the plan as they say, and call this again.
#[tool(name = "ExitPlanMode", output = ExitPlanModeOutput)]
pub fn exit_plan_mode(input: ExitPlanModeInput, cx: &mut Context) -> Result<Output, ToolError> {
    let proposals: Vec<_> =
        input.allowed_prompts.into_iter().map(|p| Proposal { tool: p.tool, prompt: p.prompt }).collect();
    let answer = cx.call(&PlanArgs { what: Do::Exit, proposals: &proposals })?;
    let ok = answer.ok;
    if ok.declined {
        let text = refusal("The person did not accept the plan", &ok.message);
        let then = format!(
            "{text}\nThe mode is still {}. Change the plan in {}, and call ExitPlanMode again.",
            ok.mode, ok.path
        );
        return Err(ToolError::new(ErrorCode::Denied, then));
    }
    let plan = answer.body.into_string()?;
    let text = accepted(&ok, &plan);
    let structured = ExitPlanModeOutput {
        plan,
        is_agent: ok.agent,
        file_path: Some(ok.path),
        plan_was_edited: Some(ok.edited),
        awaiting_leader_approval: None,
        request_id: None,
    };
    Ok(Output::text(text).structured(&structured))
}

/// Says what the person accepted. The model wrote the plan, so it is repeated only where it is
/// not what the model wrote.
fn accepted(ok: &PlanOk, plan: &str) -> String {
    let mut text = format!("The person accepted the plan. The mode is now {}: begin with the work.", ok.mode);
    if !ok.rules.is_empty() {
        text.push_str(&format!(" They allow, in this session: {}.", ok.rules.join(", ")));
    }
    match ok.edited {
        true => text.push_str(&format!(" They changed the plan; {} now says:\n\n{plan}", ok.path)),
        false => text.push_str(&format!(" It is in {}.", ok.path)),
    }
    text
}
