//! The text of the record of the keys: a line that says what it is and in which version, and a line for each field.

use zeroize::Zeroizing;

use super::error::AccountError;
use super::keys::{AccountKeys, KeyName};

/// What the first line begins with. A number follows, the version.
const TITLE: &str = "table-server account keys ";

/// The version that is written.
const VERSION: &str = "1";

/// Returns the text of an account's record.
pub(super) fn write(keys: &AccountKeys) -> Zeroizing<Vec<u8>> {
    let generation = keys.generation().to_string();
    let fields = [
        ("name", keys.name()),
        ("generation", &generation),
        ("key1", keys.key(KeyName::Key1)),
        ("key2", keys.key(KeyName::Key2)),
    ];
    let length: usize = fields.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    // As long as it becomes: a text that grows would leave a part of itself behind, which nothing wipes.
    let mut text = Zeroizing::new(Vec::with_capacity(TITLE.len() + VERSION.len() + 1 + length));
    let title = [TITLE, VERSION, "\n"];
    for part in title.into_iter().chain(fields.into_iter().flat_map(|(name, value)| [name, " ", value, "\n"]))
    {
        text.extend_from_slice(part.as_bytes());
    }
    text
}

/// Reads the text of an account's record.
pub(super) fn read(text: &[u8]) -> Result<AccountKeys, AccountError> {
    let text = std::str::from_utf8(text).map_err(|_| AccountError::Malformed)?;
    let mut lines = Lines(text);
    match lines.next(TITLE)? {
        VERSION => {}
        version if version.parse().is_ok_and(|version: u32| version > 1) => return Err(AccountError::Later),
        _ => return Err(AccountError::Malformed),
    }
    let name = lines.next("name ")?;
    let number = lines.next("generation ")?;
    let generation: u64 = number.parse().map_err(|_| AccountError::Malformed)?;
    let key = |line: &str| Zeroizing::new(line.to_owned());
    let (key1, key2) = (key(lines.next("key1 ")?), key(lines.next("key2 ")?));
    // One state of the keys has one text, by which it is replaced.
    if !lines.0.is_empty() || generation == 0 || generation.to_string() != number {
        return Err(AccountError::Malformed);
    }
    AccountKeys::of(name, key1, key2, generation).map_err(|_| AccountError::Malformed)
}

/// The lines that are still to be read.
struct Lines<'t>(&'t str);

impl<'t> Lines<'t> {
    /// Returns the rest of the next line, which begins so.
    fn next(&mut self, beginning: &str) -> Result<&'t str, AccountError> {
        let (line, rest) = self.0.split_once('\n').ok_or(AccountError::Malformed)?;
        self.0 = rest;
        line.strip_prefix(beginning).ok_or(AccountError::Malformed)
    }
}

/// Returns bytes as Base64, with padding. No letter is looked up in a table, so that the cache tells nothing of them.
pub(super) fn base64(bytes: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(bytes.len().div_ceil(3) * 4));
    for three in bytes.chunks(3) {
        let [a, b, c] = std::array::from_fn(|at| three.get(at).copied().unwrap_or(0));
        let sextets = [a >> 2, (a & 3) << 4 | b >> 4, (b & 15) << 2 | c >> 6, c & 63];
        for (at, sextet) in sextets.into_iter().enumerate() {
            text.push(if at <= three.len() { letter(sextet) } else { '=' });
        }
    }
    text
}

fn letter(sextet: u8) -> char {
    char::from(match sextet {
        0..=25 => b'A' + sextet,
        26..=51 => b'a' + (sextet - 26),
        52..=61 => b'0' + (sextet - 52),
        62 => b'+',
        _ => b'/',
    })
}

#[cfg(test)]
mod tests {
    use super::super::keys::Given;
    use super::*;

    /// The vectors of RFC 4648.
    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(*base64(bytes.as_bytes()), text);
        }
        assert_eq!(*base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn a_record_is_this_text() {
        let key = |byte: u8| Some(base64(&[byte; 33]));
        let keys = AccountKeys::new("contoso", &Given { key1: key(0), key2: key(0xff) }).unwrap();
        let text = write(&keys);
        let (zeros, ones) = ("A".repeat(44), "/".repeat(44));
        let expected =
            format!("table-server account keys 1\nname contoso\ngeneration 1\nkey1 {zeros}\nkey2 {ones}\n");
        assert_eq!(std::str::from_utf8(&text).unwrap(), expected);
        let found = read(&text).unwrap();
        assert_eq!((found.name(), found.generation()), ("contoso", 1));
        assert_eq!((found.key(KeyName::Key1), found.key(KeyName::Key2)), (&*zeros, &*ones));
        assert_eq!(*write(&found), *text);
    }

    #[test]
    fn another_text_is_refused() {
        let keys = AccountKeys::new("contoso", &Given::default()).unwrap();
        let text = String::from_utf8(write(&keys).to_vec()).unwrap();
        for length in 0..text.len() {
            let error = read(&text.as_bytes()[..length]).unwrap_err();
            assert!(matches!(error, AccountError::Malformed), "{length}: {error}");
        }
        for (from, to) in [
            ("contoso", "Contoso"),
            ("generation 1", "generation 0"),
            ("generation 1", "generation 01"),
            ("generation 1", "generation -1"),
            ("key1", "key3"),
            ("\n", "\r\n"),
            ("keys 1", "keys x"),
            ("keys 1", "keys 0"),
        ] {
            let error = read(text.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(matches!(error, AccountError::Malformed), "{to}: {error}");
            assert!(!format!("{error:?} {error}").contains(keys.key(KeyName::Key1)));
        }
        let error = read(format!("{text}more").as_bytes()).unwrap_err();
        assert!(matches!(error, AccountError::Malformed), "{error}");
        assert!(matches!(read(&[0xff]).unwrap_err(), AccountError::Malformed));
        let later = text.replacen("keys 1", "keys 2", 1);
        assert!(matches!(read(later.as_bytes()).unwrap_err(), AccountError::Later));
    }
}
