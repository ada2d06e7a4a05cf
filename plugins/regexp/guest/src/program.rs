use crate::engines::Engines;
use crate::{literals, table, tree};
use regex_automata::util::syntax;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// How deep an expression may nest.
const NEST_LIMIT: u32 = 200;

/// Where a match starts and ends.
pub type Span = [u32; 2];

/// A compiled expression, and what a search of it learnt so far.
pub struct Program {
    engines: Engines,
    kind: Kind,
    literals: Option<Vec<Vec<u8>>>,
    hir: Hir,
}

/// How text is searched, as ripgrep does.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// All lines at once: no part of the expression matches a newline.
    Lines,
    /// Each line by itself, without its newline: the expression asks where the
    /// text starts or ends.
    Line,
    /// Matches may span lines.
    Across,
}

/// How a pattern is meant.
pub struct Options {
    pub ignore_case: bool,
    pub multiline: bool,
    /// Matches are counted, and no lines: see [`Program::new`].
    pub count: bool,
}

impl Program {
    /// Compiles a pattern, or tells in words why it cannot. Where matches may span
    /// lines, ripgrep counts matches, else the lines that hold any; and it takes what
    /// asks where a line starts or ends for what may span some.
    pub fn new(pattern: &str, options: Options) -> Result<Program, String> {
        let Options { ignore_case, multiline, count } = options;
        let config = syntax::Config::new()
            .utf8(false)
            .multi_line(true)
            .nest_limit(NEST_LIMIT)
            .case_insensitive(ignore_case)
            .dot_matches_new_line(multiline);
        let mut hir = syntax::parse_with(pattern, &config).map_err(|error| error.to_string())?;
        check_nul(&hir)?;
        let looks = hir.properties().look_set();
        let anchored = looks.contains_anchor_haystack();
        let mut kind = if anchored { Kind::Line } else { Kind::Lines };
        if multiline && (anchored || may_hold_newline(&hir) || count && looks.contains_anchor()) {
            kind = Kind::Across;
        } else {
            hir = without_newline(&hir)?;
        }
        let literals = literals::required(pattern, config.case_insensitive(false));
        let engines = Engines::new(&hir, kind == Kind::Across)?;
        Ok(Program { engines, kind, literals, hir })
    }

    /// Appends what a host may want to know: a byte that is 1 where matches may
    /// span lines; then, each a byte of length and as many bytes, literals of which
    /// every match holds one at least, in some case where case is ignored. There are
    /// none where that is not known.
    pub fn facts(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.kind == Kind::Across));
        for literal in self.literals.iter().flatten() {
            out.push(literal.len() as u8);
            out.extend_from_slice(literal);
        }
    }

    /// Appends the machine that finds lines of ASCII, where there is one: see
    /// [`table::build`].
    pub fn table(&self, out: &mut Vec<u8>) {
        if self.kind == Kind::Lines {
            table::build(&self.hir, out);
        }
    }

    /// Appends up to `most` matches of `text` behind `from`: matching lines as a
    /// whole, with their newlines, where matches do not span lines.
    pub fn find(&mut self, text: &[u8], mut from: usize, most: usize, out: &mut Vec<Span>) {
        while out.len() < most && from < text.len() {
            let found = match self.kind {
                Kind::Lines => self.of_lines(text, from),
                Kind::Line => self.line_by_line(text, from),
                Kind::Across => self.across(text, from),
            };
            let Some((start, end)) = found else { return };
            out.push([start as u32, end as u32]);
            from = end;
            if start == end {
                from += 1; // as ripgrep does, into the midst of a character too
            }
        }
    }

    /// The next line with a match, of many searched at once. Where a match ends is
    /// enough to know the line; where the search could not go on, it is asked about
    /// that line alone.
    fn of_lines(&mut self, text: &[u8], mut from: usize) -> Option<(usize, usize)> {
        while from < text.len() {
            let found = self.engines.end(text, from);
            let at = match found {
                Ok(end) => end?,
                Err(at) => at,
            };
            let (start, end) = line(text, from, at);
            // A match behind the last newline is of no line.
            if start < text.len() && (found.is_ok() || self.engines.matches(text, start, bare_end(text, end))) {
                return Some((start, end));
            }
            from = end;
        }
        None
    }

    fn line_by_line(&mut self, text: &[u8], mut from: usize) -> Option<(usize, usize)> {
        while from < text.len() {
            let (start, end) = line(text, from, from);
            let line = &text[start..bare_end(text, end)];
            let matched = self.engines.end(line, 0).map(|end| end.is_some());
            if matched.unwrap_or_else(|_| self.engines.matches(line, 0, line.len())) {
                return Some((start, end));
            }
            from = end;
        }
        None
    }

    fn across(&mut self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = self.engines.span(text, from)?;
        (found.0 < text.len() || !text.ends_with(b"\n")).then_some(found)
    }
}

/// Where the line that ends at `end` does without its newline.
fn bare_end(text: &[u8], end: usize) -> usize {
    end - usize::from(text[..end].ends_with(b"\n"))
}

/// Where the line around `at`, which is not before `from`, starts and where the next
/// one does.
fn line(text: &[u8], from: usize, at: usize) -> (usize, usize) {
    let start = memchr::memrchr(b'\n', &text[from..at]).map_or(from, |i| from + i + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |i| at + i + 1);
    (start, end)
}

/// Whether a match may hold a newline.
fn may_hold_newline(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => class.iter().any(|r| r.start() <= '\n' && '\n' <= r.end()),
        HirKind::Class(Class::Bytes(class)) => class.iter().any(|r| r.start() <= b'\n' && b'\n' <= r.end()),
        _ => hir.kind().subs().iter().any(may_hold_newline),
    }
}

/// The expression for single lines: no class matches a newline. A newline by itself is
/// an error, since there would never be a match.
fn without_newline(hir: &Hir) -> Result<Hir, String> {
    tree::with_leaves(hir, &|leaf| match leaf {
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => {
            Err("it holds a newline, which no single line does; set multiline".to_string())
        }
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Ok(Hir::class(Class::Unicode(class)))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Ok(Hir::class(Class::Bytes(class)))
        }
        leaf => Ok(tree::same(leaf)),
    })
}

/// Refuses a NUL, as ripgrep does: files that hold one are binary.
fn check_nul(hir: &Hir) -> Result<(), String> {
    match hir.kind() {
        HirKind::Literal(literal) if literal.0.contains(&0) => {
            Err("it holds a NUL byte; binary files are not searched".to_string())
        }
        _ => hir.kind().subs().iter().try_for_each(check_nul),
    }
}
