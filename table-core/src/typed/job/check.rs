//! Copies compared with their entities, and made right again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{recount, relist, sweep};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::handle::write::carry_out;
use crate::model::ValueRef;
use crate::plan::{Act, Cause, Condition, EntityRows, Epoch, Group, Plan, RowContent, RowWrite, Version};
use crate::query::Query;
use crate::row::version::version_of;
use crate::row::view::RowView;
use crate::schema::{Index, Schema, Standing, head_key, part_key};

use crate::sealing::SealedAt;
use crate::typed::change::Change;
use crate::typed::change::before::unknown;
use crate::typed::change::derive;
use crate::typed::change::driver::{self, Together};
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::encrypt::unopened;
use crate::typed::entity::source::Source;
use crate::typed::entity::{Entity, wide};
use crate::typed::read::key::Key;
use crate::typed::table::Table;

/// Rows that are looked at in one snapshot.
const ROWS: usize = 500;
/// The most that a report names.
const NAMED: usize = 1_000;
/// So often a repair goes over the table: what a first pass has removed makes room for the second.
const PASSES: usize = 3;

/// What a check of a table's copies has found, or a repair has mended; see [`Table::check`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyReport {
    /// How many entities there are.
    pub entities: u64,
    /// How many copies of them were looked at.
    pub copies: u64,
    /// Copies that an entity is to have, and that are not there.
    pub missing: u64,
    /// Copies that say something else than their entity, or are another's.
    pub stale: u64,
    /// Copies of no entity.
    pub orphans: u64,
    /// How many rows of summaries were looked at.
    pub summaries: u64,
    /// Rows of summaries, there or missing, that don't say what the entities come to.
    pub miscounted: u64,
    /// How many index lists were looked at.
    pub lists: u64,
    /// Entities that are not on an index list that they are to be on.
    pub unlisted: u64,
    /// Index lists that are damaged, and ids on lists that are of no entity which is to be there.
    pub mislisted: u64,
    /// Entities that hold something else of [another](crate::Entity#on-fields) than that says.
    pub outdated: u64,
    /// Parts of wide entities that are missing, or are other rows. What they held is lost: [`Table::delete`] removes what is
    /// left of the entity, and a repair the copies that only the part led to; then it can be inserted anew. A part that no head speaks of is an orphan.
    pub lost_parts: u64,
    /// How many of all these were mended.
    pub mended: u64,
    /// The first thousand of what is wrong, each as table, partition key, row key and what it is.
    pub problems: Vec<CopyProblem>,
}

/// A copy that is not as its entity says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyProblem {
    /// The table of the copy.
    pub table: String,
    /// The partition key.
    pub partition: String,
    /// The row key of the copy.
    pub row: String,
    /// The index.
    pub index: &'static str,
    /// What is wrong.
    pub what: &'static str,
}

impl CopyReport {
    /// Whether every copy is as its entity says, and none is missing.
    pub fn is_sound(&self) -> bool {
        self.wrong() == 0
    }

    /// How many copies are not.
    pub fn wrong(&self) -> u64 {
        self.missing
            + self.stale
            + self.orphans
            + self.miscounted
            + self.unlisted
            + self.mislisted
            + self.outdated
            + self.lost_parts
    }

    fn add(&mut self, what: &'static str, index: &'static str, (table, partition, row): (&str, &str, &str)) {
        let counter = match what {
            MISSING => &mut self.missing,
            STALE => &mut self.stale,
            MISCOUNTED => &mut self.miscounted,
            UNLISTED => &mut self.unlisted,
            MISLISTED => &mut self.mislisted,
            OUTDATED => &mut self.outdated,
            LOST | TAKEN | UNSAID => &mut self.lost_parts,
            _ => &mut self.orphans,
        };
        *counter += 1;
        if self.problems.len() < NAMED {
            let [table, partition, row] = [table, partition, row].map(str::to_owned);
            self.problems.push(CopyProblem { table, partition, row, index, what });
        }
    }
}

const MISSING: &str = "the copy is missing";
const STALE: &str = "the copy is not what its entity says";
const MISCOUNTED: &str = "the summary does not say what its entities come to";
const UNLISTED: &str = "an entity is not on the list";
const MISLISTED: &str = "the list is damaged, or has an id of no entity that is to be there";
const OUTDATED: &str = "what it holds of another entity is not what that says";
const LOST: &str =
    "the part is missing, and what it held is lost: delete the entity, repair, and insert it anew";
const TAKEN: &str = "another row lies where the part is to be: move that, and put the entity anew";
const UNSAID: &str = "it does not say how many parts it has: put the entity anew";
const ORPHAN: &str = "the copy is of no entity that has one there";

impl fmt::Display for CopyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entities, copies, missing, stale, orphans, summaries, miscounted, mended, .. } = self;
        write!(
            f,
            "{entities} entities, {copies} copies; {missing} missing, {stale} stale, {orphans} orphaned, {mended} mended"
        )?;
        if *summaries > 0 || *miscounted > 0 {
            write!(f, "; {summaries} rows of summaries, {miscounted} miscounted")?;
        }
        if self.lists > 0 || self.unlisted > 0 {
            let (lists, wrong) = (self.lists, self.unlisted + self.mislisted);
            write!(f, "; {lists} index lists, {wrong} wrong ids")?;
        }
        if self.outdated > 0 {
            write!(f, "; {} that hold what others said before", self.outdated)?;
        }
        if self.lost_parts > 0 {
            write!(f, "; {} lost parts", self.lost_parts)?;
        }
        Ok(())
    }
}

/// A copy that is to go, and the entity that it says it is of.
struct Orphan {
    /// The number of its table among those of the kind.
    table: usize,
    partition: String,
    row: String,
    version: Version,
    owner: Option<((String, String), Option<Version>)>,
}

/// What is to be mended of some rows.
#[derive(Default)]
struct Wrong {
    entities: BTreeSet<(String, String)>,
    holders: BTreeSet<(String, String)>,
    orphans: Vec<Orphan>,
}

impl<E: Entity> Table<E> {
    /// Compares every copy of the entities with the entity that it is of, in the indexes that are ready, wherever they lie:
    /// none may be missing, none may say anything else, and none may be of no entity. What is still to
    /// [follow](crate::Store::unsettled) is not wrong. Summaries and index lists are compared, too. A raw write of a row may break that, or
    /// a program that did not know an index.
    ///
    /// It goes once over the table, and over the others where copies lie, a few hundred rows in each snapshot, and holds up
    /// no writer.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Entity, IfMatch, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # #[index(by_email, row = "email_{email}", unique)]
    /// # struct Employee { department: String, id: u32, email: String }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let staff = store.table::<Employee>()?;
    /// staff.insert(&Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into() })?;
    /// assert!(staff.check()?.is_sound());
    ///
    /// // A raw write changes the one row, and its copies stay as they are.
    /// let change = DynamicEntity::new("Sales", "empid_000007").with("Email", "cao@contoso.com");
    /// staff.dynamic().raw().merge(&change, IfMatch::Any)?;
    /// let report = staff.check()?;
    /// assert_eq!((report.missing, report.orphans), (1, 1));
    ///
    /// assert_eq!(staff.repair()?.mended, 2);
    /// assert!(staff.get(Employee::by_email("Sales", "cao@contoso.com"))?.is_some());
    /// assert!(staff.check()?.is_sound());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self) -> Result<CopyReport> {
        let mut report = CopyReport::default();
        self.go_over(&mut report, false)?;
        self.recount(&mut report)?;
        self.relist(&mut report, false)?;
        Ok(report)
    }

    /// Makes every copy right again that [`check`](Self::check) finds wrong: what is missing or stale is written as the entity
    /// says, and orphans go. The report has what was found first, and how much of it was mended; what two entities both
    /// claim in a unique index stays wrong.
    pub fn repair(&self) -> Result<CopyReport> {
        let (mut first, mut mended) = (None, 0);
        for _ in 0..PASSES {
            let mut report = CopyReport::default();
            let mut done = self.go_over(&mut report, true)?;
            done += self.recount(&mut report).and_then(|wrong| self.mend_summaries(&wrong))?;
            done += self.relist(&mut report, true)?;
            mended += done;
            let is_sound = report.is_sound();
            first.get_or_insert(report);
            if is_sound || done == 0 {
                break;
            }
        }
        Ok(CopyReport { mended, ..first.unwrap_or_default() })
    }

    /// Compares the summaries that are ready, each in one snapshot; returns those that are wrong.
    fn recount(&self, report: &mut CopyReport) -> Result<Vec<usize>> {
        let (table, mut wrong) = (self.dynamic(), Vec::new());
        let summaries = E::SCHEMA.indexes.iter().enumerate().filter(|(_, index)| index.summary.is_some());
        for (number, index) in summaries {
            if !driver::standing(Together::alone(table), E::SCHEMA, false)?.is_ready(number) {
                continue;
            }
            let compared = recount::compare::<E>(table, &table.snapshot()?, number)?;
            report.summaries += compared.rows;
            for (partition, row) in compared.differences.keys() {
                report.add(MISCOUNTED, index.name, (index.place.table.source(), partition, row));
            }
            if !compared.differences.is_empty() {
                wrong.push(number);
            }
        }
        Ok(wrong)
    }

    /// Compares the index lists that are ready, each in one snapshot; returns how many ids were put right.
    fn relist(&self, report: &mut CopyReport, mends: bool) -> Result<u64> {
        let (table, mut mended) = (self.dynamic(), 0);
        let lists = E::SCHEMA.indexes.iter().enumerate().filter(|(_, index)| index.list.is_some());
        for (number, index) in lists {
            let standing = driver::standing(Together::alone(table), E::SCHEMA, mends)?;
            if !standing.is_ready(number) {
                continue;
            }
            let compared = relist::compare::<E>(table, &table.snapshot()?, number)?;
            report.lists += compared.rows;
            for ((partition, row), wrong) in &compared.wrong {
                for wrong in wrong {
                    let what = if wrong.is_missing() { UNLISTED } else { MISLISTED };
                    report.add(what, index.name, (index.place.table.source(), partition, row));
                }
            }
            if mends {
                let epoch = Epoch { kind: E::SCHEMA.kind, number: standing.epoch };
                mended += relist::mend::<E>(table, number, &compared, epoch)?;
            }
        }
        Ok(mended)
    }

    fn mend_summaries(&self, wrong: &[usize]) -> Result<u64> {
        wrong.iter().map(|index| recount::mend::<E>(self.dynamic(), *index)).sum()
    }

    /// Goes over the tables once; returns how many rows were mended.
    fn go_over(&self, report: &mut CopyReport, mends: bool) -> Result<u64> {
        super::check_converted::<E>(self.dynamic())?;
        if const { E::SCHEMA.has_eventual() } {
            // A snapshot can look into what was opened before it was taken.
            self.dynamic().exec().store().pending()?.count()?;
        }
        let mut mended = 0;
        for (number, there) in self.dynamic().family().iter().enumerate() {
            mended += self.go_over_one((number, there), report, mends)?;
        }
        Ok(mended)
    }

    fn go_over_one(
        &self,
        (number, there): (usize, &DynamicTable),
        report: &mut CopyReport,
        mends: bool,
    ) -> Result<u64> {
        let table = self.dynamic();
        let (mut after, mut mended) = (None, 0);
        loop {
            let standing = driver::standing(Together::alone(table), E::SCHEMA, mends)?;
            let snapshot = table.snapshot()?;
            let mut wrong = Wrong::default();
            let found = std::cell::RefCell::new((&mut wrong, &mut *report));
            let page = snapshot.page_by(there, Query::new().into(), ROWS, after.as_ref(), |_, view| {
                let (wrong, report) = &mut *found.borrow_mut();
                let at = At { table, there, number, snapshot: &snapshot, standing };
                at.look::<E>(view, report, wrong)
            })?;
            drop(snapshot);
            if mends {
                mended += self.mend(standing, &wrong)?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(mended);
            }
        }
    }

    /// Mends what was found; what somebody has written meanwhile is left as it is.
    fn mend(&self, standing: Standing, wrong: &Wrong) -> Result<u64> {
        let (table, mut mended) = (self.dynamic(), 0);
        for orphan in &wrong.orphans {
            let epoch = Epoch { kind: E::SCHEMA.kind, number: standing.epoch };
            match carry_out(table.family(), &orphan.removal(epoch), &SealedAt::NOTHING) {
                Ok(_) => mended += 1,
                Err(failure) if is_another_s(failure.error.kind()) => {}
                Err(failure) => return Err(failure.error),
            }
        }
        for (partition, row) in &wrong.holders {
            let change = Change::<E>::Update(Box::new(|_| {}));
            let mut attempt = EntityAttempt::new(Key::<E>::stored(partition, row), change).holding_anew();
            match driver::commit(Together::alone(table), &mut [&mut attempt]) {
                Ok(_) => mended += 1,
                Err(error) if is_another_s(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        for (partition, row) in &wrong.entities {
            let mut attempt = EntityAttempt::new(Key::<E>::stored(partition, row), Change::<E>::Refile);
            match driver::commit(Together::alone(table), &mut [&mut attempt]) {
                Ok(_) => mended += 1,
                Err(error) if is_another_s(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(mended)
    }
}

/// Whether a refusal says that others have written the rows, or claim them.
pub(super) fn is_another_s(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConditionNotMet
            | ErrorKind::EntityNotFound
            | ErrorKind::EntityAlreadyExists
            | ErrorKind::UniqueConflict
    )
}

impl Orphan {
    /// The plan that removes it as long as its owner is as it was found, or not there.
    fn removal(&self, epoch: Epoch) -> Plan<'_> {
        let write = |condition, act, key| RowWrite { key, condition, act, kind: None, of: 0 };
        let goes = write(Condition::Is(self.version), Act::Remove, self.row.as_str());
        let Some(((partition, row), version)) = &self.owner else {
            return sweep::removal(self.table, &self.partition, vec![goes], epoch);
        };
        let stays = write(version.map_or(Condition::Absent, Condition::Is), Act::Keep, row.as_str());
        if self.table == 0 && *partition == self.partition {
            return sweep::removal(0, partition, vec![goes, stays], epoch);
        }
        let mut plan = sweep::removal(self.table, &self.partition, vec![goes], epoch);
        plan.groups.push(Group::new(partition, vec![stays]));
        Plan { is_wide: true, ..plan }
    }
}

/// Where rows are looked at.
struct At<'a> {
    /// The table of the entities, which knows of the others.
    table: &'a DynamicTable,
    /// The one that is gone over, and its number.
    there: &'a DynamicTable,
    number: usize,
    snapshot: &'a Snapshot,
    standing: Standing,
}

impl At<'_> {
    /// Looks at one row: an entity's copies must be there, and a copy's entity must say it.
    fn look<E: Entity>(&self, view: &RowView<'_>, report: &mut CopyReport, wrong: &mut Wrong) -> Result<()> {
        let schema = E::SCHEMA;
        let Some(kind) = view.kind()? else { return Ok(()) };
        let (partition, row) = view.keys();
        if kind == schema.entity_type {
            if self.number > 0 {
                // Entities are in their own table.
                return Ok(());
            }
            report.entities += 1;
            if const { E::SCHEMA.is_wide() } {
                return self.look_at_wide::<E>(view, report, wrong);
            }
            return self.look_at_entity::<E>(view, (&partition, &row), report, wrong);
        }
        if let Some(part) = schema.part_of_kind(kind)
            && self.number == 0
        {
            return self.look_at_part(schema, part, view, report, wrong);
        }
        let index = schema.indexes.iter().position(|index| index.kind == kind);
        let Some(number) = index.filter(|number| self.is_looked_at(schema, *number)) else { return Ok(()) };
        report.copies += 1;
        let name = schema.indexes.get(number).map_or("", |index| index.name);
        let owner = unopened::source_of(schema, number, view);
        let own = match &owner {
            Some((partition, row)) => self.snapshot.view(self.table, partition, row)?,
            None => None,
        };
        let own = own.filter(|own| own.kind().is_ok_and(|kind| kind == Some(schema.entity_type)));
        let own = match own.map(|own| wide::whole::<E>(self.snapshot, self.table, own)).transpose() {
            Ok(own) => own,
            // What the copy is to say is lost with a part, which is told of the entity.
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(()),
            Err(error) => return Err(error),
        };
        let is_said = match &own {
            Some(own) => self.with_rows::<E, _>(own, |rows| {
                rows.rows.iter().any(|wants| {
                    let (table, there) = rows.place_of(wants);
                    wants.cause() == Cause::Index(number)
                        && rows.key(wants) == row
                        && there == partition
                        && if wants.is_elsewhere() {
                            table.eq_ignore_ascii_case(self.there.name())
                        } else {
                            self.number == 0
                        }
                })
            })?,
            None => false,
        };
        let is_eventual = schema.is_eventual(number);
        let follows =
            |(partition, row): &(String, String)| self.snapshot.follows(self.table, (partition, row));
        if is_eventual && !is_said && owner.as_ref().map_or(Ok(false), follows)? {
            return Ok(());
        }
        if !is_said {
            report.add(ORPHAN, name, (self.there.name(), &partition, &row));
            let state = self.snapshot.state();
            let version = own.as_ref().map(|own| version_of(own, state));
            let (partition, row) = (partition.into_owned(), row.into_owned());
            let is_itself =
                |owner: &(String, String)| self.number == 0 && owner.0 == partition && owner.1 == row;
            let owner = owner.filter(|owner| !is_itself(owner)).map(|owner| (owner, version));
            let (table, version) = (self.number, version_of(view, state));
            wrong.orphans.push(Orphan { table, partition, row, version, owner });
        }
        Ok(())
    }

    /// Whether the copies of an index are compared: it is ready, and they are copies.
    fn is_looked_at(&self, schema: &Schema, index: usize) -> bool {
        self.standing.is_ready(index) && schema.indexes.get(index).is_some_and(|index| !index.is_shared())
    }

    /// Looks at the head of a wide entity: its parts must be there. Without one of them nobody can say what copies are to say.
    fn look_at_wide<E: Entity>(
        &self,
        head: &RowView<'_>,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
        let (partition, row) = head.keys();
        let Ok(said) = wide::parts_said(head) else {
            report.add(UNSAID, E::SCHEMA.kind, (self.there.name(), &partition, &row));
            return Ok(());
        };
        let said = said.unwrap_or(0);
        let mut is_whole = true;
        for part in 1..=said.min(E::SCHEMA.parts.len()) {
            let key = part_key(&row, part);
            let found = self.snapshot.view(self.table, &partition, &key)?;
            let kind = E::SCHEMA.kind_of_part(part);
            let what = match &found {
                None => LOST,
                Some(found) if found.kind()? != Some(kind) => TAKEN,
                Some(_) => continue,
            };
            is_whole = false;
            report.add(what, kind, (self.there.name(), &partition, &key));
        }
        if !is_whole {
            return Ok(());
        }
        let whole = wide::whole::<E>(self.snapshot, self.table, head.clone())?;
        self.look_at_entity::<E>(&whole, (&partition, &row), report, wrong)
    }

    /// Looks at a part of a wide entity: its head must say that it is there.
    fn look_at_part(
        &self,
        schema: &'static Schema,
        part: usize,
        view: &RowView<'_>,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
        let (partition, row) = view.keys();
        let head_row = head_key(&row, part);
        let head = match head_row {
            Some(head) => self.snapshot.view(self.table, &partition, head)?,
            None => None,
        };
        let said = match &head {
            Some(head) if head.kind()? == Some(schema.entity_type) => {
                wide::parts_said(head).ok().flatten().unwrap_or(0)
            }
            _ => 0,
        };
        if part <= said {
            return Ok(());
        }
        let kind = schema.kind_of_part(part);
        report.add(ORPHAN, kind, (self.there.name(), &partition, &row));
        let state = self.snapshot.state();
        let version = head.as_ref().map(|head| version_of(head, state));
        let owner = head_row.map(|head| ((partition.clone().into_owned(), head.to_owned()), version));
        let (partition, row) = (partition.into_owned(), row.into_owned());
        let version = version_of(view, state);
        wrong.orphans.push(Orphan { table: 0, partition, row, version, owner });
        Ok(())
    }

    fn look_at_entity<E: Entity>(
        &self,
        view: &RowView<'_>,
        (partition, row): (&str, &str),
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
        let unknown = unknown(view, E::SCHEMA)?;
        let own = (partition, row);
        let mut is_wrong = false;
        self.with_rows::<E, _>(view, |rows| {
            for wants in rows.rows.iter().filter(|row| matches!(row.cause(), Cause::Index(_))) {
                let key = rows.key(wants);
                let name = wants.content.kind.index().map_or("", |index| index.name);
                let (table, partition) = rows.place_of(wants);
                let found = self.snapshot.view_unverified(self.table.member(table), partition, key)?;
                let what = match &found {
                    Some(copy) if holds(copy, &wants.content.carrying(&unknown))? => continue,
                    // It comes later.
                    _ if wants.content.kind.index().is_some_and(Index::is_eventual)
                        && self.snapshot.follows(self.table, own)? =>
                    {
                        continue;
                    }
                    None => MISSING,
                    Some(_) => STALE,
                };
                is_wrong = true;
                report.add(what, name, (table, partition, key));
            }
            Ok::<(), Error>(())
        })??;
        if const { !E::HELD.is_empty() } {
            let together = Together::alone(self.table);
            let values = unopened::read::<E>(view)?;
            for name in derive::outdated((together, self.snapshot), (E::SCHEMA, E::HELD), &values)? {
                report.add(OUTDATED, name, (self.there.name(), partition, row));
                wrong.holders.insert((partition.to_owned(), row.to_owned()));
            }
        }
        if is_wrong {
            wrong.entities.insert((partition.to_owned(), row.to_owned()));
        }
        Ok(())
    }

    /// What `read` makes of the rows that an entity is to have, by its own row. Nothing sealed is opened, but where a
    /// function of the user's says whether there is a copy.
    fn with_rows<E: Entity, T>(
        &self,
        own: &RowView<'_>,
        read: impl FnOnce(&EntityRows<'_>) -> T,
    ) -> Result<T> {
        let schema = E::SCHEMA;
        let values = unopened::read::<E>(own)?;
        let entity = if schema.indexes.iter().any(|index| index.sparse) {
            Some(E::from_source(&mut Source::new(schema, schema.place(), own)?)?)
        } else {
            None
        };
        let has_row = |index| {
            self.is_looked_at(schema, index) && entity.as_ref().is_none_or(|entity| entity.has_row(index))
        };
        let (partition, row) = own.keys();
        let rows = EntityRows::of(schema, &values, Some((&partition, &row)), None, &has_row)?;
        Ok(read(&rows))
    }
}

/// Whether a row holds what it is to hold, and nothing else.
fn holds(row: &RowView<'_>, content: &RowContent<'_>) -> Result<bool> {
    let mut wanted: BTreeMap<&str, ValueRef<'_>> = content.properties().collect();
    for property in row.properties() {
        let (name, value) = property?;
        // A number that was written before its field grew says the same.
        let is_same = |wanted: ValueRef<'_>| {
            wanted == value || wanted.as_i64().is_some_and(|wanted| value.as_i64() == Some(wanted))
        };
        if !wanted.remove(name).is_some_and(is_same) {
            return Ok(false);
        }
    }
    Ok(wanted.is_empty())
}
