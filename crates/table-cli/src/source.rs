//! Which store is meant, and how it is opened.

use std::path::PathBuf;

#[cfg(feature = "azure")]
use table_azure::AzureTables;
use table_core::{Store, Tables};
#[cfg(feature = "postgres")]
use table_postgres::PostgresTables;

use crate::args::Options;
use crate::failure::Failure;

/// A store, as `--store` names it.
pub(crate) enum Source {
    /// A directory of this machine.
    Directory(PathBuf),
    /// A database of PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres(String),
    /// The Table service, or a server of its protocol.
    #[cfg(feature = "azure")]
    Azure(String),
}

impl Source {
    /// Reads what `--store` has.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            #[cfg(feature = "postgres")]
            return Ok(Self::Postgres(text.to_owned()));
            #[cfg(not(feature = "postgres"))]
            return Err(without("postgres"));
        }
        if let Some(connection) = text.strip_prefix("azure:") {
            #[cfg(feature = "azure")]
            return Ok(Self::Azure(connection.to_owned()));
            #[cfg(not(feature = "azure"))]
            return Err(without(&format!("azure, which a store at `{}` takes", scheme(connection))));
        }
        Ok(Self::Directory(PathBuf::from(text)))
    }

    /// Opens the store, which must be there.
    pub(crate) fn open(&self, options: &Options) -> Result<Opened, Failure> {
        match self {
            Self::Directory(path) => {
                if !path.exists() {
                    return Err(Failure::NotFound(format!("there is no store at `{}`", path.display())));
                }
                let store = Store::options().create(false).read_only(!options.write).open(path)?;
                Ok(Opened::Directory(store))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => Ok(Opened::Postgres(PostgresTables::connect(address)?)),
            #[cfg(feature = "azure")]
            Self::Azure(connection) => Ok(Opened::Azure(AzureTables::connect(connection)?)),
        }
    }
}

#[cfg(not(all(feature = "azure", feature = "postgres")))]
fn without(feature: &str) -> Failure {
    Failure::Usage(format!("this binary was built without the feature {feature}"))
}

#[cfg(not(feature = "azure"))]
fn scheme(connection: &str) -> &str {
    connection.split([';', ':']).next().unwrap_or_default()
}

/// A store that is open.
pub(crate) enum Opened {
    Directory(Store),
    #[cfg(feature = "postgres")]
    Postgres(PostgresTables),
    #[cfg(feature = "azure")]
    Azure(AzureTables),
}

impl Opened {
    /// Returns the handle that all kinds of stores have.
    pub(crate) fn tables(&self) -> &Tables {
        match self {
            Self::Directory(store) => store,
            #[cfg(feature = "postgres")]
            Self::Postgres(tables) => tables,
            #[cfg(feature = "azure")]
            Self::Azure(tables) => tables,
        }
    }
}
