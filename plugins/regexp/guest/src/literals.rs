//! What every match must hold, so that a host can pass over text without it.

use regex_automata::util::syntax;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The most literals in a set, the most bytes of one, and the fewest that are worth
/// looking for.
const MAX_LITERALS: usize = 8;
const MAX_LENGTH: usize = 32;
const MIN_LENGTH: usize = 3;

/// Returns literals of which every match of a pattern, read as `config` says, holds
/// one at least; nothing where there are no good ones.
pub fn required(pattern: &str, config: syntax::Config) -> Option<Vec<Vec<u8>>> {
    let set = best(&syntax::parse_with(pattern, &config).ok()?)?;
    (score(&set) >= MIN_LENGTH).then_some(set)
}

/// Returns the text with which every match starts, empty where there is none.
pub fn prefix(hir: &Hir) -> Vec<u8> {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.to_vec(),
        HirKind::Capture(capture) => prefix(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => prefix(&repetition.sub),
        HirKind::Concat(subs) => {
            let matches_text = |sub: &&Hir| !matches!(sub.kind(), HirKind::Look(_));
            subs.iter().find(matches_text).map(prefix).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

type Set = Vec<Vec<u8>>;

/// How good a set is: the length of its shortest literal.
fn score(set: &Set) -> usize {
    set.iter().map(Vec::len).min().unwrap_or(0)
}

/// The best set of which every match holds one.
fn best(hir: &Hir) -> Option<Set> {
    if let Some(set) = exact(hir) {
        return Some(set);
    }
    match hir.kind() {
        // Any part of a long one will do.
        HirKind::Literal(literal) => Some(vec![literal.0[..MAX_LENGTH].to_vec()]),
        HirKind::Capture(capture) => best(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => best(&repetition.sub),
        HirKind::Alternation(subs) => {
            let mut all = Set::new();
            for sub in subs {
                all.append(&mut best(sub)?);
                if all.len() > MAX_LITERALS {
                    return None;
                }
            }
            Some(all)
        }
        HirKind::Concat(subs) => best_of(subs),
        _ => None,
    }
}

/// The best set of a sequence: of one of its parts, or of neighbours that match
/// nothing but a few literals, joined.
fn best_of(subs: &[Hir]) -> Option<Set> {
    let mut found: Option<Set> = None;
    let mut keep = |set: &Set| {
        if found.as_ref().is_none_or(|was| better(set, was)) {
            found = Some(set.clone());
        }
    };
    let mut run = vec![Vec::new()];
    for sub in subs {
        let Some(set) = exact(sub) else {
            run = vec![Vec::new()];
            if let Some(set) = best(sub) {
                keep(&set);
            }
            continue;
        };
        run = joined(&run, &set).unwrap_or(set);
        keep(&run);
    }
    found.filter(|set| score(set) > 0)
}

fn better(set: &Set, than: &Set) -> bool {
    let (new, old) = (score(set), score(than));
    new > old || new == old && set.len() < than.len()
}

/// All that an expression matches, where that is a few literals.
fn exact(hir: &Hir) -> Option<Set> {
    match hir.kind() {
        // Assertions match nothing, in some places: what is around them stays.
        HirKind::Empty | HirKind::Look(_) => Some(vec![Vec::new()]),
        HirKind::Literal(literal) if literal.0.len() <= MAX_LENGTH => Some(vec![literal.0.to_vec()]),
        HirKind::Class(class) => few(class),
        HirKind::Capture(capture) => exact(&capture.sub),
        HirKind::Alternation(subs) => {
            let mut all = Set::new();
            for sub in subs {
                all.append(&mut exact(sub)?);
                if all.len() > MAX_LITERALS {
                    return None;
                }
            }
            Some(all)
        }
        HirKind::Concat(subs) => {
            let mut all = vec![Vec::new()];
            for sub in subs {
                all = joined(&all, &exact(sub)?)?;
            }
            Some(all)
        }
        _ => None,
    }
}

/// Each of `left` with each of `right` behind it, where that is few and short.
fn joined(left: &Set, right: &Set) -> Option<Set> {
    if left.len() * right.len() > MAX_LITERALS {
        return None;
    }
    let pairs = left.iter().flat_map(|l| right.iter().map(move |r| [l.as_slice(), r].concat()));
    let all: Set = pairs.collect();
    all.iter().all(|literal| literal.len() <= MAX_LENGTH).then_some(all)
}

/// The members of a class that has few.
fn few(class: &Class) -> Option<Set> {
    class.literal().map(|literal| vec![literal]).or_else(|| match class {
        Class::Unicode(class) => {
            let count: usize = class.iter().map(|range| range.len()).sum();
            let chars = class.iter().flat_map(|range| range.start()..=range.end());
            (count <= MAX_LITERALS).then(|| chars.map(|c| c.to_string().into_bytes()).collect())
        }
        Class::Bytes(class) => {
            let count: usize = class.iter().map(|range| range.len()).sum();
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            (count <= MAX_LITERALS).then(|| bytes.map(|b| vec![b]).collect())
        }
    })
}
