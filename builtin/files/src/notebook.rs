//! Whether a text is a Jupyter notebook, which is all that Write puts into a file of that
//! name.

use serde_json::Value;

/// Says what is wrong with a text as a notebook of format 4. Of older formats it is enough
/// that they name themselves and have a list of cells.
pub fn fault(text: &str) -> Option<String> {
    let json = text.strip_prefix('\u{feff}').unwrap_or(text);
    let notebook: Value = match serde_json::from_slice(json.as_bytes()) {
        Ok(notebook) => notebook,
        Err(err) => return Some(format!("it is not JSON: {err}")),
    };
    let cells = match notebook["nbformat"].as_u64() {
        Some(4) => notebook["cells"].as_array(),
        Some(1..=3) if notebook["cells"].is_array() || notebook["worksheets"].is_array() => return None,
        Some(other) => return Some(format!("it is of format {other}, and not of 4")),
        None => return Some("it has no nbformat".to_owned()),
    };
    let Some(cells) = cells else { return Some("it has no list of cells".to_owned()) };
    if !notebook["metadata"].is_object() {
        return Some("it has no metadata, which is an object".to_owned());
    }
    if !notebook["nbformat_minor"].is_u64() {
        return Some("it has no nbformat_minor, which is a number".to_owned());
    }
    let faults = cells.iter().enumerate();
    faults.filter_map(|(index, cell)| Some(format!("its cell {index} {}", cell_fault(cell)?))).next()
}

fn cell_fault(cell: &Value) -> Option<&'static str> {
    let source = &cell["source"];
    let lines = source.as_array().is_some_and(|lines| lines.iter().all(Value::is_string));
    let code = match cell["cell_type"].as_str() {
        Some("code") => true,
        Some("markdown" | "raw") => false,
        _ => return Some("has no cell_type: code, markdown or raw"),
    };
    if !source.is_string() && !lines {
        return Some("has no source, which is a text or a list of lines");
    }
    if !cell["metadata"].is_object() {
        return Some("has no metadata, which is an object");
    }
    if !cell.get("id").is_none_or(Value::is_string) {
        return Some("has an id that is no text");
    }
    let (outputs, count) = (cell.get("outputs"), cell.get("execution_count"));
    if !code {
        let more = outputs.is_some() || count.is_some();
        return more.then_some("has outputs or an execution_count, and is no code");
    }
    if !outputs.and_then(Value::as_array).is_some_and(|outputs| outputs.iter().all(is_output)) {
        return Some("is code and has no list of outputs, each with its output_type");
    }
    if !count.is_some_and(|count| count.is_null() || count.is_u64()) {
        return Some("is code and has no execution_count, which is a number or null");
    }
    None
}

fn is_output(output: &Value) -> bool {
    matches!(output["output_type"].as_str(), Some("stream" | "display_data" | "execute_result" | "error"))
}
