//! Whether the tests of dropped futures would find a mistake: futures that keep what they hold when they are dropped.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use asynchronous_tests::{Kept, on_executors, polled};
use table_core::asynchronous::Reads;

use super::dropped::World;
use super::{Employee, employee};

/// How long what is held is looked for.
const PATIENCE: Duration = Duration::from_millis(500);

#[test]
fn a_snapshot_that_is_kept_is_found() {
    on_executors(|_| async {
        for is_planted in [false, true] {
            let (world, kept) = (World::new(Reads::Inline).await?, Kept::default());
            let tables = world.tables.clone();
            let future = async move {
                let _snapshot = tables.blocking().snapshot();
                pending::<()>().await;
            };
            drop_after_a_poll(&kept, is_planted, future).await;
            assert_eq!(world.held(PATIENCE).await?, is_planted.then_some("a snapshot"));
            kept.let_go();
        }
        Ok(())
    });
}

#[test]
fn rows_of_a_stream_that_are_kept_are_found() {
    on_executors(|_| async {
        for is_planted in [false, true] {
            let (world, kept) = (World::new(Reads::Inline).await?, Kept::default());
            let mut rows = world.tables.table::<Employee>().await?.rows().department("Sales").stream();
            let future = async move {
                let _row = rows.next().await;
                pending::<()>().await;
            };
            drop_after_a_poll(&kept, is_planted, future).await;
            assert_eq!(world.held(PATIENCE).await?, is_planted.then_some("a snapshot"));
            kept.let_go();
        }
        Ok(())
    });
}

#[test]
fn a_handle_that_is_kept_is_found() {
    on_executors(|_| async {
        for is_planted in [false, true] {
            let (world, kept) = (World::new(Reads::Inline).await?, Kept::default());
            let tables = world.tables.clone();
            let future = async move {
                let _tables = tables;
                pending::<()>().await;
            };
            drop_after_a_poll(&kept, is_planted, future).await;
            assert_eq!(world.held(PATIENCE).await?, is_planted.then_some("a handle of the store"));
            kept.let_go();
        }
        Ok(())
    });
}

/// Polls a future once and drops it, with the mistake if it is planted.
async fn drop_after_a_poll(kept: &Kept, is_planted: bool, future: impl Future<Output = ()> + Send + 'static) {
    let done = if is_planted { polled(1, kept.planted_in(future)).await } else { polled(1, future).await };
    assert_eq!((done, kept.len()), (None, usize::from(is_planted)));
}

/// For a second at most plans of others wait for a change with a turn; a dropped one lets them pass at once.
#[test]
fn a_turn_goes_with_the_future_and_one_that_is_kept_holds_others() {
    on_executors(|store| async move {
        let staff = store.to_async().table::<Employee>().await?;
        staff.insert(&employee(1)).await?;
        for is_planted in [false, true] {
            let (kept, runs) = (Kept::default(), Arc::new(AtomicU32::new(0)));
            let (contended, counted) = (staff.clone(), runs.clone());
            let future = async move {
                // Whatever it has read is old when it is handed over, so that it comes to a turn.
                let too_late = |employee: &mut Employee| {
                    counted.fetch_add(1, Ordering::Relaxed);
                    let other = contended.blocking();
                    other.update(Employee::key("Sales", 1), |other| other.age += 1).unwrap();
                    employee.age += 1;
                };
                drop(contended.update(Employee::key("Sales", 1), too_late).await);
            };
            let mut future: Pin<Box<dyn Future<Output = ()> + Send>> =
                if is_planted { Box::pin(kept.planted_in(future)) } else { Box::pin(future) };
            // It asks for a turn after eight losses.
            let with_turn = poll_fn(|context| match future.as_mut().poll(context) {
                _ if runs.load(Ordering::Relaxed) > 9 => Poll::Ready(true),
                polled => polled.map(|()| false),
            });
            assert!(with_turn.await, "it came to its end without a turn");
            drop(future);
            let begun = Instant::now();
            staff.update(Employee::key("Sales", 1), |employee| employee.age += 1).await?;
            assert_eq!(begun.elapsed() > PATIENCE, is_planted, "{:?}", begun.elapsed());
            kept.let_go();
        }
        Ok(())
    });
}
