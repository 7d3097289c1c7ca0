//! A write transaction that plans are carried out in, and what it leaves in the small records.

use std::sync::Arc;

use super::apply::{Scratch, Writing};
use super::encoded::{EncodedGroup, Prepared};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;
use crate::plan::Refused;
use crate::row::dict::{Dict, Length};
use crate::store::lmdb::{self, Databases, WriteTxn};
use crate::store::open::{Environment, Explored, Tree};
use crate::store::opened::Inner;
use crate::store::records::catalog::TableState;
use crate::store::records::counts::Counts;
use crate::store::records::meta::Meta;

/// A write transaction and what it will leave in the small records.
pub(crate) struct Transaction<'e> {
    environment: &'e Environment,
    pub(crate) dbs: &'e Databases,
    pub(crate) txn: WriteTxn<'e>,
    pub(crate) meta: Meta,
    /// The clock when the group began: one look serves every plan in it.
    now: Ticks,
    /// The number of the state that the transaction began with, until something is written.
    state: Option<usize>,
    tables: Vec<Touched>,
    scratch: Scratch,
    /// The tree that the transaction began with, once it has been asked for.
    tree: Option<Tree>,
    explored: Explored,
    /// How many rows LMDB counted at the beginning.
    rows: u64,
}

/// A table that the group has written to.
pub(super) struct Touched {
    pub(super) state: Arc<TableState>,
    pub(super) counts: Counts,
    /// How many rows the table had at the beginning.
    pub(super) before: u64,
    /// The counts before the plan that is being carried out.
    pub(super) before_plan: Counts,
    /// How much the dictionary had then, if it had grown.
    pub(super) known: Option<Length>,
    /// The dictionary with the group's own additions, if it has any, and how much of it is on disk.
    pub(super) grown: Option<Box<(Dict, Length)>>,
}

impl<'e> Transaction<'e> {
    pub(crate) fn begin(inner: &'e Inner) -> Result<Self> {
        let txn = inner.environment.write_txn()?;
        let dbs = &inner.environment.dbs;
        let meta = Meta::begin(dbs.main, &txn)?;
        // A write transaction has the number of the state that it will make.
        let state = txn.id().checked_sub(1);
        let (tables, scratch) = (Vec::new(), Scratch::default());
        let environment = &inner.environment;
        let (tree, explored) = (None, Explored::default());
        let rows = dbs.data.len(&txn).map_err(lmdb::error)?;
        Ok(Self { environment, dbs, txn, meta, now: clock(), state, tables, scratch, tree, explored, rows })
    }

    /// The time that the next plan gets: the clock's, or one tick more than the last where the clock is behind.
    fn next_timestamp(&self) -> Result<Ticks> {
        let after = Ticks::new(self.meta.high_water.get() + 1).ok_or_else(|| {
            Error::new(ErrorKind::Incompatible)
                .because("the store's time has reached the end of the year 9999")
        })?;
        Ok(self.now.max(after))
    }

    /// The place of a table among those touched; it must not have been dropped.
    fn touch(&mut self, state: &Arc<TableState>) -> Result<usize> {
        if let Some(at) = self.tables.iter().position(|touched| touched.state.id == state.id) {
            return Ok(at);
        }
        state.check_generation(self.dbs, &self.txn, &self.meta)?;
        let counts = Counts::read(self.dbs.main, &self.txn, state.id).map_err(|e| e.table(&state.name))?;
        self.tables.push(Touched {
            state: state.clone(),
            counts,
            before: counts.entities,
            before_plan: counts,
            known: None,
            grown: None,
        });
        Ok(self.tables.len() - 1)
    }

    /// Carries out a plan. The outer error spoils the transaction; the inner one refuses the plan alone.
    pub(crate) fn apply(&mut self, plan: &mut Prepared) -> Result<Result<Ticks, Refused>> {
        if let Err(refused) = plan.sealed_at.check() {
            return Ok(Err(plan.locate_group(refused, 0)));
        }
        let timestamp = match self.begin_plan(plan) {
            Ok(timestamp) => timestamp,
            Err(refused) => return Ok(Err(refused)),
        };
        let state = self.state;
        let mut writing = Writing {
            environment: self.environment,
            dbs: self.dbs,
            txn: &mut self.txn,
            state,
            tables: &mut self.tables,
            scratch: &mut self.scratch,
            tree: &mut self.tree,
            explored: &mut self.explored,
        };
        let done = if plan.is_blind() {
            writing.insert(plan, timestamp)?
        } else {
            writing.change(plan, timestamp)?
        };
        Ok(done.map(|()| {
            self.state = None;
            self.meta.high_water = timestamp;
            timestamp
        }))
    }

    /// Looks at the tables of a plan; the time that it gets.
    fn begin_plan(&mut self, plan: &Prepared) -> Result<Ticks, Refused> {
        let timestamp = self.next_timestamp().map_err(|refused| plan.locate_all(refused))?;
        for (number, group) in plan.groups.iter().enumerate() {
            let at = self.touch(&group.table).map_err(|refused| plan.locate_first(refused, number))?;
            let Some(touched) = self.tables.get_mut(at) else { continue };
            touched.before_plan = touched.counts;
            touched.known = touched.grown.as_ref().map(|grown| grown.0.len());
            let checked = touched.state.check_declarations(group.declarations.iter().copied());
            checked.map_err(|refused| plan.locate_first(refused, number))?;
            touched.state.check_kinds(plan, number)?;
        }
        Ok(timestamp)
    }

    /// Whether LMDB counts as many rows as have come and gone: one that did not find what it was to replace has put a
    /// second one beside it.
    fn check_rows(&self) -> Result<()> {
        let come =
            |sum: u64, table: &Touched| sum.wrapping_add(table.counts.entities).wrapping_sub(table.before);
        let expected = self.tables.iter().fold(self.rows, come);
        let counted = self.dbs.data.len(&self.txn).map_err(lmdb::error)?;
        if counted == expected { Ok(()) } else { Err(lmdb::damaged_page()) }
    }

    /// Writes the small records and commits.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.check_rows()?;
        self.meta.write(self.dbs.main, &mut self.txn)?;
        for touched in &mut self.tables {
            let id = touched.state.id;
            touched.counts.write(self.dbs.main, &mut self.txn, id)?;
            if let Some((dict, on_disk)) = touched.grown.as_deref() {
                dict.write_new(*on_disk, self.dbs, &mut self.txn, id)?;
            }
        }
        self.environment.commit(self.txn)?;
        for touched in self.tables {
            if let Some(grown) = touched.grown {
                touched.state.learn(Arc::new(grown.0));
            }
        }
        Ok(())
    }
}

/// The table of a group of a plan that is being carried out: it has been touched.
#[inline]
pub(super) fn touched<'t>(tables: &'t mut [Touched], group: &EncodedGroup) -> Option<&'t mut Touched> {
    tables.iter_mut().find(|touched| touched.state.id == group.table.id)
}

/// The time by the system's clock. One that is set beyond the calendar is no clock: a store that took its word could
/// never give a later time.
fn clock() -> Ticks {
    Ticks::try_from(std::time::SystemTime::now()).unwrap_or(Ticks::MIN)
}
