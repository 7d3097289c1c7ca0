//! What becomes of a row that is read before it is written: properties merged into it, and amounts added.

use std::collections::BTreeMap;

use table_engine::__executor::{self as executor, Amounts, ListBecomes};
use table_engine::model::names::ENTITY_TYPE;
use table_engine::sealing::sign;
use table_engine::{ErrorKind, Result, Value, ValueRef};

use crate::body::Body;
use crate::statement::Becomes;
use crate::work::RowVersion;

/// A row that is there, and locked.
pub(crate) struct OldRow {
    pub(crate) version: RowVersion,
    pub(crate) properties: Vec<(String, Value)>,
    pub(crate) is_signed: bool,
}

impl OldRow {
    fn get(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|(of, _)| of == name).map(|(_, value)| value)
    }

    /// Returns what the row calls itself.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.get(ENTITY_TYPE)?.as_str()
    }

    fn all(&self) -> BTreeMap<&str, ValueRef<'_>> {
        self.properties.iter().map(|(name, value)| (&**name, value.as_value_ref())).collect()
    }
}

/// Refuses to change a row that its struct alone can sign.
fn check_unsigned(old: Option<&OldRow>) -> Result<()> {
    if old.is_some_and(|old| old.is_signed) { Err(sign::needs_its_struct()) } else { Ok(()) }
}

/// Returns what a row becomes that takes over these properties.
pub(crate) fn merged(
    partition: &str,
    row: &str,
    old: Option<&OldRow>,
    properties: &[(String, Value)],
) -> Result<Becomes> {
    check_unsigned(old)?;
    let mut all = old.map(OldRow::all).unwrap_or_default();
    all.extend(properties.iter().map(|(name, value)| (&**name, value.as_value_ref())));
    let all: Vec<_> = all.into_iter().collect();
    executor::check_entity(partition, row, &all)?;
    Ok(Becomes::Written(Body::of(all.into_iter())))
}

/// Returns what a row becomes that these amounts are added to.
pub(crate) fn added(amounts: &Amounts, old: Option<&OldRow>) -> Result<Becomes> {
    if old.is_some_and(|old| old.kind() != Some(amounts.kind_name())) {
        return Err(amounts.is_another());
    }
    check_unsigned(old)?;
    if amounts.are_own() {
        let Some(old) = old else { return Err(executor::error(ErrorKind::EntityNotFound, "")) };
        let sums = amounts.becomes_of_own(&mut |name| Ok(old.get(name).map(Value::as_value_ref)))?;
        let mut all = old.all();
        all.extend(sums.iter().map(|(name, sum)| (*name, sum.as_value_ref())));
        return Ok(Becomes::Written(Body::of(all.into_iter())));
    }
    let gone = if old.is_some() { Becomes::Gone } else { Becomes::Kept };
    if amounts.are_ids() {
        let becomes = match old {
            None => amounts.becomes_of_list(None)?,
            Some(old) => {
                amounts.becomes_of_list(Some(&mut |name| Ok(old.get(name).map(Value::as_value_ref))))?
            }
        };
        return match becomes {
            ListBecomes::Same => Ok(Becomes::Kept),
            ListBecomes::Gone => Ok(gone),
            ListBecomes::Long(_) => Err(amounts.no_room()),
            ListBecomes::Row(all) => {
                let all = all.iter().map(|(name, value)| (*name, value.as_value_ref()));
                Ok(Becomes::Written(Body::of(all)))
            }
        };
    }
    let becomes = match old {
        None => amounts.becomes(None)?,
        Some(old) => amounts.becomes(Some(&mut |name| Ok(old.get(name).and_then(Value::as_i64))))?,
    };
    Ok(becomes.map_or(gone, |all| Becomes::Written(Body::of(all.into_iter()))))
}
