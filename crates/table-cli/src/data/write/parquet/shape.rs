//! The columns of a Parquet file, and their types.

use std::collections::HashMap;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::schema::types::{Type, TypePtr};
use table_core::introspect::KindInfo;
use table_core::odata::Source;
use table_core::{Ticks, ValueRef};

use super::{KEYS, failed};
use crate::failure::Failure;

/// The ticks of a microsecond, and the nanoseconds of a tick.
const PER_MICROSECOND: i64 = 10;
const NANOSECONDS: i64 = 100;

/// The columns of a file: the keys, the time of the last write, and a column for each property.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(super) reading: Reading,
    pub(super) columns: Vec<(String, ColumnType)>,
    pub(super) places: HashMap<String, usize>,
}

/// What of an entity has columns.
#[derive(Debug)]
pub(super) struct Reading {
    info: KindInfo,
    /// The properties that were asked for; empty for all.
    selected: Vec<String>,
}

impl Reading {
    /// Gives `each` the values of an entity but for its keys: its time, what the keys print, and its properties.
    pub(super) fn for_each_value(
        &self,
        row: &impl Source,
        mut each: impl FnMut(&str, ValueRef<'_>),
    ) -> Result<(), Failure> {
        if let (Some(etag), true) = (row.etag(), self.selected.is_empty()) {
            each("Timestamp", ValueRef::DateTime(etag.timestamp()));
        }
        let (partition, row_key) = row.keys()?;
        for (name, value) in self.info.keys(None)?.read(&partition, &row_key).unwrap_or_default() {
            // Rows of former versions may have it as a property, too.
            if self.is_wanted(&name) && row.property(&name)?.is_none() {
                each(&name, value.as_value_ref());
            }
        }
        row.for_each_property(|name, value| {
            if self.is_wanted(name) {
                each(name, value);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.selected.is_empty() || self.selected.iter().any(|selected| selected == name)
    }
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    Text,
    Bytes,
    Boolean,
    Int32,
    Int64,
    Double,
    Uuid,
    Time(Times),
}

/// How exactly the times of a column can be held: there is no type for the ticks of 100 nanoseconds that they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    are_microseconds: bool,
    fit_nanoseconds: bool,
}

impl Shape {
    /// Begins with the columns that every file has.
    pub(crate) fn of(info: KindInfo, selected: &[String]) -> Self {
        let reading = Reading { info, selected: selected.to_vec() };
        let mut shape = Self { reading, columns: Vec::new(), places: HashMap::new() };
        for name in ["PartitionKey", "RowKey"] {
            shape.columns.push((name.to_owned(), ColumnType::Text));
        }
        shape
    }

    /// Adds columns for the values of an entity that have none yet. Values of two types in one property are refused, unless one
    /// type holds both.
    pub(crate) fn add_of(&mut self, row: &impl Source) -> Result<(), Failure> {
        let Self { reading, columns, places } = self;
        let mut refused = None;
        reading.for_each_value(row, |name, value| {
            let kind = ColumnType::of(value);
            let Some((_, known)) = places.get(name).and_then(|at| columns.get_mut(*at)) else {
                places.insert(name.to_owned(), columns.len());
                columns.push((name.to_owned(), kind));
                return;
            };
            match known.with(kind) {
                Some(both) => *known = both,
                None => {
                    refused.get_or_insert_with(|| {
                        format!(
                            "the property `{name}` is {} in some entities and {} in others, and a column has one type: leave it \
                             out with --select",
                            known.name(),
                            kind.name()
                        )
                    });
                }
            }
        })?;
        refused.map_or(Ok(()), |why| Err(Failure::Usage(why)))
    }

    /// Returns the schema of the file.
    pub(super) fn schema(&self) -> Result<TypePtr, Failure> {
        let column = |(at, (name, kind)): (usize, &(String, ColumnType))| {
            let (physical, logical) = kind.types(name)?;
            // The keys come first, and every entity has both.
            let repetition = if at < KEYS { Repetition::REQUIRED } else { Repetition::OPTIONAL };
            let column = Type::primitive_type_builder(name, physical)
                .with_repetition(repetition)
                .with_logical_type(logical)
                .with_length(if *kind == ColumnType::Uuid { 16 } else { -1 });
            column.build().map(Arc::new).map_err(failed)
        };
        let columns = self.columns.iter().enumerate().map(column).collect::<Result<_, _>>()?;
        Type::group_type_builder(self.reading.info.kind())
            .with_fields(columns)
            .build()
            .map(Arc::new)
            .map_err(failed)
    }
}

impl ColumnType {
    pub(super) fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::String(_) => Self::Text,
            ValueRef::Binary(_) => Self::Bytes,
            ValueRef::Boolean(_) => Self::Boolean,
            ValueRef::Int32(_) => Self::Int32,
            ValueRef::Int64(_) => Self::Int64,
            ValueRef::Double(_) => Self::Double,
            ValueRef::Guid(_) => Self::Uuid,
            ValueRef::DateTime(time) => Self::Time(Times {
                are_microseconds: since_epoch(time) % PER_MICROSECOND == 0,
                fit_nanoseconds: since_epoch(time).checked_mul(NANOSECONDS).is_some(),
            }),
        }
    }

    /// Returns the type that holds the values of both; `None` if none does.
    pub(super) fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Int32, Self::Int64) | (Self::Int64, Self::Int32) => Some(Self::Int64),
            (Self::Time(one), Self::Time(other)) => Some(Self::Time(Times {
                are_microseconds: one.are_microseconds && other.are_microseconds,
                fit_nanoseconds: one.fit_nanoseconds && other.fit_nanoseconds,
            })),
            (one, other) => (one == other).then_some(one),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "String",
            Self::Bytes => "Binary",
            Self::Boolean => "Boolean",
            Self::Int32 => "Int32",
            Self::Int64 => "Int64",
            Self::Double => "Double",
            Self::Uuid => "Guid",
            Self::Time(_) => "DateTime",
        }
    }

    /// Returns how its values are stored, and what they mean.
    fn types(self, name: &str) -> Result<(PhysicalType, Option<LogicalType>), Failure> {
        Ok(match self {
            Self::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Bytes => (PhysicalType::BYTE_ARRAY, None),
            Self::Boolean => (PhysicalType::BOOLEAN, None),
            Self::Int32 => (PhysicalType::INT32, None),
            Self::Int64 => (PhysicalType::INT64, None),
            Self::Double => (PhysicalType::DOUBLE, None),
            Self::Uuid => (PhysicalType::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)),
            Self::Time(times) => {
                let unit = times.unit().ok_or_else(|| {
                    Failure::Usage(format!(
                        "`{name}` has times before 1677 or after 2262 and others of less than a microsecond, which no column \
                         holds both: leave it out with --select"
                    ))
                })?;
                (PhysicalType::INT64, Some(LogicalType::timestamp(true, unit)))
            }
        })
    }
}

impl Times {
    /// Returns the time in the unit of the column; `None` if that does not hold it exactly.
    pub(super) fn number(self, time: Ticks) -> Option<i64> {
        let ticks = since_epoch(time);
        match self.unit()? {
            TimeUnit::MICROS => (ticks % PER_MICROSECOND == 0).then_some(ticks / PER_MICROSECOND),
            _ => ticks.checked_mul(NANOSECONDS),
        }
    }

    /// Returns the unit that holds the times exactly; `None` if none does.
    pub(super) fn unit(self) -> Option<TimeUnit> {
        if self.are_microseconds {
            Some(TimeUnit::MICROS)
        } else {
            self.fit_nanoseconds.then_some(TimeUnit::NANOS)
        }
    }
}

/// Returns the ticks since Unix's epoch; before it they are negative.
fn since_epoch(time: Ticks) -> i64 {
    // Both are below the ticks of the year 10000, which an `i64` holds.
    let ticks = |time: Ticks| i64::try_from(time.get()).unwrap_or(i64::MAX);
    ticks(time) - ticks(Ticks::UNIX_EPOCH)
}
