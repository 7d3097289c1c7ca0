//! A small service over a store: the employees of a company, over HTTP.
//!
//! It is a library, so that tests start it on a port of their own; `main.rs` is the program. `employees` has what is asked
//! and answered, `failure` what becomes of errors.

mod config;
mod employees;
mod failure;
mod server;

pub use config::Config;
pub use server::Server;
