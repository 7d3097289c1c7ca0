//! Stores that data come from and go to.

use std::sync::Arc;

use table_core::crypt::KeyRing;
use table_core::{Durability, OpenOptions, Store};

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
    let store = Store::options().create(opening.creates).durability(durability);
    open(name, options, store, opening.creates)
}

/// Opens the store of this name to read it alone.
pub(crate) fn to_read(name: &str, options: &Options) -> Result<Opened, Failure> {
    open(name, options, Store::options().create(false).read_only(true), false)
}

fn open(name: &str, options: &Options, store: OpenOptions, creates: bool) -> Result<Opened, Failure> {
    match Source::parse(name)? {
        Source::Directory(path) => {
            if !creates && !path.exists() {
                return Err(Failure::NotFound(format!("there is no store at `{}`", path.display())));
            }
            let store = match &options.keys {
                Some(keys) => store.encryption(Arc::new(KeyRing::open(keys)?)),
                None => store,
            };
            Ok(Opened::Directory(store.open(path)?))
        }
        #[cfg(any(feature = "azure", feature = "postgres"))]
        source => source.open(options),
    }
}

/// Returns the name of the store that a command works with.
pub(crate) fn name(options: &Options) -> Result<&str, Failure> {
    let name = options.store.as_deref();
    name.ok_or_else(|| Failure::Usage("no store is named: give --store STORE, or set TABLES_STORE".into()))
}
