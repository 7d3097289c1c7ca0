//! Three layers of a feature's records: what a plan is to write lies over what its transaction has done, and that over what the
//! database has. A plan that is refused leaves the two below as they were.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::{Clock, Directory, MOST_QUEUES, SetDigest};

use table_engine::sorted_map::SortedMap;

use super::{Applied, Keyspace, VerifiedDb, Write, Writes, body, damaged, missing};
use crate::lmdb::{Db, WriteTxn};
use crate::open::Environment;
use crate::records::features::Feature;
use crate::records::meta::{self, Meta};

/// Says what the records of a feature are, to plans that change them.
pub(crate) trait Records: Keyspace + Sized {
    /// A record of counts. A transaction keeps it in memory, and writes it at its end.
    type Count: Clone;
    /// What the directory lists, as an error says it.
    const LISTED: &'static str;
    /// The key of the directory.
    const DIRECTORY: &'static [u8];

    /// Reads the directory; `None` if the bytes are none.
    fn directory(body: &[u8]) -> Option<Directory>;

    /// Returns the bytes of a record of counts.
    fn encode(count: &Self::Count) -> Vec<u8>;

    /// Returns the set digest in which the record of a key counts, if it counts in one.
    fn set_digest<'o>(overlay: &'o mut Overlay<'_, Self>, key: &[u8]) -> Result<Option<&'o mut SetDigest>>;
}

/// A record of counts as it is to be.
#[derive(Clone)]
pub(crate) struct Counted<C> {
    /// `None` if the record goes.
    pub(crate) count: Option<C>,
    /// Whether the database has no such record yet.
    pub(crate) is_new: bool,
}

/// Records of counts that have changed, and the directory, if it has.
struct Counts<K: Records> {
    by_key: SortedMap<Vec<u8>, Counted<K::Count>>,
    directory: Option<Directory>,
}

impl<K: Records> Default for Counts<K> {
    fn default() -> Self {
        Self { by_key: SortedMap::new(), directory: None }
    }
}

/// What a plan is to write.
pub(crate) struct PlannedWrites<K: Records> {
    writes: Writes,
    counts: Counts<K>,
    /// What the store has from now on.
    features: Vec<Feature>,
}

impl<K: Records> PlannedWrites<K> {
    /// Begins with no writes.
    fn new() -> Self {
        Self { writes: Writes::default(), counts: Counts::default(), features: Vec::new() }
    }

    /// Returns what the store has from now on.
    pub(crate) fn features(&self) -> &[Feature] {
        &self.features
    }
}

/// What a transaction has done to the records, and the counts that it is to write at its end.
pub(crate) struct TxnState<K: Records> {
    applied: Applied,
    counts: Counts<K>,
}

impl<K: Records> TxnState<K> {
    /// Begins that of a transaction.
    pub(crate) fn open(db: Db, txn: &WriteTxn<'_>) -> Result<Self> {
        Ok(Self { applied: Applied::none(db, txn)?, counts: Counts::default() })
    }

    /// Returns how many records were put or removed.
    pub(crate) fn writes(&self) -> usize {
        self.applied.writes()
    }

    /// Returns the keys of the records that were removed; `None` if nothing was written.
    pub(crate) fn removed(&self) -> Option<&BTreeSet<Vec<u8>>> {
        self.applied.removed()
    }

    /// Writes what a plan has gathered. An error spoils the transaction.
    pub(crate) fn write(&mut self, txn: &mut WriteTxn<'_>, planned: PlannedWrites<K>) -> Result<()> {
        self.applied.apply(txn, planned.writes)?;
        self.counts.by_key.extend(planned.counts.by_key);
        if planned.counts.directory.is_some() {
            self.counts.directory = planned.counts.directory;
        }
        Ok(())
    }

    /// Writes the counts, at the end of the transaction.
    pub(crate) fn close(mut self, txn: &mut WriteTxn<'_>) -> Result<()> {
        for (key, Counted { count, is_new }) in self.counts.by_key {
            match count {
                Some(count) => self.applied.put_count(txn, &key, K::encode(&count), is_new)?,
                None if is_new => {}
                None => self.applied.remove(txn, &key)?,
            }
        }
        if let Some(directory) = &self.counts.directory {
            self.applied.put_count(txn, K::DIRECTORY, directory.encode(), false)?;
        }
        self.applied.close(txn)
    }
}

/// When, and in which store, a plan is carried out.
#[derive(Clone, Copy)]
pub(crate) struct OverlayContext<'b> {
    pub(crate) clock: Clock,
    pub(crate) meta: &'b Meta,
    /// Whether the transaction has changed little so far.
    pub(crate) changed_little: bool,
}

/// A plan's changes of the records of `K`, over what the transaction sees.
pub(crate) struct Overlay<'b, K: Records> {
    /// The records as the plan has found them.
    pub(crate) view: VerifiedDb<'b, K>,
    pub(crate) at: OverlayContext<'b>,
    /// What the transaction has done before.
    done: &'b TxnState<K>,
    planned: PlannedWrites<K>,
    /// Whether it leaves something to be removed later.
    pub(crate) has_left: bool,
}

impl<'b, K: Records> Overlay<'b, K> {
    /// Begins the changes of a plan in a transaction, which has `done` this before.
    pub(crate) fn begin(
        environment: &'b Environment,
        txn: &'b heed::RwTxn<'b>,
        done: &'b TxnState<K>,
        at: OverlayContext<'b>,
    ) -> Result<Self> {
        let applied = &done.applied;
        let view =
            VerifiedDb::of_write(environment, txn, applied.db(), applied.removed(), at.changed_little)?;
        Ok(Self { view, at, done, planned: PlannedWrites::new(), has_left: false })
    }

    /// Returns what is to be written, once the pages that change for it have been looked at.
    pub(crate) fn end(self) -> Result<PlannedWrites<K>> {
        let Counts { by_key, directory } = &self.planned.counts;
        let counts = by_key.iter().map(|(key, counted)| (key.as_slice(), counted.count.is_none()));
        let mut counts = counts.chain(directory.iter().map(|_| (K::DIRECTORY, false)));
        self.view.meet(&self.planned.writes, self.done.writes(), &mut counts)?;
        drop(counts);
        Ok(self.planned)
    }

    /// Returns the directory as the plan leaves it.
    pub(crate) fn directory(&self) -> Result<Directory> {
        match self.planned.counts.directory.as_ref().or(self.done.counts.directory.as_ref()) {
            Some(known) => Ok(known.clone()),
            None => self.view.directory(),
        }
    }

    /// Has the directory say this.
    pub(crate) fn set_directory(&mut self, directory: Directory) {
        self.planned.counts.directory = Some(directory);
    }

    /// Returns the number of a name in the directory, to which it is added if it is not there, and whether it is new.
    pub(crate) fn list(&mut self, name: &str) -> Result<(u32, bool)> {
        let mut directory = self.directory()?;
        if let Some(found) = directory.find(name) {
            return Ok((found.number, false));
        }
        let number = directory.add(name).ok_or_else(|| {
            let because =
                format!("the store has {MOST_QUEUES} {}, which is as many as it can have", K::LISTED);
            Error::new(ErrorKind::ValueOutOfRange).because(because)
        })?;
        self.set_directory(directory);
        Ok((number, true))
    }

    /// Notes in the directory that what has a name is dropped; returns its number, if there is one.
    pub(crate) fn list_as_dropped(&mut self, name: &str) -> Result<Option<u32>> {
        let mut directory = self.directory()?;
        let found = directory.queues.iter_mut().find(|listed| !listed.is_dropped && &*listed.name == name);
        let Some(found) = found else { return Ok(None) };
        found.is_dropped = true;
        let number = found.number;
        self.set_directory(directory);
        Ok(Some(number))
    }

    /// Has the store say that it has this from now on.
    pub(crate) fn set_feature(&mut self, feature: Feature) {
        if !self.planned.features.contains(&feature) {
            self.planned.features.push(feature);
        }
    }

    /// Returns a count as the transaction had left it before the plan, if it has changed it.
    #[cfg_attr(not(feature = "queue"), allow(dead_code, reason = "who has no queue asks nothing of one"))]
    pub(crate) fn count_before(&self, key: &[u8]) -> Option<&Counted<K::Count>> {
        self.done.counts.by_key.get(key)
    }

    /// Returns a count, to be changed; `None` if its record goes. `read` reads one that the transaction has not changed yet.
    pub(crate) fn count(
        &mut self,
        key: &[u8],
        read: impl FnOnce(&VerifiedDb<'b, K>) -> Result<Counted<K::Count>>,
    ) -> Result<Option<&mut K::Count>> {
        let planned = &mut self.planned.counts.by_key;
        if planned.get(key).is_none() {
            let counted = match self.done.counts.by_key.get(key) {
                Some(known) => known.clone(),
                None => read(&self.view)?,
            };
            planned.insert(key.to_vec(), counted);
        }
        Ok(planned.get_mut(key).and_then(|counted| counted.count.as_mut()))
    }

    /// Adds a record of counts.
    #[cfg_attr(not(feature = "queue"), allow(dead_code, reason = "who has no queue asks nothing of one"))]
    pub(crate) fn add_count(&mut self, key: &[u8], count: K::Count) {
        self.planned.counts.by_key.insert(key.to_vec(), Counted { count: Some(count), is_new: true });
    }

    /// Has a record of counts removed, which was asked for before.
    pub(crate) fn remove_count(&mut self, key: &[u8]) {
        if let Some(counted) = self.planned.counts.by_key.get_mut(key) {
            counted.count = None;
        }
    }

    /// Returns whether the plan removes a record.
    pub(crate) fn is_removed(&self, key: &[u8]) -> bool {
        matches!(self.planned.writes.get(key), Some(Write::Remove))
    }

    /// Returns the record of a key as the plan leaves it.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Option<Cow<'b, [u8]>>> {
        match self.planned.writes.get(key) {
            Some(Write::Add(record) | Write::Replace(record)) => Ok(Some(Cow::Owned(record.to_vec()))),
            Some(Write::Remove) => Ok(None),
            None => Ok(self.view.record(key)?.map(Cow::Borrowed)),
        }
    }

    /// Returns the record of a key as the plan leaves it, where it must have one.
    pub(crate) fn must_find(&self, key: &[u8]) -> Result<Cow<'b, [u8]>> {
        self.find(key)?.ok_or_else(|| missing::<K>(key))
    }

    /// Returns what the record of a key says as the plan leaves it.
    pub(crate) fn read<T>(&self, key: &[u8], decode: impl FnOnce(&[u8]) -> Option<T>) -> Result<Option<T>> {
        let Some(record) = self.find(key)? else { return Ok(None) };
        decode(body(&record)).map(Some).ok_or_else(|| damaged::<K>(key))
    }

    /// Puts a record in the place of one that was found, or of none; without a new one, removes it. Its set digest follows.
    pub(crate) fn replace(
        &mut self,
        key: Vec<u8>,
        old: Option<&[u8]>,
        new_body: Option<Vec<u8>>,
    ) -> Result<()> {
        let new = new_body.map(|body| Arc::new(meta::sealed(&key, body)));
        self.replace_sealed(key, old.map(meta::checksum_of), new)
    }

    /// Puts a record that has its checksum in the place of the one of this checksum, as [`replace`](Self::replace) does.
    pub(crate) fn replace_sealed(
        &mut self,
        key: Vec<u8>,
        old: Option<u64>,
        new: Option<Arc<Vec<u8>>>,
    ) -> Result<()> {
        if let Some(set_digest) = K::set_digest(self, &key)? {
            if let Some(old) = old {
                set_digest.subtract(old);
            }
            if let Some(new) = &new {
                set_digest.add(meta::checksum_of(new));
            }
        }
        self.planned.writes.replace(key, old.is_some(), new);
        Ok(())
    }
}

impl<K: Records> VerifiedDb<'_, K> {
    /// Returns the directory.
    pub(crate) fn directory(&self) -> Result<Directory> {
        self.must_read(K::DIRECTORY, K::directory)
    }
}
