//! Rows that a check meets: an entity's copies must be there, and a copy's entity must say it.

use std::collections::{BTreeMap, BTreeSet};

use super::blobs::Blobless;
use super::kind::JobKind;
use super::purge;
use super::report::{CopyReport, LOST, MISSING, ORPHAN, OUTDATED, RowKeys, STALE, TAKEN, UNSAID};
use crate::copies::{
    EntityTypes, ExpectedCopy, Fault, Known, Role, TakeCopy, WrongRow, compare_copies, compare_copy,
    compare_part, parts_of,
};
use crate::error::Result;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{EntityKeys, ValueRef};
use crate::plan::{Act, Condition, EntityRow, EntityRows, Epoch, Group, Plan, RowContent, RowWrite, Version};
use crate::row::version::version_of;
use crate::row::view::RowView;
use crate::schema::{Absent, Field, Index, IndexMask, Schema};
use crate::typed::change::before::{has_previous_name, unknown};
use crate::typed::change::derive;
use crate::typed::change::driver::Together;
use crate::typed::encrypt::unopened;
use crate::typed::entity::wide;

/// A row, by the number of its table among those of the kind and by its keys.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) table: usize,
    pub(super) partition: String,
    pub(super) row: String,
}

/// A copy that is to go, and the entity that it says it is of.
pub(super) struct Orphan {
    pub(super) place: Place,
    version: Version,
    owner: Option<((String, String), Option<Version>)>,
}

/// What is to be mended of some rows.
#[derive(Default)]
pub(super) struct Wrong {
    pub(super) entities: BTreeSet<(String, String)>,
    pub(super) dependents: BTreeSet<(String, String)>,
    pub(super) orphans: Vec<Orphan>,
    pub(super) blobless: Blobless,
}

impl Wrong {
    /// Returns how many rows are to be mended.
    pub(super) fn rows(&self) -> u64 {
        let rows = self.entities.len() + self.dependents.len() + self.orphans.len() + self.blobless.len();
        u64::try_from(rows).unwrap_or(u64::MAX)
    }
}

impl Orphan {
    /// Returns the plan that removes it as long as its owner is as it was found, or not there.
    #[inline]
    pub(super) fn removal(&self, epoch: Epoch) -> Plan<'_> {
        let place = &self.place;
        let write = |condition, act, key| RowWrite { key, condition, act, kind: None, of: 0 };
        let goes = write(Condition::Is(self.version), Act::Remove, place.row.as_str());
        let Some(((partition, row), version)) = &self.owner else {
            return purge::removal(place.table, &place.partition, vec![goes], epoch);
        };
        let stays = write(version.map_or(Condition::Absent, Condition::Is), Act::Keep, row.as_str());
        if place.table == 0 && *partition == place.partition {
            return purge::removal(0, partition, vec![goes, stays], epoch);
        }
        let mut plan = purge::removal(place.table, &place.partition, vec![goes], epoch);
        plan.groups.push(Group::new(partition, vec![stays]));
        Plan { is_wide: true, ..plan }
    }
}

/// Where rows are looked at.
pub(super) struct At<'a> {
    pub(super) kind: &'static dyn JobKind,
    /// The table of the entities, which knows of the others.
    pub(super) table: &'a DynamicTable,
    /// The one that is gone over, and its number.
    pub(super) there: &'a DynamicTable,
    pub(super) number: usize,
    pub(super) snapshot: &'a Snapshot,
    pub(super) index_mask: IndexMask,
}

impl At<'_> {
    /// Returns the keys of a row of the table that is gone over, for a report.
    pub(super) fn row_keys<'r>(&'r self, partition: &'r str, row: &'r str) -> RowKeys<'r> {
        RowKeys { table: self.there.name(), partition, row }
    }

    /// Returns whether the entity of these keys has its copies in an index that is being backfilled, the only one that the index
    /// mask compares, or is gone.
    pub(super) fn is_filed(&self, index: usize, partition: &str, row: &str) -> Result<bool> {
        if self.kind.schema().indexes.get(index).is_none_or(Index::is_shared) {
            return Ok(false);
        }
        let Some(view) = self.snapshot.view(self.table, partition, row)? else { return Ok(true) };
        let mut report = CopyReport::default();
        // A row that can't be read is reported by the step that fills the index.
        let looked = self.verify_copies(&view, &mut report, &mut Wrong::default());
        Ok(looked.is_ok() && report.is_sound())
    }

    /// Looks at one row: an entity's copies must be there, and a copy's entity must say it.
    pub(super) fn verify_copies(
        &self,
        view: &RowView<'_>,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
        let schema = self.kind.schema();
        let Some(kind) = view.kind()? else { return Ok(()) };
        let known = OfKind { at: self };
        match Role::of(schema, kind, self.number == 0) {
            Some(Role::Entity) => {
                report.entities += 1;
                if schema.is_wide() && !self.has_all_parts(&known, view, report)? {
                    return Ok(());
                }
                self.look_at_entity(&known, &known.whole(view.clone())?, report, wrong)
            }
            Some(Role::Part(part)) => {
                if let Some(found) = compare_part(&known, part, view)? {
                    self.report_stray(schema.kind_of_part(part), view, found, report, wrong);
                }
                Ok(())
            }
            Some(Role::Index(number)) if self.is_looked_at(schema, number) => {
                report.copies += 1;
                let Some(found) = compare_copy(&known, number, view)? else { return Ok(()) };
                // Propagation removes it later.
                if schema.is_eventual(number)
                    && let Some((partition, row)) = &found.owner
                    && self.snapshot.follows(self.table, EntityKeys::new(partition, row))?
                {
                    return Ok(());
                }
                let name = schema.indexes.get(number).map_or("", |index| index.name);
                self.report_stray(name, view, found, report, wrong);
                Ok(())
            }
            Some(Role::Index(_)) | None => Ok(()),
        }
    }

    /// Reports a copy or a part that no entity is to have. It goes as long as the row of its owner stays as it was found.
    #[inline]
    fn report_stray(
        &self,
        name: &'static str,
        view: &RowView<'_>,
        found: WrongRow<'_>,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) {
        let (partition, row) = view.keys();
        report.add(ORPHAN, name, self.row_keys(&partition, &row));
        let state = self.snapshot.state();
        let version = found.own.map(|own| version_of(&own, state));
        let (partition, row) = (partition.into_owned(), row.into_owned());
        let is_itself = |owner: &(String, String)| self.number == 0 && owner.0 == partition && owner.1 == row;
        let owner = found.owner.filter(|owner| !is_itself(owner)).map(|owner| (owner, version));
        let place = Place { table: self.number, partition, row };
        wrong.orphans.push(Orphan { place, version: version_of(view, state), owner });
    }

    /// Returns whether the copies of an index are compared: it is ready, and they are copies.
    #[inline]
    fn is_looked_at(&self, schema: &Schema, index: usize) -> bool {
        self.index_mask.is_ready(index) && schema.indexes.get(index).is_some_and(|index| !index.is_shared())
    }

    /// Looks whether a wide entity has its parts. Without one of them it is unknown what copies are to say.
    fn has_all_parts(&self, known: &OfKind<'_>, head: &RowView<'_>, report: &mut CopyReport) -> Result<bool> {
        let (schema, (partition, row)) = (self.kind.schema(), head.keys());
        if wide::parts_said(head).is_err() {
            report.add(UNSAID, schema.kind, self.row_keys(&partition, &row));
            return Ok(false);
        }
        let mut is_whole = true;
        parts_of(known, head, &mut |part, key, is_taken| {
            is_whole = false;
            let what = if is_taken { TAKEN } else { LOST };
            report.add(what, schema.kind_of_part(part), self.row_keys(&partition, key));
            Ok(())
        })?;
        Ok(is_whole)
    }

    /// Looks at an entity: its copies must say what it says, and it what its sources and its blobs do.
    fn look_at_entity(
        &self,
        known: &OfKind<'_>,
        own: &RowView<'_>,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
        let schema = self.kind.schema();
        self.look_at_blobs(schema, own, report, wrong)?;
        let (partition, row) = own.keys();
        let entity = || (partition.clone().into_owned(), row.clone().into_owned());
        compare_copies(known, own, &mut |copy, found| {
            // Propagation writes it later.
            if schema.is_eventual(copy.index)
                && self.snapshot.follows(self.table, EntityKeys::new(&partition, &row))?
            {
                return Ok(());
            }
            let what = if found.is_none() { MISSING } else { STALE };
            let name = schema.indexes.get(copy.index).map_or("", |index| index.name);
            report.add(what, name, RowKeys { table: copy.table, partition: copy.partition, row: copy.row });
            wrong.entities.insert(entity());
            Ok(())
        })?;
        let held = self.kind.meta().held;
        if !held.is_empty() {
            let together = Together::alone(self.table);
            let values = self.kind.values(own)?;
            for name in derive::outdated(together, self.snapshot, schema, held, &values)? {
                report.add(OUTDATED, name, self.row_keys(&partition, &row));
                wrong.dependents.insert(entity());
            }
        }
        Ok(())
    }

    /// Returns whether a copy of an entity has something under the name that its property had before.
    pub(super) fn has_previous_copy(&self, own: &RowView<'_>) -> Result<bool> {
        let (known, mut has) = (OfKind { at: self }, false);
        known.each_copy(own, &mut |copy| {
            if !has && let Some(row) = known.copy_row(copy)? {
                has = has_previous_name(&row, self.kind.schema())?;
            }
            Ok(())
        })?;
        Ok(has)
    }
}

/// The entities of a kind, as a check finds their rows.
struct OfKind<'a> {
    at: &'a At<'a>,
}

impl OfKind<'_> {
    /// Returns the declaration.
    fn schema(&self) -> &'static Schema {
        self.at.kind.schema()
    }

    /// Reads the rows that an entity is to have in those of the indexes that are compared, by its own row. Nothing sealed is
    /// opened, but where a function of the user's says whether there is a copy.
    fn with_rows<T>(
        &self,
        own: &RowView<'_>,
        is_asked: &dyn Fn(usize) -> bool,
        read: impl FnOnce(&EntityRows<'_>) -> Result<T>,
    ) -> Result<T> {
        let (kind, schema) = (self.at.kind, self.schema());
        let values = kind.values(own)?;
        let entity =
            if schema.indexes.iter().any(|index| index.sparse) { Some(kind.read(own)?) } else { None };
        let has_row = |index| {
            is_asked(index)
                && self.at.is_looked_at(schema, index)
                && entity.as_ref().is_none_or(|entity| entity.has_row(index))
        };
        let (partition, row) = own.keys();
        read(&EntityRows::of(schema, &values, Some(EntityKeys::new(&partition, &row)), None, &has_row)?)
    }
}

impl Known for OfKind<'_> {
    fn entity_types(&self) -> &dyn EntityTypes {
        self.schema()
    }

    fn own_row(&self, partition: &str, row: &str) -> Result<Option<RowView<'_>>> {
        self.at.snapshot.view(self.at.table, partition, row)
    }

    fn whole<'v>(&'v self, own: RowView<'v>) -> Result<RowView<'v>> {
        wide::whole_of(self.at.snapshot, self.at.table, self.schema(), own)
    }

    fn each_copy(&self, own: &RowView<'_>, take: TakeCopy<'_>) -> Result<()> {
        let mut unknown = unknown(own, self.schema())?;
        // A copy that was mended has it no more, and its entity's row has it until that is written.
        unknown.retain(|(name, _)| !self.schema().removed.contains(&&**name));
        self.with_rows(own, &|_| true, |rows| {
            rows.of_indexes().try_for_each(|(index, copy)| {
                let (table, partition) = rows.place_of(copy);
                let content = copy.content.carrying(&unknown);
                let is_right = |row: &RowView<'_>| holds(row, &content);
                take(&ExpectedCopy { index, table, partition, row: rows.key(copy), is_right: &is_right })
            })
        })
    }

    fn copy_row(&self, copy: &ExpectedCopy<'_>) -> Result<Option<RowView<'_>>> {
        let there = self.at.table.member(copy.table);
        self.at.snapshot.view_unverified(there, copy.partition, copy.row)
    }

    fn owner(&self, index: usize, copy: &RowView<'_>) -> Result<Option<(String, String)>> {
        Ok(unopened::source_of(self.schema(), index, copy))
    }

    /// What a copy holds was compared with its entity, which knows all of its copies.
    fn fault(&self, own: &RowView<'_>, index: usize, copy: &RowView<'_>) -> Result<Option<Fault>> {
        let (partition, row) = copy.keys();
        self.with_rows(own, &|at| at == index, |rows| {
            let is_it = |expected: &EntityRow<'_>| {
                let (table, there) = rows.place_of(expected);
                let lies_here = if expected.is_elsewhere() {
                    table.eq_ignore_ascii_case(self.at.there.name())
                } else {
                    self.at.number == 0
                };
                rows.key(expected) == row && there == partition && lies_here
            };
            let is_expected = rows.of_indexes().any(|(_, expected)| is_it(expected));
            Ok((!is_expected).then_some(Fault::Stray))
        })
    }
}

/// Returns whether a row says what it is to say, and nothing else: what it says is a field's value, whatever name that has in
/// the row.
#[inline]
fn holds(row: &RowView<'_>, content: &RowContent<'_>) -> Result<bool> {
    let Schema { fields, removed, .. } = content.kind.schema;
    let of = |name: &str| fields.iter().find(|field| field.property == name);
    let mut wanted: BTreeMap<&str, ValueRef<'_>> = content.properties().collect();
    for property in row.properties() {
        let (name, value) = property?;
        let found = match wanted.remove(name) {
            None if removed.contains(&name) => true,
            // The row was written before the property had its name. One that has both was written by neither program.
            None => match fields.iter().find(|field| field.was == Some(name)) {
                Some(field) if row.get(field.property)?.is_none() => {
                    wanted.remove(field.property).is_some_and(|wanted| wanted.says_same(value))
                }
                Some(_) => false,
                // The entity's row was written before the field had its default.
                None => of(name).is_some_and(|field| is_default(field, value)),
            },
            Some(wanted) => wanted.says_same(value),
        };
        if !found {
            return Ok(false);
        }
    }
    // What is left the row lacks: it was written before the field had its default.
    Ok(wanted.into_iter().all(|(name, wanted)| of(name).is_some_and(|field| is_default(field, wanted))))
}

/// Returns whether a row without the field says this value.
fn is_default(field: &Field, value: ValueRef<'_>) -> bool {
    let default = field.absent.and_then(Absent::value);
    default.is_some_and(|default| default.as_value_ref().says_same(value))
}
