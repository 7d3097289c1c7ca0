//! The commands, a module for each.

#![expect(clippy::unused_self, reason = "a command is run with its arguments, and some have none")]
#![expect(clippy::doc_markdown, reason = "doc comments of arguments are their help, which shows no marks")]

mod blobs;
mod check;
mod copy;
mod design;
mod diff;
mod edit;
mod explain;
mod export;
mod get;
mod import;
mod itself;
mod jobs;
mod keys;
mod ls;
mod maintain;
mod outbox;
mod query;
mod queues;
mod repair;
mod sas;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod stats;
#[cfg(feature = "studio")]
mod studio;

use clap::Subcommand;

use crate::failure::{Exit, Failure};
use crate::session::Session;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Copy tables to another store, or to and from files
    Copy(copy::Copy),
    /// Compare two stores or files
    Diff(diff::Diff),
    /// Write entities to a file
    Export(export::Export),
    /// Write the entities of a file to a table
    Import(import::Import),
    /// List the tables and the kinds of entities in them
    Ls(ls::Ls),
    /// Draw how kinds of entities are declared
    Schema(schema::Schema),
    /// Print an entity, and whether its copies agree with it
    Get(get::Get),
    /// Print the rows that a filter finds
    Query(query::Query),
    /// Say what a query reads, and which index would help
    Explain(explain::Explain),
    /// Say what the store holds, and what its file is used for
    Stats(stats::Stats),
    /// Read everything, and tell all that is wrong
    Check(check::Check),
    /// List long work that has not ended
    Jobs(jobs::Jobs),
    /// Say which copies are still to follow their entities
    Outbox(outbox::Outbox),
    /// Write copies anew that do not agree with their entities
    Repair(repair::Repair),
    /// Give the space of free pages back to the disk
    Compact(maintain::Compact),
    /// Free the space of dropped tables now
    Reclaim(maintain::Reclaim),
    /// Copy the store into a new directory, as it is at this moment
    Backup(maintain::Backup),
    /// Add an entity with its copies, or put it in the place of the one there
    Put(edit::Edit),
    /// Set properties of an entity, and let its copies follow
    Merge(edit::Edit),
    /// Remove an entity with its copies
    Delete(edit::Edit),
    /// Make tables
    Create(maintain::Named),
    /// Drop tables, with all that is in them
    Drop(maintain::Named),
    /// Give a table another name
    Rename(maintain::Rename),
    /// List the queues
    Queues(queues::Queues),
    /// Print the messages that come next, and leave them where they are
    Peek(queues::Peek),
    /// Print the messages that were set aside
    Poison(queues::Poison),
    /// Send messages back that were set aside
    Requeue(queues::Requeue),
    /// List blobs, or print one
    Blobs(blobs::Blobs),
    /// Print the entries of a log
    Logs(blobs::Logs),
    /// List, rotate or destroy the keys that seal values
    Keys(keys::Keys),
    /// Make a token that lets its bearer use a table of a server
    Sas(sas::Sas),
    /// List the commands
    Commands(itself::Commands),
    /// Read commands line by line, with history and completion
    Shell(shell::Shell),
    /// Print a page of the manual
    Man(itself::Man),
    /// Print a script that completes words in a shell
    Completions(itself::Completions),
    /// Draw the designs: a page in one file, for a browser
    Design(design::Design),
    /// Show the store in a browser, on this machine alone
    #[cfg(feature = "studio")]
    Studio(studio::Studio),
    /// Serve the store by the protocol of Azure Tables
    #[cfg(feature = "serve")]
    Serve(Box<serve::Serve>),
}

impl Command {
    /// Carries the command out.
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        match self {
            Self::Copy(command) => command.run(session),
            Self::Diff(command) => command.run(session),
            Self::Export(command) => command.run(session),
            Self::Import(command) => command.run(session),
            Self::Ls(command) => command.run(session),
            Self::Schema(command) => command.run(session),
            Self::Get(command) => command.run(session),
            Self::Query(command) => command.run(session),
            Self::Explain(command) => command.run(session),
            Self::Stats(command) => command.run(session),
            Self::Check(command) => command.run(session),
            Self::Jobs(command) => command.run(session),
            Self::Outbox(command) => command.run(session),
            Self::Repair(command) => command.run(session),
            Self::Compact(command) => command.run(session),
            Self::Reclaim(command) => command.run(session),
            Self::Backup(command) => command.run(session),
            Self::Put(command) => command.run(session, edit::Change::Put),
            Self::Merge(command) => command.run(session, edit::Change::Merge),
            Self::Delete(command) => command.run(session, edit::Change::Delete),
            Self::Create(command) => command.create(session),
            Self::Drop(command) => command.drop(session),
            Self::Rename(command) => command.run(session),
            Self::Queues(command) => command.run(session),
            Self::Peek(command) => command.run(session),
            Self::Poison(command) => command.run(session),
            Self::Requeue(command) => command.run(session),
            Self::Blobs(command) => command.run(session),
            Self::Logs(command) => command.run(session),
            Self::Keys(command) => command.run(session),
            Self::Sas(command) => command.run(session),
            Self::Commands(command) => command.run(session),
            Self::Shell(command) => command.run(session),
            Self::Man(command) => command.run(session),
            Self::Completions(command) => command.run(session),
            Self::Design(command) => command.run(session),
            #[cfg(feature = "studio")]
            Self::Studio(command) => command.run(session),
            #[cfg(feature = "serve")]
            Self::Serve(command) => command.run(session),
        }
    }
}
