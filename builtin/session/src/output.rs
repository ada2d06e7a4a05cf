//! The tool StructuredOutput.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolquay::capability::Capability;
use toolquay::frame::{Part, PartType};
use toolquay::schema::Node;
use toolquay::{Context, Output, Schema, ToolError, tool};

/// An object as it was written: numbers of any length stay as they are.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Whole(Box<RawValue>);

// The manifest has a schema of its own, and each session another.
impl Schema for Whole {
    const NODE: Node = Node::Object(&[]);
}

/// A request of `session.output`.
#[derive(Serialize)]
struct OutputArgs<'a> {
    #[serde(skip)]
    json: &'a str,
}

/// Its answer.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputOk {
    replaced: bool,
}

impl Capability for OutputArgs<'_> {
    const NAME: &'static str = "session.output";
    type Ok = OutputOk;

    fn parts(&self) -> Vec<Part<'_>> {
        vec![Part { kind: PartType::Json, data: self.json.as_bytes() }]
    }
}

/// Hands over your final answer, in the form that the caller asked for.
///
/// - The caller reads the input of this call and nothing else that you write, so it must
///   hold all of the answer.
/// - Call it once, when the work is done. A later call takes the place of this one.
/// - If the input does not fit the schema, the error names every place. Correct them all
///   and call again.
#[tool(name = "StructuredOutput")]
pub fn structured_output(input: Whole, cx: &mut Context) -> Result<Output, ToolError> {
    let ok = cx.call(&OutputArgs { json: input.0.get() })?.ok;
    Ok(Output::text(match ok.replaced {
        true => "The output was taken, in place of the one before.",
        false => "The output was taken.",
    }))
}
