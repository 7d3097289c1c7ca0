//! What a command works with: the store, opened when it is first asked for, and the output.

use table_core::{DynamicTable, ErrorKind, Store, Tables};

use crate::args::Options;
use crate::bar::Bar;
use crate::declared::{Declared, Structs, find};
use crate::failure::Failure;
use crate::kinds::Kinds;
use crate::output::Output;
use crate::source::{Opened, Source};

/// What a command works with.
pub(crate) struct Session<'o> {
    options: Options,
    output: Output<'o>,
    opened: Option<Opened>,
    declared: Structs,
    notes: Vec<String>,
    terminals: Terminals,
}

/// Which of the streams a person looks at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terminals {
    /// The standard output.
    pub(crate) out: bool,
    /// The standard error.
    pub(crate) err: bool,
}

impl<'o> Session<'o> {
    pub(crate) fn new(options: Options, output: Output<'o>, declared: Structs) -> Self {
        let terminals = Terminals::default();
        Self { options, output, opened: None, declared, notes: Vec::new(), terminals }
    }

    /// Says which of the streams a person looks at.
    pub(crate) fn set_terminals(&mut self, terminals: Terminals) {
        self.terminals = terminals;
    }

    /// Returns a bar of progress, which is drawn if a person looks at the standard error and wants one. `prints` says that the
    /// command prints meanwhile: then a bar would stand among what it prints on a terminal.
    pub(crate) fn bar(&self, prints: bool) -> Bar {
        let Terminals { out, err } = self.terminals;
        if err && !self.options.quiet && !(prints && out) { Bar::on_terminal() } else { Bar::default() }
    }

    /// Returns where the command prints.
    pub(crate) fn output(&mut self) -> &mut Output<'o> {
        &mut self.output
    }

    /// Returns the options that were given.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Goes on with other options: another store, or another way to open it, is opened when it is next asked for.
    pub(crate) fn set_options(&mut self, options: Options) {
        if !options.opens_as(&self.options) {
            self.opened = None;
        }
        self.options = options;
    }

    /// Returns the handle of the store that the options name. It is opened by the first call, to be read alone unless
    /// `--write` is given.
    pub(crate) fn tables(&mut self) -> Result<Tables, Failure> {
        Ok(self.opened()?.tables().clone())
    }

    /// Returns the table of this name; an error says which tables there are.
    pub(crate) fn table(&mut self, name: &str) -> Result<DynamicTable, Failure> {
        let tables = self.tables()?;
        tables.dynamic_table(name).map_err(|error| {
            let known = tables.tables().unwrap_or_default();
            if error.kind() != ErrorKind::TableNotFound || known.is_empty() {
                return error.into();
            }
            error.because(format!("there is no such table; there are {}", known.join(", "))).into()
        })
    }

    /// Returns the store that the options name, for what only one kind of store has.
    pub(crate) fn opened(&mut self) -> Result<&Opened, Failure> {
        if self.opened.is_none() {
            let source = self.source()?;
            self.opened = Some(source.open(&self.options)?);
        }
        self.opened.as_ref().ok_or_else(|| Failure::Usage("no store is open".into()))
    }

    /// Returns the store, which must be one in a directory; others are refused by the name of what they can't do.
    pub(crate) fn store(&mut self, ability: &str) -> Result<Store, Failure> {
        self.opened()?.directory(ability).cloned()
    }

    /// Returns the store as [`store`](Self::store) does, and forgets it, so that the caller's handle is the only one.
    pub(crate) fn take_store(&mut self, ability: &str) -> Result<Store, Failure> {
        let store = self.store(ability)?;
        self.opened = None;
        Ok(store)
    }

    /// Closes the store, so that a command can open it in a way of its own: the shell keeps it open between lines.
    pub(crate) fn close(&mut self) {
        self.opened = None;
    }

    /// Returns the kinds that the store has noted.
    pub(crate) fn kinds(&mut self) -> Result<Kinds, Failure> {
        Ok(Kinds::of(self.tables()?.kinds()?))
    }

    /// Returns the kind of this name in a table, if the program has declared it by a struct.
    pub(crate) fn declared(&self, table: &str, kind: &str) -> Option<&dyn Declared> {
        find(&self.declared, table, kind)
    }

    /// Returns every kind that the program has declared by a struct.
    pub(crate) fn all_declared(&self) -> Structs {
        self.declared.clone()
    }

    /// Refuses to go on unless `--write` is given.
    pub(crate) fn demand_write(&self, command: &str) -> Result<(), Failure> {
        if self.options.write {
            return Ok(());
        }
        Err(Failure::Usage(format!("`{command}` changes the store: say so by --write")))
    }

    /// Notes a line for who reads the output, that is no part of it.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Gives the notes away.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn source(&self) -> Result<Source, Failure> {
        match &self.options.store {
            Some(text) if !text.is_empty() => Source::parse(text),
            _ => Err(Failure::Usage("no store is named: give --store STORE, or set TABLES_STORE".into())),
        }
    }
}
