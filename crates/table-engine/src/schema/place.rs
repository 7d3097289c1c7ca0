//! Where rows lie: the table, the partition and the row key of each kind of row.

use super::keys::{fields, gives_back};
use super::{PeriodTables, Template};

/// Where the rows of one kind lie: an entity's own, or those of an index.
///
/// A row of an index may lie elsewhere than its entity: each place names its own table and partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The table.
    pub table: TableTemplate,
    /// The partition key.
    pub partition: Template,
    /// The row key.
    pub row: Template,
}

impl Place {
    /// Makes a place in the table of this name.
    #[must_use]
    pub const fn new(table: &'static str, partition: Template, row: Template) -> Self {
        Self { table: TableTemplate::Fixed(table), partition, row }
    }

    /// Returns the place in the tables of periods.
    #[must_use]
    pub const fn in_periods(self, tables: PeriodTables) -> Self {
        Self { table: TableTemplate::Periods(tables), ..self }
    }

    /// Returns a place in the same table and partition, under another row key.
    #[must_use]
    pub const fn beside(self, row: Template) -> Self {
        Self { row, ..self }
    }

    /// The place of an entity that is not declared.
    pub(crate) const NOWHERE: Self = Self::new("", Template::NOTHING, Template::NOTHING);

    /// Returns the fields that the keys of a row there give back, in the order in which they are [read](super::parse).
    pub(crate) fn given_back(&self) -> impl Iterator<Item = usize> {
        let parts = [&self.partition, &self.row].into_iter().flat_map(fields);
        parts.filter(|part| part.is_lossless()).map(|part| part.field)
    }

    /// Returns whether the keys of a row there give the field back.
    pub(crate) const fn gives_back(&self, field: usize) -> bool {
        gives_back(&self.partition, field) || gives_back(&self.row, field)
    }
}

/// The name of a table as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableTemplate {
    /// The name itself.
    Fixed(&'static str),
    /// A table for each period.
    Periods(PeriodTables),
}

impl TableTemplate {
    /// Returns the template as declared. A fixed one is the name of the table.
    #[doc(hidden)]
    pub const fn source(self) -> &'static str {
        match self {
            Self::Fixed(name) => name,
            Self::Periods(tables) => tables.source,
        }
    }
}

impl Template {
    /// The template that prints the empty key.
    pub(crate) const NOTHING: Self = Self::new("", &[]);
}

/// Returns whether rows of both places could have one key in one table.
pub(crate) const fn meet(a: &Place, b: &Place) -> bool {
    is_one_table(a.table.source(), b.table.source())
        // Row keys mostly tell, and are compared first.
        && super::format::overlap::meet(a.row.parts, b.row.parts)
        && super::format::overlap::meet(a.partition.parts, b.partition.parts)
}

/// Returns whether rows of the place may lie in the table of this name.
pub(super) fn may_lie_in(place: &Place, table: &str) -> bool {
    match &place.table {
        TableTemplate::Fixed(name) => is_one_table(name, table),
        TableTemplate::Periods(tables) => {
            let (stem, table) = (tables.stem.as_bytes(), table.as_bytes());
            table.is_empty()
                || table.len() > stem.len() && table.split_at(stem.len()).0.eq_ignore_ascii_case(stem)
                || table.eq_ignore_ascii_case(tables.source.as_bytes())
        }
    }
}

/// Returns whether both names are of one table, whatever their case. A layout that was noted names none, since it is of the table
/// where it was noted.
pub(super) const fn is_one_table(a: &str, b: &str) -> bool {
    a.is_empty() || b.is_empty() || a.eq_ignore_ascii_case(b)
}
