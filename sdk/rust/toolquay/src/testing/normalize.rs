//! The form in which the host hands an input to a guest.

use std::mem::discriminant;

use serde_json::{Map, Number, Value};

use super::schema::is_type;

type Node = Map<String, Value>;

/// Normalizes a value that all of some schemas apply to. A number that they want to be an
/// integer becomes one: 1.0 is 1. With nulls, an optional property that is null and may not
/// be is left out.
pub fn normalize(value: &mut Value, schemas: &[&Value], nulls: bool) {
    let nodes = applying(schemas, value);
    match value {
        Value::Number(number) if nodes.iter().any(|node| wants_integer(node)) => {
            if let Some(whole) = whole(number) {
                *number = whole;
            }
        }
        Value::Array(list) => {
            let under: Vec<_> = nodes.iter().filter_map(|node| node.get("items")).collect();
            list.iter_mut().for_each(|item| normalize(item, &under, nulls));
        }
        Value::Object(object) => object.retain(|key, member| {
            let under: Vec<_> = nodes.iter().filter_map(|node| schema_at(node, key)).collect();
            let required = nodes.iter().any(|node| list(node, "required").iter().any(|name| name == key));
            if nulls && member.is_null() && !required && under.iter().any(|schema| refuses(schema, member)) {
                return false;
            }
            normalize(member, &under, nulls);
            true
        }),
        _ => {}
    }
}

/// The schema of a property.
fn schema_at<'a>(node: &'a Node, key: &str) -> Option<&'a Value> {
    let listed = node.get("properties").and_then(|properties| properties.get(key));
    listed.or_else(|| node.get("additionalProperties").filter(|more| more.is_object()))
}

/// The schemas that apply to a value: with each those of its `allOf`, and of alternatives the
/// only one for a value of that type.
fn applying<'a>(schemas: &[&'a Value], value: &Value) -> Vec<&'a Node> {
    let mut nodes = Vec::new();
    for node in schemas.iter().filter_map(|schema| schema.as_object()) {
        nodes.push(node);
        nodes.extend(applying(&list(node, "allOf").iter().collect::<Vec<_>>(), value));
        for keyword in ["anyOf", "oneOf"] {
            let left: Vec<_> = list(node, keyword).iter().filter(|schema| !refuses(schema, value)).collect();
            let integer = |schema: &&'a Value| applying(&[schema], value).into_iter().any(wants_integer);
            if left.len() == 1 || value.is_number() && left.iter().all(integer) {
                nodes.extend(applying(&left[..left.len().min(1)], value));
            }
        }
    }
    nodes
}

/// Whether a schema certainly allows no value of the type of this one.
fn refuses(schema: &Value, value: &Value) -> bool {
    let Value::Object(node) = schema else { return schema == false };
    let not = |schema: &Value| refuses(schema, value);
    let same = |one: &Value| discriminant(one) == discriminant(value);
    let types = types_in(node);
    let values =
        node.get("const").map(std::slice::from_ref).or_else(|| node.get("enum")?.as_array().map(Vec::as_slice));
    !types.is_empty() && !types.iter().any(|name| is_type(value, name))
        || values.is_some_and(|values| !values.iter().any(same))
        || list(node, "allOf").iter().any(not)
        || ["anyOf", "oneOf"].iter().any(|keyword| node.contains_key(*keyword) && list(node, keyword).iter().all(not))
}

fn list<'a>(node: &'a Node, keyword: &str) -> &'a [Value] {
    node.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The types that a schema names.
fn types_in(node: &Node) -> &[Value] {
    match node.get("type") {
        Some(Value::Array(names)) => names,
        Some(name) => std::slice::from_ref(name),
        None => &[],
    }
}

/// Whether a schema allows no numbers but integers.
fn wants_integer(node: &Node) -> bool {
    let types = types_in(node);
    types.iter().any(|name| name == "integer") && !types.iter().any(|name| name == "number")
}

/// A number without a fraction as an integer.
fn whole(number: &Number) -> Option<Number> {
    let value = number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0)?;
    Number::from_i128(value as i128)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn numbers_are_integers_where_the_schema_has_no_others() {
        let schema = json!({"properties": {
            "n": {"type": ["integer", "null"]}, "x": {"type": ["integer", "number"]},
            "any": {"anyOf": [{"type": "integer", "maximum": 3}, {"type": "integer", "minimum": 9}]},
        }});
        let mut value = json!({"n": -2.0, "x": 2.0, "any": 9.0, "y": 2.0});
        super::normalize(&mut value, &[&schema], false);
        assert_eq!(value, json!({"n": -2, "x": 2.0, "any": 9, "y": 2.0}));
    }
}
