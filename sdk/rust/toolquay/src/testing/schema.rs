//! JSON Schema, as far as schemas of tools use it.

use regex::Regex;
use serde_json::{Map, Value};

/// What says nothing of which values fit.
const ANNOTATIONS: [&str; 13] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "contentEncoding",
    "contentMediaType",
];

/// Says why a value does not fit a schema.
///
/// # Panics
///
/// Where the schema has what is not known here, so that nothing is accepted that was not
/// checked.
pub fn check(schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Value::Object(node) = schema else {
        return if schema == &Value::Bool(false) { Err(format!("{at} is not allowed")) } else { Ok(()) };
    };
    node.iter()
        .filter(|(keyword, _)| !ANNOTATIONS.contains(&keyword.as_str()))
        .try_for_each(|(keyword, argument)| check_keyword(node, keyword, argument, value, at))
}

fn check_keyword(
    node: &Map<String, Value>,
    keyword: &str,
    argument: &Value,
    value: &Value,
    at: &str,
) -> Result<(), String> {
    let fits = match keyword {
        "type" => match argument {
            Value::Array(names) => names.iter().any(|name| is_type(value, name)),
            name => is_type(value, name),
        },
        "enum" => argument.as_array().is_some_and(|all| all.iter().any(|one| same(one, value))),
        "const" => same(argument, value),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            value.as_f64().is_none_or(|n| in_bound(keyword, n, argument.as_f64().unwrap_or_default()))
        }
        "minLength" => value.as_str().is_none_or(|text| text.chars().count() >= size(argument)),
        "maxLength" => value.as_str().is_none_or(|text| text.chars().count() <= size(argument)),
        "minItems" => value.as_array().is_none_or(|list| list.len() >= size(argument)),
        "maxItems" => value.as_array().is_none_or(|list| list.len() <= size(argument)),
        "minProperties" => value.as_object().is_none_or(|object| object.len() >= size(argument)),
        "maxProperties" => value.as_object().is_none_or(|object| object.len() <= size(argument)),
        "pattern" => value.as_str().is_none_or(|text| {
            let pattern = argument.as_str().unwrap_or_default();
            Regex::new(pattern).unwrap_or_else(|err| panic!("input_schema: pattern: {err}")).is_match(text)
        }),
        "required" => match (value, argument.as_array()) {
            (Value::Object(object), Some(names)) => {
                names.iter().all(|name| name.as_str().is_none_or(|name| object.contains_key(name)))
            }
            _ => true,
        },
        "properties" | "additionalProperties" => return check_members(node, keyword, argument, value, at),
        "items" => {
            let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
            let mut items = list.iter().enumerate();
            return items.try_for_each(|(i, item)| check(argument, item, &format!("{at}[{i}]")));
        }
        "allOf" | "anyOf" | "oneOf" => {
            let all = argument.as_array().map(Vec::as_slice).unwrap_or_default();
            let fit = all.iter().filter(|schema| check(schema, value, at).is_ok()).count();
            match keyword {
                "allOf" => fit == all.len(),
                "anyOf" => fit > 0,
                _ => fit == 1,
            }
        }
        _ => panic!("input_schema has the keyword {keyword:?}, which the testing host cannot check"),
    };
    if fits { Ok(()) } else { Err(format!("{at} does not fit {keyword} {argument}: {value}")) }
}

/// `properties`, and `additionalProperties`, which depends on it.
fn check_members(
    node: &Map<String, Value>,
    keyword: &str,
    argument: &Value,
    value: &Value,
    at: &str,
) -> Result<(), String> {
    let Value::Object(object) = value else { return Ok(()) };
    let properties = node.get("properties").and_then(Value::as_object);
    object.iter().try_for_each(|(key, member)| {
        let listed = properties.and_then(|properties| properties.get(key));
        let schema = if keyword == "properties" { listed } else { listed.is_none().then_some(argument) };
        schema.map_or(Ok(()), |schema| check(schema, member, &format!("{at}.{key}")))
    })
}

pub fn is_type(value: &Value, name: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Number(n) => name == "number" || name == "integer" && n.as_f64().is_some_and(|n| n.fract() == 0.0),
    }
}

/// Whether two values are the same, numbers by what they are worth.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn in_bound(keyword: &str, n: f64, limit: f64) -> bool {
    match keyword {
        "minimum" => n >= limit,
        "maximum" => n <= limit,
        "exclusiveMinimum" => n > limit,
        "exclusiveMaximum" => n < limit,
        _ => n % limit == 0.0,
    }
}

fn size(argument: &Value) -> usize {
    argument.as_f64().map_or(0, |n| n as usize)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::check;

    #[test]
    fn values_fit_as_they_do_in_the_host() {
        let schema = json!({"type": "object", "additionalProperties": false, "properties": {
            "kind": {"enum": ["a", 1, null]}, "n": {"type": "integer", "minimum": 1, "exclusiveMaximum": 5, "multipleOf": 2},
            "s": {"type": ["string", "null"], "minLength": 2, "maxLength": 3, "pattern": "^[a-zä]+$"},
            "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "object", "required": ["x"],
                "properties": {"x": {"const": true}}, "additionalProperties": false}},
            "any": {"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "one": {"oneOf": [{"type": "number"}, {"type": "integer"}]},
            "all": {"allOf": [{"minimum": 1}, {"maximum": 2}]}, "never": false, "description": {"description": "x"},
            "map": {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1, "maxProperties": 1},
        }});
        for (fits, values) in [
            (
                true,
                vec![
                    json!({}),
                    json!({"kind": 1.0}),
                    json!({"kind": null}),
                    json!({"n": 4.0}),
                    json!({"s": "äb"}),
                    json!({"s": null}),
                    json!({"list": [{"x": true}]}),
                    json!({"any": true}),
                    json!({"one": 1.5}),
                    json!({"all": 2}),
                    json!({"map": {"k": 1}}),
                    json!({"description": []}),
                ],
            ),
            (
                false,
                vec![
                    json!([]),
                    json!({"kind": "b"}),
                    json!({"n": 0}),
                    json!({"n": 5}),
                    json!({"n": 3}),
                    json!({"n": "2"}),
                    json!({"s": "a"}),
                    json!({"s": "abcd"}),
                    json!({"s": "AB"}),
                    json!({"list": []}),
                    json!({"list": [{}]}),
                    json!({"list": [{"x": false}]}),
                    json!({"list": [{"x": true, "y": 1}]}),
                    json!({"any": 1}),
                    json!({"one": 1}),
                    json!({"all": 3}),
                    json!({"map": {"k": "v"}}),
                    json!({"map": {}}),
                    json!({"map": {"a": 1, "b": 2}}),
                    json!({"never": 1}),
                    json!({"other": 1}),
                ],
            ),
        ] {
            for value in values {
                assert_eq!(check(&schema, &value, "input").is_ok(), fits, "{value}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "the keyword \"not\", which the testing host cannot check")]
    fn what_is_not_known_is_not_accepted() {
        let _ = check(&json!({"not": {}}), &json!({}), "input");
    }
}
