//! Schemas made by the derive.
#![allow(dead_code)]

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use toolquay::Schema;
use toolquay::schema::to_json;

fn schema<T: Schema>() -> Value {
    serde_json::from_str(&to_json(&T::NODE)).expect("a schema that is JSON")
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

#[derive(Deserialize, Schema)]
struct Types {
    flag: bool,
    byte: u8,
    signed: i16,
    wide: i64,
    long: u64,
    ratio: f64,
    text: String,
    list: Vec<Vec<u32>>,
    map: BTreeMap<String, bool>,
    any: Value,
    boxed: Box<Empty>,
    maybe: Option<Vec<String>>,
}

#[test]
fn types() {
    let properties = json!({
        "flag": {"type": "boolean"},
        "byte": {"type": "integer", "minimum": 0, "maximum": 255},
        "signed": {"type": "integer", "minimum": -32768, "maximum": 32767},
        "wide": {"type": "integer"},
        "long": {"type": "integer", "minimum": 0},
        "ratio": {"type": "number"},
        "text": {"type": "string"},
        "list": {"type": "array", "items": {"type": "array", "items":
            {"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32}}},
        "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "any": {},
        "boxed": object(json!({}), &[]),
        "maybe": {"type": "array", "items": {"type": "string"}},
    });
    let required = ["flag", "byte", "signed", "wide", "long", "ratio", "text", "list", "map", "any", "boxed"];
    assert_eq!(schema::<Types>(), object(properties, &required));
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Names {
    head_limit: u64,
    #[serde(rename = "-C")]
    context: Option<u64>,
    #[serde(rename(deserialize = "in", serialize = "out"))]
    both: u64,
    r#type: u64,
    #[serde(skip)]
    hidden: u64,
    #[serde(default)]
    optional: bool,
    #[serde(default = "yes", alias = "old")]
    with_default: bool,
}

fn yes() -> bool {
    true
}

#[test]
fn names() {
    let integer = json!({"type": "integer", "minimum": 0});
    let boolean = json!({"type": "boolean"});
    let properties = json!({
        "headLimit": integer, "-C": integer, "in": integer, "type": integer,
        "optional": boolean, "withDefault": boolean,
    });
    assert_eq!(schema::<Names>(), object(properties, &["headLimit", "in", "type"]));
}

/// How to sort.
#[derive(Deserialize, Schema)]
#[serde(rename_all = "kebab-case")]
enum Order {
    NewestFirst,
    #[serde(rename = "by \"name\"")]
    ByName,
    #[serde(skip)]
    Internal,
}

#[derive(Deserialize, Schema)]
struct Nested {
    order: Order,
    /// Of the inner one.
    inner: Vec<Inner>,
    #[schema(description = "What the model reads.")]
    /// What the programmer reads.
    other: Option<Order>,
}

#[derive(Deserialize, Schema)]
struct Inner {
    /// Says "hi"\n and
    /// goes on: a\b.
    text: String,
}

#[test]
fn nested_types_and_descriptions() {
    let order = ["newest-first", "by \"name\""];
    let inner =
        object(json!({"text": {"type": "string", "description": "Says \"hi\"\\n and goes on: a\\b."}}), &["text"]);
    let properties = json!({
        "order": {"type": "string", "enum": order, "description": "How to sort."},
        "inner": {"type": "array", "items": inner, "description": "Of the inner one."},
        "other": {"type": "string", "enum": order, "description": "What the model reads."},
    });
    assert_eq!(schema::<Nested>(), object(properties, &["order", "inner"]));
}

#[derive(Deserialize, Schema)]
struct Keywords {
    #[schema(minimum = 1, maximum = 10, default = 3)]
    count: u8,
    #[schema(min_length = 1, max_length = 5, pattern = "^[a-z]+$", format = "name")]
    text: String,
    #[schema(min_items = 1, max_items = 2, default = "none")]
    list: Vec<bool>,
    #[schema(minimum = -1.5)]
    ratio: f32,
    #[schema(skip)]
    #[serde(default)]
    secret: String,
}

#[test]
fn keywords() {
    let properties = json!({
        "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
        "text": {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]+$", "format": "name"},
        "list": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2, "default": "none"},
        "ratio": {"type": "number", "minimum": -1.5},
    });
    let text = to_json(&Keywords::NODE);
    assert_eq!(text.matches("minimum").count(), 2, "a bound is written twice: {text}");
    assert_eq!(schema::<Keywords>(), object(properties, &["count", "text", "list", "ratio"]));
}

#[derive(Deserialize, Schema)]
struct Empty {}

#[derive(Deserialize, Schema)]
struct Generic<T> {
    value: T,
}

#[derive(Deserialize, Schema)]
#[serde(default)]
#[derive(Default)]
struct AllDefault {
    value: u64,
}

#[test]
fn shapes() {
    let integer = json!({"value": {"type": "integer", "minimum": 0}});
    assert_eq!(schema::<Empty>(), object(json!({}), &[]));
    assert_eq!(schema::<Generic<u64>>(), object(integer.clone(), &["value"]));
    assert_eq!(schema::<AllDefault>(), object(integer, &[]));
}
