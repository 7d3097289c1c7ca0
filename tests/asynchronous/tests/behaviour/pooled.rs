//! Writes that run on a thread of the pool: their token says what has become of them, also if their future was dropped.

use std::task::{Context, Waker};
use std::time::Duration;

use asynchronous_tests::{on_executors, polled, until};
use table_core::asynchronous::{AsyncDynamicTable, AsyncTables, BoxFuture, WriteOutcome, WriteToken};
use table_core::queue::Queue;
use table_core::{DynamicEntity, ErrorKind, IfMatch, Query, Result, Store};

use super::{Employee, employee};

/// A store with an employee and a queue.
struct World {
    token: WriteToken,
    tables: AsyncTables,
    company: AsyncDynamicTable,
    letters: Queue<String>,
}

impl World {
    async fn new() -> Result<Self> {
        let (store, token) = (Store::temporary()?, WriteToken::new());
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        staff.insert(&employee(1)).await?;
        let company = staff.dynamic().tracked(&token);
        Ok(Self { token, tables, company, letters: store.queue("letters")? })
    }

    /// Returns what each of the writes changes some of: the rows' keys, the sum of their ages, and the number of messages.
    fn state(&self) -> Result<(Vec<String>, i64, u64)> {
        let rows = self.company.blocking().query(&Query::new())?.collect::<Result<Vec<_>>>()?;
        let ages = rows.iter().filter_map(|row| row.get("Age").and_then(|age| age.as_i64()));
        let keys = rows.iter().map(|row| row.row_key().to_owned()).collect();
        Ok((keys, ages.sum(), self.letters.stats()?.ready))
    }
}

/// Begins a write, on handles of its own.
type Begin = fn(&World) -> BoxFuture<'static, Result<()>>;

const WRITES: [(&str, Begin); 5] = [
    ("messages alone", |world| {
        let changes = world.tables.transaction().tracked(&world.token);
        let changes = changes.send(&world.letters, &"one".to_owned()).send(&world.letters, &"two".to_owned());
        Box::pin(async move { changes.commit().await.map(drop) })
    }),
    ("an insert of a declared kind", |world| {
        let company = world.company.clone();
        Box::pin(async move { company.insert(&declared(2, 40)).await.map(drop) })
    }),
    ("a merge of a declared kind", |world| {
        let company = world.company.clone();
        Box::pin(async move { company.merge(&declared(1, 7), IfMatch::Any).await.map(drop) })
    }),
    ("a delete of a declared kind", |world| {
        let company = world.company.clone();
        Box::pin(async move { company.delete("Sales", "empid_000001").await })
    }),
    ("a batch of a declared kind", |world| {
        let batch = world.company.batch("Sales").merge(declared(1, 7), IfMatch::Any).insert(declared(2, 40));
        Box::pin(async move { batch.commit().await.map(drop) })
    }),
];

fn declared(id: u32, age: i64) -> DynamicEntity {
    let entity = DynamicEntity::new("Sales", format!("empid_{id:06}")).with("EntityType", "employee");
    entity.with("Email", format!("{id}@contoso.com")).with("Age", age)
}

#[test]
fn the_token_of_a_write_of_the_pool_says_what_the_store_holds() {
    on_executors(|_| async {
        for (name, begin) in WRITES {
            for polls in 0.. {
                let world = World::new().await?;
                let before = world.state()?;
                let done = polled(polls, begin(&world)).await;
                let outcome = world.token.decided().await;
                let has_changed = world.state()? != before;
                assert_eq!(
                    matches!(outcome, WriteOutcome::Committed(_)),
                    has_changed,
                    "{name}, {polls} polls: {outcome:?}"
                );
                assert!(
                    has_changed || outcome == WriteOutcome::Nothing,
                    "{name}, {polls} polls: {outcome:?}"
                );
                assert!(polls > 0 || !has_changed, "{name} had not begun");
                if let Some(done) = done {
                    done?;
                    assert!(has_changed, "{name}");
                    break;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_write_of_the_pool_that_was_carried_out_is_told_of_though_its_future_is_dropped() {
    on_executors(|_| async {
        for (name, begin) in WRITES {
            let world = World::new().await?;
            let before = world.state()?;
            let mut future = begin(&world);
            // It is polled until the write is there, and then dropped with the answer on its way.
            let is_there = || world.state().is_ok_and(|state| state != before);
            let mut poll = || future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            until(name, || is_there() || poll().is_ready()).await;
            drop(future);
            let outcome = world.token.decided().await;
            assert!(matches!(outcome, WriteOutcome::Committed(_)), "{name}: {outcome:?}");
        }
        Ok(())
    });
}

#[test]
fn a_refused_transaction_of_messages_alone_has_written_nothing() {
    on_executors(|_| async {
        let world = World::new().await?;
        let send =
            || world.tables.transaction().tracked(&world.token).send(&world.letters, &"one".to_owned());
        send().commit().await?;
        assert!(matches!(world.token.outcome(), WriteOutcome::Committed(_)));

        let letters = world.letters.clone();
        let received = letters.receive(Duration::from_secs(60))?.expect("it was sent");
        let complete = || world.tables.transaction().tracked(&world.token).complete(&received);
        complete().commit().await?;
        assert!(matches!(world.token.outcome(), WriteOutcome::Committed(_)));
        let error = complete().commit().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StaleReceipt, "{error}");
        assert_eq!(world.token.outcome(), WriteOutcome::Nothing);
        Ok(())
    });
}
