//! The lines of a layout that say what values of its properties structs read, and what stands for those that rows lack:
//! `reads Id u32`.
//!
//! Rows are written by a layout alone, without the struct. A property without such a line has every value of its type. A
//! layout that lacks the line `reads` without a property is of a release that noted nothing of this.

use std::fmt;

use super::super::{Field, Reads, ReadsOf};
use super::Layout;
use super::key::Quoted;
use super::line::Line;
use super::property::LayoutProperty;

pub(super) const READS: &str = "reads";
/// The words behind what is read of a property for which something stands where rows lack it.
pub(super) const OR_DEFAULT: &str = " or default";

const ANY: &str = "any";
const SINGLE: &str = "f32";
const TIMESTAMP: &str = "timestamp";
const NAMES: &str = "names";
const JSON: &str = "json";
const OTHER: &str = "other";

/// The integers that types hold which do not hold every integer of their property.
const INTEGERS: [(&str, i64, i64); 6] = [
    ("u8", 0, 0xff),
    ("u16", 0, 0xffff),
    ("u32", 0, 0xffff_ffff),
    ("u64", 0, i64::MAX),
    ("i8", -0x80, 0x7f),
    ("i16", -0x8000, 0x7fff),
];

/// What is read of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadsLine {
    /// The property; of a series its first one. Empty in the line that says that such lines are noted.
    pub(super) property: String,
    pub(crate) reads: ReadsOf<Vec<String>>,
    /// Whether something stands for it where a row lacks it.
    pub(crate) defaults: bool,
}

impl ReadsLine {
    /// Returns the line that says that such lines are noted.
    pub(super) fn marker() -> Self {
        Self { property: String::new(), reads: ReadsOf::Any, defaults: false }
    }

    /// Returns the line of a field; of a series, that of its first slot.
    pub(super) fn of(field: &Field) -> Option<Self> {
        if field.series.is_some_and(|slot| slot.at > 0) {
            return None;
        }
        let line = Self {
            property: field.property.to_owned(),
            reads: field.reads.to_owned_names(),
            defaults: field.defaults,
        };
        line.says_something().then_some(line)
    }

    fn says_something(&self) -> bool {
        self.reads != ReadsOf::Any || self.defaults
    }

    /// Returns what both lines read together: what comes of declarations that follow one another, in whatever order.
    fn with(&self, other: &Self) -> Self {
        let reads = match (&self.reads, &other.reads) {
            (one, other) if one == other => one.clone(),
            (ReadsOf::Integers(..) | ReadsOf::Single | ReadsOf::Timestamp, ReadsOf::Any)
            | (ReadsOf::Any, ReadsOf::Integers(..) | ReadsOf::Single | ReadsOf::Timestamp) => ReadsOf::Any,
            (ReadsOf::Integers(min, max), ReadsOf::Integers(least, most)) => {
                // A type of both signs and one of none have no type together that is smaller than the property's.
                let both = ReadsOf::Integers(*min.min(least), *max.max(most));
                if is_integer_type(&both) { both } else { ReadsOf::Any }
            }
            (ReadsOf::Names(some), ReadsOf::Names(others)) => {
                let mut names = some.clone();
                names.extend(others.iter().filter(|name| !some.contains(name)).cloned());
                names.sort_unstable();
                ReadsOf::Names(names)
            }
            _ => ReadsOf::Other,
        };
        Self { reads, defaults: self.defaults || other.defaults, property: other.property.clone() }
    }
}

fn is_integer_type(reads: &ReadsOf<Vec<String>>) -> bool {
    matches!(reads, ReadsOf::Integers(min, max) if INTEGERS.iter().any(|(_, least, most)| (least, most) == (min, max)))
}

impl Reads {
    fn to_owned_names(self) -> ReadsOf<Vec<String>> {
        match self {
            Self::Any => ReadsOf::Any,
            Self::Integers(min, max) => ReadsOf::Integers(min, max),
            Self::Single => ReadsOf::Single,
            Self::Timestamp => ReadsOf::Timestamp,
            Self::Names(names) => {
                let mut names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
                names.sort_unstable();
                names.dedup();
                ReadsOf::Names(names)
            }
            Self::Json => ReadsOf::Json,
            Self::Other => ReadsOf::Other,
        }
    }
}

impl Layout {
    /// Returns whether it says what is read of its properties.
    pub(crate) fn says_reads(&self) -> bool {
        self.reads_lines().any(|line| line.property.is_empty())
    }

    pub(super) fn reads_lines(&self) -> impl Iterator<Item = &ReadsLine> {
        self.lines.iter().filter_map(|line| match line {
            Line::Reads(line) => Some(line),
            _ => None,
        })
    }

    /// Returns what is read of a property.
    pub(crate) fn reads_of(&self, property: &LayoutProperty) -> ReadsLine {
        let name = self.series().find(|series| series.has(&property.name)).map(|series| series.property(0));
        let name = name.as_deref().unwrap_or(&property.name);
        let any = || ReadsLine { property: name.to_owned(), ..ReadsLine::marker() };
        self.reads_lines().find(|line| line.property == name).cloned().unwrap_or_else(any)
    }

    /// Returns the lines of a layout that says what the noted one and the declared one do: each property reads what either
    /// reads.
    pub(super) fn reads_with(&self, declared: &Self) -> Vec<Line> {
        if !declared.says_reads() {
            return self.reads_lines().cloned().map(Line::Reads).collect();
        }
        let mut lines = vec![ReadsLine::marker()];
        let firsts = |layout: &Self| {
            let series: Vec<_> = layout.series().filter_map(|series| series.properties().next()).collect();
            layout.single_properties().cloned().chain(series).collect::<Vec<_>>()
        };
        for property in firsts(declared) {
            let now = declared.reads_of(&property);
            let was = property.was.as_deref().and_then(|was| self.property(was));
            // A property that has another type than before is declared so from now on.
            let noted = self.property(&property.name).or(was).filter(|noted| noted.edm == property.edm);
            let noted = noted.filter(|_| self.says_reads()).map(|noted| self.reads_of(noted));
            lines.push(noted.map_or_else(|| now.clone(), |noted| noted.with(&now)));
        }
        let is_known = |lines: &[ReadsLine], name: &str| lines.iter().any(|line| line.property == name);
        for property in &firsts(self) {
            let mut line = self.reads_of(property);
            if !self.says_reads() {
                line.reads = ReadsOf::Other;
            }
            if !is_known(&lines, &line.property) && declared.renames(&property.name).is_none() {
                lines.push(line);
            }
        }
        let is_kept = |line: &ReadsLine| line.property.is_empty() || line.says_something();
        lines.into_iter().filter(is_kept).map(Line::Reads).collect()
    }

    /// Returns what a property of this name is called by a layout that says what it was.
    fn renames(&self, name: &str) -> Option<&LayoutProperty> {
        self.properties.iter().find(|property| property.was.as_deref() == Some(name))
    }

    /// Returns whether a declaration says anything of what is read that the layout does not.
    pub(super) fn reads_more(&self, declared: &Self) -> bool {
        let is_noted = |line: &Line| self.lines.contains(line);
        let together = self.reads_with(declared);
        !together.iter().all(is_noted) || together.len() != self.reads_lines().count()
    }
}

/// Reads what stands behind the word `reads`, in quotes where texts do.
pub(super) fn line(rest: &str, quoted: impl Fn(&str) -> Option<Vec<String>>) -> Option<ReadsLine> {
    if rest.is_empty() {
        return Some(ReadsLine::marker());
    }
    let (property, what) = rest.strip_prefix(' ')?.split_once(' ')?;
    let (what, defaults) = what.strip_suffix(OR_DEFAULT).map_or((what, false), |what| (what, true));
    let integers = INTEGERS.iter().find(|(word, ..)| *word == what);
    let reads = match (what, integers) {
        (_, Some((_, min, max))) => ReadsOf::Integers(*min, *max),
        (ANY, _) => ReadsOf::Any,
        (SINGLE, _) => ReadsOf::Single,
        (TIMESTAMP, _) => ReadsOf::Timestamp,
        (JSON, _) => ReadsOf::Json,
        (OTHER, _) => ReadsOf::Other,
        _ => ReadsOf::Names(quoted(what.strip_prefix(NAMES)?)?),
    };
    Some(ReadsLine { property: property.to_owned(), reads, defaults })
}

impl fmt::Display for ReadsLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(READS)?;
        if self.property.is_empty() {
            return Ok(());
        }
        write!(f, " {} ", self.property)?;
        match &self.reads {
            ReadsOf::Any => f.write_str(ANY)?,
            ReadsOf::Integers(min, max) => {
                let named = INTEGERS.iter().find(|(_, least, most)| (least, most) == (min, max));
                f.write_str(named.map_or(OTHER, |(word, ..)| word))?;
            }
            ReadsOf::Single => f.write_str(SINGLE)?,
            ReadsOf::Timestamp => f.write_str(TIMESTAMP)?,
            ReadsOf::Names(names) => {
                write!(f, "{NAMES}(")?;
                for (at, name) in names.iter().enumerate() {
                    write!(f, "{}{}", if at == 0 { "" } else { " " }, Quoted(name))?;
                }
                f.write_str(")")?;
            }
            ReadsOf::Json => f.write_str(JSON)?,
            ReadsOf::Other => f.write_str(OTHER)?,
        }
        f.write_str(if self.defaults { OR_DEFAULT } else { "" })
    }
}
