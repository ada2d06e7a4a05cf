//! The tool Config.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolquay::capability::Capability;
use toolquay::schema::Node;
use toolquay::{AssessContext, Assessment, Context, ErrorCode, Output, Schema, ToolError, tool};

/// A value as it was written.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl Schema for Raw {
    const NODE: Node = Node::Any;
}

#[derive(Deserialize, Schema)]
pub struct ConfigInput {
    setting: String,
    value: Option<Raw>,
}

#[derive(Default, Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigOutput {
    /// Whether it was read or set.
    success: bool,
    /// get or set.
    operation: Option<&'static str>,
    /// The setting.
    setting: Option<String>,
    /// What counts, where it was read; null where the setting is not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Raw>,
    /// What counted before it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_value: Option<Raw>,
    /// What counts since.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_value: Option<Raw>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The arguments of `session.config`.
#[derive(Serialize)]
struct ConfigArgs<'a> {
    setting: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Raw>,
}

/// Its answer.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ConfigOk {
    value: Option<Box<RawValue>>,
    previous: Option<Box<RawValue>>,
    new: Option<Box<RawValue>>,
    source: String,
}

impl Capability for ConfigArgs<'_> {
    const NAME: &'static str = "session.config";
    type Ok = ConfigOk;
}

/// Reads a setting of this program, or sets it for the user.
///
/// - Without a value it reads; with one it sets, for which the user is asked. What is set
///   counts at once and in later sessions.
/// - Only some settings are open to you: how calls are scheduled, how long results and
///   commands may be, and which tools to leave out. Others are for the user to change.
#[tool(name = "Config", output = ConfigOutput, assess = assess)]
pub fn config(input: ConfigInput, cx: &mut Context) -> Result<Output, ToolError> {
    let ConfigInput { setting, value } = input;
    let operation = if value.is_some() { "set" } else { "get" };
    let answer = cx.call(&ConfigArgs { setting: &setting, value: value.as_ref() });
    let blank =
        ConfigOutput { success: true, operation: Some(operation), setting: Some(setting), ..ConfigOutput::default() };
    match answer.map(|answer| answer.ok) {
        Ok(ok) if value.is_some() => Ok(Output::text(format!(
            "{} is {} now; it was {}.",
            named(&blank),
            shown(ok.new.as_deref()),
            shown(ok.previous.as_deref())
        ))
        .structured(&ConfigOutput {
            previous_value: Some(or_null(ok.previous)),
            new_value: Some(or_null(ok.new)),
            ..blank
        })),
        Ok(ok) => Ok(Output::text(format!("{} is {}{}.", named(&blank), shown(ok.value.as_deref()), from(&ok.source)))
            .structured(&ConfigOutput { value: Some(or_null(ok.value)), ..blank })),
        Err(err) if told(err.code) => {
            let structured = ConfigOutput { success: false, error: Some(err.message.clone()), ..blank };
            Ok(Output::new().structured(&structured).failed(err))
        }
        Err(err) => Err(err),
    }
}

/// Whether a failure is the setting's or the value's, and not that of a permission or of the
/// call.
fn told(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::InvalidInput | ErrorCode::NotFound | ErrorCode::Disabled | ErrorCode::Io)
}

fn named(output: &ConfigOutput) -> &str {
    output.setting.as_deref().unwrap_or_default()
}

fn shown(value: Option<&RawValue>) -> &str {
    value.map_or("not set", RawValue::get)
}

fn from(source: &str) -> String {
    if source.is_empty() { String::new() } else { format!(" ({source})") }
}

fn or_null(value: Option<Box<RawValue>>) -> Raw {
    Raw(value.unwrap_or_else(|| RawValue::NULL.to_owned()))
}

fn assess(input: &ConfigInput, _cx: &AssessContext) -> Assessment {
    let reads = input.value.is_none();
    let line = match &input.value {
        None => format!("read {}", input.setting),
        Some(value) => format!("set {} to {}", input.setting, value.0.get()),
    };
    Assessment::new().read_only(reads).concurrency_safe(reads).destructive(false).rendering(line)
}
