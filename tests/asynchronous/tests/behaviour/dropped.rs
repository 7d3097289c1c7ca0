//! Futures that are dropped after each of their polls: nothing is half done and nothing held, and a token says what was done.

use std::collections::BTreeMap;
use std::time::Duration;

use asynchronous_tests::{comes_within, on_executors, polled};
use table_core::asynchronous::{
    AsyncDynamicTable, AsyncSetTable, AsyncTable, AsyncTables, BoxFuture, Reads, WriteOutcome, WriteToken,
};
use table_core::{DynamicEntity, ErrorKind, IfMatch, Query, Result, Store};

use super::{Company, Department, Employee, employee};

/// A store with two employees, two of another department, and two notes.
pub(crate) struct World {
    pub(crate) store: Store,
    token: WriteToken,
    pub(crate) tables: AsyncTables,
    staff: AsyncTable<Employee>,
    company: AsyncSetTable<Company>,
    notes: AsyncDynamicTable,
}

impl World {
    pub(crate) async fn new(reads: Reads) -> Result<Self> {
        let (store, token) = (Store::temporary()?, WriteToken::new());
        let tables = store.to_async().reads(reads);
        let staff = tables.table::<Employee>().await?;
        staff.bulk_insert([1, 2].map(employee)).await?.into_result()?;
        tables
            .table::<Department>()
            .await?
            .insert(&Department { name: "Sales".into(), head_count: 2 })
            .await?;
        let notes = tables.create_table("Notes").await?;
        for row in ["1", "2"] {
            notes.insert(&note(row, "first")).await?;
        }
        let company = tables.set::<Company>().await?.tracked(&token);
        let (staff, notes) = (staff.tracked(&token), notes.tracked(&token));
        Ok(Self { store, token, tables, staff, company, notes })
    }

    /// Returns all rows by their keys, without their versions.
    fn rows(&self) -> Result<BTreeMap<String, String>> {
        loop {
            match self.rows_of_listed_tables() {
                // The call that was dropped is under way, and a table was dropped or renamed behind the list of them.
                Err(gone) if matches!(gone.kind(), ErrorKind::TableNotFound | ErrorKind::TableRenamed) => {}
                read => return read,
            }
        }
    }

    fn rows_of_listed_tables(&self) -> Result<BTreeMap<String, String>> {
        let mut rows = BTreeMap::new();
        for table in self.store.tables()? {
            for row in self.store.dynamic_table(&table)?.query(&Query::new())? {
                let row = row?;
                let properties: Vec<_> =
                    row.properties().map(|(name, value)| format!("{name} {value:?}")).collect();
                let key = format!("{table} {} {}", row.partition_key(), row.row_key());
                rows.insert(key, properties.join(", "));
            }
            rows.entry(table).or_default();
        }
        Ok(rows)
    }

    /// Checks that nothing is held: no snapshot, no place that other writers wait for, no handle of the store.
    async fn ends(self) -> Result<()> {
        assert_eq!(self.held(Duration::from_secs(20)).await?, None);
        Ok(())
    }

    /// Returns what is still held after so long, if anything is.
    pub(crate) async fn held(self, patience: Duration) -> Result<Option<&'static str>> {
        let store = self.store.clone();
        if !comes_within(patience, || store.snapshots().is_empty()).await {
            return Ok(Some("a snapshot"));
        }
        self.staff.insert(&employee(1_000)).await?;
        self.staff.update(Employee::key("Sales", 1_000), |employee| employee.age += 1).await?;
        let path = self.store.path().to_owned();
        drop(self);
        smol::unblock(|| store.close()).await?;
        // A temporary store goes with its last handle.
        let is_gone = comes_within(patience, || !path.exists()).await;
        Ok((!is_gone).then_some("a handle of the store"))
    }
}

fn note(row: &str, text: &str) -> DynamicEntity {
    DynamicEntity::new("Notes", row).with("Text", text)
}

/// Begins a call, on handles of its own.
type Begin = fn(&World) -> BoxFuture<'static, Result<()>>;

/// A call's name, and the call as a future that can be sent to another task.
macro_rules! calls {
    ($($name:literal: |$world:ident| [$($handle:ident),*] $call:expr;)+) => {
        [$(($name, |$world: &World| {
            $(let $handle = $world.$handle.clone();)*
            Box::pin(async move { $call.await.map(drop) })
        })),+]
    };
}

const WRITES: [(&str, Begin); 20] = calls! {
    "insert": |world| [staff] staff.insert(&employee(3));
    "put": |world| [staff] staff.put(&Employee { age: 7, ..employee(1) });
    "replace": |world| [staff] staff.replace(&Employee { age: 7, ..employee(1) }, IfMatch::Any);
    "merge": |world| [staff] staff.merge(Employee::key("Sales", 1), Employee::patch().age(7), IfMatch::Any);
    "update": |world| [staff] staff.update(Employee::key("Sales", 1), |e| e.email = "new@contoso.com".into());
    "try_update": |world| [staff] staff.try_update(Employee::key("Sales", 1), |e| {
        e.age = 7;
        Ok::<(), table_core::Error>(())
    });
    "move_to": |world| [staff] staff.move_to(Employee::key("Sales", 1), |e| e.id = 9);
    "get_or_insert": |world| [staff] staff.get_or_insert(&employee(3));
    "delete": |world| [staff] staff.delete(Employee::key("Sales", 1));
    "egt": |world| [staff] async {
        let (new, changed) = (employee(3), Employee { age: 7, ..employee(1) });
        let changes = staff.egt(Employee::partition("Sales")).insert(&new).put(&changed);
        changes.delete(Employee::key("Sales", 2)).commit().await
    };
    "egt of a set": |world| [company] async {
        let new = employee(3);
        let changes = company.egt(Employee::partition("Sales")).insert(&new);
        changes.update(Department::key("Sales"), |sales| sales.head_count += 1).commit().await
    };
    "transaction": |world| [tables, token] async {
        let new = Employee { department: "Legal".into(), ..employee(1) };
        let moves = tables.transaction().tracked(&token).delete(Employee::key("Sales", 1)).insert(&new);
        moves.update(Department::key("Sales"), |sales| sales.head_count -= 1).commit().await
    };
    "dynamic insert": |world| [notes] notes.insert(&note("3", "new"));
    "dynamic put": |world| [notes] notes.put(&note("1", "new"));
    "dynamic replace": |world| [notes] notes.replace(&note("1", "new"), IfMatch::Any);
    "dynamic merge": |world| [notes] notes.merge(&note("1", "new"), IfMatch::Any);
    "dynamic insert_or_merge": |world| [notes] notes.insert_or_merge(&note("3", "new"));
    "dynamic delete": |world| [notes] notes.delete("Notes", "1");
    "batch": |world| [notes] async {
        notes.batch("Notes").insert(note("3", "new")).put(note("1", "new")).delete("2").commit().await
    };
    "empty-handed": |world| [staff] async { staff.delete(Employee::key("Sales", 77)).await.or(Ok(())) };
};

#[test]
fn of_a_dropped_write_all_is_done_or_nothing_and_the_token_knows() {
    on_executors(|_| async {
        let (mut unasked, mut dropped_and_done) = (0, 0);
        for (name, begin) in WRITES {
            let before = World::new(Reads::Inline).await?.rows()?;
            let world = World::new(Reads::Inline).await?;
            begin(&world).await?;
            let after = world.rows()?;
            assert_eq!(before != after, name != "empty-handed", "{name}");
            for polls in 0.. {
                let world = World::new(Reads::Inline).await?;
                let done = polled(polls, begin(&world)).await;
                match (done, world.token.decided().await) {
                    (Some(done), outcome) => {
                        done?;
                        let is_committed = matches!(outcome, WriteOutcome::Committed(_));
                        assert_eq!(is_committed, name != "empty-handed", "{name}");
                        assert_eq!(world.rows()?, after, "{name}, {polls} polls");
                        world.ends().await?;
                        assert!(polls > 1 || name == "empty-handed", "{name} waits for the store");
                        break;
                    }
                    (None, WriteOutcome::Nothing) => {
                        assert_eq!(world.rows()?, before, "{name}, {polls} polls");
                        unasked += 1;
                    }
                    (None, WriteOutcome::Committed(_)) => {
                        assert_eq!(world.rows()?, after, "{name}, {polls} polls");
                        dropped_and_done += 1;
                    }
                    (None, outcome) => panic!("{name}, {polls} polls: {outcome:?}"),
                }
                world.ends().await?;
            }
        }
        // Each was dropped unpolled, and each that writes when the store had it.
        assert!(
            unasked >= WRITES.len() && dropped_and_done >= WRITES.len() - 1,
            "{unasked}, {dropped_and_done}"
        );
        Ok(())
    });
}

/// What has several steps runs on a thread of the pool, to its end once it has begun.
const CALLS_OF_THE_POOL: [(&str, Begin); 4] = calls! {
    "create_table": |world| [tables] tables.create_table("Others");
    "drop_table": |world| [tables] tables.drop_table("Notes");
    "rename_table": |world| [tables] tables.rename_table("Notes", "Remarks");
    "bulk_insert": |world| [staff] staff.bulk_insert([3, 4].map(employee));
};

#[test]
fn of_a_dropped_call_of_the_pool_all_is_done_or_nothing() {
    on_executors(|_| async {
        for (name, begin) in CALLS_OF_THE_POOL {
            let before = World::new(Reads::Inline).await?.rows()?;
            let world = World::new(Reads::Inline).await?;
            begin(&world).await?;
            let after = world.rows()?;
            for polls in 0.. {
                let world = World::new(Reads::Inline).await?;
                let done = polled(polls, begin(&world)).await;
                let rows = world.rows()?;
                assert!(rows == before || rows == after, "{name}, {polls} polls: {rows:?}");
                assert!(polls > 0 || rows == before, "{name} had not begun");
                world.ends().await?;
                if done.is_some() {
                    break;
                }
            }
        }
        Ok(())
    });
}

const READS: [(&str, Begin); 15] = calls! {
    "get": |world| [staff] staff.get(Employee::key("Sales", 1));
    "get by an index": |world| [staff] staff.get(Employee::by_email("Sales", "1@contoso.com"));
    "exists": |world| [staff] staff.exists(Employee::key("Sales", 1));
    "get_many": |world| [staff] staff.get_many([1, 2].map(|id| Employee::key("Sales", id)));
    "first": |world| [staff] staff.rows().department("Sales").first();
    "count": |world| [staff] staff.rows().department("Sales").count();
    "page": |world| [staff] staff.rows().department("Sales").page(1, None);
    "stream": |world| [staff] async {
        let mut rows = staff.rows().department("Sales").stream();
        while rows.try_next().await?.is_some() {}
        Ok::<(), table_core::Error>(())
    };
    "stream of a scan": |world| [staff] staff.all().stream().try_collect();
    "set": |world| [company] company.partition(Employee::partition("Sales")).try_collect();
    "set page": |world| [company] async { company.across_partitions().page(1, None).await };
    "dynamic get": |world| [notes] notes.get("Notes", "1");
    "dynamic query": |world| [notes] notes.query(&Query::new()).try_collect();
    "dynamic page": |world| [notes] async { notes.page(&Query::new(), 1, None).await };
    "snapshot": |world| [tables] tables.snapshot();
};

#[test]
fn a_dropped_read_holds_nothing() {
    on_executors(|_| async {
        let mut pending = 0;
        for (reads, (name, begin)) in
            READS.iter().flat_map(|read| [(Reads::Inline, read), (Reads::Spawned, read)])
        {
            for polls in 0.. {
                let world = World::new(reads).await?;
                let done = polled(polls, begin(&world)).await;
                world.ends().await?;
                if let Some(done) = done {
                    done.unwrap_or_else(|error| panic!("{name}: {error}"));
                    pending += polls - 1;
                    break;
                }
            }
        }
        assert!(pending > 0, "none waited for a thread of the pool");
        Ok(())
    });
}
