//! A store in a schema of a PostgreSQL database.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(feature = "blob")]
use std::time::Instant;

#[cfg(feature = "blob")]
use table_engine::__executor::Blobs;
#[cfg(feature = "queue")]
use table_engine::__executor::Queues;
use table_engine::__executor::{
    self as executor, Abilities, AsyncBackend, Backend, Committed, Dropped, HasVault, Loader,
    OneSnapshotForEachThread, Outbox, PackedRow, Plan, Propagators, Refused, RetryFairness, SealedAt,
    Sealing, ServiceRecords, TableExec,
};
use table_engine::model::names;
use table_engine::schema::{PeriodTables, Schema};
use table_engine::{Error, ErrorKind, Result, Ticks};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

#[cfg(feature = "blob")]
use crate::blobs::{BlobTables, SWEPT_EVERY};
use crate::catalog::{Catalog, Found, column};
use crate::clock::Clock;
use crate::commit;
use crate::connection::Call;
use crate::driver::DrivenConnection;
use crate::error::{damaged, missing, of_server};
use crate::loader::PostgresLoader;
use crate::options::PostgresOptions;
use crate::outbox::{self, PlanEntries};
use crate::param::Params;
use crate::pool::{Connector, Pool};
#[cfg(feature = "queue")]
use crate::queues::PostgresQueues;
use crate::sealing::StoreKeys;
use crate::snapshot::PostgresSnapshot;
use crate::table::{PostgresTable, TableEntry};
use crate::token::{Token, Tokens, identity_bytes, random};
use crate::transaction::transaction;
use crate::work::Work;
use crate::{dropping, periods, rename};

/// What the store can do with a plan.
pub const ABILITIES: Abilities = Abilities { queues: cfg!(feature = "queue"), ..Abilities::ALL };

/// A store.
pub(crate) struct PostgresStore {
    pub(crate) pool: Arc<Pool>,
    pub(crate) catalog: Catalog,
    /// The names of the store's own tables that plans name.
    pub(crate) commits: String,
    pub(crate) state: String,
    pub(crate) outbox: String,
    /// Tells the store from all others.
    pub(crate) identity: u64,
    pub(crate) clock: Clock,
    /// The last generation that an answer has shown.
    pub(crate) generation: AtomicI64,
    pub(crate) keys: StoreKeys,
    /// What tells the store from all others, as what is sealed is bound to it.
    pub(crate) bytes: [u8; 16],
    #[cfg(feature = "blob")]
    pub(crate) blobs: BlobTables,
    /// When blobs were looked for last that nothing leads to.
    #[cfg(feature = "blob")]
    pub(crate) swept: Mutex<Option<Instant>>,
    pub(crate) propagators: Arc<Propagators>,
    fairness: RetryFairness,
    /// Whether calls that are awaited are answered later, and not at once by the thread that polls.
    is_awaited: bool,
    pub(crate) tokens: Tokens,
    #[cfg(feature = "queue")]
    queues: PostgresQueues,
    entries: Mutex<HashMap<u32, Arc<TableEntry>>>,
}

impl PostgresStore {
    /// Opens the store in a schema of the database, made if there is none.
    pub(crate) fn open(options: &PostgresOptions, connector: Connector) -> Result<Arc<Self>> {
        let pool = Pool::new(connector);
        let catalog = Catalog::new(options.schema_name());
        let connection = pool.blocking()?;
        let ask = |call: &Call| connection.wait(connection.query(call)).map_err(of_server);
        let looked = ask(&catalog.look())?;
        let found = looked.first().ok_or_else(|| damaged("the answer of the server"))?;
        let (is_there, has_schema): (bool, bool) = (column(found, 0)?, column(found, 1)?);
        if !is_there {
            if !options.creates() {
                let schema = options.schema_name();
                let because = format!(
                    "there is no store in the schema `{schema}` of the database; `PostgresOptions::create(true)` makes one"
                );
                let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
                return Err(executor::error(ErrorKind::Io, because).caused_by(missing));
            }
            let made = catalog.make(random()?.cast_signed(), has_schema);
            connection.wait(connection.execute(&made)).map_err(of_server)?;
        }
        let (identity, generation) = catalog.identity(&ask(&catalog.store())?)?;
        let identity = identity.cast_unsigned();
        // A role that may only read removes nothing.
        drop(connection.wait(connection.execute(&Tokens::remove_left(&catalog.table("_commits")))));
        drop(connection);
        let bytes = identity_bytes(identity);
        Ok(Arc::new(Self {
            keys: StoreKeys::open(options, &pool, &catalog, bytes)?,
            bytes,
            #[cfg(feature = "blob")]
            blobs: BlobTables::new(&catalog),
            #[cfg(feature = "blob")]
            swept: Mutex::default(),
            #[cfg(feature = "queue")]
            queues: PostgresQueues::new(&pool, &catalog, identity)?,
            pool,
            commits: catalog.table("_commits"),
            state: catalog.table("_store"),
            outbox: outbox::table(&catalog),
            propagators: Arc::new(Propagators::new(options.propagates_manually())),
            catalog,
            identity,
            clock: Clock::default(),
            generation: AtomicI64::new(generation),
            fairness: RetryFairness::default(),
            is_awaited: options.is_awaited(),
            tokens: Tokens::new()?,
            entries: Mutex::default(),
        }))
    }

    /// Returns a token that no other attempt has.
    pub(crate) fn token(&self) -> Token {
        self.tokens.next()
    }

    /// Returns the answer to a statement that reads.
    pub(crate) fn query(&self, call: &Call) -> Result<Vec<Row>> {
        self.pool.query(call)
    }

    /// Returns the answer to a statement that reads rows; what of them is sealed opens with no key that is destroyed by then.
    pub(crate) fn read(&self, call: Call) -> Result<Vec<Row>> {
        let mut calls = vec![call];
        self.keys.ask_with(&mut calls);
        self.read_last(self.pool.query_all(&calls)?)
    }

    /// Returns the answer as [`read`](Self::read) does, and waits for it without a thread.
    pub(crate) async fn read_awaited(&self, call: Call) -> Result<Vec<Row>> {
        let mut calls = vec![call];
        self.keys.ask_with(&mut calls);
        self.read_last(self.pool.query_all_awaited(&calls).await?)
    }

    fn read_last(&self, mut answers: Vec<Vec<Row>>) -> Result<Vec<Row>> {
        self.keys.observe_last(&mut answers)?;
        Ok(answers.pop().unwrap_or_default())
    }

    /// Returns a row from an answer whose columns are its time, its kind and its body.
    pub(crate) fn packed(
        &self,
        entry: &TableEntry,
        partition: &str,
        row: &str,
        answer: &Row,
    ) -> Result<PackedRow> {
        self.clock.observe(column(answer, 0)?);
        entry.pack(partition, row, answer, 0)
    }

    /// Runs statements in a transaction that `begin` begins, again if the server chose another one: it is committed if they return
    /// something, and has changed nothing otherwise.
    pub(crate) fn transaction<T>(
        &self,
        begin: &str,
        run: impl Fn(&DrivenConnection) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        transaction(&self.pool, begin, run)
    }

    /// Runs statements in a transaction that changes the list of tables: such transactions follow one another.
    pub(crate) fn change_tables<T>(&self, run: impl Fn(&DrivenConnection) -> Result<T>) -> Result<T> {
        let done = self.transaction(&self.catalog.begin_change(), |connection| run(connection).map(Some))?;
        done.ok_or_else(missing)
    }

    /// Makes a table in a transaction of that sort, unless there is one of this name.
    pub(crate) fn make_table(&self, connection: &DrivenConnection, table: &str) -> Result<Arc<TableEntry>> {
        let noted = connection.wait(connection.query(&self.catalog.note_table(table)));
        let answer = noted.map_err(|error| match error.code() {
            Some(code) if *code == SqlState::UNIQUE_VIOLATION => {
                executor::error(ErrorKind::TableAlreadyExists, "")
            }
            _ => of_server(error),
        })?;
        let row = answer.first().ok_or_else(missing)?;
        let found = Found::read(row, 0)?.ok_or_else(missing)?;
        connection.wait(connection.execute(&self.catalog.make_table(&found))).map_err(of_server)?;
        self.entry(&found)
    }

    /// Returns the queues of the store.
    #[cfg(feature = "queue")]
    pub(crate) fn own_queues(&self) -> &PostgresQueues {
        &self.queues
    }

    /// Tells those of this process who wait for what a plan has brought.
    pub(crate) fn tell_of(&self, work: &Work) {
        #[cfg(feature = "queue")]
        if work.messages.is_some() {
            self.queues.arrivals().notify();
        }
        if work.entries.as_ref().is_some_and(PlanEntries::has_news) {
            self.propagators.notify();
        }
    }

    /// Returns what this process knows of a table.
    pub(crate) fn entry(&self, found: &Found) -> Result<Arc<TableEntry>> {
        let (id, rows) = (found.number()?, self.catalog.rows(found));
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = entries.get(&id).filter(|known| known.name == found.name && known.rows == rows) {
            return Ok(known.clone());
        }
        let made = Arc::new(TableEntry::new(id, found.name.clone(), rows, self.keys.of_table(id)));
        entries.insert(id, made.clone());
        Ok(made)
    }

    /// Forgets a table that is no more.
    pub(crate) fn forget(&self, id: u32) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    pub(crate) fn table(self: &Arc<Self>, entry: Arc<TableEntry>) -> Arc<dyn TableExec> {
        Arc::new(PostgresTable { store: self.clone(), entry })
    }

    /// Says of a table that was not found by its number what it is called now, if it has another name.
    #[cold]
    pub(crate) fn say_new_name(&self, entry: &TableEntry, error: Error) -> Error {
        if error.kind() != ErrorKind::TableNotFound {
            return error;
        }
        let asked = self.query(&self.catalog.name_of(entry.id));
        let name = asked.ok().and_then(|answer| column::<String>(answer.first()?, 0).ok());
        match name.filter(|name| *name != entry.name) {
            Some(name) => executor::error(error.kind(), format!("the table is called `{name}` now")),
            None => error,
        }
    }

    /// Returns the number of the table of this name.
    pub(crate) fn number_of(&self, table: &str) -> Result<i32> {
        names::check_table(table)?;
        Catalog::found(table, &self.query(&self.catalog.find(table))?).map(|found| found.id)
    }
}

impl HasVault for PostgresStore {
    fn vault(&self) -> Result<&dyn Sealing> {
        self.keys.vault()
    }

    fn identity(&self) -> Option<&[u8; 16]> {
        Some(&self.bytes)
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.propagators.over();
    }
}

impl Backend for PostgresStore {
    fn create(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        names::check_table(table)?;
        let made = self.change_tables(|connection| {
            periods::check_plain(&self, connection, table)?;
            self.make_table(connection, table)
        })?;
        Ok(self.table(made))
    }

    fn open(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        // What is no name is told apart from what names no table, as by every store.
        names::check_table(table)?;
        let found = Catalog::found(table, &self.query(&self.catalog.find(table))?)?;
        let entry = self.entry(&found)?;
        Ok(self.table(entry))
    }

    fn tables(&self) -> Result<Vec<String>> {
        self.query(&self.catalog.names())?.iter().map(|row| column(row, 0)).collect()
    }

    fn drop_tables(self: Arc<Self>, tables: &[&str]) -> Result<()> {
        dropping::drop_tables(&self, tables)
    }

    fn rename_table(&self, table: &str, name: &str) -> Result<()> {
        rename::rename(self, table, name)
    }

    fn make_period(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
        schema: &'static Schema,
    ) -> Result<Arc<dyn TableExec>> {
        periods::make(&self, tables, start, schema)
    }

    fn drop_periods(self: Arc<Self>, tables: &'static PeriodTables, floor: Ticks) -> Result<Dropped> {
        periods::drop_before(&self, tables, floor)
    }

    fn abilities(&self) -> Abilities {
        ABILITIES
    }

    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<Committed, Refused> {
        let work = Work::of(self, tables, plan, sealed_at)?;
        self.fairness.pass();
        let committed = commit::commit(self, &work).map_err(|refused| work.say_new_name(self, refused))?;
        self.tell_of(&work);
        Ok(committed)
    }

    fn async_backend(&self) -> Option<&dyn AsyncBackend> {
        self.is_awaited.then_some(self)
    }

    #[cfg(feature = "queue")]
    fn queues(&self) -> Result<&dyn Queues> {
        Ok(&self.queues)
    }

    #[cfg(not(feature = "queue"))]
    fn queues(&self) -> Result<&dyn executor::Queues> {
        Err(without("queues", "queue"))
    }

    #[cfg(not(feature = "blob"))]
    fn blobs(self: Arc<Self>) -> Result<Arc<dyn executor::Blobs>> {
        Err(without("blobs", "blob"))
    }

    #[cfg(feature = "blob")]
    fn blobs(self: Arc<Self>) -> Result<Arc<dyn Blobs>> {
        self.sweep_blobs(SWEPT_EVERY);
        Ok(self)
    }

    fn outbox(&self) -> Result<&dyn Outbox> {
        Ok(self)
    }

    fn service_records(&self) -> Result<&dyn ServiceRecords> {
        Ok(self)
    }

    fn retry_fairness(&self) -> &RetryFairness {
        &self.fairness
    }

    fn loader(&self) -> Option<Box<dyn Loader + '_>> {
        Some(Box::new(PostgresLoader::new(self)))
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(Box::new(PostgresSnapshot::of_now(self)?))
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn path(&self) -> &Path {
        Path::new("")
    }
}

/// Statements without parameters.
pub(crate) fn plain(sql: &str) -> Call {
    Call { sql: sql.to_owned(), params: Params::default() }
}

/// Returns the error of an ability that the store has by a feature of this crate, which is off.
#[cfg(not(all(feature = "blob", feature = "queue")))]
#[cold]
fn without(ability: &str, feature: &str) -> Error {
    let because = format!("the ability `{ability}` takes the feature `{feature}` of table-postgres");
    executor::error(ErrorKind::Unsupported, because)
}
