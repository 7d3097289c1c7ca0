//! `tables studio`: the store in a browser, on this machine alone.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use clap::Args;

use crate::failure::{Exit, Failure};
use crate::pages::Listening;
use crate::session::Session;

/// The arguments of `studio`.
#[derive(Debug, Args)]
pub(crate) struct Studio {
    /// The port on 127.0.0.1 (any that is free)
    #[arg(long, default_value_t = 0, hide_default_value = true, value_name = "PORT")]
    port: u16,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
}

impl Studio {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let tables = session.tables()?;
        let listening = Listening::at(self.port, tables, session.options().write).map_err(|error| {
            Failure::Refused(format!("cannot listen at `127.0.0.1:{}`: {error}", self.port))
        })?;
        let address = listening.address();
        session.output().text(&address)?;
        session.output().flush()?;
        if self.open
            && let Err(why) = open(&address)
        {
            // The page is there all the same. What is noted otherwise comes at the end.
            drop(writeln!(io::stderr(), "{why}"));
        }
        listening.serve().map_err(|error| Failure::Refused(format!("cannot serve the page: {error}")))?;
        Ok(Exit::Done)
    }
}

/// Has the system open an address.
fn open(address: &str) -> Result<(), String> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut opener = Command::new(program);
    opener.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let spawned = opener.spawn();
    let mut child =
        spawned.map_err(|error| format!("cannot start `{program}`: {error}; open the address by hand"))?;
    // It ends as soon as the browser has the address, or with the browser, and is not waited for.
    std::thread::spawn(move || drop(child.wait()));
    Ok(())
}
