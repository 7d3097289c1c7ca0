//! What a table is, said with a sorted map.

use std::collections::BTreeMap;
use std::rc::Rc;

use table_core::{DynamicEntity, DynamicTable, ETag, ErrorKind, IfMatch, Result, Ticks, Value};

use super::random::{PARTITIONS, Place, Random, partition, row};

/// An entity: its properties, and its version unless that is still to be learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    pub properties: BTreeMap<String, Value>,
    pub etag: Option<ETag>,
}

pub type Rows = BTreeMap<Place, Rc<Entity>>;

/// A table; a snapshot of it is a clone.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub rows: Rc<Rows>,
}

impl Entity {
    /// Whether this is what was read under these keys, with these properties asked for.
    pub fn is(&self, place: Place, read: &DynamicEntity, select: Option<&[&str]>) -> bool {
        let wanted = |name: &str| select.is_none_or(|names| names.contains(&name));
        let expected = self.properties.keys().filter(|name| wanted(name)).count();
        read.partition_key() == partition(place)
            && read.row_key() == row(place)
            && read.etag() == self.etag
            && read.properties().len() == expected
            && read.properties().all(|(name, value)| wanted(name) && self.properties.get(name) == Some(value))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verb {
    Insert,
    Replace,
    Merge,
    InsertOrReplace,
    InsertOrMerge,
    Delete,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    pub verb: Verb,
    pub entity: DynamicEntity,
    pub condition: IfMatch,
    pub place: Place,
    /// What the entity is refused for, wherever it is to go.
    pub flaw: Option<ErrorKind>,
}

/// Why an operation or a batch must be refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refusal {
    pub kind: ErrorKind,
    pub index: Option<usize>,
}

impl Operation {
    /// Some operation on this row; the condition is one that holds, one that does not, or none.
    pub fn random(random: &mut Random, place: Place, there: Option<&Entity>, old: &[ETag]) -> Self {
        use Verb::{Delete, Insert, InsertOrMerge, InsertOrReplace, Merge, Replace};
        // Mostly one that can succeed.
        let verbs: &[Verb] = match (random.once_in(6), there) {
            (true, _) => &[Insert, Replace, Merge, Delete],
            (false, Some(_)) => &[Replace, Merge, InsertOrReplace, InsertOrMerge, Delete],
            (false, None) => &[Insert, Insert, Insert, InsertOrReplace, InsertOrMerge],
        };
        let condition = match (random.below(10), there.and_then(|there| there.etag)) {
            (0, _) if !old.is_empty() => IfMatch::ETag(*random.pick(old)),
            (1..=4, Some(etag)) => IfMatch::ETag(etag),
            _ => IfMatch::Any,
        };
        let mut operation =
            Self { verb: *random.pick(verbs), entity: random.entity(place), condition, place, flaw: None };
        if random.once_in(40) {
            operation.spoil(random);
        }
        operation
    }

    /// A batch's delete is given its row key alone: so it is always of the batch's partition.
    pub fn in_batch_of(mut self, partition_key: usize) -> Self {
        if self.verb == Verb::Delete && self.entity.partition_key() != PARTITIONS[partition_key] {
            self.place.0 = partition_key;
            self.entity = DynamicEntity::new(partition(self.place), row(self.place));
            self.flaw = None;
        }
        self
    }

    /// Makes of the operation one that breaks a rule.
    fn spoil(&mut self, random: &mut Random) {
        let keys = match random.below(8) {
            0 => Some(("p/".to_owned(), String::new(), ErrorKind::InvalidKey)),
            1 => Some((String::new(), "r\u{80}".to_owned(), ErrorKind::InvalidKey)),
            2 => Some((String::new(), "\u{1f600}".repeat(257), ErrorKind::KeyTooLong)),
            _ => None,
        };
        if let Some((head, tail, kind)) = keys {
            let properties = self.entity.clone();
            self.entity =
                DynamicEntity::new(head + partition(self.place), row(self.place).to_owned() + &tail);
            properties.properties().for_each(|(name, value)| drop(self.entity.set(name, value.clone())));
            self.flaw = Some(kind);
            return;
        }
        if self.verb == Verb::Delete {
            return;
        }
        let (name, value, kind) = match random.below(5) {
            0 => ("a b", Value::from(1), ErrorKind::PropertyNameInvalid),
            1 => ("Timestamp", Value::from(1), ErrorKind::PropertyNameInvalid),
            2 => (&*"n".repeat(256), Value::from(1), ErrorKind::PropertyNameTooLong),
            3 => ("A", Value::DateTime(Ticks::MIN), ErrorKind::ValueOutOfRange),
            _ => ("A", Value::from("x".repeat(32_769)), ErrorKind::PropertyValueTooLarge),
        };
        // The only property, so that no other is refused before it.
        self.entity = DynamicEntity::new(partition(self.place), row(self.place)).with(name, value);
        self.flaw = Some(kind);
    }

    pub fn run(&self, table: &DynamicTable) -> Result<Option<ETag>> {
        let Self { entity, condition, .. } = self;
        match self.verb {
            Verb::Insert => table.insert(entity).map(Some),
            Verb::Replace => table.replace(entity, *condition).map(Some),
            Verb::Merge => table.merge(entity, *condition).map(Some),
            Verb::InsertOrReplace => table.put(entity).map(Some),
            Verb::InsertOrMerge => table.insert_or_merge(entity).map(Some),
            Verb::Delete => {
                table.delete_if(entity.partition_key(), entity.row_key(), *condition).map(|()| None)
            }
        }
    }

    pub fn join(&self, batch: table_core::Batch) -> table_core::Batch {
        let (entity, condition) = (self.entity.clone(), self.condition);
        match self.verb {
            Verb::Insert => batch.insert(entity),
            Verb::Replace => batch.replace(entity, condition),
            Verb::Merge => batch.merge(entity, condition),
            Verb::InsertOrReplace => batch.put(entity),
            Verb::InsertOrMerge => batch.insert_or_merge(entity),
            Verb::Delete => batch.delete_if(entity.row_key(), condition),
        }
    }

    fn refused_by(&self, rows: &Rows) -> Option<ErrorKind> {
        let there = rows.get(&self.place);
        match (self.verb, there) {
            (Verb::Insert, Some(_)) => Some(ErrorKind::EntityAlreadyExists),
            (Verb::Insert | Verb::InsertOrReplace | Verb::InsertOrMerge, _) => None,
            (_, None) => Some(ErrorKind::EntityNotFound),
            (_, Some(there)) => match self.condition {
                IfMatch::ETag(etag) if there.etag != Some(etag) => Some(ErrorKind::ConditionNotMet),
                _ => None,
            },
        }
    }

    pub fn apply(&self, rows: &mut Rows, etag: Option<ETag>) {
        if self.verb == Verb::Delete {
            rows.remove(&self.place);
            return;
        }
        let merges = matches!(self.verb, Verb::Merge | Verb::InsertOrMerge);
        let mut properties = match rows.get(&self.place) {
            Some(there) if merges => there.properties.clone(),
            _ => BTreeMap::new(),
        };
        properties.extend(self.entity.properties().map(|(name, value)| (name.to_owned(), value.clone())));
        rows.insert(self.place, Rc::new(Entity { properties, etag }));
    }
}

/// Why a single operation must be refused; `None` for the rows of a table that was dropped.
pub fn refuses(rows: Option<&Rows>, operation: &Operation) -> Option<Refusal> {
    let kind = operation.flaw.or_else(|| match rows {
        None => Some(ErrorKind::TableNotFound),
        Some(rows) => operation.refused_by(rows),
    })?;
    Some(Refusal { kind, index: None })
}

/// Why a batch must be refused: first for what it is, then for what it finds.
pub fn refuses_batch(rows: Option<&Rows>, partition_key: usize, operations: &[Operation]) -> Option<Refusal> {
    if !(1..=100).contains(&operations.len()) {
        return Some(Refusal { kind: ErrorKind::BatchLength, index: None });
    }
    let at = |kind, index| Some(Refusal { kind, index: Some(index) });
    for (index, operation) in operations.iter().enumerate() {
        if operation.entity.partition_key() != PARTITIONS[partition_key] {
            return at(ErrorKind::DifferentPartitions, index);
        }
        if let Some(kind) = operation.flaw {
            return at(kind, index);
        }
    }
    for (index, operation) in operations.iter().enumerate() {
        if operations[..index].iter().any(|earlier| earlier.place.1 == operation.place.1) {
            return at(ErrorKind::DuplicateRow, index);
        }
    }
    let Some(rows) = rows else { return at(ErrorKind::TableNotFound, 0) };
    let mut found = operations.iter().map(|operation| operation.refused_by(rows)).enumerate();
    found.find_map(|(index, kind)| at(kind?, index))
}

/// The rows as the store lists them.
pub fn compare<'a>(rows: &Rows, read: impl ExactSizeIterator<Item = &'a DynamicEntity>) -> bool {
    rows.len() == read.len()
        && rows.iter().zip(read).all(|((place, entity), read)| entity.is(*place, read, None))
}
