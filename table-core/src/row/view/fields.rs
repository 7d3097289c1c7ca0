//! The fields of a declaration in a row: by a short way where its rows of one shape have one, else by numbers and names.

use std::cell::Cell;

use super::{KnownKeys, RowView};
use crate::error::Result;
use crate::model::ValueRef;
use crate::row::Body;
use crate::row::numbers::PropertyNumber;
use crate::row::quick::{Columns, FromKeys, QuickRow};
use crate::schema::{self, Field, Place};

/// What a short way to a field leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Near<'a> {
    /// Its value.
    Found(ValueRef<'a>),
    /// The row has none.
    Absent,
    /// There is no short way to it, or it can't be read.
    Elsewhere,
}

impl<'a> RowView<'a> {
    /// The row that holds what this part of the entity does: the row itself, unless it is the head of a wide one.
    fn of_part(&self, part: usize) -> Option<&RowView<'a>> {
        match (part.checked_sub(1), &self.known) {
            (Some(part), KnownKeys::Parts(parts)) => parts.get(part)?.as_ref(),
            _ => Some(self),
        }
    }

    /// The row that holds a field.
    #[inline]
    pub(crate) fn holder(&self, field: Option<&Field>) -> Option<&RowView<'a>> {
        match field {
            Some(field) if field.part > 0 => self.of_part(field.part),
            _ => Some(self),
        }
    }

    /// The value of a field's property.
    pub(crate) fn get_field(&self, fields: &'static [Field], field: usize) -> Result<Option<ValueRef<'_>>> {
        let of = fields.get(field);
        self.holder(of).map_or(Ok(None), |holder| holder.get_own_field(fields, field))
    }

    fn get_own_field(&self, fields: &'static [Field], field: usize) -> Result<Option<ValueRef<'_>>> {
        let found = match self.numbers(fields).get(field) {
            Some(PropertyNumber { id: Some(id), place, .. }) => self.packed().find(*id, *place),
            Some(PropertyNumber { id: None, .. }) => self.get_unnumbered(fields, field),
            None => Ok(None),
        }?;
        if found.is_some() { Ok(found) } else { self.get_renamed(fields, field) }
    }

    /// The field by the name that its property had before.
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

    /// The values of the row, if it has a shape and none of them is large.
    #[inline]
    pub(crate) fn columns(&self) -> Option<Columns<'a>> {
        if let KnownKeys::Parts(_) = self.known {
            return None;
        }
        let Body::Shaped(shaped) = self.row.body() else { return None };
        Columns::open(shaped, self.dict.shape(shaped.shape())?)
    }

    /// The field as these columns of the row have it.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn get_in(&self, columns: &Columns<'a>, fields: &'static [Field], field: usize) -> Near<'a> {
        let Body::Shaped(shaped) = self.row.body() else { return Near::Elsewhere };
        let steps = self.dict.steps(shaped, fields, None);
        match steps.and_then(|(_, steps)| steps.place(field)) {
            Some(place) if !columns.has(place) => Near::Absent,
            Some(place) => columns.get(place).map_or(Near::Elsewhere, Near::Found),
            None => Near::Elsewhere,
        }
    }

    /// The row as these fields are read from it by the short way, without its keys or with what those of its place give
    /// back; `None` where it takes the longer way.
    #[inline]
    pub(crate) fn quick(
        &self,
        fields: &'static [Field],
        place: Option<&'static Place>,
    ) -> Option<QuickRow<'_>> {
        if let KnownKeys::Parts(_) = self.known {
            return None;
        }
        self.own_quick(fields, place)
    }

    /// The same of a row of its own, though it may be one of several.
    #[inline]
    pub(crate) fn own_quick(
        &self,
        fields: &'static [Field],
        place: Option<&'static Place>,
    ) -> Option<QuickRow<'_>> {
        let Body::Shaped(shaped) = self.row.body() else { return None };
        let (shape, steps) = self.dict.steps(shaped, fields, place)?;
        let mut keys = FromKeys::default();
        if let Some(place) = place {
            self.take_keys(place, &mut keys)?;
        }
        QuickRow::new(shaped, shape, steps, keys)
    }

    /// Takes what the keys give back, which stand as they are and fit their templates.
    #[inline]
    fn take_keys<'v>(&'v self, place: &'static Place, keys: &mut FromKeys<'v>) -> Option<()> {
        let row_key = if let Some((fields, row_key)) = self.known_partition(&place.partition) {
            for (_, value) in fields {
                keys.push_kept(value);
            }
            row_key
        } else if let KnownKeys::Texts(partition, row_key) = self.known {
            return (schema::parse(&place.partition, partition, |_, value| keys.push(&value))
                && schema::parse(&place.row, row_key, |_, value| keys.push(&value)))
            .then_some(());
        } else {
            let (partition, row_key) = self.plain_keys()?;
            let fits = schema::parse_bytes(&place.partition, partition, |_, value| keys.push(&value));
            if !fits {
                return None;
            }
            row_key
        };
        schema::parse_bytes(&place.row, row_key, |_, value| keys.push(&value)).then_some(())
    }

    /// The numbers of the fields' properties.
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

    /// The value of the property of this number; the place after it becomes the next one's.
    pub(crate) fn seek(&self, id: u16, place: &Cell<usize>) -> Result<Option<ValueRef<'_>>> {
        let Body::Slots(slots) = self.row.body() else { return self.get_by_id(id) };
        let Some(at) = slots.position(id) else { return Ok(None) };
        place.set(at + 1);
        self.packed().find(id, at)
    }

    /// The value of a field whose property has no number: then its name may stand in the row.
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
