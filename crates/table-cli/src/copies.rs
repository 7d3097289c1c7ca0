//! The copies of an entity, each found by its keys and compared with the entity, as far as the store has noted how the kind is
//! declared.

use table_core::introspect::{IndexCondition, IndexInfo, KindInfo, RowOf};
use table_core::schema::{DesignRow, RowRole};
use table_core::{DynamicEntity, DynamicTable, ErrorKind, Result, Tables, Value};

use crate::kinds::ENTITY_TYPE;
use crate::output::Cell;

/// A row that an entity has besides its own.
#[derive(Clone, Debug)]
pub(crate) struct CopyRow {
    /// The index, or the part of a wide entity.
    pub(crate) name: String,
    /// The table where it lies.
    pub(crate) table: String,
    /// Its partition key and row key, where they are known.
    pub(crate) keys: Option<(String, String)>,
    /// Whether it agrees.
    pub(crate) state: Agreement,
}

/// Whether a copy is as its entity says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// It is there and says what the entity does.
    Agrees,
    /// It is there and says something else: the text says what.
    Differs(String),
    /// It is not there.
    Missing,
    /// It comes after its entity, and is not as that is now: the text says how.
    Follows(String),
    /// It is not there, and need not be, or can't be told: the text says why.
    Unknown(String),
}

impl Agreement {
    /// Returns whether nothing is wrong with it, as far as can be told.
    pub(crate) fn is_sound(&self) -> bool {
        matches!(self, Self::Agrees | Self::Follows(_) | Self::Unknown(_))
    }

    /// Returns it as a word, and what there is to say of it.
    pub(crate) fn cells(&self) -> [Cell; 2] {
        let (word, text) = match self {
            Self::Agrees => ("agrees", None),
            Self::Differs(text) => ("differs", Some(text)),
            Self::Missing => ("missing", None),
            Self::Follows(text) => ("follows", Some(text)),
            Self::Unknown(text) => ("unknown", Some(text)),
        };
        [Cell::text(word), Cell::shown(text)]
    }
}

/// An entity, and the properties of it that are known: those in its row, those in its parts, and those in its keys.
pub(crate) struct WholeEntity<'k> {
    kind: &'k KindInfo,
    values: Vec<(String, Value)>,
    parts: Vec<CopyRow>,
}

impl<'k> WholeEntity<'k> {
    /// Gathers what an entity's own rows say, in its table.
    pub(crate) fn gather(table: &DynamicTable, kind: &'k KindInfo, row: &DynamicEntity) -> Result<Self> {
        let (partition, key) = (row.partition_key(), row.row_key());
        let mut values: Vec<_> =
            row.properties().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        if let Ok(own) = kind.keys(None)
            && let Some(known) = own.read(partition, key)
        {
            let is_new = |(name, _): &(String, Value)| values.iter().all(|(known, _)| known != name);
            let new: Vec<_> = known.into_iter().filter(is_new).collect();
            values.extend(new);
        }
        let mut parts = Vec::new();
        for of in kind.rows() {
            let RowOf::Part(part) = of else { continue };
            let part_key = table_core::schema::part_key(key, part);
            let found = table.get(partition, &part_key)?;
            if let Some(found) = &found {
                let new = found.properties().filter(|(name, _)| *name != ENTITY_TYPE);
                values.extend(new.map(|(name, value)| (name.to_owned(), value.clone())));
            }
            parts.push(CopyRow {
                name: format!("part {part}"),
                table: table.name().to_owned(),
                keys: Some((partition.to_owned(), part_key)),
                state: if found.is_some() { Agreement::Agrees } else { Agreement::Missing },
            });
        }
        Ok(Self { kind, values, parts })
    }

    /// Returns a property's value.
    fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns the rows that the entity has besides its own, each compared with it.
    pub(crate) fn copies(&self, store: &Tables) -> Result<Vec<CopyRow>> {
        let mut all = self.parts.clone();
        let design = self.kind.design();
        for index in self.kind.indexes() {
            let row = design.rows.iter().find(|row| row.name == index.name);
            all.push(self.copy(store, index, row)?);
        }
        Ok(all)
    }

    /// Returns the copy that an index has of the entity, or why that can't be told by what is noted of the kind.
    pub(crate) fn made(&self, index: &IndexInfo) -> std::result::Result<DynamicEntity, String> {
        let obstacles = [
            (
                self.kind.properties().iter().any(|property| property.encrypted),
                "the kind seals values, and only its struct's writes seal them in a copy",
            ),
            (self.kind.is_signed(), "the kind's rows are signed, which only its struct's writes do"),
            (index.sparse, "a function of the struct says which entities have a row there"),
            (index.shared, "many entities give its rows together"),
            (index.eventual, "its rows follow later, which a program with the struct sees to"),
        ];
        if let Some((_, why)) = obstacles.iter().find(|(is_so, _)| *is_so) {
            return Err((*why).to_owned());
        }
        let (partition, key) = self.keys_in(index)?;
        let design = self.kind.design();
        let row = design.rows.iter().find(|row| row.role == RowRole::Copy && row.name == index.name);
        let row = row.ok_or_else(|| "what its rows hold is not noted".to_owned())?;
        let mut made = DynamicEntity::new(partition, key).with(ENTITY_TYPE, &*index.entity_type);
        for held in &row.holds {
            if let Some(value) = self.get(&held.name) {
                made.set(&held.name, value.clone());
            }
        }
        Ok(made)
    }

    fn copy(&self, store: &Tables, index: IndexInfo, row: Option<&DesignRow>) -> Result<CopyRow> {
        let keys = self.keys_in(&index);
        let state = match (&keys, &index.condition) {
            (Err(why), _) => Agreement::Unknown(why.clone()),
            (_, Some(condition)) if *condition != IndexCondition::Ready => {
                Agreement::Unknown(format!("the index is {condition}"))
            }
            (Ok((partition, key)), _) => match store.dynamic_table(&index.table) {
                Ok(table) => self.compared(&index, row, table.get(partition, key)?),
                Err(error) if error.kind() == ErrorKind::TableNotFound => Agreement::Missing,
                Err(error) => return Err(error),
            },
        };
        Ok(CopyRow { name: index.name, table: index.table, keys: keys.ok(), state })
    }

    /// Returns the keys of the copy in an index, or why they can't be told.
    fn keys_in(&self, index: &IndexInfo) -> std::result::Result<(String, String), String> {
        let keys = self.kind.keys(Some(&index.name)).map_err(|error| error.reason().to_owned())?;
        let mut values = Vec::new();
        for field in keys.fields() {
            if field.each {
                return Err(format!("there is a row for each element of `{}`", field.name));
            }
            let Some(value) = self.get(&field.name) else {
                return Err(format!("the entity has no `{}`, so it has no row there", field.name));
            };
            values.push((field.name, value.clone()));
        }
        let given: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        keys.print(&given).map_err(|error| match error.kind() {
            ErrorKind::Unsupported => "it is filed by a token, which the keys of the store make".to_owned(),
            _ => error.reason().to_owned(),
        })
    }

    /// Returns whether the entity has a copy at these keys; `None` where only its struct, or the keys of the store, say which keys
    /// a copy has.
    pub(crate) fn lies_at(&self, index: &IndexInfo, partition: &str, row: &str) -> Option<bool> {
        let keys = self.kind.keys(Some(&index.name)).ok()?;
        let mut values = Vec::new();
        for field in keys.fields() {
            if field.each {
                return None;
            }
            // Without the value there is no row.
            let Some(value) = self.get(&field.name) else { return Some(false) };
            values.push((field.name, value.clone()));
        }
        let given: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let expected = keys.print(&given).ok()?;
        Some(expected.0 == partition && expected.1 == row)
    }

    fn compared(&self, index: &IndexInfo, row: Option<&DesignRow>, copy: Option<DynamicEntity>) -> Agreement {
        let Some(copy) = copy else {
            if index.sparse {
                return Agreement::Unknown(
                    "a function of the struct says which entities have a row there".into(),
                );
            }
            if index.eventual {
                return Agreement::Follows(
                    "it is not there: `tables outbox` says what is still to follow".into(),
                );
            }
            return Agreement::Missing;
        };
        if index.shared {
            return Agreement::Unknown(
                "many entities give its row together: `tables check` compares it".into(),
            );
        }
        if copy.get(ENTITY_TYPE).and_then(Value::as_str) != Some(&*index.entity_type) {
            return Agreement::Differs(format!("its EntityType is not `{}`", index.entity_type));
        }
        let sealed: Vec<_> = self
            .kind
            .properties()
            .into_iter()
            .filter(|known| known.encrypted)
            .map(|known| known.name)
            .collect();
        let mut wrong = Vec::new();
        for (name, value) in copy.properties() {
            // Each row seals for itself, and with a token of its own.
            let is_compared = name != ENTITY_TYPE && !sealed.iter().any(|known| known == name);
            if is_compared && self.get(name).is_some_and(|own| own != value) {
                wrong.push(name.to_owned());
            }
        }
        for held in row.into_iter().flat_map(|row| &row.holds) {
            let name = &held.name;
            if self.get(name).is_some() && copy.get(name).is_none() && !wrong.contains(name) {
                wrong.push(name.clone());
            }
        }
        match (wrong.is_empty(), index.eventual) {
            (true, _) => Agreement::Agrees,
            (false, false) => Agreement::Differs(format!("in {}", wrong.join(", "))),
            (false, true) => Agreement::Follows(format!(
                "it differs in {}: `tables outbox` says what is still to follow",
                wrong.join(", ")
            )),
        }
    }
}
