//! Cells of calls that are awaited: they are permitted and refused as those that block.

use table_core::asynchronous::{AsyncDynamicTable, AsyncTable, AsyncTables, BoxFuture, Reads, block_on};
use table_core::{DynamicEntity, IfMatch, Key, Query, Result};

use crate::cells::{Cell, Kind};
use crate::world::{Call, Company, Employee, FREE, employee, note};

/// What a call is made with.
struct Awaited {
    tables: AsyncTables,
    staff: AsyncTable<Employee>,
    notes: AsyncDynamicTable,
    department: &'static str,
    id: u32,
    row: String,
}

impl Awaited {
    fn key(&self) -> Key<Employee> {
        Employee::key(self.department, self.id)
    }

    fn changed(&self) -> Employee {
        Employee { salary: 2_000, ..employee(self.department, self.id) }
    }

    fn this(&self) -> DynamicEntity {
        note(self.department, self.id).with("More", 1)
    }
}

/// Makes a call by awaited handles of the tables, and waits for it.
fn awaited(
    call: &Call<'_>,
    reads: Reads,
    run: impl FnOnce(Awaited) -> BoxFuture<'static, Result<bool>>,
) -> Result<bool> {
    let tables = call.tables.to_async().reads(reads);
    let staff = call.tables.table::<Employee>()?.to_async().reads(reads);
    let notes = call.tables.dynamic_table("Notes")?.to_async().reads(reads);
    let (department, id, row) = (call.department, call.id, call.row());
    block_on(run(Awaited { tables, staff, notes, department, id, row }))
}

/// Cells, each with its kind, permissions, and the methods that lead to it.
macro_rules! cells {
    ($($kind:ident $is_new:literal $needs:literal $reads:ident [$($name:literal),*] |$call:ident| $run:expr;)+) => {
        &[$(Cell {
            names: &[$($name),*],
            needs: $needs,
            kind: Kind::$kind,
            is_new: $is_new,
            run: |call| awaited(call, Reads::$reads, |$call| Box::pin(async move { $run })),
        }),+]
    };
}

pub(crate) const AWAITED: &[Cell] = cells! {
    Read false "r" Inline ["Tables::to_async", "Table::to_async"] |c| Ok(c.staff.get(c.key()).await?.is_some());
    Read false "r" Spawned [] |c| Ok(c.staff.get(c.key()).await?.is_some());
    Read false "r" Inline [] |c| c.staff.exists(c.key()).await;
    Read false "r" Inline [] |c| Ok(c.staff.get_many([c.key()]).await?.iter().flatten().count() == 1);
    Read false "r" Inline [] |c| Ok(c.staff.rows().department(c.department).id(c.id).count().await? == 1);
    Read false "r" Inline [] |c| {
        let mut rows = c.staff.all().stream();
        let mut is_found = false;
        while let Some(one) = rows.try_next().await? {
            is_found |= one.department == c.department && one.id == c.id;
        }
        Ok(is_found)
    };
    Read false "r" Spawned [] |c| {
        let all = c.staff.rows().department(c.department).stream().try_collect().await?;
        Ok(all.iter().any(|one| one.id == c.id))
    };
    Read false "r" Inline [] |c| {
        let page = c.staff.rows().department(c.department).page(100, None).await?;
        Ok(page.entities.iter().any(|one| one.id == c.id))
    };
    Read false "r" Inline ["SetTable::to_async"] |c| {
        let set = c.tables.blocking().set::<Company>()?.to_async();
        Ok(set.get(c.key()).await?.is_some())
    };
    Read false "r" Inline ["EncryptingTable::to_async"] |c| {
        let sealing = c.notes.blocking().encrypting(|_, _, _| false).to_async();
        Ok(sealing.get(c.department, &c.row).await?.is_some())
    };
    Read false "r" Inline ["DynamicTable::to_async"] |c| Ok(c.notes.get(c.department, &c.row).await?.is_some());
    Read false "r" Spawned [] |c| {
        let query = Query::new().partition(c.department).row(&*c.row);
        Ok(c.notes.query(&query).try_collect().await?.len() == 1)
    };
    Write true "a" Inline [] |c| c.staff.insert(&c.changed()).await.map(|_| true);
    Write false "au" Inline [] |c| c.staff.put(&c.changed()).await.map(|_| true);
    Write false "u" Inline [] |c| c.staff.replace(&c.changed(), IfMatch::Any).await.map(|_| true);
    Write false "ru" Inline [] |c| {
        c.staff.merge(c.key(), Employee::patch().salary(3_000), IfMatch::Any).await.map(|_| true)
    };
    Write false "ru" Inline [] |c| c.staff.update(c.key(), |one| one.salary += 1).await.map(|_| true);
    Write false "raud" Inline [] |c| c.staff.move_to(c.key(), |one| one.id = FREE).await.map(|_| true);
    Write false "d" Inline [] |c| c.staff.delete(c.key()).await.map(|()| true);
    Write true "a" Inline [] |c| {
        let new = c.changed();
        c.staff.egt(Employee::partition(c.department)).insert(&new).commit().await.map(|_| true)
    };
    Write false "ru" Inline [] |c| {
        let egt = c.tables.egt::<Company>(Employee::partition(c.department));
        egt.update(c.key(), |one| one.salary += 1).commit().await.map(|_| true)
    };
    Write false "d" Inline [] |c| c.tables.transaction().delete(c.key()).commit().await.map(|_| true);
    Write false "au" Inline [] |c| {
        let changed = c.changed();
        c.tables.transaction().put(&changed).commit().await.map(|_| true)
    };
    Write true "a" Inline [] |c| c.notes.insert(&c.this()).await.map(|_| true);
    Write false "au" Inline [] |c| c.notes.put(&c.this()).await.map(|_| true);
    Write false "u" Inline [] |c| c.notes.merge(&c.this(), IfMatch::Any).await.map(|_| true);
    Write false "d" Inline [] |c| c.notes.delete(c.department, &c.row).await.map(|()| true);
    Write false "u" Inline [] |c| {
        c.notes.batch(c.department).replace(c.this(), IfMatch::Any).commit().await.map(|_| true)
    };
    Write false "d" Inline [] |c| c.notes.batch(c.department).delete(&*c.row).commit().await.map(|_| true);
};
