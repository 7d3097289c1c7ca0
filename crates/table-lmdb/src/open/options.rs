//! How a store is opened.

#[cfg(feature = "encrypt")]
use std::sync::Arc;
use std::time::Duration;

use table_engine::Propagate;
#[cfg(feature = "encrypt")]
use table_engine::crypt::KeyProvider;

use crate::records::mark::Mark;

/// Address space for the store's map. It is reserved, not used: a store takes what its data takes.
#[cfg(all(unix, target_pointer_width = "64"))]
pub(super) const DEFAULT_MAP_SIZE: usize = 1 << 40;
/// Windows and 32-bit systems give memory or scarce addresses to what is reserved.
#[cfg(not(all(unix, target_pointer_width = "64")))]
pub(super) const DEFAULT_MAP_SIZE: usize = 1 << 30;

/// A multiple of every page size in use (4, 16 and 64 KiB): LMDB takes whole pages of the system's.
const GRANULE: usize = 64 * 1024;

/// What a commit promises when it returns.
///
/// Neither level can damage the store, and a process that dies takes nothing with it: they differ in what a
/// failing machine may lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// What was committed survives a power failure.
    #[default]
    Durable,
    /// One flush per commit instead of two. A power failure may undo the last commits, each as a whole and the
    /// latest first; what is left is consistent.
    Relaxed,
}

/// How a store is opened: made by `Store::options()` or `OpenOptions::new()`, finished with `open`.
///
/// ```
/// use table_core::{Durability, Store};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::options().durability(Durability::Relaxed).max_readers(4_096).open(&path)?;
/// # drop(store);
///
/// // Only a store that is there already:
/// let store = Store::options().create(false).open(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "options that have nothing to do with each other")]
pub struct OpenOptions {
    pub(crate) durability: Durability,
    pub(crate) map_size: usize,
    pub(crate) max_readers: u32,
    pub(crate) verify_reads: bool,
    pub(crate) group_limit: usize,
    pub(crate) submit_limit: usize,
    pub(crate) create: bool,
    pub(crate) not_before: Option<Mark>,
    pub(crate) read_only: bool,
    pub(crate) verify_first: bool,
    pub(crate) accept_lost_commit: bool,
    pub(crate) propagate: Propagate,
    #[cfg(feature = "tracing")]
    pub(crate) slow_after: Option<Duration>,
    #[cfg(feature = "encrypt")]
    pub(crate) encryption: Option<Provider>,
    #[cfg(feature = "encrypt")]
    pub(crate) new_keys: bool,
}

/// A key provider; two are the same if they are one object.
#[cfg(feature = "encrypt")]
#[derive(Clone)]
pub(crate) struct Provider(pub(crate) Arc<dyn KeyProvider>);

#[cfg(feature = "encrypt")]
impl PartialEq for Provider {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(feature = "encrypt")]
impl Eq for Provider {}

/// The provider itself is not shown: it may know secrets.
#[cfg(feature = "encrypt")]
impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Provider(..)")
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Durable,
            map_size: DEFAULT_MAP_SIZE,
            max_readers: 1_024,
            verify_reads: true,
            group_limit: 256,
            submit_limit: 4_096,
            create: true,
            not_before: None,
            read_only: false,
            verify_first: false,
            accept_lost_commit: false,
            propagate: Propagate::Background,
            #[cfg(feature = "tracing")]
            slow_after: None,
            #[cfg(feature = "encrypt")]
            encryption: None,
            #[cfg(feature = "encrypt")]
            new_keys: false,
        }
    }
}

impl OpenOptions {
    /// Returns the default of each option: what [`Store::options`](crate::Store::options) gives.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what a commit promises when it returns. The default is [`Durability::Durable`].
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the size, in bytes, that the store may grow to, rounded up to whole pages. A store that is larger already
    /// can be read and not written.
    ///
    /// The default is 1 TiB on 64-bit Unix, where it costs nothing (where the system has fewer addresses, as
    /// many as it gives), and 1 GiB elsewhere. Every process that opens the store should give the same size.
    #[must_use]
    pub fn map_size(mut self, bytes: usize) -> Self {
        let largest = usize::MAX - usize::MAX % GRANULE;
        self.map_size = bytes.max(1).checked_next_multiple_of(GRANULE).unwrap_or(largest);
        self
    }

    /// Sets how many snapshots and iterators may be alive at once, over all processes. The default is 1,024; zero
    /// counts as one. When all are taken, reads are [`TooManyReaders`](table_engine::ErrorKind::TooManyReaders), and so are
    /// changes, which read what is there before they write: every slot that snapshots hold is one that they lack. An
    /// insert of a kind whose layout is known needs none.
    ///
    /// The process that opens the store first decides; one that comes while the store is open elsewhere gets
    /// that process's number.
    #[must_use]
    pub fn max_readers(mut self, readers: u32) -> Self {
        self.max_readers = readers.max(1);
        self
    }

    /// Sets whether every read verifies the checksums of what it returns, and that nothing between was skipped. The
    /// default is `true`.
    #[must_use]
    pub fn verify_reads(mut self, verify: bool) -> Self {
        self.verify_reads = verify;
        self
    }

    /// Sets how many threads' batches may share one commit; 1 gives each its own. The default is 256; zero counts as
    /// one.
    ///
    /// A commit waits for the disk. Threads that write at one time share that wait, and a thread alone never waits
    /// for company.
    #[must_use]
    pub fn group_limit(mut self, batches: usize) -> Self {
        self.group_limit = batches.max(1);
        self
    }

    /// Sets how many submitted writes may wait to be carried out: one more is
    /// [`TooManyWrites`](table_engine::ErrorKind::TooManyWrites), and its caller is to wait for answers before it submits
    /// more. The default is 4,096; zero counts as one. However few they are, they come to 64 MiB at most.
    #[must_use]
    pub fn submit_limit(mut self, writes: usize) -> Self {
        self.submit_limit = writes.max(1);
        self
    }

    /// Sets after how long an operation is slow: it is reported by a warning with the target `table_core::slow`. The default
    /// is that none is, and no operation reads the clock for it.
    ///
    /// The warning comes when the operation ends. A query that reads page after page of the file, and a write that waits for
    /// others, report it once before, while they still run. Jobs are never slow.
    ///
    /// Any subscriber hears it. This one keeps the lines of warnings:
    ///
    /// ```standalone_crate
    /// use std::fmt::{Debug, Write};
    /// use std::sync::Mutex;
    /// use std::time::Duration;
    /// use table_core::{DynamicEntity, Query, Store};
    /// use tracing::field::{Field, Visit};
    /// use tracing::span::{Attributes, Id, Record};
    /// use tracing::{Event, Level, Metadata, Subscriber};
    ///
    /// static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    ///
    /// struct Warnings;
    /// struct Line(String);
    ///
    /// impl Visit for Line {
    ///     fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
    ///         write!(self.0, " {}={value:?}", field.name()).unwrap();
    ///     }
    /// }
    ///
    /// impl Subscriber for Warnings {
    ///     fn enabled(&self, metadata: &Metadata<'_>) -> bool {
    ///         *metadata.level() <= Level::WARN
    ///     }
    ///     fn event(&self, event: &Event<'_>) {
    ///         let mut line = Line(event.metadata().target().into());
    ///         event.record(&mut line);
    ///         LINES.lock().unwrap().push(line.0);
    ///     }
    ///     # fn new_span(&self, _: &Attributes<'_>) -> Id { Id::from_u64(1) }
    ///     # fn record(&self, _: &Id, _: &Record<'_>) {}
    ///     # fn record_follows_from(&self, _: &Id, _: &Id) {}
    ///     # fn enter(&self, _: &Id) {}
    ///     # fn exit(&self, _: &Id) {}
    ///     // and the methods of spans, which it hears none of
    /// }
    ///
    /// # let dir = tempfile::tempdir()?;
    /// tracing::subscriber::set_global_default(Warnings)?;
    /// let store = Store::options().slow_after(Duration::from_millis(200)).open(dir.path().join("company.tables"))?;
    /// let company = store.create_table("Company")?;
    /// company.insert(&DynamicEntity::new("Sales", "1"))?;
    /// assert_eq!(company.query(&Query::new())?.count(), 1);
    /// let lines = LINES.lock().unwrap();
    /// assert!(lines[0].starts_with("table_core::full_scan "), "{}", lines[0]);
    /// assert!(lines[0].contains(r#"db.collection.name="Company" class="table scan" rows_read=1 rows_returned=1"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn slow_after(mut self, time: Duration) -> Self {
        self.slow_after = Some(time);
        self
    }

    /// Returns after how long an operation is slow.
    #[cfg_attr(
        not(feature = "tracing"),
        expect(clippy::unused_self, reason = "none is slow without the feature")
    )]
    pub(crate) fn slow(&self) -> Option<Duration> {
        #[cfg(feature = "tracing")]
        return self.slow_after;
        #[cfg(not(feature = "tracing"))]
        return None;
    }

    /// Sets whether a store that is missing is made. The default is `true`.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets whether the store is opened for reading only. The default is `false`.
    ///
    /// Every write is refused with [`ReadOnly`](table_engine::ErrorKind::ReadOnly). A missing store is not made, nor are keys.
    /// [`Store::table`](table_engine::Tables::table) opens existing tables, and notes no layout. Space of dropped tables is not freed.
    ///
    /// To read beside programs that write, LMDB writes into its lock file, which must be possible. Where the whole file
    /// system is read-only there are no such programs, and it does without; so a store may be read from such a medium.
    /// A directory that is merely mounted read-only here, and can be written elsewhere, is refused.
    ///
    /// A store in which the pages are damaged that lead to everything else opens in this way alone: a write could go to pages
    /// that are others'.
    ///
    /// ```
    /// use table_core::{ErrorKind, Store};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("company.tables");
    /// # Store::open(&path)?.create_table("Company")?;
    /// let store = Store::options().read_only(true).open(&path)?;
    /// assert_eq!(store.tables()?, ["Company"]);
    /// assert_eq!(store.create_table("Other").unwrap_err().kind(), ErrorKind::ReadOnly);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Refuses the store if it is older than it was when this [mark](crate::Store::mark) was taken: if a backup, or former
    /// files, have been put in its place. A missing store is not made.
    #[must_use]
    pub fn not_before(mut self, mark: Mark) -> Self {
        self.not_before = Some(mark);
        self
    }

    /// Sets whether all pages of the store's files are looked at before LMDB goes by them. The default is `false`.
    ///
    /// LMDB believes its pages: in a file that is damaged, or was changed on purpose, one of them can end the process.
    /// With this the file is read once from end to end, and what could harm LMDB is
    /// [`Corrupt`](table_engine::ErrorKind::Corrupt): a page that is used twice, one that is neither used nor free, entries
    /// out of order or beyond their page, a row, message or segment of a blob whose checksum does not fit. So are the
    /// keys of encrypted properties, if there are any. What rows say of one another is not looked at:
    /// [`Store::check`](crate::Store::check) does that. No write of this process has to look at a page any more then.
    ///
    /// It says nothing of what becomes of the file later.
    #[must_use]
    pub fn verify_first(mut self, verify: bool) -> Self {
        self.verify_first = verify;
        self
    }

    /// Sets whether a store opens whose last commit is in doubt, **without that commit**. The default is `false`: such
    /// a store is [`OutcomeUnknown`](table_engine::ErrorKind::OutcomeUnknown).
    ///
    /// The file has the commit, and its header says that it never was. Either the disk failed while the header was
    /// written, and power was lost before a note of that was safe; then the commit was never reported as done. Or the
    /// header has been damaged since; then the commit is lost, and a copy from before may be the better choice.
    #[must_use]
    pub fn accept_lost_commit(mut self, accept: bool) -> Self {
        self.accept_lost_commit = accept;
        self
    }

    /// Sets how copies that are `eventual` are propagated. The default is a thread of this process in the background,
    /// which runs as long as there is something to do.
    #[must_use]
    pub fn propagate(mut self, propagate: Propagate) -> Self {
        self.propagate = propagate;
        self
    }

    /// Sets the provider of the key that encrypted properties need. Without one they can be neither read nor written;
    /// everything else can.
    ///
    /// The data keys lie, wrapped, in the directory `keys` in the store's, which is made when a store is opened with a
    /// provider for the first time (unless [`create`](Self::create) forbids it). If it is missing later, the store does
    /// not open; see [`new_keys`](Self::new_keys). The provider is asked once now, so that a key which can't be had
    /// shows at once. A second opening in this process must give the same provider: a clone of the `Arc`, or of these
    /// options.
    #[cfg(feature = "encrypt")]
    #[must_use]
    pub fn encryption(mut self, provider: Arc<dyn KeyProvider>) -> Self {
        self.encryption = Some(Provider(provider));
        self
    }

    /// Sets whether a store whose values are sealed, and whose keys are missing, gets new ones. **What is sealed in it
    /// is then lost**, as it is without keys, and nothing finds a value any more by a token from before: a unique index
    /// takes it once more. The default is `false`: such a store is an error, and its keys are to be taken from a
    /// backup. Keys that are there are used.
    ///
    /// The new keys authenticate the records that say which kinds seal or sign, as they find them. So the option is for
    /// the one opening that is to make the keys: with it, a person who can write the store's files need only remove the
    /// keys to have changes authenticated.
    #[cfg(feature = "encrypt")]
    #[must_use]
    pub fn new_keys(mut self, make: bool) -> Self {
        self.new_keys = make;
        self
    }

    /// Returns which option keeps a store that is open with `self` from being opened again with `asked`, and both
    /// values. `create`, `accept_lost_commit` and `new_keys` say nothing about a store that is there.
    pub(super) fn conflict(&self, asked: &Self) -> Option<String> {
        let values = |options: &Self| {
            [
                ("durability", format!("{:?}", options.durability)),
                ("map_size", options.map_size.to_string()),
                ("max_readers", options.max_readers.to_string()),
                ("verify_reads", options.verify_reads.to_string()),
                ("group_limit", options.group_limit.to_string()),
                ("submit_limit", options.submit_limit.to_string()),
                ("slow_after", format!("{:?}", options.slow())),
                ("read_only", options.read_only.to_string()),
                ("propagation", format!("{:?}", options.propagate)),
                // A store that was opened with all its pages verified need not be verified again.
                ("verify_first", (options.verify_first || self.verify_first).to_string()),
            ]
        };
        #[cfg(feature = "encrypt")]
        if self.encryption != asked.encryption {
            let given = |options: &Self| if options.encryption.is_some() { "a provider" } else { "none" };
            return Some(format!(
                "the store is open in this process with `encryption` {}, not {}; use the same one, by a clone of \
                 the `Arc`, or close it first",
                given(self),
                if asked.encryption.is_some() && self.encryption.is_some() {
                    "another"
                } else {
                    given(asked)
                },
            ));
        }
        let mut pairs = values(self).into_iter().zip(values(asked));
        let ((name, open), (_, asked)) = pairs.find(|(open, asked)| open != asked)?;
        Some(format!(
            "the store is open in this process with `{name}` {open}, not {asked}; \
             use the same options, or close it first"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_pages_whatever_is_asked() {
        for bytes in [0, 1, 4_096, 65_536, 65_537, 1 << 30, usize::MAX - 1, usize::MAX] {
            let size = OpenOptions::default().map_size(bytes).map_size;
            assert!(size > 0 && size.is_multiple_of(65_536), "{bytes}: {size}");
            assert!(size >= bytes || bytes > usize::MAX - 65_536, "{bytes}: {size}");
        }
        assert_eq!(OpenOptions::default().max_readers(0).max_readers, 1);
    }

    #[test]
    fn a_conflict_names_the_option_and_both_values() {
        let open = OpenOptions::default();
        assert_eq!(open.conflict(&open.clone().create(false)), None);
        assert_eq!(open.clone().verify_first(true).conflict(&open), None);
        let asked = [
            (open.clone().durability(Durability::Relaxed), "`durability` Durable, not Relaxed"),
            (open.clone().map_size(65_536), "`map_size` 1099511627776, not 65536"),
            (open.clone().max_readers(7), "`max_readers` 1024, not 7"),
            (open.clone().verify_reads(false), "`verify_reads` true, not false"),
            (open.clone().group_limit(1), "`group_limit` 256, not 1"),
            (open.clone().read_only(true), "`read_only` false, not true"),
            (open.clone().propagate(Propagate::Manual), "`propagation` Background, not Manual"),
            (open.clone().verify_first(true), "`verify_first` false, not true"),
        ];
        for (asked, text) in asked {
            let conflict = open.conflict(&asked).unwrap();
            assert!(conflict.contains(text), "{conflict}");
        }
    }
}
