//! The comparisons that a filter joins by `and`, read from its text.

use table_core::Filter;

/// A comparison of a property with a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    /// The property.
    pub(crate) name: String,
    /// Whether it leaves one value.
    pub(crate) is_equal: bool,
    /// Whether the constant is a text.
    pub(crate) is_text: bool,
}

/// Returns the comparisons that all have to hold, of those that leave one value or a range of values. What stands in an `or`
/// or behind a `not` is not among them.
pub(crate) fn terms(filter: &Filter) -> Vec<Term> {
    let text = filter.to_string();
    let parts = split(&text, " or ");
    // An `or` binds the least: with one outside of brackets nothing has to hold by itself.
    if parts.len() > 1 {
        return Vec::new();
    }
    split(&text, " and ").into_iter().filter_map(term).collect()
}

fn term(text: &str) -> Option<Term> {
    let text = text.trim();
    let (name, rest) = text.split_once(' ')?;
    let (operator, value) = rest.split_once(' ')?;
    let is_equal = match operator {
        "eq" => true,
        "gt" | "ge" | "lt" | "le" => false,
        _ => return None,
    };
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_text = value.trim_start().starts_with('\'');
    is_name.then(|| Term { name: name.to_owned(), is_equal, is_text })
}

/// Splits a text where this word stands outside of brackets and of quotes.
fn split<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0_usize, false);
    let is_at = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with(word));
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            ' ' if !quoted && depth == 0 && at >= begin && is_at(at) => {
                parts.push(text.get(begin..at).unwrap_or_default());
                begin = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(text.get(begin..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, bool)> {
        terms(&Filter::parse(text).unwrap()).into_iter().map(|term| (term.name, term.is_equal)).collect()
    }

    #[test]
    fn terms_are_those_that_have_to_hold() {
        let name = "PartitionKey eq 'a and b' and (Age ge 4 and 7 gt Age) and Name eq 'O''Hara or so'";
        assert_eq!(found(name).first(), Some(&("PartitionKey".to_owned(), true)));
        assert_eq!(found(name).last(), Some(&("Name".to_owned(), true)));
        assert_eq!(found("Age eq 4 or Name eq 'a'"), []);
        assert_eq!(found("not (Age eq 4) and IsOld"), []);
        assert_eq!(found("(Age eq 4 or Age eq 5) and Size lt 3"), [("Size".to_owned(), false)]);
    }
}
