//! Random operations, each carried out and foretold.

use std::collections::BTreeMap;

use integration_tests::random::Random;
use table_core::typed::Egt;
use table_core::{DynamicEntity, ETag, IfMatch, Query, Result, Store, Stored, Table, Tables, Value};

use super::model::{Implied, Kept, Model, Operation, Refusal, place};
use super::shape::Shape;

/// Steps from one full scan to the next.
const SCAN: u64 = 8;

/// Properties that no struct knows.
const UNKNOWN: [&str; 3] = ["Note", "zeta", "A_1"];

/// A table and what it must hold.
pub(super) struct Run<E: Shape> {
    store: Tables,
    table: Table<E>,
    model: Model<E>,
    random: Random,
    number: u64,
    /// A version that some entity once had.
    stale: Option<ETag>,
    /// Every row, if it has been looked at since the last change.
    seen: Option<Digest>,
    /// What sealed bytes were opened as.
    opened: BTreeMap<Property, (Vec<u8>, Value)>,
    counts: BTreeMap<String, u64>,
}

/// Every row, with its version.
type Digest = Vec<(DynamicEntity, Option<ETag>)>;

/// The sealed bytes of each property of each entity.
type Sealed = BTreeMap<Property, Vec<u8>>;

/// A property of the entity whose own row has these keys.
type Property = (String, String, &'static str);

impl<E: Shape> Run<E> {
    pub(super) fn new(store: &Tables, seed: u64) -> Self {
        let model = Model(BTreeMap::new());
        let (table, random) = (store.table().unwrap(), Random::new(seed));
        let (opened, counts) = (BTreeMap::new(), BTreeMap::new());
        let store = store.clone();
        Self { store, table, model, random, number: 0, stale: None, seen: None, opened, counts }
    }

    /// How often each thing happened.
    pub(super) fn counts(&self) -> String {
        self.counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn step(&mut self) {
        self.number += 1;
        match self.random.below(20) {
            0 => {
                // What a change leaves alone stays under the key that it had, in the entity and in its copies.
                if !E::SEALED.is_empty() && self.random.below(20) == 0 {
                    let store = Store::of(&self.store).expect("what seals is on LMDB");
                    let encryption = store.encryption().unwrap();
                    // A store takes 256 of them.
                    if encryption.keys().unwrap().len() > 100 {
                        encryption.destroy_unused().unwrap();
                    }
                    encryption.rotate_all().unwrap();
                }
                self.annotate();
            }
            1..8 => {
                let operations = self.batch();
                let partition = operations[0].named().partition_key();
                self.carry_out(&operations, Some(&partition));
            }
            _ => {
                let at = self.any();
                let operation = self.operation(&at, false);
                self.carry_out(&[operation], None);
            }
        }
        if self.number.is_multiple_of(SCAN) {
            self.check();
        }
    }

    /// Every row of the table is one that the entities imply, and no other is there.
    pub(super) fn check(&mut self) {
        let mut expected = self.model.implied();
        let rows = self.seen.take().unwrap_or_else(|| self.digest());
        let mut sealed = Sealed::new();
        for (row, etag) in &rows {
            let key = (row.partition_key().to_owned(), row.row_key().to_owned());
            let implied =
                expected.remove(&key).unwrap_or_else(|| panic!("step {}: {row:?} is too much", self.number));
            let opened = self.opened(row, &implied.own, &mut sealed);
            let opened = without_unknown(opened, &implied);
            assert_eq!(opened, implied.row, "step {}", self.number);
            assert!(implied.etag.is_none() || implied.etag == *etag, "step {}: {key:?}", self.number);
        }
        assert!(expected.is_empty(), "step {}: missing: {expected:#?}", self.number);
        self.seen = Some(rows);
        let entities: Vec<_> = self.model.0.values().map(|kept| &kept.entity).collect();
        E::find(&self.table, &entities, &mut self.random);
        if let Some(kept) = self.existing(None) {
            let read = self.table.get(kept.entity.key()).unwrap().unwrap();
            assert_eq!((Some(Stored::etag(&read)), &*read), (kept.etag, &kept.entity));
        }
    }

    /// The row with its sealed properties opened; all rows of an entity must have the same bytes.
    fn opened(&mut self, row: &DynamicEntity, own: &str, sealed: &mut Sealed) -> DynamicEntity {
        let mut opened = row.clone();
        for property in E::SEALED {
            let Some(value) = row.get(property) else { continue };
            let context = || format!("step {}: {property} of {row:?}", self.number);
            let bytes = value.as_bytes().unwrap_or_else(|| panic!("{} is not sealed", context()));
            let of_entity = (row.partition_key().to_owned(), own.to_owned(), *property);
            let first = sealed.entry(of_entity.clone()).or_insert_with(|| bytes.to_vec());
            assert_eq!(first, bytes, "{}", context());
            // The same bytes in the same place are the same value: most have been opened before.
            let known = self.opened.get(&of_entity).filter(|(known, _)| known == bytes);
            let value = known.map_or_else(
                || {
                    let cell = self.table.dynamic().cell(row.partition_key(), own, property).unwrap();
                    let store = Store::of(&self.store).expect("what seals is on LMDB");
                    let value = store.encryption().unwrap().open(&cell, bytes);
                    value.unwrap_or_else(|error| panic!("{}: {error}", context()))
                },
                |(_, value)| value.clone(),
            );
            opened.set(property, value.clone());
            self.opened.insert(of_entity, (bytes.to_vec(), value));
        }
        opened
    }

    fn digest(&self) -> Digest {
        let rows = self.table.dynamic().query(&Query::new()).unwrap().map(Result::unwrap);
        rows.map(|row| (row.etag(), row)).map(|(etag, row)| (row, etag)).collect()
    }

    /// Carries out what the model has an answer to, and compares.
    fn carry_out(&mut self, operations: &[Operation<E>], batch: Option<&str>) {
        let expected = self.model.after(operations, batch);
        if expected.is_err() && self.seen.is_none() {
            self.seen = Some(self.digest());
        }
        let done = match (operations, batch) {
            ([operation], None) => self.alone(operation).map(|etag| vec![etag]),
            _ => self.together(operations),
        };
        let done: Result<Vec<ETag>, Refusal> = done.map_err(|error| (error.kind(), error.index()));
        let word = if batch.is_some() { "batch" } else { words(&operations[0]) };
        let outcome = done.as_ref().map_or_else(|(kind, _)| format!("{kind:?}"), |_| "done".to_owned());
        *self.counts.entry(format!("{word} {outcome}")).or_default() += 1;
        let context = || format!("step {}: {operations:#?}\non {:#?}", self.number, self.model.0);
        match (expected, done) {
            (Ok(mut after), Ok(etags)) => {
                for (operation, etag) in operations.iter().zip(&etags) {
                    if let Some(entity) = operation.written() {
                        after.0.get_mut(&place(entity)).unwrap().etag = Some(*etag);
                    }
                }
                self.stale = self.stale.or(etags.first().copied());
                self.model = after;
                self.seen = None;
            }
            (Err(expected), Err(refusal)) => {
                assert_eq!(refusal, expected, "{}", context());
                assert_eq!(Some(self.digest()), self.seen, "{}", context());
            }
            (expected, done) => panic!("{done:?} instead of {:?}, {}", expected.map(drop), context()),
        }
    }

    /// An operation by the table's own methods. The version is made up for a delete, which gives none.
    fn alone(&self, operation: &Operation<E>) -> Result<ETag> {
        let table = &self.table;
        let stored = |stored: Stored<E>, expected: &E| {
            assert_eq!(stored, *expected);
            Stored::etag(&stored)
        };
        let old = |entity: &E| self.model.0.get(&place(entity)).map(|kept| &kept.entity);
        match operation {
            Operation::Insert(entity) => table.insert(entity),
            Operation::Put(entity) => table.put(entity),
            Operation::Replace(entity, condition) => table.replace(entity, *condition),
            Operation::Merge(at, from, mask, condition) => {
                let done = table.merge(at.key(), E::patch(from, *mask), *condition)?;
                let mut expected = old(at).unwrap().clone();
                expected.set(from, *mask);
                Ok(stored(done, &expected))
            }
            Operation::Update(at, to) => {
                let done = table.update(at.key(), |entity| change(entity, old(at), to))?;
                Ok(stored(done, to))
            }
            Operation::Move(at, to) => {
                let done = table.move_to(at.key(), |entity| change(entity, old(at), to))?;
                Ok(stored(done, to))
            }
            Operation::Delete(at, condition) => {
                table.delete_if(at.key(), *condition).map(|()| ETag::from_timestamp(table_core::Ticks::MIN))
            }
        }
    }

    /// The operations in one transaction, with the version that each gives.
    fn together(&self, operations: &[Operation<E>]) -> Result<Vec<ETag>> {
        let egt =
            operations.iter().fold(self.table.egt(operations[0].named().partition()), |egt, operation| {
                self.with(egt, operation)
            });
        assert_eq!(egt.len(), operations.len());
        egt.commit()
            .map(|committed| (0..operations.len()).map(|operation| committed.etag(operation)).collect())
    }

    fn with<'c>(&'c self, egt: Egt<'c, E>, operation: &'c Operation<E>) -> Egt<'c, E> {
        let old = |entity: &E| self.model.0.get(&place(entity)).map(|kept| &kept.entity);
        match operation {
            Operation::Insert(entity) => egt.insert(entity),
            Operation::Put(entity) => egt.put(entity),
            Operation::Replace(entity, condition) => egt.replace(entity, *condition),
            Operation::Merge(at, from, mask, condition) => {
                egt.merge(at.key(), E::patch(from, *mask), *condition)
            }
            Operation::Update(at, to) => {
                let old = old(at);
                egt.update(at.key(), move |entity| change(entity, old, to))
            }
            Operation::Move(at, to) => {
                let old = old(at);
                egt.move_to(at.key(), move |entity| change(entity, old, to))
            }
            Operation::Delete(at, condition) => egt.delete_if(at.key(), *condition),
        }
    }

    /// Gives an entity's row properties that its struct doesn't know: every typed write must carry them on.
    fn annotate(&mut self) {
        let Some(Kept { entity, .. }) = self.existing(None) else { return };
        let (at, random) = (place(&entity), &mut self.random);
        let name = UNKNOWN[random.below(3) as usize];
        let value: Value = match random.below(3) {
            0 => (random.below(100) as i64).into(),
            1 => "note".into(),
            _ => vec![1_u8, 2].into(),
        };
        let note = DynamicEntity::new(&at.0, &at.1).with(name, value.clone());
        let etag = self.table.dynamic().raw().merge(&note, IfMatch::Any).unwrap();
        let kept = self.model.0.get_mut(&at).unwrap();
        kept.unknown.insert(name, value);
        kept.etag = Some(etag);
        self.seen = None;
    }

    /// An entity that is there, in this one's partition or any.
    fn existing(&mut self, beside: Option<&E>) -> Option<Kept<E>> {
        let partition = beside.map(E::partition_key);
        let there: Vec<_> = self
            .model
            .0
            .iter()
            .filter(|((other, _), _)| partition.as_ref().is_none_or(|partition| other == partition))
            .map(|(_, kept)| kept)
            .collect();
        let count = there.len() as u64;
        (count > 0).then(|| there[self.random.below(count) as usize].clone())
    }

    /// An entity, mostly one that is there.
    fn any(&mut self) -> E {
        let new = E::random(&mut self.random);
        match self.existing(None) {
            Some(kept) if self.random.below(4) > 0 => kept.entity,
            _ => new,
        }
    }

    /// An entity, mostly one that is there, in the partition of this one.
    fn beside(&mut self, other: &E) -> E {
        let mut new = E::random(&mut self.random);
        new.set_partition(other);
        match self.existing(Some(other)) {
            Some(kept) if self.random.below(3) > 0 => kept.entity,
            _ => new,
        }
    }

    fn condition(&mut self, at: &E) -> IfMatch {
        let current = self.model.0.get(&place(at)).and_then(|kept| kept.etag);
        match (self.random.below(12), current, self.stale) {
            (0..3, Some(etag), _) | (3, _, Some(etag)) => etag.into(),
            _ => IfMatch::Any,
        }
    }

    /// The entity with some of its fields changed, and now and then with another's unique values.
    fn changed(&mut self, at: &E) -> E {
        let mut changed = self.model.0.get(&place(at)).map_or_else(|| at.clone(), |kept| kept.entity.clone());
        let from = E::random(&mut self.random);
        let mask = self.mask();
        changed.set(&from, mask);
        if self.random.below(6) == 0 {
            let other = self.beside(at);
            changed.set_unique(&other);
        }
        changed
    }

    fn mask(&mut self) -> u64 {
        // Few fields, mostly; now and then all or none.
        match self.random.below(8) {
            0 => 0,
            1 => u64::MAX,
            2..5 => 1 << self.random.below(16),
            _ => self.random.number() & self.random.number(),
        }
    }

    /// An operation on this entity; it stays where it is, or within its partition, if `is_tame`.
    fn operation(&mut self, at: &E, is_tame: bool) -> Operation<E> {
        match self.random.below(14) {
            0 | 1 => {
                let mut new = E::random(&mut self.random);
                new.set_partition(at);
                if self.random.below(4) == 0 {
                    new.set_row(at);
                }
                Operation::Insert(new)
            }
            2 | 3 => Operation::Put(self.changed(at)),
            4 => {
                let new = self.changed(at);
                let condition = self.condition(at);
                Operation::Replace(new, condition)
            }
            5..8 => {
                let from = E::random(&mut self.random);
                let (mask, condition) = (self.mask(), self.condition(at));
                Operation::Merge(at.clone(), from, mask, condition)
            }
            8 | 9 => {
                let mut to = self.changed(at);
                if !is_tame && self.random.below(10) == 0 {
                    to.set_row(&E::random(&mut self.random));
                }
                Operation::Update(at.clone(), to)
            }
            10 | 11 => {
                let mut to = self.changed(at);
                let other = self.beside(at);
                to.set_row(&other);
                if !is_tame && self.random.below(10) == 0 {
                    to.set_partition(&E::random(&mut self.random));
                }
                Operation::Move(at.clone(), to)
            }
            _ => {
                let condition = self.condition(at);
                Operation::Delete(at.clone(), condition)
            }
        }
    }

    /// Operations on several entities, mostly such as can succeed together.
    fn batch(&mut self) -> Vec<Operation<E>> {
        let first = self.any();
        let mut operations = match self.random.below(10) {
            0 => self.swap(&first),
            1 => self.moves(&first),
            2 => self.takeover(&first),
            _ => Vec::new(),
        };
        let most = if self.random.below(4) == 0 { 20 } else { 4 };
        for _ in 0..self.random.below(most) {
            let mut at = self.beside(&first);
            // Mostly one operation on each.
            if operations.iter().any(|o| o.place() == place(&at)) && self.random.below(16) > 0 {
                continue;
            }
            if self.random.below(100) == 0 {
                at.set_partition(&E::random(&mut self.random));
            }
            let is_tame = self.random.below(16) > 0;
            operations.push(self.operation(&at, is_tame));
        }
        if operations.is_empty() {
            operations.push(self.operation(&first, true));
        }
        operations
    }

    /// Two entities exchange what is unique.
    fn swap(&mut self, beside: &E) -> Vec<Operation<E>> {
        let (Some(one), Some(other)) = (self.existing(Some(beside)), self.existing(Some(beside))) else {
            return Vec::new();
        };
        let (one, other) = (one.entity, other.entity);
        let (mut to_one, mut to_other) = (one.clone(), other.clone());
        to_one.set_unique(&other);
        // Now and then one stays as it is: then both want the same.
        if self.random.below(4) > 0 {
            to_other.set_unique(&one);
        }
        let mut swap = vec![Operation::Update(one, to_one), Operation::Update(other, to_other)];
        if self.random.below(2) == 0 {
            swap.reverse();
        }
        swap
    }

    /// Each of several entities takes the next one's place; the last a new one, or the first one's.
    fn moves(&mut self, beside: &E) -> Vec<Operation<E>> {
        let partition = beside.partition_key();
        let mut there: Vec<E> = self
            .model
            .0
            .iter()
            .filter(|((other, _), _)| *other == partition)
            .map(|(_, kept)| kept.entity.clone())
            .collect();
        while there.len() as u64 > 2 + self.random.below(4) {
            let at = self.random.below(there.len() as u64) as usize;
            there.swap_remove(at);
        }
        let mut next: Vec<E> = there.iter().skip(1).cloned().collect();
        let last = E::random(&mut self.random);
        match self.random.below(4) {
            0 => next.push(last),
            _ => next.extend(there.first().cloned()),
        }
        let mut moves: Vec<_> = there
            .iter()
            .zip(&next)
            .map(|(from, next)| {
                let mut to = from.clone();
                to.set_row(next);
                Operation::Move(from.clone(), to)
            })
            .collect();
        if self.random.below(2) == 0 {
            moves.reverse();
        }
        moves
    }

    /// An entity goes, and another gets what was unique to it.
    fn takeover(&mut self, beside: &E) -> Vec<Operation<E>> {
        let Some(gone) = self.existing(Some(beside)) else { return Vec::new() };
        let mut heir = self.beside(beside);
        heir.set_unique(&gone.entity);
        let heir = if self.random.below(2) == 0 { Operation::Put(heir) } else { Operation::Insert(heir) };
        let mut operations = vec![Operation::Delete(gone.entity, IfMatch::Any), heir];
        if self.random.below(2) == 0 {
            operations.reverse();
        }
        operations
    }
}

/// What an update does; it must be given what is stored.
fn change<E: Shape>(entity: &mut E, old: Option<&E>, to: &E) {
    assert_eq!(Some(&*entity), old);
    entity.clone_from(to);
}

fn words<E>(operation: &Operation<E>) -> &'static str {
    match operation {
        Operation::Insert(_) => "insert",
        Operation::Put(_) => "put",
        Operation::Replace(..) => "replace",
        Operation::Merge(..) => "merge",
        Operation::Update(..) => "update",
        Operation::Move(..) => "move",
        Operation::Delete(..) => "delete",
    }
}

/// A copy without what the struct doesn't know: a copy that was written since the entity's row has such a property carries it,
/// as it was then.
fn without_unknown(row: DynamicEntity, implied: &Implied) -> DynamicEntity {
    if row.row_key() == implied.own {
        return row;
    }
    let mut known = DynamicEntity::new(row.partition_key(), row.row_key());
    for (name, value) in row.properties() {
        if UNKNOWN.contains(&name) {
            assert!(implied.unknown.contains(&name), "{name} is of no entity: {row:?}");
        } else {
            known.set(name, value.clone());
        }
    }
    known
}
