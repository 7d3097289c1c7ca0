//! Batches: rows that a cursor has read ahead.

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;

use super::{RangeQuery, ReadSnapshot};
use crate::error::{Error, ErrorKind, Result};
use crate::row::dict::Dict;
use crate::row::named::{Names, PackedRow};
use crate::row::partition::Partition;
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::row::{Row, key};

/// Rows that a cursor has come to and that have not been taken yet, in one of two forms.
///
/// *A page is lent* (`lend_page`): the batch notes where in the page each row lies. The snapshot has the page as long as the
/// snapshot lives, so nothing is copied.
///
/// *Rows are kept*, as they are stored, where there is no such page (`keep`): memory that is taken and given
/// back row by row comes from the allocator's own small store, that of a hundred rows at once does not.
#[derive(Debug, Default)]
pub struct Batch {
    rows: Vec<Ahead>,
    /// How many of the rows are taken.
    taken: usize,
    /// The number of the page that is lent, and its bytes.
    page: Option<(u64, usize)>,
    /// If no page is lent: each row's stored key and its bytes.
    bytes: Vec<u8>,
    /// The stored key of the row that was taken last.
    partition: Partition,
    /// How the rows are read; the cursor says so with the first of them.
    read_by: Option<ReadBy>,
    has_ended: bool,
}

/// How rows are read.
#[derive(Debug)]
struct ReadBy {
    /// The table's dictionary, which has every name of the rows.
    dict: Arc<Dict>,
    selection: Arc<Selection>,
    verify: bool,
}

/// A row by the places of its parts: in the page that is lent, or in the batch's own bytes.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    key: Span,
    row: Span,
    lies: RowLocation,
}

/// Bytes that lie together. Neither a page nor a batch is so large that a place in it takes more.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// What is not there is nowhere found.
    const NOWHERE: Self = Self { start: u32::MAX, end: 0 };

    #[inline]
    fn of(place: &Range<usize>) -> Self {
        match (u32::try_from(place.start), u32::try_from(place.end)) {
            (Ok(start), Ok(end)) => Self { start, end },
            _ => Self::NOWHERE,
        }
    }

    #[expect(clippy::as_conversions, reason = "no target has an address that is narrower")]
    #[inline]
    fn of_bytes(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.start as usize..self.end as usize)
    }
}

/// Where the row itself is.
#[derive(Clone, Copy, Debug)]
enum RowLocation {
    /// Where its key is.
    Here,
    /// So far behind the start of another page of the snapshot.
    Apart(u64),
}

/// The place of a row that is lent.
#[derive(Debug)]
pub enum Lent {
    /// In the page that is lent.
    Here(Range<usize>),
    /// So far behind the start of another page.
    Apart(u64, Range<usize>),
}

/// Methods for the cursor that fills the batch.
impl Batch {
    /// Makes room for rows of up to so many bytes, so many times as many as last time.
    pub fn begin(&mut self, growth: usize, most: usize) {
        let room = (self.bytes.len() * growth).min(most);
        self.bytes.clear();
        self.bytes.reserve(room);
    }

    /// Says that the rows lie in a page of the [snapshot](ReadSnapshot::lent), of so many bytes.
    #[inline]
    pub fn lend_page(&mut self, number: u64, length: usize) {
        self.page = Some((number, length));
    }

    /// Adds a row of the page that is lent.
    #[inline]
    pub fn lend_row(&mut self, key: Range<usize>, row: Lent) {
        let (row, lies) = match row {
            Lent::Here(place) => (Span::of(&place), RowLocation::Here),
            Lent::Apart(page, place) => (Span::of(&place), RowLocation::Apart(page)),
        };
        self.rows.push(Ahead { key: Span::of(&key), row, lies });
    }

    /// Adds a row, to be kept with these bytes.
    #[inline]
    pub(crate) fn keep(&mut self, key: &[u8], row: &[u8]) {
        let (key, row) = (self.put(key), self.put(row));
        self.rows.push(Ahead { key, row, lies: RowLocation::Here });
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Span {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        Span::of(&(start..self.bytes.len()))
    }

    /// Says how the rows are read: by which dictionary, and what of them is selected. With `verify`, large values are
    /// compared with their checksums.
    #[inline]
    pub fn read_by(&mut self, dict: &Arc<Dict>, selection: &Arc<Selection>, verify: bool) {
        // Mostly as the rows before these.
        let is_known = self.read_by.as_ref().is_some_and(|by| {
            Arc::ptr_eq(&by.dict, dict) && Arc::ptr_eq(&by.selection, selection) && by.verify == verify
        });
        if !is_known {
            self.read_by = Some(ReadBy { dict: Arc::clone(dict), selection: Arc::clone(selection), verify });
        }
    }

    /// Makes room for so many more rows.
    #[inline]
    pub fn expect(&mut self, rows: usize) {
        self.rows.reserve(rows);
    }

    /// Adds a row that was packed, to be kept.
    pub fn put_packed(&mut self, row: &PackedRow) {
        let (key, row) = row.parts();
        self.keep(key, row);
    }

    /// Says how rows that were packed by these names are read, which are what was asked for.
    pub fn read_by_names(&mut self, names: &Names, asked: &RangeQuery) {
        let dict = names.dict();
        let selection = asked.selection(&dict);
        self.read_by(&dict, &selection, false);
    }

    /// Adds rows that were packed before.
    #[cfg(feature = "async")]
    pub(crate) fn put_all(&mut self, rows: &[PackedRow], asked: &RangeQuery) {
        self.begin(0, 0);
        for row in rows {
            self.put_packed(row);
        }
        // Names are numbered as they come, so the last row's numbers are those of all.
        let dict = rows.last().map(PackedRow::dict).unwrap_or_default();
        let selection = asked.selection(&dict);
        self.read_by(&dict, &selection, false);
    }

    /// Says that no row comes after these.
    #[inline]
    pub fn end(&mut self) {
        self.has_ended = true;
    }

    /// Returns how many rows are there to be taken.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len() - self.taken
    }
}

/// Methods for the reader that takes the rows.
impl Batch {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Says that the rows of another cursor may come after these.
    pub(super) fn goes_on(&mut self) {
        self.has_ended = false;
    }

    /// Empties the batch, all of whose rows are taken.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.taken = 0;
        self.page = None;
    }

    /// Returns the stored key of the next row.
    pub(super) fn head<'m>(&'m self, snapshot: &'m dyn ReadSnapshot) -> Option<&'m [u8]> {
        let Ahead { key, .. } = self.rows.get(self.taken)?;
        key.of_bytes(within(self.page, &self.bytes, snapshot)?)
    }

    /// Goes past the next row; `None` if there is none.
    pub(super) fn skip(&mut self) -> Option<()> {
        self.rows.get(self.taken)?;
        self.taken += 1;
        Some(())
    }

    /// Returns what of the rows is selected.
    pub(super) fn selection(&self) -> Option<&Selection> {
        self.read_by.as_ref().map(|by| &*by.selection)
    }

    /// Returns the next row, to be kept by the caller.
    pub(super) fn next_packed(&mut self, snapshot: &dyn ReadSnapshot) -> Option<Result<PackedRow>> {
        let dict = self.read_by.as_ref().map(|by| by.dict.clone()).unwrap_or_default();
        let mut packed = None;
        let next = self.next(snapshot, &mut |_, view| {
            packed = Some(PackedRow::of(view.stored_key_bytes(), view.row().bytes(), dict.clone()));
            Ok(())
        });
        made(next, packed)
    }

    /// Returns all rows, which are its own, and whether none comes after them.
    #[cfg(feature = "async")]
    pub(crate) fn into_packed(self) -> Result<(Vec<PackedRow>, bool)> {
        let dict = self.read_by.map(|by| by.dict).unwrap_or_default();
        let rows = self.rows.iter().skip(self.taken).map(|ahead| {
            let own = |span: Span| span.of_bytes(&self.bytes).ok_or_else(|| gone(&[]));
            Ok(PackedRow::of(own(ahead.key)?, own(ahead.row)?, dict.clone()))
        });
        Ok((rows.collect::<Result<_>>()?, self.has_ended))
    }

    /// Returns the next row and what of it is selected, if the row is as most are, and lies where the batch does. Otherwise
    /// nothing is taken, and [`next`](Self::next) gives it. The row is returned, and not given to a closure, so that what the
    /// caller makes of it stays in registers.
    // A build that is not optimized has this once; in others it is made where the row is read.
    #[cfg_attr(
        not(debug_assertions),
        expect(clippy::inline_always, reason = "for each row, a call costs as much as what it does"),
        inline(always)
    )]
    pub(super) fn next_plain<'m>(&'m mut self, snapshot: &'m dyn ReadSnapshot) -> Option<Plain<'m>> {
        let Ahead { key, row, lies: RowLocation::Here } = *self.rows.get(self.taken)? else { return None };
        let bytes = within(self.page, &self.bytes, snapshot)?;
        let (key, row, by) = (key.of_bytes(bytes)?, row.of_bytes(bytes)?, self.read_by.as_ref()?);
        let row = Row::parse_plain(row)?;
        self.taken += 1;
        self.partition.go_to(key);
        let view = RowView::new(key, row, &*by.dict, by.verify).within(&self.partition);
        Some((&by.selection, ManuallyDrop::new(view)))
    }

    /// Gives `read` the next row, and what of it is selected.
    pub(super) fn next(
        &mut self,
        snapshot: &dyn ReadSnapshot,
        read: &mut ReadSelected<'_>,
    ) -> Option<Result<()>> {
        let Ahead { key, row, lies } = *self.rows.get(self.taken)?;
        self.taken += 1;
        let bytes = within(self.page, &self.bytes, snapshot).unwrap_or_default();
        let key = key.of_bytes(bytes).unwrap_or_default();
        let Some(by) = &self.read_by else { return Some(Err(nameless(key))) };
        let row = match lies {
            RowLocation::Here => row.of_bytes(bytes),
            RowLocation::Apart(page) => apart(snapshot, page, row),
        };
        let Some(row) = row else { return Some(Err(gone(key))) };
        self.partition.go_to(key);
        Some(match Row::parse(row) {
            Ok(row) => {
                let view = RowView::new(key, row, &*by.dict, by.verify).within(&self.partition);
                read(&by.selection, &view)
            }
            Err(damaged) => Err(key::locate(damaged.into(), key)),
        })
    }
}

/// A row, and what of it is selected. All that the view holds is lent, so there is nothing to drop.
pub(crate) type Plain<'m> = (&'m Selection, ManuallyDrop<RowView<'m>>);

/// Returns the bytes in which the rows lie.
#[inline]
fn within<'m>(page: Option<(u64, usize)>, own: &'m [u8], snapshot: &'m dyn ReadSnapshot) -> Option<&'m [u8]> {
    match page {
        Some((number, length)) => snapshot.lent(number, length),
        None => Some(own),
    }
}

/// Returns a row of pages of its own.
#[inline(never)]
fn apart(snapshot: &dyn ReadSnapshot, page: u64, row: Span) -> Option<&[u8]> {
    row.of_bytes(snapshot.lent(page, usize::try_from(row.end).ok()?)?)
}

/// What is given a row, and what of it is selected. It keeps what it makes of the row: so what reads ahead is not made anew for
/// each type.
pub(crate) type ReadSelected<'r> = dyn FnMut(&Selection, &RowView<'_>) -> Result<()> + 'r;

/// Returns what was made of the next row, if there was one.
pub(crate) fn made<T>(next: Option<Result<()>>, made: Option<T>) -> Option<Result<T>> {
    match next? {
        Ok(()) => made.map(Ok),
        Err(error) => Some(Err(error)),
    }
}

/// Returns the error of a row that was given before the batch was told how its rows are read. No cursor gives one.
#[cold]
fn nameless(key: &[u8]) -> Error {
    key::locate(Error::new(ErrorKind::Corrupt).because("the row was read ahead without its names"), key)
}

#[cold]
fn gone(key: &[u8]) -> Error {
    key::locate(Error::new(ErrorKind::Corrupt).because("the row was found, and is not there any more"), key)
}
