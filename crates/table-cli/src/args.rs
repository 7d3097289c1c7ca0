//! What the command line is told.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::commands::Command;
use crate::output::Format;

/// Looks into a store of table-core, and gets data in and out.
#[derive(Debug, Parser)]
#[command(name = "tables", version)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes. The help of `tables` itself explains it, and that of no command does again.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Directory, postgres://.. or azure:CONNECTION
    #[arg(
        id = "global-store",
        long = "store",
        global = true,
        env = "TABLES_STORE",
        value_name = "STORE",
        hide_env_values = true,
        hide = true
    )]
    pub(crate) store: Option<String>,
    /// Let the command change the store
    #[arg(id = "global-write", long = "write", global = true, hide = true)]
    pub(crate) write: bool,
    /// The key ring that opens sealed values
    #[arg(id = "global-keys", long = "keys", global = true, value_name = "FILE", hide = true)]
    pub(crate) keys: Option<PathBuf>,
    /// How to print
    #[arg(
        id = "global-format",
        long = "format",
        global = true,
        value_enum,
        value_name = "FORMAT",
        hide = true
    )]
    pub(crate) format: Option<Format>,
    /// How to print what went wrong
    #[arg(
        id = "global-errors",
        long = "errors",
        global = true,
        value_enum,
        value_name = "FORMAT",
        default_value_t = ErrorFormat::Text,
        hide = true
    )]
    pub(crate) errors: ErrorFormat,
    /// No progress and no remarks: the output and errors alone
    #[arg(id = "global-quiet", long = "quiet", global = true, hide = true)]
    pub(crate) quiet: bool,
}

impl Options {
    /// Returns whether these options open the store as the others do.
    pub(crate) fn opens_as(&self, other: &Self) -> bool {
        (&self.store, self.write, &self.keys) == (&other.store, other.write, &other.keys)
    }
}

/// How errors are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorFormat {
    /// A sentence.
    #[default]
    Text,
    /// A line of JSON with the service's code.
    Json,
}
