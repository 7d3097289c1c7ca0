//! The layout of an entity as text. A store notes it, so that a struct that has changed is not read wrongly.
//!
//! It has a line for each thing that the rows depend on, and nothing else. The names of the struct and of its fields are
//! not in it, as long as properties keep theirs. People read it in errors; [`read()`] makes a declaration of it again.

mod advice;
mod differences;
mod indexes;
#[doc(hidden)]
pub mod read;
mod renamed;
mod series;
#[cfg(test)]
mod tests;

use std::fmt::Write;

pub(crate) use advice::{advice, takes};
#[cfg(test)]
pub(crate) use differences::differences;
pub(crate) use differences::{Differences, differences_in, forgotten, same_keys, united};
#[doc(hidden)]
pub use differences::{Outdated, outdated, same_index, without_copies};
pub(crate) use indexes::without_table;
#[doc(hidden)]
pub use indexes::{noted_elsewhere, with_index, with_table_renamed, without_index};
pub use read::read;
#[doc(hidden)]
pub use renamed::both_names;

use super::format::charset::CharSet;
use super::format::key_type::KeyType;
use super::{Copies, Field, Index, KeyScope, Part, Schema, SumOf, Template, TokenScope};

/// The words before and behind the type of a sealed property.
const ENCRYPTED: &str = "encrypted ";
const DUAL: &str = "encrypted(dual) ";
const BY_TABLE: &str = "by table ";
const BY_PARTITION: &str = "by partition ";
const BLIND: &str = "blind ";
/// The word before the name that a property had.
const WAS: &str = " was ";
/// The line that says of which table the entities are, where that is another.
const OF: &str = "of";
/// The words before the table and the partition key of an index that lies elsewhere than its entities.
const IN: &str = " in ";
/// The word before those: its copies follow the entities.
const EVENTUAL: &str = " eventual";
const PARTITION: &str = " partition";
/// The word before the numbers of a summary.
const SUMS: &str = " sums";
/// The word before what makes up the ids of a list.
const LIST: &str = " list";
/// The word before a property that is to go.
const GONE: &str = "gone";
/// The word before the number of the part of a wide entity that holds a property.
const PART: &str = " part ";
/// What stands between the property of a part of a key and the version of what its type prints.
const PRINTS: char = '#';
/// The line that says that every row carries a keyed digest.
const SIGNED: &str = "signed";
/// The lines that say what an entity holds of others, and who holds copies of it.
const COPIED: &str = "copied";
const BY: &str = " by";
const HOLDER: &str = "holder";

/// Returns the layout of an entity, as it is noted in its own table.
#[doc(hidden)]
pub fn layout(schema: &Schema) -> String {
    layout_in(schema, schema.table())
}

/// Returns the layout of an entity, as it is noted in the table of this name: its own, or one where copies of it lie.
pub(crate) fn layout_in(schema: &Schema, table: &str) -> String {
    let mut text = String::with_capacity(512);
    let property = |field: usize| schema.fields.get(field).map_or("", |field| field.property);
    // Writing to a `String` can't fail.
    let _: std::fmt::Result = write!(text, "version {}", schema.version);
    if schema.signed {
        text.push('\n');
        text.push_str(SIGNED);
    }
    // A previous version is of the table of the entity that it has become.
    if !schema.table().is_empty() && !schema.lies_in(table) && schema.periods().is_none() {
        let _: std::fmt::Result = write!(text, "\n{OF} {}", schema.table());
    }
    text.push_str("\npartition");
    key(&mut text, &schema.place().partition, &property);
    text.push_str("\nrow");
    key(&mut text, &schema.place().row, &property);
    for field in schema.fields {
        if let Some(slot) = field.series {
            if slot.at == 0 {
                series::write(&mut text, slot.of, field);
            }
            continue;
        }
        let absent = if field.optional { "?" } else { "" };
        let _: std::fmt::Result = write!(text, "\nproperty {} ", field.property);
        sealing(&mut text, field);
        let _: std::fmt::Result = write!(text, "{:?}{absent}", field.edm);
        in_part(&mut text, field);
        if let Some(was) = field.was {
            let _: std::fmt::Result = write!(text, "{WAS}{was}");
        }
    }
    for copy in schema.copied {
        let follows = if copy.is_eventual() { EVENTUAL } else { "" };
        let _: std::fmt::Result = write!(text, "\n{COPIED} {}{follows}{BY}", copy.property);
        for field in copy.key {
            text.push(' ');
            text.push_str(property(*field));
        }
    }
    for dependent in schema.dependents {
        let _: std::fmt::Result = write!(text, "\n{HOLDER} {dependent}");
    }
    for property in schema.removed {
        let _: std::fmt::Result = write!(text, "\n{GONE} {property}");
    }
    for index in schema.indexes {
        let Index { name, unique, copies, sparse, when_version, place, .. } = index;
        let _: std::fmt::Result = write!(text, "\nindex {name}");
        if index.is_elsewhere() {
            if index.is_eventual() {
                text.push_str(EVENTUAL);
            }
            let table = place.table.source();
            if !schema.table().eq_ignore_ascii_case(table) {
                let _: std::fmt::Result = write!(text, "{IN}{table}");
            }
            text.push_str(PARTITION);
            key(&mut text, &place.partition, &property);
        }
        text.push_str(" row");
        key(&mut text, &place.row, &property);
        for word in [unique.then_some("unique"), sparse.then_some("when")].into_iter().flatten() {
            text.push(' ');
            text.push_str(word);
        }
        if *when_version != 1 {
            let _: std::fmt::Result = write!(text, "({when_version})");
        }
        if let Some(summary) = index.summary {
            text.push_str(SUMS);
            for sum in summary.sums {
                let _: std::fmt::Result = match sum.of {
                    SumOf::Count => write!(text, " {}:count", sum.property),
                    SumOf::CountWhen => write!(text, " {}:count(when)", sum.property),
                    SumOf::Field(field) => write!(text, " {}:sum({})", sum.property, property(field)),
                };
            }
            continue;
        }
        if let Some(list) = index.list {
            text.push_str(LIST);
            key(&mut text, &list.ids, &property);
            continue;
        }
        match copies {
            Copies::All => text.push_str(" copy all"),
            Copies::Keys => text.push_str(" copy keys"),
            Copies::Some(fields) => {
                text.push_str(" copy");
                for field in *fields {
                    text.push(' ');
                    text.push_str(property(*field));
                }
            }
        }
    }
    text
}

/// Writes which part of a wide entity holds a field, if one does.
fn in_part(text: &mut String, field: &Field) {
    if field.part > 0 {
        let _: std::fmt::Result = write!(text, "{PART}{}", field.part);
    }
}

/// Writes how a field is sealed.
pub(crate) fn sealing(text: &mut String, field: &Field) {
    if !field.encrypted {
        return;
    }
    text.push_str(if field.dual { DUAL } else { ENCRYPTED });
    text.push_str(match field.scope {
        KeyScope::Store => "",
        KeyScope::Table => BY_TABLE,
        KeyScope::Partition => BY_PARTITION,
    });
    if let Some(blind) = field.blind {
        text.push_str(BLIND);
        text.push_str(match blind.tokens {
            TokenScope::Partition => "",
            TokenScope::Table => BY_TABLE,
        });
    }
}

fn key(text: &mut String, template: &Template, property: &impl Fn(usize) -> &'static str) {
    for part in template.parts {
        text.push(' ');
        match part {
            Part::Literal(literal) => quote(text, literal),
            Part::Field(part) => {
                text.push_str(property(part.field));
                if part.version != 1 {
                    let _: std::fmt::Result = write!(text, "{PRINTS}{}", part.version);
                }
                text.push_str(if part.each { "[]:" } else { ":" });
                key_type(text, part.key);
                if !part.source.is_empty() {
                    text.push(':');
                    quote(text, part.source);
                }
            }
        }
    }
}

fn quote(text: &mut String, quoted: &str) {
    text.push('"');
    for c in quoted.chars() {
        if matches!(c, '"' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push('"');
}

fn key_type(text: &mut String, key: KeyType) {
    let around = |text: &mut String, word: &str, inner: &KeyType| {
        text.push_str(word);
        key_type(text, *inner);
        text.push(')');
    };
    match key {
        KeyType::Unsigned { digits, .. } => {
            text.push_str(match digits {
                3 => "u8",
                5 => "u16",
                10 => "u32",
                _ => "u64",
            });
        }
        KeyType::Signed { bits } => {
            let _: std::fmt::Result = write!(text, "i{bits}");
        }
        KeyType::Text(set) if set == CharSet::ALL => text.push_str("text"),
        KeyType::Text(set) => {
            text.push_str("text(");
            let ascii: String = (' '..='~').filter(|c| set.contains(*c)).collect();
            quote(text, &ascii);
            text.push_str(if set.contains('\u{80}') { " and beyond)" } else { ")" });
        }
        KeyType::Uuid => text.push_str("uuid"),
        KeyType::Bool => text.push_str("bool"),
        KeyType::Time => text.push_str("time"),
        KeyType::Names(names) => {
            text.push_str("names(");
            for (at, name) in names.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { " " });
                quote(text, name);
            }
            text.push(')');
        }
        KeyType::Optional(inner) => around(text, "option(", inner),
        KeyType::Each(inner) => around(text, "each(", inner),
    }
}
