//! The changes from one layout to another, and whether they do any harm.

use std::collections::BTreeMap;
use std::fmt;

use super::super::Schema;
use super::line::{Line, Subject};
use super::property::LayoutProperty;
use super::same::{holds_what, prints_anew, prints_as, same_index};
use super::{Layout, renamed, series};

/// The changes from one layout to another.
#[doc(hidden)]
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing of the same lines")]
pub struct Differences {
    /// Lines that are gone, after `-`, and lines that are new, after `+`.
    pub(crate) lines: Vec<String>,
    /// Whether the declaration says anything that the layout does not: else the layout says what the declaration does,
    /// and more.
    pub(crate) adds: bool,
    /// Whether what was written under the old layout reads rightly under the new one, copies too.
    pub(crate) is_compatible: bool,
    /// Properties that rows were allowed to hold plain, and are no longer: compatible if no row does.
    #[doc(hidden)]
    pub no_longer_plain: Vec<String>,
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
pub(super) enum Sealing {
    Same,
    /// From plain: rows may hold either from now on.
    Begins,
    /// Rows must hold it sealed from now on.
    Ends,
    /// There is no way: plain values can't be taken for sealed ones, nor sealed ones for plain.
    Jumps,
}

pub(super) fn sealing(old: &LayoutProperty, new: &LayoutProperty) -> Sealing {
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
        for (subject, line) in old.iter().filter(|(_, line)| !line.is_of_writers()) {
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
        let is_new = |subject: &Subject<'_>, line: &Line| !old.contains_key(subject) && !line.is_of_writers();
        for (_, line) in new.iter().filter(|(subject, line)| is_new(subject, line)) {
            let is_index = matches!(line, Line::Index(_));
            self.adds |= !is_index;
            // Rows read the same, whatever entities have copies of them.
            self.is_compatible &= is_index
                || line.is_of_copies()
                || matches!(line, Line::Removed(_))
                || matches!(line, Line::Property(new) if may_come(noted, new));
            lines.push(Changed::new(line));
        }
        self.adds |=
            noted.reads_more(declared) || noted.period_line().is_none() && declared.period_line().is_some();
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

/// Returns the layout that says what the noted one and the declaration do: what only the noted one has is left as it is. The
/// indexes are those that are noted, since an index comes and goes by a job.
pub(crate) fn united(table: &str, noted: &Layout, schema: &Schema) -> Layout {
    let declared = Layout::of_in(schema, table);
    let own = declared.lines.iter().filter(|line| !matches!(line, Line::Index(_)) && !line.is_of_writers());
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
    lines.extend(noted.period_line().or_else(|| declared.period_line()).cloned());
    lines.extend(noted.reads_with(&declared));
    for was in noted.indexes() {
        // One that only prints wider values is the same.
        let is = declared.index(&was.name).filter(|is| same_index(noted, was, &declared, is));
        lines.push(Line::Index(is.unwrap_or(was).clone()));
    }
    Layout::new(&noted.kind, lines)
}

/// Returns the layout without what it says of copies and this declaration doesn't.
#[doc(hidden)]
pub fn without_copies(table: &str, noted: &Layout, schema: &Schema) -> Layout {
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
pub(super) fn both<'l>(
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
