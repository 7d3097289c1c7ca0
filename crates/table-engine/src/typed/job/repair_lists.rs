//! Index lists compared with the entities that are to be on them, and made right again.
//!
//! What a list lacks, and what it has too much, is found in one snapshot. It is put right in the steps of a job, each id under
//! the condition that the entity in question is as it was then, or is still not there: a concurrent write of an entity puts
//! it on the list itself.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::ops::Range;

use super::Step;
use super::repair_summaries::each;
use super::report::{CopyReport, MISLISTED, RowKeys, UNLISTED};
use crate::error::{ErrorKind, Result};
use crate::executor::{JobRecord, Loader};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::plan::{
    Act, Addition, Amounts, Cause, Condition, EntityRows, Epoch, Group, Listing, Plan, RowKind, RowWrite,
    Version, ids_of, with_blob,
};
use crate::row::version::version_of;
use crate::schema::KeyPair;
use crate::sealing::SealedAt;
use crate::typed::encrypt::unopened;
use crate::typed::entity::{Entity, wide};
use crate::typed::read::list::ListOfIds;

/// Ids that one plan puts right.
const IDS: usize = 50;

/// What is wrong with the lists of an index.
#[derive(Default)]
pub(super) struct Compared {
    /// How many lists there are.
    rows: u64,
    /// The lists that are wrong, and what is to become of ids on them.
    wrong: BTreeMap<(String, String), Vec<Wrong>>,
    /// How many rows were looked at, the entities' and others.
    pub(super) looked: u64,
}

impl Compared {
    /// Adds what is wrong to the report.
    pub(super) fn report<E: Entity>(&self, index: usize, report: &mut CopyReport) {
        report.lists += self.rows;
        let Some(of) = E::SCHEMA.indexes.get(index) else { return };
        for ((partition, row), wrong) in &self.wrong {
            for wrong in wrong {
                let what = if wrong.is_missing() { UNLISTED } else { MISLISTED };
                report.add(what, of.name, RowKeys { table: of.place.table.source(), partition, row });
            }
        }
    }
}

/// An id on a list that is to come or to go.
struct Wrong {
    listing: Listing,
    /// The keys of the entity that it is the id of, if it is one, and the version of it that was found.
    entity: Option<(KeyPair, Option<Version>)>,
}

impl Wrong {
    /// Returns whether an entity is not on the list.
    fn is_missing(&self) -> bool {
        self.listing.stays
    }
}

/// The ids that are to be on a list and were not found there yet, each with its entity's keys and version.
type Missing = BTreeMap<String, (KeyPair, Version)>;

/// Compares the lists of an index with its entities, all as it is in the snapshot.
pub(super) fn compare<E: Entity>(
    table: &DynamicTable,
    snapshot: &Snapshot,
    index: usize,
) -> Result<Compared> {
    let (mut wanted, mut compared) = (BTreeMap::<(String, String), Missing>::new(), Compared::default());
    let Some((of, list)) = E::SCHEMA.list(index) else { return Ok(compared) };
    let state = snapshot.state();
    // An entry that propagation has still to add or to remove is not wrong.
    let follows =
        |keys: &KeyPair| Ok::<_, crate::Error>(of.is_eventual() && snapshot.follows(table, keys.as_strs())?);
    let add_missing = |wrong: &mut Vec<Wrong>, expected: Missing| {
        for (id, (keys, version)) in expected {
            if !follows(&keys)? {
                wrong.push(Wrong::missing(id, keys, version));
            }
        }
        Ok::<_, crate::Error>(())
    };
    // Wide entities that lack a part, which the check of the rows reports: it is unknown on what lists they are to be.
    let mut halves = BTreeSet::<(String, String)>::new();
    let of_entities = each(table, snapshot, &mut |view| {
        if view.kind()? != Some(E::SCHEMA.entity_type) {
            return Ok(());
        }
        let (partition, row) = view.keys();
        let whole = match wide::whole::<E>(snapshot, table, view.clone()) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                halves.insert((partition.into_owned(), row.into_owned()));
                return Ok(());
            }
            whole => whole?,
        };
        let values = unopened::read::<E>(&whole)?;
        let rows = EntityRows::of(E::SCHEMA, &values, Some((&partition, &row)), None, &|at| at == index)?;
        for listed in rows.of_indexes() {
            let Some(id) = listed.content.id(list) else { continue };
            let key = (rows.place_of(listed).1.to_owned(), rows.key(listed).to_owned());
            let keys = KeyPair::of(&partition, &row);
            wanted.entry(key).or_default().insert(id, (keys, version_of(view, state)));
        }
        Ok(())
    })?;
    let of_lists = each(table.member(of.place.table.source()), snapshot, &mut |view| {
        if view.kind()? != Some(of.kind) {
            return Ok(());
        }
        compared.rows += 1;
        let (partition, row) = view.keys();
        let mut expected =
            wanted.remove(&(partition.clone().into_owned(), row.clone().into_owned())).unwrap_or_default();
        let mut wrong = Vec::new();
        let long = snapshot.long_list(view)?;
        match ids_of(&mut |name| with_blob(long.as_deref(), name, || view.get(name))) {
            Ok(ids) => {
                let shared = of.place.values_in(&partition, &row).unwrap_or_default();
                let found = ListOfIds { index: of, list, partition: &partition, shared: &shared };
                for id in ids.into_iter().filter(|id| expected.remove(&**id).is_none()) {
                    let keys = found.key_of(E::SCHEMA, &id).ok();
                    let is_half =
                        |(partition, row): (&str, &str)| halves.contains(&(partition.into(), row.into()));
                    if !halves.is_empty() && keys.as_ref().is_some_and(|keys| is_half(keys.as_strs())) {
                        continue;
                    }
                    if let Some(keys) = &keys
                        && follows(keys)?
                    {
                        continue;
                    }
                    let entity = keys.map(|keys| {
                        let (partition, row) = keys.as_strs();
                        let found = snapshot.view(table, partition, row)?;
                        let version = found.map(|view| version_of(&view, state));
                        Ok::<_, crate::Error>((keys, version))
                    });
                    let listing = Listing { id: id.into_owned(), stays: false };
                    wrong.push(Wrong { listing, entity: entity.transpose()? });
                }
            }
            // A damaged list is made anew of all that is to be on it; of nothing, by taking off an id that no entity has.
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                if expected.is_empty() {
                    let listing = Listing { id: String::new(), stays: false };
                    wrong.push(Wrong { listing, entity: None });
                }
            }
            Err(error) => return Err(error),
        }
        add_missing(&mut wrong, expected)?;
        if !wrong.is_empty() {
            compared.wrong.insert((partition.into_owned(), row.into_owned()), wrong);
        }
        Ok(())
    })?;
    compared.looked = of_entities + of_lists;
    for (key, expected) in wanted {
        let mut wrong = Vec::new();
        add_missing(&mut wrong, expected)?;
        if !wrong.is_empty() {
            compared.wrong.insert(key, wrong);
        }
    }
    Ok(compared)
}

impl Wrong {
    /// Makes an id of this entity that is to come.
    fn missing(id: String, keys: KeyPair, version: Version) -> Self {
        Self { listing: Listing { id, stays: true }, entity: Some((keys, Some(version))) }
    }
}

/// What makes the lists of an index right again, some ids in each step of a job.
pub(super) struct Relist<E> {
    index: usize,
    /// Where the job was when the last step was made, and where it is if that was carried out.
    made: Option<(JobRecord, JobRecord)>,
    /// What is still to be put right, of which list. The next are the last.
    left: Vec<((String, String), Wrong)>,
    /// How many of these the last step takes.
    taken: usize,
    /// Which of these are left as they are: others have written them.
    left_out: BTreeSet<usize>,
    /// Of each plan of the step, which of these it puts right.
    plans: Vec<Range<usize>>,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> Relist<E> {
    pub(super) fn of(index: usize) -> Self {
        let (left, left_out, plans) = (Vec::new(), BTreeSet::new(), Vec::new());
        Self { index, made: None, left, taken: 0, left_out, plans, entity: PhantomData }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Compares the lists, and returns where the job is with what was found, as `then` says.
    pub(super) fn compare(
        &mut self,
        table: &DynamicTable,
        then: impl FnOnce(&Compared) -> JobRecord,
    ) -> Result<JobRecord> {
        let compared = compare::<E>(table, &table.snapshot()?, self.index)?;
        let to = then(&compared);
        let of_list = |(list, wrong): ((String, String), Vec<Wrong>)| {
            wrong.into_iter().map(move |wrong| (list.clone(), wrong))
        };
        *self = Self::of(self.index);
        self.left = compared.wrong.into_iter().flat_map(of_list).collect();
        self.left.reverse();
        self.made = Some((to.clone(), to.clone()));
        Ok(to)
    }

    /// Hands over what puts the next ids right, and returns where the job is then, by what `then` makes of their count. `None` if
    /// none is left.
    pub(super) fn next(
        &mut self,
        table: &DynamicTable,
        step: Step<'_>,
        then: &dyn Fn(u64) -> JobRecord,
        loader: &mut dyn Loader,
    ) -> Result<Option<JobRecord>> {
        let Step { at, size, epoch } = step;
        match &self.made {
            Some((_, to)) if to == at => {
                self.left.truncate(self.left.len().saturating_sub(self.taken));
                self.left_out.clear();
            }
            // It was refused, and what was at fault is left out.
            Some((from, _)) if from == at => {}
            _ => drop(self.compare(table, |_| at.clone())?),
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
        let to = then(mended);
        self.made = Some((at.clone(), to.clone()));
        Ok(Some(to))
    }

    /// Leaves out what a plan of the step was to put right.
    pub(super) fn leave_out(&mut self, plan: usize) -> bool {
        let Some(range) = self.plans.get(plan) else { return false };
        self.left_out.extend(range.clone());
        true
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
        let (Some(((partition, key), _)), Some((of, _))) = (some.first(), E::SCHEMA.list(self.index)) else {
            return Ok(());
        };
        let kind = RowKind { schema: E::SCHEMA, cause: Cause::Index(self.index) };
        let place = of.place.table.source();
        let there = table.family().iter().position(|member| member.name().eq_ignore_ascii_case(place));
        let listings: Vec<_> = some.iter().map(|(_, wrong)| wrong.listing.clone()).collect();
        let amounts = Amounts::listing(kind, &listings, true);
        let mut groups = vec![Group {
            table: there.unwrap_or_default(),
            additions: vec![Addition { key, amounts, of: 0 }],
            ..Group::new(partition, Vec::new())
        }];
        for (keys, version) in some.iter().filter_map(|(_, wrong)| wrong.entity.as_ref()) {
            let (of_entity, row) = keys.as_strs();
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
