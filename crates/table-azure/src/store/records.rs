//! Service records: rows of a table of their own, a partition for the store and one for each table.
//!
//! What a partition has is listed in a row of it, which is written with each record that comes or goes: so no more come than an
//! owner may have.

use table_engine::__executor::{Expected, RECORDS, RecordOwner, ServiceRecords, too_many};
use table_engine::{DynamicEntity, Error, ErrorKind, Result, Value};

use super::commit::by_chance;
use super::outbox::write;
use super::planned::body;
use super::rings::Token;
use super::service::Service;
use super::{AzureStore, explain, lost};
use crate::client::{Failure, Operation, Outcome};

/// The table in which records are kept.
pub(super) const TABLE: &str = "TcRecords";
/// What the row keys of records begin with; the name follows. Names have case, and so have row keys.
const RECORD: &str = "record_";
/// The row that lists the names.
const LIST: &str = "names";
/// The property with the names, with a space between two.
const NAMES: &str = "Names";
/// The property with the value.
const VALUE: &str = "Value";
/// The property by which a write whose answer was lost is known again.
const WRITE: &str = "Write";
/// How often a record is written that others write meanwhile.
const ROUNDS: u32 = 32;

/// A record that is to be replaced.
struct Replacement {
    /// The name of the table that it belongs to; `None` if it does to the store.
    table: Option<String>,
    partition: String,
    name: String,
    value: Option<Vec<u8>>,
    demand: Demand,
    /// Tells the write from every other.
    token: String,
}

/// What a record must be for its replacement to take place.
enum Demand {
    Any,
    Absent,
    Value(Vec<u8>),
}

/// What has become of a record that was to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Done,
    Refused,
    /// An answer was lost: the next look tells it, unless others have written the record since.
    Perhaps,
}

impl Replacement {
    fn owner(&self) -> RecordOwner<'_> {
        self.table.as_deref().map_or(RecordOwner::Store, RecordOwner::Table)
    }

    /// Returns whether what was found is what must be there.
    fn takes_place(&self, found: Option<&[u8]>) -> bool {
        let expected = match &self.demand {
            Demand::Any => Expected::Any,
            Demand::Absent => Expected::Absent,
            Demand::Value(value) => Expected::Value(value),
        };
        expected.is_met(found)
    }

    fn key(&self) -> String {
        format!("{RECORD}{}", self.name)
    }

    /// Returns whether a row is the one that this has written.
    fn is_written(&self, row: Option<&DynamicEntity>) -> bool {
        row.and_then(|row| row.get(WRITE)).and_then(Value::as_str) == Some(&self.token)
    }
}

fn value_of(row: &DynamicEntity) -> Option<&[u8]> {
    row.get(VALUE).and_then(Value::as_bytes)
}

fn names_of(row: Option<&DynamicEntity>) -> Vec<String> {
    let names = row.and_then(|row| row.get(NAMES)).and_then(Value::as_str).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

impl Service {
    fn records_table(&self) -> String {
        self.remote(TABLE)
    }

    /// Returns a row of the table of records, if it is there.
    async fn record_row(&self, partition: &str, row: &str) -> Result<Option<DynamicEntity>> {
        match self.client.entity(&self.records_table(), partition, row).await.map_err(explain::unread) {
            // It is made with the first record.
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(None),
            found => found,
        }
    }

    /// Makes the change of a record and of the list of names. The refusal of a row that is another by now is no error.
    async fn write_record(&self, partition: &str, operations: &[Operation]) -> Result<Written> {
        let table = self.records_table();
        match self.client.execute(&table, partition, operations).await {
            Ok(Outcome::Done(_)) => Ok(Written::Done),
            Ok(Outcome::Refused { refusal, .. }) if refusal.code == "TableNotFound" => {
                match self.client.create_table(&table).await.map_err(explain::unwritten) {
                    // Another program may have made it meanwhile.
                    Err(error) if error.kind() != ErrorKind::TableAlreadyExists => Err(error),
                    _ => Ok(Written::Refused),
                }
            }
            Ok(Outcome::Refused { refusal, may_be_done, .. })
                if matches!(refusal.status, 404 | 409 | 412) =>
            {
                Ok(if may_be_done { Written::Perhaps } else { Written::Refused })
            }
            Ok(Outcome::Refused { refusal, .. }) => Err(explain::refused(&refusal)),
            Err(Failure::NoAnswer(_) | Failure::Unsettled(_)) => Ok(Written::Perhaps),
            Err(failure) => Err(explain::unwritten(failure)),
        }
    }

    async fn replace_record(&self, replacement: &Replacement) -> Result<bool> {
        let (partition, key) = (&*replacement.partition, replacement.key());
        let (mut has_removed, mut may_be_done) = (false, false);
        for round in 0..ROUNDS {
            let found = self.record_row(partition, &key).await;
            let old = found.map_err(|error| if may_be_done { lost(&error) } else { error })?;
            if replacement.is_written(old.as_ref()) || (has_removed && old.is_none()) {
                return Ok(true);
            }
            if !replacement.takes_place(old.as_ref().and_then(value_of)) {
                // Others may have replaced what this has written.
                return if may_be_done { Err(explain::unknown()) } else { Ok(false) };
            }
            let mut operations = Vec::new();
            if old.is_some() != replacement.value.is_some() {
                let list = self.record_row(partition, LIST).await?;
                let mut names = names_of(list.as_ref());
                names.retain(|name| *name != replacement.name);
                if replacement.value.is_some() {
                    if names.len() >= RECORDS {
                        return Err(too_many(replacement.owner(), &replacement.name));
                    }
                    names.push(replacement.name.clone());
                }
                let listed = DynamicEntity::new(partition, LIST).with(NAMES, names.join(" "));
                operations.push(write(list.as_ref(), LIST, body(&listed)?));
            }
            match (&replacement.value, old.as_ref().and_then(DynamicEntity::etag)) {
                (Some(value), _) => {
                    let row = DynamicEntity::new(partition, &key)
                        .with(VALUE, value.clone())
                        .with(WRITE, &*replacement.token);
                    operations.push(write(old.as_ref(), &key, body(&row)?));
                }
                (None, Some(etag)) => {
                    has_removed = true;
                    operations.push(Operation::delete(&key, etag.to_string()));
                }
                // To remove what is not there is no change.
                (None, None) => return Ok(true),
            }
            match self.write_record(partition, &operations).await? {
                Written::Done => return Ok(true),
                Written::Perhaps => may_be_done = true,
                Written::Refused => {}
            }
            tokio::time::sleep(by_chance(round)).await;
        }
        if may_be_done {
            return Err(explain::unknown());
        }
        let because = format!("others go on writing the service record `{}`", replacement.name);
        Err(Error::new(ErrorKind::ConditionNotMet).because(because))
    }

    /// Removes the records of a table that was dropped.
    pub(super) async fn drop_records(&self, table: &str) -> Result<()> {
        let partition = of_table(table);
        for round in 0..ROUNDS {
            let list = match self.record_row(&partition, LIST).await {
                // A credential of one table alone has kept no records.
                Err(error) if error.kind() == ErrorKind::AccessDenied => return Ok(()),
                found => found?,
            };
            let Some(list) = list else { return Ok(()) };
            let mut operations = vec![Operation::delete(LIST, "*".to_owned())];
            for name in names_of(Some(&list)) {
                operations.push(Operation::delete(&format!("{RECORD}{name}"), "*".to_owned()));
            }
            if self.write_record(&partition, &operations).await? == Written::Done {
                return Ok(());
            }
            tokio::time::sleep(by_chance(round)).await;
        }
        Err(Error::new(ErrorKind::ConditionNotMet)
            .because("others go on writing the table's service records"))
    }
}

/// Returns the partition with a table's records.
fn of_table(table: &str) -> String {
    format!("table_{}", table.to_ascii_lowercase())
}

impl AzureStore {
    /// Returns the partition of an owner's records, which is there.
    fn records_of(&self, owner: RecordOwner<'_>) -> Result<String> {
        match owner {
            RecordOwner::Store => Ok("store".to_owned()),
            RecordOwner::Table(table) => Ok(of_table(self.find(table)?.name())),
            RecordOwner::Queue(_) => {
                let because = "the store has no queues: that takes the ability `queues`";
                Err(Error::new(ErrorKind::Unsupported).because(because))
            }
        }
    }
}

impl ServiceRecords for AzureStore {
    fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>> {
        let partition = self.records_of(owner)?;
        let (service, key) = (self.service.clone(), format!("{RECORD}{name}"));
        let found = self.wait(async move { service.record_row(&partition, &key).await })?;
        Ok(found.as_ref().and_then(value_of).map(<[u8]>::to_vec))
    }

    fn replace(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        let partition = self.records_of(owner)?;
        let value = value.map(<[u8]>::to_vec);
        let demand = match expected {
            Expected::Any => Demand::Any,
            Expected::Absent => Demand::Absent,
            Expected::Value(value) => Demand::Value(value.to_vec()),
        };
        let (table, name, token) = (owner.table().map(str::to_owned), name.to_owned(), Token::new().text());
        let replacement = Replacement { table, partition, name, value, demand, token };
        let service = self.service.clone();
        self.wait(async move { service.replace_record(&replacement).await })
    }
}
