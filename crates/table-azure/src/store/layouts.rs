//! Tables, and the layouts of their kinds: a row for each table in a table of the account.

use table_engine::__executor::LayoutTexts;
use table_engine::odata::{Metadata, Writer};
use table_engine::row::key::NUMBERS;
use table_engine::{DynamicEntity, ETag, Error, ErrorKind, Result, Value};

use super::service::Service;
use super::table::TableEntry;
use super::{explain, records};
use crate::client::{Operation, Outcome, PageRequest, Refusal};

/// The table in which layouts are noted.
const TABLE: &str = "TcLayouts";
/// The table with the keys by which values are sealed.
pub(super) const KEYS: &str = "TcKeys";
/// The row of a table has this row key.
const ROW: &str = "layouts";
/// The property with the table's name as it was created.
const NAME: &str = "Name";
/// The property with the number that the table has as long as it is there.
const ID: &str = "Id";
/// How often a note is tried while the table for it is being made.
const ATTEMPTS: u32 = 4;

/// What is noted of a table.
#[derive(Debug, Default)]
pub(super) struct Noted {
    pub(super) texts: LayoutTexts,
    name: Option<String>,
    id: Option<u32>,
    etag: Option<ETag>,
}

impl Noted {
    fn read(row: &DynamicEntity) -> Self {
        let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
        let id = row.get(ID).and_then(Value::as_i64).and_then(|id| u32::try_from(id).ok());
        let id = id.filter(|id| *id < NUMBERS);
        let texts = (0..).map_while(|at| Some((text(&kind_name(at))?, text(&layout_name(at))?))).collect();
        Self { texts, name: text(NAME), id, etag: row.etag() }
    }
}

fn kind_name(at: usize) -> String {
    format!("Kind{at:03}")
}

fn layout_name(at: usize) -> String {
    format!("Layout{at:03}")
}

impl Service {
    fn layouts_table(&self) -> String {
        self.remote(TABLE)
    }

    /// Returns what is noted of a table of this name; nothing where there is no such note.
    async fn noted(&self, name: &str) -> Result<Noted> {
        let row = self.note_row(&name.to_ascii_lowercase(), ROW).await?;
        Ok(row.as_ref().map(Noted::read).unwrap_or_default())
    }

    /// Returns a row of the table of layouts, if it is there.
    pub(super) async fn note_row(&self, partition: &str, row: &str) -> Result<Option<DynamicEntity>> {
        if !self.settings.has_layouts {
            return Ok(None);
        }
        match self.client.entity(&self.layouts_table(), partition, row).await.map_err(explain::unread) {
            // It is made with the first note.
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(None),
            found => found.map_err(unreached),
        }
    }

    /// Returns the layouts that are noted of a table.
    pub(super) async fn layouts(&self, table: &TableEntry) -> Result<Noted> {
        table.check_exists()?;
        let noted = self.noted(table.name()).await?;
        table.set_layouts(Some(&noted.texts));
        Ok(noted)
    }

    /// Returns the layouts that are noted of a table, as they were some seconds ago at the earliest.
    pub(super) async fn recent_layouts(&self, table: &TableEntry) -> Result<LayoutTexts> {
        match table.known_layouts() {
            Some(known) => Ok(known),
            None => Ok(self.layouts(table).await?.texts),
        }
    }

    /// Notes the layout of a kind if all that are noted are still those known, and returns whether they are.
    pub(super) async fn note(
        &self,
        table: &TableEntry,
        known: &LayoutTexts,
        kind: &str,
        layout: &str,
    ) -> Result<bool> {
        if !self.settings.has_layouts {
            return Ok(true);
        }
        let noted = self.layouts(table).await?;
        if noted.texts != *known {
            return Ok(false);
        }
        let mut texts = noted.texts;
        texts.retain(|(other, _)| other != kind);
        texts.push((kind.to_owned(), layout.to_owned()));
        let is_noted = self.write_note(table, &texts, noted.etag).await?;
        table.set_layouts(None);
        Ok(is_noted)
    }

    /// Writes the row of a table, in the place of this version of it or where none is. Returns whether it was.
    async fn write_note(&self, table: &TableEntry, texts: &LayoutTexts, old: Option<ETag>) -> Result<bool> {
        let key = table.name().to_ascii_lowercase();
        let mut row = DynamicEntity::new(&key, ROW).with(NAME, table.name()).with(ID, i64::from(table.id()));
        for (at, (kind, layout)) in texts.iter().enumerate() {
            row.set(&kind_name(at), &**kind);
            row.set(&layout_name(at), &**layout);
        }
        let mut body = Vec::new();
        Writer::new(Metadata::Minimal).entity(&row, &mut body)?;
        let operation = match old {
            Some(etag) => Operation::replace(ROW, Some(etag.to_string()), body),
            None => Operation::insert(ROW, body),
        };
        match self.execute_note(&key, operation).await? {
            None => Ok(true),
            Some(refusal) if matches!(refusal.status, 409 | 412) => Ok(false),
            Some(refusal) => Err(unreached(explain::refused(&refusal))),
        }
    }

    /// Changes the row of a table, and makes the table of such rows if there is none.
    pub(super) async fn execute_note(&self, key: &str, operation: Operation) -> Result<Option<Refusal>> {
        let (table, operations) = (self.layouts_table(), [operation]);
        for _ in 0..ATTEMPTS {
            match self.client.execute(&table, key, &operations).await.map_err(explain::unwritten)? {
                Outcome::Done(_) => return Ok(None),
                Outcome::Refused { refusal, .. } if refusal.code == "TableNotFound" => {
                    match self.client.create_table(&table).await.map_err(explain::unwritten) {
                        Err(error) if error.kind() != ErrorKind::TableAlreadyExists => {
                            return Err(unreached(error));
                        }
                        // Another program may have made it meanwhile.
                        _ => {}
                    }
                }
                Outcome::Refused { refusal, .. } => return Ok(Some(refusal)),
            }
        }
        Err(explain::missing())
    }

    /// Creates a table, and notes that it has no kinds yet.
    pub(super) async fn make_table(&self, name: &str) -> Result<TableEntry> {
        self.client.create_table(&self.remote(name)).await.map_err(explain::unwritten)?;
        let made = self.entry(name, self.remote(name), TableEntry::random_id());
        if !self.settings.has_layouts {
            return Ok(made);
        }
        // What was noted of another table of the name counts no more.
        for _ in 0..ATTEMPTS {
            let old = self.noted(name).await?.etag;
            if self.write_note(&made, &LayoutTexts::new(), old).await? {
                return Ok(made);
            }
        }
        let because = "others go on noting layouts of a table of this name";
        Err(Error::new(ErrorKind::TableAlreadyExists).because(because))
    }

    /// Finds a table by its name, in whatever case.
    pub(super) async fn find_table(&self, name: &str) -> Result<TableEntry> {
        let noted = self.noted(name).await?;
        let created = noted.name.filter(|created| created.eq_ignore_ascii_case(name));
        let created = created.unwrap_or_else(|| name.to_owned());
        let remote = self.remote(&created);
        // A look at one row, which takes no right that reads do not take. A list of tables would.
        let first = PageRequest {
            select: vec!["PartitionKey".into(), "RowKey".into()],
            top: Some(1),
            ..PageRequest::default()
        };
        self.client.page(&remote, &first).await.map_err(explain::unread)?;
        Ok(self.entry(&created, remote, noted.id.unwrap_or_else(|| number_of(name))))
    }

    /// Returns a table that is known to be there.
    pub(super) async fn listed_table(&self, name: &str) -> Result<TableEntry> {
        let id = self.noted(name).await?.id;
        Ok(self.entry(name, self.remote(name), id.unwrap_or_else(|| number_of(name))))
    }

    /// Drops a table, and what is noted of it.
    pub(super) async fn drop_table(&self, table: &TableEntry) -> Result<()> {
        match self.client.delete_table(table.remote()).await.map_err(explain::unwritten) {
            Err(error) if error.kind() == ErrorKind::EntityNotFound => return Err(explain::missing()),
            done => done?,
        }
        if self.settings.has_layouts {
            let key = table.name().to_ascii_lowercase();
            // A note that is left is taken back when a table of the name is made again.
            self.execute_note(&key, Operation::delete(ROW, "*".into())).await?;
        }
        // What could not be removed would be another table's of the name.
        self.drop_records(table.name()).await?;
        Ok(())
    }

    /// Returns the names of the store's tables, in alphabetical order without regard to case.
    pub(super) async fn table_names(&self) -> Result<Vec<String>> {
        let all = self.client.tables().await.map_err(explain::unread)?;
        let names = all.iter().filter_map(|name| name.strip_prefix(&*self.settings.prefix));
        let is_hidden =
            |name: &str| [TABLE, KEYS, records::TABLE].iter().any(|own| name.eq_ignore_ascii_case(own));
        let own = names.filter(|name| !name.is_empty() && !is_hidden(name));
        let mut names: Vec<_> = own.map(str::to_owned).collect();
        names.sort_by_key(|name| name.to_ascii_lowercase());
        Ok(names)
    }
}

/// Returns the number of a table of which none is noted: of its name, so that every handle has the same.
fn number_of(name: &str) -> u32 {
    // FNV-1a.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    });
    hash % NUMBERS
}

/// Returns an error of the table of layouts, which names it.
#[cold]
fn unreached(error: Error) -> Error {
    if error.kind() != ErrorKind::AccessDenied {
        return error;
    }
    let more = format!(
        "; layouts are noted in the table `{TABLE}`: give a credential that reaches it, or open by `AzureOptions::assume_layouts`"
    );
    error.and(&more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_is_written() {
        let row = DynamicEntity::new("company", ROW)
            .with(NAME, "Company")
            .with(ID, 1_000_000_000_i64)
            .with("Kind000", "employee")
            .with("Layout000", "one")
            .with("Kind001", "lacks its layout");
        let noted = Noted::read(&row);
        assert_eq!(noted.texts, [("employee".to_owned(), "one".to_owned())]);
        assert_eq!((noted.name.as_deref(), noted.id), (Some("Company"), Some(1_000_000_000)));
        for id in [-1, 1 << 30] {
            assert_eq!(Noted::read(&DynamicEntity::new("a", ROW).with(ID, id)).id, None);
        }
    }

    #[test]
    fn a_number_is_of_a_name_without_its_case() {
        assert_eq!(number_of("Company"), number_of("cOMPANY"));
        assert_ne!(number_of("Company"), number_of("Archive"));
    }
}
