//! Tools, and the two exports that run them.

use serde::de::DeserializeOwned;

use crate::assess::{AssessContext, Assessment};
use crate::context::Context;
use crate::error::{ErrorCode, ToolError};
use crate::frame::{Frame, PartType};
use crate::json::Object;
use crate::output::{self, Output};
use crate::schema::{Node, Piece, Schema};
use crate::wire::{AssessHead, CallHead};

/// A tool. The attribute [`#[tool]`](macro@crate::tool) makes one of a function:
///
/// ```
/// use toolquay::{Assessment, AssessContext, Context, Output, Schema, ToolError, tool};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Input {
///     /// The file to count.
///     path: String,
/// }
///
/// /// Counts the lines of a file.
/// #[tool(name = "LineCount", assess = check)]
/// fn line_count(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
///     let text = cx.fs().read_to_string(&input.path)?;
///     Ok(Output::text(format!("{} lines", text.lines().count())))
/// }
///
/// fn check(input: &Input, _cx: &AssessContext) -> Assessment {
///     if input.path.is_empty() { Assessment::invalid("path is empty") } else { Assessment::new() }
/// }
///
/// let host = toolquay::testing::Host::new().without_manifest().with_file("a.txt", "one\ntwo\n");
/// assert_eq!(host.call::<line_count>(serde_json::json!({"path": "a.txt"})).text(), "2 lines");
/// ```
///
/// The function takes its input and, if it wants one, a `&mut Context`; it
/// returns an [`Output`], a `String`, or a `Result` of what becomes an `Output`.
/// Its doc comment is the description the model reads, unless `plugin.toml` has
/// one. `assess = path` names a function that is asked about an input before it
/// runs; `output = Type` gives the schema of the structured answer. `lines(use = "{path}",
/// result = "{result.lines|line}")` are templates for what people are shown of a call behind
/// the tool's name, and `classifier_text = "..."` one for judges, unless `plugin.toml` has
/// them; see [`Lines`](crate::Lines). There are no other lines than those:
///
/// ```compile_fail
/// #[derive(serde::Deserialize, toolquay::Schema)]
/// struct Input {}
///
/// #[toolquay::tool(name = "Show", lines(using = "it"))]
/// fn show(_input: Input) -> toolquay::Output {
///     toolquay::Output::new()
/// }
/// ```
///
/// Besides the function there is then a type of the same name that implements this trait.
pub trait Tool {
    /// What the model calls.
    const NAME: &'static str;
    /// What the model is told.
    const DESCRIPTION: &'static str;
    /// The schema of the structured answer, if there is one.
    const OUTPUT: Option<Node> = None;
    /// Templates for the lines that people are shown of a call, by their names in the
    /// manifest: queued, use, progress, result, rejection, error. See [`Lines`](crate::Lines).
    const LINES: &'static [(&'static str, &'static str)] = &[];
    /// The template of what a judge is shown of the input; empty is all of it.
    const CLASSIFIER_TEXT: &'static str = "";
    /// The arguments.
    type Input: Schema + DeserializeOwned;

    /// Runs the tool.
    ///
    /// # Errors
    ///
    /// What the model is told went wrong.
    fn call(input: Self::Input, cx: &mut Context) -> Result<Output, ToolError>;

    /// Answers what the host asks before the tool runs.
    fn assess(input: &Self::Input, cx: &AssessContext) -> Assessment {
        let _ = (input, cx);
        Assessment::new()
    }
}

/// One tool in a plugin's table.
#[doc(hidden)]
pub struct ToolEntry {
    name: &'static str,
    call: fn(&[u8], &mut Context) -> Result<Output, ToolError>,
    assess: fn(&[u8], &AssessContext) -> Assessment,
}

impl ToolEntry {
    #[must_use]
    pub const fn of<T: Tool>() -> Self {
        Self { name: T::NAME, call: run::<T>, assess: ask::<T> }
    }
}

/// What the module says of the tool in its custom section.
#[doc(hidden)]
#[must_use]
pub const fn piece<T: Tool>() -> Piece {
    Piece {
        name: T::NAME,
        description: T::DESCRIPTION,
        input: <T::Input as Schema>::NODE,
        output: T::OUTPUT,
        lines: T::LINES,
        classifier_text: T::CLASSIFIER_TEXT,
    }
}

fn run<T: Tool>(input: &[u8], cx: &mut Context) -> Result<Output, ToolError> {
    T::call(parse(input)?, cx)
}

fn ask<T: Tool>(input: &[u8], cx: &AssessContext) -> Assessment {
    match parse(input) {
        Ok(input) => T::assess(&input, cx),
        Err(err) => Assessment::invalid(err.message),
    }
}

fn parse<T: DeserializeOwned>(input: &[u8]) -> Result<T, ToolError> {
    let Object(input) =
        serde_json::from_slice(input).map_err(|err| ToolError::invalid_input(format!("the input: {err}")))?;
    Ok(input)
}

/// Runs one call, from its message to the message it is answered with.
#[doc(hidden)]
#[must_use]
pub fn call(tools: &[ToolEntry], message: &[u8]) -> Vec<u8> {
    try_call(tools, message).and_then(Output::encode).unwrap_or_else(output::encode_error)
}

fn try_call(tools: &[ToolEntry], message: &[u8]) -> Result<Output, ToolError> {
    let (head, input): (CallHead, _) = decode(message)?;
    let entry = find(tools, &head.tool)?;
    (entry.call)(input, &mut Context::new(head))
}

/// Answers one assessment, from its message to the message it is answered with.
#[doc(hidden)]
#[must_use]
pub fn assess(tools: &[ToolEntry], message: &[u8]) -> Vec<u8> {
    let assessment = try_assess(tools, message).unwrap_or_else(|err| Assessment::invalid(err.message));
    let head = serde_json::to_vec(&assessment).unwrap_or_default();
    Frame { head: &head, parts: Vec::new() }.encode().unwrap_or_default()
}

fn try_assess(tools: &[ToolEntry], message: &[u8]) -> Result<Assessment, ToolError> {
    let (head, input): (AssessHead, _) = decode(message)?;
    let entry = find(tools, &head.tool)?;
    Ok((entry.assess)(input, &AssessContext::new(head)))
}

/// Reads a message's head and finds its input, where it lies.
pub(crate) fn decode<H: DeserializeOwned>(message: &[u8]) -> Result<(H, &[u8]), ToolError> {
    let frame = Frame::decode(message)?;
    let Object(head) = serde_json::from_slice(frame.head)
        .map_err(|err| ToolError::new(ErrorCode::Protocol, format!("the head of the host's message: {err}")))?;
    match frame.parts.first() {
        Some(part) if part.kind == PartType::Json => Ok((head, part.data)),
        _ => Err(ToolError::new(ErrorCode::Protocol, "the host's message has no input")),
    }
}

fn find<'a>(tools: &'a [ToolEntry], name: &str) -> Result<&'a ToolEntry, ToolError> {
    tools
        .iter()
        .find(|tool| tool.name == name)
        .ok_or_else(|| ToolError::new(ErrorCode::UnknownTool, format!("this plugin has no tool {name:?}")))
}

/// Makes the crate a plugin of these tools: its exports, and the custom section
/// `toolquay.tools` with their names, descriptions and schemas.
///
/// Use it once, in a crate of type `cdylib`. Natively it only checks the tools.
/// The exports need an exception from `unsafe_code`, which it grants itself; so
/// crates may `deny` that lint, not `forbid` it.
///
/// ```
/// # use toolquay::{Schema, tool};
/// # #[derive(serde::Deserialize, Schema)] struct Input { name: String }
/// /// Greets somebody.
/// #[tool(name = "Greet")]
/// fn greet(input: Input) -> String {
///     format!("Hello, {}!", input.name)
/// }
///
/// toolquay::plugin!(greet);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! plugin {
    ($($tool:path),+ $(,)?) => {
        const _: () = {
            const TOOLS: &[$crate::ToolEntry] = &[$($crate::ToolEntry::of::<$tool>()),+];
            const PIECES: &[$crate::schema::Piece] = &[$($crate::tool_piece::<$tool>()),+];

            const fn render(out: &mut [u8]) -> usize {
                let (mut i, mut length) = (0, 0);
                while i < PIECES.len() {
                    let (_, room) = out.split_at_mut(if length < out.len() { length } else { out.len() });
                    length += PIECES[i].render(room);
                    i += 1;
                }
                length
            }

            const LENGTH: usize = render(&mut []);
            const SECTION: [u8; LENGTH] = {
                let mut text = [0; LENGTH];
                render(&mut text);
                text
            };

            #[cfg(not(target_family = "wasm"))]
            const _: (&[$crate::ToolEntry], [u8; LENGTH]) = (TOOLS, SECTION);

            #[cfg(target_family = "wasm")]
            #[allow(unsafe_code)]
            const _: () = {
                #[used]
                #[unsafe(link_section = "toolquay.tools")]
                static TEXT: [u8; LENGTH] = SECTION;

                #[unsafe(export_name = "alloc")]
                extern "C" fn alloc(len: usize) -> *mut u8 {
                    $crate::guest::alloc(len)
                }

                #[unsafe(export_name = "call")]
                extern "C" fn call(ptr: *mut u8, len: usize) -> u64 {
                    $crate::guest::call(TOOLS, ptr, len)
                }

                #[unsafe(export_name = "assess")]
                extern "C" fn assess(ptr: *mut u8, len: usize) -> u64 {
                    $crate::guest::assess(TOOLS, ptr, len)
                }
            };
        };
    };
}
