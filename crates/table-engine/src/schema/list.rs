//! Index lists: rows that list the entities of one value.
//!
//! A list is an index whose rows are no copies: all entities that print one key have one row together, which lists their
//! ids. An id is what tells an entity from the others of its list: the fields of its key that the list's own key and its
//! partition don't say.

use super::format::print::{KeyValues, into_text, print_part};
use super::key_error::{KeyError, Reason};
use super::keys::fields;
use super::{FieldPart, Index, Part, Place, PropertyValue, Schema, Template, parse, parse_bytes};

/// What a row of an index list holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct List {
    /// What makes up an id: fields, as the entity's own key prints them, and nothing between.
    pub ids: Template,
}

/// Between the parts of an id.
const BETWEEN: char = ';';
/// Between ids.
pub(crate) const SEPARATOR: char = ',';

impl List {
    /// Makes a list of these ids.
    #[must_use]
    pub const fn new(ids: Template) -> Self {
        Self { ids }
    }

    /// Returns whether a field is a part of the ids.
    pub(crate) const fn lists(&self, field: usize) -> bool {
        let mut parts = self.ids.parts;
        while let [part, rest @ ..] = parts {
            if let Part::Field(part) = part
                && part.field == field
            {
                return true;
            }
            parts = rest;
        }
        false
    }

    /// Returns the id of the entity with these values; `None` if a field of it is absent, as none of a key is.
    #[doc(hidden)]
    pub fn id(&self, values: &dyn KeyValues) -> Result<Option<String>, KeyError> {
        let (mut id, mut text) = (String::new(), Vec::new());
        for (at, part) in fields(&self.ids).enumerate() {
            let refused = |reason| KeyError { field: part.field, reason };
            let value = values.value(part).map_err(|error| refused(Reason::Value(error)))?;
            let Some(value) = value.as_value_ref() else { return Ok(None) };
            text.clear();
            print_part(part, value, None, &mut text).map_err(refused)?;
            if at > 0 {
                id.push(BETWEEN);
            }
            escape(&into_text(std::mem::take(&mut text)), &mut id);
        }
        Ok(Some(id))
    }

    /// Gives `take` the value of each field of an id; `false` if it is none.
    #[doc(hidden)]
    pub fn take_apart(&self, id: &str, take: &mut dyn FnMut(&'static FieldPart, PropertyValue<'_>)) -> bool {
        let mut texts = id.split(BETWEEN);
        let is_whole = self.ids.parts.iter().all(|part| {
            let (Part::Field(field), Some(text)) = (part, texts.next()) else { return false };
            let Some(text) = unescape(text) else { return false };
            let alone = Template::new("", std::slice::from_ref(part));
            let mut is_taken = false;
            let is_read = parse_bytes(&alone, text.as_bytes(), |_, value| {
                is_taken = true;
                take(field, value);
            });
            is_read && is_taken
        });
        is_whole && texts.next().is_none()
    }
}

impl Index {
    /// Returns whether its rows are no copies, but what many entities give together: of a summary, or a list.
    #[doc(hidden)]
    pub const fn is_shared(&self) -> bool {
        self.summary.is_some() || self.list.is_some()
    }
}

impl Place {
    /// Returns the values that the keys of a row in it give back, by their fields; `None` if they are not of its templates.
    pub(crate) fn values_in(
        &self,
        partition: &str,
        row: &str,
    ) -> Option<Vec<(usize, PropertyValue<'static>)>> {
        let mut values = Vec::new();
        let mut take = |field: usize, value: PropertyValue<'_>| values.push((field, value.into_owned()));
        let are_whole = parse(&self.partition, partition, &mut take) && parse(&self.row, row, &mut take);
        are_whole.then_some(values)
    }
}

impl Schema {
    /// Returns the index list at this place.
    pub(crate) fn list(&self, index: usize) -> Option<(&'static Index, List)> {
        let index = self.indexes.get(index)?;
        Some((index, index.list?))
    }
}

/// Appends a text without what separates ids and their parts.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '%' => out.push_str("%25"),
            SEPARATOR => out.push_str("%2C"),
            BETWEEN => out.push_str("%3B"),
            c => out.push(c),
        }
    }
}

/// Returns the text that was escaped; `None` if none was.
fn unescape(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_at_checked(2)?;
        out.push(match code {
            "25" => '%',
            "2C" => SEPARATOR,
            "3B" => BETWEEN,
            _ => return None,
        });
        out.push_str(rest);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::{KeyPart, ValueError};
    use super::*;
    use crate::model::ValueRef;

    const PARTS: &[Part] =
        &[Part::Field(FieldPart::new(0, u32::KEY, "06")), Part::Field(FieldPart::new(1, String::KEY, ""))];
    const LIST: List = List::new(Template::new("id, name", PARTS));

    struct Two(i64, &'static str);

    impl KeyValues for Two {
        fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
            Ok(PropertyValue::Borrowed(match part.field {
                0 => ValueRef::Int64(self.0),
                _ => ValueRef::String(self.1),
            }))
        }
    }

    fn apart(id: &str) -> Option<Vec<String>> {
        let mut found = Vec::new();
        let mut take = |_: &'static FieldPart, value: PropertyValue<'_>| {
            found.push(format!("{:?}", value.as_value_ref()));
        };
        LIST.take_apart(id, &mut take).then_some(found)
    }

    #[test]
    fn ids_come_apart_again() {
        for name in ["", "a", "a,b", "a;b", "50%", "%2C", "é,"] {
            let id = LIST.id(&Two(7, name)).unwrap().unwrap();
            assert!(!id.contains(SEPARATOR), "{id}");
            let values = apart(&id).unwrap();
            assert_eq!(values.len(), 2, "{id}");
            assert_eq!(values.get(1), Some(&format!("{:?}", Some(ValueRef::String(name)))), "{id}");
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for id in ["", "000007", "000007;a;b", "7;a", "00000x;a", "000007;%", "000007;%2", "000007;%2x"] {
            assert_eq!(apart(id), None, "{id}");
        }
    }
}
