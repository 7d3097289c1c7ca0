//! The words of a line.

/// Splits a line into words, as other shells do: at spaces, but for those between quotes or behind a backslash. An error says
/// which quote is not closed.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => {
                if let Some(next) = chars.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            ('"' | '\'', None) => {
                quote = Some(c);
                // Nothing between quotes is a word, too.
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("the line ends within a quote: {open}"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_other_shells() {
        let filter = split(r#"query Company "PartitionKey eq 'Sales'"  --top 2"#).unwrap();
        assert_eq!(filter, ["query", "Company", "PartitionKey eq 'Sales'", "--top", "2"]);
        assert_eq!(split(r"put p\ q '' x").unwrap(), ["put", "p q", "", "x"]);
        assert_eq!(split("   ").unwrap(), Vec::<String>::new());
        assert!(split("get 'a").is_err());
    }
}
