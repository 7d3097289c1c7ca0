//! `tables serve`: the table server over the store, with its own settings.

use clap::Args;
use table_server::config::{Flags, read};
use table_server::log;
use table_server::run::{RunError, run};

use crate::failure::{Exit, Failure};
use crate::session::Session;
use crate::source::{self, Source};

/// The variable that the server reads the address of a database from.
const OF_DATABASE: &str = "TABLE_SERVER_POSTGRES";

/// The arguments of `serve`: those of the server. `--store` says where the store lies.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: Flags,
}

impl Serve {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let options = session.options();
        let Some(store) = options.store.as_deref() else {
            return Err(usage("no store is named: give --store STORE, or set TABLES_STORE"));
        };
        if options.keys.is_some() {
            return Err(usage("serve gives clients sealed values as they are: leave --keys out"));
        }
        if self.flags.directory.is_some() {
            return Err(usage("the store is named by --store here, and not by --directory"));
        }
        if store.starts_with("azure:") {
            return Err(usage(
                "serve takes a store in a directory or a database, and this is a server already",
            ));
        }
        let mut flags = self.flags.clone();
        let directory = match Source::parse(store)? {
            Source::Directory(path) => Some(path),
            #[cfg(any(feature = "azure", feature = "postgres"))]
            _ => None,
        };
        let is_database = directory.is_none();
        flags.directory = directory.is_some().then(|| store.to_owned());
        // The address of a database may hold a password, and has no flag.
        let variable = |name: &str| {
            if name == OF_DATABASE && is_database { Some(store.into()) } else { std::env::var_os(name) }
        };
        let config = read(flags, variable).map_err(|error| Failure::Usage(error.to_string()))?;
        // The server makes a store where there is none, and this command does not.
        if let Some(path) = &directory {
            source::refuse_missing(path)?;
        }
        if !session.options().write {
            return Err(usage("clients of `serve` change the store: say so by --write"));
        }
        log::start(config.log);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Failure::Refused(format!("cannot start the server: {error}")))?;
        match runtime.block_on(run(config)) {
            Ok(()) => Ok(Exit::Done),
            Err(RunError::Store(error)) => Err(Failure::Store(error)),
            Err(error) => Err(Failure::Refused(error.to_string())),
        }
    }
}

fn usage(text: &str) -> Failure {
    Failure::Usage(text.to_owned())
}
