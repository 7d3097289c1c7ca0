//! A row as a visitor sees it, in place.

use std::cell::Cell;
use std::fmt;
use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::model::{DynamicEntity, ETag, EntityKeys, Ticks, ValueRef};
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::row::view::selected::SelectedProperties;

/// A row as it lies in the store, lent to a closure: no entity is made of it, and nothing of it is copied.
///
/// Given by [`DynamicTable::get_with`](crate::DynamicTable::get_with), `query_with` and `page_with`. It has the properties that
/// the query [selects](crate::Query::select). A property that is sealed has the bytes that are stored.
///
/// A value that can't be read, since the file is damaged, ends the properties. Whatever the closure makes of the others, the
/// read then fails by [`Corrupt`](crate::ErrorKind::Corrupt).
///
/// ```
/// use std::fmt::Write;
/// use table_core::{DynamicEntity, Query, Store};
///
/// # let store = Store::temporary()?;
/// let company = store.create_table("Company")?;
/// company.insert(&DynamicEntity::new("Sales", "1").with("Name", "Jones").with("Age", 34))?;
/// company.insert(&DynamicEntity::new("Sales", "2").with("Name", "Hall"))?;
///
/// let mut text = String::new();
/// company.query_with(&Query::new().partition("Sales"), |row| {
///     write!(text, "{}:", row.row_key())?;
///     for (name, value) in row.properties() {
///         write!(text, " {name}={value:?}")?;
///     }
///     writeln!(text)?;
///     Ok::<_, Box<dyn std::error::Error>>(())
/// })?;
/// assert_eq!(text, "1: Name=\"Jones\" Age=34\n2: Name=\"Hall\"\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Row<'r> {
    view: &'r RowView<'r>,
    selection: &'r Selection,
    /// The partition key and the row key.
    keys: EntityKeys<'r>,
    /// The error of a value that could not be read.
    failed: &'r Failed,
}

/// The first error of a row's values.
#[derive(Default)]
struct Failed(Cell<Option<Error>>);

impl Failed {
    #[cold]
    fn note(&self, error: Error) {
        self.0.set(Some(self.0.take().unwrap_or(error)));
    }

    /// Returns the value, or notes why there is none.
    #[inline]
    fn noted<T>(&self, value: Result<Option<T>>) -> Option<T> {
        match value {
            Ok(value) => value,
            Err(error) => {
                self.note(error);
                None
            }
        }
    }
}

impl<'r> Row<'r> {
    /// Lends the row to a visitor, and returns what that makes of it.
    #[inline]
    pub(crate) fn lend<T>(
        selection: &Selection,
        view: &RowView<'_>,
        visit: impl FnOnce(&Row<'_>) -> T,
    ) -> Result<T> {
        let (partition, row) = view.key_texts()?;
        let failed = Failed::default();
        let made = visit(&Row { view, selection, keys: EntityKeys::new(&partition, &row), failed: &failed });
        match failed.0.into_inner() {
            None => Ok(made),
            Some(error) => Err(error),
        }
    }

    /// Returns the partition key.
    #[inline]
    pub fn partition_key(&self) -> &'r str {
        self.keys.partition
    }

    /// Returns the row key.
    #[inline]
    pub fn row_key(&self) -> &'r str {
        self.keys.row
    }

    /// Returns when the entity was last written.
    #[inline]
    pub fn timestamp(&self) -> Ticks {
        self.view.timestamp()
    }

    /// Returns the entity's version.
    #[inline]
    pub fn etag(&self) -> ETag {
        self.view.etag()
    }

    /// Returns the names and values of the selected properties, in the order in which the table first saw their names. Each is
    /// decoded when it comes.
    #[inline]
    pub fn properties(&self) -> impl Iterator<Item = (&'r str, ValueRef<'r>)> + use<'r> {
        let properties = self.failed.noted(SelectedProperties::of(self.view, self.selection).map(Some));
        RowProperties { properties, failed: self.failed }
    }

    /// Returns the value of a property; `None` where the entity has none of this name, or it is not selected.
    #[inline]
    pub fn get(&self, name: &str) -> Option<ValueRef<'r>> {
        self.failed.noted(self.view.get_selected(self.selection, name))
    }

    /// Returns the entity of the row, with the selected properties: what a read that lends nothing gives.
    pub fn to_entity(&self) -> Result<DynamicEntity> {
        self.selection.entity(self.view)
    }
}

/// The properties of a row, up to the first that can't be read.
struct RowProperties<'r> {
    properties: Option<SelectedProperties<'r>>,
    failed: &'r Failed,
}

impl<'r> Iterator for RowProperties<'r> {
    type Item = (&'r str, ValueRef<'r>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.properties.as_mut()?.next()? {
            Ok(property) => Some(property),
            Err(error) => {
                self.failed.note(error);
                self.properties = None;
                None
            }
        }
    }
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_entity() {
            Ok(entity) => entity.fmt(f),
            Err(error) => error.fmt(f),
        }
    }
}

/// What a closure answers that is lent the [rows](Row) of a query: nothing, whether to go on, or an error.
///
/// | type | |
/// | --- | --- |
/// | `()` | goes on with the next row |
/// | [`ControlFlow<()>`] | goes on, or stops behind this row |
/// | `Result<(), E>`, `Result<ControlFlow<()>, E>` | an error ends the read, which returns it; [`Error`] converts to `E` |
#[diagnostic::on_unimplemented(
    message = "a closure that is lent rows can't answer `{Self}`",
    label = "expected `()`, `ControlFlow<()>`, or a `Result` of one of them",
    note = "the error of such a `Result` needs `impl From<table_core::Error>`"
)]
pub trait Visited {
    /// The error of the read.
    type Error: From<Error>;

    /// Returns whether the read goes on.
    #[doc(hidden)]
    fn flow(self) -> Result<ControlFlow<()>, Self::Error>;
}

impl Visited for () {
    type Error = Error;

    #[inline]
    fn flow(self) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }
}

impl Visited for ControlFlow<()> {
    type Error = Error;

    #[inline]
    fn flow(self) -> Result<ControlFlow<()>> {
        Ok(self)
    }
}

impl<E: From<Error>> Visited for Result<(), E> {
    type Error = E;

    #[inline]
    fn flow(self) -> Result<ControlFlow<()>, E> {
        self.map(ControlFlow::Continue)
    }
}

impl<E: From<Error>> Visited for Result<ControlFlow<()>, E> {
    type Error = E;

    #[inline]
    fn flow(self) -> Result<ControlFlow<()>, E> {
        self
    }
}

/// A visitor, and the error that ended it: between them are reads that know no other errors than the store's.
pub(crate) struct Visitor<V: Visited, F> {
    each: F,
    failed: Option<V::Error>,
}

impl<V: Visited, F: FnMut(&Row<'_>) -> V> Visitor<V, F> {
    pub(crate) fn new(each: F) -> Self {
        Self { each, failed: None }
    }

    /// Lends the visitor a row, and returns whether the read goes on.
    #[inline]
    pub(crate) fn visit(&mut self, selection: &Selection, view: &RowView<'_>) -> Result<ControlFlow<()>> {
        match Row::lend(selection, view, &mut self.each)?.flow() {
            Ok(flow) => Ok(flow),
            Err(error) => {
                self.failed = Some(error);
                Ok(ControlFlow::Break(()))
            }
        }
    }

    /// Returns what the read came to: the visitor's error, if it had one.
    pub(crate) fn done<T>(self, read: Result<T>) -> Result<T, V::Error> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(read?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::model::{Ticks, Value};
    use crate::row;
    use crate::row::named::Names;

    #[test]
    fn a_value_that_cannot_be_read_ends_the_properties_and_fails_the_read() {
        let names = Names::default();
        let given = [("Age", Value::from(7)), ("Note", "x".repeat(1_000).into()), ("Zeal", true.into())];
        let properties: Vec<_> = given.iter().map(|(name, value)| (*name, value.as_value_ref())).collect();
        let packed = names.pack(7, "p", "r", Ticks::MIN, &properties).unwrap();
        let (key, bytes) = packed.parts();
        let (dict, mut bytes) = (names.dict(), bytes.to_vec());
        let visit = |bytes: &[u8], visit: &mut dyn FnMut(&Row<'_>)| {
            let view = RowView::new(key, row::Row::parse(bytes).unwrap(), &*dict, true);
            Row::lend(&Selection::ALL, &view, |row| visit(row))
        };
        visit(&bytes, &mut |row| assert_eq!(row.properties().count(), 3)).unwrap();

        // A large value has a checksum of its own, which is compared when the value is read.
        let at = bytes.windows(9).position(|window| window == [b'x'; 9]).unwrap();
        bytes[at + 5] ^= 1;
        let mut seen = Vec::new();
        let failed = visit(&bytes, &mut |row| {
            seen.extend(row.properties().map(|(name, _)| name.to_owned()));
            assert!(row.get("Note").is_none() && row.get("Zeal").is_some());
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(seen, ["Age"]);
        // A closure that doesn't look at it has what it wants.
        visit(&bytes, &mut |row| assert_eq!(row.get("Age"), Some(ValueRef::Int32(7)))).unwrap();
    }
}
