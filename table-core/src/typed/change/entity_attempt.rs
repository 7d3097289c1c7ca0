//! The attempt at a change of one entity.

use std::sync::atomic::{AtomicBool, Ordering};

use super::attempt::{Attempt, Desk, Image, Need, Sources};
use super::before::{Before, is_closed};
use super::hold::{self, Holding};
use super::{Change, Closure, values_of};
use crate::error::{Error, ErrorKind, Result};
use crate::model::IfMatch;
use crate::plan::{Draft, EntityRows, Epoch, Found, OldRows, Printed, Seals, Values, Version};
use crate::row::view::RowView;
use crate::schema::{self, KeyPair, Schema, Standing};
use crate::typed::encrypt::{sealing, unopened};
use crate::typed::entity::Entity;
use crate::typed::entity::path::of_kin;
use crate::typed::entity::source::Source;
use crate::typed::entity::wide;
use crate::typed::read::key::Key;

/// A change of one entity, and what was found for it.
pub(in crate::typed) struct EntityAttempt<'c, E: Entity, F: ?Sized = Closure<'c, E>> {
    key: Key<E>,
    change: Change<'c, E, F>,
    /// What the kind's writers go by.
    standing: Standing,
    asks: Asks,
    /// The copies that it may have in unique indexes where copies may be missing, and others' may stand in their places.
    filling: Vec<Filling>,
    /// The entity as it was found.
    before: Option<Before<E>>,
    /// The entity while a closure or a patch turns it into what it is to be.
    given: Option<E>,
    /// Why it can't be read as what it is: its keys are lost, say.
    closed: Option<Error>,
    /// What the entity becomes, where that is made from what is stored.
    new: Option<E>,
    /// The copies that it is to hold of others.
    held: Vec<Holding>,
    /// Whether they are all made anew.
    holds_anew: bool,
    /// Set by the user's closure if nothing is to be written.
    called_off: Option<&'c AtomicBool>,
}

/// The place of a copy in an index that is being filled.
struct Filling {
    index: usize,
    key: String,
    /// What is there, once somebody has looked.
    found: Option<Found>,
    /// The table and the partition where it is, if that is not the entity's.
    elsewhere: Option<(&'static str, String)>,
    /// The keys of the entity whose copy it is, if it is another's.
    has: (String, String),
}

/// Which row an attempt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    /// The entity's own, next.
    Own,
    /// The entity's own, now.
    ForOwn,
    /// The copies in sparse indexes, from this one on: the user's function, which would say whether there is one, would
    /// have to see the entity itself.
    Copies(usize),
    /// The copy in this index, now.
    ForCopy(usize),
    /// What is in this one of the places that are being filled, now.
    ForFilling(usize),
    Nothing,
}

impl<'c, E: Entity> EntityAttempt<'c, E> {
    pub(in crate::typed) fn new(key: Key<E>, change: Change<'c, E>) -> Self {
        Self::of(key, change)
    }
}

impl<'c, E: Entity, F: ?Sized> EntityAttempt<'c, E, F> {
    /// With a closure of whatever kind.
    pub(in crate::typed) fn of(key: Key<E>, change: Change<'c, E, F>) -> Self {
        Self {
            key,
            change,
            standing: Standing::NEW,
            asks: Asks::Own,
            filling: Vec::new(),
            before: None,
            given: None,
            closed: None,
            new: None,
            held: Vec::new(),
            holds_anew: false,
            called_off: None,
        }
    }

    /// With all the copies that it holds of others made anew.
    pub(in crate::typed) fn holding_anew(mut self) -> Self {
        self.holds_anew = true;
        self
    }

    /// With a closure that sets this if nothing is to be written: the attempt fails then, before it is planned.
    pub(in crate::typed) fn unless(mut self, called_off: &'c AtomicBool) -> Self {
        self.called_off = Some(called_off);
        self
    }

    /// What was made of the entity.
    pub(in crate::typed) fn into_new(self) -> Option<E> {
        self.new
    }

    #[cold]
    fn place(&self, error: Error) -> Error {
        let error = error.attempted(self.change.words()).table(E::SCHEMA.table());
        let of_new;
        let key = match self.change {
            // Its key is printed with its rows, and not kept.
            Change::Insert(entity) => {
                of_new = Key::of(entity);
                &of_new
            }
            _ => &self.key,
        };
        match key.as_strs() {
            Ok((partition, row)) => error.partition(partition).row(row),
            Err(_) => error,
        }
    }

    /// Says of a value that can't be had what can be done without it.
    #[cold]
    fn needs_values(&self, error: Error) -> Error {
        let error = self.place(error);
        match self.change {
            Change::Merge(..) | Change::Set(..) | Change::Update(_) | Change::Move(_) => error.and(
                "; such a change needs the whole entity, whose values `put` and `replace` give anew, and `delete` can do \
                 without",
            ),
            _ => error,
        }
    }

    #[cold]
    fn refused(&self, kind: ErrorKind) -> Error {
        self.place(Error::new(kind))
    }

    /// Refuses a change that made it an entity of another key, unless it may.
    fn check_key(&self, values: &Values<'_>) -> Result<()> {
        let may_move = match self.change {
            Change::Update(_) => false,
            Change::Move(_) => true,
            _ => return Ok(()),
        };
        if let Some(old) = self.before.as_ref().and_then(Before::kept_values)
            && schema::has_same_key(E::SCHEMA, old, values)
        {
            return Ok(());
        }
        let keys = schema::own_keys(E::SCHEMA, values).map_err(|error| self.place(error))?;
        let (partition, row) = keys.as_strs();
        let (old_partition, old_row) = self.key.as_strs()?;
        if partition == old_partition && (may_move || row == old_row) {
            return Ok(());
        }
        let why = if partition == old_partition {
            "an update keeps its primary key, and `move_to` can change the row key"
        } else {
            "to change the partition, delete the entity and insert it in a `Store::transaction`"
        };
        let (partition, row) = (partition.escape_debug(), row.escape_debug());
        let because = format!("the change makes it partition `{partition}`, row `{row}`; {why}");
        Err(self.refused(ErrorKind::KeyChanged).because(because))
    }

    /// The entity as it will be read: times floored to the tick, fields that are not stored at their defaults. What
    /// could not be read again is refused before it is written.
    fn as_stored(&self, entity: E) -> Result<E> {
        let values = values_of(&entity).map_err(|error| self.place(error))?;
        self.check_key(&values)?;
        if E::EXACT {
            drop(values);
            return Ok(entity);
        }
        E::from_source(&mut Source::given(E::SCHEMA, &values)).map_err(|error| self.place(error))
    }

    /// What the entity is to be.
    fn new_entity(&self) -> Option<&E> {
        match &self.change {
            Change::Insert(entity) | Change::Put(entity) | Change::Replace(entity, _) => {
                // What it holds of others is theirs to say.
                if const { E::HELD.is_empty() } { Some(entity) } else { self.new.as_ref().or(Some(entity)) }
            }
            Change::Merge(..) | Change::Set(..) | Change::Update(_) | Change::Move(_) => self.new.as_ref(),
            Change::Fill(_) | Change::Refile | Change::Rewrite => {
                self.before.as_ref().and_then(Before::entity)
            }
            Change::Delete(_) => None,
            #[cfg(feature = "encrypt")]
            Change::Reseal => None,
        }
    }

    /// Takes the entity's own row.
    fn found_own(&mut self, view: &RowView<'_>, version: Version) -> Result<()> {
        if const { E::SCHEMA.is_wide() }
            && let Err(damaged) = wide::check_whole(view, E::SCHEMA)
        {
            // What needs none of its values goes on without the part.
            return if self.change.goes_unopened() && view.parts().is_some() {
                self.found_unopened(view, version)
            } else {
                Err(damaged)
            };
        }
        let read = match self.change {
            Change::Merge(..) | Change::Update(_) | Change::Move(_) => {
                Before::read_to_change(view, version).map(|(before, entity)| (before, Some(entity)))
            }
            // The properties would be set of what the row says, and not of what it becomes.
            Change::Set(..) if Before::<E>::is_former(view)? => Err(of_kin(view, E::SCHEMA)),
            Change::Set(changes, _) => Before::read(view, version).and_then(|before| {
                Ok((before, Some(E::from_source(&mut Source::merged(E::SCHEMA, view, changes)?)?)))
            }),
            Change::Insert(_)
            | Change::Put(_)
            | Change::Replace(..)
            | Change::Delete(_)
            | Change::Fill(_)
            | Change::Refile
            | Change::Rewrite => Before::read(view, version).map(|before| (before, None)),
            #[cfg(feature = "encrypt")]
            Change::Reseal => return self.found_unopened(view, version),
        };
        match read {
            Ok((before, given)) => {
                (self.before, self.given) = (Some(before), given);
                Ok(())
            }
            // It can't become what it would be now, and need not.
            Err(error) if self.change.goes_unopened() && Before::<E>::is_unconverted(view, &error)? => {
                self.before = Some(Before::unconverted(version));
                Ok(())
            }
            // Its keys are lost, or its values were tampered with: what doesn't need them goes on without.
            Err(error) if self.change.goes_unopened() && E::SCHEMA.seals() && is_closed(&error) => {
                self.found_unopened(view, version)
            }
            Err(error) if is_closed(&error) => {
                self.closed = Some(error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the entity's own row without opening sealed values. Its copies are asked for next.
    fn found_unopened(&mut self, view: &RowView<'_>, version: Version) -> Result<()> {
        let mut before = Before::read_unopened(view, version, self.change.reseals())?;
        if const { E::SCHEMA.is_wide() } {
            // Where the copies are whose keys a missing part knew, nobody can say.
            for index in wide::lost_indexes(view, E::SCHEMA) {
                before.lacks(index);
            }
        }
        self.before = Some(before);
        self.asks = Asks::Copies(0);
        Ok(())
    }

    /// The key of the next copy that is asked for.
    fn next_copy(&mut self, from: usize) -> Result<Option<Need>> {
        self.asks = Asks::Nothing;
        let Some(before) = &mut self.before else { return Ok(None) };
        let sparse = E::SCHEMA.indexes.iter().enumerate().skip(from).filter(|(_, index)| index.sparse);
        for (number, _) in sparse {
            let Some(key) = before.copy_key(number) else {
                before.lacks(number);
                continue;
            };
            self.asks = Asks::ForCopy(number);
            let (partition, _) = self.key.as_strs()?;
            let (table, keys) = match key {
                (None, key) => (None, KeyPair::of(partition, &key)),
                (Some((table, partition)), key) => (Some(table), KeyPair::of(&partition, &key)),
            };
            return Ok(Some(Need { table, keys, is_copy: true, head: None }));
        }
        Ok(None)
    }

    /// Notes where the entity's copies are in unique indexes that are being filled. One that is not there yet must not be
    /// taken for one that is, nor another's for its own.
    #[cold]
    fn ask_filling(&mut self, view: &RowView<'_>) -> Result<()> {
        let values = unopened::read::<E>(view)?;
        for (number, index) in E::SCHEMA.indexes.iter().enumerate() {
            if index.unique && self.standing.keeps(number) && self.standing.is_filling(number) {
                let elsewhere = if index.is_elsewhere() {
                    // An optional part may be absent: then the entity has no copy there.
                    let Some(partition) = values.keys(&index.place.partition).into_iter().next() else {
                        continue;
                    };
                    Some((index.place.table.source(), partition))
                } else {
                    None
                };
                let keys = values.keys(&index.place.row).into_iter();
                self.filling.extend(keys.map(|key| Filling {
                    index: number,
                    key,
                    elsewhere: elsewhere.clone(),
                    found: None,
                    has: Default::default(),
                }));
            }
        }
        Ok(())
    }

    /// The next place of a copy that nobody has looked into.
    fn next_filling(&mut self) -> Result<Option<Need>> {
        let next = self.filling.iter().enumerate().find(|(_, filling)| filling.found.is_none());
        let Some((at, filling)) = next else { return Ok(None) };
        self.asks = Asks::ForFilling(at);
        let (table, partition) = match &filling.elsewhere {
            Some((table, partition)) => (Some(*table), partition.as_str()),
            None => (None, self.key.as_strs()?.0),
        };
        Ok(Some(Need { table, keys: KeyPair::of(partition, &filling.key), is_copy: true, head: None }))
    }

    /// Takes what is in the place of a copy.
    fn found_filling(&mut self, at: usize, row: Option<(&RowView<'_>, Version)>) -> Result<()> {
        self.asks = Asks::Nothing;
        let own = self.key.as_strs()?;
        if let Some(filling) = self.filling.get_mut(at) {
            filling.found = Some(match row {
                None => Found::Missing,
                Some((view, version)) if unopened::is_copy(E::SCHEMA, filling.index, own, view) => {
                    Found::Mine(version)
                }
                Some((view, _)) => {
                    filling.has = unopened::source_of(E::SCHEMA, filling.index, view).unwrap_or_default();
                    Found::Others
                }
            });
        }
        Ok(())
    }

    /// The keys of a copy whose place is another entity's, and that entity's, in an index that is being filled.
    #[allow(clippy::type_complexity, reason = "two pairs of keys")]
    pub(in crate::typed) fn taken(&self) -> Option<((&str, &str), &(String, String))> {
        let taken = self.filling.iter().find(|filling| filling.found == Some(Found::Others))?;
        let partition = match &taken.elsewhere {
            Some((_, partition)) => partition,
            None => self.key.as_strs().ok()?.0,
        };
        Some(((partition, &taken.key), &taken.has))
    }

    /// What was found in the place of a copy.
    fn found_at(&self, index: usize, key: &str) -> Found {
        if !self.standing.is_filling(index) {
            return Found::Unread;
        }
        if E::SCHEMA.indexes.get(index).is_none_or(|index| !index.unique) {
            return Found::Filling;
        }
        let place = self.filling.iter().find(|filling| filling.index == index && filling.key == key);
        place.and_then(|filling| filling.found).unwrap_or(Found::Missing)
    }

    /// Takes the row under the key of a copy.
    fn found_copy(&mut self, index: usize, copy: Option<&RowView<'_>>) -> Result<()> {
        self.asks = Asks::Copies(index + 1);
        let own = self.key.as_strs()?;
        let is_there = copy.is_some_and(|copy| unopened::is_copy(E::SCHEMA, index, own, copy));
        if let (Some(before), false) = (&mut self.before, is_there) {
            before.lacks(index);
        }
        Ok(())
    }

    /// Lays out the values of the fields, sealed where they are to be stored so.
    fn lay_out<'p>(&'p self, seals: &dyn Seals, desk: &mut Desk<'p>) -> Result<()> {
        let before = self.before.as_ref();
        desk.old = before.map(Before::values).transpose()?;
        desk.new = self.new_entity().map(values_of).transpose()?;
        if const { E::SCHEMA.seals() } {
            if self.change.reseals() {
                desk.new = before.map(Before::values).transpose()?;
                return desk.new.as_mut().map_or(Ok(()), |new| sealing::reseal(E::SCHEMA, new, seals));
            }
            let kept = before.and_then(|before| desk.old.as_mut().zip(before.sealed.as_ref()));
            sealing::seal(E::SCHEMA, kept, desk.new.as_mut(), seals)?;
        }
        Ok(())
    }

    /// The rows that are there and those that are to be.
    fn print<'p>(&'p self, old: Option<&'p Values<'p>>, new: Option<&'p Values<'p>>) -> Result<Printed<'p>> {
        let schema = E::SCHEMA;
        let rows = match (&self.before, old) {
            (Some(before), Some(values)) => {
                let present = |index| before.has_row(index);
                let kept = |index| self.standing.keeps(index);
                let mut rows = EntityRows::stored(
                    (schema, before.of_parts.len()),
                    values,
                    self.key.as_strs()?,
                    &present,
                    &kept,
                )?;
                if self.standing.fills() {
                    rows.take_found(|index, key| self.found_at(index, key));
                }
                if const { E::SCHEMA.counts_some() } {
                    rows.take_counted(|index| before.counted(index));
                }
                Some(OldRows {
                    rows,
                    version: before.version,
                    is_exact: before.is_exact,
                    unknown: &before.unknown,
                    of_parts: &before.of_parts,
                })
            }
            _ => None,
        };
        // What is not new and does not move has the key that it is looked for by.
        let key = match self.change {
            Change::Insert(_) | Change::Move(_) | Change::Rewrite => None,
            _ => Some(self.key.as_strs()?),
        };
        let new = match (self.new_entity(), new) {
            (Some(entity), Some(values)) => {
                let before = rows.as_ref().map(|rows| &rows.rows).zip(old);
                let mut rows = EntityRows::of(schema, values, key, before, &|index| {
                    self.standing.keeps(index) && entity.has_row(index)
                })?;
                if const { E::SCHEMA.counts_some() } {
                    rows.take_counted(|index| entity.counted(index));
                }
                Some(rows)
            }
            (None, Some(values)) => self
                .before
                .as_ref()
                .map(|before| {
                    let present = |index| self.standing.keeps(index) && before.has_row(index);
                    EntityRows::of(schema, values, key, None, &present)
                })
                .transpose()?,
            _ => None,
        };
        let epoch = Epoch { kind: schema.kind, number: self.standing.epoch };
        let keeps_own = matches!(self.change, Change::Fill(_) | Change::Refile);
        let keeps_times = self.change.reseals() || matches!(self.change, Change::Rewrite);
        let standing = self.standing;
        Ok(Printed { schema, old: rows, new, keeps_times, keeps_own, epoch, standing })
    }
}

impl<E: Entity, F: FnMut(&mut E) + ?Sized> EntityAttempt<'_, E, F> {
    /// Makes of the entity stored what it is to be.
    fn change(&mut self, entity: &mut E) {
        match &mut self.change {
            Change::Merge(patch, _) => {
                // An earlier attempt has exchanged the patch's values: they are taken back first.
                if let Some(last) = &mut self.new {
                    E::exchange(last, patch);
                }
                E::exchange(entity, patch);
            }
            Change::Update(change) | Change::Move(change) => change(entity),
            // These bring their entity or its properties along, or none.
            Change::Insert(_)
            | Change::Put(_)
            | Change::Replace(..)
            | Change::Set(..)
            | Change::Delete(_)
            | Change::Fill(_)
            | Change::Refile
            | Change::Rewrite => {}
            #[cfg(feature = "encrypt")]
            Change::Reseal => {}
        }
    }
}

impl<E: Entity, F: FnMut(&mut E) + ?Sized> Attempt for EntityAttempt<'_, E, F> {
    fn schema(&self) -> Option<&'static Schema> {
        Some(E::SCHEMA)
    }

    fn writes_entity(&self) -> bool {
        !matches!(self.change, Change::Fill(_) | Change::Rewrite)
    }

    fn stand(&mut self, standing: Standing) {
        self.standing = match self.change {
            Change::Fill(index) => standing.of_index(index),
            Change::Refile => standing.refiling(),
            _ => standing,
        };
    }

    fn begin(&mut self) {
        self.asks = if self.change.reads() { Asks::Own } else { Asks::Nothing };
        self.filling.clear();
        (self.before, self.given, self.closed) = (None, None, None);
        if const { !E::HELD.is_empty() } {
            self.held.clear();
            if matches!(self.change, Change::Insert(_) | Change::Put(_) | Change::Replace(..)) {
                self.new = None;
            }
        }
    }

    fn partition(&self) -> Result<Option<&str>> {
        if !self.reads() {
            return Ok(None);
        }
        self.key.as_strs().map(|(partition, _)| Some(partition)).map_err(|error| self.place(error))
    }

    fn reads(&self) -> bool {
        self.change.reads()
    }

    fn need(&mut self) -> Result<Option<Need>> {
        match self.asks {
            Asks::Own => {
                let keys = self.key.lend().map_err(|error| self.place(error))?;
                self.asks = Asks::ForOwn;
                Ok(Some(Need {
                    table: None,
                    keys,
                    is_copy: false,
                    head: const { E::SCHEMA.is_wide() }.then_some(E::SCHEMA),
                }))
            }
            Asks::Copies(from) => match self.next_copy(from)? {
                None => self.next_filling(),
                need => Ok(need),
            },
            Asks::Nothing => self.next_filling(),
            Asks::ForOwn | Asks::ForCopy(_) | Asks::ForFilling(_) => Ok(None),
        }
    }

    fn found(&mut self, row: Option<(&RowView<'_>, Version)>) -> Result<()> {
        match self.asks {
            Asks::ForOwn => {
                self.asks = Asks::Nothing;
                let Some((view, version)) = row else { return Ok(()) };
                self.found_own(view, version)?;
                if self.standing.fills() { self.ask_filling(view) } else { Ok(()) }
            }
            Asks::ForFilling(at) => self.found_filling(at, row),
            Asks::ForCopy(index) => self.found_copy(index, row.map(|(view, _)| view)),
            Asks::Own | Asks::Copies(_) | Asks::Nothing => Ok(()),
        }
    }

    fn take_back(&mut self, need: Need) {
        if !need.is_copy {
            self.key.take_back(need.keys);
        }
    }

    fn make(&mut self) -> Result<()> {
        if let Change::Merge(patch, _) = &self.change {
            E::check_patch(patch).map_err(|error| self.place(error))?;
        }
        if let Some(error) = self.closed.take() {
            return Err(self.needs_values(error));
        }
        match (self.change.condition(), &self.before) {
            (Some(_), None) => return Err(self.refused(ErrorKind::EntityNotFound)),
            (Some(IfMatch::ETag(etag)), Some(before)) if etag != before.version.etag => {
                return Err(self.refused(ErrorKind::ConditionNotMet));
            }
            _ => {}
        }
        if let Some(mut entity) = self.given.take() {
            self.change(&mut entity);
            if self.called_off.is_some_and(|called_off| called_off.load(Ordering::Relaxed)) {
                return Err(self.refused(ErrorKind::ConditionNotMet));
            }
            self.new = Some(self.as_stored(entity)?);
        }
        Ok(())
    }

    fn image(&self) -> Result<Option<Image>> {
        let stays = matches!(self.change, Change::Fill(_) | Change::Refile | Change::Rewrite);
        if const { E::HELD.is_empty() && E::HOLDERS.is_empty() } || stays || self.change.reseals() {
            return Ok(None);
        }
        let old = |before: &Before<E>| {
            let (partition, row) = self.key.as_strs()?;
            Ok::<_, Error>((KeyPair::of(partition, row), before.values()?.into_owned()))
        };
        let new = |entity: &E| {
            let values = values_of(entity)?.into_owned();
            Ok::<_, Error>((schema::own_keys(E::SCHEMA, &values)?, values))
        };
        let before = self.before.as_ref().map(old).transpose().map_err(|error| self.place(error))?;
        let after = self.new_entity().map(new).transpose().map_err(|error| self.place(error))?;
        Ok(Some(Image { schema: E::SCHEMA, before, after, holders: E::HOLDERS }))
    }

    fn hold(&mut self, sources: &dyn Sources) -> Result<()> {
        if const { E::HELD.is_empty() } {
            return Ok(());
        }
        let Some(entity) = self.new_entity() else { return Ok(()) };
        let values = values_of(entity).map_err(|error| self.place(error))?;
        let before = self.before.as_ref().map(Before::values).transpose()?;
        let found = hold::hold((E::SCHEMA, E::HELD), before.as_ref(), &values, sources, self.holds_anew);
        let held = found.map_err(|error| self.place(error))?;
        let mut values = values.into_owned();
        Holding::put(&held, &mut values);
        let made = E::from_source(&mut Source::given(E::SCHEMA, &values));
        let new = made.map_err(|error| self.place(error))?;
        (self.new, self.held) = (Some(new), held);
        Ok(())
    }

    fn plan<'p>(
        &'p self,
        number: usize,
        seals: &dyn Seals,
        desk: &'p mut Desk<'p>,
        draft: &mut Draft<'p>,
    ) -> Result<()> {
        self.lay_out(seals, desk).map_err(|error| self.place(error))?;
        let Desk { old, new, printed, moved } = desk;
        let mut rows = self.print(old.as_ref(), new.as_ref()).map_err(|error| self.place(error))?;
        if matches!(self.change, Change::Rewrite)
            && let Some((new, before)) = rows.take_if_moved().zip(self.before.as_ref())
        {
            let moved = moved.insert(rows.with_new(new, &before.unknown));
            draft.add(number, moved);
        }
        draft.add(number, printed.insert(rows));
        if const { !E::HELD.is_empty() } {
            Holding::plan(&self.held, number, draft);
        }
        Ok(())
    }

    fn takes_what_it_finds(&self) -> bool {
        matches!(self.change, Change::Put(_))
    }
}
