use crate::{literals, table};
use regex_automata::meta::{Cache, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::{Input, util::syntax};
use regex_syntax::hir::{Class, ClassBytesRange, ClassUnicodeRange, Hir, HirKind};

/// The most memory for a compiled expression, and for what a search of it learns
/// on the way, in bytes. Ripgrep allows much more of both.
const SIZE_LIMIT: usize = 16 << 20;
const CACHE_LIMIT: usize = 8 << 20;
/// How deep an expression may nest.
const NEST_LIMIT: u32 = 200;

/// Where a match starts and ends.
pub type Span = [u32; 2];

/// A compiled expression, and what a search of it learnt so far.
pub struct Program {
    regex: Regex,
    cache: Cache,
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
            hir = without_newline(hir)?;
        }
        let literals = literals::required(pattern, config.case_insensitive(false));
        let regex = build(&hir)?;
        let cache = regex.create_cache();
        Ok(Program { regex, cache, kind, literals, hir })
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
    /// enough to know the line.
    fn of_lines(&mut self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let input = Input::new(text).span(from..text.len()).earliest(true);
        let found = self.regex.search_half_with(&mut self.cache, &input)?;
        let (start, end) = line(text, from, found.offset());
        // A match behind the last newline is of no line.
        (start < text.len()).then_some((start, end))
    }

    fn line_by_line(&mut self, text: &[u8], mut from: usize) -> Option<(usize, usize)> {
        while from < text.len() {
            let (start, end) = line(text, from, from);
            let bare = text[start..end].strip_suffix(b"\n").unwrap_or(&text[start..end]);
            if self.regex.search_half_with(&mut self.cache, &Input::new(bare).earliest(true)).is_some() {
                return Some((start, end));
            }
            from = end;
        }
        None
    }

    fn across(&mut self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = self.regex.search_with(&mut self.cache, &Input::new(text).span(from..text.len()))?;
        if found.start() == text.len() && text.ends_with(b"\n") {
            return None;
        }
        Some((found.start(), found.end()))
    }
}

fn build(hir: &Hir) -> Result<Regex, String> {
    let config = Config::new()
        .utf8_empty(false)
        .which_captures(WhichCaptures::Implicit)
        .dfa(false)
        .nfa_size_limit(Some(SIZE_LIMIT))
        .hybrid_cache_capacity(CACHE_LIMIT);
    Regex::builder().configure(config).build_from_hir(hir).map_err(|error| match error.size_limit() {
        Some(limit) => format!("it is too large, over {} MiB when compiled; repeat less", limit >> 20),
        None => error.to_string(),
    })
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
fn without_newline(hir: Hir) -> Result<Hir, String> {
    let all = |subs: Vec<Hir>| subs.into_iter().map(without_newline).collect::<Result<Vec<_>, _>>();
    Ok(match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => {
            return Err("it holds a newline, which no single line does; set multiline".to_string());
        }
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            let newline = ClassUnicodeRange::new('\n', '\n');
            class.difference(&regex_syntax::hir::ClassUnicode::new([newline]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            let newline = ClassBytesRange::new(b'\n', b'\n');
            class.difference(&regex_syntax::hir::ClassBytes::new([newline]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(without_newline(*repetition.sub)?);
            Hir::repetition(repetition)
        }
        HirKind::Capture(mut capture) => {
            capture.sub = Box::new(without_newline(*capture.sub)?);
            Hir::capture(capture)
        }
        HirKind::Concat(subs) => Hir::concat(all(subs)?),
        HirKind::Alternation(subs) => Hir::alternation(all(subs)?),
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
