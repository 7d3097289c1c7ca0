//! The layouts of the kinds in a table, as texts: compared with what structs declare, and noted where they are to be.

use crate::error::{Error, ErrorKind, Result};
use crate::executor::TableExec;
use crate::schema::{self, Differences, Schema, checks};

/// Every kind of a table with its layout.
pub type LayoutTexts = Vec<(String, String)>;

/// What the store has noted of a kind's layout.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// No layout yet.
    Never,
    /// The layout that is declared.
    Same,
    /// Another, which may become the one that is declared.
    Before(Differences),
}

/// Where a table's layouts are noted, for an executor that keeps texts and no more.
pub trait Layouts {
    /// All layouts that are noted.
    fn layouts(&self) -> Result<LayoutTexts>;

    /// Notes the layout of a kind if all that are noted are still these, and returns whether they are.
    fn note(&self, known: &LayoutTexts, kind: &str, layout: &str) -> Result<bool>;
}

/// Compares the layout noted with the schema's. An error if it is another that rows can't be read by.
pub(crate) fn compare(table: &str, noted: Option<&str>, schema: &Schema) -> Result<Noted> {
    let Some(layout) = noted else { return Ok(Noted::Never) };
    match schema::differences_in(table, layout, schema) {
        None => Ok(Noted::Same),
        Some(found) if found.is_compatible => Ok(Noted::Before(found)),
        Some(found) => {
            let way = if found.jumps {
                "what is sealed stays so, and what is plain comes to be by `#[encrypt(dual)]`: see `Table::reencrypt`"
            } else {
                "declare it as it was, or keep the new declaration in another table or under another kind"
            };
            let because = format!(
                "`{}` of the struct `{}` is declared otherwise than when it was last written:\n  {}\n{way}",
                schema.kind,
                schema.entity,
                found.lines.join("\n  ")
            );
            Err(Error::new(ErrorKind::LayoutChanged).because(because))
        }
    }
}

/// C7, of kinds that meet in a table: no row of the new one can have a key of a row of those known.
pub(crate) fn check_apart<'k>(
    table: &str,
    mut known: impl Iterator<Item = (&'k str, &'k str)>,
    schema: &Schema,
) -> Result<()> {
    known.try_for_each(|(kind, layout)| {
        if kind == schema.kind {
            return Ok(());
        }
        let other = schema::read(layout, kind).ok_or_else(damaged)?;
        match checks::kinds_that_meet(table, schema, &other) {
            Some(because) => Err(Error::new(ErrorKind::LayoutConflict).because(because)),
            None => Ok(()),
        }
    })
}

/// Makes sure that the rows of this kind have the layout that the schema declares; notes it if there is none yet, or if
/// nothing that was written reads otherwise under the new one.
pub fn declare(table: &dyn TableExec, noted: &dyn Layouts, schema: &'static Schema) -> Result<()> {
    if schema.seals() || schema.signs_some() {
        table.store().vault()?;
    }
    loop {
        let known = noted.layouts()?;
        let of_kind = known.iter().find(|(kind, _)| kind == schema.kind).map(|(_, layout)| layout.as_str());
        match compare(table.table_name(), of_kind, schema)? {
            Noted::Same => return Ok(()),
            Noted::Before(found) if !found.no_longer_plain.is_empty() => {
                return Err(Error::new(ErrorKind::Unsupported).because(format!(
                    "the store can't tell whether some value of `{}` is still plain; declare it with `#[encrypt(dual)]`",
                    found.no_longer_plain.join("`, `")
                )));
            }
            Noted::Never | Noted::Before(_) => {}
        }
        // Who only reads notes nothing: what can be compared can be read.
        if table.store().is_read_only() {
            return Ok(());
        }
        let others = known.iter().map(|(kind, layout)| (kind.as_str(), layout.as_str()));
        check_apart(table.table_name(), others, schema)?;
        // Somebody else may have been quicker. No layout comes back, so that does not go on for ever.
        if noted.note(&known, schema.kind, &schema::layout_in(schema, table.table_name()))? {
            return Ok(());
        }
    }
}

/// What is said to who writes by its properties a row that a struct declares: one of these entities, or a copy in one
/// of their indexes.
#[cold]
pub(crate) fn needs_its_struct(kind: &str, index: Option<&str>) -> Error {
    let what = match index {
        None => format!("the row is an entity of the kind `{kind}`, which a struct declares"),
        Some(index) => {
            format!("the row is a copy, in the index `{index}`, of an entity of the kind `{kind}`")
        }
    };
    Error::new(ErrorKind::DeclaredKind).because(format!(
        "{what}: change the entity by `Store::table`, or by `SetTable::merge_any` and the like, which make its copies \
         follow; a handle by `DynamicTable::raw` writes the row all the same, and its copies stay as they are"
    ))
}

/// Refuses to write by its properties a row of a kind that some struct declares, as far as the layouts tell.
pub fn check_by_properties(known: &LayoutTexts, kind: &str) -> Result<()> {
    for (of, layout) in known {
        let schema = schema::read(layout, of).ok_or_else(damaged)?;
        let copies = schema.indexes.iter().enumerate().map(|(at, index)| (Some(at), Some(index.name)));
        for (at, index) in std::iter::once((None, None)).chain(copies) {
            if schema.tag(at).kind == kind {
                return Err(needs_its_struct(schema.kind, index));
            }
        }
    }
    Ok(())
}

/// Refuses to drop tables, given with their layouts, without the others that hold copies of their entities, or the entities
/// of their copies: what is left would be copies of nothing, or an index that has lost its rows.
pub fn check_drop<'l>(
    dropped: &[&str],
    mut layouts: impl Iterator<Item = (&'l str, &'l str, &'l str)>,
) -> Result<()> {
    let goes = |table: &str| table.is_empty() || dropped.iter().any(|name| name.eq_ignore_ascii_case(table));
    layouts.try_for_each(|(table, kind, layout)| {
        let schema = schema::read(layout, kind).ok_or_else(damaged)?;
        let because = if !goes(schema.table()) {
            format!("the table holds copies of `{kind}`, whose entities are in table `{}`", schema.table())
        } else if let Some(other) = schema.other_tables().find(|other| !goes(other)) {
            format!("copies of `{kind}`, whose entities the table holds, are in table `{other}`")
        } else {
            return Ok(());
        };
        let because = format!("{because}: drop both by `Store::drop_tables`");
        Err(Error::new(ErrorKind::CopiesElsewhere).because(because).table(table))
    })
}

#[cold]
pub(crate) fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("the layout of a kind of entity is damaged")
}
