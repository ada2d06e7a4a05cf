//! Takes out what colours a terminal.

/// The text without escape sequences, and with the last of what was overwritten on a
/// line, as progress bars do.
pub fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut line = 0; // where it begins in out
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => escape(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.truncate(line),
            '\n' => {
                out.push('\n');
                line = out.len();
            }
            '\t' => out.push('\t'),
            '\u{8}' => {
                if out.len() > line {
                    out.pop();
                }
            }
            _ if char.is_control() => {}
            _ => out.push(char),
        }
    }
    out
}

/// Reads past an escape sequence, the escape itself excluded.
fn escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => while chars.next_if(|char| !('@'..='~').contains(char)).is_some() {},
        Some(']') => {
            while chars.next_if(|char| !matches!(char, '\u{7}' | '\u{1b}')).is_some() {}
            if chars.peek() == Some(&'\u{1b}') {
                chars.next();
            }
        }
        _ => return,
    }
    chars.next(); // the character that ends it
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn strips() {
        for (text, want) in [
            ("\u{1b}[0;31mValueError\u{1b}[0m: no", "ValueError: no"),
            ("\u{1b}[38;5;241mdim", "dim"),
            ("a\u{1b}]8;;https://x.example\u{1b}\\link", "alink"),
            ("a\u{1b}]0;title\u{7}b", "ab"),
            (" 10%\r 50%\r100%\ndone", "100%\ndone"),
            ("one\r\ntwo\tthree", "one\ntwo\tthree"),
            ("ab\u{8}c", "ac"),
            ("cut \u{1b}[31", "cut "),
            ("\u{1b}", ""),
        ] {
            assert_eq!(strip(text), want, "{text:?}");
        }
    }
}
