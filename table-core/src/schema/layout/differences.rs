//! The changes from one layout to another, and whether they do any harm.

use super::super::format::key_type::{Format, KeyType, lengths};
use super::super::{CopiedFields, Copies, Field, Index, Part, Schema, Sum, SumOf, Template};
use super::{COPIED, EVENTUAL, GONE, HOLDER, layout_in, read, renamed, series};
use crate::model::EdmType;
use crate::sorted_map::SortedMap;

/// The changes from one layout to another.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing of the same lines")]
pub(crate) struct Differences {
    /// Lines that are gone, after `-`, and lines that are new, after `+`.
    pub(crate) lines: Vec<String>,
    /// Whether the declaration says anything that the layout does not: else the layout says what the declaration does,
    /// and more.
    pub(crate) adds: bool,
    /// Whether what was written under the old layout reads rightly under the new one, copies too.
    pub(crate) is_compatible: bool,
    /// Properties that rows were allowed to hold plain, and are no longer: compatible if no row does.
    pub(crate) no_longer_plain: Vec<&'static str>,
    /// Whether a plain property is sealed from now on, which programs that have the table open don't know.
    pub(crate) begins_to_seal: bool,
    /// Whether sealing changed in a way that no layout may follow the noted one.
    pub(crate) jumps: bool,
    /// What must be said of properties before anything is written: they may be what others were.
    pub(crate) unclear: Vec<String>,
}

/// What a line of a layout is about: its first word, and its second one where several lines begin with that word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Subject<'l> {
    word: &'l str,
    /// Empty where one line alone begins with the word.
    name: &'l str,
}

impl<'l> Subject<'l> {
    pub(super) fn property(name: &'l str) -> Self {
        Self { word: "property", name }
    }
}

/// How the sealing of a property changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sealing {
    Same,
    /// From plain: rows may hold either from now on.
    Begins,
    /// Rows must hold it sealed from now on.
    Ends,
    /// There is no way: plain values can't be taken for sealed ones, nor sealed ones for plain.
    Jumps,
}

fn sealing(old: &Field, new: &Field) -> Sealing {
    match ((old.encrypted, old.dual), (new.encrypted, new.dual)) {
        ((false, _), (false, _)) => Sealing::Same,
        (old, new) if old == new => Sealing::Same,
        ((false, _), (true, true)) => Sealing::Begins,
        ((true, true), (true, false)) => Sealing::Ends,
        _ => Sealing::Jumps,
    }
}

/// Compares a layout that was noted with that of a declaration; `None` if they are the same.
#[cfg(test)]
pub(crate) fn differences(noted: &str, schema: &Schema) -> Option<Differences> {
    differences_in(schema.table(), noted, schema)
}

/// Compares a layout that was noted in the table of this name with that of a declaration; `None` if they are the same.
pub(crate) fn differences_in(table: &str, noted: &str, schema: &Schema) -> Option<Differences> {
    let declared = layout_in(schema, table);
    if noted == declared {
        return None;
    }
    let (noted_text, spread_old, spread_new) = (noted, series::spread(noted), series::spread(&declared));
    let (old, new) = (by_subject(&spread_old), by_subject(&spread_new));
    let noted = read(noted, schema.kind);
    let mut found = Differences {
        lines: Vec::new(),
        adds: false,
        is_compatible: noted.is_some() && !series::is_renamed(noted_text, &declared),
        no_longer_plain: Vec::new(),
        begins_to_seal: false,
        jumps: false,
        unclear: Vec::new(),
    };
    if let Some(noted) = &noted {
        found.is_compatible &= prints_anew(noted, schema).is_none()
            && renamed::misspelt(noted, schema).is_empty()
            && !renamed::empties_copies(noted, schema);
        found.unclear =
            renamed::unclear(noted, schema).iter().map(|unclear| unclear.advice(schema)).collect();
    }
    for (old, new) in noted.iter().flat_map(|noted| both(noted, schema)) {
        match sealing(old, new) {
            Sealing::Same => {}
            Sealing::Begins => found.begins_to_seal = true,
            Sealing::Ends => found.no_longer_plain.push(new.property),
            Sealing::Jumps => found.jumps = true,
        }
    }
    for (subject, line) in old.iter() {
        match new.get(subject) {
            Some(now) if now == line => {}
            // A program that takes a copy that follows for another kind can't write it, so it stays noted.
            Some(now) if subject.word == COPIED && follows_no_more(line, now) => {
                found.lines.extend([format!("- {line}"), format!("+ {now}")]);
            }
            Some(now)
                if subject.word == "index"
                    && !noted.as_ref().is_some_and(|noted| may_become(noted, schema, *subject)) =>
            {
                found.lines.extend([format!("- {line}"), format!("+ {now}")]);
            }
            Some(now) => {
                found.adds = true;
                found.is_compatible &=
                    noted.as_ref().is_some_and(|noted| may_become(noted, schema, *subject));
                found.lines.extend([format!("- {line}"), format!("+ {now}")]);
            }
            None => {
                // A property that has another name now is compared with what it has become.
                found.is_compatible &= noted.as_ref().is_some_and(|noted| {
                    may_lack(noted, *subject)
                        || renamed_to(schema, *subject).is_some()
                        || goes(noted, schema, *subject)
                });
                found.lines.push(format!("- {line}"));
            }
        }
    }
    for (subject, line) in new.iter().filter(|(subject, _)| old.get(*subject).is_none()) {
        // An index comes and goes by a job, whatever is noted.
        let is_index = subject.word == "index";
        found.adds |= !is_index;
        // Rows read the same, whatever entities have copies of them.
        let is_index = is_index || is_told(subject.word);
        let is_renamed = || noted.as_ref().is_some_and(|noted| may_become_renamed(noted, schema, *subject));
        found.is_compatible &= is_index
            || subject.word == "property" && may_come(schema, subject.name)
            || is_renamed()
            || subject.word == GONE;
        found.lines.push(format!("+ {line}"));
    }
    series::gathered(&mut found.lines, noted_text, &declared);
    Some(found)
}

/// Returns whether a declaration may lack what a layout says: a property that may be absent. A program that doesn't know it
/// carries its values along, as they are; one that is sealed it could not move to another row.
/// Nor may it lack one that has been renamed: it would write the previous name.
pub(super) fn may_lack(noted: &Schema, subject: Subject<'_>) -> bool {
    let Subject { word, name } = subject;
    let may_stay = |field: &Field| field.optional && !field.encrypted && field.was.is_none();
    word == "index" || is_told(word) || word == "property" && of_property(noted, name).is_some_and(may_stay)
}

/// Returns whether lines of this word say which entities hold copies of which. Rows are read without these lines;
/// [`outdated`] says which programs can't write.
fn is_told(word: &str) -> bool {
    word == COPIED || word == HOLDER
}

/// Returns whether a declaration may have a property that no layout says: rows may lack it.
fn may_come(schema: &Schema, name: &str) -> bool {
    of_property(schema, name).is_some_and(|field| field.optional && field.was.is_none())
}

/// Returns whether a property, or the word that it goes, may be left out: it is to go by either, and no field of the
/// declaration. Its line stays, since indexes that are still there may be of it.
fn goes(noted: &Schema, schema: &Schema, subject: Subject<'_>) -> bool {
    let name = subject.name;
    let is_plain = || of_property(noted, name).is_some_and(|field| !field.encrypted);
    match subject.word {
        "property" => (schema.removed.contains(&name) || noted.removed.contains(&name)) && is_plain(),
        GONE => of_property(schema, name).is_none(),
        _ => false,
    }
}

pub(super) fn of_property<'s>(schema: &'s Schema, name: &str) -> Option<&'s Field> {
    schema.fields.iter().find(|field| field.property == name)
}

/// Returns what a property of a layout is called by a declaration that says what it was.
pub(super) fn renamed_to<'s>(schema: &'s Schema, subject: Subject<'_>) -> Option<&'s Field> {
    let is_property = subject.word == "property";
    schema.fields.iter().find(|field| is_property && field.was == Some(subject.name))
}

/// Returns whether a property that has another name now holds what it held. A name that no row of the layout has renames nothing:
/// such a property may be absent, as any new one.
fn may_become_renamed(noted: &Schema, schema: &Schema, subject: Subject<'_>) -> bool {
    let Some(new) = of_property(schema, subject.name).filter(|_| subject.word == "property") else {
        return false;
    };
    match new.was.and_then(|was| of_property(noted, was)) {
        // Rows may still have it under the name before that, which a property can't say besides.
        Some(old) => !is_renamed_again(old, new) && holds_what(old, new),
        None => new.optional,
    }
}

/// Returns whether a property that was renamed is given a third name. Rows that have the first would read as if they had none.
pub(super) fn is_renamed_again(old: &Field, new: &Field) -> bool {
    old.property != new.property && old.was.is_some()
}

/// Why a program with an older declaration can't go on, though it has written by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outdated {
    /// It would write plain what is sealed by now.
    Bare,
    /// It would write, under its previous name, a property that has been renamed.
    Misnamed { is: &'static str, was: &'static str },
    /// It is of an earlier version than this one.
    PreviousVersion(u32),
    /// It would leave what this property holds of another entity as it was.
    Uncopied(&'static str),
    /// It would leave what entities of this kind hold of it as it was.
    Untold(&'static str),
    /// It would write this property, which is to go.
    Gone(&'static str),
    /// It knows fewer parts than the entities have: so many.
    Narrow(usize),
}

/// Returns why a program with this declaration can't write under a layout that another one has noted, if it can't.
pub(crate) fn outdated(noted: &str, schema: &Schema) -> Option<Outdated> {
    let noted = read(noted, schema.kind)?;
    if noted.version > schema.version {
        return Some(Outdated::PreviousVersion(noted.version));
    }
    if noted.parts.len() > schema.parts.len() {
        return Some(Outdated::Narrow(noted.parts.len()));
    }
    if let Some(gone) = noted.removed.iter().find(|gone| of_property(schema, gone).is_some()) {
        return Some(Outdated::Gone(gone));
    }
    if both(&noted, schema).any(|(old, new)| old.encrypted && !new.encrypted) {
        return Some(Outdated::Bare);
    }
    if let Some(forgotten) = forgotten(&noted, schema) {
        return Some(forgotten);
    }
    let renamed = noted.fields.iter().filter_map(|field| Some((field.property, field.was?)));
    let is_known = |is, was| of_property(schema, is).is_some_and(|field| field.was == Some(was));
    let (is, was) = renamed.filter(|(is, was)| !is_known(*is, *was)).min()?;
    Some(Outdated::Misnamed { is, was })
}

/// Returns what a declaration does not say of copies, and the one noted does.
pub(crate) fn forgotten(noted: &Schema, schema: &Schema) -> Option<Outdated> {
    let is_one = |was: &CopiedFields, is: &CopiedFields| {
        was.property == is.property
            // A copy that follows is looked up with each change of its dependent, which a program that takes it for another
            // would not do.
            && (is.is_eventual() || !was.is_eventual())
            && was.key.len() == is.key.len()
            && was.key.iter().zip(is.key).all(|(was, is)| is_one(noted.fields.get(*was), schema.fields.get(*is)))
    };
    let is_held = |was: &&CopiedFields| schema.copied.iter().any(|is| is_one(was, is));
    if let Some(copy) = noted.copied.iter().find(|copy| !is_held(copy)) {
        return Some(Outdated::Uncopied(copy.property));
    }
    let dependent = noted.dependents.iter().find(|kind| !schema.dependents.contains(kind));
    dependent.map(|kind| Outdated::Untold(kind))
}

/// Returns the layout that says what the noted one and the declaration do: what only the noted one has is left as it is. The
/// indexes are those that are noted, since an index comes and goes by a job.
pub(crate) fn united(table: &str, noted: &str, schema: &Schema) -> String {
    let declared = layout_in(schema, table);
    let own = declared.lines().filter(|line| !line.starts_with("index "));
    let following = noted.lines().filter(|line| line.starts_with(COPIED));
    let following: SortedMap<_, _> =
        following.filter_map(|line| Some((line.split(' ').nth(1)?, line))).collect();
    let own = own.map(|line| match line.split(' ').nth(1).and_then(|name| following.get(name)) {
        Some(noted) if line.starts_with(COPIED) && follows_no_more(noted, line) => noted,
        _ => series::longer(noted, line),
    });
    let mut lines: Vec<_> = own.collect();
    let together = lines.join("\n");
    let (spread_old, spread_new) = (series::spread(noted), series::spread(&together));
    let (old, new) = (by_subject(&spread_old), by_subject(&spread_new));
    let declared_lines = by_subject(&declared);
    let was = read(noted, schema.kind);
    lines.extend(
        old.iter()
            .filter(|(subject, _)| is_kept(subject.word) && new.get(*subject).is_none())
            .filter(|(subject, _)| renamed_to(schema, **subject).is_none())
            .map(|(_, line)| *line),
    );
    for line in noted.lines().filter(|line| line.starts_with("index ")) {
        let subject = Subject { word: "index", name: line.split(' ').nth(1).unwrap_or_default() };
        // One that only prints wider values is the same.
        let becomes = was.as_ref().is_some_and(|was| may_become(was, schema, subject));
        lines.push(declared_lines.get(&subject).filter(|_| becomes).copied().unwrap_or(line));
    }
    lines.join("\n")
}

/// Returns whether lines of this word stay although a declaration lacks them: properties are carried along, and what is said of
/// copies is [taken out](without_copies) where that is asked for.
fn is_kept(word: &str) -> bool {
    matches!(word, "property" | GONE) || is_told(word)
}

/// Returns the layout without what it says of copies and this declaration doesn't.
pub(crate) fn without_copies(table: &str, noted: &str, schema: &Schema) -> String {
    let declared = layout_in(schema, table);
    let declared = by_subject(&declared);
    let kept = |line: &&str| {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let subject = Subject { word: word(), name: word() };
        !is_told(subject.word) || declared.get(&subject).is_some_and(|now| !follows_no_more(line, now))
    };
    noted.lines().filter(kept).collect::<Vec<_>>().join("\n")
}

/// Returns whether a copy that follows by the one line does not by the other.
fn follows_no_more(noted: &str, declared: &str) -> bool {
    let follows = |line: &str| line.split(' ').nth(2).is_some_and(|word| EVENTUAL.trim_start() == word);
    follows(noted) && !follows(declared)
}

/// Returns the properties that both layouts have.
fn both<'s>(old: &'s Schema, new: &'s Schema) -> impl Iterator<Item = (&'s Field, &'s Field)> {
    let of_old = |field: &Field| {
        let previous = || of_property(old, field.was?);
        of_property(old, field.property).or_else(previous)
    };
    new.fields.iter().filter_map(move |field| Some((of_old(field)?, field)))
}

/// Returns the lines of a layout by their subjects.
fn by_subject(layout: &str) -> SortedMap<Subject<'_>, &'_ str> {
    let lines = layout.lines().map(|line| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let name = if matches!(word, "property" | "index" | GONE) || is_told(word) {
            rest.split(' ').next()
        } else {
            None
        };
        (Subject { word, name: name.unwrap_or_default() }, line)
    });
    lines.collect()
}

/// Returns whether rows written under a line of one layout read rightly under that of the other.
fn may_become(old: &Schema, new: &Schema, subject: Subject<'_>) -> bool {
    let Subject { word, name } = subject;
    match word {
        "partition" => prints_as(old, &old.place().partition, new, &new.place().partition),
        "row" => prints_as(old, &old.place().row, new, &new.place().row),
        "property" => {
            let (was, is) = (of_property(old, name), of_property(new, name));
            // Two properties can't become one.
            let meets = |was: &str| of_property(old, was).is_some();
            was.zip(is).is_some_and(|(was, is)| {
                let renames = is.was.filter(|previous| was.was != Some(previous));
                // While rows may have the previous name, each writer has to know it.
                holds_what(was, is) && (was.was.is_none() || was.was == is.was) && !renames.is_some_and(meets)
            })
        }
        // What it holds is looked up by others from now on.
        _ if is_told(word) => true,
        "index" => {
            let of = |schema: &Schema| schema.indexes.iter().find(|index| index.name == name).copied();
            of(old).zip(of(new)).is_some_and(|(was, is)| same_index(old, &was, new, &is))
        }
        _ => false,
    }
}

/// Returns whether a field reads what rows hold of another.
pub(super) fn holds_what(old: &Field, new: &Field) -> bool {
    let widens = (old.edm, new.edm) == (EdmType::Int32, EdmType::Int64);
    (old.edm == new.edm || widens)
        && old.part == new.part
        && (new.optional || !old.optional)
        && sealing(old, new) != Sealing::Jumps
        && (!old.encrypted || (old.scope, old.blind) == (new.scope, new.blind))
}

/// Returns whether two declarations mean one property, which the later one may have renamed.
fn is_one(old: Option<&Field>, new: Option<&Field>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => old.property == new.property || new.was == Some(old.property),
        (None, None) => true,
        _ => false,
    }
}

/// Returns whether the rows of an index under one declaration are those that another one makes.
pub(crate) fn same_index(old: &Schema, was: &Index, new: &Schema, is: &Index) -> bool {
    fn copied<'s>(schema: &'s Schema, index: &Index) -> Vec<Option<&'s Field>> {
        match index.copies {
            Copies::Some(fields) => fields.iter().map(|at| schema.fields.get(*at)).collect(),
            Copies::All | Copies::Keys => Vec::new(),
        }
    }
    let (before, now) = (copied(old, was), copied(new, is));
    // The name of the entities' own table is none in a layout.
    let other_table = |schema: &Schema, index: &Index| {
        let table = index.place.table.source();
        if table.eq_ignore_ascii_case(schema.table()) { String::new() } else { table.to_ascii_lowercase() }
    };
    was.name == is.name
        && (was.unique, was.sparse, was.when_version) == (is.unique, is.sparse, is.when_version)
        && was.arrival == is.arrival
        && same_sums(old, was, new, is)
        && same_ids(old, was, new, is)
        && other_table(old, was) == other_table(new, is)
        && (!is.is_elsewhere() || prints_as(old, &was.place.partition, new, &is.place.partition))
        && std::mem::discriminant(&was.copies) == std::mem::discriminant(&is.copies)
        && before.len() == now.len()
        && before.into_iter().zip(now).all(|(was, is)| is_one(was, is))
        && prints_as(old, &was.place.row, new, &is.place.row)
}

/// Returns whether both are summaries of the same numbers, or neither is one.
fn same_sums(old: &Schema, was: &Index, new: &Schema, is: &Index) -> bool {
    let same = |was: &Sum, is: &Sum| {
        was.property == is.property
            && match (was.of, is.of) {
                (SumOf::Field(was), SumOf::Field(is)) => is_one(old.fields.get(was), new.fields.get(is)),
                (was, is) => was == is,
            }
    };
    match (was.summary, is.summary) {
        (None, None) => true,
        (Some(was), Some(is)) => {
            was.sums.len() == is.sums.len() && was.sums.iter().zip(is.sums).all(|(was, is)| same(was, is))
        }
        _ => false,
    }
}

/// Returns whether both are lists of the same ids, or neither is one.
fn same_ids(old: &Schema, was: &Index, new: &Schema, is: &Index) -> bool {
    match (was.list, is.list) {
        (None, None) => true,
        (Some(was), Some(is)) => prints_as(old, &was.ids, new, &is.ids),
        _ => false,
    }
}

/// Returns whether rows of two kinds have the same keys: one may be what the other is called now.
pub(crate) fn same_keys(old: &Schema, new: &Schema) -> bool {
    let (was, is) = (old.place(), new.place());
    prints_as(old, &was.partition, new, &is.partition) && prints_as(old, &was.row, new, &is.row)
}

/// Returns whether the second template prints every key as the first has printed it.
pub(super) fn prints_as(old: &Schema, was: &Template, new: &Schema, is: &Template) -> bool {
    was.parts.len() == is.parts.len()
        && was.parts.iter().zip(is.parts).all(|parts| match parts {
            (Part::Literal(was), Part::Literal(is)) => was == is,
            (Part::Field(was), Part::Field(is)) => {
                is_one(old.fields.get(was.field), new.fields.get(is.field))
                    && (was.each, was.format, was.version) == (is.each, is.format, is.version)
                    && values_print_as(was.key, is.key, was.format)
            }
            _ => false,
        })
}

/// Returns a property whose type prints otherwise than it did, by what it says of itself, with the previous version of that and
/// the one declared. What keys have of it, rows have: those that are there hold what is printed no more.
pub(super) fn prints_anew(old: &Schema, new: &Schema) -> Option<(&'static str, u32, u32)> {
    let parts = |schema: &Schema| {
        let place = schema.place();
        let places = schema.indexes.iter().flat_map(|index| [index.place.partition, index.place.row]);
        let templates: Vec<Template> = [place.partition, place.row].into_iter().chain(places).collect();
        let parts = templates.into_iter().flat_map(|template| template.parts).filter_map(|part| match part {
            Part::Field(part) => Some((schema.fields.get(part.field)?, part.version)),
            Part::Literal(_) => None,
        });
        parts.map(|(field, version)| (*field, version)).collect::<Vec<_>>()
    };
    let was = parts(old);
    parts(new).into_iter().find_map(|(field, version)| {
        let of_it = |(old, _): &&(Field, u32)| is_one(Some(old), Some(&field));
        let (_, previous) = was.iter().find(of_it)?;
        (*previous != version).then_some((field.property, *previous, version))
    })
}

fn values_print_as(old: KeyType, new: KeyType, format: Format) -> bool {
    let is_padded = matches!(format, Format::Pad(_) | Format::PadInverted(_));
    match (old, new) {
        (KeyType::Unsigned { max: was, .. }, KeyType::Unsigned { max: is, .. }) if is_padded => was <= is,
        // Names may be added. Whether all have one length says where the part ends.
        (KeyType::Names(was), KeyType::Names(is)) => {
            let one_width = |names| matches!(lengths(names), (least, most) if least == most);
            was.iter().all(|name| is.contains(name)) && one_width(was) == one_width(is)
        }
        (KeyType::Optional(was), KeyType::Optional(is)) | (KeyType::Each(was), KeyType::Each(is)) => {
            values_print_as(*was, *is, format)
        }
        (was, is) => was == is,
    }
}
