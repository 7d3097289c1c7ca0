//! An open environment whose pages are read in place.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use heed::types::Bytes;
use heed::{Database, Env, RoTxn, RwTxn, WithoutTls};

use crate::error::{Error, Result, damaged};
use crate::fields::Fields;
use crate::free_list::FreeList;
use crate::header::Header;
use crate::met::Met;
use crate::names::Names;
use crate::pages::{BIG_DATA, HEADER, Pages};
use crate::raw_pages::FIRST_PAGE;
use crate::stale_pages::StalePages;
use crate::tree::{Node, Page, Tree};

/// An open environment whose pages are read in place, and what a process has found out about them.
///
/// Its methods, and those of a [`Tree`], are given a transaction of the environment and the number of the state that it
/// sees: `txn.id()` for one that reads, [`state_of_write`] for one that writes.
///
/// Before the first write of each opening a program calls [`check_writable`](Self::check_writable), and
/// [`Tree::meet`] before each change of a database.
///
/// ```
/// use heed::types::Bytes;
/// use heed::{CommitOrAbort, EnvOpenOptions};
/// use lmdb_verify::{Header, Names, PageReader, Pages, Tree};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let mut options = EnvOpenOptions::new().read_txn_without_tls();
/// // SAFETY: No other program changes the file.
/// let env = unsafe { options.max_dbs(1).open(dir.path())? };
/// let made = env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
///     let main = opener.create_database::<Bytes, Bytes>(txn, None)?;
///     let pets = opener.create_database::<Bytes, Bytes>(txn, Some("pets"))?;
///     pets.put(txn, b"Bello", b"dog")?;
///     heed::Result::Ok(CommitOrAbort::<_, ()>::Commit(main))
/// });
/// let main = made?.unwrap_commit();
///
/// let txn = env.read_txn()?;
/// let mut file = std::fs::File::open(dir.path().join("data.mdb"))?;
/// let header = Header::read(&mut file)?;
/// // SAFETY: The environment stays open, and there is no other.
/// let pages = unsafe { Pages::find(&env, &txn, main, &header, &mut file)? };
/// let names = Names { largest: "pets", small: &[], others: &[] };
/// let reader = PageReader::new(env.clone(), main, pages, names, file);
///
/// assert!(reader.check_pages(&txn).problems.is_empty());
/// let tree = Tree::find(&reader, &txn, txn.id())?;
/// assert_eq!(tree.get(&reader, &txn, b"Bello")?, Some(&b"dog"[..]));
/// assert!(tree.is_absent(&reader, &txn, b"Mimi", |_, _| Ok(()))?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PageReader {
    env: Env<WithoutTls>,
    main: Database<'static, Bytes, Bytes>,
    pages: Pages,
    names: Names,
    /// The data file once more, to look at what LMDB does not tell.
    file: Mutex<File>,
    /// How many bytes the file is known to have.
    length: AtomicU64,
    /// The tree of the largest database in the state for which it was last asked.
    tree: RwLock<Option<Tree>>,
    /// The header of the state that this process last began to write in.
    header: Mutex<Option<Header>>,
    pub(crate) stale: StalePages,
    pub(crate) free_list: FreeList,
    pub(crate) met: Met,
}

/// Returns the number of the state that a write transaction began with: the one before its own.
pub fn state_of_write(txn: &RwTxn<'_>) -> usize {
    txn.id().wrapping_sub(1)
}

impl PageReader {
    /// Returns a reader of these [pages](Pages::find) of an environment. `main` is the unnamed database, and `file` the data
    /// file, opened once more.
    pub fn new(
        env: Env<WithoutTls>,
        main: Database<'static, Bytes, Bytes>,
        pages: Pages,
        names: Names,
        file: File,
    ) -> Self {
        Self {
            env,
            main,
            pages,
            names,
            file: Mutex::new(file),
            length: AtomicU64::new(0),
            tree: RwLock::default(),
            header: Mutex::default(),
            stale: StalePages::new(),
            free_list: FreeList::default(),
            met: Met::default(),
        }
    }

    /// Returns where the pages lie.
    #[inline]
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Returns the data file, which one thread at a time may read.
    pub fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns LMDB's record of a database as a transaction sees it.
    pub(crate) fn record<'t>(&self, txn: &'t RoTxn<'_>, name: &str) -> Result<Option<&'t [u8]>> {
        self.main.get(txn, name.as_bytes()).map_err(Error::lmdb)
    }

    pub(crate) fn new_txn(&self) -> heed::Result<RoTxn<'_, WithoutTls>> {
        self.env.read_txn()
    }

    /// Returns whether no write has to look at a page any more.
    #[inline]
    pub fn has_met_all(&self) -> bool {
        self.met.are_all()
    }

    /// Notes that every page has been looked at, and every entry on them: no write looks at a page any more.
    pub fn meet_all(&self) {
        self.met.meet_all();
    }

    /// Returns whether a write may change a page without a look at it.
    pub fn has_met(&self, number: u64) -> bool {
        self.met.pages().has(number)
    }

    /// Returns the header of the state that a write transaction begins with, as LMDB itself sees it. No process writes
    /// a header page while the transaction lives.
    pub(crate) fn header_of_write(&self, txn: &RwTxn<'_>) -> Option<Header> {
        let state = u64::try_from(state_of_write(txn)).ok()?;
        // Commits alternate between the two pages.
        let size = self.pages.size();
        let page = self.pages.span(txn, state % 2, size, u64::try_from(2 * size).ok()?)?;
        let header = Header::parse(page).ok().flatten().filter(|header| header.transaction == state)?;
        *self.header.lock().unwrap_or_else(PoisonError::into_inner) = Some(header);
        Some(header)
    }

    /// Returns the header of a state. `None` if two commits have overwritten it since.
    pub fn header(&self, state: u64) -> Option<Header> {
        let known = *self.header.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_some_and(|known| known.transaction == state) {
            return known;
        }
        let page_size = u64::try_from(self.pages.size()).ok()?;
        Header::of_commit(&mut *self.file(), page_size, state).ok().flatten()
    }

    pub(crate) fn known_tree(&self) -> Option<Tree> {
        *self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn learn_tree(&self, tree: Tree) {
        if let Ok(mut known) = self.tree.try_write() {
            *known = Some(tree);
        }
    }

    /// Returns the page of a number, if the file has it. Nothing of it has been looked at.
    #[inline]
    pub fn page<'t>(&self, txn: &'t RoTxn<'_>, number: u64) -> Option<&'t [u8]> {
        self.span(txn, number, self.pages.size())
    }

    /// Returns the branch or the leaf of a number.
    #[inline]
    pub(crate) fn tree_page<'t>(&self, txn: &'t RoTxn<'_>, number: u64) -> Result<Page<'t>> {
        self.page(txn, number).and_then(|bytes| Page::parse(bytes, number)).ok_or_else(damaged)
    }

    /// Returns so many bytes from the start of a page on, if the file has them. Those of the header may change at any time.
    #[inline]
    pub(crate) fn span<'t>(&self, txn: &'t RoTxn<'_>, number: u64, length: usize) -> Option<&'t [u8]> {
        if number < FIRST_PAGE {
            return None;
        }
        let known = self.length.load(Ordering::Relaxed);
        match self.pages.span(txn, number, length, known) {
            None => self.span_of_grown(txn, number, length),
            found => found,
        }
    }

    /// Returns some bytes of the map that lie behind the length that the file is known to have, if it has grown.
    #[cold]
    #[inline(never)]
    fn span_of_grown<'t>(&self, txn: &'t RoTxn<'_>, number: u64, length: usize) -> Option<&'t [u8]> {
        self.pages.span(txn, number, length, self.grown()?)
    }

    /// Returns how many bytes the file has by now.
    #[cold]
    fn grown(&self) -> Option<u64> {
        let found = self.file().metadata().ok()?.len();
        self.length.store(found, Ordering::Relaxed);
        Some(found)
    }

    /// Returns the value of a leaf's entry, on the leaf or on pages of its own.
    #[inline]
    pub(crate) fn value<'t>(&self, txn: &'t RoTxn<'_>, node: &Node<'t>) -> Option<&'t [u8]> {
        let size = usize::try_from(node.size).ok()?;
        if node.flags & BIG_DATA == 0 {
            return node.rest.get(..size);
        }
        let first = Fields(node.rest).u64()?;
        self.span(txn, first, size.checked_add(HEADER)?)?.get(HEADER..)
    }
}
