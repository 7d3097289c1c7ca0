//! The lines of series in a layout: `series Cpu_00 24 Double?`, the first property, how many there are, and what they hold.
//!
//! Layouts are compared property by property, so a series may become properties that are declared one by one, and the other
//! way round. What is shown is the line.

use std::borrow::Cow;
use std::fmt::Write;

use super::super::{Field, Schema, Series};
use super::differences::{holds_what, of_property};
use crate::limits;

/// The word that such a line begins with.
pub(super) const SERIES: &str = "series";

/// A text that says more than any entity can have is no layout.
pub(super) const MOST: usize = limits::PROPERTIES * limits::BATCH_OPERATIONS;

/// A line, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// The first property, by which layouts name the series.
    pub(super) first: &'t str,
    pub(super) stem: &'t str,
    pub(super) width: usize,
    pub(super) slots: usize,
    /// The type of its properties.
    pub(super) holds: &'t str,
}

impl<'t> Line<'t> {
    /// Returns what a line says; `None` if it is none of a series.
    pub(super) fn read(line: &'t str) -> Option<Self> {
        let mut words = line.strip_prefix(SERIES)?.strip_prefix(' ')?.splitn(3, ' ');
        let (first, slots, holds) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        let (stem, number) = first.rsplit_once('_')?;
        let is_first = !number.is_empty() && number.len() < 10 && number.bytes().all(|digit| digit == b'0');
        let fits = is_first && !stem.is_empty() && (1..=MOST).contains(&slots);
        fits.then_some(Self { first, stem, width: number.len(), slots, holds })
    }

    /// Returns the properties that it stands for.
    pub(super) fn properties(self) -> impl Iterator<Item = String> {
        (0..self.slots).map(move |slot| format!("{}_{slot:0width$}", self.stem, width = self.width))
    }

    /// Returns whether a property is one of them.
    fn has(self, property: &str) -> bool {
        let digits =
            |rest: &str| (rest.bytes().all(|digit| digit.is_ascii_digit())).then(|| rest.parse().ok());
        let rest = property.strip_prefix(self.stem).and_then(|rest| rest.strip_prefix('_'));
        let slot: Option<usize> = rest.and_then(digits).flatten();
        slot.is_some_and(|slot| {
            slot < self.slots && property == format!("{}_{slot:0width$}", self.stem, width = self.width)
        })
    }
}

/// Writes the line of a series of fields like this one.
pub(super) fn write(text: &mut String, series: &Series, field: &Field) {
    let absent = if field.optional { "?" } else { "" };
    let (first, slots) = (series.property(0), series.slots);
    // Writing to a `String` can't fail.
    let _: std::fmt::Result = write!(text, "\n{SERIES} {first} {slots} {:?}{absent}", field.edm);
    super::in_part(text, field);
}

fn lines(layout: &str) -> impl Iterator<Item = Line<'_>> {
    layout.lines().filter_map(Line::read)
}

/// Returns the layout with a line for each property of its series.
pub(super) fn spread(layout: &str) -> Cow<'_, str> {
    if lines(layout).next().is_none() {
        return Cow::Borrowed(layout);
    }
    let mut text = String::with_capacity(layout.len());
    for line in layout.lines() {
        let separate = |text: &mut String| {
            if !text.is_empty() {
                text.push('\n');
            }
        };
        match Line::read(line) {
            None => {
                separate(&mut text);
                text.push_str(line);
            }
            Some(series) => {
                for property in series.properties() {
                    separate(&mut text);
                    let _: std::fmt::Result = write!(text, "property {property} {}", series.holds);
                }
            }
        }
    }
    Cow::Owned(text)
}

/// The lines of a difference, in which those of a series' properties are the series' own.
pub(super) fn gathered(lines_of: &mut Vec<String>, noted: &str, declared: &str) {
    let (old, new): (Vec<_>, Vec<_>) = (lines(noted).collect(), lines(declared).collect());
    if old.is_empty() && new.is_empty() {
        return;
    }
    lines_of.retain(|line| {
        let (sign, rest) = line.split_at_checked(2).unwrap_or(("", line));
        let Some(property) = rest.strip_prefix("property ").and_then(|rest| rest.split(' ').next()) else {
            return true;
        };
        let of = if sign == "- " { &old } else { &new };
        !of.iter().any(|series| series.has(property))
    });
    let only = |sign: &'static str, in_one: &str, other: &str| -> Vec<String> {
        let is_series = |line: &&str| Line::read(line).is_some() && other.lines().all(|there| there != *line);
        in_one.lines().filter(is_series).map(|line| format!("{sign} {line}")).collect()
    };
    lines_of.extend(only("-", noted, declared));
    lines_of.extend(only("+", declared, noted));
}

/// Returns the lines of series in the layout that says what the one noted does and the declaration: of two of one series the one
/// with more slots.
pub(super) fn longer<'t>(noted: &'t str, declared: &'t str) -> &'t str {
    let Some(now) = Line::read(declared) else { return declared };
    let mut noted = noted.lines().filter_map(|line| Some((line, Line::read(line)?)));
    let is_longer = |(_, was): &(&str, Line<'_>)| was.first == now.first && was.slots > now.slots;
    noted.find(is_longer).map_or(declared, |(line, _)| line)
}

/// Returns whether a series of the layout has other names now: the numbers of its slots another width.
pub(super) fn is_renamed(noted: &str, declared: &str) -> bool {
    lines(noted).any(|was| {
        let is_of_it = |is: Line<'_>| is.stem == was.stem;
        lines(declared).any(|is| is_of_it(is) && is.width != was.width)
            && !lines(declared).any(|is| is_of_it(is) && is.width == was.width)
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
pub(super) fn advice(noted: &Schema, schema: &Schema, lines: &mut Vec<String>) {
    for (series, field) in series_of(schema) {
        let was = series_of(noted).find(|(was, _)| was.stem == series.stem);
        if let Some((was, old)) = was {
            if was.width != series.width {
                lines.push(format!(
                    "say `#[series(width = {})]` of `{}`, whose slots are properties like `{}`: that keeps their names",
                    was.width,
                    was.stem,
                    was.property(0)
                ));
                continue;
            }
            if !holds_what(old, field) && old.edm != field.edm {
                lines.push(format!(
                    "keep the type of the slots of `{}`: rows hold {}, which is not read as {}; or call the series \
                     otherwise, `#[property(rename = \"..\")]`",
                    series.stem, old.edm, field.edm
                ));
                continue;
            }
        }
        let lacks = |slot: &usize| of_property(noted, &series.property(*slot)).is_none_or(|old| old.optional);
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
    for (was, old) in series_of(noted).filter(|(_, old)| !old.optional) {
        let lacks = |slot: &usize| of_property(schema, &was.property(*slot)).is_none();
        if series_of(schema).all(|(series, _)| (series.stem, series.width) != (was.stem, was.width))
            || (0..was.slots).any(|slot| lacks(&slot))
        {
            lines.push(format!(
                "keep the {} slots of `{}` as `Option`s until no program declares them otherwise: those that do can't read \
                 rows without them",
                was.slots, was.stem
            ));
        }
        let _ = old;
    }
}

/// Returns what a series that has other slots than rows takes, where rows can be read.
pub(super) fn takes(noted: &Schema, schema: &Schema) -> Vec<String> {
    let changed = series_of(schema).filter_map(|(series, _)| {
        let (was, _) = series_of(noted).find(|(was, _)| was.stem == series.stem)?;
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
        let line = Line::read("series Cpu_00 24 Double?").unwrap();
        let expected = Line { first: "Cpu_00", stem: "Cpu", width: 2, slots: 24, holds: "Double?" };
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
            assert_eq!(Line::read(other), None, "{other}");
        }
    }

    #[test]
    fn a_series_is_its_properties() {
        let text = "version 1\nseries Cpu_00 3 Double?\nproperty Cpu_10 Double";
        let expected = "version 1\nproperty Cpu_00 Double?\nproperty Cpu_01 Double?\nproperty Cpu_02 Double?\nproperty Cpu_10 Double";
        assert_eq!(spread(text), expected);
        let line = Line::read("series Cpu_0 12 Double").unwrap();
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
