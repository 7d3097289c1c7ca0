//! A layout from its text.

use super::super::format::charset::CharSet;
use super::super::format::key_type::KeyType;
use super::super::{Arrival, KeyScope, TokenScope};
use super::Layout;
use super::index::{self, Elsewhere, LayoutIndex, LayoutRows, SumOf, Summed};
use super::key::{KeyPart, KeyValues, LayoutKey, PRINTS, Printed};
use super::line::{
    BY, COPIED, CopiedLine, EVENTUAL, GONE, HOLDER, INDEX, Line, OF, PARTITION, PERIODS, PROPERTY, ROW,
    SIGNED, VERSION,
};
use super::property::{BLIND, BY_PARTITION, BY_TABLE, DUAL, ENCRYPTED, LayoutProperty, PART, Sealed, WAS};
use super::reads::{self, READS};
use super::series::{self, SERIES, SeriesLine};
use crate::limits;
use crate::model::EdmType;

impl Layout {
    /// Returns the layout of a kind that a text says; `None` if it is no layout.
    #[doc(hidden)]
    pub fn parse(text: &str, kind: &str) -> Option<Self> {
        let mut lines = Vec::new();
        let mut properties = 0;
        for line in text.lines() {
            let line = line_of(line)?;
            properties += match &line {
                Line::Property(_) => 1,
                Line::Series(series) => series.slots,
                _ => 0,
            };
            // Before they are made: a short line asks for many.
            (properties <= series::MOST).then_some(())?;
            lines.push(line);
        }
        let layout = Self::new(kind, lines);
        layout.lines.iter().all(|line| layout.has_what_it_names(line)).then_some(layout)
    }

    /// Returns whether the properties that a line names are there.
    fn has_what_it_names(&self, line: &Line) -> bool {
        let has = |name: &String| self.named(name).is_some();
        let of_key = |key: &LayoutKey| key.printed().all(|printed| has(&printed.property));
        match line {
            Line::Partition(key) | Line::Row(key) => of_key(key),
            Line::Copied(copy) => copy.key.iter().all(has),
            Line::Reads(line) => line.property.is_empty() || has(&line.property),
            Line::Index(index) => {
                of_key(&index.row)
                    && index.elsewhere.as_ref().is_none_or(|elsewhere| of_key(&elsewhere.partition))
                    && match &index.rows {
                        LayoutRows::All | LayoutRows::Keys => true,
                        LayoutRows::Some(properties) => properties.iter().all(has),
                        LayoutRows::Sums(sums) => sums.iter().all(|sum| match &sum.of {
                            Summed::Property(property) => has(property),
                            Summed::Count | Summed::CountWhen => true,
                        }),
                        LayoutRows::Ids(ids) => of_key(ids),
                    }
            }
            _ => true,
        }
    }
}

/// Returns what a line of a text says; `None` if it is no line of a layout.
fn line_of(line: &str) -> Option<Line> {
    let mut reader = Reader { rest: line };
    Some(match reader.word() {
        VERSION => Line::Version(reader.rest.trim().parse().ok()?),
        SIGNED => Line::Signed,
        OF => Line::Of(reader.rest.trim().to_owned()),
        PARTITION => Line::Partition(reader.key()?),
        ROW => Line::Row(reader.key()?),
        PROPERTY => Line::Property(property(reader.rest.strip_prefix(' ')?)?),
        SERIES => Line::Series(SeriesLine::read(line)?),
        COPIED => Line::Copied(reader.copy()?),
        HOLDER => Line::Dependent(reader.rest.trim().to_owned()),
        GONE => Line::Removed(reader.rest.strip_prefix(' ')?.to_owned()),
        PERIODS => Line::Periods(reader.rest.strip_prefix(' ')?.to_owned()),
        READS => Line::Reads(reads::line(reader.rest, names)?),
        INDEX => Line::Index(reader.index()?),
        _ => return None,
    })
}

/// Returns the texts in the brackets behind the word `names`, which end there.
fn names(text: &str) -> Option<Vec<String>> {
    let mut reader = Reader { rest: text };
    reader.takes("(").then_some(())?;
    let names = reader.names()?;
    reader.rest.is_empty().then_some(names)
}

/// Returns what stands behind the word `property`.
fn property(text: &str) -> Option<LayoutProperty> {
    let (name, rest) = text.split_once(' ')?;
    let (sealed, rest) = sealing(rest);
    let (rest, was) = rest.split_once(WAS).map_or((rest, None), |(rest, was)| (rest, Some(was)));
    let (edm, optional, part) = held(rest)?;
    Some(LayoutProperty { name: name.to_owned(), edm, optional, sealed, part, was: was.map(str::to_owned) })
}

/// Returns how a property is sealed, and the other words about it.
fn sealing(text: &str) -> (Option<Sealed>, &str) {
    let undual = text.strip_prefix(DUAL);
    let Some(mut rest) = undual.or_else(|| text.strip_prefix(ENCRYPTED)) else { return (None, text) };
    let mut takes = |word: &str| {
        let behind = rest.strip_prefix(word);
        rest = behind.unwrap_or(rest);
        behind.is_some()
    };
    let scope = if takes(BY_TABLE) {
        KeyScope::Table
    } else if takes(BY_PARTITION) {
        KeyScope::Partition
    } else {
        KeyScope::Store
    };
    let is_blind = takes(BLIND);
    let tokens = is_blind.then(|| if takes(BY_TABLE) { TokenScope::Table } else { TokenScope::Partition });
    (Some(Sealed { dual: undual.is_some(), scope, tokens }), rest)
}

/// Returns the type of a property, whether rows may lack it, and the number of the part that holds it.
pub(super) fn held(text: &str) -> Option<(EdmType, bool, usize)> {
    let (edm, part) = match text.split_once(PART) {
        None => (text, 0),
        Some((edm, part)) => {
            (edm, part.parse().ok().filter(|part| (1..=limits::BATCH_OPERATIONS).contains(part))?)
        }
    };
    Some((EdmType::of_short_name(edm.trim_end_matches('?'))?, edm.ends_with('?'), part))
}

/// Reads a line from left to right.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// Returns the characters up to one that sets pieces apart.
    fn word(&mut self) -> &'t str {
        let end = self.rest.find([' ', ':', '(', ')', '[', '"']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        word
    }

    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.strip_prefix('"')?.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => text.push(chars.next()?),
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }

    /// Returns the words up to the end of the line or to what is none.
    fn words(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        while self.takes(" ") {
            words.push(self.word().to_owned());
        }
        words
    }

    fn index(&mut self) -> Option<LayoutIndex> {
        self.takes(" ").then_some(())?;
        let name = self.word().to_owned();
        let is_eventual = self.takes(EVENTUAL);
        let table = self.takes(index::IN).then(|| self.word().to_owned());
        let elsewhere = if self.takes(index::PARTITION) {
            let arrival = if is_eventual { Arrival::Eventual } else { Arrival::Atomic };
            Some(Elsewhere { table, partition: self.key()?, arrival })
        } else if is_eventual || table.is_some() {
            return None;
        } else {
            None
        };
        self.takes(index::ROW).then_some(())?;
        let row = self.key()?;
        let (unique, sparse) = (self.takes(index::UNIQUE), self.takes(index::WHEN));
        let when_version = if self.takes("(") {
            let version = self.word().parse().ok()?;
            self.takes(")").then_some(version)?
        } else {
            1
        };
        let rows = self.rows()?;
        Some(LayoutIndex { name, elsewhere, row, unique, sparse, when_version, rows })
    }

    /// Returns what the rows of an index are.
    fn rows(&mut self) -> Option<LayoutRows> {
        if self.takes(index::SUMS) {
            return Some(LayoutRows::Sums(self.sums()?));
        }
        if self.takes(index::LIST) {
            return Some(LayoutRows::Ids(self.key()?));
        }
        self.takes(index::COPY).then_some(())?;
        let words = self.words();
        Some(match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["all"] => LayoutRows::All,
            ["keys"] => LayoutRows::Keys,
            _ => LayoutRows::Some(words),
        })
    }

    /// Returns what an entity holds of another, and by which properties.
    fn copy(&mut self) -> Option<CopiedLine> {
        self.takes(" ").then_some(())?;
        let property = self.word().to_owned();
        let is_eventual = self.takes(EVENTUAL);
        self.takes(BY).then_some(())?;
        Some(CopiedLine { property, is_eventual, key: self.words() })
    }

    /// Returns the numbers of a summary.
    fn sums(&mut self) -> Option<Vec<SumOf>> {
        let mut sums = Vec::new();
        while self.takes(" ") {
            let property = self.word().to_owned();
            self.takes(":").then_some(())?;
            let of = match self.word() {
                "count" if self.takes("(when)") => Summed::CountWhen,
                "count" => Summed::Count,
                "sum" if self.takes("(") => {
                    let of = self.word().to_owned();
                    self.takes(")").then_some(Summed::Property(of))?
                }
                _ => return None,
            };
            sums.push(SumOf { property, of });
        }
        Some(sums)
    }

    /// Returns a key, up to a word that is no part of it.
    fn key(&mut self) -> Option<LayoutKey> {
        let mut parts = Vec::new();
        loop {
            let before = self.rest;
            if !self.takes(" ") {
                break;
            }
            if self.rest.starts_with('"') {
                parts.push(KeyPart::Literal(self.quoted()?));
                continue;
            }
            let word = self.word();
            let (property, version) = match word.split_once(PRINTS) {
                Some((property, version)) => (property, version.parse().ok()?),
                None => (word, 1),
            };
            let each = self.takes("[]");
            if !self.takes(":") {
                self.rest = before;
                break;
            }
            let values = self.values()?;
            let source = if self.takes(":") { self.quoted()? } else { String::new() };
            let printed = Printed { property: property.to_owned(), version, each, values, source };
            printed.format()?;
            parts.push(KeyPart::Printed(printed));
        }
        Some(LayoutKey { parts })
    }

    /// Returns texts up to the bracket that closes them.
    fn names(&mut self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        while !self.takes(")") {
            self.takes(" ");
            names.push(self.quoted()?);
        }
        Some(names)
    }

    fn values(&mut self) -> Option<KeyValues> {
        let word = self.word();
        let has_more = self.takes("(");
        Some(KeyValues::Plain(match (word, has_more) {
            ("u8", false) => KeyType::Unsigned { digits: 3, max: u64::from(u8::MAX) },
            ("u16", false) => KeyType::Unsigned { digits: 5, max: u64::from(u16::MAX) },
            ("u32", false) => KeyType::Unsigned { digits: 10, max: u64::from(u32::MAX) },
            ("u64", false) => KeyType::Unsigned { digits: 20, max: u64::MAX },
            ("i8", false) => KeyType::Signed { bits: 8 },
            ("i16", false) => KeyType::Signed { bits: 16 },
            ("i32", false) => KeyType::Signed { bits: 32 },
            ("i64", false) => KeyType::Signed { bits: 64 },
            ("text", false) => KeyType::Text(CharSet::ALL),
            ("text", true) => {
                let ascii = CharSet::of(&self.quoted()?);
                let set = if self.takes(" and beyond") { ascii.or(CharSet::BEYOND) } else { ascii };
                self.takes(")").then_some(KeyType::Text(set))?
            }
            ("uuid", false) => KeyType::Uuid,
            ("bool", false) => KeyType::Bool,
            ("time", false) => KeyType::Time,
            ("names", true) => {
                return Some(KeyValues::Names(self.names()?));
            }
            ("option", true) => {
                let inner = self.values()?;
                return self.takes(")").then(|| KeyValues::Optional(Box::new(inner)));
            }
            ("each", true) => {
                let inner = self.values()?;
                return self.takes(")").then(|| KeyValues::Each(Box::new(inner)));
            }
            _ => return None,
        }))
    }
}
