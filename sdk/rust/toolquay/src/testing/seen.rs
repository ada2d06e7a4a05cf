//! What is known of files: what the model has seen, or what a call has read.

use std::collections::BTreeMap;
use std::ops::Range;

/// What is known, by path.
#[derive(Clone, Debug, Default)]
pub struct Seen(BTreeMap<String, Sight>);

/// What is known of one file: what it held then, and which bytes of that.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    pub content: Vec<u8>,
    ranges: Vec<Range<usize>>,
    views: Vec<String>,
}

/// What the result of a call is to show of a file.
#[derive(Clone, Debug)]
pub struct Glance {
    pub path: String,
    pub content: Vec<u8>,
    pub ranges: Vec<Range<usize>>,
    pub view: String,
}

/// A place in a file, and how long what takes it is.
pub type Edit = (Range<usize>, usize);

impl Seen {
    /// Whether an earlier call showed just this of the same content. It says so once: the
    /// model that asks a third time has lost what it was shown.
    pub fn again(&mut self, path: &str, content: &[u8], view: &str) -> bool {
        let Some(sight) = self.0.get_mut(path).filter(|sight| sight.content == content) else { return false };
        let at = sight.views.iter().position(|shown| shown == view);
        at.is_some_and(|at| !sight.views.remove(at).is_empty())
    }

    /// Adds to what is known of a file. Another content is another file.
    pub fn look(&mut self, path: &str, content: &[u8], ranges: &[Range<usize>]) -> &mut Sight {
        let sight = self.0.entry(path.to_owned()).or_default();
        if sight.content != content {
            *sight = Sight { content: content.to_vec(), ..Sight::default() };
        }
        sight.ranges.extend_from_slice(ranges);
        sight
    }

    /// Takes over what a result has shown.
    pub fn shown(&mut self, glance: Glance) {
        self.look(&glance.path, &glance.content, &glance.ranges).views.push(glance.view);
    }

    /// What is known of a file.
    pub fn of(&self, path: &str) -> Option<&Sight> {
        self.0.get(path)
    }

    /// Notes what is known after a file was written: all of it, or nothing but that it was.
    pub fn wrote(&mut self, path: &str, content: &[u8], whole: bool) {
        let ranges = whole.then_some(0..content.len()).into_iter().collect();
        self.0.insert(path.to_owned(), Sight { content: content.to_vec(), ranges, views: Vec::new() });
    }

    /// Notes what is known after a file was edited: what was, where that lies now. The
    /// edits are in order.
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
    /// Whether all of the content is known.
    pub fn whole(&self) -> bool {
        self.covers(&(0..self.content.len()))
    }

    pub fn covers(&self, place: &Range<usize>) -> bool {
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
