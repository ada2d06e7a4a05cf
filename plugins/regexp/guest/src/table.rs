//! A machine that finds the lines an expression matches, as far as they are ASCII:
//! small enough to be handed to the host, which runs it natively.

use crate::tree;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::start;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};
use std::collections::HashMap;

/// The states in which a machine stays: it came to a byte behind a match, or to one
/// that is not ASCII.
const MATCHED: u8 = 255;
const FOREIGN: u8 = 254;
/// How many states there may be besides those.
const MAX_STATES: usize = 254;
const ASCII: usize = 128;

/// The bounds of what is built on the way, in bytes. It takes a millisecond at most.
const NFA_LIMIT: usize = 128 << 10;
const DFA_LIMIT: usize = 512 << 10;

/// Appends the machine for `hir`, in which nothing matches a newline; nothing where
/// it would be large, or where the expression asks for what single bytes do not tell.
/// First come 256 bytes, which row a byte has; then rows of 256 bytes, which state
/// follows on which. It starts, with each line, in state 0. Matches end before the
/// byte with which it comes to `MATCHED`, at the latest that is the line's newline.
pub fn build(hir: &Hir, out: &mut Vec<u8>) {
    let Some(states) = ascii(hir).and_then(|hir| determinize(&hir)) else { return };
    let mut rows: Vec<[u8; 256]> = Vec::new();
    let mut which = [0; 256];
    for (byte, row_of) in which.iter_mut().enumerate() {
        let mut row = [FOREIGN; 256];
        for (state, next) in states.iter().enumerate() {
            row[state] = next.get(byte).copied().unwrap_or(FOREIGN);
        }
        row[usize::from(MATCHED)] = MATCHED;
        let known = rows.iter().position(|r| *r == row).unwrap_or_else(|| {
            rows.push(row);
            rows.len() - 1
        });
        *row_of = known as u8;
    }
    out.extend_from_slice(&which);
    out.extend_from_slice(rows.as_flattened());
}

/// The transitions of each state, 0 the one at the start of a line. They are asked of a
/// lazy DFA, one after the other: the crate's ahead-of-time one is as much code again.
fn determinize(hir: &Hir) -> Option<Vec<[u8; ASCII]>> {
    let config =
        thompson::Config::new().utf8(false).which_captures(WhichCaptures::None).nfa_size_limit(Some(NFA_LIMIT));
    let nfa = thompson::Compiler::new().configure(config).build_from_hir(hir).ok()?;
    // What it said is forgotten once its cache is full: then it is to fail.
    let config = dfa::Config::new().cache_capacity(DFA_LIMIT).minimum_cache_clear_count(Some(0));
    let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
    let mut cache = dfa.create_cache();
    let first = dfa.start_state(&mut cache, &start::Config::new().look_behind(Some(b'\n'))).ok()?;
    let mut states = States { found: vec![first], numbers: HashMap::from([(first, 0)]) };
    let mut rows = Vec::new();
    while let Some(&state) = states.found.get(rows.len()) {
        let mut row = [0; ASCII];
        let mut last = (first, 0);
        for (byte, to) in row.iter_mut().enumerate() {
            let next = dfa.next_state(&mut cache, state, byte as u8).ok()?;
            if next != last.0 {
                last = (next, states.number(next)?);
            }
            *to = last.1;
        }
        rows.push(row);
    }
    Some(rows)
}

/// The states that were met, by their numbers.
struct States {
    found: Vec<LazyStateID>,
    numbers: HashMap<LazyStateID, u8>,
}

impl States {
    /// The number of a state, which is a new one where it was not met before.
    fn number(&mut self, state: LazyStateID) -> Option<u8> {
        if state.is_match() {
            return Some(MATCHED);
        }
        if let Some(&number) = self.numbers.get(&state) {
            return Some(number);
        }
        if self.found.len() == MAX_STATES || state.is_quit() {
            return None;
        }
        let number = self.found.len() as u8;
        self.found.push(state);
        self.numbers.insert(state, number);
        Some(number)
    }
}

/// What is left of an expression where all text is ASCII; nothing where it asks for
/// more than the ends of lines and words.
fn ascii(hir: &Hir) -> Option<Hir> {
    tree::with_leaves(hir, &|leaf| match leaf {
        HirKind::Literal(literal) if !literal.0.is_ascii() => Ok(Hir::fail()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')]));
            Ok(Hir::class(Class::Unicode(class)))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.intersect(&ClassBytes::new([ClassBytesRange::new(0, 0x7f)]));
            Ok(Hir::class(Class::Bytes(class)))
        }
        HirKind::Look(look) => of_bytes(*look).map(Hir::look).ok_or(()),
        leaf => Ok(tree::same(leaf)),
    })
    .ok()
}

/// The assertion that says the same of ASCII and goes by single bytes.
fn of_bytes(look: Look) -> Option<Look> {
    Some(match look {
        Look::StartLF | Look::EndLF => look,
        Look::WordAscii | Look::WordUnicode => Look::WordAscii,
        Look::WordAsciiNegate | Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartAscii | Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndAscii | Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfAscii | Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfAscii | Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        _ => return None,
    })
}
