//! Features: what a store uses beyond its format version.
//!
//! A library sets a feature's bit in the transaction that first writes what the bit stands for, and the bit stays. Every
//! write keeps the bits that the store has, those that this library does not know among them. The same transaction makes
//! the feature's databases, by `create_databases_and_commit`. A library that finds the bit opens them; without the bit it
//! never asks for them. Queues have one, and blobs.

use table_engine::error::{Error, ErrorKind, Result};

use super::meta::Meta;

/// Three words of bits: they differ in what a library does that doesn't know one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Features {
    /// A library that doesn't know one of these would misread the store, and refuses it.
    pub(crate) reader: u64,
    /// A library that doesn't know one of these would miswrite the store: it reads it, and writes nothing.
    pub(crate) writer: u64,
    /// A library that doesn't know one of these reads and writes the store all the same.
    pub(crate) ignorable: u64,
}

/// One bit of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// A reader must know it: another file has taken this one's place, and writes here would be lost.
    Superseded,
    /// A reader must know it: some index is not ready, or has not always been; and a job may have begun.
    IndexStates,
    /// A reader must know it: the catalog has records of templates, which have tables for each period.
    Periods,
    /// A reader must know it: values that refer to blobs are sealed, with what refers to the blob in the clear.
    SealedBlobs,
    /// A reader must know it: ids of index lists lie in blobs.
    BlobLists,
    /// A reader must know it: the store or a table has service records, which record digests count.
    ServiceRecords,
    /// A reader must know it: some queue has service records, which it counts.
    QueueRecords,
    /// May be ignored: values of this store are sealed, so its keys belong to it.
    #[allow(dead_code, reason = "what never seals never says so")]
    Sealed,
    /// May be ignored: the store has queues, in a database of their own.
    Queues,
    /// May be ignored: the store has blobs, in a database of their own.
    Blobs,
    /// A writer must know it: copies are to follow some entities, or have been, and each change of such a one says so.
    Pending,
    /// A writer must know it: rows refer to blobs, which count the references to them.
    BlobRows,
}

impl Feature {
    const READER: [Self; 7] = [
        Self::Superseded,
        Self::IndexStates,
        Self::Periods,
        Self::SealedBlobs,
        Self::BlobLists,
        Self::ServiceRecords,
        Self::QueueRecords,
    ];
    const WRITER: [Self; 2] = [Self::Pending, Self::BlobRows];
    const IGNORABLE: [Self; 3] = [Self::Sealed, Self::Queues, Self::Blobs];

    fn bit(self) -> u64 {
        match self {
            Self::Superseded | Self::Sealed | Self::Pending => 1,
            Self::IndexStates | Self::Queues | Self::BlobRows => 2,
            Self::Periods => 8,
            Self::Blobs => 4,
            Self::SealedBlobs => 16,
            Self::BlobLists => 32,
            Self::ServiceRecords => 64,
            Self::QueueRecords => 128,
        }
    }

    fn bits(features: &[Self]) -> u64 {
        features.iter().fold(0, |bits, feature| bits | feature.bit())
    }
}

#[allow(dead_code, reason = "which of them is used hangs on the crate's features")]
impl Features {
    pub(crate) fn has(&self, feature: Feature) -> bool {
        let mut words = *self;
        *words.word(feature) & feature.bit() != 0
    }

    /// Returns the word that a feature's bit is in.
    #[inline]
    fn word(&mut self, feature: Feature) -> &mut u64 {
        match feature {
            Feature::Superseded
            | Feature::IndexStates
            | Feature::Periods
            | Feature::SealedBlobs
            | Feature::BlobLists
            | Feature::ServiceRecords
            | Feature::QueueRecords => &mut self.reader,
            Feature::Pending | Feature::BlobRows => &mut self.writer,
            Feature::Sealed | Feature::Queues | Feature::Blobs => &mut self.ignorable,
        }
    }

    pub(crate) fn set(&mut self, feature: Feature) {
        *self.word(feature) |= feature.bit();
    }

    pub(crate) fn clear(&mut self, feature: Feature) {
        *self.word(feature) &= !feature.bit();
    }

    /// Returns whether the store has a feature that this library does not.
    pub(crate) fn has_unknown(&self) -> bool {
        let known = [&Feature::READER[..], &Feature::WRITER, &Feature::IGNORABLE].map(Feature::bits);
        let words = [self.reader, self.writer, self.ignorable];
        words.iter().zip(known).any(|(word, known)| word & !known != 0)
    }

    /// Refuses a store that this library would misread.
    pub(super) fn check_readable(&self) -> Result<()> {
        if self.reader == 0 {
            return Ok(());
        }
        let unknown = self.reader & !Feature::bits(&Feature::READER);
        if unknown != 0 {
            return Err(Error::new(ErrorKind::Incompatible).because(format!(
                "the store uses features ({unknown:#x}) that this library does not have; open it with a newer one"
            )));
        }
        if self.has(Feature::Superseded) { Err(superseded()) } else { Ok(()) }
    }

    /// Refuses a store that this library would miswrite.
    fn check_writable(&self) -> Result<()> {
        let unknown = self.writer & !Feature::bits(&Feature::WRITER);
        if unknown == 0 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Incompatible).because(format!(
            "the store uses features ({unknown:#x}) that this library can read and not write; use a newer one"
        )))
    }
}

impl Meta {
    /// Refuses a store that this library can't write rightly.
    #[inline]
    pub(super) fn check_writable(&self) -> Result<()> {
        if self.features.writer == 0 { Ok(()) } else { self.features.check_writable() }
    }
}

#[cold]
fn superseded() -> Error {
    Error::new(ErrorKind::Superseded)
        .because("the store has been compacted: another file has taken this one's place; open it again")
}

#[cfg(test)]
mod tests {
    use heed::CommitOrAbort;
    use heed::types::Bytes;

    use super::*;

    #[test]
    fn a_feature_is_set_in_its_word_and_stays_beside_unknown_ones() {
        let mut features = Features { ignorable: 1 << 40, ..Features::default() };
        assert!(!features.has(Feature::Sealed));
        features.set(Feature::Sealed);
        assert!(features.has(Feature::Sealed) && !features.has(Feature::Superseded));
        assert_eq!(features, Features { ignorable: 1 << 40 | 1, ..Features::default() });
        assert!(features.has_unknown());
        features.ignorable = 1;
        assert!(!features.has_unknown());
        features.check_readable().unwrap();
        features.check_writable().unwrap();
    }

    #[test]
    fn what_is_not_known_is_refused_as_its_word_says() {
        let reader = Features { reader: 1 << 9, ..Features::default() };
        let error = reader.check_readable().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.to_string().contains("0x200"), "{error}");

        let writer = Features { writer: 1 << 3, ..Features::default() };
        writer.check_readable().unwrap();
        let error = writer.check_writable().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.to_string().contains("0x8"), "{error}");
    }

    #[test]
    fn a_superseded_store_says_so() {
        let mut features = Features::default();
        features.set(Feature::Superseded);
        let error = features.check_readable().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Superseded);
        assert!(error.to_string().contains("compacted"), "{error}");
        features.clear(Feature::Superseded);
        features.check_readable().unwrap();
    }

    /// Does what a later library does in the transaction of first use: sets the bit, and makes its database.
    fn first_use(store: &crate::Store, bit: u64) {
        let environment = &store.shared().environment;
        let txn = environment.write_txn().unwrap();
        let made = environment.env.create_databases_and_commit(txn, |opener, txn| -> heed::Result<_> {
            let database = opener.create_database::<Bytes, Bytes>(txn, Some("later"))?;
            database.put(txn, b"key", b"value")?;
            let main = opener.create_database::<Bytes, Bytes>(txn, None)?;
            let mut meta = Meta::begin(main, txn).unwrap();
            meta.features.ignorable |= bit;
            meta.write(main, txn).unwrap();
            Ok(CommitOrAbort::<_, ()>::Commit(()))
        });
        assert!(matches!(made.unwrap(), CommitOrAbort::Commit(())));
    }

    #[test]
    fn a_feature_that_may_be_ignored_brings_its_database_and_is_absent_without_harm() {
        const BIT: u64 = 1 << 40;
        let dir = tempfile::tempdir().unwrap();
        let [path, copy] = ["store", "copy"].map(|name| dir.path().join(name));
        let options = crate::Store::options().map_size(1 << 26).verify_first(true);
        let store = options.open(&path).unwrap();
        let table = store.create_table("Company").unwrap();
        table.insert(&table_engine::DynamicEntity::new("p", "before")).unwrap();
        assert!(store.check().unwrap().problems.is_empty());

        first_use(&store, BIT);
        assert!(store.check().unwrap().problems.is_empty());
        table.insert(&table_engine::DynamicEntity::new("p", "after")).unwrap();
        store.drop_table("Company").unwrap();
        store.reclaim().unwrap();
        store
            .create_table("Company")
            .unwrap()
            .insert(&table_engine::DynamicEntity::new("p", "again"))
            .unwrap();
        store.copy_to(&copy).unwrap();
        drop(table);
        let store = store.compact().unwrap();
        drop(store);
        for path in [&path, &copy] {
            let store = options.open(path).unwrap();
            assert!(store.check().unwrap().problems.is_empty());
            assert!(store.dynamic_table("Company").unwrap().get("p", "again").unwrap().is_some());
            let environment = &store.shared().environment;
            let txn = environment.read_txn().unwrap();
            assert_eq!(Meta::read(environment.dbs.main, &txn).unwrap().features.ignorable, BIT);
            let opened = environment.env.open_databases_and_commit(txn, |opener, txn| -> heed::Result<_> {
                let database = opener.open_database::<Bytes, Bytes>(txn, Some("later"))?.expect("it is kept");
                assert_eq!(database.get(txn, b"key")?, Some(&b"value"[..]));
                Ok(CommitOrAbort::<_, ()>::Commit(()))
            });
            assert!(matches!(opened.unwrap(), CommitOrAbort::Commit(())));
        }
    }
}
