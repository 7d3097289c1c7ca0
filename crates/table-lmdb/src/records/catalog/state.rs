//! What a process keeps of a table: that it exists, its dictionary, the declarations of its rows.

use crate::records::{authenticated, index_states, layouts, names};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use table_engine::error::{Error, ErrorKind};
use table_engine::plan::Epoch;
use table_engine::row::dict::Dict;
use table_engine::row::{Row, view};
use table_engine::schema::{IndexMask, IndexStates, Outdated, Schema};
use table_engine::sealing::missing;

use super::{Entry, find, list};
use crate::lmdb::{Databases, WriteTxn};
use crate::records::kinds::{self, DeclaredKind};
use crate::records::meta::Meta;

/// A table as this process knows it; shared by every handle.
#[derive(Debug)]
pub(crate) struct TableState {
    pub(crate) id: u32,
    /// The name as it was given at creation.
    pub(crate) name: Box<str>,
    dict: RwLock<Arc<Dict>>,
    /// The catalog's generation at which the table was last seen to exist.
    generation: AtomicU64,
    /// The LMDB transaction at which it was last seen to exist: a read at the same one need not look again.
    checked_at: AtomicUsize,
    /// The declarations that its rows are known to be read by.
    registered: RwLock<Vec<&'static Schema>>,
    /// The indexes that readers and writers by a declaration go by, for each one that was asked for.
    declarations: RwLock<Vec<KnownDeclaration>>,
    /// Former declarations, which would write what another one has had sealed or renamed.
    outdated: RwLock<Vec<(&'static Schema, Outdated)>>,
    /// Whether [`outdated`](Self::outdated) has any, so that most writes need no lock.
    has_outdated: AtomicBool,
    /// The kinds of rows that structs declare, at [`generation`](Self::generation).
    declared: RwLock<Vec<DeclaredKind>>,
    has_declared: AtomicBool,
    /// Whether all rows of some declared kind carry a keyed digest.
    signs_some: AtomicBool,
    /// The states of the kinds that have any, at [`generation`](Self::generation).
    index_states: RwLock<Vec<(String, IndexStates)>>,
    has_index_states: AtomicBool,
    /// Held by a thread while it reads the records of another generation.
    looking: Mutex<()>,
}

/// What is known of a declaration.
#[derive(Debug)]
struct KnownDeclaration {
    schema: &'static Schema,
    /// The catalog's generation at which the other fields were so.
    generation: u64,
    index_mask: IndexMask,
    /// Whether it may write; else it may read.
    may_write: bool,
    /// Whether it was allowed to write at some time.
    has_written: bool,
    /// Whether it may write only since it has written before: by the layout that is noted now it could not be opened.
    goes_on: bool,
}

impl TableState {
    /// Returns a table of which nothing but its entry in the catalog is known. `dict` knows no name yet.
    pub(crate) fn new(entry: &Entry, dict: Dict) -> Self {
        Self {
            id: entry.id,
            name: entry.name.clone(),
            dict: RwLock::new(Arc::new(dict)),
            generation: AtomicU64::new(u64::MAX),
            checked_at: AtomicUsize::new(usize::MAX),
            registered: RwLock::default(),
            declarations: RwLock::default(),
            outdated: RwLock::default(),
            has_outdated: AtomicBool::new(false),
            declared: RwLock::default(),
            has_declared: AtomicBool::new(false),
            signs_some: AtomicBool::new(false),
            index_states: RwLock::default(),
            has_index_states: AtomicBool::new(false),
            looking: Mutex::default(),
        }
    }

    /// Takes note of a declaration that was compared with what the store has noted.
    pub(crate) fn set_registered(&self, schema: &'static Schema) {
        let mut registered = self.registered.write().unwrap_or_else(PoisonError::into_inner);
        if !registered.iter().any(|known| std::ptr::eq(*known, schema)) {
            registered.push(schema);
        }
    }

    /// Returns the indexes that a program with this declaration goes by; `None` if the process has not looked since the
    /// catalog's generation rose.
    #[inline]
    pub(crate) fn index_mask(&self, schema: &'static Schema, writes: bool) -> Option<IndexMask> {
        let generation = self.generation.load(Ordering::Acquire);
        let known = self.declarations.read().unwrap_or_else(PoisonError::into_inner);
        let known = known.iter().find(|known| std::ptr::eq(known.schema, schema))?;
        (known.generation == generation && (known.may_write || !writes)).then_some(known.index_mask)
    }

    /// Returns whether this declaration is known to be one that a table may be opened by, at the catalog's present
    /// generation. One that goes on by what it has written may not.
    pub(crate) fn may_open(&self, schema: &'static Schema) -> bool {
        let generation = self.generation.load(Ordering::Acquire);
        let known = self.declarations.read().unwrap_or_else(PoisonError::into_inner);
        let may_open = |known: &KnownDeclaration| known.generation == generation && !known.goes_on;
        known.iter().any(|known| std::ptr::eq(known.schema, schema) && may_open(known))
    }

    /// Returns whether this declaration has been one that may write.
    pub(crate) fn has_written(&self, schema: &'static Schema) -> bool {
        let known = self.declarations.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|known| std::ptr::eq(known.schema, schema) && known.has_written)
    }

    /// Takes note of the indexes that a program with this declaration goes by at a generation of the catalog.
    pub(crate) fn set_index_mask(
        &self,
        schema: &'static Schema,
        generation: u64,
        index_mask: IndexMask,
        may_write: bool,
        goes_on: bool,
    ) {
        let mut declarations = self.declarations.write().unwrap_or_else(PoisonError::into_inner);
        let is_of = |known: &KnownDeclaration| std::ptr::eq(known.schema, schema);
        let has_written = may_write || declarations.iter().any(|known| is_of(known) && known.has_written);
        declarations.retain(|known| !is_of(known));
        declarations.push(KnownDeclaration {
            schema,
            generation,
            index_mask,
            may_write,
            has_written,
            goes_on,
        });
    }

    /// Returns whether a kind is still in the epoch that a plan was made in. It is known after a [look at the
    /// generation](Self::check_generation) in the caller's transaction.
    #[inline]
    pub(crate) fn is_epoch(&self, epoch: &Epoch) -> bool {
        if !self.has_index_states.load(Ordering::Acquire) {
            return epoch.number == 0;
        }
        let index_states = self.index_states.read().unwrap_or_else(PoisonError::into_inner);
        let now = index_states
            .iter()
            .find(|(kind, _)| kind == epoch.kind)
            .map_or(0, |(_, index_states)| index_states.epoch);
        now == epoch.number
    }

    /// Refuses rows by a former declaration, which has a property plain that is sealed now, or under the name that it had. Its
    /// program has had the table open since then.
    #[inline]
    pub(crate) fn check_declarations(
        &self,
        declarations: impl Iterator<Item = &'static Schema>,
    ) -> Result<(), Error> {
        if !self.has_outdated.load(Ordering::Acquire) {
            return Ok(());
        }
        let outdated = self.outdated.read().unwrap_or_else(PoisonError::into_inner);
        for schema in declarations {
            // They are compared by their contents: a constant may lie in several places.
            if let Some((_, why)) = outdated.iter().find(|(former, _)| *former == schema) {
                return Err(layouts::outdated(schema, why));
            }
        }
        Ok(())
    }

    /// Returns whether some struct declares a kind of its rows.
    #[inline]
    pub(crate) fn declares_some(&self) -> bool {
        self.has_declared.load(Ordering::Acquire)
    }

    /// Returns whether all rows of some declared kind carry a keyed digest.
    #[inline]
    pub(crate) fn signs_some(&self) -> bool {
        self.signs_some.load(Ordering::Acquire)
    }

    /// Returns the kinds of rows that structs declare. They are complete after a [look at the
    /// generation](Self::check_generation) in the caller's transaction.
    pub(crate) fn declared_kinds(&self) -> RwLockReadGuard<'_, Vec<DeclaredKind>> {
        self.declared.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Verifies with the keys that the records which say what is sealed were not changed without them.
    pub(crate) fn verify(&self, dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<(), Error> {
        let entry = find(dbs, txn, meta, &self.name)?;
        entry.map_or(Ok(()), |entry| self.verify_entry(dbs, txn, meta, &entry))
    }

    /// Verifies the records of any table of the store, as [`verify`](Self::verify) does those of this one.
    pub(crate) fn verify_entry(
        &self,
        dbs: &Databases,
        txn: &heed::RoTxn<'_>,
        meta: &Meta,
        entry: &Entry,
    ) -> Result<(), Error> {
        let dict = self.dict();
        let Some(vault) = dict.vault() else { return Ok(()) };
        authenticated::verify_tables(dbs, txn, meta, vault.authenticator()?)?;
        authenticated::verify_table(dbs, txn, meta, vault.authenticator()?, entry)
    }

    /// Has the keys authenticate a kind that seals or signs, in the table of this name, where its entities or copies of
    /// them lie.
    pub(crate) fn authenticate_in(
        &self,
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        meta: &mut Meta,
        schema: &Schema,
        name: &str,
    ) -> Result<(), Error> {
        if !schema.seals() && !schema.signs_some() {
            return Ok(());
        }
        let dict = self.dict();
        let authenticator = dict.vault().ok_or_else(missing::keys)?.authenticator()?;
        let Some(entry) = find(dbs, txn, meta, name)? else { return Ok(()) };
        authenticated::authenticate(dbs, txn, meta, authenticator, &entry)
    }

    /// Reads the declared kinds again.
    fn find_declared(&self, dbs: &Databases, txn: &heed::RoTxn<'_>) -> Result<(), Error> {
        let declared = kinds::declared(dbs, txn, self.id)?;
        let has_declared = !declared.is_empty();
        let signs_some = declared.iter().any(|kind| kind.is_signed);
        *self.declared.write().unwrap_or_else(PoisonError::into_inner) = declared;
        self.has_declared.store(has_declared, Ordering::Release);
        self.signs_some.store(signs_some, Ordering::Release);
        let index_states = index_states::all_index_states(dbs, txn, self.id)?;
        let has_index_states = !index_states.is_empty();
        *self.index_states.write().unwrap_or_else(PoisonError::into_inner) = index_states;
        self.has_index_states.store(has_index_states, Ordering::Release);
        Ok(())
    }

    /// Lets the other declarations of a kind be compared anew when the table is opened by them.
    pub(crate) fn forget_others(&self, schema: &'static Schema) {
        let mut registered = self.registered.write().unwrap_or_else(PoisonError::into_inner);
        registered.retain(|known| known.kind != schema.kind || std::ptr::eq(*known, schema));
    }

    /// Looks again at the declarations that were right when the table was opened.
    pub(crate) fn check_registered(&self, dbs: &Databases, txn: &heed::RoTxn<'_>) -> Result<(), Error> {
        self.check_outdated(dbs, txn)?;
        let registered = self.registered.read().unwrap_or_else(PoisonError::into_inner).clone();
        for schema in registered {
            if let Some(why) = layouts::is_outdated(dbs, txn, self, schema)? {
                let mut outdated = self.outdated.write().unwrap_or_else(PoisonError::into_inner);
                if !outdated.iter().any(|(former, _)| *former == schema) {
                    outdated.push((schema, why));
                }
                self.has_outdated.store(true, Ordering::Release);
                drop(outdated);
                let mut registered = self.registered.write().unwrap_or_else(PoisonError::into_inner);
                registered.retain(|known| !std::ptr::eq(*known, schema));
            }
        }
        Ok(())
    }

    /// Looks again at the declarations that were outdated: copies may have been taken out of the layout since.
    fn check_outdated(&self, dbs: &Databases, txn: &heed::RoTxn<'_>) -> Result<(), Error> {
        if !self.has_outdated.load(Ordering::Acquire) {
            return Ok(());
        }
        let known: Vec<_> = self.outdated.read().unwrap_or_else(PoisonError::into_inner).clone();
        for (schema, _) in known {
            if layouts::is_outdated(dbs, txn, self, schema)?.is_none() {
                let mut outdated = self.outdated.write().unwrap_or_else(PoisonError::into_inner);
                outdated.retain(|(former, _)| *former != schema);
                drop(outdated);
                self.set_registered(schema);
            }
        }
        Ok(())
    }

    /// Returns the dictionary as far as it is known.
    pub(crate) fn dict(&self) -> Arc<Dict> {
        self.dict.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes in a dictionary whose entries are all committed.
    pub(crate) fn learn(&self, dict: Arc<Dict>) {
        let mut known = self.dict.write().unwrap_or_else(PoisonError::into_inner);
        // Two threads may have read different amounts. Numbers never change, so the longer dictionary holds the other.
        if dict.len().holds(known.len()) {
            *known = dict;
        }
    }

    /// Returns the dictionary with everything that this snapshot has.
    #[cold]
    pub(crate) fn reload(&self, dbs: &Databases, txn: &heed::RoTxn<'_>) -> Result<Arc<Dict>, Error> {
        let mut dict = (*self.dict()).clone();
        names::read_new(&mut dict, dbs, txn, self.id).map_err(|e| e.table(&self.name))?;
        let dict = Arc::new(dict);
        self.learn(dict.clone());
        Ok(dict)
    }

    /// Returns the dictionary with everything that this row needs. A number that it does not have is damage.
    #[cold]
    pub(crate) fn reload_for(
        &self,
        dbs: &Databases,
        txn: &heed::RoTxn<'_>,
        row: &Row<'_>,
    ) -> Result<Arc<Dict>, Error> {
        let dict = self.reload(dbs, txn)?;
        if view::covers(&dict, row) {
            return Ok(dict);
        }
        Err(Error::new(ErrorKind::Corrupt)
            .because("the row has a property, an `EntityType` or a shape that its table does not know"))
    }

    /// Checks in a snapshot that the table has not been dropped.
    pub(crate) fn check_exists(&self, dbs: &Databases, txn: &heed::RoTxn<'_>) -> Result<(), Error> {
        // Transactions of one number see one state.
        if self.checked_at.load(Ordering::Acquire) == txn.id() {
            return Ok(());
        }
        self.check_generation(dbs, txn, &Meta::read(dbs.main, txn)?)?;
        self.checked_at.store(txn.id(), Ordering::Release);
        Ok(())
    }

    /// Notes that the table exists in the state of this number, which this process has made: it has just written the
    /// record that a read would look at.
    pub(crate) fn exists_at(&self, state: usize) {
        self.checked_at.store(state, Ordering::Release);
    }

    /// Checks in a transaction with this record that the table has not been dropped, and that its declarations are
    /// still those that may write.
    pub(crate) fn check_generation(
        &self,
        dbs: &Databases,
        txn: &heed::RoTxn<'_>,
        meta: &Meta,
    ) -> Result<(), Error> {
        if self.generation.load(Ordering::Acquire) == meta.generation {
            return Ok(());
        }
        match find(dbs, txn, meta, &self.name)? {
            // Former handles of a table stay good if its name has changed in case alone.
            Some(entry) if entry.id == self.id => {
                self.verify_entry(dbs, txn, meta, &entry)?;
                let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
                // A reader of a former state must not bring back what was known then.
                let known = self.generation.load(Ordering::Acquire);
                if known == u64::MAX || known < meta.generation {
                    self.check_registered(dbs, txn)?;
                    self.find_declared(dbs, txn)?;
                    self.generation.store(meta.generation, Ordering::Release);
                }
                Ok(())
            }
            found => {
                let because = if meta.next_table <= self.id {
                    "the table was created after the snapshot was taken"
                } else if let Some(renamed) = list(dbs, txn, meta)?.iter().find(|entry| entry.id == self.id) {
                    let because = format!("the table is called `{}` now; get a new handle", renamed.name);
                    return Err(Error::new(ErrorKind::TableNotFound).because(because).table(&self.name));
                } else if found.is_some() {
                    "the table was dropped and created anew; get a new handle"
                } else {
                    "the table was dropped"
                };
                Err(Error::new(ErrorKind::TableNotFound).because(because).table(&self.name))
            }
        }
    }
}
