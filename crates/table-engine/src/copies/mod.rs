//! The rows of entities compared with those that they are to have.
//!
//! The own rows of an entity say which copies it has, where those lie and what they hold. So an entity is compared with its
//! copies, each of which may be missing or say something else, and a copy, or a part of a wide entity, with the entity that is
//! to have it. What is known of a kind is `Known` by its struct (`typed/job`), or by a [layout](by_layout) alone, which
//! tells less. Callers walk over the rows, and report what is wrong in a form of their own.

pub mod by_layout;
pub mod layout_kind;
#[cfg(feature = "access")]
pub(crate) mod owners;
#[cfg(test)]
mod tests;

use crate::error::{ErrorKind, Result};
use crate::model::ValueRef;
use crate::model::names::ENTITY_PARTS;
use crate::row::view::RowView;
use crate::schema::{Schema, head_key, part_key};

/// The texts of `EntityType` on the rows of a kind.
pub trait EntityTypes {
    /// Returns that of an entity's own row; of a wide one, of the head.
    fn of_entity(&self) -> &str;

    /// Returns that of a part of a wide entity; the first one is 1. `None` if there is no such part.
    fn of_part(&self, part: usize) -> Option<&str>;

    /// Returns that of the rows of an index. `None` if there is no such index.
    fn of_index(&self, index: usize) -> Option<&str>;
}

impl EntityTypes for Schema {
    fn of_entity(&self) -> &str {
        self.entity_type
    }

    fn of_part(&self, part: usize) -> Option<&str> {
        self.parts.get(part.checked_sub(1)?).copied()
    }

    fn of_index(&self, index: usize) -> Option<&str> {
        self.indexes.get(index).map(|index| index.kind)
    }
}

/// What a row is to the entities of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An entity; of a wide one the head.
    Entity,
    /// This part of a wide entity; the first one is 1.
    Part(usize),
    /// A row of this index.
    Index(usize),
}

impl Role {
    /// Returns what a row is that says this of itself; `None` if it is of another kind. Only their own table has entities and
    /// parts.
    pub(crate) fn of(types: &impl EntityTypes, kind: &str, is_own_table: bool) -> Option<Self> {
        if is_own_table && kind == types.of_entity() {
            return Some(Self::Entity);
        }
        let mut parts = (1..).map_while(|part| types.of_part(part));
        let part = parts.position(|of| of == kind).filter(|_| is_own_table).map(|at| Self::Part(at + 1));
        let mut indexes = (0..).map_while(|index| types.of_index(index));
        part.or_else(|| indexes.position(|of| of == kind).map(Self::Index))
    }
}

/// A copy that an entity is to have.
pub(crate) struct ExpectedCopy<'e> {
    pub(crate) index: usize,
    /// The table where it lies, by its declaration.
    pub(crate) table: &'e str,
    pub(crate) partition: &'e str,
    pub(crate) row: &'e str,
    /// Returns whether a row in its place is the copy, and holds what it is to hold.
    pub(crate) is_right: &'e dyn Fn(&RowView<'_>) -> Result<bool>,
}

/// Takes each copy that an entity is to have.
pub(crate) type TakeCopy<'t> = &'t mut dyn FnMut(&ExpectedCopy<'_>) -> Result<()>;

/// What is known of the entities of a kind, and where their rows are found.
pub(crate) trait Known {
    /// Returns what their rows bear as their kinds.
    fn entity_types(&self) -> &dyn EntityTypes;

    /// Finds a row of the table of the entities.
    fn own_row(&self, partition: &str, row: &str) -> Result<Option<RowView<'_>>>;

    /// Returns an entity with all of its parts. [`Corrupt`](ErrorKind::Corrupt) if one is missing.
    fn whole<'v>(&'v self, own: RowView<'v>) -> Result<RowView<'v>>;

    /// Gives the copies that an entity is to have in the indexes that are compared, as far as that is known.
    fn each_copy(&self, own: &RowView<'_>, take: TakeCopy<'_>) -> Result<()>;

    /// Finds the row where a copy is to lie.
    fn copy_row(&self, copy: &ExpectedCopy<'_>) -> Result<Option<RowView<'_>>>;

    /// Returns the keys of the entity of which a row of an index says that it is a copy.
    fn owner(&self, index: usize, copy: &RowView<'_>) -> Result<Option<(String, String)>>;

    /// Returns what is wrong with a row of an index, by the entity of which it says that it is a copy.
    fn fault(&self, own: &RowView<'_>, index: usize, copy: &RowView<'_>) -> Result<Option<Fault>>;
}

/// What may be wrong with a row that belongs to an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No entity is to have it.
    Stray,
    /// It does not say what its entity says.
    Stale,
}

/// A row that belongs to an entity, and is wrong.
pub(crate) struct WrongRow<'k> {
    pub(crate) fault: Fault,
    /// The keys of the entity that it says it belongs to.
    pub(crate) owner: Option<(String, String)>,
    /// The row under those keys.
    pub(crate) own: Option<RowView<'k>>,
}

/// Returns the parts that the head of a wide entity says that it has. Gives `lost` those that are missing, by their numbers and
/// row keys, and whether another row lies there.
#[inline]
pub(crate) fn parts_of<'k>(
    known: &'k dyn Known,
    head: &RowView<'_>,
    lost: &mut dyn FnMut(usize, &str, bool) -> Result<()>,
) -> Result<Vec<Option<RowView<'k>>>> {
    let (types, (partition, row)) = (known.entity_types(), head.keys());
    let mut parts = Vec::new();
    for part in 1..=parts_said(head)? {
        // Those that the kind does not have are not looked for.
        let Some(of_part) = types.of_part(part) else { break };
        let key = part_key(&row, part);
        let found = known.own_row(&partition, &key)?;
        let kind = found.as_ref().map(RowView::kind).transpose()?.flatten();
        if kind != Some(of_part) {
            lost(part, &key, found.is_some())?;
        }
        parts.push(found);
    }
    Ok(parts)
}

/// Compares an entity with its copies, and gives those that are missing, or not [right](ExpectedCopy::is_right), with the row
/// that lies there.
#[inline]
pub(crate) fn compare_copies(
    known: &dyn Known,
    own: &RowView<'_>,
    wrong: &mut dyn FnMut(&ExpectedCopy<'_>, Option<&RowView<'_>>) -> Result<()>,
) -> Result<()> {
    known.each_copy(own, &mut |copy| {
        let found = known.copy_row(copy)?;
        match &found {
            Some(row) if (copy.is_right)(row)? => Ok(()),
            row => wrong(copy, row.as_ref()),
        }
    })
}

/// Compares a row of an index with the entity of which it is a copy. Returns what is wrong; nothing if the entity lacks a
/// part, since what the copy is to say is lost with it.
#[inline]
pub(crate) fn compare_copy<'k>(
    known: &'k dyn Known,
    index: usize,
    copy: &RowView<'_>,
) -> Result<Option<WrongRow<'k>>> {
    let owner = known.owner(index, copy)?;
    let found = owner.as_ref().map(|(partition, row)| known.own_row(partition, row)).transpose()?.flatten();
    let is_entity =
        |own: &RowView<'_>| own.kind().is_ok_and(|kind| kind == Some(known.entity_types().of_entity()));
    let own = match found.filter(is_entity).map(|own| known.whole(own)).transpose() {
        Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(None),
        own => own?,
    };
    let fault = match &own {
        Some(own) => known.fault(own, index, copy)?,
        None => Some(Fault::Stray),
    };
    Ok(fault.map(|fault| WrongRow { fault, owner, own }))
}

/// Compares a part of a wide entity with the head, which must say that it has it. Returns what is wrong.
#[inline]
pub(crate) fn compare_part<'k>(
    known: &'k dyn Known,
    part: usize,
    view: &RowView<'_>,
) -> Result<Option<WrongRow<'k>>> {
    let (partition, row) = view.keys();
    let owner = head_key(&row, part).map(|head| (partition.into_owned(), head.to_owned()));
    let own = owner.as_ref().map(|(partition, row)| known.own_row(partition, row)).transpose()?.flatten();
    let said = match &own {
        Some(head) if head.kind()? == Some(known.entity_types().of_entity()) => parts_said(head)?,
        _ => 0,
    };
    Ok((part > said).then_some(WrongRow { fault: Fault::Stray, owner, own }))
}

/// Returns how many parts the head of a wide entity says that it has; none if it says nothing, or nonsense.
#[inline]
fn parts_said(head: &RowView<'_>) -> Result<usize> {
    let said = head.get(ENTITY_PARTS)?.and_then(ValueRef::as_i64);
    Ok(said.and_then(|said| usize::try_from(said).ok()).unwrap_or(0))
}
