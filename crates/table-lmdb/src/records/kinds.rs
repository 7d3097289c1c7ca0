//! The kinds of rows that a table's structs declare, which a write by properties must leave alone.
//!
//! A process knows them as of the catalog's generation, which grows whenever a layout is noted and which every write compares.
//! So what another process declares counts for the next write.

use table_engine::error::{Error, Result};
use table_engine::row::view::RowView;
use table_engine::schema::{self, Layout};
use table_engine::sealing::sign;

use super::catalog::TableState;
use super::layouts;
use crate::lmdb::Databases;
pub(crate) use table_engine::executor::layouts::needs_its_struct;

/// A kind of rows that some struct has declared in a table.
#[derive(Debug)]
pub(crate) struct DeclaredKind {
    /// The text of `EntityType` on its rows.
    kind: Box<str>,
    /// The kind of the entities, and the index of which the rows are copies.
    entity: Box<str>,
    index: Option<Box<str>>,
    /// Whether each of its rows carries a keyed digest.
    pub(crate) is_signed: bool,
}

impl DeclaredKind {
    /// Returns the kinds of the rows that entities of a layout make: their own first, then those of their copies.
    fn of(layout: &Layout) -> impl Iterator<Item = Self> {
        let of = |kind: String, index: Option<&str>, is_signed| Self {
            kind: kind.into(),
            entity: layout.kind.as_str().into(),
            index: index.map(Into::into),
            is_signed,
        };
        let own = std::iter::once(of(layout.entity_type(), None, layout.is_signed()));
        let copies = layout
            .indexes()
            .map(move |index| of(layout.index_kind(index), Some(&index.name), layout.always_signs(index)));
        let parts =
            (1..=layout.parts()).map(move |part| of(layout.part_kind(part), None, layout.is_signed()));
        own.chain(copies).chain(parts)
    }

    /// Returns the error of a write by properties to a row of the kind.
    #[cold]
    pub(crate) fn refusal(&self) -> Error {
        needs_its_struct(&self.entity, &self.kind, self.index.as_deref())
    }
}

/// Returns the texts of `EntityType` on the rows of a kind and on its copies.
pub(super) fn texts(layout: &str, kind: &str) -> Result<Vec<Box<str>>> {
    Ok(DeclaredKind::of(&layouts::read(layout, kind)?).map(|declared| declared.kind).collect())
}

/// Returns every kind that the structs of a table declare, as far as their layouts tell.
pub(crate) fn declared(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<Vec<DeclaredKind>> {
    let layouts = layouts::all_read(dbs, txn, table)?;
    Ok(layouts.iter().flat_map(DeclaredKind::of).collect())
}

/// Returns the one of the declared kinds that has this name.
fn find<'d>(declared: &'d [DeclaredKind], kind: &str) -> Option<&'d DeclaredKind> {
    // Rows of other versions are the struct's as well.
    let is_version =
        |known: &&DeclaredKind| schema::other_version(&known.kind, kind).is_some() && known.index.is_none();
    let known = declared.iter().find(|known| *known.kind == *kind);
    known.or_else(|| declared.iter().find(is_version))
}

/// Refuses a row that carries no keyed digest, and is of a kind all of whose rows carry one.
#[cold]
pub(crate) fn check_unsigned(declared: &[DeclaredKind], view: &RowView<'_>) -> Result<()> {
    let Some(kind) = view.kind()? else { return Ok(()) };
    if find(declared, kind).is_some_and(|declared| declared.is_signed) {
        return Err(sign::unsigned(view));
    }
    Ok(())
}

impl TableState {
    /// Returns the declared kind of this name.
    pub(crate) fn with_declared<T>(&self, kind: &str, read: impl FnOnce(&DeclaredKind) -> T) -> Option<T> {
        find(&self.declared_kinds(), kind).map(read)
    }

    /// Makes sure that a row carries the right keyed digest, or none where its kind needs none.
    #[inline]
    pub(crate) fn check_genuine(&self, view: &RowView<'_>) -> Result<()> {
        if view.row().is_signed() {
            sign::verify(view)
        } else if self.signs_some() {
            check_unsigned(&self.declared_kinds(), view)
        } else {
            Ok(())
        }
    }
}
