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
    /// A layout that says what is declared, and maybe more.
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
pub(crate) fn compare(noted: Option<&str>, schema: &Schema) -> Result<Noted> {
    let Some(layout) = noted else { return Ok(Noted::Never) };
    match schema::differences(layout, schema) {
        None => Ok(Noted::Same),
        Some(found) if found.is_compatible && !found.adds => Ok(Noted::Same),
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
    mut known: impl Iterator<Item = (&'k str, &'k str)>,
    schema: &Schema,
) -> Result<()> {
    known.try_for_each(|(kind, layout)| {
        if kind == schema.kind {
            return Ok(());
        }
        let other = schema::read(layout, kind).ok_or_else(damaged)?;
        match checks::kinds_that_meet(schema, &other) {
            Some(because) => Err(Error::new(ErrorKind::LayoutConflict).because(because)),
            None => Ok(()),
        }
    })
}

/// What a layout becomes when this declaration writes.
pub(crate) fn noted_with(noted: Option<&str>, schema: &Schema) -> String {
    noted.map_or_else(|| schema::layout(schema), |noted| schema::united(noted, schema))
}

/// Makes sure that the rows of this kind can be read by this declaration. Nothing is noted: who only reads changes nothing.
pub fn declare(table: &dyn TableExec, noted: &dyn Layouts, schema: &'static Schema) -> Result<()> {
    examine(table, &noted.layouts()?, schema).map(drop)
}

/// Notes the layout of a kind that is about to be written, unless what is noted says it.
pub fn note(table: &dyn TableExec, noted: &dyn Layouts, schema: &'static Schema) -> Result<()> {
    loop {
        let known = noted.layouts()?;
        // Somebody else may be quicker. No layout comes back, so that does not go on for ever.
        if examine(table, &known, schema)? == Noted::Same
            || noted.note(&known, schema.kind, &noted_with(of_kind(&known, schema), schema))?
        {
            return Ok(());
        }
    }
}

fn of_kind<'k>(known: &'k LayoutTexts, schema: &Schema) -> Option<&'k str> {
    known.iter().find(|(kind, _)| kind == schema.kind).map(|(_, layout)| layout.as_str())
}

/// Compares a declaration with what is noted of its kind and of the others in the table.
fn examine(table: &dyn TableExec, known: &LayoutTexts, schema: &'static Schema) -> Result<Noted> {
    if schema.seals() || schema.signs_some() {
        table.store().vault()?;
    }
    let found = compare(of_kind(known, schema), schema)?;
    if let Noted::Before(differences) = &found
        && !differences.no_longer_plain.is_empty()
    {
        return Err(Error::new(ErrorKind::Unsupported).because(format!(
            "the store can't tell whether some value of `{}` is still plain; declare it with `#[encrypt(dual)]`",
            differences.no_longer_plain.join("`, `")
        )));
    }
    if found != Noted::Same {
        check_apart(known.iter().map(|(kind, layout)| (kind.as_str(), layout.as_str())), schema)?;
    }
    Ok(found)
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

#[cold]
pub(crate) fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("the layout of a kind of entity is damaged")
}
