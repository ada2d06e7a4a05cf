//! An expression with other leaves.

use regex_syntax::hir::{Hir, HirKind};

/// The expression in which `leaf` says what stands for each literal, class, assertion
/// and empty expression.
pub fn with_leaves<E>(hir: &Hir, leaf: &impl Fn(&HirKind) -> Result<Hir, E>) -> Result<Hir, E> {
    let all = |subs: &[Hir]| subs.iter().map(|sub| with_leaves(sub, leaf)).collect::<Result<Vec<_>, _>>();
    Ok(match hir.kind() {
        HirKind::Repetition(repetition) => Hir::repetition(repetition.with(with_leaves(&repetition.sub, leaf)?)),
        HirKind::Capture(capture) => {
            let mut capture = capture.clone();
            capture.sub = Box::new(with_leaves(&capture.sub, leaf)?);
            Hir::capture(capture)
        }
        HirKind::Concat(subs) => Hir::concat(all(subs)?),
        HirKind::Alternation(subs) => Hir::alternation(all(subs)?),
        kind => leaf(kind)?,
    })
}

/// The leaf itself, as an expression.
pub fn same(leaf: &HirKind) -> Hir {
    match leaf {
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => Hir::class(class.clone()),
        HirKind::Look(look) => Hir::look(*look),
        _ => Hir::empty(),
    }
}
