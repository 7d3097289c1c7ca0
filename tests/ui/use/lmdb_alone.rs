use table_core::{Result, Store, Tables};

/// What LMDB's files alone can do is missing where the store may be any.
fn maintain(tables: &Tables) -> Result<()> {
    tables.check()?;
    tables.stats()?;
    tables.reclaim()?;
    tables.copy_to("copy")?;
    tables.mark()?;
    tables.clear_stale_readers()?;
    tables.encryption()?;
    tables.sealed_values()?;
    tables.snapshots();
    tables.clone().compact()?;
    Ok(())
}

/// A store lends its tables, and tables are no store.
fn lends(store: &Store, tables: Tables) -> Result<()> {
    maintain(store)?;
    takes(tables)
}

fn takes(store: Store) -> Result<()> {
    store.check().map(drop)
}

fn main() {}
