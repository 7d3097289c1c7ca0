//! Entities of one kind as a Parquet file: a column of its type for each property.
//!
//! The values of many entities are gathered by columns and written as a row group, so memory is constant.

mod shape;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use table_core::odata::Source;
use table_core::{Error, ErrorKind, ValueRef};

use self::shape::ColumnType;
pub(crate) use self::shape::Shape;
use crate::failure::Failure;

/// A row group ends when it has so many entities, or so many bytes of texts and keys.
const GROUP: usize = 100_000;
const GROUP_BYTES: usize = 16 << 20;

/// The columns of the keys, which come first and which every entity has.
const KEYS: usize = 2;

/// The values of a column in a row group.
#[derive(Debug)]
struct Column {
    kind: ColumnType,
    values: Values,
    /// Whether each entity has a value.
    levels: Vec<i16>,
}

#[derive(Debug)]
enum Values {
    Bytes(Vec<ByteArray>),
    Booleans(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Doubles(Vec<f64>),
    Uuids(Vec<FixedLenByteArray>),
}

impl Column {
    fn new(kind: ColumnType) -> Self {
        let values = match kind {
            ColumnType::Text | ColumnType::Bytes => Values::Bytes(Vec::new()),
            ColumnType::Boolean => Values::Booleans(Vec::new()),
            ColumnType::Int32 => Values::Int32(Vec::new()),
            ColumnType::Int64 | ColumnType::Time(_) => Values::Int64(Vec::new()),
            ColumnType::Double => Values::Doubles(Vec::new()),
            ColumnType::Uuid => Values::Uuids(Vec::new()),
        };
        Self { kind, values, levels: Vec::new() }
    }

    /// Adds the value of the entity that has come; returns whether it is of the column's type.
    fn push(&mut self, value: ValueRef<'_>) -> bool {
        match (&mut self.values, value) {
            (Values::Bytes(all), ValueRef::String(text)) if self.kind == ColumnType::Text => {
                all.push(text.as_bytes().to_vec().into());
            }
            (Values::Bytes(all), ValueRef::Binary(bytes)) if self.kind == ColumnType::Bytes => {
                all.push(bytes.to_vec().into());
            }
            (Values::Booleans(all), ValueRef::Boolean(value)) => all.push(value),
            (Values::Int32(all), ValueRef::Int32(value)) => all.push(value),
            (Values::Int64(all), ValueRef::Int32(value)) if self.kind == ColumnType::Int64 => {
                all.push(value.into());
            }
            (Values::Int64(all), ValueRef::Int64(value)) if self.kind == ColumnType::Int64 => all.push(value),
            (Values::Doubles(all), ValueRef::Double(value)) => all.push(value),
            (Values::Uuids(all), ValueRef::Guid(value)) => all.push(value.as_bytes().to_vec().into()),
            (Values::Int64(all), ValueRef::DateTime(time)) => match self.kind {
                ColumnType::Time(times) => match times.number(time) {
                    Some(number) => all.push(number),
                    None => return false,
                },
                _ => return false,
            },
            _ => return false,
        }
        self.levels.push(1);
        true
    }

    /// Makes it as long as others, of so many entities.
    fn fill(&mut self, entities: usize) {
        self.levels.resize(entities, 0);
    }

    fn write(
        &mut self,
        mut writer: SerializedColumnWriter<'_>,
        is_required: bool,
    ) -> Result<(), ParquetError> {
        fn all<T: DataType>(
            writer: &mut SerializedColumnWriter<'_>,
            values: &mut Vec<T::T>,
            levels: Option<&[i16]>,
        ) -> Result<(), ParquetError> {
            writer.typed::<T>().write_batch(values, levels, None)?;
            values.clear();
            Ok(())
        }
        let levels = (!is_required).then_some(&*self.levels);
        match &mut self.values {
            Values::Bytes(values) => all::<ByteArrayType>(&mut writer, values, levels)?,
            Values::Booleans(values) => all::<BoolType>(&mut writer, values, levels)?,
            Values::Int32(values) => all::<Int32Type>(&mut writer, values, levels)?,
            Values::Int64(values) => all::<Int64Type>(&mut writer, values, levels)?,
            Values::Doubles(values) => all::<DoubleType>(&mut writer, values, levels)?,
            Values::Uuids(values) => all::<FixedLenByteArrayType>(&mut writer, values, levels)?,
        }
        self.levels.clear();
        writer.close()
    }
}

/// Writes entities as a file, whose bytes its caller takes.
pub(crate) struct Parquet {
    shape: Shape,
    columns: Vec<Column>,
    entities: usize,
    bytes: usize,
    file: SerializedFileWriter<Vec<u8>>,
}

impl Parquet {
    pub(crate) fn new(shape: Shape) -> Result<Self, Failure> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("table-cli ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::SNAPPY);
        let file = SerializedFileWriter::new(Vec::new(), shape.schema()?, Arc::new(properties.build()))
            .map_err(failed)?;
        let columns = shape.columns.iter().map(|(_, kind)| Column::new(*kind)).collect();
        Ok(Self { shape, columns, entities: 0, bytes: 0, file })
    }

    /// Adds an entity, and appends the bytes that are done.
    pub(super) fn entity(&mut self, row: &impl Source, out: &mut Vec<u8>) -> Result<(), Failure> {
        let (partition, row_key) = row.keys()?;
        let Self { shape, columns, bytes, .. } = self;
        for (column, key) in columns.iter_mut().zip([&partition, &row_key]) {
            column.push(ValueRef::String(key));
        }
        *bytes += partition.len() + row_key.len();
        let mut without = None;
        shape.reading.for_each_value(row, |name, value| {
            let column = shape.places.get(name).and_then(|at| columns.get_mut(*at));
            *bytes += length(value);
            if !column.is_some_and(|column| column.push(value)) {
                without.get_or_insert_with(|| name.to_owned());
            }
        })?;
        if let Some(name) = without {
            return Err(Failure::Usage(format!(
                "a value of `{name}` has come into the table while it was exported, and fits no column; export again, with \
                 --consistent if the table changes all the time"
            )));
        }
        self.entities += 1;
        self.columns.iter_mut().for_each(|column| column.fill(self.entities));
        if self.entities >= GROUP || self.bytes >= GROUP_BYTES {
            self.group(out)?;
        }
        Ok(())
    }

    /// Appends the rest of the file.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.entities > 0 {
            self.group(out)?;
        }
        self.file.finish().map_err(failed)?;
        out.append(self.file.inner_mut());
        Ok(())
    }

    /// Appends the entities that were gathered, as a row group.
    fn group(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        let mut group = self.file.next_row_group().map_err(failed)?;
        for (at, column) in self.columns.iter_mut().enumerate() {
            let writer = group.next_column().map_err(failed)?;
            let writer = writer.ok_or_else(|| failed("the file has fewer columns than its schema"))?;
            column.write(writer, at < KEYS).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        (self.entities, self.bytes) = (0, 0);
        self.file.flush().map_err(failed)?;
        out.append(self.file.inner_mut());
        Ok(())
    }
}

impl std::fmt::Debug for Parquet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parquet").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// Returns the bytes of a value that grow with it.
fn length(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::String(text) => text.len(),
        ValueRef::Binary(bytes) => bytes.len(),
        _ => 8,
    }
}

/// Returns the failure of the crate that writes the form.
fn failed(error: impl std::fmt::Display) -> Failure {
    let error = Error::new(ErrorKind::Io).because(error.to_string());
    Failure::Store(error.attempted("write a Parquet file"))
}
