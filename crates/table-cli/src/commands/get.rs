//! `tables get`: one entity, and whether its copies agree with it.

use clap::Args;
use table_core::introspect::RowOf;
use table_core::schema::part_key;
use table_core::{DynamicEntity, DynamicTable, Tables};

use crate::copies::{CopyRow, WholeEntity};
use crate::failure::{Exit, Failure};
use crate::kinds::{ENTITY_TYPE, Kinds};
use crate::output::{Cell, Format};
use crate::owners;
use crate::rows::RowPrinter;
use crate::session::Session;
use crate::target::Target;
use crate::values::Given;

/// The arguments of `get`.
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// TABLE, TABLE/KIND or TABLE/KIND.INDEX
    target: Target,
    /// Of a table: PARTITION ROW. Of a kind: PROPERTY=VALUE for each property in the key
    #[arg(required = true, value_name = "KEY")]
    key: Vec<String>,
    /// Show each copy of the entity, and whether it agrees
    #[arg(long)]
    with_copies: bool,
}

impl Get {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let kinds = session.kinds()?;
        let (name, partition, row) = self.place(&kinds)?;
        let table = session.table(&name)?;
        let Some(found) = table.get(&partition, &row)? else {
            return Err(Failure::NotFound(format!(
                "table `{name}` has no row with partition key `{}` and row key `{}`",
                partition.escape_debug(),
                row.escape_debug()
            )));
        };
        let copies = if self.with_copies { Some(copies(&tables, &kinds, &table, &found)?) } else { None };
        print(session, &kinds, &table, found)?;
        let Some(copies) = copies else { return Ok(Exit::Done) };
        let is_sound = copies.iter().all(|copy| copy.state.is_sound());
        if session.output().format() == Format::Table {
            session.output().text("")?;
        }
        let mut lines = session.output().lines(&["copy", "table", "partition", "row", "state", "why"]);
        for copy in copies {
            let (partition, row) = copy.keys.map_or((Cell::Null, Cell::Null), |(partition, row)| {
                (Cell::Text(partition), Cell::Text(row))
            });
            let [state, why] = copy.state.cells();
            lines.push(vec![Cell::Text(copy.name), Cell::Text(copy.table), partition, row, state, why])?;
        }
        lines.finish()?;
        Ok(if is_sound { Exit::Done } else { Exit::Damaged })
    }

    /// Returns the table, the partition key and the row key that are meant.
    fn place(&self, kinds: &Kinds) -> Result<(String, String, String), Failure> {
        if !self.target.has_kind() {
            let [partition, row] = &self.key[..] else {
                return Err(Failure::Usage(format!(
                    "a row of a table is named by two keys: tables get {} PARTITION ROW",
                    self.target.table
                )));
            };
            return Ok((self.target.table.clone(), partition.clone(), row.clone()));
        }
        let (kind, index) = self.target.find(kinds)?;
        let kind = kinds.owner(kind);
        let keys = kind.keys(index)?;
        let given = self.key.iter().map(|key| Given::parse(key)).collect::<Result<Vec<_>, _>>();
        let given = given.map_err(|why| {
            let names: Vec<_> = keys.fields().into_iter().map(|field| format!("{}=..", field.name)).collect();
            Failure::Usage(format!("{why}: the key is {}", names.join(" ")))
        })?;
        let named: Vec<_> = given.iter().map(|given| (given.name.as_str(), given.text.as_str())).collect();
        let (partition, row) = keys.print_text(&named)?;
        let lies_in = kind.indexes().into_iter().find(|known| Some(known.name.as_str()) == index);
        let table = lies_in.map_or_else(|| kind.entities_table().to_owned(), |index| index.table);
        Ok((table, partition, row))
    }
}

/// What every row has, and is said once.
const OF_ALL: [&str; 3] = ["PartitionKey", "RowKey", ENTITY_TYPE];

/// Returns the parts of a wide entity whose head this row is, those that are there.
fn parts(kinds: &Kinds, table: &DynamicTable, head: &DynamicEntity) -> Result<Vec<DynamicEntity>, Failure> {
    let mut parts = Vec::new();
    let Some((kind, RowOf::Entity)) = kinds.identify(table.name(), head) else { return Ok(parts) };
    for of in kind.rows() {
        if let RowOf::Part(part) = of {
            parts.extend(table.get(head.partition_key(), &part_key(head.row_key(), part))?);
        }
    }
    Ok(parts)
}

/// Prints a row: for people with the type of each property.
fn print(
    session: &mut Session<'_>,
    kinds: &Kinds,
    table: &DynamicTable,
    found: DynamicEntity,
) -> Result<(), Failure> {
    if let Some((kind, of @ (RowOf::Index(_) | RowOf::Part(_)))) = kinds.identify(table.name(), &found) {
        let what = match of {
            RowOf::Index(index) => format!("a row of the index `{index}`"),
            _ => "a part of a wide entity".to_owned(),
        };
        session.note(format!("this is {what} of `{}`", kind.kind()));
    }
    let opens = session.options().keys.is_some();
    let printer = RowPrinter::new(kinds, table, opens);
    let parts = parts(kinds, table, &found)?;
    let rows = [&found].into_iter().chain(&parts);
    let types: Vec<_> = rows
        .flat_map(DynamicEntity::properties)
        .map(|(name, value)| (name.to_owned(), value.edm_type()))
        .collect();
    let more = [
        ("Timestamp", found.timestamp().map(|time| time.to_string())),
        ("ETag", found.etag().map(|etag| etag.to_string())),
    ];
    let mut record = printer.record(found)?;
    for part in parts {
        let of_part = printer.record(part)?;
        record.extend(of_part.into_iter().filter(|(name, _)| !OF_ALL.contains(&&**name)));
    }
    record.extend(more.map(|(name, text)| (name.to_owned(), Cell::shown(text))));
    if session.output().format() != Format::Table {
        let mut records = session.output().records(&[]);
        records.push(record)?;
        records.finish()?;
        return Ok(());
    }
    let mut lines = session.output().lines(&["property", "type", "value"]);
    for (name, cell) in record {
        let edm = types.iter().find(|(known, _)| *known == name).map(|(_, edm)| edm.name());
        // A number stands where a text would.
        let mut plain = String::new();
        cell.push_plain(&mut plain);
        lines.push(vec![Cell::Text(name), Cell::shown(edm), Cell::Text(plain)])?;
    }
    lines.finish()?;
    Ok(())
}

/// Returns the copies of the entity that a row is, or is a copy of.
fn copies(
    tables: &Tables,
    kinds: &Kinds,
    table: &DynamicTable,
    found: &DynamicEntity,
) -> Result<Vec<CopyRow>, Failure> {
    let Some((kind, of)) = kinds.identify(table.name(), found) else {
        return Err(Failure::Refused(format!(
            "the row is of no kind that table `{}` has noted, so it has no copies",
            table.name()
        )));
    };
    let kind = kinds.owner(kind);
    if of == RowOf::Entity {
        return Ok(WholeEntity::gather(table, kind, found)?.copies(tables)?);
    }
    let own = tables.dynamic_table(kind.entities_table())?;
    let entity = match owners::entity_of(kind, table, found)? {
        Some((partition, row)) => own.get(&partition, &row)?,
        None => {
            return Err(Failure::Refused(format!(
                "the row is one that many entities of `{}` give together",
                kind.kind()
            )));
        }
    };
    let Some(entity) = entity else {
        return Err(Failure::NotFound(format!(
            "the row is a copy of `{}`, and there is no such entity",
            kind.kind()
        )));
    };
    Ok(WholeEntity::gather(&own, kind, &entity)?.copies(tables)?)
}
