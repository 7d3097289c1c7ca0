//! What rows are to the kinds that a table has noted: entities, copies, or neither.

use std::collections::BTreeMap;

use table_core::crypt::KeyHandle;
use table_core::introspect::{KindInfo, RowOf};
use table_core::schema::{head_key, other_version};
use table_core::{DynamicEntity, ErrorKind, Tables, Value, ValueRef};

use crate::failure::Failure;

/// So many texts of `EntityType` are remembered: more than a table has kinds and indexes.
const REMEMBERED: usize = 4_096;

/// The property by which rows say what they are.
pub(crate) const ENTITY_TYPE: &str = "EntityType";

/// The property of a head that says how many parts there are.
pub(crate) const ENTITY_PARTS: &str = "EntityParts";

/// The kinds that a table has noted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    infos: Vec<KindInfo>,
    secrets: Vec<Secrets>,
    known: BTreeMap<String, RowClass>,
}

/// The properties of a kind that are not as they were given.
#[derive(Clone, Debug, Default)]
struct Secrets {
    /// Those that are sealed.
    sealed: Vec<String>,
    /// Those that hold the tokens of sealed ones.
    tokens: Vec<String>,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowClass {
    /// A row that no kind declares.
    Free,
    /// An entity of the kind of this number, or a part of one.
    Entity(usize),
    /// A row that the store makes of entities of the kind of this number: a copy, a list, a summary.
    Copy(usize),
}

/// A row of a wide entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideRow<'r> {
    pub(crate) kind: usize,
    /// The part, counted from 1; 0 is the head.
    pub(crate) part: usize,
    /// The row key of the head.
    pub(crate) head: &'r str,
}

impl Kinds {
    /// Reads the kinds that the table of this name has noted. A store that notes none has none.
    pub(crate) fn of(tables: &Tables, table: &str) -> Result<Self, Failure> {
        let infos = match tables.kinds() {
            Ok(kinds) => kinds.into_iter().filter(|kind| kind.table().eq_ignore_ascii_case(table)).collect(),
            Err(error) if error.kind() == ErrorKind::Unsupported => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let secrets = infos.iter().map(Secrets::of).collect();
        Ok(Self { infos, secrets, known: BTreeMap::new() })
    }

    /// Returns the kinds.
    pub(crate) fn infos(&self) -> &[KindInfo] {
        &self.infos
    }

    /// Returns the number of the kind of this name; the failure names those that there are.
    pub(crate) fn number_of(&self, table: &str, kind: &str) -> Result<usize, Failure> {
        self.infos.iter().position(|info| info.kind() == kind).ok_or_else(|| {
            let known: Vec<_> = self.infos.iter().map(|info| format!("`{}`", info.kind())).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Failure::NotFound(format!("the table `{table}` has no kind `{kind}`; it has {known}"))
        })
    }

    /// Returns what a row is that bears this text as its `EntityType`.
    pub(crate) fn class(&mut self, entity_type: Option<&str>) -> RowClass {
        let Some(text) = entity_type.filter(|_| !self.infos.is_empty()) else { return RowClass::Free };
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let class = self.find(text);
        if self.known.len() < REMEMBERED {
            self.known.insert(text.to_owned(), class);
        }
        class
    }

    /// Returns what a row is that bears this text as its `EntityType`, found anew.
    pub(crate) fn find(&self, text: &str) -> RowClass {
        for (number, info) in self.infos.iter().enumerate() {
            match info.row_of_type(text) {
                Some(RowOf::Index(_)) => return RowClass::Copy(number),
                Some(_) => return RowClass::Entity(number),
                None => {}
            }
            // Rows that are still to be converted.
            if info.lies_here() && other_version(&info.entity_type(), text).is_some() {
                return RowClass::Entity(number);
            }
            if info.indexes().iter().any(|index| other_version(&index.entity_type, text).is_some()) {
                return RowClass::Copy(number);
            }
        }
        RowClass::Free
    }

    /// Returns the properties that a kind seals.
    pub(crate) fn sealed(&self, kind: usize) -> &[String] {
        self.secrets.get(kind).map_or(&[], |secrets| &secrets.sealed)
    }

    /// Returns the properties in which a kind keeps the tokens of sealed ones.
    pub(crate) fn tokens(&self, kind: usize) -> &[String] {
        self.secrets.get(kind).map_or(&[], |secrets| &secrets.tokens)
    }

    /// Returns the properties that are sealed, of each kind that seals some, by the text of `EntityType`.
    pub(crate) fn secrets(&self) -> BTreeMap<String, Vec<String>> {
        let sealing = self.infos.iter().zip(&self.secrets).filter(|(_, secrets)| !secrets.sealed.is_empty());
        sealing.map(|(info, secrets)| (info.entity_type(), secrets.sealed.clone())).collect()
    }

    /// Returns whether any kind seals properties.
    pub(crate) fn seal(&self) -> bool {
        self.secrets.iter().any(|secrets| !secrets.sealed.is_empty())
    }

    /// Returns whether entities of a kind have rows besides their own.
    pub(crate) fn has_copies(&self, kind: usize) -> bool {
        self.infos.get(kind).is_none_or(|info| info.rows().iter().any(|row| *row != RowOf::Entity))
    }

    /// Returns whether entities of a kind are wide: they have properties in further rows.
    pub(crate) fn is_wide(&self, kind: usize) -> bool {
        self.infos.get(kind).is_some_and(|info| info.rows().iter().any(|row| matches!(row, RowOf::Part(_))))
    }

    /// Returns whether entities of any kind are wide.
    pub(crate) fn have_wide(&self) -> bool {
        (0..self.infos.len()).any(|kind| self.is_wide(kind))
    }

    /// Returns what a row is to the wide entity that it is of; `None` if it is of none.
    pub(crate) fn wide_row<'r>(&mut self, row: &'r DynamicEntity) -> Option<WideRow<'r>> {
        let text = row.get(ENTITY_TYPE).and_then(Value::as_str);
        let RowClass::Entity(kind) = self.class(text) else { return None };
        if !self.is_wide(kind) {
            return None;
        }
        let (part, head) = match self.infos.get(kind)?.row_of_type(text?) {
            // A row under a key that no part has is a head of nothing.
            Some(RowOf::Part(part)) => (part, head_key(row.row_key(), part)?),
            _ => (0, row.row_key()),
        };
        Some(WideRow { kind, part, head })
    }

    /// Returns the name of a kind.
    pub(crate) fn name(&self, kind: usize) -> &str {
        self.infos.get(kind).map_or("", KindInfo::kind)
    }
}

/// Returns whether a value is one that was sealed.
pub(crate) fn is_sealed(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Binary(bytes) => KeyHandle::of(bytes).is_some(),
        _ => false,
    }
}

impl Secrets {
    fn of(info: &KindInfo) -> Self {
        let mut secrets = Self::default();
        for property in info.properties() {
            secrets.tokens.extend(property.token);
            if property.encrypted {
                secrets.sealed.push(property.name);
            }
        }
        secrets
    }
}
