//! What becomes of a row that is read before it is written: properties merged into it, and amounts added.

use std::collections::BTreeMap;

use table_engine::__executor::{self as executor, Amounts, ListBecomes};
#[cfg(feature = "blob")]
use table_engine::contents::BlobId;
use table_engine::model::names::ENTITY_TYPE;
use table_engine::plan::with_blob;
#[cfg(feature = "blob")]
use table_engine::plan::{blob_of, row_of_blob};
use table_engine::sealing::sign;
use table_engine::{ErrorKind, Result, Value, ValueRef};

#[cfg(feature = "blob")]
use crate::blobs::ListText;
use crate::body::Body;
use crate::demand::RowVersion;
use crate::op::Becomes;

/// A row that is there, and locked.
pub(crate) struct OldRow {
    pub(crate) version: RowVersion,
    pub(crate) properties: Vec<(String, Value)>,
    pub(crate) is_signed: bool,
    /// The text of a list whose row has no room for it.
    pub(crate) list: Option<Vec<u8>>,
}

impl OldRow {
    fn get(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|(of, _)| of == name).map(|(_, value)| value)
    }

    /// Returns what the row calls itself.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.get(ENTITY_TYPE)?.as_str()
    }

    /// Returns what a list's row says of a property.
    fn listed(&self, name: &str) -> Result<Option<ValueRef<'_>>> {
        with_blob(self.list.as_deref(), name, || Ok(self.get(name).map(Value::as_value_ref)))
    }

    /// Returns the blob in which the text of a list lies, and how long that is, if the row has no room for it.
    #[cfg(feature = "blob")]
    pub(crate) fn list_blob(&self) -> Result<Option<(BlobId, usize)>> {
        blob_of(&mut |name| Ok(self.get(name).map(Value::as_value_ref)))
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
#[cfg_attr(not(feature = "blob"), expect(unused_variables, reason = "blobs are made in the store"))]
pub(crate) fn added(amounts: &Amounts, old: Option<&OldRow>, store: &[u8; 16]) -> Result<Becomes> {
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
            Some(old) => amounts.becomes_of_list(Some(&mut |name| old.listed(name)))?,
        };
        return match becomes {
            ListBecomes::Same => Ok(Becomes::Kept),
            ListBecomes::Gone => Ok(gone),
            #[cfg(feature = "blob")]
            ListBecomes::Long(text) => Ok(long(amounts, text, store)),
            #[cfg(not(feature = "blob"))]
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

/// Returns the row of a list that has no room for its text: that comes into a new blob, since readers may have the former.
#[cfg(feature = "blob")]
fn long(amounts: &Amounts, text: String, store: &[u8; 16]) -> Becomes {
    let id = BlobId::new(store);
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let row = row_of_blob(amounts.kind_name(), id, length);
    let mut body = Body::of(row.iter().map(|(name, value)| (*name, value.as_value_ref())));
    body.list = Some(ListText { id, text });
    Becomes::Written(body)
}
