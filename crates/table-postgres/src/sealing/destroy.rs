//! What is left under old keys: a key is destroyed when nothing is.

use std::sync::Arc;

use table_engine::__executor::{KeyUses, ShownRow};
use table_engine::crypt::{KeyInfo, SealedValues};
use table_engine::executor::layouts;
use table_engine::{ErrorKind, Result};

use crate::catalog::{Catalog, Found, column};
use crate::connection::Call;
use crate::kinds;
use crate::snapshot::PostgresSnapshot;
use crate::store::{PostgresStore, plain};
use crate::table::{TableEntry, content};
use crate::transaction::{BEGIN, repeatable};
use crate::walk::{CONTENT, each_row};

/// Waits until every transaction has ended that had begun to write, of whatever process.
pub(super) fn await_writers(store: &Arc<PostgresStore>) -> Result<()> {
    for row in store.query(&list(&store.catalog))? {
        let Some(found) = Found::read(&row, 0)? else { continue };
        let rows = store.catalog.rows(&found);
        let begin = format!("{BEGIN}; LOCK TABLE {rows} IN SHARE ROW EXCLUSIVE MODE");
        match repeatable(&store.pool, &begin, |_| Ok(Some(()))) {
            // It was dropped meanwhile, or has another name.
            Err(error) if error.kind() == ErrorKind::TableNotFound => {}
            done => drop(done?),
        }
    }
    Ok(())
}

/// Returns what is left under these keys, in all rows of one snapshot.
pub(super) fn found(store: &Arc<PostgresStore>, keys: &[&KeyInfo]) -> Result<Vec<SealedValues>> {
    let snapshot = PostgresSnapshot::of_now(store.clone())?;
    let wants = |handle| keys.iter().any(|key| key.handle == handle);
    let mut uses = KeyUses::new(&wants, keys.iter().map(|key| (*key).clone()));
    for row in snapshot.query(list(&store.catalog))? {
        let Some(found) = Found::read(&row, 0)? else { continue };
        let entry = store.entry(&found)?;
        look(&mut uses, &snapshot, &entry).map_err(|error| error.table(&entry.name))?;
    }
    Ok(uses.into_found())
}

/// Looks at all rows of a table.
fn look(uses: &mut KeyUses<'_>, snapshot: &PostgresSnapshot, entry: &TableEntry) -> Result<()> {
    let noted = kinds::found(&snapshot.query(kinds::read(&snapshot.store().catalog, entry.id))?)?;
    // One that can't be read may name tokens of a key that is to go.
    let layouts = noted.layouts.iter().map(|(kind, layout)| layouts::read(layout, kind));
    uses.begin_table(entry.id, &entry.name, layouts.collect::<Result<Vec<_>>>()?);
    each_row(snapshot, entry, None, &mut |keys, row| {
        let kind = column(row, CONTENT)?;
        let shown = ShownRow { partition: (&*keys.0).into(), row: (&*keys.1).into(), kind };
        let content = content(row, CONTENT)?;
        uses.add_row(
            &shown,
            content.properties.iter().map(|(name, value)| Ok((&**name, value.as_value_ref()))),
        )
    })
}

fn list(catalog: &Catalog) -> Call {
    plain(&format!("SELECT id, name, renames FROM {} ORDER BY id", catalog.table("_tables")))
}
