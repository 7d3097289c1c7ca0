//! The encoded form of a plan: keys and rows in bytes, owned, on its way to the thread that leads.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use table_engine::error::Error;
use table_engine::executor::JobStep;
use table_engine::messages::{ByReceipt, Task};
use table_engine::model::names::ENTITY_TYPE;
use table_engine::model::{Name, Ticks, Value};
use table_engine::plan::{Act, Amounts, Condition, Epoch, OneOrMore, Refused, RowKind};
use table_engine::row::dict::Dict;
use table_engine::row::view::RowView;
use table_engine::row::{DIGEST, Row, key};
use table_engine::schema::Schema;
use table_engine::sealing::SealedAt;

use crate::blobs::{BlobOutcome, BlobWork};
use crate::queues::{EntryWork, Outcome, Work};
use crate::records::catalog::TableState;

/// The image of a row to be written.
#[derive(Debug)]
pub(crate) enum Image {
    /// The row lies in the plan's bytes, ready to be stamped.
    Ready(Range<usize>),
    /// Some name has no number yet, or the row's kind no shape, so the row can only be put into bytes inside the transaction.
    Deferred(Deferred),
}

/// A row that is put into bytes in the transaction.
#[derive(Debug)]
pub(crate) struct Deferred {
    pub(crate) properties: Box<[(Name, Value)]>,
    /// Its keyed digest, if it is signed.
    pub(crate) digest: Option<[u8; DIGEST]>,
    /// The declaration of its kind, if it has one: then the kind gets a shape.
    pub(crate) kind: Option<RowKind>,
}

/// The encoded form of a row's change: ready for a transaction.
#[derive(Debug)]
pub(crate) struct EncodedRow {
    pub(crate) condition: Condition,
    pub(crate) act: Act<Image>,
    pub(super) key: Range<usize>,
    /// The seed that binds the row's checksums to its key.
    pub(crate) seed: u64,
    /// The number of its group in the plan.
    pub(crate) group: usize,
}

impl EncodedRow {
    /// Returns whether the row can be put without a look at what is there: the put itself finds out whether one is.
    pub(crate) fn is_blind(&self) -> bool {
        self.condition == Condition::Absent && matches!(self.act, Act::Put(Image::Ready(_)))
    }
}

/// The rows of a group: where they lie, and the declarations that they were made by.
#[derive(Debug)]
pub(crate) struct EncodedGroup {
    pub(crate) table: Arc<TableState>,
    /// The place of its first row among all.
    pub(super) first: usize,
    /// The declarations that its rows were made by, if it is of typed entities.
    pub(crate) declarations: OneOrMore<&'static Schema>,
    /// The epochs of their kinds in which the rows were planned.
    pub(crate) epochs: OneOrMore<Epoch>,
}

impl EncodedGroup {
    pub(super) fn declared_by(&mut self, schemas: impl Iterator<Item = &'static Schema>) {
        for schema in schemas {
            if self.declarations.iter().all(|known| !std::ptr::eq(*known, schema)) {
                self.declarations.push(schema);
            }
        }
    }
}

/// Rows that must still be those that were read.
#[derive(Debug)]
pub(crate) struct EncodedRange {
    /// The start of their keys.
    pub(super) prefix: Range<usize>,
    pub(crate) digest: u64,
    /// The number of its group in the plan.
    pub(crate) group: usize,
}

/// What is added to a row of a summary.
#[derive(Debug)]
pub(crate) struct EncodedAddition {
    pub(super) key: Range<usize>,
    /// The seed that binds the row's checksums to its key.
    pub(super) seed: u64,
    /// The number of its group in the plan.
    pub(super) group: usize,
    /// Its place in the group, which counts on behind the rows.
    pub(super) at: usize,
    pub(super) amounts: Amounts,
}

/// A plan ready for a transaction: its rows are carried out together or not at all.
#[derive(Debug, Default)]
pub(crate) struct EncodedPlan {
    pub(crate) groups: OneOrMore<EncodedGroup>,
    /// The rows of all groups, one group after another.
    pub(crate) rows: Vec<EncodedRow>,
    /// What is added to rows of summaries.
    pub(super) additions: Vec<EncodedAddition>,
    pub(crate) unchanged: Vec<EncodedRange>,
    /// Keys and rows, one after another.
    pub(super) bytes: Vec<u8>,
    /// About how many bytes the rows will have that are not among them yet.
    pub(super) deferred: usize,
    /// Whether it may write rows of declared kinds though no struct has made them.
    pub(crate) is_raw: bool,
    /// Whether some row that it writes refers to a blob.
    pub(super) refers: bool,
    /// The keys that its values were sealed with.
    pub(crate) sealed_at: SealedAt,
    /// Whether rows that are there keep their times: their values are sealed anew, and no entity changes.
    pub(crate) keeps_times: bool,
    /// The time that its rows get, if that is not the plan's own.
    pub(crate) as_of: Option<Ticks>,
    /// What becomes of a job with it: by itself, if all goes well that is carried out before.
    pub(crate) step: Option<Box<EncodedStep>>,
    /// What is done with queues in the same transaction.
    pub(crate) queue_ops: Option<Box<QueueOps>>,
    /// What is done with blobs in the same transaction.
    pub(crate) blobs: Option<Box<BlobOps>>,
}

/// A step of a job, in its table.
#[derive(Debug)]
pub(crate) struct EncodedStep {
    pub(crate) table: Arc<TableState>,
    pub(crate) step: JobStep,
}

/// The operations of a plan on queues, and the place for their outcomes.
#[derive(Debug, Default)]
pub(crate) struct QueueOps {
    pub(crate) work: Vec<Work>,
    /// The outcome of each, once the plan has been carried out. It counts only if the plan was not refused.
    pub(crate) outcomes: Arc<Mutex<Vec<Outcome>>>,
}

/// The operations of a plan on blobs, and the place for their outcomes.
#[derive(Debug, Default)]
pub(crate) struct BlobOps {
    pub(crate) work: Vec<BlobWork>,
    /// The outcome of each, once the plan has been carried out. It counts only if the plan was not refused.
    pub(crate) outcomes: Arc<Mutex<Vec<BlobOutcome>>>,
}

impl QueueOps {
    /// Returns about how many bytes they write.
    fn weight(&self) -> usize {
        let bytes = |work: &Work| match work {
            Work::Task(_, Task::Send(sending) | Task::Post(sending)) => sending.body.len(),
            Work::Task(
                _,
                Task::Update(_, text, _) | Task::ByReceipt(_, ByReceipt::Update(Some(text), _)),
            ) => text.len(),
            Work::Service(work) => work.value.as_ref().map_or(0, |value| value.len()),
            Work::Task(_, Task::CompleteEach(receipts) | Task::ExtendEach(receipts, _)) => {
                receipts.len() * 64
            }
            Work::Entry(key, EntryWork::Follow { before, .. }) => key.len() + before.len() * 128,
            Work::Entry(key, _) => key.len(),
            Work::Forget(_, most) => most * 256,
            Work::Task(_, Task::Receive { most, .. } | Task::Clear { most, .. }) | Work::Purge(_, most) => {
                most * 256
            }
            _ => 0,
        };
        self.work.iter().map(|work| bytes(work) + 256).sum()
    }
}

impl EncodedPlan {
    /// Empties the plan, which keeps its memory.
    pub(super) fn empty(&mut self) {
        let Self {
            groups,
            rows,
            additions,
            unchanged,
            bytes,
            deferred,
            is_raw,
            refers,
            sealed_at,
            keeps_times,
            as_of,
            step,
            queue_ops,
            blobs,
        } = self;
        groups.clear();
        rows.clear();
        additions.clear();
        unchanged.clear();
        bytes.clear();
        (*deferred, *is_raw, *refers, *keeps_times) = (0, false, false, false);
        (*sealed_at, *as_of) = (SealedAt::NOTHING, None);
        (*step, *queue_ops, *blobs) = (None, None, None);
    }

    /// Returns about how many bytes of memory it has.
    pub(super) fn size(&self) -> usize {
        let rows = self.rows.capacity() * size_of::<EncodedRow>();
        let additions = self.additions.capacity() * size_of::<EncodedAddition>();
        self.bytes.capacity() + rows + additions + self.unchanged.capacity() * size_of::<EncodedRange>()
    }

    /// Returns a plan of one step of a job.
    pub(crate) fn of_step(table: &Arc<TableState>, step: JobStep) -> Self {
        let step = Some(Box::new(EncodedStep { table: table.clone(), step }));
        Self { step, ..Self::default() }
    }

    /// Returns a plan of one addition to the row of this key.
    pub(super) fn of_addition(table: &Arc<TableState>, key: &[u8], seed: u64, amounts: Amounts) -> Self {
        let group = EncodedGroup {
            table: table.clone(),
            first: 0,
            declarations: OneOrMore::default(),
            epochs: OneOrMore::default(),
        };
        Self {
            groups: std::iter::once(group).collect(),
            additions: vec![EncodedAddition { key: 0..key.len(), seed, group: 0, at: 0, amounts }],
            bytes: key.to_vec(),
            ..Self::default()
        }
    }

    pub(crate) fn key(&self, row: &EncodedRow) -> &[u8] {
        self.bytes.get(row.key.clone()).unwrap_or_default()
    }

    pub(crate) fn image(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Returns a row's key, the row, which is stamped in place, and the seed that binds its checksums to the key.
    pub(crate) fn key_and_image(&mut self, row: usize) -> (&[u8], &mut [u8], u64) {
        let Some(EncodedRow {
            key,
            seed,
            act: Act::Put(Image::Ready(image)) | Act::Merge(Image::Ready(image)),
            ..
        }) = self.rows.get(row)
        else {
            return (&[], &mut [], 0);
        };
        // The key stands before its row.
        match self.bytes.split_at_mut_checked(image.start) {
            Some((before, rest)) => (
                before.get(key.clone()).unwrap_or_default(),
                rest.get_mut(..image.len()).unwrap_or_default(),
                *seed,
            ),
            None => (&[], &mut [], 0),
        }
    }

    /// Returns whether the row that is written is signed.
    pub(crate) fn signs(&self, row: &EncodedRow) -> bool {
        match row.act.content() {
            None => false,
            Some(Image::Ready(range)) => Row::parse(self.image(range)).is_ok_and(|row| row.is_signed()),
            Some(Image::Deferred(deferred)) => deferred.digest.is_some(),
        }
    }

    /// Returns whether structs have made the rows of a group.
    pub(crate) fn is_declared(&self, group: usize) -> bool {
        self.groups.get(group).is_some_and(|group| group.declarations.first().is_some())
    }

    /// Has the kind of each row of a group that is written checked, where it says one.
    pub(crate) fn check_kinds(
        &self,
        group: usize,
        dict: &Dict,
        check: impl Fn(&str) -> Result<(), Error>,
    ) -> Result<(), Refused> {
        for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| row.group == group) {
            let checked = || match row.act.content() {
                None => Ok(()),
                Some(Image::Ready(range)) => {
                    let image = Row::parse(self.image(range))?;
                    RowView::new(self.key(row), image, dict, false).kind()?.map_or(Ok(()), &check)
                }
                Some(Image::Deferred(deferred)) => {
                    let kind = deferred.properties.iter().find(|(name, _)| &**name == ENTITY_TYPE);
                    kind.and_then(|(_, kind)| kind.as_str()).map_or(Ok(()), &check)
                }
            };
            checked().map_err(|refused| self.locate(refused, index))?;
        }
        Ok(())
    }

    /// Returns the stored keys with which a range begins.
    pub(crate) fn prefix(&self, range: &EncodedRange) -> &[u8] {
        self.bytes.get(range.prefix.clone()).unwrap_or_default()
    }

    /// Returns whether it is a step of a job and nothing else.
    pub(super) fn is_step_alone(&self) -> bool {
        self.step.is_some() && self.groups.first().is_none()
    }

    /// Returns whether nothing needs a look at what is there before rows are put.
    pub(crate) fn is_blind(&self) -> bool {
        self.unchanged.is_empty() && self.additions.is_empty() && self.rows.iter().all(EncodedRow::is_blind)
    }

    /// Returns about how many bytes the plan writes; what one transaction takes in is bounded by it.
    pub(crate) fn weight(&self) -> usize {
        let queue_ops = self.queue_ops.as_ref().map_or(0, |queue_ops| queue_ops.weight());
        let blobs: usize = self.blobs.iter().flat_map(|blobs| &blobs.work).map(BlobWork::weight).sum();
        let rows = self.bytes.len() + self.deferred + self.rows.len() * 64 + self.additions.len() * 256;
        rows + queue_ops + blobs
    }

    /// Returns this range of the plan's bytes.
    pub(super) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Returns the group of a row or, behind the rows, of an addition, with the seed of its checksums and its key.
    pub(super) fn target(&self, at: usize) -> Option<(usize, u64, &[u8])> {
        if let Some(row) = self.rows.get(at) {
            return Some((row.group, row.seed, self.key(row)));
        }
        let addition = self.additions.get(at.checked_sub(self.rows.len())?)?;
        Some((addition.group, addition.seed, self.bytes(&addition.key)))
    }

    /// Names the row that is added to in an error.
    #[cold]
    pub(super) fn locate_addition(&self, error: Error, addition: &EncodedAddition) -> Refused {
        let attempted = match &addition.amounts {
            amounts if amounts.are_own() => "add to",
            amounts if amounts.are_ids() => "change a list in",
            _ => "add to a summary in",
        };
        let error = error.attempted(attempted);
        let Refused { error, group, .. } = self.locate_group(error, addition.group);
        Refused { error: key::locate(error, self.bytes(&addition.key)), group, row: Some(addition.at) }
    }

    /// Names the row in an error.
    #[cold]
    pub(crate) fn locate(&self, error: Error, row: usize) -> Refused {
        let Some(found) = self.rows.get(row) else { return self.locate_group(error, 0) };
        let Refused { error, group, .. } = self.locate_group(error, found.group);
        let error = key::locate(error.attempted(found.act.describe(found.condition)), self.key(found));
        let first = self.groups.get(group).map_or(0, |group| group.first);
        Refused { error, group, row: Some(row - first) }
    }

    /// Names the table of a group in an error.
    #[cold]
    pub(crate) fn locate_group(&self, error: Error, group: usize) -> Refused {
        let error = match self.groups.get(group) {
            Some(found) => error.table(&found.table.name),
            None => error,
        };
        Refused { error, group, row: None }
    }

    /// Names the first row of a group in an error that is about the group.
    #[cold]
    pub(crate) fn locate_first(&self, error: Error, group: usize) -> Refused {
        let first = self.groups.get(group).map_or(0, |group| group.first);
        self.locate(error, first)
    }

    /// Names the first row in an error, which is about them all.
    #[cold]
    pub(crate) fn locate_all(&self, error: Error) -> Refused {
        self.locate(error, 0)
    }
}
