//! Which entities a row tells of, by the layouts of a table's kinds.

use super::layout_kind::LayoutNames;
use super::{EntityTypes, Role};
use crate::error::Result;
use crate::executor::LayoutTexts;
use crate::executor::layouts::read;
use crate::row::view::RowView;
use crate::schema::{Layout, LayoutIndex, head_key};
use crate::sorted_map::SortedMap;

/// Whose a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owners {
    /// Its own: it is no row of another entity.
    Own,
    /// That of the entity of this table and these keys.
    One(String, String, String),
    /// Those of all entities of this table whose keys begin so: partition key and row key, and whether each is whole.
    All(String, [(String, bool); 2]),
    /// It is made of other entities, and does not say of which.
    Unknown,
}

/// What the layouts of a table's kinds say of whose its rows are.
#[derive(Debug)]
pub(crate) struct RowOwners {
    table: String,
    layouts: Vec<Layout>,
    /// By the text of `EntityType`: which layout, and what the row is there.
    roles: SortedMap<String, (usize, Role)>,
}

impl RowOwners {
    /// Makes it of the layouts that are noted in a table.
    pub(crate) fn of(table: &str, texts: &LayoutTexts) -> Result<Self> {
        let layouts = texts.iter().map(|(kind, text)| read(text, kind)).collect::<Result<Vec<_>>>()?;
        let mut roles = SortedMap::default();
        // What is a summary of another kind is that first, and an entity of its own second.
        for (at, layout) in layouts.iter().enumerate() {
            roles.insert(layout.entity_type(), (at, Role::Entity));
        }
        for (at, layout) in layouts.iter().enumerate() {
            let names = LayoutNames::of(layout);
            let kind = names.kind();
            let parts = (1..).map_while(|part| Some((kind.of_part(part)?, Role::Part(part))));
            let indexes = (0..).map_while(|index| Some((kind.of_index(index)?, Role::Index(index))));
            for (name, role) in parts.chain(indexes) {
                roles.insert(name.to_owned(), (at, role));
            }
        }
        Ok(Self { table: table.to_owned(), layouts, roles })
    }

    /// Returns whose a row is.
    pub(crate) fn of_row(&self, row: &RowView<'_>) -> Result<Owners> {
        let Some(text) = row.kind()? else { return Ok(Owners::Own) };
        let Some((at, role)) = self.roles.get(text) else {
            let is_derived = self.layouts.iter().any(|layout| is_of_another_version(text, layout));
            return Ok(if is_derived { Owners::Unknown } else { Owners::Own });
        };
        let Some(layout) = self.layouts.get(*at) else { return Ok(Owners::Unknown) };
        let table = match layout.table() {
            "" => self.table.clone(),
            table => table.to_owned(),
        };
        let names = LayoutNames::of(layout);
        let kind = names.kind();
        Ok(match *role {
            Role::Entity => Owners::Own,
            Role::Part(part) => {
                let head = head_key(&row.row_key(), part).map(str::to_owned);
                head.map_or(Owners::Unknown, |head| {
                    Owners::One(table, row.partition_key().into_owned(), head)
                })
            }
            Role::Index(index) if layout.indexes().nth(index).is_some_and(LayoutIndex::is_shared) => {
                kind.owners(index, row)?.map_or(Owners::Unknown, |keys| Owners::All(table, keys))
            }
            Role::Index(index) => {
                let keys = kind.owner(index, row)?;
                keys.map_or(Owners::Unknown, |(partition, row)| Owners::One(table, partition, row))
            }
        })
    }

    /// Returns the row key of the head of which a row of this key could be a part.
    pub(crate) fn head<'k>(&self, row: &'k str) -> Option<&'k str> {
        let most = self.layouts.iter().map(Layout::parts).max().unwrap_or(0);
        (1..=most).find_map(|part| head_key(row, part))
    }
}

/// Returns whether this is the kind of a row that is derived from an entity of a kind in a version that its layout does not
/// tell of.
fn is_of_another_version(text: &str, layout: &Layout) -> bool {
    let entity = layout.entity_type();
    let kind = entity.split_once('@').map_or(&*entity, |(kind, _)| kind);
    let Some(rest) = text.strip_prefix(kind) else { return false };
    let rest =
        rest.strip_prefix('@').map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.starts_with('.')
}
