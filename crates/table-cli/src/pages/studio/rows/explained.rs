//! What a query reads, as places in the table: its partitions side by side, those that are read marked.
//!
//! Nothing is counted. Partitions are found by one seek each: the first ones, the last one, those of rows that were found, and
//! their neighbours. What lies between is a gap.

use std::collections::BTreeSet;
use std::ops::Bound;

use table_core::query::{Explain, QueryClass};
use table_core::{DynamicTable, Query, Result};

use super::copies::is_unreadable;
use super::moment::Moment;

/// How many partitions are shown from the first on.
const FIRST: usize = 5;
/// Of how many partitions of rows that were found the neighbours are shown.
const FOUND: usize = 3;

/// A place in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What stands there; nothing of a gap.
    pub(crate) text: String,
    /// Whether it is read.
    pub(crate) is_read: bool,
    /// Whether there are more partitions, or rows, that are not shown one by one.
    pub(crate) is_gap: bool,
}

/// What a query reads.
pub(crate) struct Explained {
    pub(crate) explain: Explain,
    /// The table's partitions in order.
    pub(crate) partitions: Vec<Place>,
    /// The rows of the one partition that is read; empty if there are several.
    pub(crate) rows: Vec<Place>,
}

/// Seeks in a table.
struct Seeks<'s> {
    moment: &'s Moment,
    table: &'s DynamicTable,
    query: &'s Query,
}

impl Explained {
    /// Explains a query. `found` are partitions that it is known to find rows in.
    pub(crate) fn of(moment: &Moment, table: &DynamicTable, query: &Query, found: &[&str]) -> Result<Self> {
        let explain = table.explain(query)?;
        let seeks = Seeks { moment, table, query };
        let one =
            (explain.class() <= QueryClass::PartitionScan).then(|| unquoted(explain.partition())).flatten();
        let mut shown = BTreeSet::new();
        let mut at = seeks.partition_after(None)?;
        while let Some(name) = at {
            at = if shown.len() + 1 < FIRST { seeks.partition_after(Some(&name))? } else { None };
            shown.insert(name);
        }
        shown.extend(seeks.last_partition()?);
        let found = found.iter().take(FOUND).map(|name| (*name).to_owned());
        for name in found.chain(one.clone()) {
            shown.extend(seeks.partition_after(Some(&name))?);
            shown.insert(name);
        }
        let partitions = seeks.places(&shown)?;
        let rows = match one {
            Some(partition) if explain.class() != QueryClass::Nothing => seeks.rows(&partition, &explain)?,
            _ => Vec::new(),
        };
        Ok(Self { explain, partitions, rows })
    }
}

impl Seeks<'_> {
    /// Returns the places of these partitions, with gaps where others lie between.
    fn places(&self, shown: &BTreeSet<String>) -> Result<Vec<Place>> {
        let mut places: Vec<Place> = Vec::new();
        let mut last: Option<&String> = None;
        for name in shown {
            let is_read = self.reads(&self.query.clone().partition(name))?;
            if let Some(last) = last
                && self.partition_after(Some(last))?.is_some_and(|next| next < *name)
            {
                let is_read = is_read && places.last().is_some_and(|place| place.is_read);
                places.push(Place { text: String::new(), is_read, is_gap: true });
            }
            places.push(Place { text: name.clone(), is_read, is_gap: false });
            last = Some(name);
        }
        Ok(places)
    }

    /// Returns the rows of a partition: what is read, and whether there are others on either side.
    fn rows(&self, partition: &str, explain: &Explain) -> Result<Vec<Place>> {
        let of = Query::new().partition(partition).select::<&str>([]).top(1);
        let first = self.first(&of)?.map(|keys| keys.1);
        let last = self.last(&of)?.map(|keys| keys.1);
        let is_outside = |row: Option<String>| match row {
            Some(row) => self.reads(&self.query.clone().row(&row)).map(|is_read| !is_read),
            None => Ok(false),
        };
        let beside = |text: &str| Place { text: text.to_owned(), is_read: false, is_gap: false };
        let text = match explain.row() {
            "all" => "all rows".to_owned(),
            row if explain.class() == QueryClass::Point => format!("row {row}"),
            row => format!("rows {row}"),
        };
        let mut places = Vec::new();
        if is_outside(first)? {
            places.push(beside("rows before"));
        }
        places.push(Place { text, is_read: true, is_gap: false });
        if is_outside(last)? {
            places.push(beside("rows behind"));
        }
        Ok(places)
    }

    /// Returns whether a query reads anything.
    fn reads(&self, query: &Query) -> Result<bool> {
        Ok(self.table.explain(query)?.class() != QueryClass::Nothing)
    }

    /// Returns the partition behind this one, or the first.
    fn partition_after(&self, name: Option<&str>) -> Result<Option<String>> {
        let from = name.map_or(Bound::Unbounded, Bound::Excluded);
        let query = Query::new().partitions((from, Bound::<&str>::Unbounded)).select::<&str>([]).top(1);
        Ok(self.first(&query)?.map(|keys| keys.0))
    }

    fn last_partition(&self) -> Result<Option<String>> {
        Ok(self.last(&Query::new().select::<&str>([]).top(1))?.map(|keys| keys.0))
    }

    /// Returns the last row's keys; `None` also of a store that does not read backwards.
    fn last(&self, query: &Query) -> Result<Option<(String, String)>> {
        match self.first(&query.clone().rev()) {
            Err(error) if error.kind() == table_core::ErrorKind::Unsupported => Ok(None),
            last => last,
        }
    }

    /// Returns the keys of the first row that a query finds; `None` also of one that only its keys open.
    fn first(&self, query: &Query) -> Result<Option<(String, String)>> {
        match self.moment.first(self.table, query) {
            Ok(row) => Ok(row.map(|row| (row.partition_key().to_owned(), row.row_key().to_owned()))),
            Err(error) if is_unreadable(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the text that stands in quotes; `None` if something in it is escaped.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains(['\\', '"'])).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use table_core::{DynamicEntity, Filter, Store};

    use super::*;

    fn drawn(places: &[Place]) -> String {
        let place = |place: &Place| {
            let text = if place.is_gap { ".." } else { &place.text };
            if place.is_read { format!("[{text}]") } else { text.to_owned() }
        };
        places.iter().map(place).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_read_is_marked_among_its_neighbours() {
        let store = Store::temporary().unwrap();
        let table = store.create_table("Readings").unwrap();
        for partition in 0..40 {
            for row in ["a", "b", "c"] {
                table.insert(&DynamicEntity::new(format!("p{partition:02}"), row)).unwrap();
            }
        }
        for (filter, partitions, rows) in [
            ("PartitionKey eq 'p02'", "p00 p01 [p02] p03 p04 .. p39", "[all rows]"),
            (
                "PartitionKey eq 'p20' and RowKey ge 'b'",
                "p00 p01 p02 p03 p04 .. [p20] p21 .. p39",
                "rows before [rows from \"b\"]",
            ),
            (
                "PartitionKey eq 'p39' and RowKey eq 'a'",
                "p00 p01 p02 p03 p04 .. [p39]",
                "[row \"a\"] rows behind",
            ),
            ("PartitionKey ge 'p03'", "p00 p01 p02 [p03] [p04] [..] [p39]", ""),
            ("Age ge 40", "[p00] [p01] [p02] [p03] [p04] [..] [p39]", ""),
            ("PartitionKey eq 'a' and PartitionKey eq 'b'", "p00 p01 p02 p03 p04 .. p39", ""),
            ("PartitionKey eq 'missing'", "[missing] p00 p01 p02 p03 p04 .. p39", "[all rows]"),
        ] {
            let query = Query::new().filter(Filter::parse(filter).unwrap());
            let explained = Explained::of(&Moment::of(&store).unwrap(), &table, &query, &[]).unwrap();
            assert_eq!(drawn(&explained.partitions), partitions, "{filter}");
            assert_eq!(drawn(&explained.rows), rows, "{filter}");
        }
    }
}
