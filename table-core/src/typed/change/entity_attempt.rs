//! The attempt at a change of one entity.

use std::sync::atomic::{AtomicBool, Ordering};

use super::attempt::{Attempt, Desk, Image, Need, Sources};
use super::before::{Before, is_closed};
use super::hold::{self, Holding};
use super::search::{self, Asks, OfIndex, Rows, Search};
use super::{Change, Closure, values_of};
use crate::error::{Error, ErrorKind, Result};
use crate::model::IfMatch;
use crate::plan::{Draft, Printed, Seals, Values, Version};
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
    search: Search,
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
            search: Search::new(E::SCHEMA),
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
    pub(in crate::typed) fn take_new(&mut self) -> Option<E> {
        self.new.take()
    }

    #[cold]
    fn place(&self, error: Error) -> Error {
        let of_new;
        let key = match self.change {
            // Its key is printed with its rows, and not kept.
            Change::Insert(entity) => {
                of_new = Key::of(entity);
                &of_new
            }
            _ => &self.key,
        };
        placed(error, self.change.words(), E::SCHEMA, key.as_strs().ok())
    }

    /// Says of a value that can't be had what can be done without it.
    #[cold]
    fn needs_values(&self, error: Error) -> Error {
        let error = self.place(error);
        match self.change {
            Change::Merge(..) | Change::Set(..) | Change::Update(_) | Change::Add(_) | Change::Move(_) => error.and(
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
        let checked = search::check_key(E::SCHEMA, self.key.as_strs()?, values, may_move);
        checked.map_err(|error| self.place(error))
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
            Change::Merge(..) | Change::Set(..) | Change::Update(_) | Change::Add(_) | Change::Move(_) => {
                self.new.as_ref()
            }
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
            Change::Merge(..) | Change::Update(_) | Change::Add(_) | Change::Move(_) => {
                Before::read_to_change(view, version).map(|(before, entity)| (before, Some(entity)))
            }
            // The properties would be set of what the row says, and not of what it becomes.
            Change::Set(..) if const { E::SCHEMA.former.is_some() } && Before::<E>::is_former(view)? => {
                Err(of_kin(view, E::SCHEMA))
            }
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
            Err(error)
                if const { E::SCHEMA.former.is_some() }
                    && self.change.goes_unopened()
                    && Before::<E>::is_unconverted(view, &error)? =>
            {
                self.before = Some(Before::unconverted(version));
                Ok(())
            }
            // Its keys are lost, or its values were tampered with: what doesn't need them goes on without.
            Err(error) if const { E::SCHEMA.seals() } && self.change.goes_unopened() && is_closed(&error) => {
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
        self.search.asks = Asks::Copies(0);
        Ok(())
    }

    /// The keys of a copy whose place is another entity's, and that entity's, in an index that is being filled.
    #[allow(clippy::type_complexity, reason = "two pairs of keys")]
    pub(in crate::typed) fn taken(&self) -> Option<((&str, &str), &(String, String))> {
        self.search.taken(self.key.as_strs())
    }

    /// The values of the entity as it was, if they are kept apart and are what is stored: then they need not be laid out.
    fn kept_values(&self) -> Option<&Values<'static>> {
        if const { E::SCHEMA.seals() } { None } else { self.before.as_ref()?.kept_values() }
    }

    /// Lays out the values of the fields, sealed where they are to be stored so.
    fn lay_out<'p>(&'p self, seals: &dyn Seals, desk: &mut Desk<'p>) -> Result<()> {
        let before = self.before.as_ref();
        if self.kept_values().is_none() {
            desk.old = before.map(Before::values).transpose()?;
        }
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
        let (before, entity) = (self.before.as_ref(), self.new_entity());
        let had = |index| before.is_some_and(|before| before.has_row(index));
        let has = |index| entity.map_or_else(|| had(index), |entity| entity.has_row(index));
        let counted = |index| before.map_or(0, |before| before.counted(index));
        let counts = |index| entity.map_or(0, |entity| entity.counted(index));
        let summed: [OfIndex<'_, u64>; 2] = [&counted, &counts];
        self.search.print(Rows {
            old: before.map(|before| &**before).zip(old),
            new: new.filter(|_| entity.is_some() || before.is_some()),
            key: self.key.as_strs(),
            moves: matches!(self.change, Change::Insert(_) | Change::Move(_) | Change::Rewrite),
            had: &had,
            has: &has,
            counted: if const { E::SCHEMA.counts_some() } { Some(summed) } else { None },
            keeps_times: self.change.reseals() || matches!(self.change, Change::Rewrite),
            keeps_own: matches!(self.change, Change::Fill(_) | Change::Refile),
            is_entity: entity.is_some(),
        })
    }
}

impl<E: Entity, F: FnMut(&mut E) + ?Sized> EntityAttempt<'_, E, F> {
    /// Makes of the entity stored what it is to be; refuses a sum that its slot can't hold.
    fn change(&mut self, entity: &mut E) -> Result<()> {
        match &mut self.change {
            Change::Merge(patch, _) => {
                // An earlier attempt has exchanged the patch's values: they are taken back first.
                if let Some(last) = &mut self.new {
                    E::exchange(last, patch);
                }
                E::exchange(entity, patch);
            }
            Change::Update(change) | Change::Move(change) => change(entity),
            Change::Add(additions) => return additions.apply(entity),
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
        Ok(())
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
        self.search.standing = match self.change {
            Change::Fill(index) => standing.of_index(index),
            Change::Refile => standing.refiling(),
            _ => standing,
        };
    }

    fn begin(&mut self) {
        self.search.begin(self.change.reads());
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
        if self.search.asks == Asks::Own {
            let keys = self.key.lend().map_err(|error| self.place(error))?;
            self.search.asks = Asks::ForOwn;
            let head = const { if E::SCHEMA.is_wide() { Some(E::SCHEMA) } else { None } };
            return Ok(Some(Need { table: None, keys, is_copy: false, head }));
        }
        let kept = self.before.as_deref_mut();
        Ok(self.search.next(kept, self.key.as_strs()?))
    }

    fn found(&mut self, row: Option<(&RowView<'_>, Version)>) -> Result<()> {
        match self.search.asks {
            Asks::ForOwn => {
                self.search.asks = Asks::Nothing;
                let Some((view, version)) = row else { return Ok(()) };
                self.found_own(view, version)?;
                if self.search.standing.fills() {
                    self.search.ask_filling(&unopened::read::<E>(view)?);
                }
            }
            Asks::ForFilling(at) => self.search.found_filling(at, self.key.as_strs()?, row),
            Asks::ForCopy(index) => {
                let kept = self.before.as_deref_mut();
                self.search.found_copy(index, kept, self.key.as_strs()?, row.map(|(view, _)| view));
            }
            Asks::Own | Asks::Copies(_) | Asks::Nothing => {}
        }
        Ok(())
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
        if let Change::Add(additions) = &self.change {
            additions.check().map_err(|error| self.place(error))?;
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
            self.change(&mut entity).map_err(|error| self.place(error))?;
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

    fn holds_already(&self) -> bool {
        let before = self.before.as_ref().map(Before::values);
        matches!(before, Some(Ok(before)) if self.held.iter().all(|held| held.is_in(&before)))
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
        let old = old.as_ref().or_else(|| self.kept_values());
        let mut rows = self.print(old, new.as_ref()).map_err(|error| self.place(error))?;
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

/// An error with what was attempted, and where.
#[cold]
fn placed(error: Error, words: &'static str, schema: &Schema, keys: Option<(&str, &str)>) -> Error {
    let error = error.attempted(words).table(schema.table());
    match keys {
        Some((partition, row)) => error.partition(partition).row(row),
        None => error,
    }
}
