//! The tool EnterPlanMode.

use serde::{Deserialize, Serialize};
use toolquay::{Context, Output, Schema, ToolError, tool};

use super::requests::{Do, PlanArgs};

#[derive(Deserialize, Schema)]
pub struct EnterPlanModeInput {}

#[derive(Serialize, Schema)]
pub struct EnterPlanModeOutput {
    /// What the call did, in a sentence.
    message: String,
}

/// Enters the mode plan: until the person accepts a plan, files can be read and nothing but the
/// plan file can be changed.
///
/// - For work whose way is open: several designs would do, much would change, or it is not
///   clear what is wanted. Not for a change that is clear, or for questions.
/// - The result names the plan file. Look around, write the plan to it, and call ExitPlanMode.
#[tool(name = "EnterPlanMode", output = EnterPlanModeOutput)]
pub fn enter_plan_mode(_: EnterPlanModeInput, cx: &mut Context) -> Result<Output, ToolError> {
    let ok = cx.call(&PlanArgs { what: Do::Enter, proposals: &[] })?.ok;
    let is = if ok.already { "The mode is plan already." } else { "The mode is now plan." };
    let message = format!(
        "{is} Change nothing but the plan file: {}. Find out what is there and what is wanted, write the plan to that \
         file in Markdown, and call ExitPlanMode, which shows it to the person.",
        ok.path
    );
    Ok(Output::text(message.clone()).structured(&EnterPlanModeOutput { message }))
}
