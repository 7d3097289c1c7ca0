//! Shapes: what the rows of one kind have in common, said once for all of them.
//!
//! A shape has the kind's text and the columns, each of which is a property of one type. Shapes are numbered by the table's
//! dictionary, never change, and keep their numbers; a declaration that changes brings another.
//!
//! A row is verified without the dictionary, since the neighbour that proves an absence may be another table's. So a row with
//! large values says itself how long its fixed part is and how many values its heap has: three bytes in rows of more than 255.

use crate::row::Damaged;
use crate::schema::ColumnType;
use crate::{limits, sorting};

/// Most shapes that a table numbers; other rows have slots.
pub const MAX_SHAPES: usize = 1_000;
/// Set on the type of a column that a row may lack.
const OPTIONAL: u8 = 0x80;

pub(super) const UNKNOWN: Damaged = Damaged("the row has a shape that the dictionary lacks");

/// A property that rows of a shape have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The property's number.
    pub id: u16,
    pub of: ColumnType,
    /// Whether a row may lack it.
    pub optional: bool,
}

/// Where the values of a column lie in rows of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) of: ColumnType,
    /// The bit that says whether a row has it; [`Place::ALWAYS`] where each has.
    pub(crate) bit: u16,
    /// The offset behind the header, if the value has a fixed width; otherwise the value's number among those in the heap.
    pub(crate) at: u16,
}

impl Place {
    pub(crate) const ALWAYS: u16 = u16::MAX;

    /// Returns whether a row may lack it.
    #[inline]
    pub(super) fn is_optional(self) -> bool {
        self.bit != Self::ALWAYS
    }
}

/// What rows of a kind have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of the kind's text.
    symbol: u16,
    /// Returns the columns in the order of their numbers.
    columns: Box<[Column]>,
    /// Of the columns, in the same order.
    places: Box<[Place]>,
    /// The columns by where they lie in a row: those of fixed width, strings, binaries.
    stored: Box<[(u16, Place)]>,
    /// Bytes of presence bits and of fixed values.
    presence: u16,
    fixed: u16,
    /// How many strings a heap has, and how many values altogether.
    strings: u16,
    values: u16,
    /// Returns the place of the column before which the kind comes, in the order of their numbers.
    kind_at: u16,
}

impl Shape {
    /// Returns the shape of these columns, which rise; `entity_type` is the number of the property that is the kind. `None` if
    /// no row could have it.
    pub fn new(symbol: u16, columns: Vec<Column>, entity_type: u16) -> Option<Self> {
        let rises = columns.iter().zip(columns.iter().skip(1)).all(|(a, b)| a.id < b.id);
        // The kind is a property too.
        if !rises
            || columns.len() >= limits::PROPERTIES
            || columns.iter().any(|column| column.id == entity_type)
        {
            return None;
        }
        let optional = columns.iter().filter(|column| column.optional).count();
        let presence = u16::try_from(optional.div_ceil(8)).ok()?;
        let strings =
            u16::try_from(columns.iter().filter(|column| column.of == ColumnType::Text).count()).ok()?;
        let (mut bit, mut at, mut text, mut binary) = (0, presence, 0, strings);
        let mut places = Vec::with_capacity(columns.len());
        for column in &columns {
            let (next, width) = match (column.of, column.of.width()) {
                (_, Some(width)) => (&mut at, width),
                (ColumnType::Text, None) => (&mut text, 1),
                (_, None) => (&mut binary, 1),
            };
            let here = if column.optional { bit } else { Place::ALWAYS };
            places.push(Place { of: column.of, bit: here, at: *next });
            *next = next.checked_add(width)?;
            bit += u16::from(column.optional);
        }
        let mut stored: Vec<(u16, Place)> = (0..).zip(places.iter().copied()).collect();
        sorting::sort_by_key(&mut stored, |(_, place)| (place.of.width().is_none(), place.at));
        let kind_at = columns.iter().take_while(|column| column.id < entity_type).count();
        Some(Self {
            symbol,
            places: places.into(),
            stored: stored.into(),
            presence,
            fixed: at,
            strings,
            values: binary,
            kind_at: u16::try_from(kind_at).ok()?,
            columns: columns.into(),
        })
    }

    /// Returns the number of the kind's text.
    #[inline]
    pub(crate) fn symbol(&self) -> u16 {
        self.symbol
    }

    /// Returns the columns in the order of their numbers.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns where each column lies.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Returns the column of this number.
    pub(crate) fn find(&self, id: u16) -> Option<(&Column, &Place)> {
        let at = self.columns.binary_search_by_key(&id, |column| column.id).ok()?;
        self.columns.get(at).zip(self.places.get(at))
    }

    /// Columns by where they lie in a row, each with its place among all.
    #[inline]
    pub(super) fn stored(&self) -> impl Iterator<Item = (usize, Place)> {
        self.stored.iter().map(|(at, place)| (usize::from(*at), *place))
    }

    /// Bytes of presence bits.
    pub(super) fn presence(&self) -> usize {
        usize::from(self.presence)
    }

    /// Bytes of presence bits and fixed values.
    #[inline]
    pub(super) fn fixed(&self) -> usize {
        usize::from(self.fixed)
    }

    /// Returns how many strings a heap has.
    #[inline]
    pub(super) fn strings(&self) -> usize {
        usize::from(self.strings)
    }

    /// Returns how many values a heap has.
    #[inline]
    pub(super) fn values(&self) -> usize {
        usize::from(self.values)
    }

    /// Returns the place of the column before which the kind comes, in the order of their numbers.
    pub(crate) fn kind_at(&self) -> usize {
        usize::from(self.kind_at)
    }

    /// Returns whether this is the shape of these columns.
    pub(crate) fn is(&self, symbol: u16, columns: &[Column]) -> bool {
        self.symbol == symbol && *self.columns == *columns
    }

    /// Returns the body of its record in the dictionary.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(4 + 3 * self.columns.len());
        body.extend_from_slice(&self.symbol.to_le_bytes());
        body.extend_from_slice(&u16::try_from(self.columns.len()).unwrap_or(u16::MAX).to_le_bytes());
        for column in &self.columns {
            body.extend_from_slice(&column.id.to_le_bytes());
            body.push(column.of.code() | if column.optional { OPTIONAL } else { 0 });
        }
        body
    }

    /// Reads the body of a record in a dictionary of so many names and symbols, in which `entity_type` is the number of the
    /// property that is the kind. `None` for what no writer writes.
    pub fn decode(body: &[u8], names: usize, symbols: usize, entity_type: Option<u16>) -> Option<Self> {
        let ([a, b, c, d], mut rest) = body.split_first_chunk()?;
        let (symbol, count) = (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
        let mut columns = Vec::with_capacity(usize::from(count).min(limits::PROPERTIES));
        while let Some(([low, high, code], later)) = rest.split_first_chunk() {
            let id = u16::from_le_bytes([*low, *high]);
            let of = ColumnType::from_code(code & !OPTIONAL)?;
            columns.push(Column { id, of, optional: code & OPTIONAL != 0 });
            rest = later;
        }
        let known =
            columns.iter().all(|column| usize::from(column.id) < names) && usize::from(symbol) < symbols;
        let is_whole = rest.is_empty() && columns.len() == usize::from(count);
        if is_whole && known { Self::new(symbol, columns, entity_type?) } else { None }
    }
}
