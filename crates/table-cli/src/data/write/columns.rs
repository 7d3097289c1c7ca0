//! Entities in lines of columns: CSV with types and without, and Markdown.

use std::collections::HashMap;
use std::ops::Range;

use table_core::odata::Source;

use super::super::form::Form;
use super::super::text::{push_time, push_value, short_type};
use crate::failure::Failure;

/// The properties that have a column, in the order of the columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    names: Vec<String>,
    places: HashMap<String, usize>,
    /// Whether properties without a column are left out, since others were asked for.
    selects: bool,
}

impl Columns {
    /// Makes columns of the properties that were asked for; all others are left out.
    pub(crate) fn selected(names: &[String]) -> Self {
        let mut columns = Self { selects: true, ..Self::default() };
        for name in names.iter().filter(|name| !matches!(&***name, "PartitionKey" | "RowKey")) {
            columns.add(name);
        }
        columns
    }

    /// Adds columns for the properties of an entity that have none yet.
    pub(crate) fn add_of(&mut self, row: &impl Source) -> Result<(), Failure> {
        Ok(row.for_each_property(|name, _| {
            self.add(name);
            Ok(())
        })?)
    }

    fn add(&mut self, name: &str) {
        if !self.places.contains_key(name) {
            self.places.insert(name.to_owned(), self.names.len());
            self.names.push(name.to_owned());
        }
    }

    /// Returns the column of a property, which is mostly the one behind the last.
    fn find(&self, name: &str, likely: usize) -> Option<usize> {
        match self.names.get(likely) {
            Some(next) if next == name => Some(likely),
            _ => self.places.get(name).copied(),
        }
    }
}

/// Writes entities as lines.
#[derive(Debug)]
pub(super) struct Line {
    form: Form,
    columns: Columns,
    /// The texts of an entity's values, one behind another.
    texts: Vec<u8>,
    /// Where the value of each column stands in them, and its type.
    cells: Vec<Option<(Range<usize>, &'static str)>>,
}

impl Line {
    pub(super) fn new(form: Form, columns: Columns) -> Self {
        Self { form, columns, texts: Vec::new(), cells: Vec::new() }
    }

    /// Whether lines have the time of the entity's last write.
    fn has_timestamp(&self) -> bool {
        !self.columns.selects
    }

    /// Appends the line with the names.
    pub(super) fn head(&self, out: &mut Vec<u8>) {
        let mut names = vec!["PartitionKey".to_owned(), "RowKey".to_owned()];
        if self.has_timestamp() {
            names.push("Timestamp".to_owned());
        }
        for name in &self.columns.names {
            names.push(name.clone());
            if self.form == Form::AzureCsv {
                names.push(format!("{name}@type"));
            }
        }
        self.begin(out);
        for (at, name) in names.iter().enumerate() {
            self.separate(at, out);
            self.push(name.as_bytes(), out);
        }
        self.end(out);
        if self.form == Form::Md {
            out.push(b'|');
            for _ in &names {
                out.extend_from_slice(b" --- |");
            }
            out.push(b'\n');
        }
    }

    /// Appends the line of an entity.
    pub(super) fn entity(&mut self, row: &impl Source, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.gather(row)?;
        let (partition, row_key) = row.keys()?;
        self.begin(out);
        self.push(partition.as_bytes(), out);
        self.separate(1, out);
        self.push(row_key.as_bytes(), out);
        if self.has_timestamp() {
            self.separate(2, out);
            if let Some(etag) = row.etag() {
                push_time(etag.timestamp(), out);
            }
        }
        for cell in &self.cells {
            self.separate(3, out);
            let value = cell.as_ref().map(|(range, _)| self.texts.get(range.clone()).unwrap_or_default());
            match value {
                // An empty text is quoted: nothing at all is no value.
                Some([]) if self.form == Form::Csv => out.extend_from_slice(b"\"\""),
                Some(value) => self.push(value, out),
                None => {}
            }
            if self.form == Form::AzureCsv {
                out.push(b',');
                out.extend_from_slice(cell.as_ref().map_or("", |(_, edm)| edm).as_bytes());
            }
        }
        self.end(out);
        Ok(())
    }

    /// Puts the texts of the entity's values under their columns.
    fn gather(&mut self, row: &impl Source) -> Result<(), Failure> {
        let Self { columns, texts, cells, .. } = self;
        texts.clear();
        cells.clear();
        cells.resize(columns.names.len(), None);
        let (mut likely, mut without) = (0, None);
        row.for_each_property(|name, value| {
            let Some(at) = columns.find(name, likely) else {
                if !columns.selects {
                    without.get_or_insert_with(|| name.to_owned());
                }
                return Ok(());
            };
            let from = texts.len();
            push_value(value, texts);
            if let Some(cell) = cells.get_mut(at) {
                *cell = Some((from..texts.len(), short_type(value.edm_type())));
            }
            likely = at + 1;
            Ok(())
        })?;
        match without {
            None => Ok(()),
            Some(name) => Err(Failure::Usage(format!(
                "the property `{name}` has come into the table while it was exported, and has no column; export again, with \
                 --consistent if the table changes all the time"
            ))),
        }
    }

    fn begin(&self, out: &mut Vec<u8>) {
        if self.form == Form::Md {
            out.extend_from_slice(b"| ");
        }
    }

    fn separate(&self, at: usize, out: &mut Vec<u8>) {
        if at > 0 {
            out.extend_from_slice(if self.form == Form::Md { b" | " } else { b"," });
        }
    }

    fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.form == Form::Md { b" |\n" } else { b"\n" });
    }

    fn push(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.form == Form::Md {
            push_markdown(text, out);
        } else {
            push_csv(text, out);
        }
    }
}

/// Appends a text as a field of CSV.
fn push_csv(text: &[u8], out: &mut Vec<u8>) {
    let is_odd = |byte: &u8| matches!(byte, b'"' | b',' | b'\n' | b'\r');
    let is_spaced = text.first() == Some(&b' ') || text.last() == Some(&b' ');
    if !is_spaced && !text.iter().any(is_odd) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for piece in text.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(piece);
        if piece.last() == Some(&b'"') {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

/// Appends a text as a cell of Markdown, in one line.
fn push_markdown(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'|' => out.extend_from_slice(b"\\|"),
            b'\n' | b'\r' => out.push(b' '),
            byte => out.push(*byte),
        }
    }
}
