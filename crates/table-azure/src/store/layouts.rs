//! Tables, and the layouts of their kinds: a row for each table in a table of the account.

use std::sync::Arc;
use std::time::{Duration, Instant};

use table_engine::__executor::LayoutTexts;
use table_engine::odata::{Metadata, Writer};
use table_engine::row::key::NUMBERS;
use table_engine::{DynamicEntity, Error, ErrorKind, Result};

use super::kinds::{Lease, Noted};
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
/// How often a note is tried while the table for it is being made.
const ATTEMPTS: u32 = 4;
/// How long what was read of layouts is known to those who write rows by their properties.
const KNOWN: Duration = Duration::from_secs(5);

impl Service {
    pub(super) fn layouts_table(&self) -> String {
        self.remote(TABLE)
    }

    /// Returns what is noted of a table of this name; nothing where there is no such note.
    async fn noted(&self, name: &str) -> Result<Noted> {
        let row = self.note_row(&name.to_ascii_lowercase(), ROW).await?;
        Ok(row.as_ref().map(Noted::read).transpose()?.unwrap_or_default())
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

    /// Reads what is noted of a table now.
    pub(super) async fn read_noted(&self, table: &TableEntry) -> Result<Arc<Noted>> {
        table.check_exists()?;
        let asked = Instant::now();
        let noted = self.noted(table.name()).await?;
        Ok(table.learn(noted, asked))
    }

    /// Returns what is noted of a table, which is gone by until the lease of it ends.
    pub(super) async fn leased(&self, table: &TableEntry) -> Result<(Arc<Noted>, Lease)> {
        table.check_exists()?;
        if let Some(known) = table.known().filter(|(_, lease)| lease.holds()) {
            return Ok(known);
        }
        let asked = Instant::now();
        let noted = table.learn(self.noted(table.name()).await?, asked);
        let lease = Lease::of(&noted, asked);
        Ok((noted, lease))
    }

    /// Returns the layouts that are noted of a table, as they were some seconds ago at the earliest.
    pub(super) async fn recent_layouts(&self, table: &TableEntry) -> Result<LayoutTexts> {
        table.check_exists()?;
        match table.known().filter(|(_, lease)| lease.is_younger(KNOWN)) {
            Some((known, _)) => Ok(known.texts.clone()),
            None => Ok(self.read_noted(table).await?.texts.clone()),
        }
    }

    /// Notes what is to be noted of a table in the place of what was, and whatever becomes of jobs with it. Returns whether it is
    /// noted: not if others have noted something since.
    pub(super) async fn write_noted(
        &self,
        table: &TableEntry,
        mut noted: Noted,
        jobs: Vec<Operation>,
    ) -> Result<bool> {
        let key = table.name().to_ascii_lowercase();
        noted.name.get_or_insert_with(|| table.name().to_owned());
        noted.id.get_or_insert_with(|| table.id());
        noted.set_first_lease(self.settings.lease);
        let mut body = Vec::new();
        Writer::new(Metadata::Minimal).entity(noted.row(&key, ROW), &mut body)?;
        let own = match noted.etag {
            Some(etag) => Operation::replace(ROW, Some(etag.to_string()), body),
            None => Operation::insert(ROW, body),
        };
        let operations: Vec<_> = [own].into_iter().chain(jobs).collect();
        table.forget();
        match self.execute_note(&key, &operations).await? {
            None => Ok(true),
            Some(refusal) if matches!(refusal.status, 404 | 409 | 412) => Ok(false),
            Some(refusal) => Err(unreached(explain::refused(&refusal))),
        }
    }

    /// Changes the row of a table, and makes the table of such rows if there is none.
    pub(super) async fn execute_note(&self, key: &str, operations: &[Operation]) -> Result<Option<Refusal>> {
        let table = self.layouts_table();
        for _ in 0..ATTEMPTS {
            match self.client.execute(&table, key, operations).await.map_err(explain::unwritten)? {
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
        let is_new = self.client.make_table(&self.remote(name)).await.map_err(explain::unwritten)?;
        let id = if self.settings.has_layouts { TableEntry::random_id() } else { number_of(name) };
        let made = self.entry(name, self.remote(name), id);
        if !self.settings.has_layouts {
            return Ok(made);
        }
        // What was noted of another table of the name counts no more.
        for _ in 0..ATTEMPTS {
            let before = self.noted(name).await?;
            if before.id == Some(id) {
                return Ok(made);
            }
            if before.etag.is_some() {
                if !is_new {
                    // The table may be another program's: without its number what is sealed in it would not open.
                    let because = "a table of this name is there, and it is unknown who has made it: open it";
                    return Err(Error::new(ErrorKind::TableAlreadyExists).because(because));
                }
                self.forget_jobs(name).await?;
            }
            let mut noted = Noted::of_new(self.settings.lease);
            noted.etag = before.etag;
            if self.write_noted(&made, noted, Vec::new()).await? {
                return Ok(made);
            }
        }
        let because = "others go on noting layouts of a table of this name";
        Err(Error::new(ErrorKind::TableAlreadyExists).because(because))
    }

    /// Finds a table by its name, in whatever case.
    pub(super) async fn find_table(&self, name: &str) -> Result<TableEntry> {
        let asked = Instant::now();
        let noted = self.noted(name).await?;
        let created = noted.name.clone().filter(|created| created.eq_ignore_ascii_case(name));
        let created = created.unwrap_or_else(|| name.to_owned());
        let remote = self.remote(&created);
        // A look at one row, which takes no right that reads do not take. A list of tables would.
        let first = PageRequest {
            select: vec!["PartitionKey".into(), "RowKey".into()],
            top: Some(1),
            ..PageRequest::default()
        };
        self.client.page(&remote, &first).await.map_err(explain::unread)?;
        let found = self.entry(&created, remote, noted.id.unwrap_or_else(|| number_of(name)));
        found.learn(noted, asked);
        Ok(found)
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
            // Notes that are left are taken back when a table of the name is made again.
            self.execute_note(&key, &[Operation::delete(ROW, "*".into())]).await?;
            self.forget_jobs(table.name()).await?;
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
    fn a_number_is_of_a_name_without_its_case() {
        assert_eq!(number_of("Company"), number_of("cOMPANY"));
        assert_ne!(number_of("Company"), number_of("Archive"));
    }
}
