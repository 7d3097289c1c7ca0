//! What a request says: its path, its query and its form, decoded.

use std::fmt::Write;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// To show something.
    Get,
    /// To change something.
    Post,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The pieces of the path, decoded.
    pub(crate) path: Vec<String>,
    query: Vec<(String, String)>,
    form: Vec<(String, String)>,
}

impl Request {
    /// Reads a request; `None` if an escape in it is no text.
    pub(super) fn read(method: Method, path: &str, query: &str, form: &str) -> Option<Self> {
        let pieces = path.split('/').filter(|piece| !piece.is_empty());
        let path = pieces.map(|piece| decoded(piece, false)).collect::<Option<_>>()?;
        Some(Self { method, path, query: pairs(query)?, form: pairs(form)? })
    }

    /// Returns what the query says under a name, if that is not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        find(&self.query, name)
    }

    /// Returns all that the query says under names that begin so, without what they begin with.
    pub(crate) fn all<'r>(&'r self, prefix: &'r str) -> impl Iterator<Item = (&'r str, &'r str)> {
        self.query.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// Returns what the form says under a name, if that is not empty.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        find(&self.form, name)
    }
}

fn find<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    let (_, value) = pairs.iter().find(|(of, _)| of == name)?;
    Some(value.as_str()).filter(|value| !value.is_empty())
}

fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name, true)?, decoded(value, true)?))
        })
        .collect()
}

/// Returns a text without its escapes; in a query `+` is a space.
fn decoded(text: &str, is_query: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' if is_query => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                // `from_str_radix` takes a sign, too.
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Returns the address of a page of the studio, by the pieces of its path and its query.
pub(crate) fn link(path: &[&str], query: &[(&str, &str)]) -> String {
    let mut link = String::new();
    for piece in path {
        link.push('/');
        push_escaped(&mut link, piece);
    }
    if link.is_empty() {
        link.push('/');
    }
    let said = query.iter().filter(|(_, value)| !value.is_empty());
    for (at, (name, value)) in said.enumerate() {
        link.push(if at == 0 { '?' } else { '&' });
        push_escaped(&mut link, name);
        link.push('=');
        push_escaped(&mut link, value);
    }
    link
}

fn push_escaped(link: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                link.push(char::from(byte));
            }
            // A text takes everything.
            byte => write!(link, "%{byte:02X}").unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, Request, link};

    #[test]
    fn what_a_link_says_is_read_again() {
        let nasty = "a b+c/%&=?#<script>\u{e9}\u{1f600}";
        let link = link(&["t", nasty], &[("filter", nasty), ("none", "")]);
        let (path, query) = link.split_once('?').unwrap();
        let request = Request::read(Method::Get, path, query, "").unwrap();
        assert_eq!(request.path, ["t", nasty]);
        assert_eq!(request.get("filter"), Some(nasty));
        assert_eq!(request.get("none"), None);
        assert!(!link.contains('<'));
    }

    #[test]
    fn escapes_that_are_no_text_are_refused() {
        for query in ["a=%", "a=%4", "a=%zz", "a=%+1", "a=%ff", "%c3=1"] {
            assert!(Request::read(Method::Get, "/", query, "").is_none(), "{query}");
        }
        let request = Request::read(Method::Post, "/", "", "a=1+2&f.Id=7&f.Name=&b").unwrap();
        assert_eq!(request.field("a"), Some("1 2"));
        assert_eq!(request.field("b"), None);
    }
}
