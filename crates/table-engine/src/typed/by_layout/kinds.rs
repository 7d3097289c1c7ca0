//! The kinds of a table as a store has noted them, for writes without their structs.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use crate::error::{Error, ErrorKind, Result};
use crate::executor::layouts::read;
use crate::executor::{LayoutTexts, check_by_properties};
use crate::handle::table::DynamicTable;
use crate::schema::{self, Layout, Obstacle};
use crate::typed::change::layout_images::{LayoutMeta, obstructed};

/// What is known of a layout: the kind that it declares, or why nothing can be planned by it.
pub(super) type Known = Result<&'static LayoutMeta, Obstacle>;

/// A table, a kind and the text of its layout.
type Noted = (String, String, String);

/// The kinds that were declared by layouts. A declaration lives as long as the program, so each is made once: there are as
/// many as the program meets different layouts by which it writes.
static KNOWN: RwLock<BTreeMap<Noted, Known>> = RwLock::new(BTreeMap::new());

/// Returns the kind of this layout.
pub(super) fn known(table: &str, kind: &str, text: &str) -> Result<Known> {
    let noted = (table.to_owned(), kind.to_owned(), text.to_owned());
    let found = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&noted).cloned();
    if let Some(found) = found {
        return Ok(found);
    }
    let layout = read(text, kind)?;
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let made = || declared(layout, table);
    Ok(known.entry(noted).or_insert_with(made).clone())
}

fn declared(layout: Layout, table: &str) -> Known {
    if let Some(obstacle) = layout.obstacle() {
        return Err(obstacle);
    }
    let because = "the layout says something that this release does not know";
    let schema = layout.declare(table).ok_or(Obstacle { line: String::new(), because })?;
    Ok(Box::leak(Box::new(LayoutMeta::new(layout, schema))))
}

/// The kinds of one table, as their layouts are at one time.
pub(super) struct Kinds {
    table: DynamicTable,
    layouts: LayoutTexts,
}

impl Kinds {
    /// Returns the kinds with these layouts.
    pub(super) fn of(table: &DynamicTable, layouts: LayoutTexts) -> Self {
        Self { table: table.alone(), layouts }
    }

    /// Returns the kind of an entity's own rows that bear this text; `None` if they are no such rows, but copies, say.
    pub(super) fn find(&self, text: &str) -> Result<Option<&'static LayoutMeta>> {
        let mut own = None;
        for (kind, noted) in &self.layouts {
            let layout = read(noted, kind)?;
            if layout.indexes().any(|index| layout.index_kind(index) == text) {
                return Ok(None);
            }
            let entity_type = layout.entity_type();
            if entity_type == text {
                own = Some((kind, noted));
            } else if schema::other_version(&entity_type, text).is_some() && schema::kind_of(text) == kind {
                return Err(obstructed(kind, &version_obstacle(&layout)));
            }
        }
        let Some((kind, noted)) = own else { return Ok(None) };
        let found = known(self.table.name(), kind, noted)?.map_err(|obstacle| obstructed(kind, &obstacle))?;
        self.check_keys_of(found)?;
        Ok(Some(found))
    }

    /// Refuses a kind that seals or signs where the store has no keys.
    fn check_keys_of(&self, kind: &LayoutMeta) -> Result<()> {
        let obstacle = self.keys_obstacle(kind);
        obstacle.map_or(Ok(()), |obstacle| Err(obstructed(kind.schema().kind, &obstacle)))
    }

    /// Returns the line of a sealed property where the store has no keys.
    pub(super) fn keys_obstacle(&self, kind: &LayoutMeta) -> Option<Obstacle> {
        let sealed = kind.schema().fields.iter().find(|field| field.encrypted)?;
        if self.table.exec().store().vault().is_ok() {
            return None;
        }
        let line = kind.layout().line_of(sealed.property);
        Some(Obstacle { line, because: "the store is open without the keys that seal it" })
    }

    pub(super) fn table(&self) -> &DynamicTable {
        &self.table
    }

    /// Returns whether rows that bear this text are of a declared kind.
    pub(super) fn declare(&self, text: &str) -> bool {
        check_by_properties(&self.layouts, text).is_err()
            || self.layouts.iter().any(|(kind, _)| schema::kind_of(text) == kind)
    }

    /// Returns the table as one that knows these others.
    pub(super) fn with_others(&self, others: Vec<DynamicTable>) -> DynamicTable {
        self.table.clone().with_others(others)
    }

    /// Returns the other tables where copies of a kind lie.
    pub(super) fn others(&self, kind: &LayoutMeta) -> Result<Vec<DynamicTable>> {
        let mut others = Vec::new();
        for name in kind.schema().other_tables() {
            let other = self.table.sibling(name)?;
            others.push(other.ok_or_else(|| no_table(kind, name))?);
        }
        Ok(others)
    }
}

/// Returns why rows of another version than the layout's are not written.
pub(super) fn version_obstacle(layout: &Layout) -> Obstacle {
    let because = "rows of another version are there, which only the struct converts";
    Obstacle { line: layout.line_of_version(), because }
}

#[cold]
fn no_table(kind: &LayoutMeta, name: &str) -> Error {
    let kind = kind.schema().kind;
    let because = format!(
        "an index of `{kind}` lies in the table `{name}`, which is not there; open the table of the entities by the struct, and \
         run `Table::rebuild`"
    );
    Error::new(ErrorKind::TableNotFound).because(because)
}
