//! More writes than the store takes in at once: tasks wait for room.

use std::time::Duration;

use asynchronous_tests::{all, on_smol, on_tokio, polled, spawn};
use table_core::asynchronous::{WriteOutcome, WriteToken};
use table_core::{DynamicEntity, Result, Store};

use super::{Employee, employee};

/// A store that takes in so many writes, with its directory.
fn narrow(writes: usize) -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::options().submit_limit(writes).open(directory.path().join("store")).unwrap();
    (directory, store)
}

async fn more_than_fit(store: Store) -> Result<()> {
    let tables = store.to_async();
    let staff = tables.table::<Employee>().await?;
    let written = all((0..200).map(|id| {
        let staff = staff.clone();
        async move { staff.insert(&employee(id)).await.map(drop) }
    }));
    written.await.into_iter().collect::<Result<()>>()?;
    assert_eq!(staff.rows().department("Sales").count().await?, 200);
    // Without a struct, and as batches, too.
    let notes = tables.create_table("Notes").await?;
    let written = all((0..200).map(|id| {
        let notes = notes.clone();
        async move {
            let [one, two] = ["a", "b"].map(|part| DynamicEntity::new("Notes", format!("{id:03}{part}")));
            notes.insert(&one).await?;
            notes.batch("Notes").insert(two).commit().await.map(drop)
        }
    }));
    written.await.into_iter().collect::<Result<()>>()?;
    assert_eq!(notes.query(&table_core::Query::new()).try_collect().await?.len(), 400);
    Ok(())
}

#[test]
fn two_hundred_tasks_write_where_four_fit() {
    for limit in [1, 4] {
        let (_directory, store) = narrow(limit);
        on_tokio(more_than_fit(store)).unwrap();
        let (_directory, store) = narrow(limit);
        on_smol(more_than_fit(store)).unwrap();
    }
}

/// Every third goes away at its first or second poll, most of them while they wait for room.
async fn some_go_away(store: Store) -> Result<()> {
    let staff = store.to_async().table::<Employee>().await?;
    let tasks: Vec<_> = (0..300)
        .map(|id| {
            let (staff, token) = (staff.clone(), WriteToken::new());
            let polls = if id % 3 == 0 { 1 + (id / 3) as usize % 2 } else { usize::MAX };
            spawn(async move {
                let tracked = staff.tracked(&token);
                let done = polled(polls, tracked.insert(&employee(id))).await.transpose()?;
                Ok::<_, table_core::Error>((id, done.is_some(), token))
            })
        })
        .collect();
    let mut waited = 0;
    for task in tasks {
        let (id, is_done, token) = task.await?;
        assert!(is_done || id % 3 == 0, "{id}");
        let outcome = token.decided().await;
        waited += u32::from(outcome == WriteOutcome::Nothing);
        let is_there = staff.exists(Employee::key("Sales", id)).await?;
        assert_eq!(matches!(outcome, WriteOutcome::Committed(_)), is_there, "{id}: {outcome:?}");
    }
    assert!(waited > 0, "none was dropped while it waited for room");
    Ok(())
}

#[test]
fn who_goes_away_while_it_waits_takes_no_place_along() {
    for limit in [1, 4] {
        let (_directory, store) = narrow(limit);
        on_tokio(in_time(some_go_away(store))).unwrap();
        let (_directory, store) = narrow(limit);
        on_smol(in_time(some_go_away(store))).unwrap();
    }
}

/// Fails where it would wait for ever.
async fn in_time<T>(task: impl Future<Output = T>) -> T {
    let late = async {
        smol::Timer::after(Duration::from_secs(60)).await;
        panic!("tasks wait for room that does not come");
    };
    smol::future::or(task, late).await
}
