//! The changes from one layout to another, and whether they do any harm.

use std::collections::BTreeMap;
use std::fmt;

use table_words::Format;

use super::super::Schema;
use super::super::format::key_type::{KeyType, lengths};
use super::index::{LayoutIndex, RowsOf, SumOf, Summed};
use super::key::{KeyPart, KeyValues, LayoutKey, Printed};
use super::line::{CopiedLine, Line, Subject};
use super::property::LayoutProperty;
use super::{Layout, renamed, series};
use crate::model::EdmType;

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
    pub(crate) no_longer_plain: Vec<String>,
    /// Whether a plain property is sealed from now on, which programs that have the table open don't know.
    pub(crate) begins_to_seal: bool,
    /// Whether sealing changed in a way that no layout may follow the noted one.
    pub(crate) jumps: bool,
    /// What must be said of properties before anything is written: they may be what others were.
    pub(crate) unclear: Vec<String>,
}

/// A line that one of two layouts has.
pub(super) struct Changed {
    pub(super) line: Line,
    /// Whether the declaration has it; else it is gone.
    pub(super) is_new: bool,
}

impl Changed {
    fn gone(line: &Line) -> Self {
        Self { line: line.clone(), is_new: false }
    }

    fn new(line: &Line) -> Self {
        Self { line: line.clone(), is_new: true }
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.is_new { "+" } else { "-" }, self.line)
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

fn sealing(old: &LayoutProperty, new: &LayoutProperty) -> Sealing {
    match (old.sealed.map(|sealed| sealed.dual), new.sealed.map(|sealed| sealed.dual)) {
        (old, new) if old == new => Sealing::Same,
        (None, Some(true)) => Sealing::Begins,
        (Some(true), Some(false)) => Sealing::Ends,
        _ => Sealing::Jumps,
    }
}

/// Compares a layout that was noted in the table of this name with that of a declaration; `None` if they are the same.
pub(crate) fn differences_in(table: &str, noted: &Layout, schema: &Schema) -> Option<Differences> {
    let declared = Layout::of_in(schema, table);
    if *noted == declared {
        return None;
    }
    let unclear = renamed::unclear(noted, schema);
    let mut found = Differences {
        lines: Vec::new(),
        adds: false,
        is_compatible: !series::is_renamed(noted, &declared)
            && prints_anew(noted, &declared).is_none()
            && renamed::misspelt(noted, schema).is_empty()
            && !renamed::empties_copies(noted, schema),
        no_longer_plain: Vec::new(),
        begins_to_seal: false,
        jumps: false,
        unclear: unclear.iter().map(|unclear| unclear.advice(schema)).collect(),
    };
    for (old, new) in both(noted, &declared) {
        match sealing(old, new) {
            Sealing::Same => {}
            Sealing::Begins => found.begins_to_seal = true,
            Sealing::Ends => found.no_longer_plain.push(new.name.clone()),
            Sealing::Jumps => found.jumps = true,
        }
    }
    let mut lines = found.compare_lines(noted, &declared);
    series::gather(&mut lines, noted, &declared);
    found.lines = lines.iter().map(ToString::to_string).collect();
    Some(found)
}

impl Differences {
    /// Compares line by line, those of series property by property. Returns the lines that differ.
    fn compare_lines(&mut self, noted: &Layout, declared: &Layout) -> Vec<Changed> {
        let (spread_old, spread_new) = (noted.spread(), declared.spread());
        let (old, new) = (by_subject(&spread_old), by_subject(&spread_new));
        let mut lines = Vec::new();
        for (subject, line) in &old {
            let Some(now) = new.get(subject) else {
                // A property that has another name now is compared with what it has become.
                self.is_compatible &= may_lack(line)
                    || matches!(line, Line::Property(old) if renamed_to(declared, &old.name).is_some())
                    || goes(noted, declared, line);
                lines.push(Changed::gone(line));
                continue;
            };
            if line == now {
                continue;
            }
            lines.extend([Changed::gone(line), Changed::new(now)]);
            let may_become = may_become(noted, declared, line, now);
            // A program that takes a copy that follows for another kind can't write it, so it stays noted; an index comes and
            // goes by a job.
            if !(follows_no_more(line, now) || matches!(line, Line::Index(_)) && !may_become) {
                self.adds = true;
                self.is_compatible &= may_become;
            }
        }
        for (_, line) in new.iter().filter(|(subject, _)| !old.contains_key(*subject)) {
            let is_index = matches!(line, Line::Index(_));
            self.adds |= !is_index;
            // Rows read the same, whatever entities have copies of them.
            self.is_compatible &= is_index
                || line.is_of_copies()
                || matches!(line, Line::Removed(_))
                || matches!(line, Line::Property(new) if may_come(noted, new));
            lines.push(Changed::new(line));
        }
        lines
    }
}

/// Returns whether a declaration may lack what a layout says: a property that may be absent. A program that doesn't know it
/// carries its values along, as they are; one that is sealed it could not move to another row.
/// Nor may it lack one that has been renamed: it would write the previous name.
fn may_lack(line: &Line) -> bool {
    match line {
        Line::Property(property) => is_dispensable(property),
        Line::Index(_) => true,
        _ => line.is_of_copies(),
    }
}

/// Returns whether a declaration may lack a property that rows have.
pub(super) fn is_dispensable(property: &LayoutProperty) -> bool {
    property.optional && property.sealed.is_none() && property.was.is_none()
}

/// Returns whether a declaration may have a property that no layout says: rows may lack it, or have it under another name. A
/// previous name that no row of the layout has renames nothing: such a property may be absent, as any new one.
fn may_come(noted: &Layout, new: &LayoutProperty) -> bool {
    match new.was.as_ref().and_then(|was| noted.property(was)) {
        // Rows may still have it under the name before that, which a property can't say besides.
        Some(old) => !is_renamed_again(old, new) && holds_what(old, new),
        None => new.optional,
    }
}

/// Returns whether a property, or the word that it goes, may be left out: it is to go by either, and no field of the
/// declaration. Its line stays, since indexes that are still there may be of it.
fn goes(noted: &Layout, declared: &Layout, line: &Line) -> bool {
    match line {
        Line::Property(old) => {
            old.sealed.is_none() && declared.removed().chain(noted.removed()).any(|gone| gone == old.name)
        }
        Line::Removed(name) => declared.property(name).is_none(),
        _ => false,
    }
}

/// Returns what a property of a layout is called by a declaration that says what it was.
pub(super) fn renamed_to<'l>(declared: &'l Layout, name: &str) -> Option<&'l LayoutProperty> {
    declared.properties.iter().find(|property| property.was.as_deref() == Some(name))
}

/// Returns whether a property that was renamed is given a third name. Rows that have the first would read as if they had none.
pub(super) fn is_renamed_again(old: &LayoutProperty, new: &LayoutProperty) -> bool {
    old.name != new.name && old.was.is_some()
}

/// Why a program with an older declaration can't go on, though it has written by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outdated {
    /// It would write plain what is sealed by now.
    Bare,
    /// It would write, under its previous name, a property that has been renamed.
    Misnamed { is: String, was: String },
    /// It is of an earlier version than this one.
    PreviousVersion(u32),
    /// It would leave what this property holds of another entity as it was.
    Uncopied(String),
    /// It would leave what entities of this kind hold of it as it was.
    Untold(String),
    /// It would write this property, which is to go.
    Gone(String),
    /// It knows fewer parts than the entities have: so many.
    Narrow(usize),
}

/// Returns why a program with this declaration can't write under a layout that another one has noted, if it can't.
pub(crate) fn outdated(noted: &Layout, schema: &Schema) -> Option<Outdated> {
    if noted.version() > schema.version {
        return Some(Outdated::PreviousVersion(noted.version()));
    }
    if noted.parts() > schema.parts.len() {
        return Some(Outdated::Narrow(noted.parts()));
    }
    let declared = Layout::of(schema);
    if let Some(gone) = noted.removed().find(|gone| declared.property(gone).is_some()) {
        return Some(Outdated::Gone(gone.to_owned()));
    }
    if both(noted, &declared).any(|(old, new)| old.sealed.is_some() && new.sealed.is_none()) {
        return Some(Outdated::Bare);
    }
    if let Some(forgotten) = forgotten(noted, &declared) {
        return Some(forgotten);
    }
    let renamed =
        noted.properties.iter().filter_map(|property| Some((&property.name, property.was.as_ref()?)));
    let is_known =
        |is: &str, was: &String| declared.property(is).is_some_and(|is| is.was.as_ref() == Some(was));
    let (is, was) = renamed.filter(|(is, was)| !is_known(is, was)).min()?;
    Some(Outdated::Misnamed { is: is.clone(), was: was.clone() })
}

/// Returns what a declaration does not say of copies, and the one noted does.
pub(crate) fn forgotten(noted: &Layout, declared: &Layout) -> Option<Outdated> {
    let same_key = |was: &CopiedLine, is: &CopiedLine| {
        was.key.len() == is.key.len()
            && was.key.iter().zip(&is.key).all(|(was, is)| is_one(noted.named(was), declared.named(is)))
    };
    // A copy that follows is looked up with each change of its dependent, which a program that takes it for another would not do.
    let is_same = |was: &CopiedLine, is: &CopiedLine| {
        was.property == is.property && (is.is_eventual || !was.is_eventual) && same_key(was, is)
    };
    if let Some(copy) = noted.copied().find(|was| !declared.copied().any(|is| is_same(was, is))) {
        return Some(Outdated::Uncopied(copy.property.clone()));
    }
    let dependent = noted.dependents().find(|kind| declared.dependents().all(|known| known != *kind))?;
    Some(Outdated::Untold(dependent.to_owned()))
}

/// Returns the layout that says what the noted one and the declaration do: what only the noted one has is left as it is. The
/// indexes are those that are noted, since an index comes and goes by a job.
pub(crate) fn united(table: &str, noted: &Layout, schema: &Schema) -> Layout {
    let declared = Layout::of_in(schema, table);
    let own = declared.lines.iter().filter(|line| !matches!(line, Line::Index(_)));
    let own = own.map(|line| match noted.lines.iter().find(|noted| noted.subject() == line.subject()) {
        Some(noted) if follows_no_more(noted, line) => noted.clone(),
        _ => series::longer(noted, line),
    });
    let together = Layout::new(&noted.kind, own.collect());
    let (spread_old, spread_new) = (noted.spread(), together.spread());
    let (old, new) = (by_subject(&spread_old), by_subject(&spread_new));
    let mut lines = together.lines;
    // Properties are carried along, and what is said of copies is taken out where that is asked for.
    let is_kept = |line: &Line| match line {
        Line::Property(property) => renamed_to(&declared, &property.name).is_none(),
        Line::Removed(_) => true,
        _ => line.is_of_copies(),
    };
    let kept = old.iter().filter(|(subject, line)| is_kept(line) && !new.contains_key(*subject));
    lines.extend(kept.map(|(_, line)| (*line).clone()));
    for was in noted.indexes() {
        // One that only prints wider values is the same.
        let is = declared.index(&was.name).filter(|is| same_index(noted, was, &declared, is));
        lines.push(Line::Index(is.unwrap_or(was).clone()));
    }
    Layout::new(&noted.kind, lines)
}

/// Returns the layout without what it says of copies and this declaration doesn't.
pub(crate) fn without_copies(table: &str, noted: &Layout, schema: &Schema) -> Layout {
    let declared = Layout::of_in(schema, table);
    let declared = by_subject(&declared.lines);
    noted.filtered(|line| {
        !line.is_of_copies() || declared.get(&line.subject()).is_some_and(|now| !follows_no_more(line, now))
    })
}

/// Returns whether a copy that follows by the one line does not by the other.
fn follows_no_more(noted: &Line, declared: &Line) -> bool {
    matches!((noted, declared), (Line::Copied(was), Line::Copied(is)) if was.is_eventual && !is.is_eventual)
}

/// Returns the properties that both layouts have.
fn both<'l>(
    old: &'l Layout,
    new: &'l Layout,
) -> impl Iterator<Item = (&'l LayoutProperty, &'l LayoutProperty)> {
    let of_old = |new: &LayoutProperty| {
        let previous = || old.property(new.was.as_ref()?);
        old.property(&new.name).or_else(previous)
    };
    new.properties.iter().filter_map(move |new| Some((of_old(new)?, new)))
}

/// Returns the lines of a layout by their subjects.
fn by_subject(lines: &[Line]) -> BTreeMap<Subject<'_>, &Line> {
    lines.iter().map(|line| (line.subject(), line)).collect()
}

/// Returns whether rows written under a line of one layout read rightly under that of the other.
fn may_become(old: &Layout, new: &Layout, was: &Line, is: &Line) -> bool {
    match (was, is) {
        (Line::Partition(was), Line::Partition(is)) | (Line::Row(was), Line::Row(is)) => {
            prints_as(old, was, new, is)
        }
        (Line::Property(was), Line::Property(is)) => {
            let renames = is.was.as_ref().filter(|previous| was.was.as_ref() != Some(previous));
            // While rows may have the previous name, each writer has to know it. Two properties can't become one.
            holds_what(was, is)
                && (was.was.is_none() || was.was == is.was)
                && renames.is_none_or(|previous| old.property(previous).is_none())
        }
        (Line::Index(was), Line::Index(is)) => same_index(old, was, new, is),
        // What it holds is looked up by others from now on.
        _ => was.is_of_copies(),
    }
}

/// Returns whether a property reads what rows hold of another.
pub(super) fn holds_what(old: &LayoutProperty, new: &LayoutProperty) -> bool {
    let widens = (old.edm, new.edm) == (EdmType::Int32, EdmType::Int64);
    (old.edm == new.edm || widens)
        && old.part == new.part
        && (new.optional || !old.optional)
        && sealing(old, new) != Sealing::Jumps
        && (old.sealed.is_none() || have_same_keys(old, new))
}

/// Returns whether the keys of one scope seal both properties, and their tokens are the same.
pub(super) fn have_same_keys(old: &LayoutProperty, new: &LayoutProperty) -> bool {
    (old.scope(), old.tokens(), old.token()) == (new.scope(), new.tokens(), new.token())
}

/// Returns whether two layouts mean one property, which the later one may have renamed.
fn is_one(old: Option<&LayoutProperty>, new: Option<&LayoutProperty>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => old.name == new.name || new.was.as_ref() == Some(&old.name),
        (None, None) => true,
        _ => false,
    }
}

/// Returns whether the rows of an index under one layout are those that another one makes.
pub(crate) fn same_index(old: &Layout, was: &LayoutIndex, new: &Layout, is: &LayoutIndex) -> bool {
    // The name of the entities' own table is none in a layout.
    let other_table = |layout: &Layout, index| layout.table_of(index).map(str::to_ascii_lowercase);
    let same_place = match (&was.elsewhere, &is.elsewhere) {
        (None, None) => true,
        (Some(before), Some(now)) => {
            before.arrival == now.arrival
                && other_table(old, was) == other_table(new, is)
                && prints_as(old, &before.partition, new, &now.partition)
        }
        _ => false,
    };
    was.name == is.name
        && (was.unique, was.sparse, was.when_version) == (is.unique, is.sparse, is.when_version)
        && same_place
        && same_rows(old, &was.rows, new, &is.rows)
        && prints_as(old, &was.row, new, &is.row)
}

/// Returns whether rows of an index hold the same under both layouts.
fn same_rows(old: &Layout, was: &RowsOf, new: &Layout, is: &RowsOf) -> bool {
    let is_one = |was: &str, is: &str| is_one(old.named(was), new.named(is));
    let same_sum = |was: &SumOf, is: &SumOf| {
        was.property == is.property
            && match (&was.of, &is.of) {
                (Summed::Property(was), Summed::Property(is)) => is_one(was, is),
                (was, is) => was == is,
            }
    };
    match (was, is) {
        (RowsOf::All, RowsOf::All) | (RowsOf::Keys, RowsOf::Keys) => true,
        (RowsOf::Some(was), RowsOf::Some(is)) => {
            was.len() == is.len() && was.iter().zip(is).all(|(was, is)| is_one(was, is))
        }
        (RowsOf::Sums(was), RowsOf::Sums(is)) => {
            was.len() == is.len() && was.iter().zip(is).all(|(was, is)| same_sum(was, is))
        }
        (RowsOf::Ids(was), RowsOf::Ids(is)) => prints_as(old, was, new, is),
        _ => false,
    }
}

/// Returns whether rows of two kinds have the same keys: one may be what the other is called now.
pub(crate) fn same_keys(old: &Layout, new: &Layout) -> bool {
    prints_as(old, old.partition(), new, new.partition()) && prints_as(old, old.row(), new, new.row())
}

/// Returns whether the second key prints everything as the first has printed it.
pub(super) fn prints_as(old: &Layout, was: &LayoutKey, new: &Layout, is: &LayoutKey) -> bool {
    let same_part = |was: &Printed, is: &Printed| {
        is_one(old.named(&was.property), new.named(&is.property))
            && (was.each, was.format(), was.version) == (is.each, is.format(), is.version)
            && values_print_as(&was.values, &is.values, was.format())
    };
    was.parts.len() == is.parts.len()
        && was.parts.iter().zip(&is.parts).all(|parts| match parts {
            (KeyPart::Literal(was), KeyPart::Literal(is)) => was == is,
            (KeyPart::Printed(was), KeyPart::Printed(is)) => same_part(was, is),
            _ => false,
        })
}

/// Returns a property whose type prints otherwise than it did, by what it says of itself, with the previous version of that and
/// the one declared. What keys have of it, rows have: those that are there hold what is printed no more.
pub(super) fn prints_anew(old: &Layout, new: &Layout) -> Option<(String, u32, u32)> {
    fn parts(layout: &Layout) -> Vec<(&LayoutProperty, u32)> {
        let places = layout.indexes().flat_map(|index| {
            [index.elsewhere.as_ref().map(|elsewhere| &elsewhere.partition), Some(&index.row)]
        });
        let keys = [layout.partition(), layout.row()].into_iter().chain(places.flatten());
        let parts = keys.flat_map(LayoutKey::printed);
        parts.filter_map(|part| Some((layout.named(&part.property)?, part.version))).collect()
    }
    let was = parts(old);
    parts(new).into_iter().find_map(|(property, version)| {
        let (_, previous) = was.iter().find(|(old, _)| is_one(Some(old), Some(property)))?;
        (*previous != version).then(|| (property.name.clone(), *previous, version))
    })
}

fn values_print_as(old: &KeyValues, new: &KeyValues, format: Option<Format<'_>>) -> bool {
    let is_padded = matches!(format, Some(Format::Pad(_) | Format::PadInverted(_)));
    match (old, new) {
        (
            KeyValues::Plain(KeyType::Unsigned { max: was, .. }),
            KeyValues::Plain(KeyType::Unsigned { max: is, .. }),
        ) if is_padded => was <= is,
        // Names may be added. Whether all have one length says where the part ends.
        (KeyValues::Names(was), KeyValues::Names(is)) => {
            let one_width = |names: &[String]| {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                matches!(lengths(&names), (least, most) if least == most)
            };
            was.iter().all(|name| is.contains(name)) && one_width(was) == one_width(is)
        }
        (KeyValues::Optional(was), KeyValues::Optional(is)) | (KeyValues::Each(was), KeyValues::Each(is)) => {
            values_print_as(was, is, format)
        }
        (was, is) => was == is,
    }
}
