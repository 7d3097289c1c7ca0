//! Rules about the rows of an entity among themselves, and beside rows of other kinds.

use super::super::message::Message;
use super::super::place::meet;
use super::super::{Field, Part, Schema, Series, Template, holds};
use super::{KeyOf, field_at, field_name, index};
use crate::limits;

/// C7: no row of the index has the key of the entity's own row, or of a row of an index before it.
pub(super) const fn disjoint(schema: &Schema, at: usize) -> Option<Message> {
    let place = &index(schema, at).place;
    let mut other = KeyOf::Row;
    let mut before = 0;
    loop {
        if meet(other.place(schema), place) {
            let message = KeyOf::Index(at).drawn(schema, Message::new("")).text(" and ");
            let message = other.drawn(schema, message);
            return Some(message.text(" could print one key: start each with literal text of its own"));
        }
        if before == at {
            return None;
        }
        other = KeyOf::Index(before);
        before += 1;
    }
}

/// Returns what a copy that lies elsewhere than its entity can't hold yet: sealed values, and tokens in its keys.
#[inline]
pub(super) const fn sealed_elsewhere(schema: &Schema, at: usize) -> Option<Message> {
    if !index(schema, at).is_elsewhere() {
        return None;
    }
    let place = &index(schema, at).place;
    let mut field = 0;
    while field < schema.fields.len() {
        let of = field_at(schema, field);
        if of.encrypted
            && (holds(schema, Some(at), field)
                || stands_in(&place.partition, field)
                || stands_in(&place.row, field))
        {
            let message = Message::new("the index `").text(index(schema, at).name);
            let message = message.text("` lies elsewhere than its entity, where `").text(of.name);
            return Some(message.text(
                "` can't be opened: an index elsewhere holds neither encrypted fields nor tokens yet; name what it copies \
                 by `copy(..)`, or leave out `partition` and `table`",
            ));
        }
        field += 1;
    }
    None
}

/// Returns whether the field stands in the template, in whatever form.
const fn stands_in(template: &Template, field: usize) -> bool {
    let mut parts = template.parts;
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

/// C7: kinds that share a table have partitions of their own, or no row of one has the key of a row of the other.
pub(super) const fn disjoint_kinds(a: &Schema, b: &Schema) -> Option<Message> {
    let mut row_of_a = 0;
    while let Some(of_a) = KeyOf::nth(a, row_of_a) {
        let mut row_of_b = 0;
        while let Some(of_b) = KeyOf::nth(b, row_of_b) {
            let (here, there) = (of_a.place(a), of_b.place(b));
            // The rows of a summary are those of the struct that it is declared by.
            if !(are_of_a_summary(a, of_a, b, of_b) || are_of_a_summary(b, of_b, a, of_a))
                && meet(here, there)
            {
                let message = of_a.drawn(a, Message::new("")).text(" of `").text(a.entity);
                let message = of_b.drawn(b, message.text("` and ")).text(" of `").text(b.entity);
                return Some(message.text("` could print one key: start each with literal text of its own"));
            }
            row_of_b += 1;
        }
        row_of_a += 1;
    }
    None
}

/// C7, of a wide entity: no row of a part has the key of another row of the entity's, nor of another entity's head.
#[inline]
pub(super) const fn parts(schema: &Schema) -> Option<Message> {
    let mut part = 1;
    while part <= schema.parts.len() {
        let of_part = KeyOf::Part(part);
        let mut number = 0;
        while let Some(other) = KeyOf::nth(schema, number) {
            number += 1;
            // Those of two parts end with their numbers.
            if matches!(other, KeyOf::Part(_)) || !meet(other.place(schema), of_part.place(schema)) {
                continue;
            }
            // That the index's rows meet the head is said of the index, and is the same mistake.
            if let KeyOf::Index(at) = other
                && disjoint(schema, at).is_some()
            {
                continue;
            }
            let message = of_part.drawn(schema, Message::new("")).text(" and ");
            let message = other.drawn(schema, message).text(" could print one key: ");
            return Some(match other {
                KeyOf::Row => message.text(
                    "end the row key with a part of fixed width, `{id:06}`, or with a character that is no digit, as in \
                     `{name}.`, so that none ends as those of parts do",
                ),
                _ => message.text("start the index's with literal text of its own"),
            });
        }
        part += 1;
    }
    None
}

/// Returns whether the rows of the index are a summary, and the others are declared by its own struct.
const fn are_of_a_summary(a: &Schema, index: KeyOf, b: &Schema, own: KeyOf) -> bool {
    match (index, own) {
        (KeyOf::Index(at), KeyOf::Row) => {
            self::index(a, at).summary.is_some() && same(index.kind(a), own.kind(b))
        }
        _ => false,
    }
}

/// C8: an index that isn't `unique`, as none is that is `eventual`, has every field of the primary key in its own, so that two entities never
/// want one row of it.
#[inline]
pub(super) const fn determined(schema: &Schema, at: usize) -> Option<Message> {
    if index(schema, at).unique || index(schema, at).list.is_some() {
        return None;
    }
    let place = schema.place();
    match forgotten(schema, at, &place.partition) {
        None => forgotten(schema, at, &place.row),
        mistake => mistake,
    }
}

/// The first part of a primary key whose field an index doesn't give back.
#[inline]
const fn forgotten(schema: &Schema, at: usize, primary: &Template) -> Option<Message> {
    let index = index(schema, at);
    let mut parts = primary.parts;
    while let [part, rest @ ..] = parts {
        parts = rest;
        let Part::Field(part) = part else { continue };
        if !index.place.gives_back(part.field) {
            let name = field_name(schema, part.field);
            if index.is_eventual() {
                return Some(
                    Message::new("entities that differ in `")
                        .text(name)
                        .text("` alone would have one row in the index `")
                        .text(index.name)
                        .text("`, and of two that come later either may be the last: add `")
                        .part(name, part)
                        .text("` to it"),
                );
            }
            return Some(
                Message::new("entities that differ in `")
                    .text(name)
                    .text("` alone would have one row in the index `")
                    .text(index.name)
                    .text("`: add `")
                    .part(name, part)
                    .text("` to it, or say `unique` if that is to be an error"),
            );
        }
    }
    None
}

/// C25: two kinds of a set are of one table, and have names of their own.
#[inline]
pub(super) const fn apart(a: &Schema, b: &Schema) -> Option<Message> {
    let summary = if a.summary_of.is_some() {
        Some(a)
    } else if b.summary_of.is_some() {
        Some(b)
    } else {
        None
    };
    if let Some(summary) = summary {
        let message = Message::new("`").text(summary.entity);
        return Some(message.text(
            "` is a summary: a set is of entities that are written, and `Store::table` reads a summary",
        ));
    }
    let periodic = if a.periods().is_some() {
        Some(a)
    } else if b.periods().is_some() {
        Some(b)
    } else {
        None
    };
    if let Some(periodic) = periodic {
        let message = Message::new("`").text(periodic.entity);
        return Some(message.text("` has a table for each period: a set is of one table"));
    }
    if !a.table().eq_ignore_ascii_case(b.table()) {
        let message =
            Message::new("`").text(a.entity).text("` is in the table `").text(a.table()).text("` and `");
        let message = message.text(b.entity).text("` in `").text(b.table());
        return Some(message.text("`: a set is of one table"));
    }
    if same(a.kind, b.kind) {
        let message =
            Message::new("`").text(a.entity).text("` and `").text(b.entity).text("` are both of the kind `");
        return Some(message.text(a.kind).text("`, and rows tell kinds apart by it"));
    }
    None
}

/// C31: what is to go is no property of the entity.
pub(super) const fn gone(schema: &Schema) -> Option<Message> {
    let mut all = schema.removed;
    while let [gone, rest @ ..] = all {
        let mut fields = schema.fields;
        while let [field, rest @ ..] = fields {
            if same(field.property, gone) {
                let message =
                    Message::new("`").text(gone).text("` is to go, and the field `").text(field.name);
                return Some(message.text("` gives it"));
            }
            fields = rest;
        }
        all = rest;
    }
    None
}

/// C31: a version follows the one that it is made from.
#[inline]
pub(super) const fn follows(schema: &Schema, previous: &Schema) -> Option<Message> {
    // A declaration with mistakes has its messages.
    if schema.version == 0 || previous.version == 0 {
        return None;
    }
    let both = Message::new("`").text(schema.entity).text("` is ");
    if !same(schema.kind, previous.kind) {
        let message = both.text("of the kind `").text(schema.kind).text("`, and `").text(previous.entity);
        return Some(
            message.text("` of `").text(previous.kind).text("`: a version is made from one of its own kind"),
        );
    }
    if schema.version - 1 != previous.version {
        let message =
            both.text("version ").number(widened(schema.version)).text(", and `").text(previous.entity);
        let message = message.text("` version ").number(widened(previous.version));
        return Some(message.text(": a version is made from the one before"));
    }
    if schema.signed && !previous.signed {
        let message = both.text("signed, and `").text(previous.entity).text("` is not");
        return Some(message.text(": a row of that version would be taken from anybody"));
    }
    if schema.seals() && !previous.seals() {
        let message = both.text("sealed in part, and `").text(previous.entity).text("` is not");
        return Some(message.text(": first seal its values, by `#[encrypt(dual)]` and `Table::reencrypt`"));
    }
    None
}

#[expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]
const fn widened(number: u32) -> u64 {
    number as u64
}

/// C10: no two properties have one name. C12: a row holds them all, and `EntityType`.
#[inline]
pub(super) const fn properties(schema: &Schema) -> Option<Message> {
    let mut number = 0;
    while let Some(row) = KeyOf::nth(schema, number) {
        number += 1;
        let own = own_properties(schema, row);
        let held = own + held(schema, row);
        if held <= limits::PROPERTIES {
            continue;
        }
        let message = Message::new("a row under ");
        let message = row.named(schema, message).text(" of `").text(schema.entity).text("` would hold ");
        let message = message.count(held).text(" properties, `EntityType` ");
        let message = if own > 1 { message.text("and `EntityParts` ") } else { message };
        let message = message.text("among them: it can hold ").count(limits::PROPERTIES);
        return Some(match row {
            KeyOf::Row | KeyOf::Part(_) => in_more_rows(schema, row, message),
            KeyOf::Index(_) if schema.is_wide() => message,
            _ => message.text("; `copy = keys` or `copy(..)` has its rows hold less"),
        });
    }
    let mut fields = schema.fields;
    while let [first, rest @ ..] = fields {
        fields = rest;
        // A series is compared by its stem, as its first slot.
        if is_later_slot(first) {
            continue;
        }
        let mut others = rest;
        while let [other, rest @ ..] = others {
            others = rest;
            if is_later_slot(other) {
                continue;
            }
            if let Some(property) = shared(first, other) {
                let message =
                    Message::new("the fields `").text(named(first)).text("` and `").text(named(other));
                if first.series.is_some() && other.series.is_some() {
                    return Some(message.text("` both give properties `").text(property).text("_..`"));
                }
                return Some(message.text("` both give the property `").text(property).text("`"));
            }
        }
    }
    None
}

/// Returns what has an entity lie in as many rows as it needs: `wide`, and a part that begins early enough.
const fn in_more_rows(schema: &Schema, row: KeyOf, message: Message) -> Message {
    let beyond = first_beyond(schema, row);
    let message = message.text("; ");
    let message = if schema.is_wide() {
        message
    } else {
        message.text("`wide`, in `#[entity(..)]`, has it lie in several rows: ")
    };
    // The head of a wide entity has two properties of no field.
    if let Some(slot) = beyond.series
        && slot.of.slots > limits::PROPERTIES - 2
    {
        return message
            .text("a series lies in one row, so split `")
            .text(slot.of.name)
            .text("` into several, and let each but the first begin a part, by `#[part]`");
    }
    message
        .text("begin the next part, by `#[part]`, with `")
        .text(named(beyond))
        .text("` or a field before it")
}

/// Returns whether the field is a slot of a series, and not the first.
const fn is_later_slot(field: &Field) -> bool {
    matches!(field.series, Some(slot) if slot.at != 0)
}

/// Returns what the user calls the field.
const fn named(field: &Field) -> &'static str {
    match field.series {
        Some(slot) => slot.of.name,
        None => field.name,
    }
}

/// Returns the name of a property that a series and a field give that is none.
const fn shared_with_series(series: &Series, field: &Field) -> Option<&'static str> {
    if series.slot_of(field.property).is_some() {
        return Some(field.property);
    }
    match field.blind {
        Some(blind) if series.slot_of(blind.property).is_some() => Some(blind.property),
        _ => None,
    }
}

/// Returns the name of a property that both fields give; a field with tokens gives two.
#[inline]
const fn shared(a: &Field, b: &Field) -> Option<&'static str> {
    match (a.series, b.series) {
        (Some(first), Some(other)) if first.of.meets(other.of) => {
            return Some(first.of.stem);
        }
        (Some(_), Some(_)) => return None,
        (Some(series), None) => return shared_with_series(series.of, b),
        (None, Some(series)) => return shared_with_series(series.of, a),
        (None, None) => {}
    }
    if same(a.property, b.property) {
        return Some(a.property);
    }
    if let Some(blind) = a.blind
        && same(blind.property, b.property)
    {
        return Some(b.property);
    }
    match b.blind {
        Some(blind) if same(blind.property, a.property) => Some(a.property),
        _ => None,
    }
}

/// Returns how many properties a row has that are of no field.
const fn own_properties(schema: &Schema, row: KeyOf) -> usize {
    if schema.is_wide() && matches!(row, KeyOf::Row) { 2 } else { 1 }
}

/// Returns how many properties of fields a row of this key holds: those that the key doesn't give back.
const fn held(schema: &Schema, row: KeyOf) -> usize {
    let (mut held, mut field) = (0, 0);
    while field < schema.fields.len() {
        held += held_of(schema, row, field);
        field += 1;
    }
    held
}

/// Returns how many properties of a field such a row holds.
const fn held_of(schema: &Schema, row: KeyOf, field: usize) -> usize {
    let of = field_at(schema, field);
    let lies_there = match row {
        KeyOf::Part(part) => of.part == part,
        // A wide entity has no whole copies.
        KeyOf::Index(at) if schema.is_wide() => holds(schema, Some(at), field),
        KeyOf::Index(_) => true,
        _ => of.part == 0,
    };
    if !lies_there || row.place(schema).gives_back(field) {
        return 0;
    }
    if of.blind.is_some() { 2 } else { 1 }
}

/// Returns the first field for which a row of this key has no room.
const fn first_beyond(schema: &Schema, row: KeyOf) -> &Field {
    let (mut held, mut field) = (own_properties(schema, row), 0);
    loop {
        held += held_of(schema, row, field);
        if held > limits::PROPERTIES || field + 1 == schema.fields.len() {
            return field_at(schema, field);
        }
        field += 1;
    }
}

pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([x, rest_of_a @ ..], [y, rest_of_b @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (rest_of_a, rest_of_b);
    }
    a.is_empty() && b.is_empty()
}
