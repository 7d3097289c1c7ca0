//! The properties of two rows as those of one.

use std::cmp::Ordering;

use super::INLINE;
use super::view::RowView;
use crate::error::Result;
use crate::model::ValueRef;

/// A property with its number; one whose name stands in the row has [`INLINE`].
pub(crate) type Numbered<'v> = (u16, &'v str, ValueRef<'v>);

/// Returns where a property stands in the order of a row's: names tell apart those that have no number.
fn place<'v>(property: &Numbered<'v>) -> (u16, &'v str) {
    let (id, name, _) = property;
    (*id, if *id == INLINE { name } else { "" })
}

/// Returns the properties that a row has which is merged with another: those of both, and of what both have, the new one's. In
/// order.
pub fn merged<'v>(old: &'v RowView<'_>, new: &'v RowView<'_>) -> Result<Vec<Numbered<'v>>> {
    let old = old.numbered()?.collect::<Result<Vec<_>>>()?;
    let new = new.numbered()?.collect::<Result<Vec<_>>>()?;
    let mut merged = Vec::with_capacity(old.len() + new.len());
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(before), Some(after)) => place(before).cmp(&place(after)),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        match after.or(before) {
            Some(property) => merged.push(property),
            None => return Ok(merged),
        }
    }
}
