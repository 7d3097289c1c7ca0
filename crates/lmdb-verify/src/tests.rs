//! An environment in a directory of its own, for tests.

use std::fs::File;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, RoTxn, RwTxn, WithoutTls};

use crate::{Header, Names, PageReader, Pages};

pub(crate) type Db = Database<'static, Bytes, Bytes>;

/// An environment with a record in its unnamed database, one large database and one small one.
pub(crate) struct Scratch {
    _dir: tempfile::TempDir,
    env: Env<WithoutTls>,
    pub(crate) main: Db,
    pub(crate) data: Db,
    pub(crate) reader: PageReader,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = open(dir.path());
        let made = env.create_databases_and_commit(env.write_txn().unwrap(), |opener, txn| {
            let main = opener.create_database::<Bytes, Bytes>(txn, None)?;
            let data = opener.create_database::<Bytes, Bytes>(txn, Some("data"))?;
            opener.create_database::<Bytes, Bytes>(txn, Some("small"))?;
            main.put(txn, &[0], b"first")?;
            heed::Result::Ok(CommitOrAbort::<_, ()>::Commit([main, data]))
        });
        let [main, data] = made.unwrap().unwrap_commit();
        let mut file = File::open(dir.path().join("data.mdb")).unwrap();
        let header = Header::read(&mut file).unwrap();
        let pages = find(&env, main, &header, &mut file);
        let names = Names { largest: "data", small: &["small"], others: &[] };
        let reader = PageReader::new(env.clone(), main, pages, names, file);
        Self { _dir: dir, env, main, data, reader }
    }

    pub(crate) fn read_txn(&self) -> RoTxn<'_, WithoutTls> {
        self.env.read_txn().unwrap()
    }

    pub(crate) fn write_txn(&self) -> RwTxn<'_> {
        self.env.write_txn().unwrap()
    }

    pub(crate) fn put(&self, key: &[u8], value: &[u8]) {
        self.put_in(self.data, key, value);
    }

    pub(crate) fn put_in(&self, db: Db, key: &[u8], value: &[u8]) {
        let mut txn = self.write_txn();
        db.put(&mut txn, key, value).unwrap();
        txn.commit().unwrap();
    }

    pub(crate) fn delete(&self, key: &[u8]) {
        let mut txn = self.write_txn();
        assert!(self.data.delete(&mut txn, key).unwrap());
        txn.commit().unwrap();
    }
}

#[allow(unsafe_code, reason = "heed can't know that nobody else changes the file under the map")]
fn open(dir: &std::path::Path) -> Env<WithoutTls> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(1 << 24).max_dbs(4);
    // SAFETY: The directory is the test's own.
    unsafe { options.open(dir) }.unwrap()
}

#[allow(unsafe_code, reason = "the pages are those of this environment alone")]
fn find(env: &Env<WithoutTls>, main: Db, header: &Header, file: &mut File) -> Pages {
    let txn = env.read_txn().unwrap();
    // SAFETY: The reader that gets the pages has the environment, and is given no other's transactions.
    unsafe { Pages::find(env, &txn, main, header, file) }.unwrap()
}
