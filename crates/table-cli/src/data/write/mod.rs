//! Entities to the text of a file.

mod columns;
#[cfg(feature = "parquet")]
mod parquet;

use table_core::odata::{Metadata, Source, Writer as Odata};

pub(crate) use self::columns::Columns;
use self::columns::Line;
#[cfg(feature = "parquet")]
pub(crate) use self::parquet::{Parquet, Shape};
use super::form::Form;
use crate::failure::Failure;

/// Writes entities in one of the forms, into buffers of its caller's.
#[derive(Debug)]
pub(crate) struct Writer {
    form: Form,
    odata: Odata,
    line: Line,
    #[cfg(feature = "parquet")]
    parquet: Option<Parquet>,
    is_empty: bool,
}

impl Writer {
    /// Makes a writer. With `select` it writes the keys and these properties; a form with columns has these `columns`.
    pub(crate) fn new(form: Form, select: &[String], columns: Columns) -> Self {
        let mut odata = Odata::new(Metadata::Minimal);
        if form == Form::Odata {
            odata = odata.exact_nans();
        }
        if !select.is_empty() {
            let keys = ["PartitionKey", "RowKey"].map(str::to_owned);
            odata = odata.select(keys.into_iter().chain(select.iter().cloned()));
        }
        Self {
            form,
            odata,
            line: Line::new(form, columns),
            #[cfg(feature = "parquet")]
            parquet: None,
            is_empty: true,
        }
    }

    /// Makes a writer of columns of these types.
    #[cfg(feature = "parquet")]
    pub(crate) fn parquet(shape: Shape) -> Result<Self, Failure> {
        let parquet = Some(Parquet::new(shape)?);
        Ok(Self { parquet, ..Self::new(Form::Parquet, &[], Columns::default()) })
    }

    /// Appends what stands before the first entity.
    pub(crate) fn begin(&mut self, out: &mut Vec<u8>) {
        match self.form {
            Form::Odata => {}
            Form::Azcopy => out.extend_from_slice(b"{\"value\":["),
            Form::AzureCsv | Form::Csv | Form::Md => self.line.head(out),
            #[cfg(feature = "parquet")]
            Form::Parquet => {}
        }
    }

    /// Appends an entity.
    pub(crate) fn entity(&mut self, row: &impl Source, out: &mut Vec<u8>) -> Result<(), Failure> {
        match self.form {
            Form::Odata => {
                self.odata.entity(row, out)?;
                out.push(b'\n');
            }
            Form::Azcopy => {
                out.extend_from_slice(if self.is_empty { b"\n" } else { b",\n" });
                self.odata.entity(row, out)?;
            }
            Form::AzureCsv | Form::Csv | Form::Md => self.line.entity(row, out)?,
            #[cfg(feature = "parquet")]
            Form::Parquet => self.parquet.iter_mut().try_for_each(|parquet| parquet.entity(row, out))?,
        }
        self.is_empty = false;
        Ok(())
    }

    /// Appends what stands behind the last entity.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(clippy::unnecessary_wraps, reason = "the end of a file of Parquet may fail")
    )]
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.form == Form::Azcopy {
            out.extend_from_slice(b"\n]}\n");
        }
        #[cfg(feature = "parquet")]
        self.parquet.iter_mut().try_for_each(|parquet| parquet.end(out))?;
        Ok(())
    }
}
