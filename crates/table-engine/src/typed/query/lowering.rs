//! From what was given for the parts of a key to queries in terms of keys and properties.
//!
//! A key part may have lost some of its value, as the day of a time or a shard has, and a part may be given behind one that
//! is not. Bounds then say too little, so the row is tested as well. Every typed query compares `EntityType`, by its number
//! and before anything else of the row: kinds may share a range of keys.

use std::ops::Bound;

use super::key_args::{Chosen, KeyArgs};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::ScanRanges;
use crate::handle::table::DynamicTable;
use crate::limits;
use crate::model::Value;
use crate::query::{Filter, KeyRange, Printed, PrintedRows, Query, SealedEq, Tokens, declared};
use crate::row::key;
use crate::schema::{
    self, BLIND_DIGITS, Edge, FieldPart, Format, KEY_BYTES, KeySpan, Next, Place, PrintedRange,
    PropertyValue, Schema, Template, keys_of, print_known, print_range, shard_digits, token_text, unoffered,
};
use crate::typed::entity::path::PathKeys;
use crate::typed::read::blind::{combined, look_in_order, tokens_in};

/// What has been chosen for parts, by their places among all.
type Choice = Vec<(usize, Chosen)>;

/// Returns the query; or the queries, if every shard is asked for, or a value whose tokens were made with several keys.
/// `narrowing` has what does not concern keys.
pub(super) fn lower(
    keys: &'static PathKeys,
    given: &KeyArgs,
    narrowing: Query,
    table: &DynamicTable,
) -> Result<ScanRanges> {
    if let Some(error) = given.refused {
        return Err(refused(error.to_string()));
    }
    let mut narrowing = narrowing.of_kind(keys.kind());
    if given.nothing {
        return Ok(narrowing.top(0).into());
    }
    if given.shards.is_empty() && !given.is_blind() {
        if !narrowing.has_sealed()
            && let Some((printed, fixed)) = printed(keys.place(), given)
        {
            debug_assert!(is_found_by_parts(keys, given, &narrowing, &printed, table), "{printed:?}");
            narrowing.narrow_to(printed);
            ask_the_row(&mut narrowing, keys.schema(), keys.place(), given, fixed);
            keys.fill(&mut narrowing);
            return Ok(narrowing.into());
        }
        one(keys, given, &[], &mut narrowing, table)?;
        keys.fill(&mut narrowing);
        return Ok(narrowing.into());
    }
    let place = keys.place();
    let parts: Vec<_> = schema::fields(&place.partition).chain(schema::fields(&place.row)).collect();
    let (mut choices, mut moving) = (shards(&parts, given)?, Vec::new());
    if given.is_blind() {
        let with_tokens = |choice: &Choice| by_tokens(keys, &parts, given, choice, table);
        let by_shard = choices.iter().map(with_tokens).collect::<Result<Vec<_>>>()?;
        if !table.exec().store().abilities().snapshot {
            let shard_of_each = |(shard, choices): (usize, &Vec<Choice>)| vec![shard; choices.len()];
            moving = by_shard.iter().enumerate().flat_map(shard_of_each).collect();
        }
        choices = by_shard.concat();
    }
    let (mut queries, mut partition) = (Vec::with_capacity(choices.len()), 0);
    for chosen in &choices {
        let mut query = narrowing.clone();
        partition = one(keys, given, chosen, &mut query, table)?;
        keys.fill(&mut query);
        queries.push(query);
    }
    if queries.len() < 2 {
        // Without a token nothing was ever sealed under a key that is alive.
        return Ok(queries.pop().unwrap_or_else(|| narrowing.top(0)).into());
    }
    let is_open = |place: &usize| choices.iter().any(|choice| differ(choice, choices.first(), *place));
    let (last, chosen) =
        ((0..parts.len()).rev().find(is_open), choices.first().map_or(&[][..], Vec::as_slice));
    let common = last.map_or(0, |last| keys_in_common(keys, given, chosen, last, partition));
    Ok(ScanRanges::merged(queries, common).moving(moving))
}

/// Returns what most queries ask for: all of the partition key, and the row key or its first parts, each by its value, and
/// maybe a range of the part after them. Printed once, with the numbers of parts that are fixed of either key. `None` where
/// there is more to say.
fn printed(place: &Place, given: &KeyArgs) -> Option<(Printed, [usize; 2])> {
    if given.has_prefix() {
        return None;
    }
    let value = |field| given.of(field).map(Value::as_value_ref);
    let mut text = Vec::with_capacity(2 * KEY_BYTES);
    let (in_partition, true) = print_known(&place.partition, value, &mut text)? else { return None };
    let partition = text.len();
    let (in_row, is_one) = print_known(&place.row, value, &mut text)?;
    let rows = match given.range_given() {
        None if is_one => PrintedRows::One,
        None => PrintedRows::Starting,
        Some(ends) => {
            let PrintedRange { lower, are_in } = print_range(&place.row, in_row, ends, partition, &mut text)?;
            PrintedRows::Between(lower, are_in)
        }
    };
    let printed = Printed::new(String::from_utf8(text).ok()?, partition, rows)?;
    Some((printed, [in_partition, in_row]))
}

/// Returns whether the general way comes to the same keys.
fn is_found_by_parts(
    keys: &PathKeys,
    given: &KeyArgs,
    narrowing: &Query,
    printed: &Printed,
    table: &DynamicTable,
) -> bool {
    let (mut found, mut wanted) = (narrowing.clone(), narrowing.clone());
    wanted.narrow_to(printed.clone());
    one(keys, given, &[], &mut found, table).is_ok() && found.asks_for_keys_of(&wanted)
}

/// Returns whether two choices are not the same at a place.
fn differ(choice: &Choice, other: Option<&Choice>, place: usize) -> bool {
    let at = |choice: &Choice| choice.iter().find(|(at, _)| *at == place).map(|(_, chosen)| chosen.clone());
    other.is_some_and(|other| at(choice) != at(other))
}

/// Returns a choice of shards, with each choice of tokens for the values that were given for sealed fields.
fn by_tokens(
    keys: &PathKeys,
    parts: &[&FieldPart],
    given: &KeyArgs,
    shards: &Choice,
    table: &DynamicTable,
) -> Result<Vec<Choice>> {
    let template = &keys.place().partition;
    // A part of the row key is given when the partition is complete.
    let mut fixed = Vec::new();
    given.fix(template, 0, shards, &mut fixed);
    let KeySpan::Exactly(partition) = keys_of(template, &fixed, &Next::Any) else {
        return Ok(Vec::new());
    };
    let mut choices = vec![shards.clone()];
    let mut known: Vec<usize> = Vec::new();
    for part in parts.iter().filter(|part| part.format == Format::Blind) {
        let (Some((field, blind)), Some(value)) = (keys.blind(part.field), given.sealed(part.field)) else {
            continue;
        };
        if known.contains(&part.field) {
            continue;
        }
        known.push(part.field);
        let mut tokens = tokens_in(table, Some(&partition), field, blind, value)?.unwrap_or_default();
        look_in_order(table, &mut tokens);
        let texts: Vec<String> = tokens.iter().map(token_text).collect();
        let places = |field: usize| {
            let of_field =
                move |(_, part): &(usize, &&FieldPart)| part.field == field && part.format == Format::Blind;
            parts.iter().enumerate().filter(of_field).map(|(place, _)| place)
        };
        choices = combined(&choices, |choice| {
            let with = |text: &String| {
                let tokens = places(part.field).map(|place| (place, Chosen::Token(text.clone())));
                choice.iter().cloned().chain(tokens).collect()
            };
            texts.iter().map(with).collect()
        })?;
    }
    Ok(choices)
}

/// Returns every choice of shards.
fn shards(parts: &[&FieldPart], given: &KeyArgs) -> Result<Vec<Choice>> {
    let mut choices = vec![Vec::new()];
    for (place, shard) in &given.shards {
        let Some(Format::Shard(shards)) = parts.get(*place).map(|part| part.format) else { continue };
        let numbers = match shard {
            Some(shard) if *shard >= shards => {
                let because = format!(
                    "there is no shard {shard}: the {shards} shards are numbered from 0 to {}",
                    shards - 1
                );
                return Err(refused(because));
            }
            Some(shard) => *shard..*shard + 1,
            None => 0..shards,
        };
        let with = |choice: &Choice, shard| {
            let mut choice = choice.clone();
            choice.push((*place, Chosen::Shard(shard)));
            choice
        };
        choices = choices.iter().flat_map(|choice| numbers.clone().map(move |n| with(choice, n))).collect();
        if choices.len() > limits::PAGE_ENTITIES {
            return Err(refused(format!(
                "all shards together are {} ranges; give one of them",
                choices.len()
            )));
        }
    }
    Ok(choices)
}

/// Narrows the query to one choice of shards. Returns how many bytes its partition key has; none, where it is not one.
fn one(
    keys: &PathKeys,
    given: &KeyArgs,
    chosen: &[(usize, Chosen)],
    query: &mut Query,
    table: &DynamicTable,
) -> Result<usize> {
    let (schema, place) = (keys.schema(), keys.place());
    let mut fixed = Vec::with_capacity(given.values().len() + chosen.len());
    given.fix(&place.partition, 0, chosen, &mut fixed);
    let in_partition = fixed.len();
    // Over several partitions nothing of the row key was given: what bounds the next part bounds the partitions.
    let partitions = match keys_of(&place.partition, &fixed, &given.next()) {
        KeySpan::Exactly(key) => Ok(key),
        KeySpan::Prefix(start) => Err(KeyRange::prefix(&start)),
        KeySpan::Between(lower, upper) => Err(KeyRange::new(as_str(&lower), as_str(&upper))),
        KeySpan::Nothing => {
            query.narrow_to_nothing();
            return Ok(0);
        }
    };
    let partition = match partitions {
        Ok(key) => key,
        Err(range) => {
            resolve(keys, query, None, table)?;
            query.narrow_partition(range);
            ask_the_row(query, schema, place, given, [in_partition, 0]);
            return Ok(0);
        }
    };
    resolve(keys, query, Some(&partition), table)?;
    query.narrow_partition(KeyRange::exactly(&partition));
    open_found(keys, query, given, table)?;
    given.fix(&place.row, schema::fields(&place.partition).count(), chosen, &mut fixed);
    let (in_row, next) = (fixed.get(in_partition..).unwrap_or_default(), given.next());
    if let Some(part) = unoffered(&place.row, in_row.len(), &next) {
        let name = schema.fields.get(part.field).map_or("", |field| field.name);
        return Err(refused(format!(
            "`{name}` offers no such range in the key `{}`: inside a key, text sorts with what follows it, and names \
             sort by their letters; give a value, or a `prefix(..)` of text",
            place.row.source
        )));
    }
    match keys_of(&place.row, in_row, &next) {
        KeySpan::Nothing => query.narrow_to_nothing(),
        KeySpan::Exactly(key) => query.narrow_rows(KeyRange::exactly(&key)),
        KeySpan::Prefix(start) => query.narrow_rows(KeyRange::prefix(&start)),
        KeySpan::Between(lower, upper) => query.narrow_rows(KeyRange::new(as_str(&lower), as_str(&upper))),
    }
    ask_the_row(query, schema, place, given, [in_partition, in_row.len()]);
    Ok(partition.len())
}

fn as_str(bound: &Bound<String>) -> Bound<&str> {
    bound.as_ref().map(String::as_str)
}

/// Gives the query the tokens that its filter is to look for.
fn resolve(keys: &PathKeys, query: &mut Query, partition: Option<&str>, table: &DynamicTable) -> Result<()> {
    if !query.has_sealed() {
        return Ok(());
    }
    query.resolve(&mut |sealed| {
        let (field, blind) = keys.blind_property(sealed.property()).ok_or_else(|| sealed.stranger())?;
        let tokens = tokens_in(table, partition, field, blind, sealed.value())?;
        let tokens = tokens.map_or(Tokens::Any, |tokens| Tokens::These(blind.property, tokens.into()));
        let sealed = sealed.clone().with_tokens(tokens).or_plain(field.dual);
        Ok(sealed.at_generation(table.keys_generation()?))
    })
}

/// Has the query open and compare what it finds by a token: an attacker that writes the file can put a row under any token.
fn open_found(keys: &PathKeys, query: &mut Query, given: &KeyArgs, table: &DynamicTable) -> Result<()> {
    for (field, value) in given.each_sealed() {
        let Some((field, _)) = keys.blind(field) else { continue };
        let sealed = SealedEq::new(field.property, value.to_value()).with_tokens(Tokens::Any);
        query.narrow(Filter::sealed(sealed.at_generation(table.keys_generation()?)));
    }
    Ok(())
}

/// Has the query ask the row too what was given for a field, where the bounds on the keys let more in: where a part has
/// lost some of the value, or stands behind one that is not fixed. So many parts are fixed of the partition key and of
/// the row key.
fn ask_the_row(
    query: &mut Query,
    schema: &Schema,
    place: &Place,
    given: &KeyArgs,
    [in_partition, in_row]: [usize; 2],
) {
    let with_fixed = |template: &Template, fixed: usize| {
        schema::fields(template).enumerate().map(move |(at, part)| (at < fixed, part))
    };
    let parts = || with_fixed(&place.partition, in_partition).chain(with_fixed(&place.row, in_row));
    let property = |field: usize| schema.fields.get(field).map(|field| declared(field.property));
    for (field, value) in given.values() {
        let of_field = || parts().filter(|(_, part)| part.field == *field);
        let propagates = |part: &FieldPart| part.is_lossless() || part.each;
        if of_field().any(|(is_fixed, part)| is_fixed && propagates(part)) {
            continue;
        }
        // Text that is folded is asked for as folded, unless the key has it whole as well.
        let is_folded = of_field()
            .all(|(is_fixed, part)| part.format == Format::Lower || !(is_fixed || propagates(part)));
        if let (false, Some(property)) = (is_folded, property(*field)) {
            query.narrow(property.eq(value.clone()));
        }
    }
    let mut next = schema::fields(&place.partition).skip(in_partition);
    let next = next.next().or_else(|| schema::fields(&place.row).nth(in_row));
    let Some(part) = next else { return };
    if !matches!(part.format, Format::Time(_)) {
        return;
    }
    let (Some((lower, upper)), Some(property)) = (given.range_of(part.field), property(part.field)) else {
        return;
    };
    let mut ask = |value: PropertyValue<'_>, filter: &dyn Fn(Value) -> Filter| {
        if let Some(value) = value.into_value() {
            query.narrow(filter(value));
        }
    };
    match lower.clone() {
        Edge::Included(value) => ask(value, &|value| property.ge(value)),
        Edge::Excluded(value) => ask(value, &|value| property.gt(value)),
        Edge::Open | Edge::Nothing => {}
    }
    match upper.clone() {
        Edge::Included(value) => ask(value, &|value| property.le(value)),
        Edge::Excluded(value) => ask(value, &|value| property.lt(value)),
        Edge::Open | Edge::Nothing => {}
    }
}

/// Returns the bytes of the keys up to the end of the last shard that is not given: in every scan range as many. The
/// partition key has `partition` bytes.
fn keys_in_common(
    keys: &PathKeys,
    given: &KeyArgs,
    chosen: &[(usize, Chosen)],
    last: usize,
    partition: usize,
) -> usize {
    let width = schema::fields(&keys.place().partition).count();
    let Some(last) = last.checked_sub(width) else { return key::shared(partition, 0) };
    // The row key as far as the shard: its digits are the end of what the parts before it and it print.
    let mut before = Vec::new();
    given.fix(keys.row(), width, chosen, &mut before);
    let head = before.get(..last).unwrap_or_default();
    let start = match keys_of(keys.row(), head, &Next::Any) {
        KeySpan::Exactly(key) | KeySpan::Prefix(key) => key.len(),
        KeySpan::Between(..) | KeySpan::Nothing => 0,
    };
    let digits = match schema::fields(keys.row()).nth(last).map(|part| part.format) {
        Some(Format::Shard(shards)) => shard_digits(shards),
        Some(Format::Blind) => BLIND_DIGITS,
        _ => 0,
    };
    key::shared(partition, start + digits)
}

#[cold]
fn refused(because: String) -> Error {
    Error::new(ErrorKind::InvalidQuery).because(because)
}
