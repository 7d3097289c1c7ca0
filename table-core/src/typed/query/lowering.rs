//! From what was given for the parts of a key to queries in terms of keys and properties.

use super::given::Given;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::Value;
use crate::plan;
use crate::query::{Filter, Query, prop};
use crate::schema::{
    Edge, FieldPart, Fixed, Format, KeySpan, Next, PropertyValue, Schema, bounds, shard_digits, unoffered,
};
use crate::store::Lanes;
use crate::typed::path::PathKeys;

/// The query, or the queries if every shard is asked for. `narrowing` has what does not concern keys.
pub(super) fn lower(keys: &'static PathKeys, given: &Given, narrowing: &Query) -> Result<Lanes> {
    if let Some(error) = given.refused {
        return Err(refused(error.to_string()));
    }
    let narrowing = narrowing.clone().of_kind(keys.kind());
    if given.nothing {
        return Ok(narrowing.top(0).into());
    }
    let (schema, row) = (keys.schema(), keys.row());
    let parts: Vec<_> = plan::fields(&schema.partition).chain(plan::fields(row)).collect();
    let choices = choices(&parts, given)?;
    let one = |chosen: &[(usize, u32)]| one(keys, &parts, given, chosen, narrowing.clone());
    let Some(last) = given.shards.iter().rev().find(|(_, shard)| shard.is_none()) else {
        return one(choices.first().map_or(&[], Vec::as_slice)).map(|query| query.0.into());
    };
    let mut queries = Vec::with_capacity(choices.len());
    let mut common = 0;
    for chosen in &choices {
        let (query, partition) = one(chosen)?;
        queries.push(query);
        common = keys_in_common(keys, given, chosen, last.0, &partition);
    }
    Ok(Lanes::merged(queries, common))
}

/// Every choice of shards, as (place among the parts, number).
fn choices(parts: &[&FieldPart], given: &Given) -> Result<Vec<Vec<(usize, u32)>>> {
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
        let with = |choice: &Vec<(usize, u32)>, shard| {
            let mut choice = choice.clone();
            choice.push((*place, shard));
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
    given: &Given,
    chosen: &[(usize, u32)],
    query: Query,
) -> Result<(Query, String)> {
    let (schema, row) = (keys.schema(), keys.row());
    let in_partition = given.fixed(&schema.partition, 0, chosen);
    let width = plan::fields(&schema.partition).count();
    let partition = bounds(&schema.partition, &in_partition, &Next::Any).keys;
    let (partition, query) = match partition {
        KeySpan::Exactly(key) => (key.clone(), query.partition(key)),
        // Over several partitions nothing of the row key was given.
        KeySpan::Prefix(start) => {
            let fixed = vec![in_partition.as_slice(), &[]];
            return Ok((
                exactly(query.partition_prefix(start), schema, parts, width, given, &fixed),
                String::new(),
            ));
        }
        KeySpan::Between(..) | KeySpan::Nothing => return Ok((query.top(0), String::new())),
    };
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

/// The query with what was given for a field asked of the row too, where the bounds on the keys let more in: where a
/// part has lost some of the value, or stands behind one that is not fixed.
fn exactly(
    mut query: Query,
    schema: &Schema,
    parts: &[&FieldPart],
    width: usize,
    given: &Given,
    fixed: &[&[Fixed<'_>]],
) -> Query {
    let [in_partition, in_row] = [0, 1].map(|at| fixed.get(at).map_or(0, |fixed| fixed.len()));
    let is_fixed = |place: usize| place < in_partition || (width..width + in_row).contains(&place);
    let property = |field: usize| schema.fields.get(field).map(|field| prop(field.property));
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
    given: &Given,
    chosen: &[(usize, u32)],
    last: usize,
    partition: &str,
) -> usize {
    let width = plan::fields(&keys.schema().partition).count();
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
    let digits = match plan::fields(keys.row()).nth(last - width).map(|part| part.format) {
        Some(Format::Shard(shards)) => shard_digits(shards),
        _ => 0,
    };
    partition.len() + separator + start + digits
}

#[cold]
fn refused(because: String) -> Error {
    Error::new(ErrorKind::InvalidQuery).because(because)
}
