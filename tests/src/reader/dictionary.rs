//! What a table numbers: names, symbols and shapes; and what it notes of its kinds.

use std::collections::BTreeMap;

use super::bytes::{Bytes, Read, ensure, small, text};
use super::{Records, Tally};

/// A column of a shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) name: u16,
    /// How rows hold it.
    pub(super) of: u8,
    pub(super) is_optional: bool,
}

#[derive(Debug)]
pub(super) struct Shape {
    pub(super) symbol: u16,
    pub(super) columns: Vec<Column>,
}

#[derive(Debug, Default)]
pub(super) struct Dictionary {
    pub(super) names: Vec<String>,
    pub(super) symbols: Vec<String>,
    pub(super) shapes: Vec<Shape>,
    pub(super) layouts: (BTreeMap<String, String>, Tally),
    pub(super) states: Tally,
    pub(super) jobs: Tally,
    pub(super) service: (BTreeMap<String, Vec<u8>>, Tally),
}

impl Dictionary {
    pub(super) fn read(records: &Records, table: u32) -> Read<Self> {
        let mut this = Self::default();
        let mut numbers: [BTreeMap<String, u16>; 2] = Default::default();
        for (key, record) in records {
            let mut rest = Bytes(key);
            if rest.u32_be()? != table {
                continue;
            }
            let kind = rest.u8()?;
            let body = small(key, record)?;
            let mut next = |count: usize| -> Read<()> {
                let number = rest.u16_be()?;
                ensure!(usize::from(number) == count, "after {count} of the kind {kind} comes {number}");
                rest.end("a number's key")
            };
            match kind {
                0 => {
                    next(this.names.len())?;
                    this.names.push(text(body)?);
                }
                2 => {
                    next(this.symbols.len())?;
                    this.symbols.push(text(body)?);
                }
                5 => {
                    next(this.shapes.len())?;
                    this.shapes.push(Shape::read(body)?);
                }
                1 | 3 => {
                    let mut number = Bytes(body);
                    let of = &mut numbers[usize::from(kind / 2)];
                    of.insert(text(rest.rest())?, number.u16()?);
                    number.end("a number")?;
                }
                4 => {
                    this.layouts.0.insert(text(rest.rest())?, text(body)?);
                    this.layouts.1.add(record);
                }
                6 => this.states.add(record),
                7 => this.jobs.add(record),
                8 => {
                    let name = text(rest.rest())?;
                    let is_right =
                        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
                    ensure!((1..=64).contains(&name.len()) && name.bytes().all(is_right), "{name:?}");
                    ensure!(body.len() <= 65_536, "a service record of {} bytes", body.len());
                    this.service.0.insert(name, body.to_vec());
                    this.service.1.add(record);
                }
                _ => return Err(format!("an entry of the kind {kind}")),
            }
        }
        let turned = |names: &[String]| -> BTreeMap<String, u16> { names.iter().cloned().zip(0..).collect() };
        ensure!(numbers == [turned(&this.names), turned(&this.symbols)], "names and numbers differ");
        for shape in &this.shapes {
            ensure!(usize::from(shape.symbol) < this.symbols.len(), "a shape without a symbol");
            let entity_type = this.entity_type()?;
            for column in &shape.columns {
                let is_name = usize::from(column.name) < this.names.len() && column.name != entity_type;
                ensure!(is_name, "the column {} of a shape has no name", column.name);
            }
        }
        ensure!(this.shapes.len() <= 1_000, "{} shapes", this.shapes.len());
        Ok(this)
    }

    /// How many names, symbols and shapes there are.
    pub(super) fn numbered(&self) -> [u32; 3] {
        [self.names.len(), self.symbols.len(), self.shapes.len()]
            .map(|count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// The number of the property that rows say their kind by.
    fn entity_type(&self) -> Read<u16> {
        let at = self
            .names
            .iter()
            .position(|name| name == "EntityType")
            .ok_or("there are shapes and no `EntityType`")?;
        u16::try_from(at).map_err(|error| error.to_string())
    }
}

impl Shape {
    fn read(body: &[u8]) -> Read<Self> {
        let mut bytes = Bytes(body);
        let (symbol, count) = (bytes.u16()?, bytes.u16()?);
        ensure!(count <= 251, "a shape of {count} columns");
        let mut columns: Vec<Column> = Vec::new();
        for _ in 0..count {
            let (name, of) = (bytes.u16()?, bytes.u8()?);
            ensure!(of & 0x7f <= 12, "a column of the type {of}");
            ensure!(columns.last().is_none_or(|last| last.name < name), "columns whose numbers don't rise");
            columns.push(Column { name, of: of & 0x7f, is_optional: of & 0x80 != 0 });
        }
        bytes.end("a shape")?;
        Ok(Self { symbol, columns })
    }
}
