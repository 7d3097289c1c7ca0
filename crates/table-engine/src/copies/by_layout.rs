//! What the layout of a kind tells of its rows, without the struct.
//!
//! A layout has the keys and the properties of copies. Which entities have a copy in an index with `when`, what a field of which
//! a row has nothing says, and which properties are carried along only the struct knows. What a layout does not tell is taken
//! for right.

use super::layout_kind::LayoutKind;
use super::{
    EntityTypes, ExpectedCopy, Fault, Known, Role, TakeCopy, WrongRow, compare_copies, compare_copy,
    compare_part, parts_of,
};
use crate::error::{Error, ErrorKind, Result};
use crate::model::names::ENTITY_TYPE;
use crate::row::view::RowView;
use crate::schema::{LayoutIndex, LayoutRows};

/// The rows of a kind, as a store finds them.
pub trait KindRows {
    /// Returns the name of the table with the rows of an index; `None` if the index is not compared.
    fn table_of(&self, index: usize) -> Option<&str>;

    /// Finds a row of the table of the entities.
    fn own_row(&self, partition: &str, row: &str) -> Result<Option<RowView<'_>>>;

    /// Finds a row of the table with the rows of an index.
    fn index_row(&self, index: usize, partition: &str, row: &str) -> Result<Option<RowView<'_>>>;
}

/// Compares the rows of a kind in one table.
#[expect(missing_debug_implementations, reason = "no program sees it")]
pub struct LayoutComparer<'l> {
    pub kind: &'l LayoutKind<'l>,
    pub rows: &'l dyn KindRows,
    /// The table whose rows are compared.
    pub table: &'l str,
    /// Whether it is that of the entities.
    pub is_own_table: bool,
}

impl LayoutComparer<'_> {
    /// Returns what a row of this kind is to the entities, if it is to be compared.
    #[must_use]
    pub fn role(&self, kind: &str) -> Option<Role> {
        let is_compared = |number: usize| {
            let of = self.kind.indexes.get(number);
            of.is_some_and(|of| !of.index.is_shared()) && self.rows.table_of(number).is_some()
        };
        Role::of(self.kind, kind, self.is_own_table)
            .filter(|role| if let Role::Index(number) = role { is_compared(*number) } else { true })
    }

    /// Compares a row. An error says what is wrong with it, the first thing of several, or that rows can't be read.
    pub fn compare(&self, view: &RowView<'_>, role: Role) -> Result<()> {
        match role {
            Role::Entity => {
                let own = self.whole(view.clone())?;
                compare_copies(self, &own, &mut |copy, _| Err(self.missing(copy)))
            }
            Role::Part(part) => {
                let wrong = compare_part(self, part, view)?;
                wrong.map_or(Ok(()), |_| Err(self.stray_part(part)))
            }
            Role::Index(number) => match self.kind.indexes.get(number) {
                // Copies that come later may not be there yet.
                Some(of) if !of.index.is_eventual() => {
                    let wrong = compare_copy(self, number, view)?;
                    wrong.map_or(Ok(()), |wrong| Err(wrong_copy(of.index, &wrong)))
                }
                _ => Ok(()),
            },
        }
    }

    #[cold]
    fn stray_part(&self, part: usize) -> Error {
        let kind = &self.kind.layout.kind;
        corrupt(format!("the row is part {part} of an entity of the kind `{kind}`, of none that has it"))
    }

    #[cold]
    fn missing(&self, copy: &ExpectedCopy<'_>) -> Error {
        let index = self.kind.indexes.get(copy.index).map(|of| of.index);
        let what = match index.map(|index| &index.rows) {
            Some(LayoutRows::Sums(_)) => "row of the summary",
            Some(LayoutRows::Ids(_)) => "index list",
            _ => "copy in the index",
        };
        corrupt(format!(
            "the entity's {what} `{}` is missing: in table `{}`, partition `{}`, row `{}`",
            index.map_or("", |index| &index.name),
            copy.table,
            copy.partition.escape_debug(),
            copy.row.escape_debug()
        ))
    }
}

#[cold]
fn wrong_copy(index: &LayoutIndex, wrong: &WrongRow<'_>) -> Error {
    let name = &index.name;
    corrupt(match (wrong.fault, &wrong.owner) {
        (Fault::Stale, Some((partition, row))) => format!(
            "the row is a copy in the index `{name}`, and not what its entity says: in partition `{}`, row `{}`",
            partition.escape_debug(),
            row.escape_debug()
        ),
        _ => format!("the row is a copy in the index `{name}`, of no entity that has one there"),
    })
}

impl Known for LayoutComparer<'_> {
    fn entity_types(&self) -> &dyn EntityTypes {
        self.kind
    }

    fn own_row(&self, partition: &str, row: &str) -> Result<Option<RowView<'_>>> {
        self.rows.own_row(partition, row)
    }

    fn whole<'v>(&'v self, own: RowView<'v>) -> Result<RowView<'v>> {
        if !self.kind.is_wide() {
            return Ok(own);
        }
        let parts = parts_of(self, &own, &mut |part, key, _| {
            let key = key.escape_debug();
            Err(corrupt(format!("part {part} of the entity, row `{key}`, is missing")))
        })?;
        Ok(own.with_parts(parts))
    }

    /// Gives the rows of summaries and lists, too: each entity counts in one, and stands on one, so that is there. What a copy
    /// holds is compared with the copy, since of some indexes nothing else is told.
    fn each_copy(&self, own: &RowView<'_>, take: TakeCopy<'_>) -> Result<()> {
        let Some(values) = self.kind.values_in(&self.kind.own, own, &|_| true)? else { return Ok(()) };
        for (number, of) in self.kind.indexes.iter().enumerate() {
            let Some(table) = self.rows.table_of(number) else { continue };
            if !(of.is_told || of.index.is_shared() && of.has_told_keys) {
                continue;
            }
            let Some((partition, row)) = of.keys.print(of.index.is_elsewhere(), &values, own) else {
                continue;
            };
            let is_right = |found: &RowView<'_>| Ok(found.kind().is_ok_and(|kind| kind == Some(&of.kind)));
            let (partition, row) = (partition.as_str(), row.as_str());
            take(&ExpectedCopy { index: number, table, partition, row, is_right: &is_right })?;
        }
        Ok(())
    }

    fn copy_row(&self, copy: &ExpectedCopy<'_>) -> Result<Option<RowView<'_>>> {
        self.rows.index_row(copy.index, copy.partition, copy.row)
    }

    fn owner(&self, index: usize, copy: &RowView<'_>) -> Result<Option<(String, String)>> {
        let lies_here = self.rows.table_of(index).is_some_and(|name| name == self.table);
        let Some(of) = self.kind.indexes.get(index).filter(|_| lies_here) else { return Ok(None) };
        let own = &self.kind.own;
        let copied = self.kind.values_in(&of.keys, copy, &|property| own.prints(property))?;
        Ok(copied.and_then(|copied| own.print(of.index.is_elsewhere(), &copied, copy)))
    }

    fn fault(&self, own: &RowView<'_>, index: usize, copy: &RowView<'_>) -> Result<Option<Fault>> {
        let Some(of) = self.kind.indexes.get(index) else { return Ok(None) };
        let is_held = |property: usize| of.copied.contains(&property);
        let is_asked = |property: usize| is_held(property) || of.keys.prints(property);
        let Some(said) = self.kind.values_in(&self.kind.own, own, &is_asked)? else { return Ok(None) };
        if of.has_told_keys
            && let Some((partition, row)) = of.keys.print(of.index.is_elsewhere(), &said, own)
            && (copy.partition_key() != partition || copy.row_key() != row)
        {
            return Ok(Some(Fault::Stray));
        }
        let Some(copied) = self.kind.values_in(&of.keys, copy, &is_held)? else { return Ok(None) };
        // What the entity lacks has a default that only the struct knows.
        let is_same = |property: &usize| {
            said.get(*property)
                .is_none_or(|said| copied.get(*property).is_some_and(|copied| said.says_same(copied)))
        };
        let is_right = of.copied.iter().all(is_same) && carries_the_same(self.kind, own, copy)?;
        Ok((!is_right).then_some(Fault::Stale))
    }
}

/// Returns whether an entity says the same of each property of a copy that the layout does not have: those were carried along.
fn carries_the_same(kind: &LayoutKind<'_>, own: &RowView<'_>, copy: &RowView<'_>) -> Result<bool> {
    for property in copy.properties() {
        let (name, value) = property?;
        if name != ENTITY_TYPE && !kind.has_property(name) && own.get(name)? != Some(value) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn corrupt(what: String) -> Error {
    Error::new(ErrorKind::Corrupt).because(what)
}
