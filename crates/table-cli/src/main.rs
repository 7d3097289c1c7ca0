//! The binary `tables`.

use std::process::ExitCode;

use table_cli::Cli;

fn main() -> ExitCode {
    Cli::new().run()
}
