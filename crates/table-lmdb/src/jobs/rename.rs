//! Renaming tables.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::JobRecord;
use table_engine::schema::Layout;

use crate::handle::shared::Shared;
use crate::lmdb::{Databases, WriteTxn};
use crate::records::catalog::{self, Entry};
use crate::records::index_states::RecordName;
use crate::records::meta::Meta;
use crate::records::{authenticated, index_states, layouts, periods};

/// A table that gets another name.
pub(crate) struct Renaming<'r> {
    pub(crate) inner: &'r Shared,
    pub(crate) former: &'r str,
    pub(crate) name: &'r str,
}

impl Renaming<'_> {
    /// Renames the table, in one small transaction, and puts the new name in the place of the former one wherever records name
    /// it: layouts of kinds whose copies or entities lie there, and jobs that go over it. Returns the table's number.
    pub(crate) fn carry_out(&self, dbs: &Databases, txn: &mut WriteTxn<'_>, meta: &mut Meta) -> Result<u32> {
        let Self { inner, former, name } = *self;
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
        // The former digests are verified before new ones authenticate what was changed.
        inner.verify_tables(txn, meta)?;
        inner.verify_table(txn, meta, &entry)?;
        let id = entry.id;
        let was_authenticated = entry.digest.is_some();
        catalog::rename(dbs, txn, meta, &entry, name)?;
        // Kinds of any table may have copies in the renamed one, or entities there of which this table has copies.
        for other in catalog::list(dbs, txn, meta)? {
            let changed = self.rename_in(dbs, txn, meta, &other, other.id == id)?;
            if changed || (other.id == id && was_authenticated) {
                self.authenticate(dbs, txn, meta, &other)?;
            }
        }
        Ok(id)
    }

    /// Renames the table in what the records of this one say. Returns whether layouts have changed.
    fn rename_in(
        &self,
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        meta: &mut Meta,
        table: &Entry,
        is_verified: bool,
    ) -> Result<bool> {
        let Self { inner, former, name } = *self;
        let renamed = |layout: Layout| {
            let now = layout.with_table_renamed(former, name);
            (now != layout).then_some(now)
        };
        let changed: Vec<_> =
            layouts::all_read(dbs, txn, table.id)?.into_iter().filter_map(renamed).collect();
        if !changed.is_empty() && !is_verified {
            inner.verify_table(txn, meta, table)?;
        }
        for layout in &changed {
            layouts::put(dbs, txn, table.id, layout)?;
        }
        for (job, record) in index_states::all_jobs(dbs, txn, table.id)? {
            // What other jobs are asked for names no table.
            if !["rebuild ", "drop ", "convert "].iter().any(|word| job.starts_with(word)) {
                continue;
            }
            let now = |table: &str| {
                if table.eq_ignore_ascii_case(former) { name.to_owned() } else { table.to_owned() }
            };
            let asked = record.tables().map(now).collect::<Vec<_>>().join("\n");
            if asked != record.asked {
                let record = JobRecord { asked, ..record };
                let job = RecordName { table: table.id, name: &job };
                index_states::write_job(dbs, txn, meta, job, Some(&record))?;
            }
        }
        Ok(!changed.is_empty())
    }

    /// Has the keys authenticate a table that they have authenticated, by its new name or its new layouts.
    fn authenticate(
        &self,
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        meta: &mut Meta,
        table: &Entry,
    ) -> Result<()> {
        if table.digest.is_none() {
            return Ok(());
        }
        let authenticator =
            self.inner.keys.authenticator()?.ok_or_else(table_engine::sealing::missing::keys)?;
        authenticated::authenticate(dbs, txn, meta, authenticator, table)
    }
}
