//! Entities with a table for each period, awaited.

use std::fmt;

use super::without_pages::WithoutPages;
use super::{AsyncTable, AsyncTables, Reads, RowStream, WriteToken, pool};
use crate::error::{ErrorKind, Result};
use crate::executor::ATTEMPTS;
use crate::handle::bulk::BulkReport;
use crate::model::{ETag, IfMatch, IntoIfMatch, Ticks};
use crate::typed::entity::stored::Stored;
use crate::typed::entity::{InPeriods, PatchOf};
use crate::typed::periods::{DroppedPeriods, PeriodInfo, Periods, Time};
use crate::typed::query::HoldsAll;
use crate::typed::read::key::{Key, KeyOf, Lookup};
use crate::typed::read::projection::Projected;
use crate::typed::series::AddsTo;

/// The tables of entities of type `E`, which has one for each period; the calls are awaited. [`AsyncTables::periods`] gives it.
///
/// It has the methods of [`Periods`]. A query over periods is begun by a closure, which [`stream`](Self::stream) or
/// [`read`](Self::read) runs. The table of a new period is made on a thread of a pool; entities are written as those of an
/// [`AsyncTable`] are.
///
/// ```
/// use table_core::asynchronous::block_on;
/// use table_core::{Entity, Store, Ticks};
///
/// #[derive(Entity)]
/// #[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
/// #[key(partition = "{user}", row = "{at:ticks}")]
/// struct Login {
///     user: String,
///     at: Ticks,
/// }
///
/// # let at = |text: &str| text.parse::<Ticks>().unwrap();
/// # block_on(async {
/// let store = Store::temporary()?.to_async();
/// let logins = store.periods::<Login>().await?;
/// for day in ["2014-07-29T09:00", "2014-07-30T09:00", "2014-07-31T08:00"] {
///     logins.insert(&Login { user: "ann".into(), at: at(day) }).await?;
/// }
/// let since = at("2014-07-30");
/// let mut found = logins.stream(move |logins| Ok(logins.during(since..)?.rows().user("ann")));
/// let mut days = Vec::new();
/// while let Some(login) = found.try_next().await? {
///     days.push(login.at.to_string());
/// }
/// assert_eq!(days, ["2014-07-30T09:00:00Z", "2014-07-31T08:00:00Z"]);
/// assert_eq!(logins.read(move |logins| logins.during(since..)?.all().count()).await?, 2);
///
/// logins.drop_before(since).await?;
/// assert_eq!(store.tables().await?, ["Logins20140730", "Logins20140731"]);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub struct AsyncPeriods<E> {
    periods: Periods<E>,
    reads: Reads,
    token: Option<WriteToken>,
}

impl<E: InPeriods> Periods<E> {
    /// Returns the tables with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncPeriods<E> {
        AsyncPeriods { periods: self.clone(), reads: Reads::Inline, token: None }
    }
}

impl AsyncTables {
    /// Returns the tables of this entity, which has one for each period; see [`Tables::periods`](crate::Tables::periods).
    pub async fn periods<E: InPeriods>(&self) -> Result<AsyncPeriods<E>> {
        let reads = self.reading();
        let periods = self.run(crate::Tables::periods::<E>).await?;
        Ok(AsyncPeriods { periods, reads, token: None })
    }
}

/// Returns what is made of the table of a period, begun anew as often as others drop it meanwhile.
macro_rules! in_table {
    ($periods:ident, $start:ident, $adds:expr, |$table:ident| $done:expr) => {{
        for _ in 0..ATTEMPTS {
            let opened = $periods.opened($start, $adds).await;
            if opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::TableNotFound) {
                continue;
            }
            let $table = opened?;
            match $done.await {
                Err(gone) if gone.kind() == ErrorKind::TableNotFound => $periods.forget(&$table),
                done => return done,
            }
        }
        Err($periods.periods.known().unsteady($start))
    }};
}

impl<E: InPeriods> AsyncPeriods<E> {
    /// Returns the tables with calls that block.
    pub fn blocking(&self) -> &Periods<E> {
        &self.periods
    }

    /// Says where the handle reads.
    #[must_use]
    pub fn reads(self, reads: Reads) -> Self {
        Self { reads, ..self }
    }

    /// Returns a handle whose writes note in the token what has become of them.
    #[must_use]
    pub fn tracked(&self, token: &WriteToken) -> Self {
        Self { token: Some(token.clone()), ..self.clone() }
    }

    pub(super) fn token(&self) -> Option<&WriteToken> {
        self.token.as_ref()
    }

    /// Runs a call that blocks on a thread of a pool.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Periods<E>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let periods = self.periods.clone();
        pool::run(move || call(&periods)).await
    }

    /// Returns what a call makes of the tables that reads: a query that is counted, a page of one. It runs where the handle
    /// [reads](Self::reads).
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Periods<E>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self.reads {
            Reads::Inline => read(&self.periods),
            Reads::Spawned => self.run(read).await,
        }
    }

    /// Returns what a query finds, in order, one after another. The closure begins it when the first is asked for.
    pub fn stream<Query, T>(
        &self,
        query: impl FnOnce(&Periods<E>) -> Result<Query> + Send + 'static,
    ) -> RowStream<WithoutPages<Query::IntoIter>>
    where
        Query: IntoIterator<Item = Result<T>, IntoIter: Send + 'static>,
        T: Send + 'static,
    {
        let periods = self.periods.clone();
        RowStream::new(self.reads, move || Ok(WithoutPages::new(query(&periods)?)))
    }

    /// Returns the periods that have a table, in their order.
    pub async fn list(&self) -> Result<Vec<PeriodInfo>> {
        self.read(Periods::list).await
    }

    /// Returns where the first period begins that is not dropped: the year 1, if none ever was.
    pub async fn floor(&self) -> Result<Ticks> {
        self.read(Periods::floor).await
    }

    /// Returns the table of the period that this time lies in, by itself; nothing if there is none. See
    /// [`Periods::table_of`].
    pub async fn table_of(&self, at: impl Time + Send + 'static) -> Result<Option<AsyncTable<E>>> {
        let table = self.run(move |periods| {
            let table = periods.table_of(at)?;
            Ok(table.map(|table| table.dynamic().clone()))
        });
        Ok(table.await?.map(|table| self.with_options(AsyncTable::new(table.to_async()))))
    }

    /// Drops every period that ends at this time or before, with all its entities; see [`Periods::drop_before`].
    pub async fn drop_before(&self, time: impl Time + Send + 'static) -> Result<DroppedPeriods> {
        self.run(move |periods| periods.drop_before(time)).await
    }

    /// Drops every period that is older than `keep` in the declaration says; see [`Periods::expire`].
    pub async fn expire(&self, now: impl Time + Send + 'static) -> Result<DroppedPeriods> {
        self.run(move |periods| periods.expire(now)).await
    }

    fn with_options(&self, table: AsyncTable<E>) -> AsyncTable<E> {
        let table = table.reads(self.reads);
        match &self.token {
            Some(token) => table.tracked(token),
            None => table,
        }
    }

    /// Returns the table of the period that begins then. Where there is none, it is made if a change `adds` an entity.
    async fn opened(&self, start: Ticks, adds: bool) -> Result<AsyncTable<E>> {
        let known = self.periods.known();
        let table = match known.open(start)? {
            Ok(table) => table,
            Err(_) if adds => {
                let known = known.clone();
                pool::run(move || known.make(start)).await?
            }
            Err(floor) => return Err(known.missing(start, floor)),
        };
        Ok(self.with_options(AsyncTable::new(table.to_async())))
    }

    fn forget(&self, gone: &AsyncTable<E>) {
        self.periods.known().forget(gone.dynamic().blocking());
    }
}

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<E: InPeriods<Patch: Send> + Send + Sync> AsyncPeriods<E> {
    /// Returns the entity of this key, or what an index's copy holds whose key says the period.
    pub async fn get<L>(&self, key: L) -> Result<Option<L::Output>>
    where
        L: Lookup<E, Output: Send + 'static> + Send + 'static,
    {
        self.read(move |periods| periods.get(key)).await
    }

    /// Returns whether there is an entity of this key.
    pub async fn exists<L>(&self, key: L) -> Result<bool>
    where
        L: Lookup<E, Output: Send + 'static> + Send + 'static,
    {
        self.get(key).await.map(|found| found.is_some())
    }

    /// Returns some of the fields of the entity of this key.
    pub async fn get_as<S>(
        &self,
        key: impl Lookup<E, Path: HoldsAll<<S as Projected>::Taken>> + Send + 'static,
    ) -> Result<Option<S>>
    where
        S: Projected<Of = E> + Send + 'static,
    {
        self.read(move |periods| periods.get_as(key)).await
    }

    /// Returns the entities of these keys, as they are at one moment, in the keys' order.
    pub async fn get_many(&self, keys: impl IntoIterator<Item = Key<E>>) -> Result<Vec<Option<Stored<E>>>>
    where
        E: 'static,
    {
        let keys: Vec<_> = keys.into_iter().collect();
        self.read(move |periods| periods.get_many(keys)).await
    }

    /// Adds an entity and its copies to the table of its period, which is made if there is none; fails if there is one of its
    /// key, or of a key in a unique index.
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        let start = self.periods.start_of(&Key::of(entity))?;
        in_table!(self, start, true, |table| table.insert(entity))
    }

    /// Adds an entity, or puts it in the place of the one there.
    pub async fn put(&self, entity: &E) -> Result<ETag> {
        let start = self.periods.start_of(&Key::of(entity))?;
        in_table!(self, start, true, |table| table.put(entity))
    }

    /// Puts an entity in the place of the one there, if that is of the version demanded; fails if there is none.
    pub async fn replace(&self, entity: &E, condition: impl IntoIfMatch) -> Result<ETag> {
        let (start, condition) = (self.periods.start_of(&Key::of(entity))?, condition.into());
        in_table!(self, start, false, |table| table.replace(entity, condition))
    }

    /// Reads the entity, changes it and writes it back, as [`AsyncTable::update`] does.
    pub async fn update(
        &self,
        key: impl KeyOf<E>,
        mut change: impl FnMut(&mut E) + Send,
    ) -> Result<Stored<E>> {
        let key = key.into();
        let start = self.periods.start_of(&key)?;
        in_table!(self, start, false, |table| table.update(again(&key)?, &mut change))
    }

    /// Changes the entity as [`update`](Self::update) does, its row key too, but not its period; see [`Periods::move_to`].
    pub async fn move_to(
        &self,
        key: impl KeyOf<E>,
        mut change: impl FnMut(&mut E) + Send,
    ) -> Result<Stored<E>> {
        let key = key.into();
        let start = self.periods.start_of(&key)?;
        in_table!(self, start, false, |table| table.move_to(again(&key)?, &mut change))
    }

    /// Sets what the patch sets on the entity there, if that is of the version demanded; fails if there is none.
    pub async fn merge(
        &self,
        key: impl KeyOf<E>,
        patch: impl PatchOf<E>,
        condition: impl IntoIfMatch,
    ) -> Result<Stored<E>> {
        let (key, patch, condition): (Key<E>, E::Patch, IfMatch) =
            (key.into(), patch.into(), condition.into());
        let start = self.periods.start_of(&key)?;
        let table = self.opened(start, false).await?;
        match table.merge(key, patch, condition).await {
            Err(gone) if gone.kind() == ErrorKind::TableNotFound => Err(self.now_missing(start, &table)),
            done => done,
        }
    }

    /// Adds to slots of the entity there, as [`AsyncTable::add`] does; fails if there is none.
    pub async fn add(&self, key: impl KeyOf<E>, add: impl AddsTo<E>) -> Result<ETag> {
        let (key, additions) = (key.into(), add.into());
        let start = self.periods.start_of(&key)?;
        let table = self.opened(start, false).await?;
        match table.add(key, additions).await {
            Err(gone) if gone.kind() == ErrorKind::TableNotFound => Err(self.now_missing(start, &table)),
            done => done,
        }
    }

    /// Returns the error of a change in a table that was dropped meanwhile, with the entity.
    #[cold]
    fn now_missing(&self, start: Ticks, gone: &AsyncTable<E>) -> crate::Error {
        self.forget(gone);
        let known = self.periods.known();
        match known.open(start) {
            Ok(Err(floor)) => known.missing(start, floor),
            Ok(Ok(_)) => known.missing(start, Ticks::MIN),
            Err(error) => error,
        }
    }

    /// Removes the entity of this key with all its copies; fails if there is none. The period's table stays.
    pub async fn delete(&self, key: impl KeyOf<E>) -> Result<()> {
        self.delete_if(key, IfMatch::Any).await
    }

    /// Removes the entity as [`delete`](Self::delete) does, if it is of the version demanded.
    pub async fn delete_if(&self, key: impl KeyOf<E>, condition: impl IntoIfMatch) -> Result<()> {
        let (key, condition) = (key.into(), condition.into());
        let start = self.periods.start_of(&key)?;
        in_table!(self, start, false, |table| table.delete_if(again(&key)?, condition))
    }

    /// Adds the entity if there is none of its key. Returns the one that is stored then, which another writer may have added.
    pub async fn get_or_insert(&self, entity: &E) -> Result<Stored<E>>
    where
        E: 'static,
    {
        let start = self.periods.start_of(&Key::of(entity))?;
        in_table!(self, start, true, |table| table.get_or_insert(entity))
    }

    /// Adds many entities, each whole with its copies or not at all, packed into few transactions; on a thread of a pool.
    pub async fn bulk_insert<I>(&self, entities: I) -> Result<BulkReport>
    where
        I: IntoIterator<Item = E> + Send + 'static,
    {
        self.run(move |periods| periods.bulk_insert(entities)).await
    }
}

/// Returns the key once more.
fn again<E: InPeriods>(key: &Key<E>) -> Result<Key<E>> {
    let (partition, row) = key.as_strs()?;
    Ok(Key::verbatim(partition, row))
}

impl<E: InPeriods> Clone for AsyncPeriods<E> {
    fn clone(&self) -> Self {
        Self { periods: self.periods.clone(), reads: self.reads, token: self.token.clone() }
    }
}

impl<E: InPeriods> fmt::Debug for AsyncPeriods<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncPeriods").field("periods", &self.periods).finish_non_exhaustive()
    }
}
