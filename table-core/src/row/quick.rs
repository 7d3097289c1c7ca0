//! The short way to the fields of a struct: where each is found is known of all rows of a path that have one shape.
//!
//! Whatever is unusual of a row takes the longer way, which knows more, and says what is wrong.

use super::SMALL;
use super::numbers::PropertyNumber;
use super::shape::{Place, Shape};
use super::shaped::{Ends, Fixed, Parts, ShapedRow};
use crate::model::ValueRef;
use crate::schema::{ColumnType, Field, Place as RowPlace, PropertyValue};

/// Values that few keys give back more of.
const FEW: usize = 4;

/// Where one field is found.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// In the row.
    Column(Place),
    /// Among what the row's keys give back.
    Key(u8),
    /// By the longer way.
    Elsewhere,
}

/// Where each field of a struct is found in rows of one shape, and of one path if keys are said.
#[derive(Clone, Debug)]
pub(crate) struct FieldSteps {
    steps: Box<[Step]>,
    /// How many values the keys give back.
    keys: usize,
}

impl FieldSteps {
    /// The steps to fields of these numbers in rows of a shape, which lie in a place, or whose keys are not looked at. `None`
    /// where the keys give back too much for the short way.
    #[cold]
    pub(super) fn find(
        (fields, numbers): (&[Field], &[PropertyNumber]),
        shape: &Shape,
        place: Option<&RowPlace>,
    ) -> Option<Self> {
        let given: Vec<_> = place.map_or_else(Vec::new, |place| place.given_back().collect());
        if given.len() > FEW {
            return None;
        }
        let step = |(at, (number, field)): (usize, (&PropertyNumber, &Field))| {
            // Of two values of one field, which keys that don't fit together give, the first counts.
            if let Some(key) = given.iter().position(|given| *given == at) {
                return u8::try_from(key).map_or(Step::Elsewhere, Step::Key);
            }
            // A row that is older has the name that the property had then.
            let find = |id: Option<u16>| shape.find(id?);
            match find(number.id).or_else(|| find(number.was)) {
                // What is sealed, or has to be, takes the longer way.
                Some((_, place)) if !field.encrypted => Step::Column(*place),
                _ => Step::Elsewhere,
            }
        };
        Some(Self { steps: numbers.iter().zip(fields).enumerate().map(step).collect(), keys: given.len() })
    }

    /// Where one field lies in the row, if there is a short way to it.
    #[inline]
    pub(super) fn place(&self, field: usize) -> Option<Place> {
        match self.steps.get(field)? {
            Step::Column(place) => Some(*place),
            Step::Key(_) | Step::Elsewhere => None,
        }
    }

    /// What one field holds, if it has a place, the row has it, and it is small.
    #[inline]
    pub(super) fn get<'v>(&self, row: &ShapedRow<'v>, shape: &Shape, field: usize) -> Option<ValueRef<'v>> {
        let place = self.place(field)?;
        let parts = row.open(shape).ok()?;
        if parts.ends.is_wide {
            return None;
        }
        parts.value(place, || None).ok()?
    }
}

/// What the keys of a row give back, one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct FromKeys<'v> {
    values: [ValueRef<'v>; FEW],
    length: usize,
}

impl Default for FromKeys<'_> {
    #[inline]
    fn default() -> Self {
        Self { values: [ValueRef::Boolean(false); FEW], length: 0 }
    }
}

impl<'v> FromKeys<'v> {
    /// Adds a value. One that is not lent is more than a short way has.
    #[inline]
    pub(super) fn push(&mut self, value: &PropertyValue<'v>) {
        match (value, self.values.get_mut(self.length)) {
            (PropertyValue::Borrowed(value), Some(place)) => {
                *place = *value;
                self.length += 1;
            }
            _ => self.length = FEW + 1,
        }
    }

    /// The same of a value that somebody else keeps.
    #[inline]
    pub(super) fn push_kept(&mut self, value: &'v PropertyValue<'_>) {
        match value.as_value_ref() {
            Some(value) => self.push(&PropertyValue::Borrowed(value)),
            None => self.length = FEW + 1,
        }
    }
}

/// The values of a row of which none is large.
///
/// All strings are looked at together: that they are text is found out once for each row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'v> {
    fixed: Fixed<'v>,
    /// Ends of one byte: no value is large.
    ends: &'v [u8],
    strings: &'v str,
    heap: &'v [u8],
}

impl<'v> Columns<'v> {
    /// `None` where some value may be large, or the row is damaged.
    #[expect(clippy::inline_always, reason = "what it makes is better not moved")]
    #[inline(always)]
    pub(super) fn open(row: &ShapedRow<'v>, shape: &Shape) -> Option<Self> {
        if !row.is_narrow() {
            return None;
        }
        let Parts { fixed, ends: Ends { said: ends, heap, .. } } = row.open(shape).ok()?;
        let end = |n: usize| ends.get(n).map_or(heap.len(), |end| usize::from(*end));
        // Only the last value could be large; by who writes such a row it is not.
        let last = ends.last().map_or(0, |end| usize::from(*end));
        if heap.len() > last + SMALL {
            return None;
        }
        let text = shape.strings().checked_sub(1).map_or(0, end);
        let strings = std::str::from_utf8(heap.get(..text)?).ok()?;
        Some(Self { fixed, ends, strings, heap })
    }

    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    fn span(&self, n: u16) -> std::ops::Range<usize> {
        let n = usize::from(n);
        let start = match n.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before).map_or(usize::MAX, |end| usize::from(*end)),
        };
        start..self.ends.get(n).map_or(self.heap.len(), |end| usize::from(*end))
    }

    /// Whether the row has a value in this place.
    #[inline]
    pub(super) fn has(&self, place: Place) -> bool {
        self.fixed.has(place)
    }

    /// The value in this place, if the row has it.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub(super) fn get(&self, place: Place) -> Option<ValueRef<'v>> {
        if !self.fixed.has(place) {
            return None;
        }
        match place.of {
            ColumnType::Text => self.strings.get(self.span(place.at)).map(ValueRef::String),
            ColumnType::Bytes => self.heap.get(self.span(place.at)).map(ValueRef::Binary),
            _ => self.fixed.get(place),
        }
    }
}

/// A row of which fields are read by their steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuickRow<'v> {
    steps: &'v [Step],
    columns: Columns<'v>,
    keys: [ValueRef<'v>; FEW],
}

impl<'v> QuickRow<'v> {
    /// `None` where the row takes the longer way: some value may be large, or it is damaged.
    #[inline]
    pub(super) fn new(
        row: &ShapedRow<'v>,
        shape: &Shape,
        steps: &'v FieldSteps,
        keys: FromKeys<'v>,
    ) -> Option<Self> {
        let columns = Columns::open(row, shape)?;
        (keys.length == steps.keys).then_some(Self { steps: &steps.steps, columns, keys: keys.values })
    }

    /// Whether the field has a place, and the row nothing there.
    pub(crate) fn lacks(&self, field: usize) -> bool {
        matches!(self.steps.get(field), Some(Step::Column(place)) if !self.columns.has(*place))
    }

    /// What the keys give back of the field.
    pub(crate) fn of_keys(&self, field: usize) -> Option<ValueRef<'v>> {
        match self.steps.get(field)? {
            Step::Key(at) => self.keys.get(usize::from(*at)).copied(),
            Step::Column(_) | Step::Elsewhere => None,
        }
    }

    /// What the field holds, if there is a short way to it and the row has it.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub(crate) fn get(&self, field: usize) -> Option<ValueRef<'v>> {
        match self.steps.get(field)? {
            Step::Column(place) => self.columns.get(*place),
            Step::Key(at) => self.keys.get(usize::from(*at)).copied(),
            Step::Elsewhere => None,
        }
    }
}
