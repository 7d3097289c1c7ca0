//! One error for everything that can go wrong.

use std::borrow::Cow;
use std::fmt;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What was attempted, on which row, what is wrong, and what would be right.
///
/// Match on [`kind`](Self::kind); show the `Display` text to people. It names tables and keys, and never the
/// value of a property.
///
/// ```
/// use table_core::{DynamicEntity, ErrorKind, Store};
///
/// # let dir = tempfile::tempdir()?;
/// let store = Store::open(dir.path().join("company.tables"))?;
/// let company = store.create_table("Company")?;
/// let jun = DynamicEntity::new("Marketing", "empid_000002");
/// company.insert(&jun)?;
///
/// let error = company.insert(&jun).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::EntityAlreadyExists);
/// assert_eq!((error.kind().code(), error.kind().status()), ("EntityAlreadyExists", 409));
/// assert_eq!(
///     error.to_string(),
///     "cannot insert into table `Company`, partition `Marketing`, row `empid_000002`: \
///      the entity exists already"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    /// The service's code for the operation, where it is another than the kind's.
    code: Option<&'static str>,
    attempted: &'static str,
    queue: Option<Box<str>>,
    container: Option<Box<str>>,
    blob: Option<Box<str>>,
    table: Option<Box<str>>,
    partition: Option<Box<str>>,
    row: Option<Box<str>>,
    index: Option<usize>,
    position: Option<usize>,
    because: Cow<'static, str>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $code:literal, $status:literal, $text:literal;)+) => {
        /// What is wrong, for a program to act on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl ErrorKind {
            /// The service's own code for errors of this kind. An error that only an embedded store can meet is
            /// `InternalError` or `ServerBusy`, as a failing server would say. [`Error::code`] knows the operation too,
            /// where the service has two codes.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)+ }
            }

            /// The HTTP status that the service sends with it.
            pub const fn status(self) -> u16 {
                match self { $(Self::$kind => $status,)+ }
            }

            const fn text(self) -> &'static str {
                match self { $(Self::$kind => $text,)+ }
            }

            /// Every kind, for tables of them in tests and documents.
            #[doc(hidden)]
            pub const ALL: &'static [Self] = &[$(Self::$kind,)+];
        }
    };
}

kinds! {
    /// An insert found an entity under its keys.
    EntityAlreadyExists = "EntityAlreadyExists", 409, "the entity exists already";
    /// A replace, merge or delete found no entity.
    EntityNotFound = "ResourceNotFound", 404, "there is no such entity";
    /// The entity's version is another than the operation demands: somebody wrote it meanwhile.
    ConditionNotMet = "UpdateConditionNotSatisfied", 412, "the entity's ETag is another; read it again";
    /// There is a table of this name, in whatever case.
    TableAlreadyExists = "TableAlreadyExists", 409, "the table exists already";
    /// There is no table of this name, or the handle's table was dropped. To drop it is `ResourceNotFound` in the
    /// service's words: [`Error::code`] says so.
    TableNotFound = "TableNotFound", 404, "there is no such table";
    /// The table of the entity's period was dropped, and entities of that time are taken no more.
    PeriodDropped = "TableNotFound", 404, "the period was dropped";
    /// The table's name holds characters that it may not, or is that of a period of some entity's.
    InvalidTableName = "InvalidResourceName", 400, "not a table name";
    /// The table's name is shorter or longer than it may be.
    TableNameLength = "OutOfRangeInput", 400, "not a table name";
    /// A key is longer than 512 UTF-16 units, or the pair is longer than the store's limit. A key is a property to the
    /// service: the code is that of a value that is too large.
    KeyTooLong = "PropertyValueTooLarge", 400, "a key is too long";
    /// A key holds a character that it may not.
    InvalidKey = "OutOfRangeInput", 400, "a key holds a forbidden character";
    /// A property's name is not an identifier, or is one of the store's own.
    PropertyNameInvalid = "PropertyNameInvalid", 400, "not a property name";
    /// A property's name is longer than 255 UTF-16 units.
    PropertyNameTooLong = "PropertyNameTooLong", 400, "a property name is too long";
    /// A string or binary value is larger than 64 KiB.
    PropertyValueTooLarge = "PropertyValueTooLarge", 400, "a property's value is too large";
    /// A value is outside the range of its type.
    ValueOutOfRange = "OutOfRangeInput", 400, "a property's value is out of range";
    /// The entity has, or would have after a merge, more than 252 properties.
    TooManyProperties = "TooManyProperties", 400, "the entity has too many properties";
    /// The entity is, or would be after a merge, larger than 1 MiB.
    EntityTooLarge = "EntityTooLarge", 400, "the entity is too large";
    /// A batch has no operation or more than 100, or a store transaction none or more rows than it
    /// [may](crate::limits::TRANSACTION_ROWS).
    BatchLength = "InvalidInput", 400, "a batch has 1 to 100 operations";
    /// A batch comes to 4 MiB or more as the body of a request: see [`BATCH_BYTES`](crate::limits::BATCH_BYTES). Or a store
    /// transaction comes to 64 MiB or more.
    BatchTooLarge = "RequestBodyTooLarge", 413, "the batch is too large";
    /// Two operations of a batch name one entity.
    DuplicateRow = "InvalidDuplicateRow", 400, "another operation of the batch has the same row key";
    /// An entity of a batch belongs to another partition.
    DifferentPartitions = "CommandsInBatchActOnDifferentPartitions", 400,
        "the entity is of another partition than the batch";
    /// Another entity has the key that a unique index demands for this one.
    UniqueConflict = "EntityAlreadyExists", 409, "another entity has the same key in a unique index";
    /// An update changed a field of the primary key; an entity is moved by `move_to`.
    KeyChanged = "InvalidInput", 400, "an update can't change the primary key";
    /// What is stored does not fit the struct that it is read into.
    SchemaMismatch = "InvalidInput", 400, "the stored row does not fit the struct";
    /// A kind of entity is declared otherwise than when it was last written.
    LayoutChanged = "InvalidInput", 400, "the layout of the entity has changed";
    /// The copies of an index are not all there: it is new, or declared otherwise than they are, and is being made.
    /// `Table::rebuild` makes it; all else of the table can be read meanwhile.
    IndexBuilding = "ServerBusy", 503, "the index is not ready";
    /// The rows of the entity are of another version than the struct's, and what was asked for takes them to be converted
    /// first: [`Store::migration`](crate::Store::migration).
    MigrationPending = "ServerBusy", 503, "the rows are still to be converted";
    /// An entity of a former version of the struct can't become what the struct is now: the conversion refuses it, or gives
    /// it another key.
    NotConverted = "InvalidInput", 400, "the entity can't be converted";
    /// A write by properties, or a delete by keys, is of a row that a struct declares: the struct's table changes it and
    /// its copies; a handle by [`DynamicTable::raw`](crate::DynamicTable::raw) writes that row alone.
    DeclaredKind = "InvalidInput", 400, "the row's kind is declared by a struct";
    /// Rows of two kinds of entities in one table could have one key.
    LayoutConflict = "InvalidInput", 400, "two kinds of entities could have rows of one key";
    /// There is no queue of this name, or the handle's queue was dropped.
    QueueNotFound = "QueueNotFound", 404, "there is no such queue";
    /// The queue's name is not one that the service takes.
    InvalidQueueName = "InvalidResourceName", 400, "not a queue's name";
    /// A message is larger than 64 KiB as JSON.
    MessageTooLarge = "MessageTooLarge", 400, "the message is too large";
    /// Whoever has received the message holds it no more: it was completed, or hidden for so long that somebody else has
    /// received it.
    StaleReceipt = "PopReceiptMismatch", 400, "the message is held no more";
    /// There is no container of this name, or the handle's container was dropped.
    ContainerNotFound = "ContainerNotFound", 404, "there is no such container";
    /// The container's name is not one that the service takes.
    InvalidContainerName = "InvalidResourceName", 400, "not a container's name";
    /// The blob's name is empty, too long, or has a control character.
    InvalidBlobName = "InvalidResourceName", 400, "not a blob's name";
    /// There is a blob of this name already.
    BlobAlreadyExists = "BlobAlreadyExists", 409, "the blob exists already";
    /// There is no blob of this name.
    BlobNotFound = "BlobNotFound", 404, "there is no such blob";
    /// More bytes than one transaction takes: an upload takes any number of them.
    BlobTooLarge = "RequestBodyTooLarge", 413, "too much for one transaction";
    /// What an entity is to hold, or to be read, is a blob that no entity holds any more, or none has come to hold in time.
    BlobGone = "BlobNotFound", 404, "the blob is gone";
    /// An upload stood still for so long that what had come of it was removed.
    UploadExpired = "InvalidBlockList", 400, "the upload has expired";
    /// Of two tables that are to be dropped together one was named: the one holds copies of entities in the other.
    CopiesElsewhere = "InvalidInput", 400, "copies of the table's entities are in another table";
    /// The text of a filter can't be read; [`position`](Error::position) says where.
    InvalidFilter = "InvalidInput", 400, "the filter can't be read";
    /// A query asks for something that no query may ask: a page of no entities or of more than 1,000, say.
    InvalidQuery = "InvalidInput", 400, "the query is not possible";
    /// A continuation token is damaged, of another version, or belongs to another query.
    InvalidContinuation = "InvalidInput", 400, "the continuation token is not of this query";
    /// Every reader slot is taken by a live snapshot.
    TooManyReaders = "ServerBusy", 503, "no reader slot is free";
    /// The disk, or the file-size limit, leaves no room. Nothing was written.
    DiskFull = "InternalError", 500, "the disk is full";
    /// The store has reached its map size. Nothing was written.
    MapFull = "InternalError", 500, "the store has reached its map size";
    /// One transaction would change more pages than LMDB can hold. Nothing was written.
    TransactionTooLarge = "InternalError", 500, "the change is too large for one transaction";
    /// Bytes on disk are not what was written.
    Corrupt = "InternalError", 500, "the stored bytes are damaged";
    /// The operating system refused. Nothing was written.
    Io = "InternalError", 500, "the operating system refused";
    /// A commit failed in a way that leaves open whether it happened; the store must be opened anew.
    OutcomeUnknown = "InternalError", 500, "it is unknown whether the last commit reached the disk";
    /// The file is no store, or of another format version or key limit.
    Incompatible = "InternalError", 500, "the store can't be opened by this version";
    /// The store was compacted: another file has taken the place of the one that is open. Open the store again.
    Superseded = "InternalError", 500, "another file has taken the place of the store's";
    /// The operation needs the store for itself, and this process has other handles of it.
    StoreInUse = "ServerBusy", 503, "the store is in use in this process";
    /// The store can't do what is asked, though others can: not all are in a directory on disk, say, and not all can change
    /// rows of several partitions at once. Nothing was written.
    Unsupported = "NotImplemented", 501, "the store can't do that";
    /// The store's directory stayed locked for as long as it was waited for: another process compacts the store, or holds
    /// a lock of the directory itself. Nothing was written; try again.
    StoreBusy = "ServerBusy", 503, "another process has the store's directory locked";
    /// The store was opened for reading only.
    ReadOnly = "InsufficientAccountPermissions", 403, "the store is open for reading only";
    /// The store is open in this process with other options.
    OptionsConflict = "InternalError", 500, "the store is open already with other options";
    /// The file system can't keep a memory-mapped, locked file (NFS, SMB, 9p).
    UnsupportedFileSystem = "InternalError", 500, "the file system can't hold a store";
    /// A copy would overwrite something.
    TargetExists = "InternalError", 500, "the target exists already";
    /// The key of an encrypted property can't be had: the store was opened without a key provider, the provider has
    /// not the key or does not answer, or the keys that lie beside the store are another store's.
    KeyUnavailable = "InternalError", 500, "the key is not available";
    /// The key of an encrypted property was destroyed with its scope, so its value is gone for good.
    KeyShredded = "InternalError", 500, "the key was destroyed, and the value with it";
    /// The key of an encrypted property was destroyed when nothing was left under it. The value was sealed anew, and what
    /// was read is older: of a snapshot from before, or put back by somebody. Read it again, in a newer snapshot.
    KeySuperseded = "InternalError", 500, "the value was sealed anew, and the key of what was read is destroyed";
    /// Values are still sealed with a data key that was to be destroyed.
    KeyInUse = "InvalidInput", 400, "values are still sealed with the key";
    /// The bytes of an encrypted property are not those that were sealed for this very cell.
    DecryptionFailed = "InternalError", 500, "the encrypted value is not the one that was sealed here";
    /// A row or a record in the clear lacks its keyed digest, or has another's: somebody without the store's keys has
    /// changed it, moved it, or taken the digest away.
    NotGenuine = "InternalError", 500, "what is stored was changed by somebody without the store's keys";
    /// The text is no [mark](crate::store::Mark) of a store.
    InvalidMark = "InvalidInput", 400, "not a mark of a store";
    /// The store is older than the mark that it was opened with: somebody put former files in its place.
    RolledBack = "InternalError", 500, "the store is older than it has been";
    /// A thread that was writing this store panicked in the middle of it. Nothing was written.
    WriterPanicked = "InternalError", 500, "the thread that was committing the change panicked";
}

impl ErrorKind {
    /// Whether it is the store's, which can't go on, and not what was asked for.
    pub(crate) const fn stops(self) -> bool {
        matches!(
            self,
            Self::DiskFull | Self::MapFull | Self::Io | Self::OutcomeUnknown | Self::WriterPanicked
        )
    }

    /// Whether it says that a data key was destroyed.
    pub(crate) const fn is_destroyed(self) -> bool {
        matches!(self, Self::KeyShredded | Self::KeySuperseded)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            code: None,
            attempted: "",
            queue: None,
            container: None,
            blob: None,
            table: None,
            partition: None,
            row: None,
            index: None,
            position: None,
            because: Cow::Borrowed(""),
            source: None,
        }))
    }

    /// What is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The service's own code for the error: its [kind's](ErrorKind::code), but for one operation. Dropping a table that
    /// is not there is `ResourceNotFound`, where all else that is asked of one is `TableNotFound`; the kind is the same.
    ///
    /// ```
    /// use table_core::{ErrorKind, Store};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::open(dir.path().join("company.tables"))?;
    /// let (opened, dropped) = (store.dynamic_table("Company").unwrap_err(), store.drop_table("Company").unwrap_err());
    /// assert_eq!((opened.kind(), opened.code()), (ErrorKind::TableNotFound, "TableNotFound"));
    /// assert_eq!((dropped.kind(), dropped.code()), (ErrorKind::TableNotFound, "ResourceNotFound"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn code(&self) -> &'static str {
        self.0.code.unwrap_or_else(|| self.0.kind.code())
    }

    /// The HTTP status that the service sends with it.
    pub fn status(&self) -> u16 {
        self.0.kind.status()
    }

    /// The queue concerned, if there is one.
    pub fn queue_name(&self) -> Option<&str> {
        self.0.queue.as_deref()
    }

    /// The container concerned, if there is one.
    pub fn container_name(&self) -> Option<&str> {
        self.0.container.as_deref()
    }

    /// The name of the blob concerned, if there is one.
    pub fn blob_name(&self) -> Option<&str> {
        self.0.blob.as_deref()
    }

    /// The table concerned, if there is one.
    pub fn table_name(&self) -> Option<&str> {
        self.0.table.as_deref()
    }

    /// The partition key concerned.
    pub fn partition_key(&self) -> Option<&str> {
        self.0.partition.as_deref()
    }

    /// The row key concerned.
    pub fn row_key(&self) -> Option<&str> {
        self.0.row.as_deref()
    }

    /// Which operation of a batch failed, counted from zero.
    pub fn index(&self) -> Option<usize> {
        self.0.index
    }

    /// Where a filter's text went wrong, as a byte offset into it.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }

    /// The detail: the number that is too large, the character that is not allowed.
    #[must_use]
    pub(crate) fn because(mut self, because: impl Into<Cow<'static, str>>) -> Self {
        self.0.because = because.into();
        self
    }

    /// Adds to the detail.
    #[must_use]
    pub(crate) fn and(mut self, more: &str) -> Self {
        let reason = if self.0.because.is_empty() { self.0.kind.text() } else { &self.0.because };
        self.0.because = Cow::Owned(format!("{reason}{more}"));
        self
    }

    /// Says what was attempted, in words that follow "cannot ". The outermost caller's words stand.
    #[must_use]
    pub(crate) fn attempted(mut self, attempted: &'static str) -> Self {
        self.0.attempted = attempted;
        self
    }

    /// Says what was attempted, and where, if that has not been said yet.
    #[cold]
    #[must_use]
    pub(crate) fn placed(
        self,
        attempted: &'static str,
        table: &str,
        partition: &str,
        row: Option<&str>,
    ) -> Self {
        if self.0.table.is_some() {
            return self;
        }
        let placed = self.attempted(attempted).table(table).partition(partition);
        match row {
            Some(row) => placed.row(row),
            None => placed,
        }
    }

    #[cfg(feature = "queue")]
    #[must_use]
    pub(crate) fn queue(mut self, name: &str) -> Self {
        self.0.queue = Some(shown(name));
        self
    }

    #[cfg(feature = "blob")]
    #[must_use]
    pub(crate) fn container(mut self, name: &str) -> Self {
        self.0.container = Some(shown(name));
        self
    }

    #[cfg(feature = "blob")]
    #[must_use]
    pub(crate) fn blob(mut self, name: &str) -> Self {
        self.0.blob = Some(shown(name));
        self
    }

    #[must_use]
    pub(crate) fn table(mut self, name: &str) -> Self {
        self.0.table = Some(shown(name));
        self
    }

    #[must_use]
    pub(crate) fn partition(mut self, key: &str) -> Self {
        self.0.partition = Some(shown(key));
        self
    }

    #[must_use]
    pub(crate) fn row(mut self, key: &str) -> Self {
        self.0.row = Some(shown(key));
        self
    }

    #[must_use]
    pub(crate) fn at_index(mut self, index: usize) -> Self {
        self.0.index = Some(index);
        self
    }

    /// The same failure as another kind.
    #[must_use]
    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self.0.code = None;
        self
    }

    /// The same failure with another code than the kind's.
    #[must_use]
    pub(crate) fn with_code(mut self, code: &'static str) -> Self {
        self.0.code = Some(code);
        self
    }

    #[must_use]
    pub(crate) fn at_position(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }

    #[must_use]
    pub(crate) fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// The same error once more, with its place. Its source becomes text.
    pub(crate) fn again(&self) -> Self {
        let inner = &*self.0;
        let mut error = self.duplicate();
        error.0.attempted = inner.attempted;
        error.0.queue.clone_from(&inner.queue);
        error.0.container.clone_from(&inner.container);
        error.0.blob.clone_from(&inner.blob);
        error.0.table.clone_from(&inner.table);
        error.0.partition.clone_from(&inner.partition);
        error.0.row.clone_from(&inner.row);
        error.0.index = inner.index;
        error.0.position = inner.position;
        error
    }

    /// The same error for another member of a group that failed as one. Its source becomes text.
    pub(crate) fn duplicate(&self) -> Self {
        let inner = &*self.0;
        let because = match &inner.source {
            Some(source) if inner.because.is_empty() => Cow::Owned(source.to_string()),
            _ => inner.because.clone(),
        };
        let mut error = Self::new(inner.kind).because(because);
        error.0.code = inner.code;
        error
    }
}

/// A key as an error shows it. A refused key may have any length; its start says enough.
fn shown(text: &str) -> Box<str> {
    const SHOWN: usize = 200;
    match text.char_indices().nth(SHOWN) {
        None => text.into(),
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()).into(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if !inner.attempted.is_empty() {
            write!(f, "cannot {}", inner.attempted)?;
            let places = [
                ("queue", &inner.queue),
                ("container", &inner.container),
                ("blob", &inner.blob),
                ("table", &inner.table),
                ("partition", &inner.partition),
                ("row", &inner.row),
            ];
            let mut separator = " ";
            for (what, name) in places {
                if let Some(name) = name {
                    write!(f, "{separator}{what} `{}`", name.escape_debug())?;
                    separator = ", ";
                }
            }
            if let Some(index) = inner.index {
                write!(f, "{separator}operation {index}")?;
            }
            f.write_str(": ")?;
        }
        match (&*inner.because, &inner.source) {
            ("", Some(source)) => write!(f, "{}: {source}", inner.kind)?,
            ("", None) => write!(f, "{}", inner.kind)?,
            (because, _) => f.write_str(because)?,
        }
        if let Some(position) = inner.position {
            write!(f, " (at byte {position})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {self})", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| {
            let source: &(dyn std::error::Error + 'static) = source;
            source
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_place_and_the_reason() {
        let error = Error::new(ErrorKind::ConditionNotMet)
            .attempted("merge into")
            .table("Company")
            .partition("Sales")
            .row("empid_000001")
            .at_index(3);
        assert_eq!(
            error.to_string(),
            "cannot merge into table `Company`, partition `Sales`, row `empid_000001`, operation 3: \
             the entity's ETag is another; read it again"
        );
        assert_eq!(error.index(), Some(3));
    }

    #[test]
    fn a_code_of_its_own_goes_with_the_error_and_not_with_another_kind() {
        let error = Error::new(ErrorKind::TableNotFound).with_code("ResourceNotFound").table("Company");
        for error in [error.again(), error.duplicate()] {
            assert_eq!(
                (error.kind(), error.code(), error.status()),
                (ErrorKind::TableNotFound, "ResourceNotFound", 404)
            );
        }
        assert_eq!(error.with_kind(ErrorKind::Io).code(), "InternalError");
        assert_eq!(Error::new(ErrorKind::TableNotFound).code(), "TableNotFound");
    }

    #[test]
    fn a_long_or_odd_key_is_shown_short_and_escaped() {
        let error = Error::new(ErrorKind::InvalidKey).attempted("insert into").row(&"\n".repeat(1_000));
        assert!(error.to_string().len() < 500, "{error}");
        assert!(!error.to_string().contains('\n'));
    }

    #[test]
    fn every_kind_has_a_code_of_its_status() {
        for kind in ErrorKind::ALL {
            assert!((400..=599).contains(&kind.status()), "{kind:?}");
            assert!(kind.code().chars().all(|c| c.is_ascii_alphabetic()), "{kind:?}");
            assert!(!kind.to_string().ends_with('.'), "{kind:?}");
        }
    }
}
