//! Which pages of a document are meant.

use toolquay::ToolError;

use crate::invalid;

/// The most pages of one call, and how many are shown where none are named.
const MOST: usize = 20;
const USUAL: usize = 10;

const SYNTAX: &str = "write pages such as \"3\", \"1-5,8\" or \"10-\"";

/// The pages that are shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// The numbers of the pages, 1-based, in the order in which they are shown.
    pub pages: Vec<usize>,
    /// The page to go on at, where the pages go on to the end and that is too far.
    pub next: Option<usize>,
}

/// Reads which pages are meant of a document that has so many.
pub fn choose(text: Option<&str>, total: usize) -> Result<Choice, ToolError> {
    let Some(text) = text else {
        return Ok(Choice { pages: (1..=total.min(USUAL)).collect(), next: (total > USUAL).then_some(USUAL + 1) });
    };
    let mut choice = Choice { pages: Vec::new(), next: None };
    for part in text.split(',') {
        choice.add(part.trim(), total)?;
    }
    Ok(choice)
}

impl Choice {
    fn add(&mut self, part: &str, total: usize) -> Result<(), ToolError> {
        let (first, last, open) = range(part, total)?;
        if first > total || last > total {
            let count = if total == 1 { "1 page".to_owned() } else { format!("{total} pages") };
            return Err(invalid(format!("page {} does not exist: the document has {count}", first.max(last))));
        }
        for page in first..=last {
            if self.pages.contains(&page) {
                continue;
            }
            if self.pages.len() == MOST {
                if !open {
                    return Err(invalid(format!("at most {MOST} pages are shown at once; ask for fewer")));
                }
                self.next = Some(page);
                break;
            }
            self.pages.push(page);
        }
        Ok(())
    }
}

/// Reads "3", "3-5" or "3-". The last says that it goes on to the end.
fn range(part: &str, total: usize) -> Result<(usize, usize, bool), ToolError> {
    let wrong = || invalid(format!("pages: {part:?} names no page; {SYNTAX}"));
    let number = |text: &str| match text.trim().parse::<usize>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(wrong()),
    };
    match part.split_once('-') {
        None => number(part).map(|page| (page, page, false)),
        Some((first, last)) if last.trim().is_empty() => number(first).map(|first| (first, total, true)),
        Some((first, last)) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(invalid(format!("pages: {part:?} runs backwards; {SYNTAX}")));
            }
            // A range too long is that, whatever the document has.
            if last - first >= MOST {
                return Err(invalid(format!("at most {MOST} pages are shown at once, and {part:?} are more")));
            }
            Ok((first, last, false))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, choose};

    #[test]
    fn reads_pages() {
        for (text, total, want, next) in [
            (None, 3, (1..=3).collect::<Vec<_>>(), None),
            (None, 11, (1..=10).collect(), Some(11)),
            (Some("3"), 3, vec![3], None),
            (Some("1-2, 4"), 9, vec![1, 2, 4], None),
            (Some("4,1-4"), 9, vec![4, 1, 2, 3], None),
            (Some("8-"), 9, vec![8, 9], None),
            (Some("2-"), 40, (2..=21).collect(), Some(22)),
        ] {
            assert_eq!(choose(text, total).unwrap(), Choice { pages: want, next }, "{text:?} of {total}");
        }
    }

    #[test]
    fn refuses_what_names_no_page() {
        for (text, want) in [
            ("0", "names no page"),
            ("x", "names no page"),
            ("1,,2", "names no page"),
            ("-3", "names no page"),
            ("5-2", "runs backwards"),
            ("13", "page 13 does not exist: the document has 12 pages"),
            ("13-", "page 13 does not exist"),
            ("1-21", "at most 20 pages"),
            ("99999999999999999999", "names no page"),
        ] {
            let err = choose(Some(text), 12).unwrap_err();
            assert!(err.message.contains(want), "{text}: {}", err.message);
        }
        let err = choose(Some("1-20,25"), 40).unwrap_err();
        assert!(err.message.contains("at most 20"), "{}", err.message);
    }
}
