//! The fields of a declaration in a row: by a short way where its rows of one shape have one, else by numbers and names.

use std::cell::Cell;

use super::{KnownKeys, RowView};
use crate::error::Result;
use crate::model::ValueRef;
use crate::row::Body;
use crate::row::fast_path::{FastRow, FromKeys, Near, SeenRow};
use crate::row::numbers::PropertyNumber;
use crate::schema::{self, Field, Place, PropertyValue};

impl<'a> RowView<'a> {
    /// Returns the row that holds what this part of the entity does: the row itself, unless it is the head of a wide one.
    pub(crate) fn of_part(&self, part: usize) -> Option<&RowView<'a>> {
        match (part.checked_sub(1), &self.known) {
            (Some(part), KnownKeys::Parts(parts)) => parts.get(part)?.as_ref(),
            _ => Some(self),
        }
    }

    /// Returns the row that holds a field.
    #[inline]
    pub(crate) fn row_of(&self, field: Option<&Field>) -> Option<&RowView<'a>> {
        match field {
            Some(field) if field.part > 0 => self.of_part(field.part),
            _ => Some(self),
        }
    }

    /// Returns the value of a field's property.
    #[doc(hidden)]
    pub fn get_field(&self, fields: &'static [Field], field: usize) -> Result<Option<ValueRef<'_>>> {
        let of = fields.get(field);
        self.row_of(of).map_or(Ok(None), |holder| holder.get_own_field(fields, field))
    }

    fn get_own_field(&self, fields: &'static [Field], field: usize) -> Result<Option<ValueRef<'_>>> {
        let found = match self.numbers(fields).get(field) {
            Some(PropertyNumber { id: Some(id), place, .. }) => self.packed().find(*id, *place),
            Some(PropertyNumber { id: None, .. }) => self.get_unnumbered(fields, field),
            None => Ok(None),
        }?;
        if found.is_some() { Ok(found) } else { self.get_renamed(fields, field) }
    }

    /// Returns the field by the name that its property had before.
    pub(crate) fn get_renamed(&self, fields: &'static [Field], field: usize) -> Result<Option<ValueRef<'_>>> {
        fields.get(field).and_then(|field| field.was).map_or(Ok(None), |was| self.get(was))
    }

    /// The value of a property that stands where it mostly does, is small, and is not sealed.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn get_near(&self, fields: &'static [Field], field: usize) -> Option<ValueRef<'_>> {
        if let KnownKeys::Parts(_) = self.known {
            return None;
        }
        if let Body::Shaped(shaped) = self.row.body() {
            return self.dict.quick_field(shaped, fields, field);
        }
        let number = self.numbers(fields).get(field)?;
        self.small_at(number.place, number.unsealed?)
    }

    /// Returns the row as these fields are seen in it, if it has a shape and none of its values is large.
    #[doc(hidden)]
    #[inline]
    pub fn seen(&self, fields: &'static [Field]) -> Option<SeenRow<'a>> {
        if let KnownKeys::Parts(_) = self.known {
            return None;
        }
        let Body::Shaped(shaped) = self.row.body() else { return None };
        let (shape, steps) = self.dict.steps(shaped, fields, None)?;
        SeenRow::open(shaped, shape, steps)
    }

    /// Returns the field as the row is seen.
    #[doc(hidden)]
    #[inline]
    pub fn get_in(&self, seen: &SeenRow<'a>, fields: &'static [Field], field: usize) -> Near<'a> {
        seen.near(field, || {
            let Body::Shaped(shaped) = self.row.body() else { return None };
            self.dict.steps(shaped, fields, None)?.1.place(field)
        })
    }

    /// Opens the row as these fields are read from it by the short way, without its keys or with what those of its place give
    /// back; `None` where it takes the longer way.
    #[expect(clippy::inline_always, reason = "what it makes is better not moved")]
    #[inline(always)]
    pub(crate) fn open<'v>(
        &'v self,
        fields: &'static [Field],
        place: Option<&'static Place>,
        quick: &mut FastRow<'v>,
    ) -> Option<()> {
        if let KnownKeys::Parts(_) = self.known {
            return None;
        }
        let Body::Shaped(shaped) = self.row.body() else { return None };
        let (shape, steps) = self.dict.steps(shaped, fields, place)?;
        if let Some(place) = place {
            self.take_keys(place, quick.keys())?;
        }
        quick.open(shaped, shape, steps)
    }

    /// Returns the row as these fields are read from it by the short way; `None` where it takes the longer way.
    #[doc(hidden)]
    #[cfg(feature = "fuzzing")]
    pub fn quick(&self, fields: &'static [Field], place: Option<&'static Place>) -> Option<FastRow<'_>> {
        let mut quick = FastRow::none();
        self.open(fields, place, &mut quick)?;
        Some(quick)
    }

    /// Returns the short way to the fields of a row of its own, without its keys, though it may be one of several.
    pub(crate) fn own_quick(&self, fields: &'static [Field]) -> Option<FastRow<'_>> {
        let Body::Shaped(shaped) = self.row.body() else { return None };
        let (shape, steps) = self.dict.steps(shaped, fields, None)?;
        let mut quick = FastRow::none();
        quick.open(shaped, shape, steps)?;
        Some(quick)
    }

    /// Takes what the keys give back, which stand as they are and fit their templates.
    #[inline]
    fn take_keys<'v>(&'v self, place: &'static Place, keys: &mut FromKeys<'v>) -> Option<()> {
        let KnownKeys::Partition(partition) = self.known else { return self.take_both_keys(place, keys) };
        let known = match partition.parsed_head(place, &self.key) {
            None => partition.parsed(&place.partition, &self.key).map(|(fields, row)| (fields, 0, row)),
            found => found,
        };
        let Some((fields, parts, rest)) = known else { return self.take_both_keys(place, keys) };
        keys.keep(&fields.values);
        schema::parse_rest(&place.row, parts, rest, |_, value| keys.push(&value)).then_some(())
    }

    #[inline(never)]
    fn take_both_keys<'v>(&'v self, place: &'static Place, keys: &mut FromKeys<'v>) -> Option<()> {
        let mut take = |_, value: PropertyValue<'v>| keys.push(&value);
        let fit = if let KnownKeys::Texts(partition, row_key) = self.known {
            schema::parse(&place.partition, partition, &mut take)
                && schema::parse(&place.row, row_key, &mut take)
        } else {
            let (partition, row_key) = self.plain_keys()?;
            schema::parse_bytes(&place.partition, partition, &mut take)
                && schema::parse_bytes(&place.row, row_key, &mut take)
        };
        fit.then_some(())
    }

    /// Returns the numbers of the fields' properties.
    #[inline]
    pub(crate) fn numbers(&self, fields: &'static [Field]) -> &[PropertyNumber] {
        self.dict.numbers_of(fields)
    }

    /// What the property at this place holds, if it has this number and is small.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn small_at(&self, place: usize, id: u16) -> Option<ValueRef<'_>> {
        match self.row.body() {
            Body::Slots(slots) => slots.small_at(place, id),
            Body::Shaped(_) => None,
        }
    }

    /// Returns the value of the property of this number; the place after it becomes the next one's.
    // Slow reads call it for each field, from another unit of the crate.
    #[inline]
    pub(crate) fn seek(&self, id: u16, place: &Cell<usize>) -> Result<Option<ValueRef<'_>>> {
        let Body::Slots(slots) = self.row.body() else { return self.get_by_id(id) };
        let Some(at) = slots.position(id) else { return Ok(None) };
        place.set(at + 1);
        self.packed().find(id, at)
    }

    /// Returns the value of a field whose property has no number: then its name may stand in the row.
    pub(crate) fn get_unnumbered(
        &self,
        fields: &'static [Field],
        field: usize,
    ) -> Result<Option<ValueRef<'_>>> {
        if !self.dict.names_full() {
            return Ok(None);
        }
        fields.get(field).map_or(Ok(None), |field| self.get(field.property))
    }
}
