//! A plugin as people write them, with the SDK: it makes one capability call and
//! hands the answer on.

use serde::{Deserialize, Serialize};
use toolquay::capability::Capability;
use toolquay::{Context, Output, Schema, ToolError, tool};

#[derive(Deserialize, Schema)]
struct Input {
    /// What to read.
    path: String,
    /// How many lines.
    #[schema(minimum = 1)]
    limit: Option<u64>,
}

#[derive(Serialize)]
struct Read<'a> {
    path: &'a str,
    limit: u64,
}

#[derive(Deserialize)]
struct ReadOk {
    path: String,
}

impl Capability for Read<'_> {
    const NAME: &'static str = "bench.read";
    type Ok = ReadOk;
}

/// Reads something that the host has in memory.
#[tool(name = "RustBench")]
fn read(input: Input, cx: &mut Context) -> Result<Output, ToolError> {
    let answer = cx.call(&Read { path: &input.path, limit: input.limit.unwrap_or(2000) })?;
    if answer.ok.path.is_empty() {
        return Ok(Output::text("nothing"));
    }
    Ok(Output::text(answer.body))
}

toolquay::plugin!(read);
