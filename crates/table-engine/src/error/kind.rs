//! What can be wrong: the kinds of errors, each with the service's code and status.

use std::fmt;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $code:literal, $status:literal, $text:literal;)+) => {
        /// What is wrong, for a program to act on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl ErrorKind {
            /// Returns the service's own code for errors of this kind. An error that only an embedded store can meet is
            /// `InternalError` or `ServerBusy`, as a failing server would say. [`Error::code`](crate::Error::code) knows the operation too,
            /// where the service has two codes.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)+ }
            }

            /// Returns the HTTP status that the service sends with it.
            pub const fn status(self) -> u16 {
                match self { $(Self::$kind => $status,)+ }
            }

            pub(super) const fn text(self) -> &'static str {
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
    /// The entity's version is another than the operation demands: it was written meanwhile.
    ConditionNotMet = "UpdateConditionNotSatisfied", 412, "the entity's ETag is another; read it again";
    /// There is a table of this name, in whatever case.
    TableAlreadyExists = "TableAlreadyExists", 409, "the table exists already";
    /// There is no table of this name, or the handle's table was dropped. To drop it is `ResourceNotFound` in the
    /// service's words: [`Error::code`](crate::Error::code) says so.
    TableNotFound = "TableNotFound", 404, "there is no such table";
    /// The name is an old one of a table that was [renamed](crate::Tables::rename_table), and no table was created by it since.
    TableRenamed = "TableNotFound", 404, "the table was renamed";
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
    /// first: [`Store::migration`](crate::Tables::migration).
    MigrationPending = "ServerBusy", 503, "the rows are still to be converted";
    /// An entity of a previous version of the struct can't become what the struct is now: the conversion refuses it, or gives
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
    /// The receiver holds the message no more: it was completed, or its time was over and another receiver has it.
    StaleReceipt = "PopReceiptMismatch", 400, "the message is held no more";
    /// There is no message of this number in the queue, or it is not the one that a receipt is for: it was completed or cleared,
    /// or its time is over.
    MessageNotFound = "MessageNotFound", 404, "the message is gone";
    /// There is no container of this name, or the handle's container was dropped.
    ContainerNotFound = "ContainerNotFound", 404, "there is no such container";
    /// The container's name is not one that the service takes.
    InvalidContainerName = "InvalidResourceName", 400, "not a container's name";
    /// The blob's name is empty, too long, or has a control character.
    InvalidBlobName = "InvalidResourceName", 400, "not a blob's name";
    /// The log's name is shorter or longer than it may be, or has characters that it may not: it has 3 to 63 small letters,
    /// digits and hyphens.
    InvalidLogName = "InvalidResourceName", 400, "not a log's name";
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
    /// A text is no OData JSON, or no entity; [`position`](crate::Error::position) says where.
    InvalidOData = "InvalidInput", 400, "the text is no OData JSON";
    /// The text of a filter can't be read; [`position`](crate::Error::position) says where.
    InvalidFilter = "InvalidInput", 400, "the filter can't be read";
    /// A query asks for something that no query may ask: a page of no entities or of more than 1,000, say.
    InvalidQuery = "InvalidInput", 400, "the query is not possible";
    /// A continuation token is damaged, of another version, or belongs to another query.
    InvalidContinuation = "InvalidInput", 400, "the continuation token is not of this query";
    /// Every reader slot is taken by a live snapshot. Changes that read what is there need one, too: updates, deletes, what is
    /// put over an entity with copies. `OpenOptions::max_readers` makes more of them.
    TooManyReaders = "ServerBusy", 503, "no reader slot is free";
    /// As many submitted writes wait as the store takes in; nothing was written. Submit again when some have been answered:
    /// `OpenOptions::submit_limit` takes in more of them.
    TooManyWrites = "ServerBusy", 503, "too many submitted writes wait";
    /// A stream has held its snapshot as long as it may, and given it up. [`Error::continuation`](crate::Error::continuation)
    /// says where a page of its query goes on.
    SnapshotExpired = "OperationTimedOut", 500, "the snapshot was held as long as it may be";
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
    /// The store's file was removed while it was open, with its directory, say. Writes find it out within a
    /// second, and are refused; reads go on.
    StoreRemoved = "InternalError", 500, "the store's file was removed";
    /// The operation needs the store for itself, and this process has other handles of it.
    StoreInUse = "ServerBusy", 503, "the store is in use in this process";
    /// The store can't do what is asked, though others can: not all are in a directory on disk, say, and not all can change
    /// rows of several partitions at once. Nothing was written.
    Unsupported = "NotImplemented", 501, "the store can't do that";
    /// The store's directory stayed locked for as long as it was waited for: another process compacts the store, or holds
    /// a lock of the directory itself. Nothing was written; try again.
    StoreBusy = "ServerBusy", 503, "another process has the store's directory locked";
    /// The server that keeps the store can't be reached, or did not answer in time. Nothing was written.
    Unreachable = "ServerBusy", 503, "the store's server can't be reached";
    /// The server that keeps the store has too much to do, and went on refusing for as long as it was asked again. Nothing was
    /// written.
    Throttled = "ServerBusy", 503, "the store's server is too busy";
    /// The server that keeps the store does not accept the credentials, or they do not permit this. Nothing was read or written.
    AccessDenied = "AuthenticationFailed", 403, "the store's server denies access";
    /// The store was opened for reading only.
    ReadOnly = "InsufficientAccountPermissions", 403, "the store is open for reading only";
    /// A handle that is restricted to an access is asked for what the access does not permit, or at a time when it does not
    /// hold; or a token does not verify. Nothing was read or written.
    NotPermitted = "AuthorizationPermissionMismatch", 403, "the access does not permit it";
    /// A handle that is restricted to an access is to write an entity outside it. Nothing was read or written.
    OutsideRange = "AuthorizationFailure", 403, "the entity lies outside the access";
    /// The store is open in this process with other options.
    OptionsConflict = "InternalError", 500, "the store is open already with other options";
    /// The file system can't keep a memory-mapped, locked file (NFS, SMB, 9p).
    UnsupportedFileSystem = "InternalError", 500, "the file system can't hold a store";
    /// A copy would overwrite something, or lie inside the store that it is of.
    TargetExists = "InternalError", 500, "the target exists already";
    /// The key of an encrypted property can't be had: the store was opened without a key provider, the provider has
    /// not the key or does not answer, or the keys that lie beside the store are another store's.
    KeyUnavailable = "InternalError", 500, "the key is not available";
    /// The key of an encrypted property was destroyed with its scope, so its value is gone for good.
    KeyShredded = "InternalError", 500, "the key was destroyed, and the value with it";
    /// The key of an encrypted property was destroyed when nothing was left under it. The value was sealed anew, and what
    /// was read is older: of a snapshot from before, or put back by a writer. Read it again, in a newer snapshot.
    KeySuperseded = "InternalError", 500, "the value was sealed anew, and the key of what was read is destroyed";
    /// Values are still sealed with a data key that was to be destroyed.
    KeyInUse = "InvalidInput", 400, "values are still sealed with the key";
    /// The bytes of an encrypted property are not those that were sealed for this very cell.
    DecryptionFailed = "InternalError", 500, "the encrypted value is not the one that was sealed here";
    /// A row or a record in the clear lacks its keyed digest, or has another's: a writer without the store's keys has
    /// changed it, moved it, or taken the digest away.
    NotGenuine = "InternalError", 500, "what is stored was changed by somebody without the store's keys";
    /// The text is no `Mark` of a store.
    InvalidMark = "InvalidInput", 400, "not a mark of a store";
    /// The store is older than the mark that it was opened with: older files were put in its place.
    RolledBack = "InternalError", 500, "the store is older than it has been";
    /// A thread that was writing this store panicked in the middle of it. Nothing was written.
    WriterPanicked = "InternalError", 500, "the thread that was committing the change panicked";
}

impl ErrorKind {
    /// Returns whether it is the store's, which can't go on, and not what was asked for.
    #[doc(hidden)]
    pub const fn stops(self) -> bool {
        matches!(
            self,
            Self::DiskFull | Self::MapFull | Self::Io | Self::OutcomeUnknown | Self::WriterPanicked
        )
    }

    /// Returns whether it says that what is stored is not what was written.
    #[doc(hidden)]
    pub const fn is_damage(self) -> bool {
        matches!(self, Self::Corrupt | Self::NotGenuine | Self::DecryptionFailed)
    }

    /// Returns whether it says that a data key was destroyed.
    #[doc(hidden)]
    pub const fn is_destroyed(self) -> bool {
        matches!(self, Self::KeyShredded | Self::KeySuperseded)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
