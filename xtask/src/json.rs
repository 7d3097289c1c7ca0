//! Reads JSON, as `cargo metadata` writes it.

/// A value. Numbers are not looked at, so they are kept as they are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a whole text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value()?;
        reader.skip_space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.unexpected()) }
    }

    /// Returns a member of an object, or null if it has none of this name.
    pub(crate) fn get(&self, name: &str) -> &Self {
        let members = if let Self::Object(members) = self { members.as_slice() } else { &[] };
        members.iter().find(|(key, _)| key == name).map_or(&Self::Null, |(_, value)| value)
    }

    /// Returns the values of a list; of anything else none.
    pub(crate) fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Returns the text, if the value is one.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn unexpected(&self) -> String {
        let found: String = self.rest().chars().take(20).collect();
        format!("JSON: unexpected {found:?} at byte {}", self.at)
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips space, and then this text if it comes next.
    fn next_is(&mut self, expected: &str) -> bool {
        self.skip_space();
        let is_next = self.rest().starts_with(expected);
        if is_next {
            self.at += expected.len();
        }
        is_next
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        if self.next_is(expected) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn value(&mut self) -> Result<Json, String> {
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
        {
            if self.next_is(word) {
                return Ok(value);
            }
        }
        if self.next_is("\"") {
            return self.string().map(Json::Text);
        }
        if self.next_is("[") {
            let mut items = Vec::new();
            while !self.next_is("]") {
                if !items.is_empty() {
                    self.expect(",")?;
                }
                items.push(self.value()?);
            }
            return Ok(Json::List(items));
        }
        if self.next_is("{") {
            let mut members = Vec::new();
            while !self.next_is("}") {
                if !members.is_empty() {
                    self.expect(",")?;
                }
                self.expect("\"")?;
                let name = self.string()?;
                self.expect(":")?;
                members.push((name, self.value()?));
            }
            return Ok(Json::Object(members));
        }
        let is_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let number: String = self.rest().chars().take_while(|c| is_number(*c)).collect();
        if number.is_empty() {
            return Err(self.unexpected());
        }
        self.at += number.len();
        Ok(Json::Number(number))
    }

    /// Reads a string whose opening quote has been read.
    fn string(&mut self) -> Result<String, String> {
        let mut read = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(read);
                }
                '\\' => match chars.next().map(|(_, escaped)| escaped) {
                    Some('n') => read.push('\n'),
                    Some('t') => read.push('\t'),
                    Some('r') => read.push('\r'),
                    Some('b') => read.push('\u{8}'),
                    Some('f') => read.push('\u{c}'),
                    Some('u') => {
                        let digits: String = chars.by_ref().take(4).map(|(_, digit)| digit).collect();
                        let code = u32::from_str_radix(&digits, 16).map_err(|_| self.unexpected())?;
                        // Half of a surrogate pair: cargo writes such characters as they are.
                        read.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    Some(escaped) => read.push(escaped),
                    None => break,
                },
                c => read.push(c),
            }
        }
        Err("JSON: a string has no end".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let value =
            Json::parse(r#" {"a": [1, -2.5e3, null, true], "b": {"c": "x\"\n\u00e9"}, "d": []} "#).unwrap();
        assert_eq!(value.get("a").items().len(), 4);
        assert_eq!(value.get("a").items()[1], Json::Number("-2.5e3".into()));
        assert_eq!(value.get("b").get("c").text(), Some("x\"\né"));
        assert_eq!(value.get("d").items(), []);
        assert_eq!(value.get("nothing"), &Json::Null);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "[1 2]", "{\"a\" 1}", "\"open", "1 2", "[1,", "{1: 2}", "nul"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
    }
}
