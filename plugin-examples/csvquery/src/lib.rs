//! A Toolquay plugin as a third party would write it: the tool `CsvQuery`
//! selects, filters and sorts the rows of a CSV file.
//!
//! The file is read in pieces while it is parsed, so that only the rows that
//! match are held; [`query`] knows nothing of plugins.
#![deny(unsafe_code)]

mod query;
#[cfg(test)]
mod tests;

use std::io::{BufReader, Read};

use serde::Deserialize;
use toolquay::{AssessContext, Assessment, Context, ErrorCode, Output, Progress, Schema, ToolError, tool};

use query::{Condition, Query, Table};

/// How many rows are shown where the call does not say.
const DEFAULT_LIMIT: u32 = 100;
/// How much of the file is asked for at once, in bytes.
const CHUNK: usize = 64 << 10;
/// After how many bytes people are told how much is read.
const TELL_EVERY: f64 = (1 << 20) as f64;

#[derive(Deserialize, Schema)]
struct CsvQueryInput {
    /// The CSV file, whose first row names the columns.
    #[schema(min_length = 1)]
    file_path: String,
    /// The columns to show, in this order; all if left out.
    #[serde(default)]
    select: Vec<String>,
    /// Conditions that a row must all meet.
    #[serde(rename = "where", default)]
    conditions: Vec<Condition>,
    /// The column to sort by; a minus sign in front sorts downwards. Numbers sort
    /// before texts.
    order_by: Option<String>,
    /// The most rows to show.
    #[schema(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// The character between fields.
    #[schema(min_length = 1, max_length = 1)]
    delimiter: Option<String>,
}

/// Queries a CSV file: filters its rows, sorts them and shows the columns asked
/// for as a table, with the number of rows that matched.
#[tool(name = "CsvQuery", assess = check, output = Table)]
fn csv_query(input: CsvQueryInput, cx: &mut Context) -> Result<Output, ToolError> {
    let delimiter = match input.delimiter.as_deref() {
        Some(text) => byte(text)?,
        None => byte(&cx.config::<String>("delimiter")?.unwrap_or_else(|| ",".to_owned()))?,
    };
    let file = cx.fs().read(&input.file_path)?;
    let told = Told { body: file.body, cx, read: 0.0, size: file.ok.size as f64 };
    let reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(BufReader::with_capacity(CHUNK, told));
    let table = query(&input).run(reader).map_err(|err| err.context(&input.file_path))?;
    Ok(Output::text(table.to_string()).structured(&table))
}

/// A file that tells people, on the way, how much of it is read.
struct Told<'a, R> {
    body: R,
    cx: &'a Context,
    read: f64,
    size: f64,
}

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.body.read(buf)?;
        let before = self.read;
        self.read += n as f64;
        if (self.read / TELL_EVERY).floor() > (before / TELL_EVERY).floor() {
            self.cx.progress(&Progress { done: self.read, total: self.size, ..Progress::default() });
        }
        Ok(n)
    }
}

fn query(input: &CsvQueryInput) -> Query<'_> {
    let order = input.order_by.as_deref().map(|column| match column.strip_prefix('-') {
        Some(column) => (column, true),
        None => (column, false),
    });
    Query {
        select: &input.select,
        conditions: &input.conditions,
        order,
        limit: input.limit.unwrap_or(DEFAULT_LIMIT) as usize,
    }
}

/// What can be said of a query before the file is read: the host asks this first
/// and the model hears of the fault without any permission being asked for. That
/// the file is all it touches lets it run beside calls that write other files.
fn check(input: &CsvQueryInput, cx: &AssessContext) -> Assessment {
    if cx.fact(&input.file_path).is_some_and(|fact| fact.kind == "directory") {
        return Assessment::invalid(format!("{} is a directory; give one CSV file", input.file_path));
    }
    let delimiter = input.delimiter.as_deref().map_or(Ok(b','), byte).map(drop);
    match delimiter.and_then(|()| query(input).validate()) {
        Ok(()) => Assessment::new().reads(&input.file_path),
        Err(err) => Assessment::invalid(err.message),
    }
}

fn byte(delimiter: &str) -> Result<u8, ToolError> {
    match delimiter.as_bytes() {
        [b'"' | b'\n' | b'\r'] => {}
        [byte] if byte.is_ascii() => return Ok(*byte),
        _ => {}
    }
    let message = format!("the delimiter {delimiter:?} is not one ASCII character such as \",\", \";\" or a tab");
    Err(ToolError::new(ErrorCode::InvalidInput, message))
}

toolquay::plugin!(csv_query);
