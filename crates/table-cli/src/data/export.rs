//! Entities of tables to files.

use std::ops::ControlFlow;
use std::path::Path;

use table_core::Tables;
use table_core::odata::Source;

use super::blobs::{self, BlobWriter};
use super::counts::Counts;
use super::digest::{Digest, Hasher};
use super::files::NewFile;
use super::form::Form;
use super::scan::{Scan, Takes, Wanted};
use super::write::{Columns, Writer};
use crate::failure::Failure;
use crate::output::Output;

/// So much text is gathered before it is written.
const GATHERED: usize = 1 << 18;

/// A page ends when it has come to so much text.
const FULL: usize = 4 << 20;

/// What became of the entities of one table.
#[derive(Debug, Default)]
pub(crate) struct Exported {
    pub(crate) counts: Counts,
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
    /// How many contents of blobs were written.
    pub(crate) blobs: u64,
    /// How many blobs were gone when their contents were to be written, since their entities were changed meanwhile.
    pub(crate) blobs_gone: u64,
}

/// Writes the entities of a table to a file, and the contents of their blobs beside it.
pub(crate) fn to_file(
    tables: &Tables,
    table: &str,
    wanted: &Wanted,
    form: Form,
    path: &Path,
) -> Result<Exported, Failure> {
    let mut scan = Scan::new(tables, table, wanted)?;
    let columns = columns(&mut scan, wanted, form)?;
    let mut taker = Exporter {
        tables,
        writer: Writer::new(form, &wanted.select, columns),
        text: Vec::new(),
        sink: Sink::File(NewFile::create(path)?),
        hasher: Hasher::default(),
        digest: Digest::default(),
        blobs: Some(BlobWriter::beside(path)),
        referred: Vec::new(),
    };
    let counts = taker.run(&mut scan)?;
    let (blobs, blobs_gone) = taker.blobs.as_ref().map(BlobWriter::counts).unwrap_or_default();
    let bytes = match taker.sink {
        Sink::File(file) => file.finish()?,
        Sink::Output(_) => 0,
    };
    Ok(Exported { counts, digest: taker.digest, bytes, blobs, blobs_gone })
}

/// Writes the entities of a table to the output.
pub(crate) fn to_output(
    tables: &Tables,
    table: &str,
    wanted: &Wanted,
    form: Form,
    output: &mut Output<'_>,
) -> Result<Exported, Failure> {
    let mut scan = Scan::new(tables, table, wanted)?;
    let columns = columns(&mut scan, wanted, form)?;
    let mut taker = Exporter {
        tables,
        writer: Writer::new(form, &wanted.select, columns),
        text: Vec::new(),
        sink: Sink::Output(output),
        hasher: Hasher::default(),
        digest: Digest::default(),
        blobs: None,
        referred: Vec::new(),
    };
    let counts = taker.run(&mut scan)?;
    Ok(Exported { counts, digest: taker.digest, ..Exported::default() })
}

/// Returns the columns of a file: those that are asked for, or those of all properties that the rows have, which takes a look
/// at all of them.
fn columns(scan: &mut Scan, wanted: &Wanted, form: Form) -> Result<Columns, Failure> {
    if !form.has_columns() {
        return Ok(Columns::default());
    }
    if !wanted.select.is_empty() {
        return Ok(Columns::selected(&wanted.select));
    }
    let mut names = Names(Columns::default());
    scan.run(&mut names)?;
    Ok(names.0)
}

/// Gathers the names of properties.
struct Names(Columns);

impl Takes for Names {
    fn row(&mut self, row: &impl Source) -> Result<ControlFlow<()>, Failure> {
        self.0.add_of(row).map(ControlFlow::Continue)
    }

    fn page(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Where text goes.
enum Sink<'s, 'o> {
    File(NewFile),
    Output(&'s mut Output<'o>),
}

/// Writes rows as text.
struct Exporter<'s, 'o> {
    tables: &'s Tables,
    writer: Writer,
    text: Vec<u8>,
    sink: Sink<'s, 'o>,
    hasher: Hasher,
    digest: Digest,
    blobs: Option<BlobWriter>,
    /// The references of a page, whose contents are written when its snapshot is gone.
    referred: Vec<Vec<u8>>,
}

impl Exporter<'_, '_> {
    fn run(&mut self, scan: &mut Scan) -> Result<Counts, Failure> {
        self.writer.begin(&mut self.text);
        let counts = scan.run(self)?;
        self.writer.end(&mut self.text);
        self.flush()?;
        Ok(counts)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        match &mut self.sink {
            Sink::File(file) => file.write(&self.text)?,
            Sink::Output(output) => output.bytes(&self.text)?,
        }
        self.text.clear();
        Ok(())
    }
}

impl Takes for Exporter<'_, '_> {
    fn row(&mut self, row: &impl Source) -> Result<ControlFlow<()>, Failure> {
        let referred = &mut self.referred;
        row.for_each_property(|_, value| {
            if let Some((_, bytes)) = blobs::reference(value) {
                referred.push(bytes.to_vec());
            }
            Ok(())
        })?;
        self.digest.add(self.hasher.entity(row)?);
        self.writer.entity(row, &mut self.text)?;
        Ok(if self.text.len() < FULL { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn page(&mut self) -> Result<(), Failure> {
        if self.text.len() >= GATHERED {
            self.flush()?;
        }
        for bytes in std::mem::take(&mut self.referred) {
            let Some(blobs) = &mut self.blobs else {
                return Err(Failure::Usage(
                    "the entities refer to blobs, whose contents have no place in a pipe: give -o FILE"
                        .into(),
                ));
            };
            if let Some((blob, bytes)) = blobs::reference(table_core::ValueRef::Binary(&bytes)) {
                blobs.write(self.tables, &blob, bytes)?;
            }
        }
        Ok(())
    }
}
