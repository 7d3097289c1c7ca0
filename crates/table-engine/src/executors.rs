//! What another executor than LMDB is made of. Not part of the API: it changes with the seam.
//!
//! `docs/decisions/backends.md` says why it is here.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};

#[cfg(feature = "async")]
pub use crate::asynchronous::BoxFuture;
pub use crate::contents::{BlobAnswer, BlobContent, BlobId, BlobInfo, BlobTask, ContainerId};
pub use crate::executor::service_records::{
    Expected, RECORD_NAME_BYTES, RECORD_VALUE_BYTES, RECORDS, RecordOwner, ServiceRecords, too_many,
};
pub use crate::executor::{
    Abilities, Backend, Batch, Begin, BlobSnapshot, Blobs, ChangeId, Conversion, Dropped, EachMessage,
    EachRow, InPlace, JobRecord, JobStep, Jobs, Kept, LayoutTexts, Layouts, Loader, Looked, OnAnswered,
    OnCommitted, OneSnapshotForEachThread, Outbox, PageMeter, PageRequest, PeriodsSeen, Position,
    Propagators, Queues, RangeQuery, Read, ReadSnapshot, RetryFairness, Room, RowBound, RowBounds, RowCursor,
    ScanRanges, StepRequest, StepSize, TableExec, Take, TakeEach, Transition, VisitEach, check_by_properties,
    check_drop, check_entity, check_rules, chunk, cursors, cursors_after, declare, note, page, rows_after,
    views,
};
#[cfg(feature = "async")]
pub use crate::executor::{AsyncBackend, AsyncCursor};
pub use crate::handle::service_records::Records;
pub use crate::handle::tables::Tables;
pub use crate::messages::{
    Answer, ByReceipt, Delivery, History, PopReceipt, QueueId, QueueOp, QueueStats, Receipt, Release,
    Sending, StoredMessage, Task,
};
pub use crate::outbox::{CopyKey, DependentKey, DependentProgress, OutboxCount, OutboxEntry, Source};
pub use crate::plan::{
    Act, Addition, Amounts, Committed, Condition, Content, CopyPlace, DeferredDependents, Epoch, Follow,
    Group, ListBecomes, NumberOf, OneOrMore, OutboxOp, Plan, Range, Refused, RowContent, RowKind,
    RowProperty, RowWrite, TextOf, Version,
};
use crate::row::key;
pub use crate::row::named::{Named, Names, PackedRow, Packer, RowHead};
pub use crate::row::selection::Selection;
pub use crate::row::view::RowView;
#[cfg(feature = "encrypt")]
pub use crate::sealing::job::Resealing;
#[cfg(feature = "encrypt")]
pub use crate::sealing::key_uses::{KeyUses, ShownRow, check_unused, unused_keys};
pub use crate::sealing::{HasVault, SealedAt, Sealing};

/// Returns the tables whose reads and writes this backend carries out.
pub fn tables(backend: Arc<dyn Backend>) -> Tables {
    Tables::new(backend)
}

/// Returns the stored key of a row, in whose order the model has keys.
pub fn stored_key(table: u32, partition: &str, row: &str) -> Vec<u8> {
    key::stored(table, partition, row)
}

/// Returns what the stored keys of a table begin with, and those of no other.
pub fn stored_table(table: u32) -> Vec<u8> {
    key::Number::of(table).to_vec()
}

/// Returns what an executor says is wrong.
pub fn error(kind: ErrorKind, because: impl Into<Cow<'static, str>>) -> Error {
    Error::new(kind).because(because)
}
