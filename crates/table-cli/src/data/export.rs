//! Entities of tables to files.

use std::ops::ControlFlow;
use std::path::Path;

use table_core::odata::Source;
use table_core::{Tables, ValueRef};

use super::blobs::{BlobWriter, Held};
use super::counts::Counts;
use super::digest::{Digest, Hasher};
use super::files::NewFile;
use super::form::Form;
use super::scan::{Scan, Takes, Wanted};
#[cfg(feature = "parquet")]
use super::write::Shape;
use super::write::{Columns, Writer};
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::Output;

/// So much text is gathered before it is written.
const GATHERED: usize = 1 << 18;

/// Why a form of one kind is refused where none was named.
pub(crate) const ONE_KIND: &str =
    "such a file has the entities of one kind: name a table, and its kind by --kind";

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

/// A table whose entities are written, and how.
pub(crate) struct Exporting<'e> {
    pub(crate) tables: &'e Tables,
    pub(crate) table: &'e str,
    pub(crate) wanted: &'e Wanted,
    pub(crate) form: Form,
    pub(crate) bar: &'e Bar,
}

impl<'e> Exporting<'e> {
    /// Writes the entities to a file, and the contents of their blobs beside it.
    pub(crate) fn to_file(&self, path: &Path) -> Result<Exported, Failure> {
        let mut scan = Scan::new(self.tables, self.table, self.wanted)?;
        let (sink, blobs) = (Sink::File(NewFile::create(path)?), Some(BlobWriter::beside(path)));
        let mut taker = self.exporter(&mut scan, sink)?;
        taker.blobs = blobs;
        let counts = taker.run(&mut scan)?;
        let (blobs, blobs_gone) = taker.blobs.as_ref().map(BlobWriter::counts).unwrap_or_default();
        let bytes = match taker.sink {
            Sink::File(file) => file.finish()?,
            Sink::Output(_) => 0,
        };
        Ok(Exported { counts, digest: taker.digest, bytes, blobs, blobs_gone })
    }

    /// Writes the entities to the output.
    pub(crate) fn to_output(&self, output: &mut Output<'_>) -> Result<Exported, Failure> {
        let mut scan = Scan::new(self.tables, self.table, self.wanted)?;
        let mut taker = self.exporter(&mut scan, Sink::Output(output))?;
        let counts = taker.run(&mut scan)?;
        Ok(Exported { counts, digest: taker.digest, ..Exported::default() })
    }

    fn exporter<'s, 'o>(&self, scan: &mut Scan, sink: Sink<'s, 'o>) -> Result<Exporter<'s, 'o, 'e>, Failure> {
        let writer = writer(scan, self.wanted, self.form)?;
        Ok(Exporter {
            tables: self.tables,
            bar: self.bar,
            writer,
            text: Vec::new(),
            sink,
            hasher: Hasher::default(),
            digest: Digest::default(),
            blobs: None,
            referred: Vec::new(),
        })
    }
}

/// Makes the writer of a form, whose columns may depend on the rows.
fn writer(scan: &mut Scan, wanted: &Wanted, form: Form) -> Result<Writer, Failure> {
    #[cfg(feature = "parquet")]
    if form == Form::Parquet {
        let info = scan.only_kind().cloned().ok_or_else(|| Failure::Usage(ONE_KIND.into()))?;
        let mut types = Types(Shape::of(info, &wanted.select));
        scan.run(&mut types)?;
        return Writer::parquet(types.0);
    }
    Ok(Writer::new(form, &wanted.select, columns(scan, wanted, form)?))
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

/// Gathers the types of properties.
#[cfg(feature = "parquet")]
struct Types(Shape);

#[cfg(feature = "parquet")]
impl Takes for Types {
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
struct Exporter<'s, 'o, 'e> {
    tables: &'e Tables,
    bar: &'e Bar,
    writer: Writer,
    text: Vec<u8>,
    sink: Sink<'s, 'o>,
    hasher: Hasher,
    digest: Digest,
    blobs: Option<BlobWriter>,
    /// The properties of a page that refer to blobs, whose contents are written when its snapshot is gone.
    referred: Vec<Vec<u8>>,
}

impl Exporter<'_, '_, '_> {
    fn run(&mut self, scan: &mut Scan) -> Result<Counts, Failure> {
        self.writer.begin(&mut self.text);
        let counts = scan.run(self)?;
        self.writer.end(&mut self.text)?;
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

impl Takes for Exporter<'_, '_, '_> {
    fn row(&mut self, row: &impl Source) -> Result<ControlFlow<()>, Failure> {
        let referred = &mut self.referred;
        row.for_each_property(|_, value| {
            if let (Some(_), ValueRef::Binary(bytes)) = (Held::of(value), value) {
                referred.push(bytes.to_vec());
            }
            Ok(())
        })?;
        self.digest.add(self.hasher.entity(row)?);
        self.writer.entity(row, &mut self.text)?;
        Ok(if self.text.len() < FULL { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn page(&mut self) -> Result<(), Failure> {
        self.bar.set(self.digest.entities);
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
            if let Some((blob, bytes)) = Held::of(ValueRef::Binary(&bytes)) {
                blobs.write(self.tables, &blob, bytes)?;
            }
        }
        Ok(())
    }
}
