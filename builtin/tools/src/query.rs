//! What a query asks for.

use toolquay::ToolError;

/// A query.
#[derive(Debug, PartialEq)]
pub enum Query {
    /// Tools by name.
    Select(Vec<String>),
    /// Tools by what is said of them.
    Words(Vec<Word>),
}

/// A word of a query.
#[derive(Debug, PartialEq)]
pub struct Word {
    /// In lower case.
    pub text: String,
    /// Whether it must be in the name.
    pub required: bool,
}

const SELECT: &str = "select:";

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    ///
    /// Where it asks for nothing.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        let text = text.trim();
        // In whatever case, as models write it.
        if text.get(..SELECT.len()).is_some_and(|start| start.eq_ignore_ascii_case(SELECT)) {
            return Self::select(&text[SELECT.len()..]);
        }
        let words: Vec<_> = text.split(|c: char| c.is_whitespace() || c == ',').filter_map(Word::parse).collect();
        match words.is_empty() {
            true => Err(ToolError::invalid_input(
                "the query has no words: say what the tool does, or write select: and its name",
            )),
            false => Ok(Self::Words(words)),
        }
    }

    fn select(names: &str) -> Result<Self, ToolError> {
        let names: Vec<_> =
            names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        match names.is_empty() {
            true => Err(ToolError::invalid_input("select: names no tool; write select:NAME or select:NAME,NAME")),
            false => Ok(Self::Select(names)),
        }
    }
}

impl Word {
    /// Takes a word without the marks around it; nothing where no letter is left.
    fn parse(text: &str) -> Option<Self> {
        let required = text.starts_with('+');
        let text = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        (!text.is_empty()).then_some(Self { text, required })
    }
}
