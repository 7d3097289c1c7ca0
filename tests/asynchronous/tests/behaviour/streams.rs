//! Streams: their snapshot, its end, and where they go on.

use std::time::Duration;

use asynchronous_tests::{on_executors, spawn, until};
use table_core::asynchronous::Reads;
use table_core::{Continuation, ErrorKind, Query, Result};

use super::{Employee, employee};

const ROWS: u32 = 3_000;

#[test]
fn a_stream_that_is_not_read_gives_its_snapshot_up_and_pages_go_on() {
    on_executors(|store| async move {
        let tables = store.to_async();
        tables.table::<Employee>().await?.bulk_insert((0..ROWS).map(employee)).await?.into_result()?;
        for reads in [Reads::Inline, Reads::Spawned] {
            let staff = tables.clone().reads(reads).table::<Employee>().await?;
            for first in [1, 10, 1_500, 3_000] {
                let query = || staff.rows().department("Sales");
                let mut rows = query().stream().held_for(Duration::from_millis(30));
                let (mut ids, mut after) = (Vec::new(), None::<Continuation>);
                loop {
                    match rows.next().await {
                        Some(Ok(row)) => {
                            ids.push(row.id);
                            if ids.len() == first {
                                until("the snapshot is given up, unread", || store.snapshots().is_empty())
                                    .await;
                            }
                        }
                        Some(Err(error)) => {
                            assert_eq!(error.kind(), ErrorKind::SnapshotExpired);
                            after = Some(error.continuation().unwrap().clone());
                        }
                        None => break,
                    }
                }
                assert!(rows.next().await.is_none());
                // All of it was read if nothing was left to go on with.
                while let Some(place) = after {
                    let page = query().page(1_000, Some(&place)).await?;
                    ids.extend(page.entities.iter().map(|employee| employee.id));
                    after = page.next;
                }
                assert_eq!(ids, (0..ROWS).collect::<Vec<_>>(), "{reads:?}, {first}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_stream_sees_one_moment_and_its_continuation_a_newer_one() {
    on_executors(|store| async move {
        let staff = store.to_async().table::<Employee>().await?;
        staff.bulk_insert((0..100).map(employee)).await?.into_result()?;
        let query = || staff.rows().department("Sales");
        let mut whole = query().stream();
        let mut short = query().stream().held_for(Duration::from_millis(200));
        assert_eq!(whole.try_next().await?.unwrap().id, 0);
        assert_eq!(short.try_next().await?.unwrap().id, 0);
        staff.delete(Employee::key("Sales", 50)).await?;
        staff.insert(&employee(1_000)).await?;
        // A stream can be sent to another task, begun.
        let rest = spawn(whole.try_collect()).await?;
        assert_eq!(rest.iter().map(|e| e.id).collect::<Vec<_>>(), (1..100).collect::<Vec<_>>());
        until("the snapshot is given up", || store.snapshots().is_empty()).await;
        let last = short.try_next().await?.unwrap().id;
        let error = short.next().await.unwrap().unwrap_err();
        let page = query().page(1_000, error.continuation()).await?;
        let expected: Vec<_> = (last + 1..100).filter(|id| *id != 50).chain([1_000]).collect();
        assert_eq!(page.entities.iter().map(|e| e.id).collect::<Vec<_>>(), expected);
        Ok(())
    });
}

#[test]
fn a_stream_begins_when_it_is_asked_and_ends_when_it_is_dropped() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        staff.bulk_insert((0..5_000).map(employee)).await?.into_result()?;
        for reads in [Reads::Inline, Reads::Spawned] {
            let staff = tables.clone().reads(reads).table::<Employee>().await?;
            let mut rows = staff.all().stream();
            assert!(store.snapshots().is_empty());
            for _ in 0..3 {
                assert!(rows.try_next().await?.is_some());
            }
            assert_eq!(store.snapshots().len(), 1);
            drop(rows);
            until("the snapshot goes with the stream", || store.snapshots().is_empty()).await;
        }
        // Other tasks come to run beside one that reads a large table.
        let (staff, mut rows) = (staff.clone(), staff.all().stream());
        let beside = spawn(async move { staff.get(Employee::key("Sales", 1)).await });
        let mut count = 0;
        while rows.try_next().await?.is_some() {
            count += 1;
        }
        assert_eq!((count, beside.await?.unwrap().id), (5_000, 1));
        Ok(())
    });
}

#[test]
fn every_read_can_be_spawned() {
    on_executors(|store| async move {
        let tables = store.to_async().reads(Reads::Spawned);
        let staff = tables.table::<Employee>().await?;
        staff.bulk_insert((0..100).map(employee)).await?.into_result()?;
        let sales = || staff.rows().department("Sales");
        assert_eq!(staff.get(Employee::by_email("Sales", "7@contoso.com")).await?.unwrap().id, 7);
        let many = staff.get_many([1, 1_000, 2].map(|id| Employee::key("Sales", id))).await?;
        assert_eq!(
            many.iter().map(|one| one.as_ref().map(|e| e.id)).collect::<Vec<_>>(),
            [Some(1), None, Some(2)]
        );
        assert_eq!(
            (sales().first().await?.unwrap().id, sales().count().await?, sales().exists().await?),
            (0, 100, true)
        );
        assert_eq!(sales().id(10..20).try_collect().await?.len(), 10);
        assert_eq!(staff.by_email().department("Sales").email("7@contoso.com").count().await?, 1);
        let page = sales().page(60, None).await?;
        assert_eq!(sales().page(60, page.next.as_ref()).await?.entities.len(), 40);
        let (dynamic, query) = (staff.dynamic(), Query::new().partition("Sales").row_prefix("empid_"));
        assert_eq!(dynamic.query(&query).try_collect().await?.len(), 100);
        assert_eq!(dynamic.page(&query, 30, None).await?.entities.len(), 30);
        assert!(dynamic.get("Sales", "empid_000007").await?.is_some());
        assert_eq!(dynamic.get_with("Sales", "empid_000007", |row| row.row_key().len()).await?, Some(12));
        staff.update(Employee::key("Sales", 7), |one| one.age = 41).await?;
        assert_eq!(sales().filter(|e| e.age.eq(41)).count().await?, 1);
        // An error comes back as one.
        let wrong = sales().page(0, None).await.err().map(|error| error.kind());
        assert_eq!(wrong, Some(ErrorKind::InvalidQuery));
        Ok::<_, table_core::Error>(()).and_then(|()| -> Result<()> { store.close() })
    });
}
