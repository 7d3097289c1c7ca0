//! A run of the command line in this process, and what it printed.

use table_cli::Cli;

/// What a run printed, and the code it ended with.
#[derive(Debug)]
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: u8,
}

/// Runs `tables` with these arguments, with its output in a pipe.
pub fn tables(arguments: &[&str]) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = ["tables"].iter().chain(arguments);
    let exit = Cli::new().run_with(arguments, &mut out, &mut err, false);
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Ran { out: text(out), err: text(err), code: exit.code() }
}
