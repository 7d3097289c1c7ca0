//! Which store is meant, and how it is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "azure")]
use table_azure::{AzureOptions, AzureTables};
use table_core::crypt::KeyRing;
use table_core::store::{OpenOptions, Propagate};
use table_core::{Error, ErrorKind, Store, Tables};
#[cfg(feature = "postgres")]
use table_postgres::PostgresTables;

use crate::args::Options;
use crate::failure::Failure;

/// The variable that has the passphrase of the key ring, if it has one.
const PASSPHRASE: &str = "TABLES_PASSPHRASE";

/// How long a store is waited for that this process is still closing.
const PATIENCE: Duration = Duration::from_secs(2);

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
        // The text may hold a password, and is not repeated.
        if is_connection(text) {
            let text = "that is a connection string of the Table service: write `azure:` before it";
            return Err(Failure::Usage(text.into()));
        }
        if text.contains("://") {
            let shown = without_secrets(text);
            return Err(Failure::Usage(format!(
                "`{shown}` names no store: there are directories, postgres://.. and azure:CONNECTION"
            )));
        }
        Ok(Self::Directory(PathBuf::from(text)))
    }

    /// Opens the store, which must be there.
    pub(crate) fn open(&self, options: &Options) -> Result<Opened, Failure> {
        // What follows later is left to the program whose store it is: `outbox` does it when it is asked to.
        let store = Store::options().read_only(!options.write).propagate(Propagate::Manual);
        self.open_as(options, store, false)
    }

    /// Opens the store as these options say, if it lies in a directory: `creates` says whether it is made where there is none.
    pub(crate) fn open_as(
        &self,
        options: &Options,
        store: OpenOptions,
        creates: bool,
    ) -> Result<Opened, Failure> {
        match self {
            Self::Directory(path) => {
                if !creates {
                    refuse_missing(path)?;
                }
                let mut store = store.create(creates);
                if let Some(ring) = ring(options)? {
                    store = store.encryption(ring);
                }
                Ok(Opened::Directory(open_soon(&store, path)?))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => {
                let mut store = PostgresTables::options().create(creates).propagate(Propagate::Manual);
                if let Some(ring) = ring(options)? {
                    store = store.encryption(ring);
                }
                store.connect(address).map(Opened::Postgres).map_err(|error| {
                    if is_missing(&error) { Failure::NotFound(error.to_string()) } else { error.into() }
                })
            }
            #[cfg(feature = "azure")]
            Self::Azure(connection) => {
                let mut store = AzureOptions::new().propagate(Propagate::Manual);
                if let Some(ring) = ring(options)? {
                    store = store.encryption(ring);
                }
                Ok(Opened::Azure(store.connect(connection)?))
            }
        }
    }
}

/// Refuses a directory that has no store in it.
pub(crate) fn refuse_missing(path: &Path) -> Result<(), Failure> {
    let is_other = path.is_dir() && !path.join("data.mdb").exists();
    if !path.exists() || is_other {
        return Err(Failure::NotFound(format!("there is no store at `{}`", path.display())));
    }
    Ok(())
}

/// Returns whether an error says that there is no store.
#[cfg(feature = "postgres")]
fn is_missing(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Opens a store. One that this process has closed just now, with other options, may be in use for a moment by the thread that
/// frees the space of dropped tables: that is waited for.
fn open_soon(options: &OpenOptions, path: &Path) -> Result<Store, Error> {
    let begun = Instant::now();
    loop {
        match options.open(path) {
            Err(error) if error.kind() == ErrorKind::OptionsConflict && begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
}

/// Returns whether a text is, or holds, what lets its bearer use an account of the Table service.
fn has_account_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["accountkey=", "sharedaccesssignature="].iter().any(|name| text.contains(name))
}

/// Returns whether a text is a connection string of the Table service, without the scheme that the command line has for it.
pub(crate) fn is_connection(text: &str) -> bool {
    let names_emulator = text.to_ascii_lowercase().starts_with("usedevelopmentstorage=");
    names_emulator || has_account_secret(text)
}

/// Returns whether a line may name a store together with what lets its bearer in.
pub(crate) fn holds_secret(line: &str) -> bool {
    let has_password = line.contains('@') || line.to_ascii_lowercase().contains("password=");
    has_account_secret(line) || (line.contains("://") && has_password)
}

/// Returns the name of a store as it may be shown: what a connection has behind its scheme may hold a password.
pub(crate) fn without_secrets(text: &str) -> String {
    if let Some((scheme, _)) = text.split_once("://") {
        return format!("{scheme}://..");
    }
    if text.starts_with("azure:") { "azure:..".into() } else { text.to_owned() }
}

/// Returns the last part of a store's path, without its ending.
pub(crate) fn short_name(text: &str) -> String {
    let shown = without_secrets(text);
    let path = Path::new(&shown);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    if shown.ends_with("..") { shown } else { stem.unwrap_or_else(|| "tables".into()) }
}

/// Opens the key ring that the options name, with the passphrase of the environment if there is one.
fn ring(options: &Options) -> Result<Option<Arc<KeyRing>>, Failure> {
    let Some(path) = &options.keys else { return Ok(None) };
    let ring = match (KeyRing::open(path), std::env::var(PASSPHRASE)) {
        // Of two rings one may have a passphrase, and the other none.
        (Err(error), Ok(passphrase)) if error.kind() == ErrorKind::KeyUnavailable => {
            KeyRing::open_with_passphrase(path, &passphrase)?
        }
        (opened, _) => opened?,
    };
    Ok(Some(Arc::new(ring)))
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

    /// Returns how many rows a table has, if the store counts them.
    pub(crate) fn rows_of(&self, table: &str) -> Option<u64> {
        let stats = self.directory("stats").ok()?.stats().ok()?;
        let found = stats.tables.into_iter().find(|known| known.name.eq_ignore_ascii_case(table));
        found.map(|found| found.entities)
    }

    /// Returns the store in a directory, which alone has this ability.
    #[cfg_attr(
        not(any(feature = "azure", feature = "postgres")),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            reason = "there are no other stores without these features"
        )
    )]
    pub(crate) fn directory(&self, ability: &str) -> Result<&Store, Failure> {
        match self {
            Self::Directory(store) => Ok(store),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Err(lacking("PostgreSQL", ability)),
            #[cfg(feature = "azure")]
            Self::Azure(_) => Err(lacking("the Table service", ability)),
        }
    }
}

#[cfg(any(feature = "azure", feature = "postgres"))]
fn lacking(of: &str, ability: &str) -> Failure {
    Failure::Refused(format!(
        "that takes the ability `{ability}`, which a store on {of} has not: one in a directory has"
    ))
}
