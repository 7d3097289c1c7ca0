//! Rows of previous versions of an entity, as a filter sees what they become.

use std::any::Any;
use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Result};
use crate::executor::layouts::unknown_version;
use crate::model::{Name, Ticks, ValueRef};
use crate::plan::Values;
use crate::query::{Fields, Kind, Predicate, QueryPlan, SealedEq};
use crate::row::view::RowView;
use crate::schema::{Kinship, Schema};
use crate::sealing::sign;

/// What is given the fields of an entity that a row of a previous version becomes.
type Take<'t> = &'t mut dyn FnMut(&Values<'_>) -> Result<()>;

/// How rows of previous versions become what an entity is now. A query comes with it as something that it knows nothing of,
/// since it knows no rows.
#[derive(Debug)]
pub(crate) struct PreviousRows {
    pub(crate) schema: &'static Schema,
    pub(crate) convert: fn(&RowView<'_>, Take<'_>) -> Result<()>,
}

impl QueryPlan {
    /// Returns whether a row that is not of the kind, as it stands, is of another version of it and belongs to the answer: of
    /// another kind it does not, and one that can't be read is an error. What can't be converted belongs to it, so that its
    /// reader gets the error.
    #[cold]
    pub fn accepts_other(&self, kind: Kind, row: &RowView<'_>) -> Result<bool> {
        if !self.shows(row)? {
            return Ok(false);
        }
        let Some(found) = row.kind()? else { return Ok(false) };
        let locate = |error: Error| error.partition(&row.partition_key()).row(&row.row_key());
        let previous = match kind.keys.kinship(found) {
            Kinship::Foreign | Kinship::Mine => return Ok(false),
            Kinship::Other(version) => {
                return Err(locate(unknown_version(kind.keys.declared(), version)));
            }
            Kinship::PreviousVersion(previous) => previous,
        };
        if previous.signed && !row.row().is_signed() {
            return Err(sign::unsigned(row));
        }
        if !self.has_conditions() {
            return Ok(true);
        }
        let Some(rows) = kind.keys.previous_rows().and_then(<dyn Any>::downcast_ref::<PreviousRows>) else {
            return Err(locate(unknown_version(kind.keys.declared(), previous.version)));
        };
        let names = self.predicate.as_ref().map_or(&[][..], Predicate::names);
        let mut is_accepted = false;
        let converted = (rows.convert)(row, &mut |values| {
            is_accepted = self.accepts(&Converted { row, names, schema: rows.schema, values })?;
            Ok(())
        });
        match converted {
            Err(error) if error.kind() == ErrorKind::NotConverted => Ok(true),
            converted => converted.map(|()| is_accepted),
        }
    }
}

/// What a row becomes, as a filter sees it.
struct Converted<'r> {
    row: &'r RowView<'r>,
    names: &'r [Name],
    schema: &'static Schema,
    values: &'r Values<'r>,
}

impl Converted<'_> {
    fn of(&self, property: &str) -> Option<ValueRef<'_>> {
        let field = self.schema.fields.iter().position(|field| field.property == property)?;
        self.values.get(field)
    }
}

impl Fields for Converted<'_> {
    fn partition_key(&self) -> Cow<'_, str> {
        self.row.partition_key()
    }

    fn row_key(&self) -> Cow<'_, str> {
        self.row.row_key()
    }

    fn timestamp(&self) -> Ticks {
        self.row.timestamp()
    }

    fn property(&self, slot: usize) -> Result<Option<ValueRef<'_>>> {
        Ok(self.names.get(slot).and_then(|name| self.of(name)))
    }

    fn opens_as(&self, sealed: &SealedEq) -> Result<bool> {
        Ok(match self.of(sealed.property()) {
            Some(value) => sealed.is(value),
            None => sealed.holds_of_absent(),
        })
    }
}
