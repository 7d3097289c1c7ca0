//! Index lists compared with the entities that are to be on them, and made right again.
//!
//! What a list lacks, and what it has too much, is found in one snapshot. It is put right in the steps of a job, each id under
//! the condition that the entity in question is as it was then, or is still not there: a concurrent write of an entity puts
//! it on the list itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::kind::JobKind;
use super::report::{CopyReport, MISLISTED, RowKeys, UNLISTED};
use super::shared_rows::{RowKey, SharedRows, each, each_of};
use super::{Step, StepOutcome};
use crate::error::{ErrorKind, Result};
use crate::executor::{JobRecord, Loader};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::EntityKeys;
use crate::plan::{
    Act, Addition, Amounts, Cause, Condition, Epoch, Group, Listing, Plan, RowKind, RowWrite, Version,
    ids_of, with_blob,
};
use crate::row::version::version_of;
use crate::row::view::RowView;
use crate::schema::{Index, KeyPair};
use crate::sealing::SealedAt;
use crate::typed::entity::wide;
use crate::typed::read::list::ListOfIds;

/// Ids that one plan puts right.
const IDS: usize = 50;

/// An id on a list that is to come or to go.
struct Wrong {
    listing: Listing,
    /// The keys of the entity that it is the id of, if it is one, and the version of it that was found.
    entity: Option<(KeyPair, Option<Version>)>,
}

/// The ids that are to be on a list and were not found there yet, each with its entity's keys and version.
type Missing = BTreeMap<String, (KeyPair, Version)>;

/// What the entities of a snapshot say of the lists of an index.
#[derive(Default)]
struct Expected {
    lists: BTreeMap<RowKey, Missing>,
    /// Wide entities that lack a part, which the check of the rows reports: it is unknown on what lists they are to be.
    halves: BTreeSet<RowKey>,
}

impl Expected {
    /// Takes what an entity says. `own` is its row, or its head.
    fn add(
        &mut self,
        kind: &'static dyn JobKind,
        table: &DynamicTable,
        snapshot: &Snapshot,
        own: &RowView<'_>,
        index: usize,
    ) -> Result<()> {
        let Some((_, list)) = kind.schema().list(index) else { return Ok(()) };
        let (partition, row) = own.keys();
        let whole = match wide::whole_of(snapshot, table, kind.schema(), own.clone()) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.halves.insert((partition.into_owned(), row.into_owned()));
                return Ok(());
            }
            whole => whole?,
        };
        each_of(kind, &whole, index, &mut |key, content| {
            if let Some(id) = content.id(list) {
                let of = (KeyPair::of(&partition, &row), version_of(own, snapshot.state()));
                self.lists.entry(key).or_default().insert(id, of);
            }
            Ok(())
        })
    }

    /// Returns whether an entity lacks a part.
    fn is_half(&self, keys: &KeyPair) -> bool {
        let EntityKeys { partition, row } = keys.as_keys();
        !self.halves.is_empty() && self.halves.contains(&(partition.into(), row.into()))
    }
}

/// What makes the lists of an index right again, some ids in each step of a job.
pub(super) struct RepairLists {
    of: &'static dyn JobKind,
    index: usize,
    /// Where the job was when the last step was made, and where it is if that was carried out.
    made: Option<(JobRecord, JobRecord)>,
    /// What is still to be put right, of which list. The next are the last.
    left: Vec<(RowKey, Wrong)>,
    /// How many rows were looked at to find that.
    looked: u64,
    /// How many of these the last step takes.
    taken: usize,
    /// Which of these are left as they are: others have written them.
    left_out: BTreeSet<usize>,
    /// Of each plan of the step, which of these it puts right.
    plans: Vec<Range<usize>>,
}

impl SharedRows for RepairLists {
    fn index(&self) -> usize {
        self.index
    }

    fn compare(&mut self, table: &DynamicTable, snapshot: &Snapshot, report: &mut CopyReport) -> Result<u64> {
        *self = Self::of(self.of, self.index);
        let schema = self.of.schema();
        let Some((of, list)) = schema.list(self.index) else { return Ok(0) };
        let (mut expected, mut found) = (Expected::default(), Found::new(table, snapshot, of));
        let of_entities = each(table, snapshot, &mut |view| {
            if view.kind()? == Some(schema.entity_type) {
                expected.add(self.of, table, snapshot, view, self.index)?;
            }
            Ok(())
        })?;
        let place = of.place.table.source();
        let of_lists = each(table.member(place), snapshot, &mut |view| {
            if view.kind()? != Some(of.kind) {
                return Ok(());
            }
            report.lists += 1;
            let (partition, row) = view.keys();
            let key = (partition.clone().into_owned(), row.clone().into_owned());
            let mut missing = expected.lists.remove(&key).unwrap_or_default();
            let long = snapshot.long_list(view)?;
            match ids_of(&mut |name| with_blob(long.as_deref(), name, || view.get(name))) {
                Ok(ids) => {
                    let shared = of.place.values_in(&partition, &row).unwrap_or_default();
                    let listed = ListOfIds { index: of, list, partition: &partition, shared: &shared };
                    for id in ids.into_iter().filter(|id| missing.remove(&**id).is_none()) {
                        let keys = listed.key_of(schema, &id).ok();
                        if keys.as_ref().is_none_or(|keys| !expected.is_half(keys)) {
                            found.add_stray(&key, id.into_owned(), keys)?;
                        }
                    }
                }
                // A damaged list is made anew of all that is to be on it; of nothing, by taking off an id that no entity has.
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    if missing.is_empty() {
                        found.add_stray(&key, String::new(), None)?;
                    }
                }
                Err(error) => return Err(error),
            }
            found.add_missing(&key, missing)
        })?;
        for (key, missing) in expected.lists {
            found.add_missing(&key, missing)?;
        }
        self.left = found.wrong;
        self.left.sort_by(|(a, _), (b, _)| a.cmp(b));
        for ((partition, row), wrong) in &self.left {
            let what = if wrong.listing.stays { UNLISTED } else { MISLISTED };
            report.add(what, of.name, RowKeys { table: place, partition, row });
        }
        self.left.reverse();
        self.looked = of_entities + of_lists;
        Ok(self.looked)
    }

    fn expect(&mut self, at: &JobRecord, _epoch: u64) {
        self.made = Some((at.clone(), at.clone()));
    }

    fn next(
        &mut self,
        table: &DynamicTable,
        _name: &str,
        epoch: Epoch,
        step: Step<'_>,
        then: &dyn Fn(u64, u64) -> JobRecord,
    ) -> Result<Option<StepOutcome>> {
        let Step { at, size, loader } = step;
        match &self.made {
            Some((_, to)) if to == at => {
                self.left.truncate(self.left.len().saturating_sub(self.taken));
                self.left_out.clear();
            }
            // It was refused, and what was at fault is left out.
            Some((from, _)) if from == at => {}
            _ => {
                self.compare(table, &table.snapshot()?, &mut CopyReport::default())?;
            }
        }
        if self.left.is_empty() {
            return Ok(None);
        }
        let most = usize::try_from(size.rows).unwrap_or(usize::MAX).max(1);
        self.taken = most.min(self.left.len());
        self.plans.clear();
        let mut end = self.left.len();
        let first = end - self.taken;
        let mut mended = 0;
        while end > first {
            let Some((list, _)) = self.left.get(end - 1) else { break };
            let of_it = |&at: &usize| {
                self.left.get(at).is_some_and(|(other, _)| other == list) && !self.left_out.contains(&at)
            };
            let many = (first..end).rev().take(IDS).take_while(of_it).count();
            if many == 0 {
                end -= 1;
                continue;
            }
            let range = end - many..end;
            self.put_right(table, range.clone(), epoch, loader)?;
            self.plans.push(range);
            mended += u64::try_from(many).unwrap_or(u64::MAX);
            end -= many;
        }
        let to = then(mended, self.looked);
        self.made = Some((at.clone(), to.clone()));
        Ok(Some(StepOutcome::Rows(Some(to), Some(epoch))))
    }

    fn leave_out(&mut self, plan: usize) -> bool {
        let Some(range) = self.plans.get(plan) else { return false };
        self.left_out.extend(range.clone());
        true
    }
}

/// What was found to be wrong with the lists of an index.
struct Found<'a> {
    table: &'a DynamicTable,
    snapshot: &'a Snapshot,
    of: &'static Index,
    wrong: Vec<(RowKey, Wrong)>,
}

impl<'a> Found<'a> {
    fn new(table: &'a DynamicTable, snapshot: &'a Snapshot, of: &'static Index) -> Self {
        Self { table, snapshot, of, wrong: Vec::new() }
    }

    /// Returns whether propagation has still to add the id of an entity, or to remove it. It is not wrong until then.
    fn follows(&self, keys: &KeyPair) -> Result<bool> {
        Ok(self.of.is_eventual() && self.snapshot.follows(self.table, keys.as_keys())?)
    }

    /// Adds the ids that a list lacks.
    fn add_missing(&mut self, list: &RowKey, missing: Missing) -> Result<()> {
        for (id, (keys, version)) in missing {
            if !self.follows(&keys)? {
                let listing = Listing { id, stays: true };
                self.wrong.push((list.clone(), Wrong { listing, entity: Some((keys, Some(version))) }));
            }
        }
        Ok(())
    }

    /// Adds an id that a list has, and that is not to be there; `keys` are those of the entity that it is the id of.
    fn add_stray(&mut self, list: &RowKey, id: String, keys: Option<KeyPair>) -> Result<()> {
        let mut entity = None;
        if let Some(keys) = keys {
            if self.follows(&keys)? {
                return Ok(());
            }
            let EntityKeys { partition, row } = keys.as_keys();
            let found = self.snapshot.view(self.table, partition, row)?;
            let version = found.map(|view| version_of(&view, self.snapshot.state()));
            entity = Some((keys, version));
        }
        self.wrong.push((list.clone(), Wrong { listing: Listing { id, stays: false }, entity }));
        Ok(())
    }
}

impl RepairLists {
    pub(super) fn of(of: &'static dyn JobKind, index: usize) -> Self {
        Self {
            of,
            index,
            made: None,
            left: Vec::new(),
            looked: 0,
            taken: 0,
            left_out: BTreeSet::new(),
            plans: Vec::new(),
        }
    }

    /// Hands over one plan, for some ids of one list.
    fn put_right(
        &self,
        table: &DynamicTable,
        range: Range<usize>,
        epoch: Epoch,
        loader: &mut dyn Loader,
    ) -> Result<()> {
        let some = self.left.get(range).unwrap_or_default();
        let (Some(((partition, key), _)), Some((of, _))) = (some.first(), self.of.schema().list(self.index))
        else {
            return Ok(());
        };
        let kind = RowKind { schema: self.of.schema(), cause: Cause::Index(self.index) };
        let there = table.number_of(of.place.table.source());
        let listings: Vec<_> = some.iter().map(|(_, wrong)| wrong.listing.clone()).collect();
        let amounts = Amounts::listing(kind, &listings, true);
        let mut groups = vec![Group {
            table: there.unwrap_or_default(),
            additions: vec![Addition { key, amounts, of: 0 }],
            ..Group::new(partition, Vec::new())
        }];
        for (keys, version) in some.iter().filter_map(|(_, wrong)| wrong.entity.as_ref()) {
            let EntityKeys { partition: of_entity, row } = keys.as_keys();
            let condition = version.map_or(Condition::Absent, Condition::Is);
            let stays = RowWrite { key: row, condition, act: Act::Keep, kind: None, of: 0 };
            match groups.iter_mut().find(|group| group.table == 0 && group.partition == of_entity) {
                Some(group) => group.rows.push(stays),
                None => groups.push(Group::new(of_entity, vec![stays])),
            }
        }
        for group in groups.iter_mut().filter(|group| group.table == 0) {
            group.epochs.push(epoch);
        }
        let plan = Plan { groups: groups.into_iter().collect(), is_wide: true, ..Plan::default() };
        loader.add(&plan, &SealedAt::NOTHING).map_err(|refused| plan.explain_refusal(refused).error)
    }
}
