//! The lines of series in a layout: `series Cpu_00 24 Double?`, the first property, how many there are, and what they hold.
//!
//! Layouts are compared property by property, so a series may become properties that are declared one by one, and the other
//! way round. What is shown is the line.

use std::fmt;

use super::super::{Field, Schema, Series};
use super::Layout;
use super::differences::Changed;
use super::line::Line;
use super::property::{self, LayoutProperty};
use super::read::held;
use super::same::holds_what;
use crate::limits;
use crate::model::EdmType;

/// The word that such a line begins with.
pub(super) const SERIES: &str = "series";

/// A text that says more than any entity can have is no layout.
pub(super) const MOST: usize = limits::PROPERTIES * limits::BATCH_OPERATIONS;

/// A series: properties that are called by one stem and their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeriesLine {
    pub(super) stem: String,
    /// How many digits a number has at least.
    pub(super) width: usize,
    pub(super) slots: usize,
    /// The type of its properties.
    pub(super) edm: EdmType,
    pub(super) optional: bool,
    /// The part of a wide entity that holds it.
    pub(super) part: usize,
}

impl SeriesLine {
    /// Returns the line of a series of fields like this one.
    pub(super) fn of(series: &Series, field: &Field) -> Self {
        Self {
            stem: series.stem.to_owned(),
            width: series.width,
            slots: series.slots,
            edm: field.edm,
            optional: field.optional,
            part: field.part,
        }
    }

    /// Returns what a line says; `None` if it is none of a series.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(SERIES)?.strip_prefix(' ')?.splitn(3, ' ');
        let (first, slots, holds) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        let (stem, number) = first.rsplit_once('_')?;
        let is_first = !number.is_empty() && number.len() < 10 && number.bytes().all(|digit| digit == b'0');
        let fits = is_first && !stem.is_empty() && (1..=MOST).contains(&slots);
        let (edm, optional, part) = held(holds).filter(|_| fits)?;
        Some(Self { stem: stem.to_owned(), width: number.len(), slots, edm, optional, part })
    }

    /// Returns the name of the property of a slot.
    pub(super) fn property(&self, slot: usize) -> String {
        format!("{}_{slot:0width$}", self.stem, width = self.width)
    }

    /// Returns the properties that it stands for.
    pub(super) fn properties(&self) -> impl Iterator<Item = LayoutProperty> {
        (0..self.slots).map(|slot| LayoutProperty {
            name: self.property(slot),
            edm: self.edm,
            optional: self.optional,
            sealed: None,
            part: self.part,
            was: None,
        })
    }

    /// Returns whether a property is one of them.
    pub(super) fn has(&self, property: &str) -> bool {
        let digits =
            |rest: &str| (rest.bytes().all(|digit| digit.is_ascii_digit())).then(|| rest.parse().ok());
        let rest = property.strip_prefix(&*self.stem).and_then(|rest| rest.strip_prefix('_'));
        let slot: Option<usize> = rest.and_then(digits).flatten();
        slot.is_some_and(|slot| slot < self.slots && property == self.property(slot))
    }
}

impl fmt::Display for SeriesLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SERIES} {} {} ", self.property(0), self.slots)?;
        property::held(f, self.edm, self.optional, self.part)
    }
}

impl Layout {
    /// Returns the lines, one for each property of its series.
    pub(super) fn spread(&self) -> Vec<Line> {
        let mut lines = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            match line {
                Line::Series(series) => lines.extend(series.properties().map(Line::Property)),
                other => lines.push(other.clone()),
            }
        }
        lines
    }
}

/// Puts the lines of series in the place of those of their properties, in the difference between two layouts.
pub(super) fn gather(lines: &mut Vec<Changed>, noted: &Layout, declared: &Layout) {
    lines.retain(|Changed { line, is_new }| match line {
        Line::Property(property) => {
            let of = if *is_new { declared } else { noted };
            !of.series().any(|series| series.has(&property.name))
        }
        _ => true,
    });
    for (of, other, is_new) in [(noted, declared, false), (declared, noted, true)] {
        let only = of.series().filter(|series| other.series().all(|there| there != *series));
        lines.extend(only.map(|series| Changed { line: Line::Series(series.clone()), is_new }));
    }
}

/// Returns the line of the layout that says what the one noted does and the declaration: of two lines of one series the one with
/// more slots.
pub(super) fn longer(noted: &Layout, declared: &Line) -> Line {
    let Line::Series(now) = declared else { return declared.clone() };
    let is_longer = |was: &&SeriesLine| was.property(0) == now.property(0) && was.slots > now.slots;
    noted.series().find(is_longer).map_or_else(|| declared.clone(), |was| Line::Series(was.clone()))
}

/// Returns whether a series of the layout has other names now: the numbers of its slots another width.
pub(super) fn is_renamed(noted: &Layout, declared: &Layout) -> bool {
    noted.series().any(|was| {
        let is_of_it = |is: &&SeriesLine| is.stem == was.stem;
        declared.series().filter(is_of_it).any(|is| is.width != was.width)
            && !declared.series().filter(is_of_it).any(|is| is.width == was.width)
    })
}

/// Returns each series of a declaration with its first field.
fn series_of(schema: &Schema) -> impl Iterator<Item = (&'static Series, &Field)> {
    schema.fields.iter().filter_map(|field| {
        let slot = field.series.filter(|slot| slot.at == 0)?;
        Some((slot.of, field))
    })
}

/// Adds what the series of a declaration take where rows have another layout and can't be read by it.
pub(super) fn advice(noted: &Layout, schema: &Schema, declared: &Layout, lines: &mut Vec<String>) {
    for (series, field) in series_of(schema) {
        let was = noted.series().find(|was| was.stem == series.stem);
        if let Some(was) = was {
            if was.width != series.width {
                lines.push(format!(
                    "say `#[series(width = {})]` of `{}`, whose slots are properties like `{}`: that keeps their names",
                    was.width,
                    was.stem,
                    was.property(0)
                ));
                continue;
            }
            let [old, new] = [was.properties().next(), SeriesLine::of(series, field).properties().next()];
            if old.zip(new).is_some_and(|(old, new)| !holds_what(&old, &new)) && was.edm != field.edm {
                lines.push(format!(
                    "keep the type of the slots of `{}`: rows hold {}, which is not read as {}; or call the series \
                     otherwise, `#[property(rename = \"..\")]`",
                    series.stem, was.edm, field.edm
                ));
                continue;
            }
        }
        let lacks = |slot: &usize| noted.property(&series.property(*slot)).is_none_or(|old| old.optional);
        if let Some(first) = (0..series.slots).find(lacks)
            && !field.optional
        {
            lines.push(format!(
                "make the slots of `{}` `Option`s, or give it `#[property(default)]`: rows may lack `{}`",
                series.name,
                series.property(first)
            ));
        }
    }
    for was in noted.series().filter(|was| !was.optional) {
        let lacks = |slot: &usize| declared.property(&was.property(*slot)).is_none();
        if declared.series().all(|series| (&series.stem, series.width) != (&was.stem, was.width))
            || (0..was.slots).any(|slot| lacks(&slot))
        {
            lines.push(format!(
                "keep the {} slots of `{}` as `Option`s until no program declares them otherwise: those that do can't read \
                 rows without them",
                was.slots, was.stem
            ));
        }
    }
}

/// Returns what a series that has other slots than rows takes, where rows can be read.
pub(super) fn takes(noted: &Layout, schema: &Schema) -> Vec<String> {
    let changed = series_of(schema).filter_map(|(series, _)| {
        let was = noted.series().find(|was| was.stem == series.stem)?;
        let (from, to, stem) = (was.slots, series.slots, series.stem);
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Less => Some(format!(
                "the series `{stem}` grows from {from} slots to {to}: rows that are there lack the new ones, and get them \
                 when they are set"
            )),
            std::cmp::Ordering::Greater => Some(format!(
                "the series `{stem}` shrinks from {from} slots to {to}: what rows hold of the others stays there, and is \
                 not read"
            )),
        }
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart_or_is_none() {
        let line = SeriesLine::read("series Cpu_00 24 Double?").unwrap();
        let expected = SeriesLine {
            stem: "Cpu".to_owned(),
            width: 2,
            slots: 24,
            edm: EdmType::Double,
            optional: true,
            part: 0,
        };
        assert_eq!(line, expected);
        for other in [
            "series",
            "series Cpu",
            "series Cpu_00",
            "series Cpu_00 24",
            "series Cpu_01 24 Double",
            "series _00 2 Double",
            "series Cpu_ 24 Double",
            "series Cpu_00 0 Double",
            "series Cpu_00 100001 Double",
            "series Cpu_00 x Double",
            "seriesx Cpu_00 24 Double",
            "property Cpu_00 Double",
            "series Cpu_0000000000 24 Double",
        ] {
            assert_eq!(SeriesLine::read(other), None, "{other}");
        }
    }

    #[test]
    fn a_series_is_its_properties() {
        let text = "version 1\nseries Cpu_00 3 Double?\nproperty Cpu_10 Double";
        let expected = "version 1\nproperty Cpu_00 Double?\nproperty Cpu_01 Double?\nproperty Cpu_02 Double?\nproperty Cpu_10 Double";
        let spread = Layout::parse(text, "load").unwrap().spread();
        assert_eq!(spread.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), expected);
        let line = SeriesLine::read("series Cpu_0 12 Double").unwrap();
        for (name, has) in [
            ("Cpu_0", true),
            ("Cpu_9", true),
            ("Cpu_11", true),
            ("Cpu_12", false),
            ("Cpu_01", false),
            ("Cpu_", false),
            ("Cpu_+1", false),
        ] {
            assert_eq!(line.has(name), has, "{name}");
        }
    }
}
