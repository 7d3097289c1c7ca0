//! `tables ls`: the tables and the kinds of entities in them.

use std::collections::BTreeMap;

use clap::Args;
use table_core::introspect::{IndexCondition, KindInfo, RowOf};
use table_core::{ErrorKind, Query, Tables};

use crate::failure::{Exit, Failure};
use crate::kinds::Kinds;
use crate::output::Cell;
use crate::paging::{Found, Pages};
use crate::session::Session;
use crate::source::Opened;

/// The arguments of `ls`.
#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// Count entities and copies of each kind, which reads every row
    #[arg(long)]
    count: bool,
}

const COLUMNS: [&str; 6] = ["table", "kind", "version", "indexes", "rows", "bytes"];

/// How many rows of a kind there are.
#[derive(Clone, Copy, Default)]
struct Counted {
    entities: u64,
    copies: u64,
}

impl Ls {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let held = held(session.opened()?)?;
        let (kinds, exit) = kinds(session, &tables)?;
        let mut columns = COLUMNS.to_vec();
        if self.count {
            columns.extend(["entities", "copies"]);
        }
        let mut listed = Vec::new();
        for table in tables.tables()? {
            let counted = if self.count { count(&tables, &table, &kinds)? } else { BTreeMap::new() };
            let (rows, bytes) = held
                .get(&table)
                .map_or((Cell::Null, Cell::Null), |&(rows, bytes)| (Cell::count(rows), Cell::count(bytes)));
            let of_table: Vec<_> = kinds.in_table(&table).collect();
            let undeclared = counted.get("").copied();
            if of_table.is_empty() || undeclared.is_some() {
                let mut line =
                    vec![Cell::text(&table), Cell::Null, Cell::Null, Cell::Null, rows.clone(), bytes.clone()];
                self.add(&mut line, undeclared.unwrap_or_default());
                listed.push(line);
            }
            for (at, kind) in of_table.into_iter().enumerate() {
                // What a table holds is said once for it.
                let is_first = at == 0 && undeclared.is_none();
                let once = |cell: &Cell| if is_first { cell.clone() } else { Cell::Null };
                let mut line = vec![
                    Cell::text(&table),
                    Cell::text(kind.kind()),
                    Cell::Integer(kind.version().into()),
                    indexes(kind),
                    once(&rows),
                    once(&bytes),
                ];
                self.add(&mut line, counted.get(kind.kind()).copied().unwrap_or_default());
                listed.push(line);
            }
        }
        let mut lines = session.output().lines(&columns);
        for line in listed {
            lines.push(line)?;
        }
        lines.finish()?;
        Ok(exit)
    }

    fn add(&self, line: &mut Vec<Cell>, counted: Counted) {
        if self.count {
            line.extend([Cell::count(counted.entities), Cell::count(counted.copies)]);
        }
    }
}

/// Returns the kinds that are noted. Where damage hides them, the tables are listed without, and the exit code says so.
fn kinds(session: &mut Session<'_>, tables: &Tables) -> Result<(Kinds, Exit), Failure> {
    match tables.kinds() {
        Ok(kinds) => Ok((Kinds::of(kinds), Exit::Done)),
        Err(error) if error.kind().is_damage() => {
            session.note(format!("the kinds are not listed: {error}"));
            Ok((Kinds::of(Vec::new()), Exit::Damaged))
        }
        // A backend that notes none.
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok((Kinds::of(Vec::new()), Exit::Done)),
        Err(error) => Err(error.into()),
    }
}

/// Returns how many rows and bytes each table has, of a store that counts them.
fn held(opened: &Opened) -> Result<BTreeMap<String, (u64, u64)>, Failure> {
    let Ok(store) = opened.directory("stats") else { return Ok(BTreeMap::new()) };
    let stats = match store.stats() {
        Ok(stats) => stats,
        Err(error) if error.kind().is_damage() => return Ok(BTreeMap::new()),
        Err(error) => return Err(error.into()),
    };
    Ok(stats.tables.into_iter().map(|table| (table.name, (table.entities, table.bytes))).collect())
}

/// Returns how many rows there are of each kind, and under the empty name those of no declared kind.
fn count(tables: &Tables, name: &str, kinds: &Kinds) -> Result<BTreeMap<String, Counted>, Failure> {
    let table = tables.dynamic_table(name)?;
    let query = Query::new().select([crate::kinds::ENTITY_TYPE]);
    let mut pages = Pages::new(&table, &query);
    let mut counted: BTreeMap<String, Counted> = BTreeMap::new();
    while let Some(rows) = pages.next(usize::MAX)? {
        for found in rows {
            let found = match &found {
                Found::Row(row) => kinds.identify(name, row),
                Found::Unreadable(row) => kinds.identify_keys(name, &row.partition, &row.row),
            };
            let of =
                counted.entry(found.as_ref().map_or("", |(kind, _)| kind.kind()).to_owned()).or_default();
            match found {
                None | Some((_, RowOf::Entity)) => of.entities += 1,
                Some(_) => of.copies += 1,
            }
        }
    }
    Ok(counted)
}

/// Returns the names of the indexes whose rows lie in the table, and how far those are that can't be read.
fn indexes(kind: &KindInfo) -> Cell {
    let mut named = Vec::new();
    let here = kind.indexes().into_iter().filter(|index| index.table.eq_ignore_ascii_case(kind.table()));
    for index in here {
        named.push(match index.condition {
            None | Some(IndexCondition::Ready) => index.name,
            Some(condition) => format!("{} ({condition})", index.name),
        });
    }
    if named.is_empty() { Cell::Null } else { Cell::Text(named.join(", ")) }
}
