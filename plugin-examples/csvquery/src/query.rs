//! Queries over tables: what they ask, and how they are answered.

use std::cmp::Ordering;
use std::fmt;
use std::io::Read;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolquay::{ErrorCode, Schema, ToolError};

/// The most rows held while sorting.
const MAX_ROWS: usize = 200_000;

/// One condition on a row.
#[derive(Deserialize, Schema)]
pub struct Condition {
    /// The column to look at.
    column: String,
    /// How to compare. Numbers are compared as numbers, everything else as text;
    /// contains ignores case.
    op: Op,
    /// A text, number or bool to compare with; none for empty and not_empty.
    value: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Schema)]
enum Op {
    #[serde(rename = "=")]
    Equal,
    #[serde(rename = "!=")]
    NotEqual,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = "contains")]
    Contains,
    #[serde(rename = "empty")]
    Empty,
    #[serde(rename = "not_empty")]
    NotEmpty,
}

impl Op {
    const fn needs_value(self) -> bool {
        !matches!(self, Self::Empty | Self::NotEmpty)
    }

    fn holds(self, field: &str, value: &str) -> bool {
        let order = || compare(field, value);
        match self {
            Self::Equal => order() == Ordering::Equal,
            Self::NotEqual => order() != Ordering::Equal,
            Self::Less => order() == Ordering::Less,
            Self::LessOrEqual => order() != Ordering::Greater,
            Self::Greater => order() == Ordering::Greater,
            Self::GreaterOrEqual => order() != Ordering::Less,
            Self::Contains => field.to_lowercase().contains(&value.to_lowercase()),
            Self::Empty => field.trim().is_empty(),
            Self::NotEmpty => !field.trim().is_empty(),
        }
    }
}

/// Orders numbers by value and before everything else, which is ordered as text.
fn compare(a: &str, b: &str) -> Ordering {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// What is asked of a table.
pub struct Query<'a> {
    /// The columns to show; all if empty.
    pub select: &'a [String],
    /// What a row must meet.
    pub conditions: &'a [Condition],
    /// The column to sort by, and whether downwards.
    pub order: Option<(&'a str, bool)>,
    /// The most rows to show.
    pub limit: usize,
}

/// A condition on a column by its place.
struct Test {
    column: usize,
    op: Op,
    value: String,
}

impl Query<'_> {
    /// Says what is wrong whatever the file holds.
    pub fn validate(&self) -> Result<(), ToolError> {
        for condition in self.conditions {
            text_of(condition)?;
        }
        if self.order.is_some_and(|(column, _)| column.is_empty()) {
            return Err(ToolError::invalid_input("order_by names no column"));
        }
        for (i, column) in self.select.iter().enumerate() {
            if self.select[..i].contains(column) {
                return Err(ToolError::invalid_input(format!("select names the column {column:?} twice")));
            }
        }
        Ok(())
    }

    /// Answers the query.
    pub fn run<R: Read>(&self, mut reader: csv::Reader<R>) -> Result<Table, ToolError> {
        self.validate()?;
        let header: Vec<String> = reader.headers().map_err(|err| explain(&err))?.iter().map(str::to_owned).collect();
        let columns: Vec<usize> = match self.select {
            [] => (0..header.len()).collect(),
            names => names.iter().map(|name| column(&header, name)).collect::<Result<_, _>>()?,
        };
        let tests = self.conditions.iter().map(|condition| {
            Ok(Test { column: column(&header, &condition.column)?, op: condition.op, value: text_of(condition)? })
        });
        let tests: Vec<Test> = tests.collect::<Result<_, ToolError>>()?;
        let order = self.order.map(|(name, down)| Ok::<_, ToolError>((column(&header, name)?, down))).transpose()?;
        let (matched, rows) = self.matching(&mut reader, &tests, order, &columns)?;
        Ok(Table { columns: columns.into_iter().map(|i| header[i].clone()).collect(), rows, matched })
    }

    /// Counts the rows that match and returns those to show.
    fn matching<R: Read>(
        &self,
        reader: &mut csv::Reader<R>,
        tests: &[Test],
        order: Option<(usize, bool)>,
        columns: &[usize],
    ) -> Result<(usize, Vec<Vec<String>>), ToolError> {
        let (mut matched, mut kept) = (0, Vec::new());
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(|err| explain(&err))? {
            let field = |i: usize| record.get(i).unwrap_or_default();
            if !tests.iter().all(|test| test.op.holds(field(test.column), &test.value)) {
                continue;
            }
            matched += 1;
            if order.is_none() && kept.len() == self.limit {
                continue;
            }
            if kept.len() == MAX_ROWS {
                let message = format!("more than {MAX_ROWS} rows match, too many to sort; add conditions");
                return Err(ToolError::new(ErrorCode::TooLarge, message));
            }
            let key = order.map(|(i, _)| field(i).to_owned()).unwrap_or_default();
            let row: Vec<String> = columns.iter().map(|i| field(*i).to_owned()).collect();
            kept.push((key, row));
        }
        match order {
            Some((_, true)) => kept.sort_by(|(a, _), (b, _)| compare(b, a)),
            Some((_, false)) => kept.sort_by(|(a, _), (b, _)| compare(a, b)),
            None => {}
        }
        kept.truncate(self.limit);
        Ok((matched, kept.into_iter().map(|(_, row)| row).collect()))
    }
}

/// The text a condition compares with.
fn text_of(condition: &Condition) -> Result<String, ToolError> {
    let wrong =
        |what: &str| Err(ToolError::invalid_input(format!("where: the condition on {:?} {what}", condition.column)));
    match (&condition.value, condition.op.needs_value()) {
        (Some(Value::String(text)), true) => Ok(text.clone()),
        (Some(Value::Number(number)), true) => Ok(number.to_string()),
        (Some(Value::Bool(value)), true) => Ok(value.to_string()),
        (Some(_), true) => wrong("needs a text, number or bool as value"),
        (None, true) => wrong("needs a value"),
        (Some(_), false) => wrong("takes no value"),
        (None, false) => Ok(String::new()),
    }
}

fn column(header: &[String], name: &str) -> Result<usize, ToolError> {
    header.iter().position(|column| column == name).ok_or_else(|| {
        ToolError::invalid_input(format!("there is no column {name:?}; the columns are {}", header.join(", ")))
    })
}

fn explain(err: &csv::Error) -> ToolError {
    let code = match err.kind() {
        csv::ErrorKind::Io(_) => ErrorCode::Io,
        csv::ErrorKind::Utf8 { .. } => ErrorCode::NotText,
        _ => ErrorCode::InvalidInput,
    };
    ToolError::new(code, err.to_string())
}

/// The answer to a query.
#[derive(Debug, Serialize, Schema)]
pub struct Table {
    /// The names of the columns shown.
    pub columns: Vec<String>,
    /// The rows shown, each with a field for every column.
    pub rows: Vec<Vec<String>>,
    /// How many rows matched.
    pub matched: usize,
}

impl fmt::Display for Table {
    /// Writes the table as Markdown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, fields: &[String]| {
            let escaped: Vec<_> =
                fields.iter().map(|field| field.replace('|', "\\|").replace(['\n', '\r'], " ")).collect();
            writeln!(f, "| {} |", escaped.join(" | "))
        };
        line(f, &self.columns)?;
        writeln!(f, "|{}", " --- |".repeat(self.columns.len()))?;
        for row in &self.rows {
            line(f, row)?;
        }
        match self.matched {
            n if n > self.rows.len() => write!(f, "\n[{} of {n} matching rows]", self.rows.len()),
            1 => write!(f, "\n[1 matching row]"),
            n => write!(f, "\n[{n} matching rows]"),
        }
    }
}
