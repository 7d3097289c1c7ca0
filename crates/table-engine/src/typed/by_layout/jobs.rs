//! Jobs over the entities of a kind that is known by its layout, without its struct.

use super::kinds::{Kinds, known, version_obstacle};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::table::DynamicTable;
use crate::handle::tables::Tables;
use crate::introspect::KindInfo;
use crate::schema::Obstacle;
use crate::typed::change::layout_images::LayoutMeta;
#[cfg(feature = "encrypt")]
use crate::typed::encrypt::reencrypt::{ReencryptReport, reencrypt};
use crate::typed::job::rebuild::rebuild;
use crate::typed::job::repair::repair;
use crate::typed::job::{CopyReport, Job};

/// Jobs that take no struct.
///
/// They are those of [`Table`](crate::Table), and go on with what a program began there, and the other way round. What is noted
/// of the kind has to say all that they need: a kind of which only code says which copies there are, by `when`, or which only
/// its struct signs, is [`DeclaredKind`](ErrorKind::DeclaredKind) with the line in the way. Of a kind that seals values the store
/// must have the keys, or it is [`KeyUnavailable`](ErrorKind::KeyUnavailable).
impl KindInfo {
    /// Returns a job that makes every copy right again, as [`Table::repair`](crate::Table::repair) does.
    ///
    /// ```
    /// use table_core::{Entity, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_email, row = "email_{email}", unique)]
    /// struct Employee { department: String, id: u32, email: String }
    ///
    /// let store = Store::temporary()?;
    /// let jun = Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into() };
    /// store.table::<Employee>()?.insert(&jun)?;
    ///
    /// // No struct from here on.
    /// let company = store.dynamic_table("Company")?;
    /// company.raw().delete("Sales", "email_jun@contoso.com")?;
    /// let report = store.kinds()?[0].repair(&store)?.run()?;
    /// assert_eq!((report.missing, report.mended), (1, 1));
    /// assert!(company.get("Sales", "email_jun@contoso.com")?.is_some());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn repair(&self, tables: &Tables) -> Result<Job<'static, CopyReport>> {
        self.job(tables, "repair the copies of", |table, kind| repair(table, kind))
    }

    /// Returns a job that makes every index which is not ready, as [`Table::rebuild`](crate::Table::rebuild) does.
    pub fn rebuild(&self, tables: &Tables) -> Result<Job<'static>> {
        self.job(tables, "rebuild the indexes of", |table, kind| rebuild(table, kind))
    }

    /// Returns a job that seals anew what is sealed with older keys, as [`Table::reencrypt`](crate::Table::reencrypt) does.
    #[cfg(feature = "encrypt")]
    pub fn reencrypt(&self, tables: &Tables) -> Result<Job<'static, ReencryptReport>> {
        self.job(tables, "re-encrypt in", |table, kind| reencrypt(table, kind))
    }

    /// Makes a job; an error says that this was `attempted`.
    fn job<J>(
        &self,
        tables: &Tables,
        attempted: &'static str,
        make: impl FnOnce(&DynamicTable, &'static LayoutMeta) -> Result<J>,
    ) -> Result<J> {
        let begin = || {
            let table = tables.dynamic_table(self.table())?;
            let refuse = |kind, obstacle: &Obstacle| Err(refused(self.kind(), kind, obstacle));
            let found = match known(table.name(), self.kind(), &self.layout())? {
                Ok(found) => found,
                Err(obstacle) => return refuse(ErrorKind::DeclaredKind, &obstacle),
            };
            let kinds = Kinds::of(&table, Vec::new());
            if let Some(obstacle) = kinds.keys_obstacle(found) {
                return refuse(ErrorKind::KeyUnavailable, &obstacle);
            }
            match make(&kinds.with_others(kinds.others(found)?), found) {
                Err(error) if error.kind() == ErrorKind::MigrationPending => {
                    refuse(ErrorKind::DeclaredKind, &version_obstacle(found.layout()))
                }
                begun => begun,
            }
        };
        begin().map_err(|error| error.attempted(attempted).table(self.table()))
    }
}

/// Returns the error of a job for which a layout says too little.
#[cold]
fn refused(name: &str, kind: ErrorKind, obstacle: &Obstacle) -> Error {
    let Obstacle { line, because } = obstacle;
    let line = if line.is_empty() { String::new() } else { format!("`{line}`: ") };
    Error::new(kind).because(format!("what is noted of the kind `{name}` is not enough: {line}{because}"))
}
