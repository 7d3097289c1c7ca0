//! What a command works with: the store, opened when it is first asked for, and the output.

use table_core::Tables;

use crate::args::Options;
use crate::failure::Failure;
use crate::output::Output;
use crate::source::{Opened, Source};

/// What a command works with.
pub(crate) struct Session<'o> {
    options: Options,
    output: Output<'o>,
    opened: Option<Opened>,
}

impl<'o> Session<'o> {
    pub(crate) fn new(options: Options, output: Output<'o>) -> Self {
        Self { options, output, opened: None }
    }

    /// Returns where the command prints.
    pub(crate) fn output(&mut self) -> &mut Output<'o> {
        &mut self.output
    }

    /// Returns the handle of the store that the options name. It is opened by the first call, to be read alone unless
    /// `--write` is given.
    pub(crate) fn tables(&mut self) -> Result<Tables, Failure> {
        Ok(self.opened()?.tables().clone())
    }

    /// Returns the store that the options name, for what only one kind of store has.
    pub(crate) fn opened(&mut self) -> Result<&Opened, Failure> {
        if self.opened.is_none() {
            let source = self.source()?;
            self.opened = Some(source.open(&self.options)?);
        }
        self.opened.as_ref().ok_or_else(|| Failure::Usage("no store is open".into()))
    }

    fn source(&self) -> Result<Source, Failure> {
        match &self.options.store {
            Some(text) => Source::parse(text),
            None => Err(Failure::Usage("no store is named: give --store STORE, or set TABLES_STORE".into())),
        }
    }
}
