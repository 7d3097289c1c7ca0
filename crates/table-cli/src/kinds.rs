//! The kinds of entities that a store has noted, and what a row is by them.

use table_core::DynamicEntity;
use table_core::Value;
use table_core::introspect::{KindInfo, RowOf};

use crate::failure::Failure;

/// The property of a row that says its kind.
pub(crate) const ENTITY_TYPE: &str = "EntityType";

/// The kinds that a store has noted.
pub(crate) struct Kinds(Vec<KindInfo>);

impl Kinds {
    pub(crate) fn of(kinds: Vec<KindInfo>) -> Self {
        Self(kinds)
    }

    /// Returns all of them, by table and kind.
    pub(crate) fn all(&self) -> &[KindInfo] {
        &self.0
    }

    /// Returns those of a table, those that have but copies there among them.
    pub(crate) fn in_table<'k, 't>(
        &'k self,
        table: &'t str,
    ) -> impl Iterator<Item = &'k KindInfo> + use<'k, 't> {
        self.0.iter().filter(move |kind| kind.table().eq_ignore_ascii_case(table))
    }

    /// Returns a kind by its name: the one whose entities lie in this table, or else one with copies there.
    pub(crate) fn find(&self, table: &str, name: &str) -> Result<&KindInfo, Failure> {
        let named = || self.in_table(table).filter(|kind| kind.kind() == name);
        if let Some(found) = named().find(|kind| kind.lies_here()).or_else(|| named().next()) {
            return Ok(found);
        }
        let known: Vec<_> = self.in_table(table).map(|kind| format!("`{}`", kind.kind())).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(Failure::NotFound(format!("table `{table}` has no kind `{name}`; it has {known}")))
    }

    /// Returns the kind that a row is of, and what it is to its entities; `None` if no declared kind has such a row.
    ///
    /// A summary is an entity of its own kind, and a row of an index of another's.
    pub(crate) fn identify(&self, table: &str, row: &DynamicEntity) -> Option<(&KindInfo, RowOf)> {
        let entity_type = row.get(ENTITY_TYPE).and_then(Value::as_str)?;
        let all = || self.in_table(table).filter_map(|kind| Some((kind, kind.row_of_type(entity_type)?)));
        all().find(|(_, row)| *row == RowOf::Entity).or_else(|| all().next())
    }

    /// Returns the kind that a row is of by its keys alone, and what it is to its entities.
    pub(crate) fn identify_keys(
        &self,
        table: &str,
        partition: &str,
        row: &str,
    ) -> Option<(&KindInfo, RowOf)> {
        self.in_table(table).find_map(|kind| Some((kind, kind.read_keys(partition, row)?.row)))
    }

    /// Returns the kind that has this one's entities, where it is noted with its copies alone.
    pub(crate) fn owner<'k>(&'k self, kind: &'k KindInfo) -> &'k KindInfo {
        let owner = self.in_table(kind.entities_table()).find(|other| other.kind() == kind.kind());
        owner.unwrap_or(kind)
    }
}
