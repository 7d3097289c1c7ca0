//! Entities one after another, in the order of their keys, from a table or a file.

use std::collections::VecDeque;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use table_core::odata::Source;
use table_core::{DynamicEntity, ErrorKind, Tables};

use super::counts::Counts;
use super::read::{FileReader, Types};
use super::refused;
use super::scan::{Scan, Takes, Wanted};
use crate::failure::Failure;

/// So many bytes of entities are gathered at once, or a little more.
pub(crate) const GATHERED: usize = 8 << 20;

/// Entities in order.
pub(crate) struct Pull {
    from: From,
    ready: VecDeque<(u64, DynamicEntity)>,
    /// The keys of the last one.
    last: Option<(String, String)>,
}

enum From {
    Table(Box<Scan>),
    File { reader: Box<FileReader<File>>, path: PathBuf },
    Nothing,
}

impl Pull {
    /// Begins with the rows of a table.
    pub(crate) fn table(tables: &Tables, table: &str, wanted: &Wanted) -> Result<Self, Failure> {
        let scan = Box::new(Scan::new(tables, table, wanted)?);
        Ok(Self::new(From::Table(scan)))
    }

    /// Begins with the entities of a file, whose values have these types where they say none.
    pub(crate) fn file(path: &Path, types: Types) -> Result<Self, Failure> {
        let reader = Box::new(FileReader::open(path, types)?);
        Ok(Self::new(From::File { reader, path: path.to_owned() }))
    }

    /// Makes one without entities, in place of a table that is not there.
    pub(crate) fn nothing() -> Self {
        Self::new(From::Nothing)
    }

    fn new(from: From) -> Self {
        Self { from, ready: VecDeque::new(), last: None }
    }

    /// Returns what was left out of the table so far.
    pub(crate) fn take_counts(&mut self) -> Counts {
        match &mut self.from {
            From::Table(scan) => scan.take_counts(),
            From::File { .. } | From::Nothing => Counts::default(),
        }
    }

    /// Returns the next entity.
    pub(crate) fn next(&mut self) -> Result<Option<DynamicEntity>, Failure> {
        while self.ready.is_empty() {
            if !self.fill()? {
                return Ok(None);
            }
        }
        let Some((line, entity)) = self.ready.pop_front() else { return Ok(None) };
        let keys = (entity.partition_key().to_owned(), entity.row_key().to_owned());
        if self.last.as_ref().is_some_and(|last| *last >= keys) {
            return Err(self.disorder(line));
        }
        self.last = Some(keys);
        Ok(Some(entity))
    }

    /// Reads more; returns whether there may be any.
    fn fill(&mut self) -> Result<bool, Failure> {
        match &mut self.from {
            From::Table(scan) => {
                let may_be_more = scan.page(&mut Gather { ready: &mut self.ready, bytes: 0 })?;
                Ok(may_be_more || !self.ready.is_empty())
            }
            From::File { reader, path } => {
                let Some(chunk) = reader.chunk()? else { return Ok(false) };
                if let Some(reject) = chunk.rejects.first() {
                    let (line, path) = (reject.line, path.display());
                    return Err(refused(
                        ErrorKind::InvalidOData,
                        format!("line {line} of `{path}` is no entity: {}", reject.message),
                    ));
                }
                self.ready.extend(chunk.items.into_iter().map(|item| (item.line, item.entity)));
                Ok(true)
            }
            From::Nothing => Ok(false),
        }
    }

    fn disorder(&self, line: u64) -> Failure {
        match &self.from {
            From::File { path, .. } => Failure::Usage(format!(
                "line {line} of `{}` is not behind the one before it in the order of keys, in which export writes: import the \
                 file into a store, and compare that",
                path.display()
            )),
            From::Table(scan) => refused(
                ErrorKind::InvalidQuery,
                format!(
                    "the store gives the rows of `{}` in another order than that of the bytes of their keys",
                    scan.table_name()
                ),
            ),
            From::Nothing => refused(ErrorKind::InvalidQuery, "there are no rows".into()),
        }
    }
}

/// Gathers rows as entities.
struct Gather<'g> {
    ready: &'g mut VecDeque<(u64, DynamicEntity)>,
    bytes: usize,
}

impl Takes for Gather<'_> {
    fn row(&mut self, row: &impl Source) -> Result<ControlFlow<()>, Failure> {
        let entity = entity_of(row)?;
        self.bytes += entity.size();
        self.ready.push_back((0, entity));
        Ok(if self.bytes < GATHERED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn page(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Makes an entity of a row.
pub(crate) fn entity_of(row: &impl Source) -> Result<DynamicEntity, Failure> {
    let (partition, row_key) = row.keys()?;
    let mut entity = DynamicEntity::new(partition, row_key);
    row.for_each_property(|name, value| {
        entity.set(name, value.to_value());
        Ok(())
    })?;
    Ok(entity)
}
