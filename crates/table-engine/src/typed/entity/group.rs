//! Values that are several properties of an entity, each named after the field and after what it is of the value.

use crate::error::Result;
use crate::plan::Values;
use crate::schema::{Field, PropertyValue, Reads};

use super::source::Source;

/// A type whose values are kept as several properties of an entity: `manager` as `ManagerPartition` and `ManagerRow`.
///
/// Apart from [`Properties`](super::properties::Properties), whose names are their own: an entity can have two such fields of
/// one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not kept as properties named after the field",
    label = "neither a reference nor a projection"
)]
pub trait Group: Sized {
    /// What it consists of, by the names that follow the field's.
    const FIELDS: &'static [Field];

    /// Whether the properties may all be absent.
    const OPTIONAL: bool = false;

    /// Gives the values in order.
    fn values<'a>(&'a self, out: &mut Values<'a>);

    /// Takes the value from the fields that begin at this place.
    fn take(source: &Source<'_>, first: usize) -> Result<Self>;
}

impl<G: Group> Group for Option<G> {
    const FIELDS: &'static [Field] = G::FIELDS;
    const OPTIONAL: bool = true;

    fn values<'a>(&'a self, out: &mut Values<'a>) {
        match self {
            Some(group) => group.values(out),
            None => G::FIELDS.iter().for_each(|_| out.push(Ok(PropertyValue::Absent))),
        }
    }

    fn take(source: &Source<'_>, first: usize) -> Result<Self> {
        for field in 0..G::FIELDS.len() {
            if !source.lacks(first + field)? {
                return G::take(source, first).map(Some);
            }
        }
        Ok(None)
    }
}

/// Returns how many bytes the names of a group's fields take in an entity's field of this name and this property.
#[must_use]
pub const fn group_names_len(mut fields: &[Field], name: &str, property: &str) -> usize {
    let mut length = 0;
    while let [field, rest @ ..] = fields {
        length += name.len() + 1 + field.name.len() + property.len() + field.property.len();
        if let Some(was) = field.was {
            length += property.len() + was.len();
        }
        fields = rest;
    }
    length
}

/// Returns the names of a group's fields, one after another: `manager.row`, `ManagerRow`, and what the property was if that
/// had another name.
#[must_use]
pub const fn group_names<const LENGTH: usize>(
    mut fields: &[Field],
    name: &str,
    property: &str,
) -> [u8; LENGTH] {
    let mut names = [0; LENGTH];
    let mut free: &mut [u8] = &mut names;
    while let [field, rest @ ..] = fields {
        let mut texts: &[&str] = match field.was {
            Some(was) => &[name, ".", field.name, property, field.property, property, was],
            None => &[name, ".", field.name, property, field.property],
        };
        while let [text, others @ ..] = texts {
            let (into, after) = free.split_at_mut(text.len());
            into.copy_from_slice(text.as_bytes());
            (free, texts) = (after, others);
        }
        fields = rest;
    }
    names
}

/// Returns the fields of a group as an entity has them, in a field of this name and this property; `names` are those of all
/// of them.
#[must_use]
pub const fn group_fields<const COUNT: usize>(
    fields: &[Field],
    mut names: &'static [u8],
    [name, property]: [&str; 2],
    optional: bool,
) -> [Field; COUNT] {
    let mut all = [Field::PLAIN; COUNT];
    let mut free: &mut [Field] = &mut all;
    let mut rest = fields;
    while let ([field, later @ ..], [into, after @ ..]) = (rest, free) {
        let (own, others) = names.split_at(name.len() + 1 + field.name.len());
        let (stored, others) = others.split_at(property.len() + field.property.len());
        *into = field.named(text(own), text(stored));
        into.optional = into.optional || optional;
        if optional && fields.len() > 1 {
            // They are there together or not at all, which no layout says.
            into.reads = Reads::Other;
        }
        let behind = match field.was {
            Some(was) => {
                let (previous, behind) = others.split_at(property.len() + was.len());
                into.was = Some(text(previous));
                behind
            }
            None => others,
        };
        (rest, free, names) = (later, after, behind);
    }
    all
}

/// Returns as text the bytes that were put together from texts.
const fn text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// Returns whether every value of a group of these fields is read as it was written.
#[must_use]
pub const fn group_is_exact(fields: &[Field]) -> bool {
    Field::are_exact(fields)
}
