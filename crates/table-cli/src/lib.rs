//! The command line `tables`: what a store holds, for people and for pipes.
//!
//! The binary is [`Cli::new`] and [`Cli::run`]. A program of the user's own that calls them is `tables` with what that program
//! knows besides.
//!
//! A store is opened to be read alone, unless `--write` is given, and never made. What a terminal shows as a table is JSON
//! lines in a pipe.

mod advice;
mod args;
mod bar;
mod cli;
mod commands;
mod copies;
mod data;
mod declared;
mod examples;
mod failure;
mod help;
mod hints;
mod kinds;
mod output;
mod owners;
mod pages;
mod paging;
mod rows;
mod session;
mod shell;
mod source;
mod target;
mod terms;
mod times;
mod values;

pub use self::cli::Cli;
pub use self::failure::Exit;
