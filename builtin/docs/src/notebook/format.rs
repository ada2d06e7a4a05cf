//! The format of notebooks, as far as it is shown. Fields of the wrong type are taken
//! for empty: many programs write notebooks, and not all to the letter.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Deserialize)]
pub struct Notebook {
    #[serde(default)]
    pub nbformat: Option<i64>,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    pub cells: Vec<Cell>,
}

#[derive(Deserialize)]
pub struct Cell {
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub cell_type: String,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    pub execution_count: Option<i64>,
    #[serde(default)]
    pub outputs: Vec<Output>,
}

#[derive(Deserialize)]
pub struct Output {
    #[serde(default)]
    pub output_type: String,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub text: Value,
    #[serde(default, deserialize_with = "lenient")]
    pub data: BTreeMap<String, Value>,
    #[serde(default)]
    pub ename: String,
    #[serde(default)]
    pub evalue: String,
    #[serde(default, deserialize_with = "lenient")]
    pub traceback: Vec<Value>,
}

/// Takes null for nothing.
fn lenient<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

impl Notebook {
    /// The language of the code cells, or nothing.
    pub fn language(&self) -> &str {
        let pointers = ["/kernelspec/language", "/language_info/name"];
        pointers.iter().find_map(|pointer| self.metadata.pointer(pointer)?.as_str()).unwrap_or_default()
    }
}

impl Cell {
    /// What kind of cell it is.
    pub fn kind(&self) -> &str {
        if self.cell_type.is_empty() { "unknown" } else { &self.cell_type }
    }

    /// The cell's text.
    pub fn source(&self) -> String {
        text_of(&self.source)
    }
}

/// A text, which may be one string or a list of lines.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}
