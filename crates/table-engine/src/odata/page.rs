//! A page of entities, read one after another.

use std::fmt;

use super::cursor::{Cursor, malformed};
use super::object::Object;
use super::read::Reader;
use crate::error::Result;
use crate::model::{DynamicEntity, Name};

/// The entities of a page, in its order: what [`Reader::page`](super::Reader::page) returns. After an error there are no more.
#[must_use = "an iterator does nothing until it is used"]
pub struct Entities<'t, 'l> {
    reader: Reader<'l>,
    state: State<'t>,
    object: Object<'t>,
    /// The names of the last entity's properties, which the next one mostly has, too.
    names: Vec<Name>,
}

enum State<'t> {
    Start(&'t [u8]),
    /// Within the array, and whether that is a member of an object.
    Array(Cursor<'t>, bool),
    End,
}

impl<'t, 'l> Entities<'t, 'l> {
    pub(super) fn new(reader: Reader<'l>, text: &'t [u8]) -> Self {
        Self { reader, state: State::Start(text), object: Object::default(), names: Vec::new() }
    }

    fn read(&mut self) -> Result<Option<DynamicEntity>> {
        let (mut cursor, is_member, is_first) = match std::mem::replace(&mut self.state, State::End) {
            State::Start(text) => {
                let (cursor, is_member) = start(text)?;
                (cursor, is_member, true)
            }
            State::Array(cursor, is_member) => (cursor, is_member, false),
            State::End => return Ok(None),
        };
        if cursor.take(b']') {
            end(&mut cursor, is_member)?;
            return Ok(None);
        }
        if !is_first {
            cursor.expect(b',', "expected a comma or the end of the page")?;
        }
        self.object.read(&mut cursor)?;
        let entity = self.reader.made(&self.object, None, cursor.at(), &mut self.names)?;
        self.state = State::Array(cursor, is_member);
        Ok(Some(entity))
    }
}

impl Iterator for Entities<'_, '_> {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        self.read().transpose()
    }
}

/// Without the text, which has values in it.
impl fmt::Debug for Entities<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entities").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl std::iter::FusedIterator for Entities<'_, '_> {}

/// Goes to the first entity; returns whether the array is a member of an object.
fn start(text: &[u8]) -> Result<(Cursor<'_>, bool)> {
    let mut cursor = Cursor::new(text)?;
    if cursor.take(b'[') {
        return Ok((cursor, false));
    }
    cursor.expect(b'{', "expected a page: an array, or an object with an array `value`")?;
    loop {
        if is_value(&mut cursor)? {
            cursor.expect(b'[', "expected an array of entities")?;
            return Ok((cursor, true));
        }
        cursor.skip()?;
        if !cursor.take(b',') {
            return Err(malformed(cursor.at(), "the page has no array `value`"));
        }
    }
}

/// Goes past the name of a member; returns whether it is that of the page's entities.
fn is_value(cursor: &mut Cursor<'_>) -> Result<bool> {
    let name = cursor.string()?;
    cursor.expect(b':', "expected a colon")?;
    Ok(name.unescaped(&mut String::new()) == "value")
}

/// Goes past what follows the array.
fn end(cursor: &mut Cursor<'_>, is_member: bool) -> Result<()> {
    if is_member {
        while cursor.take(b',') {
            let at = cursor.at();
            if is_value(cursor)? {
                return Err(malformed(at, "the page has two arrays `value`"));
            }
            cursor.skip()?;
        }
        cursor.expect(b'}', "expected a comma or the end of the page")?;
    }
    cursor.end()
}
