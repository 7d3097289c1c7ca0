//! The shell: lines that are commands, read from a terminal with history and completion, or from a file as they are.

mod complete;
mod line;
mod settings;
mod terminal;
mod words;

use std::io::{self, IsTerminal, Write};

use self::line::{Flow, Runner};
use self::settings::Settings;
use self::terminal::Terminal;
use crate::failure::{Exit, Failure};
use crate::session::Session;

/// Reads lines and carries them out, until there are no more. What ends with an error does not end the shell.
pub(crate) fn run(session: &mut Session<'_>) -> Result<Exit, Failure> {
    // What opens the store fails here, before the first line is asked for.
    session.opened()?;
    if io::stdin().is_terminal() {
        return run_terminal(session);
    }
    let mut runner = Runner::new(session, Settings::default());
    let mut last = Exit::Done;
    let mut line = String::new();
    loop {
        line.clear();
        // The input is not locked while a line is carried out, which may read what stands behind it: `import Notes -`, say.
        let read = io::stdin().read_line(&mut line);
        if read.map_err(|error| Failure::Refused(format!("a line can't be read: {error}")))? == 0 {
            break;
        }
        match runner.run(session, line.trim_end_matches(['\n', '\r']), &mut io::stderr()) {
            Flow::On(exit) => last = if exit == Exit::Done { last } else { exit },
            Flow::End => break,
        }
    }
    // A script fails by the last of its lines that did.
    Ok(last)
}

fn run_terminal(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let mut runner = Runner::new(session, Settings::load());
    let mut terminal = Terminal::open()?;
    session.output().text("`help` lists what a line may be; the end of input (Ctrl-D) ends the shell.")?;
    loop {
        session.output().flush()?;
        terminal.learn(session);
        let Some(line) = terminal.read(runner.prompt())? else { break };
        if let Flow::End = runner.run(session, &line, &mut io::stderr()) {
            break;
        }
    }
    terminal.close();
    Ok(Exit::Done)
}

/// Prints a line for people, who may have gone.
fn say(err: &mut dyn Write, text: &str) {
    drop(writeln!(err, "{text}"));
}
