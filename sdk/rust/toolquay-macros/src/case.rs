//! The spellings of serde's `rename_all`.

/// A spelling that `#[serde(rename_all = "...")]` asks for.
#[derive(Clone, Copy)]
pub struct Case {
    separator: &'static str,
    first: Letters,
    following: Letters,
}

#[derive(Clone, Copy)]
enum Letters {
    Lower,
    Upper,
    Capital,
}

use Letters::{Capital, Lower, Upper};

impl Case {
    /// Finds a spelling by the name serde gives it.
    pub fn named(name: &str) -> Option<Self> {
        let (separator, first, following) = match name {
            "lowercase" => ("", Lower, Lower),
            "UPPERCASE" => ("", Upper, Upper),
            "PascalCase" => ("", Capital, Capital),
            "camelCase" => ("", Lower, Capital),
            "snake_case" => ("_", Lower, Lower),
            "SCREAMING_SNAKE_CASE" => ("_", Upper, Upper),
            "kebab-case" => ("-", Lower, Lower),
            "SCREAMING-KEBAB-CASE" => ("-", Upper, Upper),
            _ => return None,
        };
        Some(Self { separator, first, following })
    }

    /// Spells a field's name, which is in snake case.
    pub fn field(self, name: &str) -> String {
        // serde leaves the underscores of fields where it only changes letters.
        if self.separator.is_empty() && matches!(self.following, Lower | Upper) {
            return spell(name, self.first);
        }
        self.join(name.split('_').filter(|word| !word.is_empty()))
    }

    /// Spells a variant's name, which is in Pascal case.
    pub fn variant(self, name: &str) -> String {
        let mut starts: Vec<usize> = name.char_indices().filter(|(_, c)| c.is_uppercase()).map(|(i, _)| i).collect();
        if starts.first() != Some(&0) {
            starts.insert(0, 0);
        }
        starts.push(name.len());
        self.join(starts.windows(2).map(|ends| &name[ends[0]..ends[1]]))
    }

    fn join<'a>(self, words: impl Iterator<Item = &'a str>) -> String {
        let spelled: Vec<String> =
            words.enumerate().map(|(i, word)| spell(word, if i == 0 { self.first } else { self.following })).collect();
        spelled.join(self.separator)
    }
}

fn spell(word: &str, letters: Letters) -> String {
    match letters {
        Lower => word.to_lowercase(),
        Upper => word.to_uppercase(),
        Capital => {
            let mut rest = word.chars();
            rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Case;

    #[test]
    fn spells_as_serde_does() {
        for (case, field, variant) in [
            ("lowercase", "head_limit", "filesonly"),
            ("UPPERCASE", "HEAD_LIMIT", "FILESONLY"),
            ("PascalCase", "HeadLimit", "FilesOnly"),
            ("camelCase", "headLimit", "filesOnly"),
            ("snake_case", "head_limit", "files_only"),
            ("SCREAMING_SNAKE_CASE", "HEAD_LIMIT", "FILES_ONLY"),
            ("kebab-case", "head-limit", "files-only"),
            ("SCREAMING-KEBAB-CASE", "HEAD-LIMIT", "FILES-ONLY"),
        ] {
            let spelling = Case::named(case).expect(case);
            assert_eq!(spelling.field("head_limit"), field, "{case}");
            assert_eq!(spelling.variant("FilesOnly"), variant, "{case}");
        }
        assert!(Case::named("Title Case").is_none());
    }
}
