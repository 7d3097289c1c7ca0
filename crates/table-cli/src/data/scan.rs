//! The rows of a table, in order, by pages.

use std::ops::{Bound, ControlFlow};
use std::time::Duration;

#[cfg(feature = "parquet")]
use table_core::introspect::KindInfo;
use table_core::introspect::RowOf;
use table_core::odata::Source;
use table_core::query::PageBudget;
use table_core::store::{EncryptingTable, Row};
use table_core::{
    Continuation, DynamicEntity, DynamicTable, Error, ErrorKind, Filter, Query, Snapshot, Tables, Value,
    ValueRef,
};

use super::counts::Counts;
use super::kinds::{ENTITY_PARTS, ENTITY_TYPE, Kinds, RowClass, is_sealed};
use crate::failure::Failure;
use crate::paging::whole_keys;

/// A page is a snapshot of its own, and ends when it has taken so long: what is overwritten meanwhile can't be used again.
const PAGE: PageBudget = PageBudget::new(1_000).time(Duration::from_millis(200));

/// A page whose rows are held in memory while they are opened.
const OPENED_PAGE: PageBudget = PageBudget::new(100).time(Duration::from_millis(200));

/// Which rows of a table are wanted.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) kind: Option<String>,
    pub(crate) filter: Option<Filter>,
    pub(crate) select: Vec<String>,
    /// Without the rows that the store makes itself.
    pub(crate) entities_only: bool,
    /// All rows of a table as of one moment.
    pub(crate) consistent: bool,
    /// Whether the store was opened with the keys of what is sealed.
    pub(crate) has_keys: bool,
}

/// What takes rows.
pub(crate) trait Takes {
    /// Takes a row; returns whether the page may go on, since there is room for more.
    fn row(&mut self, row: &impl Source) -> Result<ControlFlow<()>, Failure>;

    /// Is told that a page has ended, and with it the snapshot that its rows were read in.
    fn page(&mut self) -> Result<(), Failure>;
}

/// The rows of a table.
pub(crate) struct Scan {
    table: DynamicTable,
    query: Query,
    snapshot: Option<Snapshot>,
    rows: RowFilter,
    /// Opens what is sealed.
    opened: Option<EncryptingTable>,
    /// Where the next page begins.
    after: Option<Continuation>,
    /// The keys of a row that can't be read, behind which the pages begin.
    behind: Option<(String, String)>,
    is_ended: bool,
}

impl Scan {
    /// Makes ready to read the rows of the table of this name.
    pub(crate) fn new(tables: &Tables, table: &str, wanted: &Wanted) -> Result<Self, Failure> {
        let table = tables.dynamic_table(table)?;
        let kinds = Kinds::of(tables, table.name())?;
        let only = match &wanted.kind {
            Some(kind) => Only::Kind(kinds.number_of(table.name(), kind)?),
            None if wanted.entities_only => Only::Entities,
            None => Only::All,
        };
        let opens = wanted.has_keys && kinds.seal();
        let mut query = Query::new();
        if let Some(filter) = &wanted.filter {
            query = query.filter(filter.clone());
        }
        if !wanted.select.is_empty() {
            let names = wanted.select.iter().map(String::as_str);
            query = query.select(names.chain([ENTITY_TYPE]));
        }
        let snapshot = wanted.consistent.then(|| tables.snapshot()).transpose()?;
        let opened = opens.then(|| table.encrypting(|_, _, _| false));
        let last = (String::new(), String::new());
        let is_filtered = wanted.filter.is_some() && wanted.select.is_empty();
        let rows = RowFilter { kinds, only, opens, is_filtered, counts: Counts::default(), last };
        Ok(Self { table, query, snapshot, rows, opened, after: None, behind: None, is_ended: false })
    }

    /// Returns the name of the table, as it was given at creation.
    pub(crate) fn table_name(&self) -> &str {
        self.table.name()
    }

    /// Returns the kinds that the table has noted.
    pub(crate) fn kinds(&self) -> &Kinds {
        &self.rows.kinds
    }

    /// Returns the kind that is wanted, if it is one alone.
    #[cfg(feature = "parquet")]
    pub(crate) fn only_kind(&self) -> Option<&KindInfo> {
        match self.rows.only {
            Only::Kind(number) => self.rows.kinds.infos().get(number),
            _ => None,
        }
    }

    /// Gives `taker` each row that is wanted, from the first one on; returns how many there were, and how many were left out.
    pub(crate) fn run(&mut self, taker: &mut impl Takes) -> Result<Counts, Failure> {
        if let (Some(opened), Some(_)) = (&self.opened, &self.snapshot) {
            for entity in opened.query(&self.query)? {
                // There is no end of a page here: what has no room for more is told so.
                if self.rows.give_opened(entity?, taker)?.is_break() {
                    taker.page()?;
                }
            }
            taker.page()?;
            return Ok(self.take_counts());
        }
        (self.after, self.behind, self.is_ended) = (None, None, false);
        while self.page(taker)? {
            taker.page()?;
        }
        taker.page()?;
        Ok(self.take_counts())
    }

    /// Goes to the rows behind these keys.
    pub(crate) fn go_behind(&mut self, partition: String, row: String) {
        self.behind = Some((partition, row));
    }

    /// Returns the keys of the last row that was read, wanted or not.
    pub(crate) fn last(&self) -> &(String, String) {
        &self.rows.last
    }

    /// Gives `taker` the rows of the next page; returns whether there may be more.
    pub(crate) fn page(&mut self, taker: &mut impl Takes) -> Result<bool, Failure> {
        if self.is_ended {
            return Ok(false);
        }
        match self.read_page(taker) {
            Ok(next) => {
                self.is_ended = next.is_none();
                self.after = next;
            }
            Err(Failure::Store(error)) if error.kind() == ErrorKind::KeyUnavailable => {
                self.behind = Some(self.rows.unreadable(error)?);
                self.after = None;
            }
            Err(failure) => return Err(failure),
        }
        Ok(!self.is_ended)
    }

    fn read_page(&mut self, taker: &mut impl Takes) -> Result<Option<Continuation>, Failure> {
        let Self { table, query, snapshot, rows, opened, after, behind, .. } = self;
        let after = after.as_ref();
        let bounded;
        let query = match behind {
            None => &*query,
            Some((partition, row)) => {
                let keys = (Bound::Excluded((&**partition, &**row)), Bound::Unbounded);
                bounded = query.clone().between(keys);
                &bounded
            }
        };
        if let Some(opened) = opened {
            let page = opened.page(query, OPENED_PAGE, after)?;
            for entity in page.entities {
                // The page is read already, and goes on.
                rows.give_opened(entity, taker).map(drop)?;
            }
            return Ok(page.next);
        }
        let each = |row: &Row<'_>| rows.give(row, taker);
        match snapshot {
            Some(snapshot) => snapshot.page_with(table, query, PAGE, after, each),
            None => table.page_with(query, PAGE, after, each),
        }
    }

    /// Returns how many rows there were since this was last asked.
    pub(crate) fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.rows.counts)
    }
}

enum Only {
    All,
    Entities,
    Kind(usize),
}

/// Tells rows that are wanted from others, and counts both.
struct RowFilter {
    kinds: Kinds,
    only: Only,
    opens: bool,
    is_filtered: bool,
    counts: Counts,
    /// The keys of the last row that there was, wanted or not.
    last: (String, String),
}

impl RowFilter {
    fn give(&mut self, row: &impl Source, taker: &mut impl Takes) -> Result<ControlFlow<()>, Failure> {
        let (partition, row_key) = row.keys()?;
        (*partition).clone_into(&mut self.last.0);
        (*row_key).clone_into(&mut self.last.1);
        let class = self.kinds.class(row.property(ENTITY_TYPE)?.and_then(ValueRef::as_str));
        match (class, &self.only) {
            (RowClass::Entity(kind), Only::Kind(only)) if kind != *only => {
                return Ok(ControlFlow::Continue(()));
            }
            (RowClass::Free, Only::Kind(_)) => return Ok(ControlFlow::Continue(())),
            (RowClass::Copy(_), Only::Entities | Only::Kind(_)) => {
                self.counts.copies += 1;
                return Ok(ControlFlow::Continue(()));
            }
            _ => {}
        }
        if let RowClass::Entity(kind) | RowClass::Copy(kind) = class {
            // A copy has the bytes that were sealed for its entity, and opens nowhere else.
            let opens = self.opens && matches!(class, RowClass::Entity(_));
            if !opens && let Some(name) = self.sealed(kind, row)? {
                if self.opens {
                    self.counts.copies += 1;
                } else {
                    *self.counts.sealed.entry(name).or_default() += 1;
                }
                return Ok(ControlFlow::Continue(()));
            }
        }
        if let RowClass::Entity(kind) = class
            && self.is_filtered
            && self.kinds.is_wide(kind)
        {
            // A head says how many parts there are, and a part nothing.
            let said = row.property(ENTITY_PARTS)?.and_then(ValueRef::as_i64);
            self.counts.apart += said.unwrap_or(-1);
        }
        self.counts.read += 1;
        taker.row(row)
    }

    /// Gives an entity whose sealed values were opened, without the tokens of these: only the store's own keys make them.
    fn give_opened(
        &mut self,
        mut entity: DynamicEntity,
        taker: &mut impl Takes,
    ) -> Result<ControlFlow<()>, Failure> {
        let text = entity.get(ENTITY_TYPE).and_then(Value::as_str);
        if let RowClass::Entity(kind) = self.kinds.class(text) {
            for token in self.kinds.tokens(kind) {
                entity.remove(token);
            }
        }
        self.give(&entity, taker)
    }

    /// Leaves out a row whose digest no key verifies, as that of a copy with a sealed value, and returns its keys.
    fn unreadable(&mut self, error: Error) -> Result<(String, String), Failure> {
        // An error shows the beginning of a long key.
        let Some((partition, row)) = whole_keys(&error) else { return Err(error.into()) };
        let name = self.kinds.infos().iter().find_map(|info| {
            let what = info.read_keys(partition, row)?.row;
            Some(match what {
                RowOf::Index(index) => (format!("{}.{index}", info.kind()), true),
                _ => (info.kind().to_owned(), false),
            })
        });
        match (name, &self.only) {
            (Some((_, true)), Only::Entities | Only::Kind(_)) => self.counts.copies += 1,
            (Some((name, _)), _) => *self.counts.sealed.entry(name).or_default() += 1,
            (None, _) => *self.counts.sealed.entry("signed rows".into()).or_default() += 1,
        }
        self.last = (partition.to_owned(), row.to_owned());
        Ok(self.last.clone())
    }

    /// Returns the name of a sealed value of a row, with that of its kind; `None` if it has none.
    fn sealed(&self, kind: usize, row: &impl Source) -> Result<Option<String>, Failure> {
        for name in self.kinds.sealed(kind) {
            if row.property(name)?.is_some_and(is_sealed) {
                return Ok(Some(format!("{}.{name}", self.kinds.name(kind))));
            }
        }
        Ok(None)
    }
}
