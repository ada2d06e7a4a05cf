//! What searches text for an expression: a lazy DFA, and a simulation of the NFA for
//! the little that the DFA cannot tell.
//!
//! The crate's own choice of engines, meta, is not used. It links all of them, more than
//! twice the code, and each process that searches once waits for that to be loaded. It
//! knows no lines: once the DFA stops, the rest of the text is the slow engine's. And its
//! many ways to look for literals are the host's affair, but for what starts a match.

use crate::{literals, tree};
use core::convert::Infallible;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::nfa::thompson::{BuildError, Compiler, Config, NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchError, MatchErrorKind, MatchKind};
use regex_syntax::hir::{Hir, HirKind, LookSet};

/// The most memory for a compiled expression, and for what a search of it learns
/// on the way, in bytes. Ripgrep allows much more of both.
const SIZE_LIMIT: usize = 16 << 20;
const CACHE_LIMIT: usize = 8 << 20;
/// When a lazy DFA gives up: its cache was full so often, and since the last time there
/// were fewer bytes of text for each of its states.
const MIN_CLEARS: usize = 3;
const MIN_BYTES: usize = 10;

/// The engines of one expression, and what their searches learnt so far.
pub struct Engines {
    forward: Option<Lazy>,
    /// Only where it matters where matches start.
    reverse: Option<Lazy>,
    loose: Option<Loose>,
    exact: PikeVM,
    exact_cache: Option<pikevm::Cache>,
}

/// A lazy DFA. At bytes that are not ASCII it stops where an expression asks for the
/// ends of words.
struct Lazy {
    dfa: DFA,
    cache: dfa::Cache,
}

/// An expression without its ends of words, which finds all that the expression does,
/// and more, but never stops: the exact engine is thirty times as slow.
struct Loose {
    hir: Hir,
    lazy: Option<Option<Lazy>>, // made, if it can be, once it is needed
}

impl Engines {
    /// Compiles an expression, for searches that ask where matches start or do not.
    pub fn new(hir: &Hir, starts: bool) -> Result<Engines, String> {
        // What skips text up to the literal that every match starts with, if there is one.
        let prefilter = Prefilter::new(MatchKind::LeftmostFirst, &[literals::prefix(hir)]);
        let nfa = compile(hir, false)?;
        let mut reverse = None;
        // Too large is too large either way: whether a pattern is taken does not depend
        // on what is asked of it.
        if starts || nfa.memory_usage() > SIZE_LIMIT / 4 {
            let nfa = compile(hir, true)?;
            reverse = if starts { Lazy::new(lazy_config().match_kind(MatchKind::All), nfa) } else { None };
        }
        let config = lazy_config().specialize_start_states(prefilter.is_some()).prefilter(prefilter.clone());
        let forward = Lazy::new(config, nfa.clone());
        let exact = PikeVM::builder()
            .configure(PikeVM::config().prefilter(prefilter))
            .build_from_nfa(nfa)
            .map_err(|error| words(&error))?;
        Ok(Engines { forward, reverse, loose: Loose::new(hir), exact, exact_cache: None })
    }

    /// Where some first match of `text` behind `from` ends; or an error, up to where
    /// there surely was none.
    pub fn end(&mut self, text: &[u8], from: usize) -> Result<Option<usize>, usize> {
        let Some(lazy) = &mut self.forward else { return Err(from) };
        lazy.end(text, from, text.len()).map_err(|at| at.max(from))
    }

    /// Whether there is a match between `start` and `end`, of any text.
    pub fn matches(&mut self, text: &[u8], start: usize, end: usize) -> bool {
        if self.ruled_out(text, start, end) {
            return false;
        }
        let cache = self.exact_cache.get_or_insert_with(|| self.exact.create_cache());
        self.exact.is_match(cache, Input::new(text).span(start..end))
    }

    /// Where the first match of `text` behind `from` starts and ends.
    pub fn span(&mut self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let input = Input::new(text).span(from..text.len());
        match self.lazy_span(&input) {
            Ok(found) => found,
            Err(_) if self.ruled_out(text, from, text.len()) => None,
            Err(_) => self.exact_span(&input),
        }
    }

    /// Whether there surely is no match between `start` and `end`.
    fn ruled_out(&mut self, text: &[u8], start: usize, end: usize) -> bool {
        self.loose.as_mut().is_some_and(|loose| loose.rules_out(text, start, end))
    }

    fn lazy_span(&mut self, input: &Input<'_>) -> Result<Option<(usize, usize)>, MatchError> {
        let (Some(forward), Some(reverse)) = (&mut self.forward, &mut self.reverse) else {
            return Err(MatchError::gave_up(input.start()));
        };
        let Some(end) = forward.dfa.try_search_fwd(&mut forward.cache, input)? else { return Ok(None) };
        let before = input.clone().range(input.start()..end.offset()).anchored(Anchored::Yes);
        let start = reverse.dfa.try_search_rev(&mut reverse.cache, &before)?;
        Ok(start.map(|start| (start.offset(), end.offset())))
    }

    fn exact_span(&mut self, input: &Input<'_>) -> Option<(usize, usize)> {
        let cache = self.exact_cache.get_or_insert_with(|| self.exact.create_cache());
        let mut slots = [None; 2];
        self.exact.search_slots(cache, input, &mut slots)?;
        let [start, end] = slots.map(|slot| slot.map(|at| at.get()));
        start.zip(end)
    }
}

impl Lazy {
    /// Nothing where the cache would not hold enough to begin with.
    fn new(config: dfa::Config, nfa: NFA) -> Option<Lazy> {
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        let cache = dfa.create_cache();
        Some(Lazy { dfa, cache })
    }

    /// Where some first match between `start` and `end` ends; or an error, how far it came.
    fn end(&mut self, text: &[u8], start: usize, end: usize) -> Result<Option<usize>, usize> {
        let input = Input::new(text).span(start..end).earliest(true);
        match self.dfa.try_search_fwd(&mut self.cache, &input) {
            Ok(found) => Ok(found.map(|half| half.offset())),
            Err(error) => Err(stopped(&error)),
        }
    }
}

impl Loose {
    /// Nothing where an expression asks for no ends of words.
    fn new(hir: &Hir) -> Option<Loose> {
        if !hir.properties().look_set().contains_word_unicode() {
            return None;
        }
        let without = |leaf: &HirKind| match leaf {
            HirKind::Look(look) if LookSet::singleton(*look).contains_word_unicode() => Hir::empty(),
            leaf => tree::same(leaf),
        };
        let hir = tree::with_leaves(hir, &|leaf| Ok::<_, Infallible>(without(leaf))).ok()?;
        Some(Loose { hir, lazy: None })
    }

    /// Whether there surely is no match between `start` and `end`.
    fn rules_out(&mut self, text: &[u8], start: usize, end: usize) -> bool {
        let make = || Lazy::new(lazy_config(), compile(&self.hir, false).ok()?);
        let lazy = self.lazy.get_or_insert_with(make);
        lazy.as_mut().is_some_and(|lazy| lazy.end(text, start, end) == Ok(None))
    }
}

fn lazy_config() -> dfa::Config {
    dfa::Config::new()
        .unicode_word_boundary(true)
        .cache_capacity(CACHE_LIMIT)
        .minimum_cache_clear_count(Some(MIN_CLEARS))
        .minimum_bytes_per_state(Some(MIN_BYTES))
}

/// Where a lazy DFA came to when it could not go on.
fn stopped(error: &MatchError) -> usize {
    match *error.kind() {
        MatchErrorKind::Quit { offset, .. } | MatchErrorKind::GaveUp { offset } => offset,
        _ => 0, // other engines'
    }
}

fn compile(hir: &Hir, reverse: bool) -> Result<NFA, String> {
    let captures = if reverse { WhichCaptures::None } else { WhichCaptures::Implicit };
    let config = Config::new().utf8(false).reverse(reverse).which_captures(captures).nfa_size_limit(Some(SIZE_LIMIT));
    Compiler::new().configure(config).build_from_hir(hir).map_err(|error| words(&error))
}

fn words(error: &BuildError) -> String {
    match error.size_limit() {
        Some(limit) => format!("it is too large, over {} MiB when compiled; repeat less", limit >> 20),
        None => error.to_string(),
    }
}
