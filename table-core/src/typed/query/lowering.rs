//! From what was given for the parts of a key to queries in terms of keys and properties.

use super::given::{Chosen, GivenParts};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Lanes;
use crate::handle::table::DynamicTable;
use crate::limits;
use crate::model::Value;
use crate::query::{Filter, Query, SealedEq, Tokens, declared};
use crate::schema::{
    self, BLIND_DIGITS, Edge, FieldPart, Fixed, Format, KeySpan, Next, Place, PropertyValue, Schema, bounds,
    shard_digits, token_text, unoffered,
};
use crate::typed::entity::path::PathKeys;
use crate::typed::read::blind::{combined, tokens_in};

/// What has been chosen for parts, by their places among all.
type Choice = Vec<(usize, Chosen)>;

/// The query; or the queries, if every shard is asked for, or a value whose tokens were made with several keys.
/// `narrowing` has what does not concern keys.
pub(super) fn lower(
    keys: &'static PathKeys,
    given: &GivenParts,
    narrowing: &Query,
    table: &DynamicTable,
) -> Result<Lanes> {
    if let Some(error) = given.refused {
        return Err(refused(error.to_string()));
    }
    let narrowing = narrowing.clone().of_kind(keys.kind());
    if given.nothing {
        return Ok(narrowing.top(0).into());
    }
    let place = keys.place();
    let parts: Vec<_> = schema::fields(&place.partition).chain(schema::fields(&place.row)).collect();
    let mut choices = shards(&parts, given)?;
    if given.is_blind() {
        let with_tokens = |choice: &Choice| by_tokens(keys, &parts, given, choice, table);
        choices = choices.iter().map(with_tokens).collect::<Result<Vec<_>>>()?.concat();
    }
    let (mut queries, mut partition) = (Vec::with_capacity(choices.len()), String::new());
    for chosen in &choices {
        let query;
        (query, partition) = one(keys, &parts, given, chosen, narrowing.clone(), table)?;
        queries.push(query);
    }
    if queries.len() < 2 {
        // Without a token nothing was ever sealed under a key that is alive.
        return Ok(queries.pop().unwrap_or_else(|| narrowing.top(0)).into());
    }
    let is_open = |place: &usize| choices.iter().any(|choice| differ(choice, choices.first(), *place));
    let (last, chosen) =
        ((0..parts.len()).rev().find(is_open), choices.first().map_or(&[][..], Vec::as_slice));
    let common = last.map_or(0, |last| keys_in_common(keys, given, chosen, last, &partition));
    Ok(Lanes::merged(queries, common))
}

/// Whether two choices are not the same at a place.
fn differ(choice: &Choice, other: Option<&Choice>, place: usize) -> bool {
    let at = |choice: &Choice| choice.iter().find(|(at, _)| *at == place).map(|(_, chosen)| chosen.clone());
    other.is_some_and(|other| at(choice) != at(other))
}

/// A choice of shards, with each choice of tokens for the values that were given for sealed fields.
fn by_tokens(
    keys: &PathKeys,
    parts: &[&FieldPart],
    given: &GivenParts,
    shards: &Choice,
    table: &DynamicTable,
) -> Result<Vec<Choice>> {
    let template = &keys.place().partition;
    // A part of the row key is given when the partition is complete.
    let KeySpan::Exactly(partition) = bounds(template, &given.fixed(template, 0, shards), &Next::Any).keys
    else {
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
        let tokens = tokens_in(table, Some(&partition), field, blind, value)?.unwrap_or_default();
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

/// Every choice of shards.
fn shards(parts: &[&FieldPart], given: &GivenParts) -> Result<Vec<Choice>> {
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

/// The query of one choice of shards, and its partition key.
fn one(
    keys: &PathKeys,
    parts: &[&FieldPart],
    given: &GivenParts,
    chosen: &[(usize, Chosen)],
    query: Query,
    table: &DynamicTable,
) -> Result<(Query, String)> {
    let (schema, Place { partition, row, .. }) = (keys.schema(), keys.place());
    let in_partition = given.fixed(partition, 0, chosen);
    let width = schema::fields(partition).count();
    let partition = bounds(partition, &in_partition, &Next::Any).keys;
    let (partition, query) = match partition {
        KeySpan::Exactly(key) => (key.clone(), query.partition(key)),
        // Over several partitions nothing of the row key was given.
        KeySpan::Prefix(start) => {
            let fixed = vec![in_partition.as_slice(), &[]];
            let query = with_tokens(keys, query, None, table)?;
            return Ok((
                exactly(query.partition_prefix(start), schema, parts, width, given, &fixed),
                String::new(),
            ));
        }
        KeySpan::Between(..) | KeySpan::Nothing => return Ok((query.top(0), String::new())),
    };
    let query = opened(keys, with_tokens(keys, query, Some(&partition), table)?, given, table)?;
    let (in_row, next) = (given.fixed(row, width, chosen), given.next());
    if let Some(part) = unoffered(row, in_row.len(), &next) {
        let name = schema.fields.get(part.field).map_or("", |field| field.name);
        return Err(refused(format!(
            "`{name}` offers no such range in the key `{}`: inside a key, text sorts with what follows it, and names \
             sort by their letters; give a value, or a `prefix(..)` of text",
            row.source
        )));
    }
    let query = match bounds(row, &in_row, &next).keys {
        KeySpan::Nothing => query.top(0),
        KeySpan::Exactly(key) => query.row(key),
        KeySpan::Prefix(start) => query.row_prefix(start),
        KeySpan::Between(lower, upper) => query.rows((lower, upper)),
    };
    let fixed = [in_partition.as_slice(), &in_row];
    Ok((exactly(query, schema, parts, width, given, &fixed), partition))
}

/// The query with the tokens that its filter is to look for.
fn with_tokens(
    keys: &PathKeys,
    query: Query,
    partition: Option<&str>,
    table: &DynamicTable,
) -> Result<Query> {
    if !query.has_sealed() {
        return Ok(query);
    }
    query.resolved(&mut |sealed| {
        let (field, blind) = keys.blind_property(sealed.property()).ok_or_else(|| sealed.stranger())?;
        let tokens = tokens_in(table, partition, field, blind, sealed.value())?;
        let tokens = tokens.map_or(Tokens::Any, |tokens| Tokens::These(blind.property, tokens.into()));
        let sealed = sealed.clone().with_tokens(tokens).or_plain(field.dual);
        Ok(sealed.at_generation(table.keys_generation()?))
    })
}

/// The query that opens what it finds by a token: who can write the file can put a row under any.
fn opened(keys: &PathKeys, mut query: Query, given: &GivenParts, table: &DynamicTable) -> Result<Query> {
    for (field, value) in given.each_sealed() {
        let Some((field, _)) = keys.blind(field) else { continue };
        let sealed = SealedEq::new(field.property, value.to_value()).with_tokens(Tokens::Any);
        query = query.filter(Filter::sealed(sealed.at_generation(table.keys_generation()?)));
    }
    Ok(query)
}

/// The query with what was given for a field asked of the row too, where the bounds on the keys let more in: where a
/// part has lost some of the value, or stands behind one that is not fixed.
fn exactly(
    mut query: Query,
    schema: &Schema,
    parts: &[&FieldPart],
    width: usize,
    given: &GivenParts,
    fixed: &[&[Fixed<'_>]],
) -> Query {
    let [in_partition, in_row] = [0, 1].map(|at| fixed.get(at).map_or(0, |fixed| fixed.len()));
    let is_fixed = |place: usize| place < in_partition || (width..width + in_row).contains(&place);
    let property = |field: usize| schema.fields.get(field).map(|field| declared(field.property));
    for (field, value) in given.values() {
        let of_field = || parts.iter().enumerate().filter(|(_, part)| part.field == *field);
        let settles = |part: &FieldPart| part.is_lossless() || part.each;
        if of_field().any(|(place, part)| is_fixed(place) && settles(part)) {
            continue;
        }
        // Text that is folded is asked for as folded, unless the key has it whole as well.
        let is_folded = of_field()
            .all(|(place, part)| part.format == Format::Lower || !(is_fixed(place) || settles(part)));
        if let (false, Some(property)) = (is_folded, property(*field)) {
            query = query.filter(property.eq(value.clone()));
        }
    }
    let Some(part) = parts.get(width + in_row) else { return query };
    if !matches!(part.format, Format::Time(_)) {
        return query;
    }
    let (Some((lower, upper)), Some(property)) = (given.range_of(part.field), property(part.field)) else {
        return query;
    };
    query = match lower.clone() {
        Edge::Included(value) => filtered(query, value, |value| property.ge(value)),
        Edge::Excluded(value) => filtered(query, value, |value| property.gt(value)),
        Edge::Open | Edge::Nothing => query,
    };
    match upper.clone() {
        Edge::Included(value) => filtered(query, value, |value| property.le(value)),
        Edge::Excluded(value) => filtered(query, value, |value| property.lt(value)),
        Edge::Open | Edge::Nothing => query,
    }
}

fn filtered(query: Query, value: PropertyValue<'_>, filter: impl FnOnce(Value) -> Filter) -> Query {
    match value.into_value() {
        Some(value) => query.filter(filter(value)),
        None => query,
    }
}

/// The bytes of the keys up to the end of the last shard that is not given: in every lane as many.
fn keys_in_common(
    keys: &PathKeys,
    given: &GivenParts,
    chosen: &[(usize, Chosen)],
    last: usize,
    partition: &str,
) -> usize {
    let width = schema::fields(&keys.place().partition).count();
    let separator = 1;
    if last < width {
        return partition.len() + separator;
    }
    // The row key as far as the shard: its digits are the end of what the parts before it and it print.
    let before = given.fixed(keys.row(), width, chosen);
    let head = before.get(..last - width).unwrap_or_default();
    let start = match bounds(keys.row(), head, &Next::Any).keys {
        KeySpan::Exactly(key) | KeySpan::Prefix(key) => key.len(),
        KeySpan::Between(..) | KeySpan::Nothing => 0,
    };
    let digits = match schema::fields(keys.row()).nth(last - width).map(|part| part.format) {
        Some(Format::Shard(shards)) => shard_digits(shards),
        Some(Format::Blind) => BLIND_DIGITS,
        _ => 0,
    };
    partition.len() + separator + start + digits
}

#[cold]
fn refused(because: String) -> Error {
    Error::new(ErrorKind::InvalidQuery).because(because)
}
