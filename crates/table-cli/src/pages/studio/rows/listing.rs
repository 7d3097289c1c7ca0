//! Rows by page. Copies are folded under their entities; those that disagree are shown beside them.

use std::time::{Duration, Instant};

use table_core::introspect::{KindInfo, RowOf};
use table_core::model::names::ENTITY_TYPE;
use table_core::query::PageBudget;
use table_core::schema::KeyPiece;
use table_core::{Continuation, DynamicEntity, DynamicTable, Error, Filter, Query, Result, Tables, prop};

use super::copies::{Agreement, Copies, CopyState, entity_type, is_closed, is_unreadable};
use super::moment::Moment;

/// How many rows a page shows, about.
const ROWS: usize = 50;
/// The fewest rows that are read at once.
const LEAST: usize = 25;
/// The most rows that a page reads.
const READ: u64 = 5_000;
/// For how long a page reads: a snapshot that lives on makes the store grow.
const TIME: Duration = Duration::from_secs(1);

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'r> {
    /// Entities of this kind alone.
    pub(crate) kind: Option<&'r str>,
    /// Rows that this filter, as the service writes it, is true of.
    pub(crate) filter: Option<&'r str>,
    /// Where the page begins: the text of a continuation.
    pub(crate) after: Option<&'r str>,
    /// Rows as they lie, with no copy folded.
    pub(crate) as_they_lie: bool,
}

/// What a row is, by what it says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Identity<'k> {
    pub(crate) kind: &'k KindInfo,
    pub(crate) row: RowOf,
}

/// A row that is shown.
pub(crate) struct Item<'k> {
    pub(crate) row: DynamicEntity,
    pub(crate) identity: Option<Identity<'k>>,
    /// Of an entity, its copies.
    pub(crate) copies: Vec<CopyState>,
    /// Of a copy, the keys of its entity where it says them, and how they agree.
    pub(crate) owner: Option<(Option<(String, String)>, Agreement)>,
}

/// A page of rows.
#[derive(Default)]
pub(crate) struct Listed<'k> {
    pub(crate) items: Vec<Item<'k>>,
    /// How many rows were found that are folded.
    pub(crate) folded: u64,
    /// Where the next page begins.
    pub(crate) next: Option<String>,
    /// Why the row behind these can't be read, for want of keys or since it is damaged: the page ends there.
    pub(crate) closed: Option<Error>,
    /// How many rows at the end of these were read from the end of the table, since the one before them is damaged.
    pub(crate) from_end: usize,
}

/// Reads pages of a table.
pub(crate) struct Listing<'l> {
    pub(crate) tables: &'l Tables,
    pub(crate) table: &'l DynamicTable,
    /// The kinds that are noted in the table.
    pub(crate) kinds: &'l [KindInfo],
    /// Whether copies are compared with their entities, which reads each: where a store is far, on a row's own page alone.
    pub(crate) compares: bool,
}

impl<'l> Listing<'l> {
    /// Returns the query that is asked.
    pub(crate) fn query(&self, asked: Asked<'_>) -> Result<Query> {
        let mut query = Query::new();
        if let Some(text) = asked.filter {
            query = query.filter(Filter::parse(text)?);
        }
        if let Some(kind) = asked.kind.and_then(|name| self.kinds.iter().find(|kind| kind.kind() == name)) {
            query = query.filter(prop(ENTITY_TYPE).eq(kind.entity_type()));
            if let Some(prefix) = text_before_fields(kind) {
                query = query.row_prefix(prefix);
            }
        }
        Ok(query)
    }

    /// Reads a page.
    pub(crate) fn page(&self, moment: &Moment, query: &Query, asked: Asked<'_>) -> Result<Listed<'l>> {
        let folds = asked.kind.is_none() && !asked.as_they_lie && !asked.filter.is_some_and(names_copies);
        let begun = Instant::now();
        let mut next: Option<Continuation> = asked.after.map(str::parse).transpose()?;
        let mut listed = Listed::default();
        let (mut read, mut at_most) = (0, ROWS);
        loop {
            let most = if folds { ROWS.saturating_sub(listed.items.len()).max(LEAST) } else { ROWS };
            let most = most.min(at_most);
            let left = TIME.saturating_sub(begun.elapsed());
            let budget = PageBudget::new(most).rows_read(READ).time(left);
            let page = match moment.page(self.table, query, budget, next.as_ref()) {
                // One of so many rows can't be read: those before it are.
                Err(error) if is_unreadable(&error) && most > 1 => {
                    at_most = most / 2;
                    continue;
                }
                Err(error) if is_unreadable(&error) => {
                    if !is_closed(&error) {
                        self.read_from_end(moment, query, &mut listed)?;
                    }
                    listed.closed = Some(error);
                    return Ok(listed);
                }
                page => page?,
            };
            read += u64::try_from(page.entities.len()).unwrap_or(u64::MAX);
            for row in page.entities {
                let item = self.item(moment, row)?;
                if folds && self.is_folded(&item) {
                    listed.folded += 1;
                } else {
                    listed.items.push(item);
                }
            }
            next = page.next;
            let is_enough = listed.items.len() >= ROWS || read >= READ || begun.elapsed() >= TIME;
            if next.is_none() || (!folds && at_most == ROWS) || is_enough {
                listed.next = next.map(|next| next.to_string());
                return Ok(listed);
            }
        }
    }

    /// Adds the rows at the end of a table whose rows can't be read one after another, since one among them is damaged: what lies
    /// behind it is reached from there alone.
    fn read_from_end(&self, moment: &Moment, query: &Query, listed: &mut Listed<'l>) -> Result<()> {
        let query = query.clone().rev();
        let mut most = ROWS;
        while most > 0 {
            match moment.page(self.table, &query, PageBudget::new(most).time(TIME), None) {
                Err(error) if is_unreadable(&error) => most /= 2,
                Err(error) => return Err(error),
                Ok(page) => {
                    listed.from_end = page.entities.len();
                    for row in page.entities.into_iter().rev() {
                        listed.items.push(self.item(moment, row)?);
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns whether a row is seen with its entity, and says nothing that this does not say.
    fn is_folded(&self, item: &Item<'_>) -> bool {
        match (&item.identity, &item.owner) {
            (Some(Identity { row: RowOf::Part(_), .. }), _) => true,
            (_, Some((keys, agreement))) => (keys.is_some() || !self.compares) && !agreement.is_wrong(),
            _ => false,
        }
    }

    /// Returns a row with what is to be said of it.
    pub(crate) fn item(&self, moment: &Moment, row: DynamicEntity) -> Result<Item<'l>> {
        let identity = identify(self.kinds, &row);
        let copies = Copies { tables: self.tables, moment };
        let mut item = Item { row, identity, copies: Vec::new(), owner: None };
        let Some(Identity { kind, row: of }) = &item.identity else { return Ok(item) };
        match of {
            RowOf::Entity if self.compares => item.copies = copies.of_entity(kind, &item.row)?,
            RowOf::Index(name) => {
                let indexes = kind.indexes();
                let index = indexes.iter().find(|index| index.name == *name && !index.shared);
                item.owner = match index {
                    Some(index) if self.compares => Some(copies.owner(kind, index, &item.row)?),
                    Some(_) => Some((None, Agreement::Untold("it is compared on its own page".to_owned()))),
                    None => None,
                };
            }
            _ => {}
        }
        Ok(item)
    }
}

/// Returns whether a filter may ask for copies themselves: by the keys that they have, or by their `EntityType`.
fn names_copies(filter: &str) -> bool {
    ["RowKey", ENTITY_TYPE].iter().any(|name| filter.contains(name))
}

/// Returns what a row is, by its `EntityType`; `None` if that is no declared kind.
fn identify<'k>(kinds: &'k [KindInfo], row: &DynamicEntity) -> Option<Identity<'k>> {
    let of = entity_type(row)?;
    kinds.iter().find_map(|kind| Some(Identity { kind, row: kind.row_of_type(of)? }))
}

/// Returns the text that the row keys of a kind's entities begin with.
fn text_before_fields(kind: &KindInfo) -> Option<String> {
    let design = kind.design();
    match design.rows.first()?.row.pieces.first()? {
        KeyPiece::Text(text) => Some(text.clone()),
        _ => None,
    }
}
