//! Shared by the examples: a scratch directory, and rows drawn as small tables.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use table_core::{DynamicTable, Query};

/// A directory for an example's store, removed with it when the example ends.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A directory named after the example.
    pub fn new(example: &str) -> Self {
        Self(std::env::temp_dir().join(format!("{example}-{}.tables", std::process::id())))
    }

    /// The path for the store.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system's own cleaning of its temporary directory removes the rest.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Draws what a query finds, keys first, as the guide draws its figures.
pub fn draw(
    out: &mut impl Write,
    table: &DynamicTable,
    query: &Query,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut lines = Vec::new();
    for entity in table.query(query)? {
        let entity = entity?;
        let properties: Vec<_> =
            entity.properties().map(|(name, value)| format!("{name} {value:?}")).collect();
        lines.push([entity.partition_key().to_owned(), entity.row_key().to_owned(), properties.join(", ")]);
    }
    let width = |column: usize, head: &str| {
        let widest = lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
        widest.unwrap_or(0).max(head.len())
    };
    let (partition, row) = (width(0, "PartitionKey"), width(1, "RowKey"));
    writeln!(out, "  {:partition$} | {:row$} | properties", "PartitionKey", "RowKey")?;
    for [pk, rk, properties] in &lines {
        writeln!(out, "  {pk:partition$} | {rk:row$} | {properties}")?;
    }
    Ok(())
}

/// Standard output, locked once for the whole example.
pub fn stdout() -> io::StdoutLock<'static> {
    io::stdout().lock()
}
