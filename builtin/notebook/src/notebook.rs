//! A notebook as it lies in its text: which bytes are its cells, and which of a cell's
//! are its parts.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolquay::{ErrorCode, ToolError};

#[derive(Deserialize)]
struct Head<'a> {
    nbformat: u32,
    #[serde(default)]
    nbformat_minor: u32,
    #[serde(borrow, default)]
    cells: Option<&'a RawValue>,
}

/// One cell, and where its parts are.
#[derive(Deserialize)]
pub struct Cell<'a> {
    #[serde(borrow)]
    pub cell_type: Cow<'a, str>,
    #[serde(borrow, default)]
    pub id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub source: &'a RawValue,
    #[serde(borrow, default)]
    pub outputs: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub execution_count: Option<&'a RawValue>,
    #[serde(skip)]
    pub place: Range<usize>,
}

/// A notebook of format 4.
pub struct Notebook<'a> {
    pub text: &'a str,
    /// Whether cells have ids: from 4.5 on.
    pub has_ids: bool,
    /// Where the list of cells is, brackets included.
    pub list: Range<usize>,
    pub cells: Vec<Cell<'a>>,
}

impl<'a> Notebook<'a> {
    pub fn parse(text: &'a str) -> Result<Self, ToolError> {
        let broken =
            |err: serde_json::Error| ToolError::invalid_input(format!("this is no notebook that can be edited: {err}"));
        let json = text.strip_prefix('\u{feff}').unwrap_or(text);
        let head: Head<'a> = serde_json::from_str(json).map_err(broken)?;
        if head.nbformat != 4 {
            return Err(ToolError::invalid_input(format!(
                "the notebook has format {}, and only format 4 is edited; open and save it with Jupyter to convert it",
                head.nbformat
            )));
        }
        let list = head.cells.ok_or_else(|| ToolError::invalid_input("the notebook has no list of cells"))?;
        let raw: Vec<&'a RawValue> = serde_json::from_str(list.get()).map_err(broken)?;
        let cell = |raw: &'a RawValue| {
            let cell: Cell<'a> = serde_json::from_str(raw.get())?;
            Ok(Cell { place: place(text, raw), ..cell })
        };
        let cells = raw.into_iter().map(cell).collect::<Result<_, _>>().map_err(broken)?;
        Ok(Self { text, has_ids: head.nbformat_minor >= 5, list: place(text, list), cells })
    }

    /// The name of a cell: its id, or its number, counting from 0.
    pub fn name(&self, index: usize) -> String {
        match &self.cells[index].id {
            Some(id) => id.clone().into_owned(),
            None => format!("cell-{index}"),
        }
    }

    /// Finds a cell by its id, or by its number as `cell-N`.
    pub fn find(&self, name: &str) -> Result<usize, ToolError> {
        let mut same = self.cells.iter().enumerate().filter(|(_, cell)| cell.id.as_deref() == Some(name));
        if let Some((index, _)) = same.next() {
            return match same.next() {
                None => Ok(index),
                Some(_) => Err(ToolError::new(
                    ErrorCode::NotUnique,
                    format!("several cells have the id {name:?}; name one by its place, such as cell-{index}"),
                )),
            };
        }
        let number = name.strip_prefix("cell-").and_then(|number| number.parse().ok());
        number.filter(|index| *index < self.cells.len()).ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> ToolError {
        const MOST: usize = 20;
        if self.cells.is_empty() {
            return ToolError::new(ErrorCode::NoMatch, format!("there is no cell {name:?}: the notebook has none"));
        }
        let names: Vec<_> = (0..self.cells.len().min(MOST)).map(|index| self.name(index)).collect();
        let more =
            if self.cells.len() > MOST { format!(" and {} more", self.cells.len() - MOST) } else { String::new() };
        ToolError::new(ErrorCode::NoMatch, format!("there is no cell {name:?}; there are {}{more}", names.join(", ")))
    }
}

/// Where a value lies in the text that it was borrowed from.
pub fn place(text: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + value.get().len()
}
