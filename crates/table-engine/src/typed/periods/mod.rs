//! Entities with a table for each period: which table is whose, and changes and reads of one entity.

mod change;
mod list;
mod read;
mod span;
mod template;
mod times;

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

pub use self::list::{DroppedPeriods, PeriodInfo};
pub use self::span::{InPeriodRange, InPeriodRangeAt, PeriodRange, PeriodsAt};
pub(crate) use self::times::Span;
pub use self::times::{Time, Times};

use crate::error::{Error, ErrorKind, Result};
use crate::executor::{ATTEMPTS, PeriodsSeen, TableExec};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::handle::tables::Tables;
use crate::model::Ticks;
use crate::schema::{PeriodTables, Schema};
use crate::typed::entity::InPeriods;
use crate::typed::table::Table;

/// The tables of entities of type `E`, which has one for each period: `Logins20140731`, `Logins20140801` and so on.
///
/// An entity's key says in which of them it lies. A period's table is made by the first entity that is written to it, and
/// goes with all its entities at once, however many those are: by [`drop_before`](Self::drop_before). What was dropped stays
/// dropped: a late entity is [`PeriodDropped`](ErrorKind::PeriodDropped). Reads make no table.
///
/// Cheap to clone, and may be shared between threads.
///
/// ```
/// use table_core::{Entity, ErrorKind, Store, Ticks};
///
/// #[derive(Entity)]
/// #[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
/// #[key(partition = "{user}", row = "{at:ticks}")]
/// struct Login {
///     user: String,
///     at: Ticks,
///     address: String,
/// }
///
/// # let store = Store::temporary()?;
/// # let at = |text: &str| text.parse::<Ticks>().unwrap();
/// let logins = store.periods::<Login>()?;
/// for day in ["2014-07-30T09:00", "2014-07-31T18:00"] {
///     logins.insert(&Login { user: "ann".into(), at: at(day), address: "10.0.0.7".into() })?;
/// }
/// assert_eq!(store.tables()?, ["Logins20140730", "Logins20140731"]);
/// assert!(logins.get(Login::key("ann", at("2014-07-31T18:00")))?.is_some());
///
/// // A day goes with its table.
/// logins.drop_before(at("2014-07-31"))?;
/// assert_eq!(store.tables()?, ["Logins20140731"]);
/// let late = Login { user: "ann".into(), at: at("2014-07-30T10:00"), address: "10.0.0.7".into() };
/// assert_eq!(logins.insert(&late).unwrap_err().kind(), ErrorKind::PeriodDropped);
/// # Ok::<(), table_core::Error>(())
/// ```
pub struct Periods<E> {
    known: Arc<PeriodsShared>,
    of: PhantomData<fn() -> E>,
}

/// What every clone of a handle shares.
pub(crate) struct PeriodsShared {
    pub(super) store: Tables,
    pub(crate) schema: &'static Schema,
    pub(crate) tables: &'static PeriodTables,
    /// The tables that were asked for, by when their periods begin.
    open: RwLock<HashMap<u64, DynamicTable>>,
    /// All of them, as a snapshot has seen them last.
    seen: Mutex<Option<Arc<PeriodsSeen>>>,
}

impl Tables {
    /// Returns the tables of this entity, which has one for each period.
    ///
    /// Nothing is made by it: a period's table comes with its first entity.
    pub fn periods<E: InPeriods>(&self) -> Result<Periods<E>> {
        let (schema, store) = (E::SCHEMA, self.clone());
        let Some(tables) = schema.periods() else {
            return Err(Error::new(ErrorKind::InvalidTableName)
                .because("the entity has one table: `Store::table` gives it")
                .attempted("open")
                .table(schema.table()));
        };
        let known = PeriodsShared { store, schema, tables, open: RwLock::default(), seen: Mutex::default() };
        // Tables of another template than the declared one are an error at once.
        known.seen(&known.snapshot()?)?;
        Ok(Periods { known: Arc::new(known), of: PhantomData })
    }
}

impl PeriodsShared {
    /// Returns all tables of the store as they are now.
    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        self.store.read_snapshot()
    }

    /// Returns the tables that a snapshot sees.
    #[inline]
    pub(crate) fn seen(&self, snapshot: &Snapshot) -> Result<Arc<PeriodsSeen>> {
        let known = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known().clone();
        let seen = snapshot.read_snapshot().periods(self.tables, before.as_ref());
        let seen = seen.map_err(|error| error.attempted("read from").table(self.tables.source))?;
        let mut known = known();
        if known.as_ref().is_none_or(|known| known.generation < seen.generation) {
            *known = Some(seen.clone());
        }
        Ok(seen)
    }

    /// Returns the beginning of the period that a time lies in.
    pub(super) fn start(&self, time: Ticks) -> Ticks {
        self.tables.period.start(time)
    }

    /// Returns the table of the period that begins then, if there is one now; else where the first period begins that is not
    /// dropped.
    #[inline]
    pub(crate) fn open(&self, start: Ticks) -> Result<Result<DynamicTable, Ticks>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = open.get(&start.get()) {
            return Ok(Ok(table.clone()));
        }
        drop(open);
        self.look(start)
    }

    #[inline]
    #[cold]
    fn look(&self, start: Ticks) -> Result<Result<DynamicTable, Ticks>> {
        // One table is looked up. To list all of them would read the catalog for each new period.
        let found = self.snapshot()?.read_snapshot().period(self.tables, start);
        match found.map_err(|error| error.attempted("read from").table(self.tables.source))? {
            Ok(exec) => self.opened(start, exec).map(Ok),
            Err(floor) => Ok(Err(floor)),
        }
    }

    /// Opens the table of the period that begins then, and makes it if there is none.
    #[inline]
    fn open_or_make(&self, start: Ticks) -> Result<DynamicTable> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = open.get(&start.get()) {
            return Ok(table.clone());
        }
        drop(open);
        let backend = self.store.backend().clone();
        let made = backend.make_period(self.tables, start, self.schema);
        let made = made.map_err(|error| error.attempted("write to").table(&self.tables.name(start)))?;
        self.opened(start, made)
    }

    /// Opens or makes the table of the period that begins then, and starts again if it is dropped meanwhile.
    #[inline]
    pub(crate) fn make(&self, start: Ticks) -> Result<DynamicTable> {
        self.unless_dropped(start, || self.open_or_make(start))
    }

    #[inline]
    fn opened(&self, start: Ticks, exec: Arc<dyn TableExec>) -> Result<DynamicTable> {
        let table = DynamicTable::new(exec);
        table.declare(self.schema).map_err(|error| error.attempted("open").table(table.name()))?;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(start.get(), table.clone());
        Ok(table)
    }

    /// Returns what is made of a period's table, begun anew as often as others drop the table that it was begun with.
    fn unless_dropped<T>(&self, start: Ticks, mut begin: impl FnMut() -> Result<T>) -> Result<T> {
        for _ in 0..ATTEMPTS {
            match begin() {
                Err(error) if error.kind() == ErrorKind::TableNotFound => {}
                done => return done,
            }
        }
        Err(self.unsteady(start))
    }

    /// Returns what was done with a table, which is forgotten if it is no more.
    #[inline]
    fn unless_gone<T>(&self, table: &DynamicTable, done: Result<T>) -> Result<T> {
        if done.as_ref().is_err_and(|error| error.kind() == ErrorKind::TableNotFound) {
            self.forget(table);
        }
        done
    }

    /// Forgets a table that is no more.
    #[inline]
    #[cold]
    pub(crate) fn forget(&self, gone: &DynamicTable) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, table| table.exec().id() != gone.exec().id());
    }

    /// Forgets the tables of periods that begin before.
    #[inline]
    pub(super) fn forget_before(&self, floor: Ticks) {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.retain(|start, _| *start >= floor.get());
    }

    /// Returns the error of a change of an entity whose period has no table.
    #[inline]
    #[cold]
    pub(crate) fn missing(&self, start: Ticks, floor: Ticks) -> Error {
        let error = if start < floor {
            Error::new(ErrorKind::PeriodDropped)
                .because(format!("the periods before {floor} were dropped, with all their entities"))
        } else {
            Error::new(ErrorKind::EntityNotFound)
                .because("its period has no table: nothing was written there")
        };
        error.attempted("write to").table(&self.tables.name(start))
    }

    #[inline]
    #[cold]
    pub(crate) fn unsteady(&self, start: Ticks) -> Error {
        Error::new(ErrorKind::TableNotFound)
            .because(format!("others have dropped it and made it again {ATTEMPTS} times in a row"))
            .attempted("use")
            .table(&self.tables.name(start))
    }
}

impl<E: InPeriods> Periods<E> {
    /// Returns what every clone shares.
    #[cfg(feature = "async")]
    pub(crate) fn known(&self) -> &Arc<PeriodsShared> {
        &self.known
    }

    /// Returns what `read` makes of the table of a period; nothing where there is none.
    #[inline]
    fn reading<T>(
        &self,
        start: Ticks,
        mut read: impl FnMut(&Table<E>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        self.known.unless_dropped(start, || {
            let Ok(table) = self.known.open(start)? else { return Ok(None) };
            self.known.unless_gone(&table, read(&Table::new(table.clone())))
        })
    }

    /// Returns what `write` makes of the table of a period. Where there is none, it is made if the change `adds` an entity;
    /// else there is no entity to be changed.
    fn writing<T>(
        &self,
        start: Ticks,
        adds: bool,
        mut write: impl FnMut(&DynamicTable) -> Result<T>,
    ) -> Result<T> {
        self.known.unless_dropped(start, || {
            let table = if adds {
                self.known.open_or_make(start)?
            } else {
                self.known.open(start)?.map_err(|floor| self.known.missing(start, floor))?
            };
            self.known.unless_gone(&table, write(&table))
        })
    }
}

impl<E: InPeriods> Clone for Periods<E> {
    fn clone(&self) -> Self {
        Self { known: self.known.clone(), of: PhantomData }
    }
}

impl<E: InPeriods> fmt::Debug for Periods<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Periods").field("tables", &self.known.tables.source).finish_non_exhaustive()
    }
}
