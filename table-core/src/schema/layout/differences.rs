//! The changes from one layout to another, and whether they do any harm.

use std::collections::BTreeMap;

use super::super::key_type::{Format, KeyType, lengths};
use super::super::{Copies, Field, FieldPart, Index, Part, Schema, Template};
use super::{layout, read};
use crate::model::EdmType;

/// The changes from one layout to another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Differences {
    /// Lines that are gone, after `-`, and lines that are new, after `+`.
    pub(crate) lines: Vec<String>,
    /// Whether the declaration says anything that the layout does not: else the layout says what the declaration does,
    /// and more.
    pub(crate) adds: bool,
    /// Whether what was written under the old layout reads rightly under the new one, copies too.
    pub(crate) is_compatible: bool,
    /// Properties that rows were allowed to hold plain, and are no longer: compatible if no row does.
    pub(crate) no_longer_plain: Vec<&'static str>,
    /// Whether a plain property is sealed from now on, which programs that have the table open don't know.
    pub(crate) begins_to_seal: bool,
    /// Whether sealing changed in a way that no layout may follow the former one.
    pub(crate) jumps: bool,
}

/// How the sealing of a property changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sealing {
    Same,
    /// From plain: rows may hold either from now on.
    Begins,
    /// Rows must hold it sealed from now on.
    Ends,
    /// There is no way: plain values can't be taken for sealed ones, nor sealed ones for plain.
    Jumps,
}

fn sealing(old: &Field, new: &Field) -> Sealing {
    match ((old.encrypted, old.dual), (new.encrypted, new.dual)) {
        ((false, _), (false, _)) => Sealing::Same,
        (old, new) if old == new => Sealing::Same,
        ((false, _), (true, true)) => Sealing::Begins,
        ((true, true), (true, false)) => Sealing::Ends,
        _ => Sealing::Jumps,
    }
}

/// Compares a layout that was noted with that of a declaration; `None` if they are the same.
pub(crate) fn differences(noted: &str, schema: &Schema) -> Option<Differences> {
    let declared = layout(schema);
    if noted == declared {
        return None;
    }
    let (old, new) = (by_name(noted), by_name(&declared));
    let noted = read(noted, schema.kind);
    let mut found = Differences {
        lines: Vec::new(),
        adds: false,
        is_compatible: noted.is_some(),
        no_longer_plain: Vec::new(),
        begins_to_seal: false,
        jumps: false,
    };
    for (old, new) in noted.iter().flat_map(|noted| both(noted, schema)) {
        match sealing(old, new) {
            Sealing::Same => {}
            Sealing::Begins => found.begins_to_seal = true,
            Sealing::Ends => found.no_longer_plain.push(new.property),
            Sealing::Jumps => found.jumps = true,
        }
    }
    for (name, line) in &old {
        match new.get(name) {
            Some(now) if now == line => {}
            Some(now)
                if name.0 == "index"
                    && !noted.as_ref().is_some_and(|noted| may_become(noted, schema, *name)) =>
            {
                found.lines.extend([format!("- {line}"), format!("+ {now}")]);
            }
            Some(now) => {
                found.adds = true;
                found.is_compatible &= noted.as_ref().is_some_and(|noted| may_become(noted, schema, *name));
                found.lines.extend([format!("- {line}"), format!("+ {now}")]);
            }
            None => {
                found.is_compatible &= noted.as_ref().is_some_and(|noted| may_lack(noted, *name));
                found.lines.push(format!("- {line}"));
            }
        }
    }
    for (name, line) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        let is_index = name.0 == "index";
        found.adds |= !is_index;
        found.is_compatible &= is_index || name.0 == "property" && line.ends_with('?');
        found.lines.push(format!("+ {line}"));
    }
    Some(found)
}

/// Whether a declaration may lack what a layout says: a property that may be absent. A program that doesn't know it
/// carries its values along, as they are; one that is sealed it could not move to another row.
fn may_lack(noted: &Schema, (word, name): (&str, &str)) -> bool {
    let mut fields = noted.fields.iter();
    word == "index"
        || word == "property"
            && fields.any(|field| field.property == name && field.optional && !field.encrypted)
}

/// The layout that says what the one noted does and the declaration: what only the former has is left as it is. The indexes
/// are those that are noted, since an index comes and goes by a job.
pub(crate) fn united(noted: &str, schema: &Schema) -> String {
    let declared = layout(schema);
    let (old, new) = (by_name(noted), by_name(&declared));
    let was = read(noted, schema.kind);
    let mut lines: Vec<_> = declared.lines().filter(|line| !line.starts_with("index ")).collect();
    lines.extend(
        old.iter()
            .filter(|(name, _)| name.0 == "property" && !new.contains_key(*name))
            .map(|(_, line)| *line),
    );
    for line in noted.lines().filter(|line| line.starts_with("index ")) {
        let name = ("index", line.split(' ').nth(1).unwrap_or_default());
        // One that only prints wider values is the same.
        let becomes = was.as_ref().is_some_and(|was| may_become(was, schema, name));
        lines.push(new.get(&name).filter(|_| becomes).copied().unwrap_or(line));
    }
    lines.join("\n")
}

/// The properties that both layouts have.
fn both<'s>(old: &'s Schema, new: &'s Schema) -> impl Iterator<Item = (&'s Field, &'s Field)> {
    let of_old = |property| old.fields.iter().find(move |field| field.property == property);
    new.fields.iter().filter_map(move |field| Some((of_old(field.property)?, field)))
}

/// Whether the schema has a property plain that a layout seals: its rows would give the values away.
pub(crate) fn would_bare(noted: &str, schema: &Schema) -> bool {
    read(noted, schema.kind)
        .is_some_and(|noted| both(&noted, schema).any(|(old, new)| old.encrypted && !new.encrypted))
}

/// The lines by their subject: their first word, and the second where there are several.
fn by_name(layout: &str) -> BTreeMap<(&str, &str), &str> {
    let lines = layout.lines().map(|line| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let name = if matches!(word, "property" | "index") { rest.split(' ').next() } else { None };
        ((word, name.unwrap_or_default()), line)
    });
    lines.collect()
}

/// Whether rows written under a line of one layout read rightly under that of the other.
fn may_become(old: &Schema, new: &Schema, (word, name): (&str, &str)) -> bool {
    match word {
        "partition" => prints_as((old, &old.place().partition), (new, &new.place().partition)),
        "row" => prints_as((old, &old.place().row), (new, &new.place().row)),
        "property" => {
            let of = |schema: &Schema| schema.fields.iter().find(|field| field.property == name).copied();
            of(old).zip(of(new)).is_some_and(|(old, new)| {
                let widens = (old.edm, new.edm) == (EdmType::Int32, EdmType::Int64);
                (old.edm == new.edm || widens)
                    && (new.optional || !old.optional)
                    && sealing(&old, &new) != Sealing::Jumps
                    && (!old.encrypted || (old.scope, old.blind) == (new.scope, new.blind))
            })
        }
        "index" => {
            let of = |schema: &Schema| schema.indexes.iter().find(|index| index.name == name).copied();
            of(old).zip(of(new)).is_some_and(|(was, is)| same_index((old, &was), (new, &is)))
        }
        _ => false,
    }
}

/// Whether the rows of an index under one declaration are those that another one makes.
pub(crate) fn same_index((old, was): (&Schema, &Index), (new, is): (&Schema, &Index)) -> bool {
    let copied = |schema: &Schema, index: &Index| match index.copies {
        Copies::Some(fields) => {
            Some(fields.iter().map(|at| schema.fields.get(*at).map(|f| f.property)).collect::<Vec<_>>())
        }
        Copies::All | Copies::Keys => None,
    };
    was.name == is.name
        && (was.unique, was.sparse) == (is.unique, is.sparse)
        && std::mem::discriminant(&was.copies) == std::mem::discriminant(&is.copies)
        && copied(old, was) == copied(new, is)
        && prints_as((old, &was.place.row), (new, &is.place.row))
}

/// Whether the second template prints every key as the first has printed it.
fn prints_as(old: (&Schema, &Template), new: (&Schema, &Template)) -> bool {
    let property = |schema: &Schema, part: &FieldPart| schema.fields.get(part.field).map(|f| f.property);
    old.1.parts.len() == new.1.parts.len()
        && old.1.parts.iter().zip(new.1.parts).all(|parts| match parts {
            (Part::Literal(was), Part::Literal(is)) => was == is,
            (Part::Field(was), Part::Field(is)) => {
                property(old.0, was) == property(new.0, is)
                    && (was.each, was.format) == (is.each, is.format)
                    && values_print_as(was.key, is.key, was.format)
            }
            _ => false,
        })
}

fn values_print_as(old: KeyType, new: KeyType, format: Format) -> bool {
    let is_padded = matches!(format, Format::Pad(_) | Format::PadInverted(_));
    match (old, new) {
        (KeyType::Unsigned { max: was, .. }, KeyType::Unsigned { max: is, .. }) if is_padded => was <= is,
        // Names may be added. Whether all have one length says where the part ends.
        (KeyType::Names(was), KeyType::Names(is)) => {
            let one_width = |names| matches!(lengths(names), (least, most) if least == most);
            was.iter().all(|name| is.contains(name)) && one_width(was) == one_width(is)
        }
        (KeyType::Optional(was), KeyType::Optional(is)) | (KeyType::Each(was), KeyType::Each(is)) => {
            values_print_as(*was, *is, format)
        }
        (was, is) => was == is,
    }
}
