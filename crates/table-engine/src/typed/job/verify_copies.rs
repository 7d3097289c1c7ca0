//! Rows that a check meets: an entity's copies must be there, and a copy's entity must say it.

use std::collections::{BTreeMap, BTreeSet};

use super::blobs::Blobless;
use super::purge;
use super::report::{CopyReport, LOST, MISSING, ORPHAN, OUTDATED, RowKeys, STALE, TAKEN, UNSAID};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::ValueRef;
use crate::plan::{Act, Cause, Condition, EntityRows, Epoch, Group, Plan, RowContent, RowWrite, Version};
use crate::row::version::version_of;
use crate::row::view::RowView;
use crate::schema::{Absent, Field, Index, IndexMask, Schema, head_key, part_key};
use crate::typed::change::before::{has_previous_name, unknown};
use crate::typed::change::derive;
use crate::typed::change::driver::Together;
use crate::typed::encrypt::unopened;
use crate::typed::entity::source::Source;
use crate::typed::entity::{Entity, wide};

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
    pub(super) fn is_filed<E: Entity>(&self, index: usize, partition: &str, row: &str) -> Result<bool> {
        if E::SCHEMA.indexes.get(index).is_none_or(Index::is_shared) {
            return Ok(false);
        }
        let Some(view) = self.snapshot.view(self.table, partition, row)? else { return Ok(true) };
        let mut report = CopyReport::default();
        // A row that can't be read is reported by the step that fills the index.
        let looked = self.verify_copies::<E>(&view, &mut report, &mut Wrong::default());
        Ok(looked.is_ok() && report.is_sound())
    }

    /// Looks at one row: an entity's copies must be there, and a copy's entity must say it.
    pub(super) fn verify_copies<E: Entity>(
        &self,
        view: &RowView<'_>,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
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
            return self.look_at_entity::<E>(view, &partition, &row, report, wrong);
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
            // What the copy is to say is lost with a part, which is reported of the entity.
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
            report.add(ORPHAN, name, self.row_keys(&partition, &row));
            let state = self.snapshot.state();
            let version = own.as_ref().map(|own| version_of(own, state));
            let (partition, row) = (partition.into_owned(), row.into_owned());
            let is_itself =
                |owner: &(String, String)| self.number == 0 && owner.0 == partition && owner.1 == row;
            let owner = owner.filter(|owner| !is_itself(owner)).map(|owner| (owner, version));
            let place = Place { table: self.number, partition, row };
            wrong.orphans.push(Orphan { place, version: version_of(view, state), owner });
        }
        Ok(())
    }

    /// Returns whether the copies of an index are compared: it is ready, and they are copies.
    #[inline]
    fn is_looked_at(&self, schema: &Schema, index: usize) -> bool {
        self.index_mask.is_ready(index) && schema.indexes.get(index).is_some_and(|index| !index.is_shared())
    }

    /// Looks at the head of a wide entity: its parts must be there. Without one of them it is unknown what copies are to say.
    fn look_at_wide<E: Entity>(
        &self,
        head: &RowView<'_>,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
        let (partition, row) = head.keys();
        let Ok(said) = wide::parts_said(head) else {
            report.add(UNSAID, E::SCHEMA.kind, self.row_keys(&partition, &row));
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
            report.add(what, kind, self.row_keys(&partition, &key));
        }
        if !is_whole {
            return Ok(());
        }
        let whole = wide::whole::<E>(self.snapshot, self.table, head.clone())?;
        self.look_at_entity::<E>(&whole, &partition, &row, report, wrong)
    }

    /// Looks at a part of a wide entity: its head must say that it is there.
    #[inline]
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
        report.add(ORPHAN, kind, self.row_keys(&partition, &row));
        let state = self.snapshot.state();
        let version = head.as_ref().map(|head| version_of(head, state));
        let owner = head_row.map(|head| ((partition.clone().into_owned(), head.to_owned()), version));
        let (partition, row) = (partition.into_owned(), row.into_owned());
        let place = Place { table: 0, partition, row };
        wrong.orphans.push(Orphan { place, version: version_of(view, state), owner });
        Ok(())
    }

    /// Looks at an entity: its copies must say what it says, and it what its sources and its blobs do.
    fn look_at_entity<E: Entity>(
        &self,
        view: &RowView<'_>,
        partition: &str,
        row: &str,
        report: &mut CopyReport,
        wrong: &mut Wrong,
    ) -> Result<()> {
        self.look_at_blobs(E::SCHEMA, view, report, wrong)?;
        let mut unknown = unknown(view, E::SCHEMA)?;
        // A copy that was mended has it no more, and its entity's row has it until that is written.
        unknown.retain(|(name, _)| !E::SCHEMA.removed.contains(&&**name));
        let own = (partition, row);
        let mut is_wrong = false;
        self.with_rows::<E, _>(view, |rows| {
            for wants in rows.of_indexes() {
                let key = rows.key(wants);
                let name = wants.content.kind.index().map_or("", |index| index.name);
                let (table, partition) = rows.place_of(wants);
                let found = self.snapshot.view_unverified(self.table.member(table), partition, key)?;
                let what = match &found {
                    Some(copy) if holds(copy, &wants.content.carrying(&unknown))? => continue,
                    // Propagation writes it later.
                    _ if wants.content.kind.index().is_some_and(Index::is_eventual)
                        && self.snapshot.follows(self.table, own)? =>
                    {
                        continue;
                    }
                    None => MISSING,
                    Some(_) => STALE,
                };
                is_wrong = true;
                report.add(what, name, RowKeys { table, partition, row: key });
            }
            Ok::<(), Error>(())
        })??;
        if const { !E::HELD.is_empty() } {
            let together = Together::alone(self.table);
            let values = unopened::read::<E>(view)?;
            for name in derive::outdated(together, self.snapshot, E::SCHEMA, E::HELD, &values)? {
                report.add(OUTDATED, name, self.row_keys(partition, row));
                wrong.dependents.insert((partition.to_owned(), row.to_owned()));
            }
        }
        if is_wrong {
            wrong.entities.insert((partition.to_owned(), row.to_owned()));
        }
        Ok(())
    }

    /// Returns whether a copy of an entity has something under the name that its property had before.
    pub(super) fn has_previous_copy<E: Entity>(&self, own: &RowView<'_>) -> Result<bool> {
        self.with_rows::<E, _>(own, |rows| {
            for copy in rows.of_indexes() {
                let (table, partition) = rows.place_of(copy);
                let there = self.table.member(table);
                if let Some(copy) = self.snapshot.view_unverified(there, partition, rows.key(copy))?
                    && has_previous_name(&copy, E::SCHEMA)?
                {
                    return Ok(true);
                }
            }
            Ok(false)
        })?
    }

    /// Returns what `read` makes of the rows that an entity is to have, by its own row. Nothing sealed is opened, but where a
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
