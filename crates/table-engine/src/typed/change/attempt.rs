//! A change on its way from what is asked for to rows: without I/O, without waiting, and without a store.

use crate::error::Result;
#[cfg(feature = "access")]
use crate::executor::Rights;
#[cfg(feature = "access")]
use crate::messages::QueueOp;
use crate::model::Value;
use crate::plan::{Condition, Plan, PlanBuilder, Printed, Seals, Values, Version};
use crate::row::view::RowView;
use crate::schema::{IndexMask, KeyPair, Schema};
use crate::typed::entity::dependent::{CopyReader, Dependent};

/// A row that has to be read before a change can be planned.
///
/// Its keys are moved out of the attempt, and given back with it: so the reader can borrow them while the attempt takes what
/// is found.
#[derive(Debug)]
pub(crate) struct ReadRequest {
    /// The table, if it is another than the entity's.
    pub(crate) table: Option<&'static str>,
    pub(crate) keys: KeyPair,
    /// Whether it is asked only if the row is there, and of which entity it is: its keyed digest is not checked.
    pub(crate) is_copy: bool,
    /// The declaration of the entity whose head it is, if that is wide: its parts are read with it.
    pub(crate) head: Option<&'static Schema>,
}

/// An attempt that a transaction holds until it is committed. Its closures need not be `Send`, and this name is what the compiler
/// says then.
pub(crate) trait CommittedByTheThreadThatMadeIt: Attempt {}

impl<A: Attempt> CommittedByTheThreadThatMadeIt for A {}

/// A change of an entity of whatever type, made again as long as others are quicker.
///
/// One attempt: [`begin`](Self::begin); then as long as there is a [`next_read`](Self::next_read), what is [`on_row`](Self::on_row)
/// for it, after which it is given [back](Self::release); then [`make`](Self::make), and then [`plan`](Self::plan).
/// Nothing in between is bound to a thread, but for what the user's closure is bound to.
pub(crate) trait Attempt {
    /// Returns the declaration of the entity; `None` if the attempt is of none.
    fn schema(&self) -> Option<&'static Schema> {
        None
    }

    /// Returns whether the entity is changed, and not only where it is filed.
    fn writes_entity(&self) -> bool {
        true
    }

    /// Takes what the kind's writers go by now.
    fn set_index_mask(&mut self, _index_mask: IndexMask) {}

    /// Returns the key of the entity that is changed or added, for errors; `None` if there is none, or it can't be printed.
    fn key(&self) -> Option<KeyPair> {
        None
    }

    /// Returns the permissions that the change takes; `None` of what no access permits.
    #[cfg(feature = "access")]
    fn rights(&self) -> Option<Rights> {
        None
    }

    /// Returns the key of the entity that is changed or added; `None` if the attempt is of none.
    #[cfg(feature = "access")]
    fn own_key(&self) -> Result<Option<KeyPair>> {
        Ok(None)
    }

    /// Returns the key that the entity is to have, once that is [made](Self::make); `None` if it goes, or is not changed.
    #[cfg(feature = "access")]
    fn new_key(&self) -> Result<Option<KeyPair>> {
        Ok(None)
    }

    /// Returns what is done with messages.
    #[cfg(feature = "access")]
    fn queue_ops(&self) -> &[QueueOp] {
        &[]
    }

    /// Forgets what was found.
    fn begin(&mut self);

    /// Returns the partition of the entity, if that is known before it is printed.
    fn partition(&self) -> Result<Option<&str>>;

    /// Returns whether anything is to be read.
    fn reads(&self) -> bool;

    /// Returns the next row to be read. What was found may ask for more: an entity that can't be opened is asked which copies
    /// it has. All are to be read as they are at one moment.
    fn next_read(&mut self) -> Result<Option<ReadRequest>>;

    /// Takes the row that was found for the last need, or that there is none. The row is lent for the call alone, maybe
    /// inside a transaction: nothing of the user's runs here but what reads the fields. An error is one of the reading.
    fn on_row(&mut self, row: Option<(&RowView<'_>, Version)>) -> Result<()>;

    /// Takes back a need, answered or not.
    fn release(&mut self, need: ReadRequest);

    /// Makes of what was found what is to be. Here the user's closure runs, outside any transaction.
    fn make(&mut self) -> Result<()>;

    /// Returns which entity was changed, as its dependents see it; `None` if it has no dependents and holds no copies.
    fn image(&self) -> Result<Option<Image>> {
        Ok(None)
    }

    /// Takes the copies of others that the entity is to hold, of which `sources` gives what they are. Called after
    /// [`make`](Self::make), if there is an [`image`](Self::image).
    fn hold(&mut self, sources: &dyn Sources) -> Result<()> {
        let _ = sources;
        Ok(())
    }

    /// Returns whether all that it is to hold of others is there already.
    fn holds_already(&self) -> bool {
        false
    }

    /// Plans a change that touches nothing but the entity's rows in its partition, and needs no builder. `None` of any other
    /// change, and where something is to be said against it. What the plan refers to is laid out in `scratch`, which is
    /// empty.
    fn lone_plan<'p>(&'p self, seals: &dyn Seals, scratch: &'p mut PlanScratch<'p>) -> Option<Plan<'p>> {
        let _ = (seals, scratch);
        None
    }

    /// Adds the rows to the builder; what those refer to is laid out in `scratch`, which is empty. `number` is the place of
    /// the change among those that are planned together.
    fn plan<'p>(
        &'p self,
        number: usize,
        seals: &dyn Seals,
        scratch: &'p mut PlanScratch<'p>,
        builder: &mut PlanBuilder<'p>,
    ) -> Result<()>;

    /// Returns whether an entity that has turned up meanwhile is reason to look again.
    fn takes_what_it_finds(&self) -> bool;
}

/// An entity that is changed, as its dependents see it.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) schema: &'static Schema,
    /// Its keys and the values of its fields as they are, and as they are to be.
    pub(crate) before: Option<(KeyPair, Values<'static>)>,
    pub(crate) after: Option<(KeyPair, Values<'static>)>,
    /// The entities that hold copies of it.
    pub(crate) dependents: &'static [Dependent],
}

/// What is known of a source: the values that are copied, unless there is no such entity, and what the plan has to demand
/// for that.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) values: Option<Vec<Option<Value>>>,
    pub(crate) condition: Option<Condition>,
}

/// What gives sources by their keys.
pub(crate) trait Sources {
    /// Returns whether this entity is changed together with its dependent.
    fn changes(&self, schema: &'static Schema, keys: &KeyPair) -> bool;

    /// Returns whether the caller asked for the change of the dependent; if not, the change of a source brings it about.
    fn are_asked(&self) -> bool;

    /// Returns what there is to copy.
    fn get(&self, held: &CopyReader, keys: &KeyPair) -> Result<Source>;
}

/// What the planned rows of one change refer to, and the attempt does not keep itself.
#[derive(Debug, Default)]
pub(crate) struct PlanScratch<'p> {
    /// The values of the entity's fields, as stored and as they are to be; sealed where they are stored so.
    pub(crate) old: Option<Values<'p>>,
    pub(crate) new: Option<Values<'p>>,
    /// The keys of its rows.
    pub(crate) printed: Option<Printed<'p>>,
    /// The keys of the row that takes the place of its own, if that lies in another partition.
    pub(crate) moved: Option<Printed<'p>>,
}
