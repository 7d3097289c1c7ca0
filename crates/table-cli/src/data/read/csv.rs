//! Records of CSV, with types in columns of their own or without.

use std::borrow::Cow;
use std::io::Read;

use memchr::{memchr, memchr2};

use super::super::reject::Reject;
use super::MOST_BYTES;
use super::block::{Block, place_in};
use super::header::{Column, Header};
use super::infer::Types;
use super::input::{Input, Step};
use crate::failure::Failure;

/// Reads records.
#[derive(Debug)]
pub(super) struct Csv {
    header: Header,
    types: Types,
    fields: Fields,
}

/// The fields of a record.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<Field>);

/// Where a field stands in its record, without its quotes.
#[derive(Clone, Copy, Debug)]
struct Field {
    from: usize,
    to: usize,
    is_quoted: bool,
    /// Whether there are quotes in it, each of which is written twice.
    has_quotes: bool,
}

/// Why a text is no record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unsplit {
    /// The text ends before the record does.
    More,
    /// A quoted field begins here and has no end.
    Unclosed(usize),
    /// Something stands here behind the end of a quoted field.
    Stray(usize),
}

impl Fields {
    /// Returns the texts of the fields; `None` of one that is not UTF-8.
    pub(super) fn texts<'r>(&'r self, record: &'r [u8]) -> impl Iterator<Item = Option<String>> + 'r {
        self.0.iter().map(|field| field.text(record).map(Cow::into_owned))
    }
}

impl Field {
    fn text(self, record: &[u8]) -> Option<Cow<'_, str>> {
        let text = str::from_utf8(record.get(self.from..self.to)?).ok()?;
        Some(if self.has_quotes { Cow::Owned(text.replace("\"\"", "\"")) } else { Cow::Borrowed(text) })
    }
}

/// Splits the record that a text begins with; returns its length with the end of its line. `is_end` says that nothing comes
/// behind the text.
pub(super) fn split(text: &[u8], delimiter: u8, is_end: bool, fields: &mut Fields) -> Result<usize, Unsplit> {
    fields.0.clear();
    let mut at = 0;
    loop {
        let (field, next) = if text.get(at) == Some(&b'"') {
            quoted(text, at, delimiter, is_end)?
        } else {
            let rest = text.get(at..).unwrap_or_default();
            let end = memchr2(delimiter, b'\n', rest).map(|end| at + end);
            let to = match end {
                Some(end) => end,
                None if is_end => text.len(),
                None => return Err(Unsplit::More),
            };
            (Field { from: at, to, is_quoted: false, has_quotes: false }, to)
        };
        let is_last = text.get(next) != Some(&delimiter);
        let mut field = field;
        if is_last
            && !field.is_quoted
            && text.get(field.from..field.to).is_some_and(|own| own.ends_with(b"\r"))
        {
            field.to -= 1;
        }
        fields.0.push(field);
        at = next + 1;
        if is_last {
            return Ok(at.min(text.len()));
        }
    }
}

/// Returns a quoted field, and the place of the delimiter or of the line's end behind it.
fn quoted(text: &[u8], start: usize, delimiter: u8, is_end: bool) -> Result<(Field, usize), Unsplit> {
    let (from, mut at, mut has_quotes) = (start + 1, start + 1, false);
    let to = loop {
        let Some(quote) = memchr(b'"', text.get(at..).unwrap_or_default()).map(|quote| at + quote) else {
            return Err(if is_end { Unsplit::Unclosed(start) } else { Unsplit::More });
        };
        match text.get(quote + 1) {
            Some(b'"') => {
                has_quotes = true;
                at = quote + 2;
            }
            None if !is_end => return Err(Unsplit::More),
            _ => break quote,
        }
    };
    let field = Field { from, to, is_quoted: true, has_quotes };
    match text.get(to + 1..).unwrap_or_default() {
        [] | [b'\n', ..] => Ok((field, to + 1)),
        [byte, ..] if *byte == delimiter => Ok((field, to + 1)),
        [b'\r', b'\n', ..] => Ok((field, to + 2)),
        [b'\r'] if is_end => Ok((field, to + 2)),
        [b'\r'] => Err(Unsplit::More),
        _ => Err(Unsplit::Stray(to + 1)),
    }
}

impl Csv {
    pub(super) fn new(header: Header, types: Types) -> Self {
        Self { header, types, fields: Fields::default() }
    }

    /// Reads the next record.
    pub(super) fn next<R: Read>(&mut self, input: &mut Input<R>, block: &mut Block) -> Result<Step, Failure> {
        let mut is_end = false;
        let found = loop {
            let found = split(input.bytes(), self.header.delimiter, is_end, &mut self.fields);
            match found {
                Err(Unsplit::More) if input.bytes().len() > MOST_BYTES => break Err(Unsplit::More),
                Err(Unsplit::More) => is_end = !input.more()?,
                found => break found,
            }
        };
        let line = input.place().line;
        if input.bytes().is_empty() {
            return Ok(Step::End);
        }
        let length = match found {
            Ok(length) => length,
            Err(why) => {
                // Where the record would end is unknown: the next line may be sound.
                let reject = unsplit(&why, line, input.bytes());
                input.take_line()?;
                return Ok(Step::Rejected(reject));
            }
        };
        let record = input.bytes().get(..length).unwrap_or_default();
        let step = if record.trim_ascii().is_empty() && self.fields.0.len() == 1 {
            Step::Read
        } else {
            self.record(line, record, block)
        };
        input.take(length);
        Ok(step)
    }

    fn record(&self, line: u64, record: &[u8], block: &mut Block) -> Step {
        let (found, wanted) = (self.fields.0.len(), self.header.columns.len());
        if found != wanted {
            let text = format!("the record has {found} fields, and the first line {wanted} names");
            return Step::Rejected(Reject::text(line, None, text));
        }
        if let Err(error) = str::from_utf8(record) {
            let (line, column) = place_in(line, record, error.valid_up_to());
            return Step::Rejected(Reject::text(line, Some(column), "the text is not UTF-8"));
        }
        block.add(line, record, |text| self.write(record, text, |_, _| {}));
        Step::Read
    }

    /// Writes a record as an object of JSON; `each` is told where the object has the column of a number.
    fn write(&self, record: &[u8], out: &mut Vec<u8>, mut each: impl FnMut(usize, usize)) {
        let text_of =
            |at: usize| self.fields.0.get(at).and_then(|field| field.text(record)).unwrap_or_default();
        let kind = self.types.of_kind(|name| {
            let named = |column: &Column| matches!(column, Column::Property { name: of, .. } if of == name);
            self.header.columns.iter().position(named).map(text_of)
        });
        let start = out.len();
        out.push(b'{');
        for (at, column) in self.header.columns.iter().enumerate() {
            each(at, out.len() - start);
            match column {
                Column::PartitionKey => member("PartitionKey", &text_of(at), out),
                Column::RowKey => member("RowKey", &text_of(at), out),
                Column::Skipped => {}
                Column::Property { name, types } => {
                    let text = text_of(at);
                    let said = types.map(text_of).unwrap_or_default();
                    let is_quoted = self.fields.0.get(at).is_some_and(|field| field.is_quoted);
                    // Nothing at all is no value.
                    if text.is_empty() && said.is_empty() && !is_quoted {
                        continue;
                    }
                    let edm = match &*said {
                        "" => kind
                            .and_then(|kind| kind.get(&**name))
                            .map_or_else(|| self.types.inferred(&text).name(), |edm| edm.name()),
                        said => said,
                    };
                    push_type(name, edm, out);
                    member(name, &text, out);
                }
            }
        }
        if out.last() == Some(&b',') {
            out.pop();
        }
        out.push(b'}');
    }

    /// Returns the line and the column of the field that an error stands in: it is at this byte of the object that was made of
    /// the record.
    pub(super) fn place_of(&self, line: u64, record: &[u8], at: usize) -> (u64, u64) {
        let mut again =
            Self { header: self.header.clone(), types: self.types.clone(), fields: Fields::default() };
        if split(record, self.header.delimiter, true, &mut again.fields).is_err() {
            return (line, 1);
        }
        let mut found = 0;
        again.write(record, &mut Vec::new(), |column, from| {
            if from <= at {
                found = column;
            }
        });
        let from = again.fields.0.get(found).map_or(0, |field| field.from);
        place_in(line, record, from)
    }
}

fn unsplit(why: &Unsplit, line: u64, text: &[u8]) -> Reject {
    let (at, text_of) = match why {
        Unsplit::More => (0, "the record has no end within the bytes that an entity can have"),
        Unsplit::Unclosed(at) => (*at, "the quote that opens here is never closed"),
        Unsplit::Stray(at) => {
            (*at, "something stands behind a closing quote; a quote within a text is written twice")
        }
    };
    let (line, column) = place_in(line, text, at);
    Reject::text(line, Some(column), text_of)
}

/// Appends a member whose value is a string.
fn member(name: &str, value: &str, out: &mut Vec<u8>) {
    push_string(name, out);
    out.push(b':');
    push_string(value, out);
    out.push(b',');
}

/// Appends the annotation of a type, which may lack its `Edm.`.
fn push_type(name: &str, edm: &str, out: &mut Vec<u8>) {
    // A text has no annotation, as a service writes it.
    if edm == "Edm.String" || edm == "String" {
        return;
    }
    push_string(&format!("{name}@odata.type"), out);
    out.push(b':');
    let edm = edm.strip_prefix("Edm.").unwrap_or(edm);
    push_string(&format!("Edm.{edm}"), out);
    out.push(b',');
}

/// Appends a text as a string of JSON.
fn push_string(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut rest = text.as_bytes();
    let is_odd = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    while let Some(at) = rest.iter().position(is_odd) {
        let (plain, odd) = rest.split_at(at);
        out.extend_from_slice(plain);
        if let Some((byte, after)) = odd.split_first() {
            let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xf)]);
            rest = after;
        }
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
