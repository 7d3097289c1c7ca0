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

/// What every command takes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Directory, postgres://.. or azure:CONNECTION
    #[arg(long, global = true, env = "TABLES_STORE", value_name = "STORE", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Let the command change the store
    #[arg(long, global = true)]
    pub(crate) write: bool,
    /// Directory of the keys that open sealed values
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) keys: Option<PathBuf>,
    /// How to print (a table on a terminal, else jsonl)
    #[arg(long, global = true, value_enum)]
    pub(crate) format: Option<Format>,
    /// How to print what went wrong
    #[arg(long, global = true, value_enum, default_value_t = ErrorFormat::Text, hide_default_value = true)]
    pub(crate) errors: ErrorFormat,
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
