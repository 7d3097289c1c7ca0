//! The names of a store's tables, in pages.

use std::borrow::Cow;

use super::tables::Tables;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::page_size;
use crate::limits;
use crate::model::{Ticks, ValueRef};
use crate::query::{Fields, Filter, Predicate};

/// The one property that a table has.
const TABLE_NAME: &str = "TableName";

/// Some of a store's tables, and where the next page starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TablesPage {
    /// The names, in alphabetical order without regard to case.
    pub tables: Vec<String>,
    /// The name behind which the next page starts, now or after a restart, whether or not the table is there then; `None` when
    /// there is no more.
    pub next: Option<String>,
}

impl Tables {
    /// Returns a page of the names of the tables that satisfy a filter: at most so many, 1,000 at most, from the start or behind
    /// the name at which another page ended.
    ///
    /// A filter is of the property `TableName`, in the [language](Filter) of all filters: it compares names as they were given
    /// when the tables were created, with regard to case. A filter of any other property is
    /// [`InvalidFilter`](ErrorKind::InvalidFilter).
    ///
    /// Each page reads the names of all tables: it is for answers of a limited size, and no quicker than
    /// [`tables`](Self::tables).
    ///
    /// ```
    /// use table_core::{Filter, Store};
    ///
    /// # let store = Store::temporary()?;
    /// for name in ["Logins2025", "Logins2026", "Company", "Archive"] {
    ///     store.create_table(name)?;
    /// }
    /// let first = store.tables_page(None, None, 3)?;
    /// assert_eq!(first.tables, ["Archive", "Company", "Logins2025"]);
    /// assert_eq!(store.tables_page(None, first.next.as_deref(), 3)?.tables, ["Logins2026"]);
    ///
    /// let logins = Filter::parse("TableName ge 'Logins' and TableName lt 'Logint'")?;
    /// let page = store.tables_page(Some(&logins), None, 100)?;
    /// assert_eq!((page.tables.len(), page.next), (2, None));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn tables_page(
        &self,
        filter: Option<&Filter>,
        after: Option<&str>,
        size: usize,
    ) -> Result<TablesPage> {
        let attempted = |error: Error| error.attempted("list the tables");
        if !(1..=limits::PAGE_ENTITIES).contains(&size) {
            return Err(attempted(page_size(size)));
        }
        let predicate = filter.map(predicate).transpose().map_err(attempted)?;
        let mut page = TablesPage { tables: Vec::new(), next: None };
        let after = after.map(str::to_ascii_lowercase);
        for name in self.tables()? {
            if after.as_deref().is_some_and(|after| *name.to_ascii_lowercase() <= *after) {
                continue;
            }
            let is_wanted = |predicate: &Predicate| predicate.matches(&TableName(&name));
            if !predicate.as_ref().map_or(Ok(true), is_wanted).map_err(attempted)? {
                continue;
            }
            if page.tables.len() == size {
                page.next = page.tables.last().cloned();
                break;
            }
            page.tables.push(name);
        }
        Ok(page)
    }
}

/// Makes a filter of tables ready, which speaks of nothing but their names.
fn predicate(filter: &Filter) -> Result<Predicate> {
    let predicate = filter.predicate()?;
    let other = predicate.speaks_of_rows().or_else(|| {
        let mut names = predicate.names().iter().map(|name| &**name);
        names.find(|name| *name != TABLE_NAME)
    });
    match other {
        None => Ok(predicate),
        Some(other) => Err(Error::new(ErrorKind::InvalidFilter).because(format!(
            "the filter compares `{}`, and of a table there is `{TABLE_NAME}` alone",
            other.escape_debug()
        ))),
    }
}

/// A table as a filter sees it.
struct TableName<'t>(&'t str);

impl Fields for TableName<'_> {
    fn partition_key(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn row_key(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn timestamp(&self) -> Ticks {
        Ticks::MIN
    }

    fn property(&self, _slot: usize) -> Result<Option<ValueRef<'_>>> {
        Ok(Some(ValueRef::String(self.0)))
    }
}
