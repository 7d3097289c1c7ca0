//! The service's rules for a plan that need no look at the store, for executors that have none of their own.

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::model::{self, names};
use crate::plan::{Content, Group, Plan, Refused, RowProperty, RowWrite};
use crate::row::key;

/// Refuses what no store may hold: keys, names and values that are none, too many of them, and one row twice.
pub fn check_rules(plan: &Plan<'_>) -> Result<(), Refused> {
    for (number, group) in plan.groups.iter().enumerate() {
        check_group(group, plan.is_wide).map_err(|(error, row)| Refused { error, group: number, row })?;
    }
    Ok(())
}

fn check_group(group: &Group<'_>, is_wide: bool) -> Result<(), (Error, Option<usize>)> {
    // A group may state an epoch for the others, and do nothing itself.
    let is_empty = group.is_empty() && group.epochs.first().is_none();
    if is_empty || (group.written() > limits::BATCH_OPERATIONS && !is_wide) {
        return Err((batch_length(group.written()), None));
    }
    let mut keys = BTreeSet::new();
    for (at, row) in group.rows.iter().enumerate() {
        check_row(group.partition, row).map_err(|error| (error, Some(at)))?;
        if !keys.insert(row.key) {
            return Err((Error::new(ErrorKind::DuplicateRow), Some(at)));
        }
    }
    for (at, addition) in (group.rows.len()..).zip(&group.additions) {
        key::check(group.partition, addition.key).map_err(|error| (error, Some(at)))?;
    }
    Ok(())
}

/// Returns the error of a batch of so many operations, which are none or too many.
#[cold]
pub fn batch_length(operations: usize) -> Error {
    let most = limits::BATCH_OPERATIONS;
    let because = format!("the batch has {operations} operations; it may have 1 to {most}");
    Error::new(ErrorKind::BatchLength).because(because)
}

/// Refuses the write of a row that no store may hold.
pub(crate) fn check_row(partition: &str, row: &RowWrite<'_>) -> Result<(), Error> {
    key::check(partition, row.key)?;
    let properties: Vec<_> = match row.act.content() {
        Some(Content::Properties(properties)) => properties.to_vec(),
        Some(Content::Row(content)) => content.properties().collect(),
        None => Vec::new(),
    };
    // The names of a declaration were examined when it was compiled; what it doesn't know comes behind them.
    let declared = match row.act.content() {
        Some(Content::Row(content)) => properties.len().saturating_sub(content.unknown.len()),
        _ => 0,
    };
    for (at, (name, value)) in properties.iter().enumerate() {
        if at >= declared {
            names::check_property(name)?;
        }
        value.check(name)?;
    }
    check_entity(partition, row.key, &properties)
}

/// Refuses an entity that has too many properties, or is too large: what a merge has made of a row, too.
pub fn check_entity(partition: &str, row: &str, properties: &[RowProperty<'_>]) -> Result<(), Error> {
    if properties.len() > limits::PROPERTIES {
        return Err(crate::row::row_write::too_many(properties.len()));
    }
    let values: usize = properties.iter().map(|(name, value)| model::property_size(name, value.size())).sum();
    let size = model::keys_size(partition, row) + values;
    if size > limits::ENTITY_BYTES { Err(model::too_large(size)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ValueRef;
    use crate::plan::{Act, Condition};

    #[test]
    fn what_no_store_may_hold_is_refused_with_its_row() {
        let long = "x".repeat(limits::STRING_UNITS + 1);
        let text = |text| [("Text", ValueRef::String(text))];
        let full = "x".repeat(limits::STRING_UNITS);
        let names: Vec<_> = (0..17).map(|number| format!("Text{number}")).collect();
        let too_much: Vec<_> = names.iter().map(|name| (name.as_str(), ValueRef::String(&full))).collect();
        let [good, large, system] = [text("a"), text(&long), [("RowKey", ValueRef::Int32(1))]];
        let put = |key, properties| RowWrite {
            key,
            condition: Condition::Any,
            act: Act::Put(Content::Properties(properties)),
            kind: None,
            of: 0,
        };
        for (second, expected) in [
            (put("b", &good), None),
            (put("a", &good), Some(ErrorKind::DuplicateRow)),
            (put("b/", &good), Some(ErrorKind::InvalidKey)),
            (put("b", &large), Some(ErrorKind::PropertyValueTooLarge)),
            (put("b", too_much.get(..15).unwrap()), None),
            (put("b", &too_much), Some(ErrorKind::EntityTooLarge)),
            (put("b", &system), Some(ErrorKind::PropertyNameInvalid)),
        ] {
            let rows = vec![put("a", &good), second];
            let group = Group::new("p", rows);
            let refused = check_rules(&Plan { groups: group.into(), ..Plan::default() }).err();
            let found = refused.map(|refused| (refused.error.kind(), refused.row));
            assert_eq!(found, expected.map(|kind| (kind, Some(1))));
        }
    }
}
