//! Globs of the testing host: `*`, `?`, `[...]`, `{a,b}` and `**`.

/// Whether a relative path matches a pattern.
pub fn matches(pattern: &str, path: &str) -> bool {
    alternatives(pattern).iter().any(|pattern| {
        let (pattern, path): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), path.split('/').collect());
        names(&pattern, &path)
    })
}

/// Writes every `{a,b}` out.
fn alternatives(pattern: &str) -> Vec<String> {
    let Some(open) = pattern.find('{') else { return vec![pattern.to_owned()] };
    let (mut depth, mut start, mut choices) = (0, open + 1, Vec::new());
    for (i, c) in pattern.char_indices().skip_while(|(i, _)| *i < open) {
        match c {
            '{' => depth += 1,
            ',' if depth == 1 => {
                choices.push(&pattern[start..i]);
                start = i + 1;
            }
            '}' => {
                depth -= 1;
                if depth == 0 {
                    choices.push(&pattern[start..i]);
                    let (before, after) = (&pattern[..open], &pattern[i + 1..]);
                    return choices.iter().flat_map(|c| alternatives(&format!("{before}{c}{after}"))).collect();
                }
            }
            _ => {}
        }
    }
    vec![pattern.to_owned()]
}

fn names(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**"], rest) => !rest.is_empty(),
        (["**", rest @ ..], _) => (0..=path.len()).any(|skip| names(rest, &path[skip..])),
        ([name, rest @ ..], [first, others @ ..]) => {
            let (name, first): (Vec<char>, Vec<char>) = (name.chars().collect(), first.chars().collect());
            letters(&name, &first) && names(rest, others)
        }
        _ => false,
    }
}

/// Whether a path lies in what the components of a scope cover: `**` is any number of
/// names, none included.
pub fn covers(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => (0..=path.len()).any(|skip| covers(rest, &path[skip..])),
        ([name, rest @ ..], [first, others @ ..]) => {
            let (name, first): (Vec<char>, Vec<char>) = (name.chars().collect(), first.chars().collect());
            letters(&name, &first) && covers(rest, others)
        }
        _ => false,
    }
}

fn letters(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => (0..=name.len()).any(|skip| letters(rest, &name[skip..])),
        (['?', rest @ ..], [_, others @ ..]) => letters(rest, others),
        (['[', set @ ..], [c, others @ ..]) => match set.iter().skip(1).position(|c| *c == ']') {
            Some(end) => in_set(&set[..=end], *c) && letters(&set[end + 2..], others),
            None => false,
        },
        ([a, rest @ ..], [b, others @ ..]) => a == b && letters(rest, others),
        _ => false,
    }
}

fn in_set(set: &[char], c: char) -> bool {
    let (negated, set) = match set {
        ['!' | '^', rest @ ..] => (true, rest),
        _ => (false, set),
    };
    let ranges = set.windows(3).any(|w| w[1] == '-' && (w[0]..=w[2]).contains(&c));
    (ranges || set.contains(&c)) != negated
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn matches_as_globs_do() {
        for (pattern, path, want) in [
            ("*.rs", "lib.rs", true),
            ("*.rs", "src/lib.rs", false),
            ("**/*.rs", "lib.rs", true),
            ("**/*.rs", "a/b/lib.rs", true),
            ("src/**", "src/a/b", true),
            ("src/**", "src", false),
            ("src/*/x?.{rs,go}", "src/a/x1.go", true),
            ("{a,b{c,d}}", "bd", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[x", "[x", false),
        ] {
            assert_eq!(matches(pattern, path), want, "{pattern} {path}");
        }
    }
}
