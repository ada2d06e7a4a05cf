//! The heads of the ABI's messages, as they are on the wire.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::assess::Fact;
use crate::error::ToolError;
use crate::json::Object;
use crate::output::{Change, Message};

/// Configuration as the operator set it.
pub type Config = BTreeMap<String, Value>;

/// The head of the message that `call` gets; part 0 is the input.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct CallHead {
    pub tool: String,
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub cwd: String,
    #[serde(default, skip_serializing_if = "is_false")]
    pub user_modified: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: Config,
}

/// The head of the message that `assess` gets; part 0 is the input.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct AssessHead {
    pub tool: String,
    #[serde(default)]
    pub cwd: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: Config,
}

/// Names bytes of a result: either a part or a handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// A part of the same frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// What is left of a capability's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<u32>,
    /// How many bytes of a handle; the rest is left to the sources behind it. 0 is
    /// all.
    #[serde(skip_serializing_if = "is_zero")]
    pub length: u64,
}

impl Source {
    pub const fn part(index: usize) -> Self {
        Self { part: Some(index), handle: None, length: 0 }
    }

    pub const fn handle(id: u32) -> Self {
        Self { part: None, handle: Some(id), length: 0 }
    }

    pub const fn piece(id: u32, length: u64) -> Self {
        Self { part: None, handle: Some(id), length }
    }
}

/// The head of the message that `call` returns.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultHead {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<BlockHead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Source>,
    #[serde(skip_serializing_if = "is_false")]
    pub is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
}

/// One content block of a result.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockHead {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<Source>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool_name: String,
}

/// The head of the message that `submit` takes.
#[derive(Serialize)]
pub struct RequestHead<'a, A> {
    pub capability: &'a str,
    pub args: &'a A,
}

/// The head of the message that `read` yields.
#[derive(Deserialize)]
pub struct AnswerHead<T> {
    pub ok: Option<Object<T>>,
    pub error: Option<Object<ToolError>>,
}

/// The head of the message that `progress` takes.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressHead<'a> {
    Progress(&'a crate::context::Progress),
    Log { level: &'a str, message: &'a str },
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !value
}
