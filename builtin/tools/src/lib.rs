//! The tool `ToolSearch`. The host lists the tools that the model knows by name
//! alone; this plugin finds those that are meant, and answers with references, for
//! which the host, or the model's API, puts the definitions.
#![deny(unsafe_code)]

mod query;
mod score;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use toolquay::capability::Capability;
use toolquay::{Context, ErrorCode, Output, Schema, ToolError, tool};

use query::Query;

/// How many tools are found where the call does not say.
const DEFAULT_RESULTS: u32 = 5;

#[derive(Deserialize, Schema)]
pub struct SearchInput {
    /// "select:" with names, or words to look for.
    #[schema(min_length = 1)]
    query: String,
    /// The most tools to load by a search for words.
    #[schema(minimum = 1, maximum = 50, default = 5)]
    max_results: Option<u32>,
}

#[derive(Serialize, Schema)]
pub struct SearchOutput {
    /// The names of the tools that were found, the best first.
    matches: Vec<String>,
    /// What was looked for.
    query: String,
    /// How many deferred tools there are.
    total_deferred_tools: usize,
    /// The MCP servers that are still connecting, whose tools a later call finds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_mcp_servers: Option<Vec<String>>,
}

/// The arguments of `tools.list`.
#[derive(Serialize)]
struct ListArgs {}

/// The head of its answer.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ListOk {
    ready: Vec<String>,
    pending: Vec<String>,
}

impl Capability for ListArgs {
    const NAME: &'static str = "tools.list";
    type Ok = ListOk;
}

/// A tool that the model knows by its name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Deferred {
    name: String,
    hint: String,
    description: String,
    mcp: bool,
}

/// Loads tools that you know by name only, so that you can call them.
///
/// The deferred tools are listed below. What this call finds can be called from then on;
/// a call before that is refused.
///
/// - "select:NAME" or "select:NAME,NAME" loads exactly these: the way where the list shows
///   what you need.
/// - "notebook cell" looks for these words in names, keywords and descriptions and loads the
///   best matches.
/// - "+slack send" wants slack in the name and ranks by the other words.
#[tool(name = "ToolSearch", output = SearchOutput)]
fn search(input: SearchInput, cx: &mut Context) -> Result<Output, ToolError> {
    let answer = cx.call(&ListArgs {})?;
    let tools: Vec<Deferred> = serde_json::from_slice(&answer.body.into_bytes()?)
        .map_err(|err| ToolError::new(ErrorCode::Protocol, format!("the host's list of tools: {err}")))?;
    let limit = input.max_results.unwrap_or(DEFAULT_RESULTS) as usize;
    let query = Query::parse(&input.query)?;
    let found = match &query {
        Query::Select(names) => score::select(&tools, names),
        Query::Words(words) => score::search(&tools, words, limit),
    };
    let structured = SearchOutput {
        matches: found.iter().map(|tool| tool.name.clone()).collect(),
        query: input.query,
        total_deferred_tools: tools.len(),
        pending_mcp_servers: Some(answer.ok.pending).filter(|pending| !pending.is_empty()),
    };
    let output = match found.is_empty() {
        true => Output::text(nothing(&query, &tools, &answer.ok.ready)),
        false => found.iter().fold(Output::new(), |output, tool| output.tool_reference(&tool.name)),
    };
    let output = match &structured.pending_mcp_servers {
        None => output,
        Some(pending) => output.and_text(still_to_come(pending)),
    };
    Ok(output.structured(&structured))
}

/// Says why nothing was found, and what to try.
fn nothing(query: &Query, tools: &[Deferred], ready: &[String]) -> String {
    if let Query::Select(names) = query {
        let known: Vec<_> =
            ready.iter().filter(|name| names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name))).collect();
        if let [first, rest @ ..] = known.as_slice() {
            return match rest {
                [] => format!("{first} need not be loaded: call it as it is."),
                rest => format!("{first} and {} need not be loaded: call them as they are.", join(rest)),
            };
        }
    }
    match (tools, query) {
        ([], _) => "No tools are deferred: all there are can be called as they are.".to_owned(),
        (_, Query::Select(names)) => {
            let near = score::near(tools, names);
            let hint = match near.as_slice() {
                [] => "search for words of what it does instead".to_owned(),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            format!("None of the {} deferred tools is called {}; {hint}", tools.len(), names.join(" or "))
        }
        (_, Query::Words(words)) if words.iter().any(|word| word.required) => format!(
            "None of the {} deferred tools has what is required in its name; leave out the plus signs, or take a name \
             from the list in this tool's description: select:NAME",
            tools.len()
        ),
        (_, Query::Words(_)) => format!(
            "Nothing matches among the {} deferred tools; try other words for the same, or take a name from the list \
             in this tool's description: select:NAME",
            tools.len()
        ),
    }
}

/// Says which servers' tools cannot be found yet.
fn still_to_come(pending: &[String]) -> String {
    format!(
        "MCP servers that are still connecting, whose tools are not listed yet: {}. If a tool of theirs is needed, search \
         again in a moment.",
        pending.join(", ")
    )
}

fn join(names: &[&String]) -> String {
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
}

toolquay::plugin!(search);
