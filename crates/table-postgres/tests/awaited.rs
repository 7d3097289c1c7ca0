//! Calls that are awaited: many tasks on few connections, answers that are lost, futures that are dropped.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that fails panics")]

mod support;

use std::time::{Duration, Instant};

use support::proxy::Proxy;
use support::{options, server, server_at, server_port};
use table_core::Entity;
use tokio::task::JoinSet;

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    count: i64,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@example.com"), count: 0 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_tasks_share_a_few_connections() {
    let tables =
        tokio::task::spawn_blocking(|| options().connect(&server()).unwrap().to_async()).await.unwrap();
    let staff = tables.table::<Employee>().await.unwrap();
    staff.insert(&employee(0)).await.unwrap();
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for id in 1..=1_000 {
        let staff = staff.clone();
        tasks.spawn(async move {
            staff.insert(&employee(id)).await.unwrap();
            assert_eq!(staff.get(Employee::key("Sales", id)).await.unwrap().unwrap().id, id);
        });
    }
    tasks.join_all().await;
    println!("{:?} for 1,000 inserts and reads", begun.elapsed());
    assert_eq!(staff.all().count().await.unwrap(), 1_001);
    let mut rows = staff.all().stream();
    let mut read = 0;
    while rows.try_next().await.unwrap().is_some() {
        read += 1;
    }
    assert_eq!(read, 1_001);
    let connections = "SELECT 1/(count(*) <= 60)::int FROM pg_stat_activity";
    tokio::task::spawn_blocking(|| support::execute(connections)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_awaited_happens_once_whatever_is_lost() {
    const ADDS: u32 = 40;
    let proxy = Proxy::begin(server_port());
    let address = server_at(proxy.port);
    let opened = tokio::task::spawn_blocking(move || options().connect(&address).unwrap().to_async());
    let staff = opened.await.unwrap().table::<Employee>().await.unwrap();
    for id in 0..4 {
        staff.insert(&employee(id)).await.unwrap();
    }
    proxy.cut_one_in(120, 11);
    let mut tasks = JoinSet::new();
    for at in 0..8 {
        let staff = staff.clone();
        tasks.spawn(async move {
            for add in 0..ADDS {
                let key = Employee::key("Sales", (at + add) % 4);
                staff.update(key, |employee| employee.count += 1).await.unwrap();
                staff.insert(&employee(1_000 + at * ADDS + add)).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let cuts = proxy.stop();
    println!("{cuts} cuts");
    assert!(cuts > 5, "{cuts}");
    let all = staff.all().try_collect().await.unwrap();
    assert_eq!(all.iter().map(|employee| employee.count).sum::<i64>(), i64::from(8 * ADDS));
    assert_eq!(all.len(), 4 + 8 * usize::try_from(ADDS).unwrap());
}

#[tokio::test]
async fn a_change_whose_future_is_dropped_happens_whole_or_not_at_all() {
    let tables =
        tokio::task::spawn_blocking(|| options().connections(4).connect(&server()).unwrap().to_async());
    let staff = tables.await.unwrap().table::<Employee>().await.unwrap();
    staff.insert(&employee(0)).await.unwrap();
    let mut dropped = 0;
    for id in 1..200 {
        let change = async {
            staff.insert(&employee(id)).await.unwrap();
            staff.update(Employee::key("Sales", 0), |employee| employee.count += 1).await.unwrap();
        };
        let limit = Duration::from_micros(u64::from(id) * 50);
        dropped += u32::from(tokio::time::timeout(limit, change).await.is_err());
    }
    println!("{dropped} were dropped");
    // Every one of them is there with its copy, or neither is. A statement that was on its way may still come.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut there = 0;
    for id in 1..200 {
        let own = staff.get(Employee::key("Sales", id)).await.unwrap().is_some();
        let copy =
            staff.get(Employee::by_email("Sales", format!("{id}@example.com"))).await.unwrap().is_some();
        assert_eq!(own, copy, "{id}");
        there += u32::from(own);
    }
    assert!(there >= 199 - dropped, "{there} {dropped}");
    // All connections are of use again.
    for id in 1_000..1_020 {
        staff.insert(&employee(id)).await.unwrap();
    }
}

/// A call that blocks is right within a runtime too, if not quick.
#[tokio::test]
async fn a_call_that_blocks_may_be_made_within_a_runtime() {
    let tables = options().connect(&server()).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee(1)).unwrap();
    staff.update(Employee::key("Sales", 1), |employee| employee.count += 1).unwrap();
    assert_eq!(staff.all().into_iter().count(), 1);
    let snapshot = tables.snapshot().unwrap();
    drop(snapshot);
    drop(staff);
    drop(tables);
}
