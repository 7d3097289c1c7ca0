//! One entity's object, as it is read: names with what stands behind them, and the types that annotations say.

use std::borrow::Cow;

use super::cursor::{Cursor, Text, Token, malformed};
use super::text::is_plain_name;
use super::{ODATA, PARTITION_KEY, ROW_KEY, TIMESTAMP, TYPE, times, value};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::{ETag, EdmType, Ticks, names};

/// The most names that an object has, of properties that are null among them.
const NAMES: usize = 1_024;

/// What an object says. A value waits for the end of its object, since its type may stand behind it.
#[derive(Default)]
pub(super) struct Object<'t> {
    pub(super) partition_key: Option<Text<'t>>,
    pub(super) row_key: Option<Text<'t>>,
    /// A key that is said to be of another type than keys are, and where.
    typed_key: Option<(&'static str, usize)>,
    timestamp: Option<Ticks>,
    etag: Option<ETag>,
    pub(super) entries: Vec<Entry<'t>>,
    seen: Seen,
    /// Which of the names that every row has were there.
    system: [bool; 3],
}

/// A property.
pub(super) struct Entry<'t> {
    pub(super) name: Cow<'t, str>,
    hash: u32,
    pub(super) edm: Option<EdmType>,
    /// The value and its place; `None` where only the type is known.
    value: Option<(Token<'t>, usize)>,
}

impl<'t> Entry<'t> {
    /// Returns the value and its place, unless it is null, which is no property.
    #[inline]
    pub(super) fn value(&self) -> Option<(Token<'t>, usize)> {
        self.value.filter(|(token, _)| !matches!(token, Token::Null))
    }
}

impl<'t> Object<'t> {
    /// Reads the object that comes next, in the place of the one that was read before.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        // The vector stays, so that a page makes one.
        *self = Self { entries, ..Self::default() };
        cursor.expect(b'{', "expected an entity's object")?;
        if cursor.take(b'}') {
            return Ok(());
        }
        loop {
            self.member(cursor)?;
            if !cursor.take(b',') {
                cursor.expect(b'}', "expected a comma or the end of the object")?;
                break;
            }
        }
        if self.entries.len() > limits::PROPERTIES { self.check_count(cursor.at()) } else { Ok(()) }
    }

    /// Refuses a key that is said to be of a type. The service does so where the object is what names the entity, and not where
    /// an address does.
    pub(super) fn check_keys(&self) -> Result<()> {
        match self.typed_key {
            None => Ok(()),
            Some((name, at)) => Err(refused(name, "is always an Edm.String", at)),
        }
    }

    #[cold]
    fn check_count(&self, at: usize) -> Result<()> {
        let count = self.entries.iter().filter(|entry| entry.value().is_some()).count();
        if count <= limits::PROPERTIES {
            return Ok(());
        }
        let why = format!("the entity has {count} properties; it may have {}", limits::PROPERTIES);
        Err(malformed(at, why).with_kind(ErrorKind::TooManyProperties))
    }

    /// Returns the version: that of `odata.etag`, or that of `Timestamp` where there is no other.
    pub(super) fn version(&self) -> Option<ETag> {
        self.etag.or_else(|| self.timestamp.map(ETag::from_timestamp))
    }

    #[inline]
    fn member(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        match cursor.plain_name() {
            Some((name, false)) => self.value(Cow::Borrowed(name), cursor),
            Some((name, true)) => self.annotation(Cow::Borrowed(name), cursor),
            None => self.odd_member(cursor),
        }
    }

    /// Reads a member of any name.
    fn odd_member(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        let at = cursor.at();
        let text = cursor.string()?;
        cursor.expect(b':', "expected a colon")?;
        let name = if text.has_escapes {
            Cow::Owned(text.unescaped(&mut String::new()).to_owned())
        } else {
            Cow::Borrowed(text.raw)
        };
        if is_plain_name(name.as_bytes()) {
            return self.value(name, cursor);
        }
        if name.starts_with(ODATA) {
            return if name == "odata.etag" { self.etag(cursor) } else { cursor.skip() };
        }
        match name.find('@') {
            // An annotation of an annotation is noise, as is one of the object.
            Some(end) if end > 0 && name.get(end..) == Some(TYPE) => {
                self.annotation(before(name, end), cursor)
            }
            Some(_) => cursor.skip(),
            None => {
                names::check_property(&name)
                    .map_err(|error| error.attempted("read OData JSON").at_position(at))?;
                self.value(name, cursor)
            }
        }
    }

    #[inline]
    fn value(&mut self, name: Cow<'t, str>, cursor: &mut Cursor<'t>) -> Result<()> {
        cursor.next_byte();
        let at = cursor.at();
        let token = match cursor.token() {
            Ok(token) => token,
            Err(error) => return Err(in_property(error, &name)),
        };
        match &*name {
            PARTITION_KEY => {
                self.once(0, &name, at)?;
                self.partition_key = key(token, &name, at)?;
            }
            ROW_KEY => {
                self.once(1, &name, at)?;
                self.row_key = key(token, &name, at)?;
            }
            TIMESTAMP => {
                self.once(2, &name, at)?;
                self.timestamp = timestamp(token, at)?;
            }
            _ => {
                let entry = self.entry(name, at)?;
                if entry.value.is_some() {
                    return Err(duplicate(&entry.name, at));
                }
                entry.value = Some((token, at));
            }
        }
        Ok(())
    }

    fn annotation(&mut self, name: Cow<'t, str>, cursor: &mut Cursor<'t>) -> Result<()> {
        cursor.next_byte();
        let at = cursor.at();
        let edm = match cursor.token().map_err(|error| in_property(error, &name))? {
            Token::Text(text) => value::edm_of(text.unescaped(&mut String::new())),
            _ => None,
        };
        let Some(edm) = edm else {
            return Err(refused(
                &name,
                "is of a type that no property has: there are Edm.String, Edm.Boolean, Edm.Int32, Edm.Int64, Edm.Double, Edm.DateTime, Edm.Guid and Edm.Binary",
                at,
            ));
        };
        match (&*name, edm) {
            (PARTITION_KEY | ROW_KEY, EdmType::String) | (TIMESTAMP, EdmType::DateTime) => {}
            (PARTITION_KEY, _) => self.typed_key = Some((PARTITION_KEY, at)),
            (ROW_KEY, _) => self.typed_key = Some((ROW_KEY, at)),
            (TIMESTAMP, _) => return Err(refused(&name, "is always an Edm.DateTime", at)),
            _ => {
                let entry = self.entry(name, at)?;
                if entry.edm.is_some() {
                    return Err(duplicate(&entry.name, at));
                }
                entry.edm = Some(edm);
            }
        }
        Ok(())
    }

    fn etag(&mut self, cursor: &mut Cursor<'t>) -> Result<()> {
        match cursor.token()? {
            // One of another service is no version here.
            Token::Text(text) => {
                let usual = times::parse_raw_etag(text.raw.as_bytes());
                self.etag =
                    usual.or_else(|| times::parse_etag(text.unescaped(&mut String::new()).as_bytes()));
            }
            Token::Null => {}
            _ => return Err(malformed(cursor.at(), "`odata.etag` is a text")),
        }
        Ok(())
    }

    /// Notes that a name that every row has was there.
    fn once(&mut self, which: usize, name: &str, at: usize) -> Result<()> {
        let Some(seen) = self.system.get_mut(which) else { return Ok(()) };
        if std::mem::replace(seen, true) { Err(duplicate(name, at)) } else { Ok(()) }
    }

    /// Returns the property of this name, a new one if there is none.
    #[inline]
    fn entry(&mut self, name: Cow<'t, str>, at: usize) -> Result<&mut Entry<'t>> {
        let hash = hash(name.as_bytes());
        let is = |entry: &Entry<'_>| entry.hash == hash && entry.name == name;
        // A type mostly stands next to its value.
        let found = match self.entries.last() {
            Some(last) if is(last) => Some(self.entries.len() - 1),
            _ if self.seen.insert(hash) => None,
            _ => self.entries.iter().position(is),
        };
        let found = found.unwrap_or(self.entries.len());
        if found == self.entries.len() {
            if found == NAMES {
                return Err(malformed(at, format!("the object has more than {NAMES} names")));
            }
            self.entries.push(Entry { name, hash, edm: None, value: None });
        }
        // There is one: it was found, or pushed.
        self.entries.get_mut(found).ok_or_else(|| malformed(at, "a property is missing"))
    }
}

/// Which hashes of names there were: no name is new whose bit is not.
#[derive(Default)]
struct Seen([u64; 16]);

impl Seen {
    /// Adds a hash; returns whether none of its bit was there.
    #[inline]
    fn insert(&mut self, hash: u32) -> bool {
        let (word, bit) = (usize::try_from(hash >> 6 & 0xf).unwrap_or_default(), 1 << (hash & 0x3f));
        let Some(word) = self.0.get_mut(word) else { return false };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Returns a number that is mostly another for another name: of its first and last eight bytes and its length. Names that share
/// one are compared.
#[inline]
fn hash(name: &[u8]) -> u32 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let (first, last) = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => (word(name), 0),
    };
    let length = u64::try_from(name.len()).unwrap_or_default();
    let mixed = (first ^ last.rotate_left(29) ^ length << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u32::try_from(mixed >> 32).unwrap_or_default()
}

/// Returns the name before an annotation's.
fn before(name: Cow<'_, str>, end: usize) -> Cow<'_, str> {
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(name.get(..end).unwrap_or_default()),
        Cow::Owned(mut name) => {
            name.truncate(end);
            Cow::Owned(name)
        }
    }
}

fn key<'t>(token: Token<'t>, name: &str, at: usize) -> Result<Option<Text<'t>>> {
    match token {
        Token::Text(text) => Ok(Some(text)),
        Token::Null => Ok(None),
        _ => Err(refused(name, "is always an Edm.String", at)),
    }
}

fn timestamp(token: Token<'_>, at: usize) -> Result<Option<Ticks>> {
    let time = match token {
        Token::Null => return Ok(None),
        Token::Text(text) => value::time(text.unescaped(&mut String::new())),
        _ => None,
    };
    time.map(Some).ok_or_else(|| refused(TIMESTAMP, "is no time such as `\"2014-07-31T18:00:00Z\"`", at))
}

/// Returns the error of a property, with its place and without its value.
#[cold]
pub(super) fn refused(name: &str, why: &str, at: usize) -> Error {
    malformed(at, format!("property `{}` {why}", shown(name)))
}

#[cold]
fn duplicate(name: &str, at: usize) -> Error {
    refused(name, "is there twice", at).with_code("DuplicatePropertiesSpecified")
}

/// Returns the error of a value that is no JSON, with the property's name.
#[cold]
fn in_property(error: Error, name: &str) -> Error {
    let because = format!("property `{}`: {}", shown(name), error.reason());
    error.because(because)
}

/// Returns a name as an error shows it: its start, without control characters.
fn shown(name: &str) -> String {
    name.chars().take(limits::NAME_UNITS).flat_map(char::escape_debug).collect()
}
