//! Rust's source text, as far as counting needs it.

/// What a piece of source text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Code,
    Comment,
    Literal,
}

/// Returns the text with spaces in the place of comments.
pub(crate) fn without_comments(text: &str) -> String {
    blanked(text, |piece| piece == Piece::Comment)
}

/// Returns the text with spaces in the place of comments, strings and characters.
pub(crate) fn code_alone(text: &str) -> String {
    blanked(text, |piece| piece != Piece::Code)
}

fn blanked(text: &str, is_blanked: impl Fn(Piece) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, length) = next_piece(rest);
        let (part, after) = rest.split_at(length);
        if is_blanked(piece) {
            out.extend(part.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            out.push_str(part);
        }
        rest = after;
    }
    out
}

/// Returns what comes next, and its length in bytes. The text is not empty.
fn next_piece(text: &str) -> (Piece, usize) {
    if text.starts_with("//") {
        return (Piece::Comment, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return (Piece::Comment, block_comment(text));
    }
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let name = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    let (prefix, quoted) = text.split_at(name);
    let literal = match prefix {
        "" | "b" | "c" => string(quoted).or_else(|| character(quoted)),
        "r" | "br" | "cr" => raw_string(quoted),
        _ => None,
    };
    match literal {
        Some(length) => (Piece::Literal, name + length),
        None if name > 0 => (Piece::Code, name),
        None => (Piece::Code, text.chars().next().map_or(1, char::len_utf8)),
    }
}

/// Returns the length of a comment, in which others may lie.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("/*") {
            depth += 1;
            rest = after;
        } else if let Some(after) = rest.strip_prefix("*/") {
            depth -= 1;
            rest = after;
            if depth == 0 {
                break;
            }
        } else {
            let mut chars = rest.chars();
            chars.next();
            rest = chars.as_str();
        }
    }
    text.len() - rest.len()
}

/// Returns the length of the string that the text begins with.
fn string(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.char_indices().find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    Some(end.map_or(text.len(), |(at, _)| at + 2))
}

/// Returns the length of the raw string that the text begins with, behind its `r`.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let inside = text.get(hashes..)?.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    Some(inside.find(&close).map_or(text.len(), |at| hashes + 1 + at + close.len()))
}

/// Returns the length of the character that the text begins with. A lifetime is none.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let mut chars = inside.char_indices();
    let (_, first) = chars.next()?;
    if first == '\\' {
        chars.next()?;
    }
    // An escape is closed by the next quote, anything else has one character.
    let mut rest = chars.take(if first == '\\' { 8 } else { 1 });
    rest.find(|(_, c)| *c == '\'').map(|(at, _)| at + 2)
}

/// Returns the lists of parameters of a text's functions: each parameter as it is written.
pub(crate) fn parameters(code: &str) -> Vec<Vec<&str>> {
    let mut lists = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let is_word = code.get(..at).is_some_and(|before| {
            before.chars().next_back().is_none_or(|c| !(c.is_alphanumeric() || c == '_'))
        });
        let Some(signature) = code.get(at + 3..).filter(|_| is_word) else { continue };
        let name = signature.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(0);
        // Without a name it is a function's type.
        let Some(behind) = signature.get(name..).filter(|_| name > 0) else { continue };
        let generics = if behind.starts_with('<') { group(behind) } else { "" };
        let list = behind.get(generics.len()..).map_or("", group);
        let inside = list.strip_prefix('(').and_then(|list| list.strip_suffix(')'));
        if let Some(inside) = inside {
            lists.push(split(inside));
        }
    }
    lists
}

/// Returns the brackets that the text begins with and what is in them.
fn group(text: &str) -> &str {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            // Of an arrow.
            '>' if before == '-' || before == '=' => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return text.get(..at + c.len_utf8()).filter(|_| at > 0).unwrap_or_default();
        }
        before = c;
    }
    ""
}

/// Splits a list at its own commas.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(c) = list.get(at..).and_then(|rest| rest.chars().next()) {
        match c {
            '(' | '[' | '{' | '<' => {
                at += list.get(at..).map_or("", group).len().max(c.len_utf8());
                continue;
            }
            ',' => {
                parts.extend(list.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    parts.extend(list.get(start..));
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        let text =
            "let a = \"// \\\" b\"; // c \"\nlet 'd: '/'; /* e /* f */ g */ h('\\'', b'i', r#\"j\"k\"#)";
        let code = code_alone(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(
            code.split_whitespace().collect::<Vec<_>>(),
            ["let", "a", "=", ";", "let", "'d:", ";", "h(", ",", ",", ")"]
        );
        let kept = without_comments(text);
        assert!(kept.contains("\"// \\\" b\"") && kept.contains("r#\"j\"k\"#"), "{kept}");
        assert!(!kept.contains('c') && !kept.contains('g'), "{kept}");
    }

    #[test]
    fn names_that_end_like_a_prefix_begin_no_string() {
        assert_eq!(
            code_alone("for\"x\" b\"y\" &'a str"),
            "for    &'a str".replace("for    ", "for         ")
        );
    }

    #[test]
    fn parameters_are_told_apart() {
        let code = "pub(crate) fn f<F: Fn(u8) -> u8>(self, (a, b): (A, B<C, D>), g: fn(u8, u8)) {}\n\
                    fn none() {} type T = fn (u8); fn g<'a>(x: &'a [u8; 4],) -> (u8, u8);";
        let lists = parameters(code);
        assert_eq!(
            lists,
            [vec!["self", "(a, b): (A, B<C, D>)", "g: fn(u8, u8)"], vec![], vec!["x: &'a [u8; 4]"]]
        );
    }
}
