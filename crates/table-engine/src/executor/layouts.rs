//! The layouts of the kinds in a table, as texts: compared with what structs declare, and noted where they are to be.

use crate::error::{Error, ErrorKind, Result};
use crate::executor::TableExec;
use crate::schema::{
    self, Differences, IndexMask, IndexState, IndexStates, Layout, Outdated, Refusal, Schema, Unread,
};

/// Every kind of a table with its layout.
pub type LayoutTexts = Vec<(String, String)>;

/// What the store has noted of a kind's layout.
#[derive(Debug, PartialEq, Eq)]
pub enum Noted {
    /// No layout yet.
    Never,
    /// A layout that says what is declared, and maybe more.
    Same,
    /// Another, which may become the one that is declared.
    Before(Differences),
    /// That of a previous version, of which the declaration knows what it becomes.
    PreviousVersion,
}

/// Where a table's layouts are noted, for an executor that keeps texts and no more.
pub trait Layouts {
    /// Returns all layouts that are noted.
    fn layouts(&self) -> Result<LayoutTexts>;

    /// Notes the layout of a kind if all that are noted are still these, and returns whether they are.
    fn note(&self, known: &LayoutTexts, kind: &str, layout: &str) -> Result<bool>;
}

/// Reads the layout that is noted of a kind.
pub fn read(layout: &str, kind: &str) -> Result<Layout> {
    Layout::parse(layout, kind).ok_or_else(damaged)
}

/// Compares the layout noted with the schema's. An error if it is another that rows can't be read by.
pub fn compare(table: &str, noted: Option<&Layout>, schema: &'static Schema) -> Result<Noted> {
    let Some(layout) = noted else { return Ok(Noted::Never) };
    if let Some(previous) = schema.previous_of(layout.version()) {
        // A previous declaration names no table: its entities lie in the same one.
        return match schema::differences_in(table, &layout.without_table(schema.table()), previous) {
            Some(found) if !found.is_compatible => Err(changed(layout, &found, previous)),
            _ => Ok(Noted::PreviousVersion),
        };
    }
    match schema::differences_in(table, layout, schema) {
        None => Ok(Noted::Same),
        Some(found) if found.is_compatible && !found.adds => Ok(Noted::Same),
        Some(found) if found.is_compatible => Ok(Noted::Before(found)),
        Some(found) => Err(changed(layout, &found, schema)),
    }
}

/// Returns the error of a declaration by which rows can't be read: what would be right, and the difference.
#[cold]
fn changed(noted: &Layout, found: &Differences, schema: &Schema) -> Error {
    let mut advice = schema::advice(noted, schema);
    if advice.is_empty() {
        let way = "declare it as it was, or keep the new declaration in another table or under another kind";
        advice.push(way.to_owned());
    }
    let because = format!(
        "{}\nthe struct `{}` declares `{}` otherwise than it was last written (- stored, + declared):\n  {}",
        advice.join("\n"),
        schema.entity,
        schema.kind,
        found.lines.join("\n  ")
    );
    Error::new(ErrorKind::LayoutChanged).because(because)
}

/// Refuses a declaration that must say first what some of its properties were, if it must: before it writes by it.
#[cold]
pub fn unclear(found: &Noted, schema: &Schema) -> Result<()> {
    match found {
        Noted::Before(found) if !found.unclear.is_empty() => {
            let because = format!(
                "the struct `{}` does not say what became of properties of `{}`:\n  {}",
                schema.entity,
                schema.kind,
                found.unclear.join("\n  ")
            );
            Err(Error::new(ErrorKind::LayoutChanged).because(because))
        }
        _ => Ok(()),
    }
}

/// Returns the error of a program that can't write a kind, since it could not keep one of its indexes.
#[cold]
pub fn refused(schema: &Schema, noted: Option<&Layout>, refusal: &Refusal) -> Error {
    let kind = schema.kind;
    let because = match refusal {
        Refusal::Lacks(name) => format!(
            "`{kind}` has the index `{name}`, which the struct `{}` does not declare: its copies would be wrong; declare \
             it, or remove it by `Table::drop_index(\"{name}\")`",
            schema.entity
        ),
        Refusal::Pending(version) => return pending(schema, *version, "written"),
        Refusal::Forgets(what) => forgets(schema, what),
        Refusal::Outdated(version) => outdated_version(schema, *version),
        Refusal::Otherwise(name) => {
            let lines = noted
                .and_then(|noted| schema::differences_in(schema.table(), noted, schema))
                .map(|found| found.lines);
            let of_it = |line: &&String| line.split(' ').nth(2) == Some(name);
            let lines: Vec<_> = lines.iter().flatten().filter(of_it).map(String::as_str).collect();
            format!(
                "the index `{name}` of `{kind}` is declared otherwise than its copies are:\n  {}\n`Table::rebuild` makes it \
                 anew",
                lines.join("\n  ")
            )
        }
    };
    Error::new(ErrorKind::LayoutChanged).because(because)
}

/// Returns the error of what takes the rows of a kind to be converted first; `what` is what they can't be yet.
#[cold]
pub fn pending(schema: &Schema, version: u32, what: &str) -> Error {
    let Schema { kind, entity, version: now, .. } = schema;
    Error::new(ErrorKind::MigrationPending).because(format!(
        "rows of `{kind}` are of version {version}, and can't be {what} by version {now}, the struct `{entity}`, before \
         `store.migration::<{entity}>()?.run()` has converted them"
    ))
}

/// Returns the error of a program that would leave copies as they were.
#[cold]
pub fn forgets(schema: &Schema, what: &Outdated) -> String {
    let Schema { kind, entity, .. } = schema;
    match what {
        Outdated::Uncopied(property) => format!(
            "a row of `{kind}` holds `{property}..` of another entity, which the struct `{entity}` does not say, or by other \
             fields: what it holds would be wrong; declare it with `#[copy_of]`, or call \
             `Table::forget_copies` if no program does any more"
        ),
        Outdated::Untold(dependent) => format!(
            "rows of `{dependent}` hold what those of `{kind}` say, and the struct `{entity}` does not know of it: they would \
             stay as they are; declare it with `#[copied_into]`, or call `Table::forget_copies` if no program does any more"
        ),
        Outdated::Bare
        | Outdated::Misnamed { .. }
        | Outdated::PreviousVersion(_)
        | Outdated::Gone(_)
        | Outdated::Narrow(_) => String::new(),
    }
}

/// Returns the error of a program of an earlier version than rows are of.
#[cold]
pub fn outdated_version(schema: &Schema, version: u32) -> String {
    format!(
        "`{}` is kept in version {version} by another program, which version {}, the struct `{}`, knows nothing of",
        schema.kind, schema.version, schema.entity
    )
}

/// Returns the error of a program with a former declaration.
#[cold]
pub fn outdated(schema: &Schema, why: &Outdated) -> Error {
    let (kind, entity) = (schema.kind, schema.entity);
    let because = match why {
        Outdated::Bare => format!(
            "`{kind}` of the struct `{entity}` has something plain that another program has had sealed since this one opened \
             the table; declare it with `#[encrypt]` here too"
        ),
        Outdated::Uncopied(_) | Outdated::Untold(_) => forgets(schema, why),
        Outdated::Gone(property) => format!(
            "the property `{property}` of `{kind}` is to go, by another program; leave it out of the struct `{entity}`"
        ),
        Outdated::Narrow(parts) => format!(
            "entities of `{kind}` have {parts} parts by now, of which the struct `{entity}` declares {}: it could not keep the \
             others; declare them, with `#[part]`, here too",
            schema.parts.len()
        ),
        Outdated::PreviousVersion(version) => outdated_version(schema, *version),
        Outdated::Misnamed { is, was } => format!(
            "the property `{was}` of `{kind}` is called `{is}` by another program, and rows have the one name or the other; \
             declare it in the struct `{entity}` with {} too",
            schema::both_names(schema, is, was)
        ),
    };
    Error::new(ErrorKind::LayoutChanged).because(because)
}

/// Returns the error of a row of a version that the declaration knows nothing of.
#[cold]
pub fn unknown_version(schema: &Schema, version: u32) -> Error {
    Error::new(ErrorKind::LayoutChanged).because(if version > schema.version {
        outdated_version(schema, version)
    } else {
        format!(
            "rows of `{0}` are of version {version}, and the struct `{1}` of version {2} does not say what they become: \
             `from = ..` names the struct of the version before",
            schema.kind, schema.entity, schema.version
        )
    })
}

/// Returns the error of a read by an index that is not ready; `far` says how far its job is, if there is one.
#[cold]
pub fn unread(schema: &Schema, name: &str, why: &Unread, far: &str) -> Error {
    let kind = schema.kind;
    let because = match why {
        Unread::Pending(version) if *version > schema.version => {
            return Error::new(ErrorKind::LayoutChanged).because(outdated_version(schema, *version));
        }
        Unread::Pending(version) => {
            return pending(schema, *version, &format!("read by the index `{name}`"));
        }
        Unread::Otherwise => {
            format!(
                "the index `{name}` of `{kind}` is declared otherwise than its copies are; `Table::rebuild` makes it anew"
            )
        }
        Unread::Is(state) => {
            let way = match state {
                IndexState::Absent => "`Table::rebuild` makes it".to_owned(),
                IndexState::Blocked(blocked) => {
                    format!("{blocked}; change or delete one of them and call `Table::rebuild` again")
                }
                IndexState::Backfill | IndexState::Purge if far.is_empty() => {
                    let because = format!(
                        "the index `{name}` of `{kind}` is not whole, and no job is at it, as after a table with its \
                         copies was dropped: `Table::rebuild` makes it"
                    );
                    return Error::new(ErrorKind::IndexBuilding).because(because);
                }
                IndexState::Ready { .. } => {
                    "it was made after the snapshot was taken, whose state lacks some of it: take a new one"
                        .to_owned()
                }
                _ => format!("`Table::rebuild` goes on with it{far}"),
            };
            format!("the index `{name}` of `{kind}` {}; {way}", state.describe())
        }
    };
    Error::new(ErrorKind::IndexBuilding).because(because)
}

/// Checks C7, of kinds that meet in a table: no row of the new one can have a key of a row of those known.
pub fn check_apart<'k>(
    table: &str,
    mut known: impl Iterator<Item = (&'k str, &'k str)>,
    schema: &Schema,
) -> Result<()> {
    known.try_for_each(|(kind, layout)| {
        if kind == schema.kind {
            return Ok(());
        }
        let other = read(layout, kind)?;
        match schema::kinds_that_meet(table, schema, &other) {
            Some(because) => {
                // A kind with another name has no rows, and leaves those that there are alone.
                let hint = if schema::same_keys(&other, &Layout::of(schema)) {
                    format!("if `{}` is what `{kind}` is called now, keep `kind = \"{kind}\"`: ", schema.kind)
                } else {
                    String::new()
                };
                Err(Error::new(ErrorKind::LayoutConflict).because(hint + &because))
            }
            None => Ok(()),
        }
    })
}

/// Returns what a layout becomes when this declaration writes.
pub fn noted_with(table: &str, noted: Option<&Layout>, schema: &Schema) -> Layout {
    noted.map_or_else(|| Layout::of_in(schema, table), |noted| schema::united(table, noted, schema))
}

/// Makes sure that the rows of this kind can be read by this declaration. Nothing is noted.
pub fn declare(table: &dyn TableExec, noted: &dyn Layouts, schema: &'static Schema) -> Result<()> {
    examine(table, &noted.layouts()?, schema).map(drop)
}

/// Notes the layout of a kind that is about to be written, unless what is noted says it: for executors without jobs.
pub fn note(table: &dyn TableExec, noted: &dyn Layouts, schema: &'static Schema) -> Result<IndexMask> {
    loop {
        let known = noted.layouts()?;
        // Another program may be quicker. No layout comes back, so that does not go on for ever.
        let found = examine(table, &known, schema)?;
        let layout = of_kind(&known, schema)?;
        if found == Noted::PreviousVersion {
            return Err(pending(schema, layout.map_or(1, |noted| noted.version()), "written"));
        }
        unclear(&found, schema)?;
        let becomes = || noted_with(table.table_name(), layout.as_ref(), schema).to_string();
        if found == Noted::Same || noted.note(&known, schema.kind, &becomes())? {
            return Ok(IndexMask::NEW);
        }
    }
}

fn of_kind(known: &LayoutTexts, schema: &Schema) -> Result<Option<Layout>> {
    let noted = known.iter().find(|(kind, _)| kind == schema.kind);
    noted.map(|(kind, layout)| read(layout, kind)).transpose()
}

/// Compares a declaration with what is noted of its kind and of the others in the table.
fn examine(table: &dyn TableExec, known: &LayoutTexts, schema: &'static Schema) -> Result<Noted> {
    if schema.seals() || schema.signs_some() {
        table.store().vault()?;
    }
    let name = table.table_name();
    let noted = of_kind(known, schema)?;
    let found = compare(name, noted.as_ref(), schema)?;
    if let Noted::Before(differences) = &found
        && !differences.no_longer_plain.is_empty()
    {
        return Err(Error::new(ErrorKind::Unsupported).because(format!(
            "the store can't tell whether some value of `{}` is still plain; declare it with `#[encrypt(dual)]`",
            differences.no_longer_plain.join("`, `")
        )));
    }
    // Nothing here makes an index or removes one.
    if found != Noted::PreviousVersion
        && let Some(layout) = &noted
        && schema.lies_in(name)
        && let (index_mask, refusal) = schema::index_mask(Some(layout), &IndexStates::default(), schema)
        && (!index_mask.is_whole() || refusal.is_some())
    {
        let found = schema::differences_in(name, layout, schema);
        return Err(found.map_or_else(damaged, |found| changed(layout, &found, schema)));
    }
    if found != Noted::Same {
        check_apart(name, known.iter().map(|(kind, layout)| (kind.as_str(), layout.as_str())), schema)?;
    }
    Ok(found)
}

/// Returns the error of a write, by its properties, of a row that a struct declares: one of these entities, or a copy in one
/// of their indexes.
#[cold]
pub fn needs_its_struct(kind: &str, of_row: &str, index: Option<&str>) -> Error {
    let what = match index {
        // The rows of a summary have its name, and those of copies that of their entity before theirs.
        Some(index) if index == of_row => {
            format!("the row is of the summary `{index}` of entities of the kind `{kind}`")
        }
        // What is behind the kind is the number of a part.
        None if of_row.len() > kind.len() && of_row.starts_with(kind) && of_row.contains('.') => {
            format!("the row is a part of a wide entity of the kind `{kind}`, which a struct declares")
        }
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
#[inline]
pub fn check_by_properties(known: &LayoutTexts, kind: &str) -> Result<()> {
    for (of, layout) in known {
        let layout = read(layout, of)?;
        let (own, part) = (layout.entity_type(), layout.part_of_kind(kind));
        if own == kind || part.is_some() || schema::other_version(&own, kind).is_some() {
            return Err(needs_its_struct(of, kind, None));
        }
        if let Some(index) = layout.indexes().find(|index| layout.index_kind(index) == kind) {
            return Err(needs_its_struct(of, kind, Some(&index.name)));
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
        let layout = read(layout, kind)?;
        let because = if !goes(layout.table()) {
            format!("the table holds copies of `{kind}`, whose entities are in table `{}`", layout.table())
        } else if let Some(other) = layout.other_tables().into_iter().find(|other| !goes(other)) {
            format!("copies of `{kind}`, whose entities the table holds, are in table `{other}`")
        } else {
            return Ok(());
        };
        let because = format!("{because}: drop both by `Store::drop_tables`");
        Err(Error::new(ErrorKind::CopiesElsewhere).because(because).table(table))
    })
}

#[cold]
pub fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("the layout of a kind of entity is damaged")
}
