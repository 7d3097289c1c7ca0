//! What is added to rows of summaries, of lists, and of entities: they are read, and written if they are still the same.

use table_engine::__executor::{Amounts, ListBecomes};
use table_engine::sealing::sign;
use table_engine::{DynamicEntity, Error, ErrorKind, Result, Value, ValueRef};

use super::marks;
use super::planned::{body, with_ring};
use super::rings::{self, Keys};
use crate::client::Operation;

/// Returns what becomes of a row to which these amounts are added; `None` if nothing does. An entity's own row tells the
/// changes that `ring` makes of those that it told.
pub(super) fn operation(
    keys: Keys<'_>,
    amounts: &Amounts,
    old: Option<&DynamicEntity>,
    ring: impl FnOnce(Option<&str>) -> Option<String>,
) -> Result<Option<Operation>> {
    if let Some(old) = old
        && find(old, "EntityType").and_then(ValueRef::as_str) != Some(amounts.kind_name())
    {
        return Err(amounts.is_another());
    }
    if old.is_some_and(marks::is_signed) {
        return Err(sign::needs_its_struct());
    }
    let row = keys.row;
    let tag = old.and_then(DynamicEntity::etag).map(|etag| etag.to_string());
    if amounts.are_own() {
        let Some(old) = old else { return Err(Error::new(ErrorKind::EntityNotFound)) };
        let mut of_old = |name: &str| -> Result<Option<ValueRef<'_>>> { Ok(find(old, name)) };
        let sums = amounts.becomes_of_own(&mut of_old)?;
        let body = body(&entity(keys, sums.into_iter().map(|(name, sum)| (name.to_owned(), sum))))?;
        let ring = ring(rings::of(old));
        return Ok(Some(Operation::merge(row, tag, with_ring(body, ring.as_deref()))));
    }
    let becomes = if amounts.are_ids() { of_list(amounts, old)? } else { of_summary(amounts, old)? };
    Ok(match becomes {
        Becomes::Same => None,
        Becomes::Gone => tag.map(|tag| Operation::delete(row, tag)),
        Becomes::Row(properties) => {
            let body = body(&entity(keys, properties))?;
            Some(if tag.is_some() {
                Operation::replace(row, tag, body)
            } else {
                Operation::insert(row, body)
            })
        }
    })
}

/// What becomes of a row that many entities have in common.
enum Becomes {
    Same,
    Gone,
    Row(Vec<(String, Value)>),
}

fn of_list(amounts: &Amounts, old: Option<&DynamicEntity>) -> Result<Becomes> {
    let becomes = match old {
        None => amounts.becomes_of_list(None)?,
        Some(old) => {
            let mut of_old = |name: &str| -> Result<Option<ValueRef<'_>>> { Ok(find(old, name)) };
            amounts.becomes_of_list(Some(&mut of_old))?
        }
    };
    Ok(match becomes {
        ListBecomes::Same => Becomes::Same,
        ListBecomes::Gone => Becomes::Gone,
        // What is too long for a row lies in a blob elsewhere, which the service's tables have not.
        ListBecomes::Long(_) => return Err(amounts.no_room()),
        ListBecomes::Row(properties) => {
            Becomes::Row(properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        }
    })
}

fn of_summary(amounts: &Amounts, old: Option<&DynamicEntity>) -> Result<Becomes> {
    let becomes = match old {
        None => amounts.becomes(None)?,
        Some(old) => {
            let mut of_old =
                |name: &str| -> Result<Option<i64>> { Ok(find(old, name).and_then(ValueRef::as_i64)) };
            amounts.becomes(Some(&mut of_old))?
        }
    };
    Ok(becomes.map_or(Becomes::Gone, |properties| {
        Becomes::Row(
            properties.into_iter().map(|(name, value)| (name.to_owned(), value.to_value())).collect(),
        )
    }))
}

fn find<'e>(row: &'e DynamicEntity, name: &str) -> Option<ValueRef<'e>> {
    row.get(name).map(Value::as_value_ref)
}

fn entity(keys: Keys<'_>, properties: impl IntoIterator<Item = (String, Value)>) -> DynamicEntity {
    let row = DynamicEntity::new(keys.partition, keys.row);
    properties.into_iter().fold(row, |row, (name, value)| row.with(&name, value))
}
