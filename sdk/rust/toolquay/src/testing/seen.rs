//! What the model of the testing host has seen of files.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::{ErrorCode, ToolError};

/// What was seen, by path.
#[derive(Clone, Debug, Default)]
pub struct Seen(BTreeMap<String, Sight>);

/// What was seen of one file: what it held then, and which bytes of that.
#[derive(Clone, Debug, Default)]
struct Sight {
    content: Vec<u8>,
    ranges: Vec<Range<usize>>,
    views: Vec<String>,
}

/// A place in a file, and how long what takes it is.
pub type Edit = (Range<usize>, usize);

impl Seen {
    /// Notes what the model is shown, and asks whether it was shown just this before.
    /// It is so once: the model that asks a third time has lost what it was shown.
    pub fn show(&mut self, path: &str, content: &[u8], range: Range<usize>, view: &str) -> bool {
        let sight = self.0.entry(path.to_owned()).or_default();
        if sight.content != content {
            *sight = Sight { content: content.to_vec(), ..Sight::default() };
        }
        if let Some(at) = sight.views.iter().position(|shown| shown == view) {
            sight.views.remove(at);
            return true;
        }
        sight.views.push(view.to_owned());
        sight.ranges.push(range);
        false
    }

    /// Refuses a write over what was not seen: the places, or without any the whole
    /// file; and, unless the writer knows better, over what is not what was seen.
    pub fn check(&self, path: &str, now: &[u8], places: Option<&[Range<usize>]>, knows: bool) -> Result<(), ToolError> {
        let not_read = || ToolError::new(ErrorCode::NotRead, format!("{path} was not read in this session"));
        let sight = self.0.get(path).ok_or_else(not_read)?;
        if places.is_none() && !sight.covers(&(0..sight.content.len())) {
            return Err(not_read());
        }
        if sight.content != now && !knows {
            return Err(ToolError::new(ErrorCode::Changed, format!("{path} has changed since it was read")));
        }
        if !places.unwrap_or_default().iter().all(|place| sight.covers(place)) {
            return Err(not_read());
        }
        Ok(())
    }

    /// Notes what the model knows after it wrote a file's whole content.
    pub fn wrote(&mut self, path: &str, content: &[u8]) {
        let ranges = std::iter::once(0..content.len()).collect();
        self.0.insert(path.to_owned(), Sight { content: content.to_vec(), ranges, views: Vec::new() });
    }

    /// Notes what the model knows after it edited a file: what it saw, where that lies
    /// now. The edits are in order.
    pub fn edited(&mut self, path: &str, content: &[u8], edits: &[Edit]) {
        let sight = self.0.entry(path.to_owned()).or_default();
        sight.content = content.to_vec();
        sight.views.clear();
        for range in &mut sight.ranges {
            *range = moved(range.start, edits)..moved(range.end, edits);
        }
    }
}

impl Sight {
    fn covers(&self, place: &Range<usize>) -> bool {
        let mut from = place.start;
        let mut ranges = self.ranges.clone();
        ranges.sort_unstable_by_key(|range| range.start);
        for range in ranges {
            if range.start <= from {
                from = from.max(range.end);
            }
        }
        from >= place.end
    }
}

/// Where a position lies after edits.
fn moved(position: usize, edits: &[Edit]) -> usize {
    let before = edits.iter().filter(|(place, _)| place.end <= position && place.start < position);
    before.fold(position, |at, (place, length)| at + length - place.len())
}
