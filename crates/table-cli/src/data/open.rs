//! Stores that data come from and go to.

use table_core::{Durability, Store};

use crate::args::Options;
use crate::failure::Failure;
use crate::source::{Opened, Source};

/// How a store is opened to be filled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    /// Whether commits wait for the disk once, and not twice.
    pub(crate) relaxed: bool,
    /// Whether a store is made where there is none.
    pub(crate) creates: bool,
}

/// Opens the store of this name to write to it.
pub(crate) fn to_write(name: &str, options: &Options, opening: Opening) -> Result<Opened, Failure> {
    let durability = if opening.relaxed { Durability::Relaxed } else { Durability::Durable };
    Source::parse(name)?.open_as(options, Store::options().durability(durability), opening.creates)
}

/// Opens the store of this name to read it alone.
pub(crate) fn to_read(name: &str, options: &Options) -> Result<Opened, Failure> {
    Source::parse(name)?.open_as(options, Store::options().read_only(true), false)
}

/// Returns the name of the store that a command works with.
pub(crate) fn name(options: &Options) -> Result<&str, Failure> {
    let name = options.store.as_deref();
    name.ok_or_else(|| Failure::Usage("no store is named: give --store STORE, or set TABLES_STORE".into()))
}
