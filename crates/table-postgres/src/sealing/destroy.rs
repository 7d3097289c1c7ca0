//! What is left under old keys: a key is destroyed when nothing is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use table_engine::__executor as executor;
use table_engine::crypt::{KeyHandle, KeyScope, Scope, Token};
use table_engine::schema::{Layout, LayoutProperty, TOKEN_BYTES};
use table_engine::{Error, ErrorKind, Result, ValueRef};
use tokio_postgres::Row;

use super::encryption::KeyInfo;
use crate::catalog::{Catalog, Found, column};
use crate::connection::Call;
use crate::kinds;
use crate::snapshot::PostgresSnapshot;
use crate::store::{PostgresStore, plain};
use crate::table::{TableEntry, content};
use crate::transaction::repeatable;
use crate::walk::{CONTENT, each_row};

/// What was found of one key in one table.
pub(super) struct InUse {
    table: String,
    /// The values that it sealed, and the tokens that it made.
    values: u64,
    tokens: u64,
    /// The keys of the first row that has one.
    first: (String, String),
}

/// The properties of tokens by the kinds of rows, and whose key makes what they hold.
type Tokens = BTreeMap<String, Vec<(String, KeyScope)>>;

/// Waits until every transaction has ended that had begun to write, of whatever process.
pub(super) fn await_writers(store: &Arc<PostgresStore>) -> Result<()> {
    for row in store.query(&list(&store.catalog))? {
        let Some(found) = Found::read(&row, 0)? else { continue };
        let rows = store.catalog.rows(&found);
        let begin = format!("BEGIN; LOCK TABLE {rows} IN SHARE ROW EXCLUSIVE MODE");
        match repeatable(&store.pool, &begin, |_| Ok(Some(()))) {
            // It was dropped meanwhile, or has another name.
            Err(error) if error.kind() == ErrorKind::TableNotFound => {}
            done => drop(done?),
        }
    }
    Ok(())
}

/// Returns what is left under these keys, in all rows of one snapshot.
pub(super) fn in_use(store: &Arc<PostgresStore>, keys: &[&KeyInfo]) -> Result<Vec<(KeyHandle, InUse)>> {
    let snapshot = PostgresSnapshot::of_now(store.clone())?;
    let mut look = Look { keys, found: BTreeMap::new() };
    for row in snapshot.query(list(&store.catalog))? {
        let Some(found) = Found::read(&row, 0)? else { continue };
        let entry = store.entry(&found)?;
        let of_table = look.at(&snapshot, &entry);
        of_table.map_err(|error| error.table(&entry.name))?;
    }
    Ok(look.found.into_iter().map(|((handle, _), found)| (handle, found)).collect())
}

/// Returns the error of a key that is not to be destroyed.
#[cold]
pub(super) fn refused(handle: KeyHandle, found: &[(KeyHandle, InUse)]) -> Option<Error> {
    let found: Vec<_> = found.iter().filter(|(of, _)| *of == handle).map(|(_, found)| found).collect();
    let first = found.first()?;
    let (values, tokens) =
        found.iter().fold((0, 0), |(values, tokens), one| (values + one.values, tokens + one.tokens));
    let tables: Vec<_> =
        found.iter().map(|one| format!("{} in table `{}`", one.values + one.tokens, one.table)).collect();
    let because = format!(
        "{values} values are still sealed with the data key {handle}, and {tokens} tokens are made with it: {}; the first is \
         in this row. Write the entities anew, or give them up with their scope by `shred`",
        tables.join(", ")
    );
    let error = executor::error(ErrorKind::KeyInUse, because).table(&first.table);
    Some(error.partition(&first.first.0).row(&first.first.1))
}

fn list(catalog: &Catalog) -> Call {
    plain(&format!("SELECT id, name, renames FROM {} ORDER BY id", catalog.table("_tables")))
}

struct Look<'l> {
    keys: &'l [&'l KeyInfo],
    found: BTreeMap<(KeyHandle, u32), InUse>,
}

impl Look<'_> {
    /// Looks at all rows of a table.
    fn at(&mut self, snapshot: &PostgresSnapshot, entry: &TableEntry) -> Result<()> {
        let noted = kinds::found(&snapshot.query(kinds::read(&snapshot.store().catalog, entry.id))?)?;
        let mut tokens = Tokens::new();
        for (kind, layout) in noted.layouts.iter() {
            tokens.extend(Layout::parse(layout, kind).iter().flat_map(tokens_of));
        }
        each_row(snapshot, entry, None, &mut |keys, row| self.count(entry, keys, row, &tokens))
    }

    fn count(
        &mut self,
        entry: &TableEntry,
        keys: &(String, String),
        row: &Row,
        tokens: &Tokens,
    ) -> Result<()> {
        let kind: Option<&str> = column(row, CONTENT)?;
        let of_tokens = kind.and_then(|kind| tokens.get(kind)).map_or(&[][..], Vec::as_slice);
        for (name, value) in content(row, CONTENT)?.properties {
            let ValueRef::Binary(bytes) = value.as_value_ref() else { continue };
            if let Some(handle) = KeyHandle::of(bytes) {
                if self.keys.iter().any(|key| key.handle == handle) {
                    self.of(handle, entry, keys).values += 1;
                }
                continue;
            }
            let Some((_, scope)) = of_tokens.iter().find(|(of, _)| *of == name) else { continue };
            let scope = Scope::from_bytes(&scope.bytes(entry.id, &keys.0));
            let version = bytes.first().filter(|_| bytes.len() == TOKEN_BYTES);
            let makes = |key: &&&KeyInfo| {
                Some(&key.scope) == scope.as_ref() && Some(&Token::version_byte(key.version)) == version
            };
            if let Some(handle) = self.keys.iter().find(makes).map(|key| key.handle) {
                self.of(handle, entry, keys).tokens += 1;
            }
        }
        Ok(())
    }

    fn of(&mut self, handle: KeyHandle, entry: &TableEntry, keys: &(String, String)) -> &mut InUse {
        self.found.entry((handle, entry.id)).or_insert_with(|| InUse {
            table: entry.name.clone(),
            values: 0,
            tokens: 0,
            first: keys.clone(),
        })
    }
}

/// Returns the properties that hold tokens, by the kinds of rows.
fn tokens_of(layout: &Layout) -> Tokens {
    let token =
        |property: &LayoutProperty| Some((property.token()?, property.tokens()?.key_scope(property.scope())));
    let tokens: Vec<_> = layout.properties.iter().filter_map(token).collect();
    if tokens.is_empty() {
        return Tokens::new();
    }
    let indexes = layout.indexes().map(|index| layout.index_kind(index));
    indexes.chain([layout.entity_type()]).map(|kind| (kind, tokens.clone())).collect()
}

/// Returns the keys that nothing is left under.
pub(super) fn unused(store: &Arc<PostgresStore>, keys: &[&KeyInfo]) -> Result<BTreeSet<KeyHandle>> {
    let mut unused: BTreeSet<_> = keys.iter().map(|key| key.handle).collect();
    for (handle, _) in in_use(store, keys)? {
        unused.remove(&handle);
    }
    Ok(unused)
}
