//! `tables keys`: the keys that seal values in a store.

use clap::{Args, Subcommand};
use table_core::store::Encryption;
use table_core::{Store, Tables};

use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;

/// The arguments of `keys`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Keys {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
enum Action {
    /// List the keys, and what is sealed with each
    List,
    /// Seal with new keys from now on; the old ones go on opening what they sealed
    Rotate,
    /// Destroy the keys of a table or of a partition, and with them all that they sealed
    Shred(Shred),
}

/// The arguments of `keys shred`.
#[derive(Debug, Args)]
struct Shred {
    /// The table
    table: String,
    /// The partition, if its values have keys of their own
    partition: Option<String>,
    /// Nothing brings back what is sealed with a key that is destroyed: say that it is to be so
    #[arg(long)]
    for_ever: bool,
}

impl Keys {
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        match &self.action {
            None | Some(Action::List) => list(session),
            Some(Action::Rotate) => {
                session.demand_write("keys rotate")?;
                let store = open(session)?;
                let rotated = store.encryption()?.rotate_all()?;
                session.note(match rotated {
                    1 => "1 key has a new one in its place, which seals from now on".to_owned(),
                    _ => format!("{rotated} keys have new ones in their places, which seal from now on"),
                });
                Ok(Exit::Done)
            }
            Some(Action::Shred(shred)) => shred.run(session),
        }
    }
}

/// Opens the store, with its keys.
fn open(session: &mut Session<'_>) -> Result<Store, Failure> {
    if session.options().keys.is_none() {
        return Err(Failure::Usage("which keys there are takes the key ring: give --keys FILE".into()));
    }
    session.store("encryption")
}

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let store = open(session)?;
    let sealed = store.sealed_values()?;
    let keys = store.encryption()?.keys()?;
    let names = scopes(&store)?;
    let mut lines =
        session.output().lines(&["key", "seals", "version", "made", "current", "values", "tokens"]);
    for key in keys {
        let of_key = || sealed.iter().filter(|sealed| sealed.key == key.handle);
        let scope = key.scope.table_number().and_then(|number| names.iter().find(|(of, _)| *of == number));
        let seals = match (scope, key.scope.partition_key()) {
            (Some((_, table)), Some(partition)) => {
                format!("table {table}, partition {}", partition.escape_debug())
            }
            (Some((_, table)), None) => format!("table {table}"),
            (None, _) => key.scope.to_string(),
        };
        lines.push(vec![
            Cell::text(key.handle.to_string()),
            Cell::Text(seals),
            Cell::Integer(key.version.into()),
            Cell::text(key.made.to_string()),
            Cell::Bool(key.current),
            Cell::count(of_key().map(|sealed| sealed.values).sum::<u64>()),
            Cell::count(of_key().map(|sealed| sealed.tokens).sum::<u64>()),
        ])?;
    }
    lines.finish()?;
    Ok(Exit::Done)
}

/// Returns the numbers of the tables by which scopes name them, and their names.
fn scopes(tables: &Tables) -> Result<Vec<(u32, String)>, Failure> {
    let mut names = Vec::new();
    for name in tables.tables()? {
        let scope = tables.dynamic_table(&name)?.key_scope();
        names.extend(scope.table_number().map(|number| (number, name)));
    }
    Ok(names)
}

impl Shred {
    fn run(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        session.demand_write("keys shred")?;
        let store = open(session)?;
        let table = store.dynamic_table(&self.table)?;
        let scope = match &self.partition {
            Some(partition) => table.partition_key_scope(partition)?,
            None => table.key_scope(),
        };
        let encryption: &Encryption = store.encryption()?;
        let keys: Vec<_> = encryption.keys()?.into_iter().filter(|key| key.scope == scope).collect();
        if keys.is_empty() {
            return Err(Failure::NotFound(format!(
                "{scope} has no keys: its values are sealed with those of another scope, which `tables keys` lists"
            )));
        }
        let sealed = store.sealed_values()?;
        let of_keys = sealed.iter().filter(|sealed| keys.iter().any(|key| key.handle == sealed.key));
        let values: u64 = of_keys.map(|sealed| sealed.values).sum();
        if !self.for_ever {
            return Err(Failure::Usage(format!(
                "{} keys would be destroyed, and with them {values} values, here and in every copy: say so by --for-ever",
                keys.len()
            )));
        }
        let destroyed = encryption.shred(&scope)?;
        session.note(format!("{destroyed} keys are destroyed, and {values} values with them"));
        Ok(Exit::Done)
    }
}
