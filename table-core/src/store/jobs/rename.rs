//! Renaming tables.

use crate::error::{Error, ErrorKind, Result};
use crate::executor::JobRecord;
use crate::schema;
use crate::store::handle::shared::Shared;
use crate::store::lmdb::{Databases, WriteTxn};
use crate::store::records::catalog::{self, Entry};
use crate::store::records::meta::Meta;
use crate::store::records::{authenticated, index_states, layouts, periods};

/// Gives a table another name, in one small transaction, and puts that in place of the former one wherever records name it:
/// layouts of kinds whose copies or entities lie there, and jobs that go over it. Returns its number.
pub(crate) fn rename(
    inner: &Shared,
    (dbs, txn, meta): (&Databases, &mut WriteTxn<'_>, &mut Meta),
    (former, name): (&str, &str),
) -> Result<u32> {
    let Some(entry) = catalog::find(dbs, txn, meta, former)? else {
        return Err(Error::new(ErrorKind::TableNotFound).table(former));
    };
    if let Some(found) = catalog::find(dbs, txn, meta, name)?
        && found.id != entry.id
    {
        let because = format!("there is a table `{}`; names differ in more than case", found.name);
        return Err(Error::new(ErrorKind::TableAlreadyExists).because(because).table(name));
    }
    periods::check_plain(dbs, txn, meta, name)?;
    // What is vouched for anew was vouched for before.
    inner.verify_tables(txn, meta)?;
    inner.verify_table(txn, meta, &entry)?;
    let id = entry.id;
    let was_authenticated = entry.digest.is_some();
    catalog::rename(dbs, txn, meta, &entry, name)?;
    for other in catalog::list(dbs, txn, meta)? {
        let changed = rename_in(inner, (dbs, txn, meta), &other, (former, name), other.id == id)?;
        if changed || (other.id == id && was_authenticated) {
            authenticate(inner, (dbs, txn, meta), &other)?;
        }
    }
    Ok(id)
}

/// Renames the table in what another's records say; whether layouts have changed.
fn rename_in(
    inner: &Shared,
    (dbs, txn, meta): (&Databases, &mut WriteTxn<'_>, &mut Meta),
    table: &Entry,
    (former, name): (&str, &str),
    is_verified: bool,
) -> Result<bool> {
    let renamed = |(kind, layout): (&str, &str)| {
        let now = schema::with_table_renamed(layout, former, name);
        (now != layout).then(|| (kind.to_owned(), now))
    };
    let changed: Vec<_> = layouts::all(dbs, txn, table.id)?.into_iter().filter_map(renamed).collect();
    if !changed.is_empty() && !is_verified {
        inner.verify_table(txn, meta, table)?;
    }
    for (kind, layout) in &changed {
        layouts::put(dbs, txn, table.id, kind, layout.clone())?;
    }
    for (job, record) in index_states::all_jobs(dbs, txn, table.id)? {
        // Others are asked for something else.
        if !["rebuild ", "drop ", "convert "].iter().any(|word| job.starts_with(word)) {
            continue;
        }
        let now =
            |table: &str| if table.eq_ignore_ascii_case(former) { name.to_owned() } else { table.to_owned() };
        let asked = record.tables().map(now).collect::<Vec<_>>().join("\n");
        if asked != record.asked {
            index_states::write_job(dbs, txn, meta, table.id, (&job, Some(&JobRecord { asked, ..record })))?;
        }
    }
    Ok(!changed.is_empty())
}

/// Has the keys vouch for a table that they have vouched for, by its new name or its new layouts.
fn authenticate(
    inner: &Shared,
    (dbs, txn, meta): (&Databases, &mut WriteTxn<'_>, &mut Meta),
    table: &Entry,
) -> Result<()> {
    if table.digest.is_none() {
        return Ok(());
    }
    let authenticator = inner.keys.authenticator()?.ok_or_else(crate::sealing::missing::keys)?;
    authenticated::authenticate(dbs, txn, meta, authenticator, table)
}
