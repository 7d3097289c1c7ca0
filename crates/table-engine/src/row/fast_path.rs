//! The short way to the fields of a struct: where each is found is known of all rows of a path that have one shape.
//!
//! Whatever is unusual of a row takes the longer way, which knows more, and says what is wrong.

use super::SMALL;
use super::numbers::PropertyNumber;
use super::shape::{Place, Shape};
use super::shaped::{Ends, Fixed, Parts, ShapedRow};
use crate::model::{ValueRef, text};
use crate::schema::{ColumnType, Field, Place as RowPlace, PropertyValue};

/// Values that few row keys, or keys that were printed, give back more of.
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

impl Step {
    /// Returns where in the row the field lies, if it does.
    #[inline]
    fn in_row(self) -> Option<Place> {
        match self {
            Self::Column(place) => Some(place),
            Self::Key(_) | Self::Elsewhere => None,
        }
    }
}

/// Where each field of a struct is found in rows of one shape, and of one path if keys are said.
#[derive(Clone, Debug)]
pub(crate) struct FieldSteps {
    steps: Box<[Step]>,
    /// The first of them, for views.
    first: [Step; AT_HAND],
    /// How many values the keys give back.
    keys: usize,
}

impl FieldSteps {
    /// Returns the steps to fields of these numbers in rows of a shape, which lie in a place, or whose keys are not looked at.
    /// `None` where the keys give back too much for the short way.
    #[cold]
    pub(super) fn find(
        fields: &[Field],
        numbers: &[PropertyNumber],
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
        let steps: Box<[Step]> = numbers.iter().zip(fields).enumerate().map(step).collect();
        let mut first = [Step::Elsewhere; AT_HAND];
        for (place, step) in first.iter_mut().zip(&steps) {
            *place = *step;
        }
        Some(Self { steps, first, keys: given.len() })
    }

    /// Returns where one field lies in the row, if there is a short way to it.
    #[inline]
    pub(super) fn place(&self, field: usize) -> Option<Place> {
        self.steps.get(field)?.in_row()
    }

    /// Returns what one field holds, if it has a place, the row has it, and it is small.
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
    const NONE: Self = Self { fixed: Fixed::NONE, ends: &[], strings: "", heap: &[] };

    /// Opens a row; `None` where some value may be large, or the row is damaged.
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
        let end_of_text = shape.strings().checked_sub(1).map_or(0, end);
        let strings = text::of(heap.get(..end_of_text)?)?;
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

    /// Returns whether the row has a value in this place.
    #[inline]
    pub(super) fn has(&self, place: Place) -> bool {
        self.fixed.has(place)
    }

    /// Returns the text in this place, if the row has one there.
    #[inline]
    fn text(&self, place: Place) -> Option<&'v str> {
        let is_text = place.of == ColumnType::Text && self.has(place);
        if is_text { self.strings.get(self.span(place.at)) } else { None }
    }

    /// Returns the integer in this place, if the row has one there.
    #[inline]
    fn integer(&self, place: Place) -> Option<i64> {
        if self.has(place) { self.fixed.integer(place) } else { None }
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

/// Fields to which a view has the way at hand.
const AT_HAND: usize = 8;

/// The values of a row that is seen in place, and the way to those of the first fields.
///
/// A view outlives the reader that has the steps, so it has its own.
#[derive(Clone, Copy, Debug)]
pub struct SeenRow<'v> {
    columns: Columns<'v>,
    first: [Step; AT_HAND],
}

impl<'v> SeenRow<'v> {
    #[inline]
    pub(super) fn open(row: &ShapedRow<'v>, shape: &Shape, steps: &FieldSteps) -> Option<Self> {
        Some(Self { columns: Columns::open(row, shape)?, first: steps.first })
    }

    /// Returns the text that one of the first fields holds, if there is a short way to it.
    #[inline]
    pub fn text(&self, field: usize) -> Option<&'v str> {
        self.columns.text(self.first.get(field)?.in_row()?)
    }

    /// Returns the integer that one of the first fields holds, if there is a short way to it.
    #[inline(never)]
    pub fn integer(&self, field: usize) -> Option<i64> {
        self.columns.integer(self.first.get(field)?.in_row()?)
    }

    /// Returns what a field holds by these steps, or by those that `find` gives of one that is not among the first.
    #[inline]
    pub(super) fn near(&self, field: usize, find: impl FnOnce() -> Option<Place>) -> Near<'v> {
        let place = match self.first.get(field) {
            Some(step) => step.in_row(),
            None => find(),
        };
        match place {
            Some(place) if !self.columns.has(place) => Near::Absent,
            Some(place) => self.columns.get(place).map_or(Near::Elsewhere, Near::Found),
            None => Near::Elsewhere,
        }
    }
}

/// What a short way to a field leads to.
#[derive(Clone, Copy, Debug)]
pub enum Near<'a> {
    /// Its value.
    Found(ValueRef<'a>),
    /// The row has none.
    Absent,
    /// There is no short way to it, or it can't be read.
    Elsewhere,
}

/// A row of which fields are read by their steps. It has none until it is opened: it is large, and is made
/// where it stays.
#[derive(Clone, Copy, Debug)]
pub struct FastRow<'v> {
    steps: &'v [Step],
    columns: Columns<'v>,
    keys: FromKeys<'v>,
}

/// What the keys of a row give back.
#[derive(Clone, Copy, Debug)]
pub(super) struct FromKeys<'v> {
    /// First what was kept of the partition key,
    kept: &'v [PropertyValue<'static>],
    /// then these.
    values: [ValueRef<'v>; FEW],
    length: usize,
}

impl<'v> FromKeys<'v> {
    /// Begins with what is kept of the partition key.
    pub(super) fn keep(&mut self, kept: &'v [PropertyValue<'static>]) {
        self.kept = kept;
    }

    /// Adds a value. One that is not lent is more than a short way has.
    #[inline]
    pub(super) fn push(&mut self, value: &PropertyValue<'v>) {
        match (value, self.values.get_mut(self.length)) {
            (PropertyValue::Borrowed(value), Some(place)) => {
                *place = *value;
                self.length += 1;
            }
            _ => self.length = usize::from(u16::MAX),
        }
    }

    fn len(&self) -> usize {
        self.kept.len() + self.length
    }

    fn get(&self, at: u8) -> Option<ValueRef<'v>> {
        let at = usize::from(at);
        match self.kept.get(at) {
            Some(value) => value.as_value_ref(),
            None => self.values.get(at - self.kept.len()).copied(),
        }
    }
}

impl<'v> FastRow<'v> {
    /// No row.
    #[inline]
    pub(crate) fn none() -> Self {
        let keys = FromKeys { kept: &[], values: [ValueRef::Boolean(false); FEW], length: 0 };
        Self { steps: &[], columns: Columns::NONE, keys }
    }

    /// Returns the place for what the row's keys give back, which is put there before it is opened.
    #[inline]
    pub(super) fn keys(&mut self) -> &mut FromKeys<'v> {
        &mut self.keys
    }

    /// Opens a row whose keys have been taken. `None` where it takes the longer way: some value may be large, or it is
    /// damaged.
    #[inline]
    pub(super) fn open(&mut self, row: &ShapedRow<'v>, shape: &Shape, steps: &'v FieldSteps) -> Option<()> {
        if self.keys.len() != steps.keys {
            return None;
        }
        self.columns = Columns::open(row, shape)?;
        self.steps = &steps.steps;
        Some(())
    }

    /// Returns whether the field has a place, and the row nothing there.
    pub(crate) fn lacks(&self, field: usize) -> bool {
        let place = self.steps.get(field).copied().and_then(Step::in_row);
        place.is_some_and(|place| !self.columns.has(place))
    }

    /// Returns whether the field has a place, and the row a value there.
    pub(crate) fn has(&self, field: usize) -> bool {
        let place = self.steps.get(field).copied().and_then(Step::in_row);
        place.is_some_and(|place| self.columns.has(place))
    }

    /// Returns what the keys give back of the field.
    pub(crate) fn of_keys(&self, field: usize) -> Option<ValueRef<'v>> {
        match self.steps.get(field)? {
            Step::Key(at) => self.keys.get(*at),
            Step::Column(_) | Step::Elsewhere => None,
        }
    }

    /// The text that the field holds, if there is a short way to it.
    // Once for all entities, and not inlined: of each text of each row there is then nothing but a call where it is read.
    // A box comes in registers. A `String` would come through memory, and who takes it from there has to wait.
    #[inline(never)]
    pub fn owned_text(&self, field: usize) -> Option<Box<str>> {
        let text = match *self.steps.get(field)? {
            Step::Column(place) => self.columns.text(place)?,
            Step::Key(at) => match self.keys.get(at)? {
                ValueRef::String(text) => text,
                _ => return None,
            },
            Step::Elsewhere => return None,
        };
        Some(text.into())
    }

    /// Returns the integer that the field holds, if there is a short way to it.
    #[inline(never)]
    pub fn integer(&self, field: usize) -> Option<i64> {
        match *self.steps.get(field)? {
            Step::Column(place) => self.columns.integer(place),
            Step::Key(at) => self.keys.get(at)?.as_i64(),
            Step::Elsewhere => None,
        }
    }

    /// What the field holds, if there is a short way to it and the row has it.
    #[expect(
        clippy::inline_always,
        reason = "for each field of each row, a call costs as much as what it does"
    )]
    #[inline(always)]
    pub fn get(&self, field: usize) -> Option<ValueRef<'v>> {
        match self.steps.get(field)? {
            Step::Column(place) => self.columns.get(*place),
            Step::Key(at) => self.keys.get(*at),
            Step::Elsewhere => None,
        }
    }
}
