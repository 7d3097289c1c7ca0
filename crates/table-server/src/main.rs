//! The binary `table-server`.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use table_server::config::{Flags, read};
use table_server::log;
use table_server::run::run;

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr().lock(), "table-server: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn start() -> Result<(), Box<dyn std::error::Error>> {
    let config = read(Flags::parse(), |name| std::env::var_os(name))?;
    log::start(config.log);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(config))?;
    Ok(())
}
