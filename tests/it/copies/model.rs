//! Which entities there are, and what an operation must do to them.

use std::collections::{BTreeMap, BTreeSet};

use table_core::{DynamicEntity, ETag, ErrorKind, IfMatch, Value, limits};

use super::shape::{Row, Shape};

/// An operation on one entity.
#[derive(Clone, Debug)]
pub(super) enum Operation<E> {
    Insert(E),
    Put(E),
    Replace(E, IfMatch),
    /// Of the entity with the first one's key, the fields of the second that the mask names.
    Merge(E, E, u64, IfMatch),
    /// The entity with the first one's key becomes the second.
    Update(E, E),
    /// So too, its row key as well.
    Move(E, E),
    Delete(E, IfMatch),
}

/// What an operation says no by: the kind, and in a batch which one it was.
pub(super) type Refusal = (ErrorKind, Option<usize>);

/// An entity in the store.
#[derive(Clone, Debug)]
pub(super) struct Kept<E> {
    pub(super) entity: E,
    pub(super) etag: Option<ETag>,
    /// Properties of its row that the struct doesn't know.
    pub(super) unknown: BTreeMap<&'static str, Value>,
}

pub(super) type Place = (String, String);

/// A row that must be there.
#[derive(Debug)]
pub(super) struct Implied {
    pub(super) row: DynamicEntity,
    /// The version, of an entity's own row.
    pub(super) etag: Option<ETag>,
    /// The row key of the entity's own row.
    pub(super) own: String,
    /// What the entity's row has that its struct doesn't know.
    pub(super) unknown: Vec<&'static str>,
}

/// The entities by their keys.
#[derive(Clone, Debug)]
pub(super) struct Model<E>(pub(super) BTreeMap<Place, Kept<E>>);

/// What a batch does to one entity.
struct Effect<E> {
    operation: usize,
    old: Option<Place>,
    new: Option<E>,
}

pub(super) fn place<E: Shape>(entity: &E) -> Place {
    (entity.partition_key(), entity.row_key())
}

impl<E: Shape> Operation<E> {
    /// The entity whose key the operation names.
    pub(super) fn named(&self) -> &E {
        match self {
            Self::Insert(entity)
            | Self::Put(entity)
            | Self::Replace(entity, _)
            | Self::Merge(entity, ..)
            | Self::Update(entity, _)
            | Self::Move(entity, _)
            | Self::Delete(entity, _) => entity,
        }
    }

    /// The entity under whose key the operation leaves a row; a delete leaves none.
    pub(super) fn written(&self) -> Option<&E> {
        match self {
            Self::Move(_, to) => Some(to),
            Self::Delete(..) => None,
            _ => Some(self.named()),
        }
    }

    /// The key that the operation names.
    pub(super) fn place(&self) -> Place {
        place(self.named())
    }

    fn condition(&self) -> Option<IfMatch> {
        match self {
            Self::Insert(_) | Self::Put(_) => None,
            Self::Replace(_, condition) | Self::Merge(.., condition) | Self::Delete(_, condition) => {
                Some(*condition)
            }
            Self::Update(..) | Self::Move(..) => Some(IfMatch::Any),
        }
    }
}

impl<E: Shape> Model<E> {
    /// What is there after the operations, or which of them is refused and how. `batch` is the partition of a batch.
    ///
    /// The entities written have no ETag yet.
    pub(super) fn after(&self, operations: &[Operation<E>], batch: Option<&str>) -> Result<Self, Refusal> {
        let numbered = |index: usize| batch.map(|_| index);
        let is_elsewhere = |operation: &Operation<E>| batch.is_some_and(|batch| operation.place().0 != batch);
        let reads = |operation: &Operation<E>| !matches!(operation, Operation::Insert(_));
        for (index, operation) in operations.iter().enumerate() {
            if reads(operation) && is_elsewhere(operation) {
                return Err((ErrorKind::DifferentPartitions, numbered(index)));
            }
        }
        let mut effects = Vec::new();
        for (operation, what) in operations.iter().enumerate() {
            let (old, new) = self.effect(what).map_err(|kind| {
                // Where another one is of the same entity, that is what is wrong.
                let is_same = |(at, other): &(usize, &Operation<E>)| {
                    kind == ErrorKind::EntityNotFound && *at != operation && other.place() == what.place()
                };
                let other = operations.iter().enumerate().find(is_same);
                other.map_or((kind, numbered(operation)), |(at, _)| {
                    (ErrorKind::DuplicateRow, numbered(operation.max(at)))
                })
            })?;
            effects.push(Effect { operation, old, new });
        }
        let mut rows = Vec::new();
        for effect in &effects {
            let new = effect.new.as_ref().map(E::rows).transpose();
            rows.push(new.map_err(|kind| (kind, numbered(effect.operation)))?.unwrap_or_default());
        }
        for (index, operation) in operations.iter().enumerate() {
            if is_elsewhere(operation) {
                return Err((ErrorKind::DifferentPartitions, numbered(index)));
            }
        }
        let mut seen = BTreeSet::new();
        for (index, operation) in operations.iter().enumerate() {
            if !seen.insert(operation.place()) {
                return Err((ErrorKind::DuplicateRow, numbered(index)));
            }
        }
        if let Some((kind, index)) = wanted_twice(&rows) {
            return Err((kind, numbered(index)));
        }
        if self.touched(&effects, &rows) > limits::BATCH_OPERATIONS {
            return Err((ErrorKind::BatchLength, None));
        }
        let mut after = self.clone();
        let mut unknown = Vec::new();
        for effect in &effects {
            let old = effect.old.as_ref().and_then(|old| after.0.remove(old));
            unknown.push(old.map(|old| old.unknown).unwrap_or_default());
        }
        // What is left is of entities that the operations don't touch.
        for effect in &effects {
            if effect.new.as_ref().is_some_and(|new| after.0.contains_key(&place(new))) {
                return Err((ErrorKind::EntityAlreadyExists, numbered(effect.operation)));
            }
        }
        if let Some(partition) = effects.iter().find_map(|effect| effect.new.as_ref()).map(E::partition_key) {
            let others = after.0.range((partition.clone(), String::new())..);
            let others = others.take_while(|((other, _), _)| *other == partition);
            let taken: BTreeSet<String> = others
                .flat_map(|(_, other)| other.rows())
                .filter(|row| row.is_unique)
                .map(|row| row.key)
                .collect();
            for (effect, rows) in effects.iter().zip(&rows) {
                if rows.iter().any(|row| row.is_unique && taken.contains(&row.key)) {
                    return Err((ErrorKind::UniqueConflict, numbered(effect.operation)));
                }
            }
        }
        for (effect, unknown) in effects.into_iter().zip(unknown) {
            if let Some(entity) = effect.new {
                after.0.insert(place(&entity), Kept { entity, etag: None, unknown });
            }
        }
        Ok(after)
    }

    /// The entity that is there, and what it becomes.
    fn effect(&self, operation: &Operation<E>) -> Result<(Option<Place>, Option<E>), ErrorKind> {
        let at = operation.place();
        if let Operation::Insert(entity) = operation {
            return Ok((None, Some(entity.clone())));
        }
        let old = self.0.get(&at);
        match (operation.condition(), old) {
            (Some(_), None) => return Err(ErrorKind::EntityNotFound),
            (Some(IfMatch::ETag(etag)), Some(old)) if old.etag != Some(etag) => {
                return Err(ErrorKind::ConditionNotMet);
            }
            _ => {}
        }
        let old_place = old.map(|_| at.clone());
        let new = match operation {
            Operation::Insert(entity) | Operation::Put(entity) | Operation::Replace(entity, _) => {
                entity.clone()
            }
            Operation::Merge(_, from, mask, _) => {
                let mut new = old.map_or_else(|| from.clone(), |old| old.entity.clone());
                new.set(from, *mask);
                new
            }
            Operation::Update(_, to) if place(to) != at => return Err(ErrorKind::KeyChanged),
            Operation::Move(_, to) if to.partition_key() != at.0 => return Err(ErrorKind::KeyChanged),
            Operation::Update(_, to) | Operation::Move(_, to) => to.clone(),
            Operation::Delete(..) => return Ok((old_place, None)),
        };
        Ok((old_place, Some(new)))
    }

    /// How many rows are written or removed.
    fn touched(&self, effects: &[Effect<E>], rows: &[Vec<Row>]) -> usize {
        let (mut touched, mut copies) = (BTreeSet::new(), BTreeMap::new());
        for place in effects.iter().filter_map(|effect| effect.old.as_ref()) {
            let rows = self.0.get(place).map(Kept::rows).unwrap_or_default();
            touched.extend(rows.iter().map(|row| row.key.clone()));
            copies.extend(rows.into_iter().skip(1).map(|row| (row.key, (place, row.properties))));
        }
        touched.extend(rows.iter().flatten().map(|row| row.key.clone()));
        let mut staying = 0;
        for (effect, rows) in effects.iter().zip(rows) {
            let own = effect.new.as_ref().map(place);
            // Copies that stay as they are, whosever they were; what is sealed is its entity's alone.
            staying += rows
                .iter()
                .skip(1)
                .filter(|row| {
                    copies.get(&row.key).is_some_and(|(old, properties)| {
                        let is_sealed = properties.iter().any(|(name, _)| E::SEALED.contains(name));
                        *properties == row.properties && (!is_sealed || own.as_ref() == Some(*old))
                    })
                })
                .count();
        }
        touched.len() - staying
    }

    /// Every row that the entities imply.
    pub(super) fn implied(&self) -> BTreeMap<Place, Implied> {
        let mut implied = BTreeMap::new();
        for ((partition, own), kept) in &self.0 {
            for (number, row) in kept.rows().iter().enumerate() {
                let mut stored = row.stored(partition);
                let mut etag = None;
                if number == 0 {
                    etag = kept.etag;
                    for (name, value) in &kept.unknown {
                        stored.set(name, value.clone());
                    }
                }
                let at = (partition.clone(), row.key.clone());
                let found = implied.insert(
                    at,
                    Implied {
                        row: stored,
                        etag,
                        own: own.clone(),
                        unknown: kept.unknown.keys().copied().collect(),
                    },
                );
                assert!(found.is_none(), "two rows of one key");
            }
        }
        implied
    }
}

impl<E: Shape> Kept<E> {
    fn rows(&self) -> Vec<Row> {
        self.entity.rows().unwrap()
    }
}

/// The first operation that wants a row which an earlier one wants.
fn wanted_twice(rows: &[Vec<Row>]) -> Option<(ErrorKind, usize)> {
    let mut wanted = BTreeMap::<&str, Vec<(usize, bool)>>::new();
    for (operation, rows) in rows.iter().enumerate() {
        for row in rows {
            wanted.entry(&row.key).or_default().push((operation, row.is_unique));
        }
    }
    // Two that want one row that needn't be unique want one key.
    let kind = |is_unique| if is_unique { ErrorKind::UniqueConflict } else { ErrorKind::DuplicateRow };
    let second = wanted.values().filter_map(|wanted| wanted.get(1)).min()?;
    Some((kind(second.1), second.0))
}
