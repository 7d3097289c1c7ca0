//! A declaration from its layout.

use std::sync::{Mutex, PoisonError};

use super::super::column_type::ColumnType;
use super::super::encrypted::TOKEN;
use super::super::format::charset::CharSet;
use super::super::format::key_type::{Format, KeyType};
use super::super::{
    Arrival, Blind, CopiedFields, Copies, Field, FieldPart, Index, KeyScope, List, Part, Place, Schema,
    Series, Slot, Sum, SumOf, Summary, TableTemplate, Template, TokenScope, entity_type, part_key,
};
use super::series;
use super::{
    BLIND, BY, BY_PARTITION, BY_TABLE, COPIED, DUAL, ENCRYPTED, EVENTUAL, GONE, HOLDER, IN, LIST, OF, PART,
    PARTITION, PRINTS, SIGNED, SUMS, WAS,
};
use crate::limits;
use crate::model::EdmType;
use crate::sorted_map::SortedMap;

/// Returns the declaration that a layout was made of, as far as the layout tells; `None` if it is no layout.
///
/// Its parts live until the program ends, since a declaration is a constant everywhere else. Each layout is read once, so
/// that is little.
pub(crate) fn read(layout: &str, kind: &str) -> Option<Schema> {
    static READ: Mutex<SortedMap<(String, String), Option<Schema>>> = Mutex::new(SortedMap::new());
    let mut known = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (kind.to_owned(), layout.to_owned());
    if let Some(schema) = known.get(&key) {
        return *schema;
    }
    let schema = read_anew(layout, kind);
    known.insert(key, schema);
    schema
}

fn read_anew(layout: &str, kind: &str) -> Option<Schema> {
    let kind = leaked(kind);
    let (mut schema, mut place) = (Schema { entity: kind, kind, ..Schema::NOTHING }, Place::NOWHERE);
    let mut fields = Vec::new();
    for line in layout.lines() {
        if let Some(property) = line.strip_prefix("property ") {
            let (name, rest) = property.split_once(' ')?;
            let (mut field, edm) = sealing(name, rest);
            let (edm, was) = edm.split_once(WAS).map_or((edm, None), |(edm, was)| (edm, Some(leaked(was))));
            let (edm, part) = in_part(edm)?;
            let optional = edm.ends_with('?');
            let edm = edm_type(edm.trim_end_matches('?'))?;
            field.part = part;
            let name = leaked(name);
            (field.name, field.property, field.edm, field.optional) = (name, name, edm, optional);
            (field.column, field.was) = (ColumnType::of(edm), was);
            fields.push(field);
        } else if let Some(series) = series::Line::read(line) {
            // Before they are made: a short line asks for many.
            (fields.len() + series.slots <= series::MOST).then_some(())?;
            fields.extend(slots(series)?);
        }
    }
    schema.fields = fields.leak();
    let gone = layout.lines().filter_map(|line| line.strip_prefix(GONE)?.strip_prefix(' '));
    schema.removed = gone.map(leaked).collect::<Vec<_>>().leak();
    let version = layout.lines().find_map(|line| line.strip_prefix("version "));
    schema.version = version.map_or(Some(schema.version), |version| version.trim().parse().ok())?;
    schema.entity_type = leaked(&entity_type(kind, schema.version));
    let (mut indexes, mut copied, mut dependents) = (Vec::new(), Vec::new(), Vec::new());
    for line in layout.lines() {
        let mut reader = Reader { rest: line, fields: schema.fields };
        match reader.word() {
            SIGNED => schema.signed = true,
            OF => place.table = TableTemplate::Fixed(leaked(reader.rest.trim())),
            "partition" => place.partition = reader.template()?,
            "row" => place.row = reader.template()?,
            "version" | "property" | GONE => {}
            // One that can't be read is none.
            series::SERIES if series::Line::read(line).is_some() => {}
            COPIED => copied.push(reader.copy()?),
            HOLDER => dependents.push(leaked(reader.rest.trim())),
            "index" => indexes.push(reader.index(schema.entity_type)?),
            _ => return None,
        }
    }
    // The lines of most indexes tell row keys alone: copies lie in their entity's partition.
    for index in &mut indexes {
        if !index.is_elsewhere() {
            index.place.partition = place.partition;
        }
        if index.place.table.source().is_empty() {
            index.place.table = place.table;
        }
    }
    (schema.places, schema.parts) = parts(&schema, place);
    schema.indexes = indexes.leak();
    (schema.copied, schema.dependents) = (copied.leak(), dependents.leak());
    Some(schema)
}

/// Returns how a property is sealed, and the other words about it.
fn sealing<'t>(property: &str, text: &'t str) -> (Field, &'t str) {
    let mut field = Field::PLAIN;
    let undual = text.strip_prefix(DUAL);
    let Some(mut rest) = undual.or_else(|| text.strip_prefix(ENCRYPTED)) else { return (field, text) };
    let mut takes = |word: &str| {
        let behind = rest.strip_prefix(word);
        rest = behind.unwrap_or(rest);
        behind.is_some()
    };
    (field.encrypted, field.dual) = (true, undual.is_some());
    if takes(BY_TABLE) {
        field.scope = KeyScope::Table;
    } else if takes(BY_PARTITION) {
        field.scope = KeyScope::Partition;
    }
    if takes(BLIND) {
        let tokens = if takes(BY_TABLE) { TokenScope::Table } else { TokenScope::Partition };
        field.blind = Some(Blind { property: leaked(&format!("{property}{TOKEN}")), tokens });
    }
    (field, rest)
}

/// Returns the fields that a series is.
fn slots(line: series::Line<'_>) -> Option<Vec<Field>> {
    let (holds, part) = in_part(line.holds)?;
    let optional = holds.ends_with('?');
    let edm = edm_type(holds.trim_end_matches('?'))?;
    let stem = leaked(line.stem);
    let of: &'static Series = Box::leak(Box::new(Series::new(stem, stem, line.slots).width(line.width)));
    let field = |(at, property): (usize, String)| {
        let name = leaked(&property);
        let series = Some(Slot { of, at });
        let column = ColumnType::of(edm);
        Field { name, property: name, edm, optional, column, series, part, ..Field::PLAIN }
    };
    Some(line.properties().enumerate().map(field).collect())
}

/// Returns the type of a property, and the number of the part that holds it.
fn in_part(text: &str) -> Option<(&str, usize)> {
    match text.split_once(PART) {
        None => Some((text, 0)),
        Some((edm, part)) => {
            Some((edm, part.parse().ok().filter(|part| (1..=limits::BATCH_OPERATIONS).contains(part))?))
        }
    }
}

/// Returns the places of an entity's own rows, and what the rows of its parts are called: as many as its fields lie in.
fn parts(schema: &Schema, head: Place) -> (&'static [Place], &'static [&'static str]) {
    let (mut places, mut kinds) = (vec![head], Vec::new());
    for part in 1..=schema.fields.iter().map(|field| field.part).max().unwrap_or(0) {
        let suffix = leaked(&part_key("", part));
        let row = [head.row.parts, &[Part::Literal(suffix)]].concat();
        let source = leaked(&part_key(head.row.source, part));
        places.push(head.beside(Template { source, parts: row.leak() }));
        kinds.push(leaked(&format!("{}.{}", schema.entity_type, suffix.trim_start_matches('_'))));
    }
    (places.leak(), kinds.leak())
}

fn edm_type(name: &str) -> Option<EdmType> {
    Some(match name {
        "String" => EdmType::String,
        "Binary" => EdmType::Binary,
        "Boolean" => EdmType::Boolean,
        "Int32" => EdmType::Int32,
        "Int64" => EdmType::Int64,
        "Double" => EdmType::Double,
        "DateTime" => EdmType::DateTime,
        "Guid" => EdmType::Guid,
        _ => return None,
    })
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// Reads a line from left to right.
struct Reader<'t> {
    rest: &'t str,
    fields: &'static [Field],
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

    fn field(&self, property: &str) -> Option<usize> {
        // An index whose copies are older has the name that the property had then.
        let position = |is_it: &dyn Fn(&Field) -> bool| self.fields.iter().position(is_it);
        position(&|field| field.property == property)
            .or_else(|| position(&|field| field.was == Some(property)))
    }

    fn index(&mut self, kind: &str) -> Option<Index> {
        self.takes(" ").then_some(())?;
        let name = leaked(self.word());
        let mut place = Place::NOWHERE;
        let is_eventual = self.takes(EVENTUAL);
        if self.takes(IN) {
            place.table = TableTemplate::Fixed(leaked(self.word()));
        }
        let arrival = if self.takes(PARTITION) {
            place.partition = self.template()?;
            Some(if is_eventual { Arrival::Eventual } else { Arrival::Atomic })
        } else if is_eventual {
            return None;
        } else {
            None
        };
        self.takes(" row").then_some(())?;
        place.row = self.template()?;
        let (unique, sparse) = (self.takes(" unique"), self.takes(" when"));
        let when_version = if self.takes("(") {
            let version = self.word().parse().ok()?;
            self.takes(")").then_some(version)?
        } else {
            1
        };
        if self.takes(SUMS) {
            let summary = Summary::new(&Schema::NOTHING, self.sums()?);
            let index = Index { arrival, ..Index::new(name, name, place) };
            return Some(index.summary(summary));
        }
        if self.takes(LIST) {
            let ids = self.template()?;
            let index = Index { arrival, ..Index::new(name, leaked(&format!("{kind}.{name}")), place) };
            return Some(index.list(List::new(ids)));
        }
        self.takes(" copy").then_some(())?;
        let mut words = Vec::new();
        while self.takes(" ") {
            words.push(self.word());
        }
        let copies = match *words {
            ["all"] => Copies::All,
            ["keys"] => Copies::Keys,
            _ => {
                let fields: Option<Vec<_>> = words.into_iter().map(|property| self.field(property)).collect();
                Copies::Some(fields?.leak())
            }
        };
        Some(Index {
            name,
            kind: leaked(&format!("{kind}.{name}")),
            place,
            unique,
            copies,
            sparse,
            when_version,
            arrival,
            summary: None,
            list: None,
        })
    }

    /// Returns what it holds of another entity, and by which fields.
    fn copy(&mut self) -> Option<CopiedFields> {
        self.takes(" ").then_some(())?;
        let name = leaked(self.word());
        let follows = self.takes(EVENTUAL);
        self.takes(BY).then_some(())?;
        let mut key = Vec::new();
        while self.takes(" ") {
            let property = self.word();
            key.push(self.field(property)?);
        }
        let copy = CopiedFields::new([name, name], [0, 0], key.leak());
        Some(if follows { copy.eventual() } else { copy })
    }

    /// Returns the numbers of a summary.
    fn sums(&mut self) -> Option<&'static [Sum]> {
        let mut sums = Vec::new();
        while self.takes(" ") {
            let property = leaked(self.word());
            self.takes(":").then_some(())?;
            let of = match self.word() {
                "count" if self.takes("(when)") => SumOf::CountWhen,
                "count" => SumOf::Count,
                "sum" if self.takes("(") => {
                    let field = self.word();
                    let field = self.field(field)?;
                    self.takes(")").then_some(SumOf::Field(field))?
                }
                _ => return None,
            };
            sums.push(Sum::new(property, of));
        }
        Some(sums.leak())
    }

    /// Returns a key, up to a word that is no part of it.
    fn template(&mut self) -> Option<Template> {
        let (mut source, mut parts) = (String::new(), Vec::new());
        loop {
            let before = self.rest;
            if !self.takes(" ") {
                break;
            }
            if self.rest.starts_with('"') {
                let literal = self.quoted()?;
                source.push_str(&literal);
                parts.push(Part::Literal(leaked(&literal)));
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
            let key = self.key_type()?;
            let format = if self.takes(":") { self.quoted()? } else { String::new() };
            let colon = if format.is_empty() { "" } else { ":" };
            let brackets = if each { "[]" } else { "" };
            source.extend(["{", property, brackets, colon, &format, "}"]);
            let printed = leaked(&format);
            let format = Format::parse(printed).ok()?;
            let part = FieldPart { each, ..FieldPart::printed(self.field(property)?, key, printed, format) };
            parts.push(Part::Field(part.version(version)));
        }
        Some(Template { source: leaked(&source), parts: parts.leak() })
    }

    fn key_type(&mut self) -> Option<KeyType> {
        let word = self.word();
        let has_more = self.takes("(");
        Some(match (word, has_more) {
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
                let mut names: Vec<&'static str> = Vec::new();
                while !self.takes(")") {
                    self.takes(" ");
                    names.push(leaked(&self.quoted()?));
                }
                KeyType::Names(names.leak())
            }
            ("option", true) => {
                let inner = self.key_type()?;
                self.takes(")").then(|| KeyType::Optional(Box::leak(Box::new(inner))))?
            }
            ("each", true) => {
                let inner = self.key_type()?;
                self.takes(")").then(|| KeyType::Each(Box::leak(Box::new(inner))))?
            }
            _ => return None,
        })
    }
}
