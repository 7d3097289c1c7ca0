//! Which fields the rows of a path have, in their properties or their keys.

use super::format::key_type::Format;
use super::{Copies, Part, Schema, Template};

/// Returns whether every row of the index has the field; of the entity's own rows, if `index` is `None`. A field that a copy's
/// key says in part, as the day of a time, is in the copy too: a query by the key must be able to ask for the rest.
pub(crate) const fn holds(schema: &Schema, index: Option<usize>, field: usize) -> bool {
    let Some(mut at) = index else { return true };
    let mut indexes = schema.indexes;
    while let [index, rest @ ..] = indexes {
        if at > 0 {
            at -= 1;
            indexes = rest;
            continue;
        }
        let listed = match index.copies {
            Copies::All => true,
            Copies::Keys => false,
            Copies::Some(fields) => contains(fields, field),
        };
        let (own, copy) = (schema.place(), &index.place);
        return listed
            || has_part(&own.partition, field, false)
            || has_part(&own.row, field, false)
            || has_part(&copy.partition, field, true)
            || has_part(&copy.row, field, true);
    }
    false
}

const fn contains(mut fields: &[usize], field: usize) -> bool {
    while let [first, rest @ ..] = fields {
        if *first == field {
            return true;
        }
        fields = rest;
    }
    false
}

/// Returns whether the field stands in the template. A list's elements and folded text are `whole` for a query by them, and no
/// reason to have the field itself.
const fn has_part(template: &Template, field: usize, whole: bool) -> bool {
    let mut parts = template.parts;
    while let [part, rest @ ..] = parts {
        if let Part::Field(part) = part
            && part.field == field
            && !(whole && (part.each || matches!(part.format, Format::Lower)))
        {
            return true;
        }
        parts = rest;
    }
    false
}
