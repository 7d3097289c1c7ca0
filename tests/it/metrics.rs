//! What `Tables::metrics` counts.

use std::sync::mpsc;

use integration_tests::MapStore;
use table_core::metrics::Metrics;
use table_core::queue::Queue;
use table_core::{DynamicEntity, Entity, ErrorKind, Filter, IfMatch, Query, Store, Tables};

#[derive(Debug, Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com") }
}

fn metrics(store: &Tables) -> Metrics {
    store.metrics().unwrap()
}

#[test]
fn commits_and_rows_are_counted_with_their_copies() {
    let store = Store::temporary().unwrap();
    let staff = store.table::<Employee>().unwrap();
    let before = metrics(&store);
    staff.insert(&employee(1)).unwrap();
    let after = metrics(&store);
    assert_eq!((after.commits - before.commits, after.batches - before.batches), (1, 1));
    assert_eq!((after.rows_written - before.rows_written, after.rows_removed), (2, 0));
    assert_eq!(after.batches_per_commit.count(), after.commits);
    for times in [&after.commit_wait, &after.commit_apply, &after.commit_flush] {
        assert_eq!(times.count(), after.commits);
        assert!(times.sum() > 0.0 && times.sum() < 60.0, "{times:?}");
        assert_eq!(times.buckets().last(), Some((f64::INFINITY, times.count())));
    }
    staff.delete(Employee::key("Sales", 1)).unwrap();
    assert_eq!(metrics(&store).rows_removed, 2);
    // Many plans in one transaction.
    staff.bulk_insert((0..100).map(employee)).unwrap().into_result().unwrap();
    let bulk = metrics(&store);
    assert_eq!(bulk.rows_written - after.rows_written, 200);
    assert!(bulk.batches - after.batches >= 100 && bulk.commits - after.commits < 20, "{bulk:?}");
    assert!(bulk.batches_per_commit.sum() >= 100.0);
}

#[test]
fn reads_are_counted_by_what_they_look_at_and_what_they_give() {
    let store = Store::temporary().unwrap();
    let company = store.create_table("Company").unwrap();
    for id in 0..50 {
        company.insert(&DynamicEntity::new("Sales", format!("{id:03}")).with("Age", id)).unwrap();
    }
    let before = metrics(&store);
    assert_eq!((before.point_reads, before.queries), (0, 0));
    company.get("Sales", "007").unwrap().unwrap();
    assert!(company.get("Sales", "nobody").unwrap().is_none());
    assert_eq!(metrics(&store).point_reads, 2);

    let old = Query::new().partition("Sales").filter("Age ge 40".parse::<Filter>().unwrap());
    assert_eq!(company.query(&old).unwrap().count(), 10);
    let queried = metrics(&store);
    assert_eq!((queried.queries, queried.rows_read, queried.rows_returned), (1, 50, 10));
    // Each page is a query, and so is what a snapshot lends.
    let page = company.page(&old, 3, None).unwrap();
    company.page(&old, 3, page.next.as_ref()).unwrap();
    let mut seen = 0;
    company.query_with(&old, |_| seen += 1).unwrap();
    company.page_with(&old, 4, None, |_| seen += 1).unwrap();
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.views(&company, &old).unwrap().count() + seen, 24);
    let paged = metrics(&store);
    assert_eq!((paged.queries, paged.rows_returned, paged.open_snapshots), (6, 10 + 3 + 3 + 10 + 4 + 10, 1));
    drop(snapshot);
    // One that ends early counts what it has given.
    assert!(company.query(&Query::new().partition("Sales")).unwrap().next().is_some());
    let early = metrics(&store);
    assert_eq!((early.rows_returned - paged.rows_returned, early.open_snapshots), (1, 0));
}

#[test]
fn errors_are_counted_by_their_kinds() {
    let store = Store::temporary().unwrap();
    let company = store.create_table("Company").unwrap();
    let entity = DynamicEntity::new("Sales", "1");
    company.insert(&entity).unwrap();
    company.insert(&entity).unwrap_err();
    company.insert(&entity).unwrap_err();
    company.replace(&DynamicEntity::new("Sales", "2"), IfMatch::Any).unwrap_err();
    company.batch("Sales").delete("3").commit().unwrap_err();
    let found = metrics(&store);
    assert_eq!(found.errors, [(ErrorKind::EntityAlreadyExists, 2), (ErrorKind::EntityNotFound, 2)]);
    assert!(found.to_string().contains("error_type=\"EntityAlreadyExists\"} 2\n"));
}

#[test]
fn conflicts_are_counted() {
    let store = Store::temporary().unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee(1)).unwrap();
    let mut tries = 0;
    staff
        .update(Employee::key("Sales", 1), |found| {
            tries += 1;
            if tries == 1 {
                // Another is quicker.
                staff
                    .replace(&Employee { email: "quick@contoso.com".into(), ..employee(1) }, IfMatch::Any)
                    .unwrap();
            }
            found.email = "slow@contoso.com".into();
        })
        .unwrap();
    assert_eq!((tries, metrics(&store).conflicts), (2, 1));
}

#[test]
fn submitted_writes_are_counted_and_those_that_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::options().submit_limit(1).open(dir.path().join("company.tables")).unwrap();
    let company = store.create_table("Company").unwrap();
    let (told, answers) = mpsc::channel();
    let (go, goes) = mpsc::channel::<()>();
    let insert = |row: &str| company.batch("Sales").insert(DynamicEntity::new("Sales", row));
    // The callback of the first holds those behind it.
    let first = told.clone();
    insert("1")
        .submit(move |answer| {
            first.send(answer.is_ok()).unwrap();
            goes.recv().unwrap();
        })
        .unwrap();
    assert!(answers.recv().unwrap());
    insert("2").submit(move |answer| told.send(answer.is_ok()).unwrap()).unwrap();
    assert_eq!(insert("3").submit(|_| ()).unwrap_err().kind(), ErrorKind::TooManyWrites);
    let waiting = metrics(&store);
    assert_eq!((waiting.submitted, waiting.submits_refused, waiting.submits_waiting), (2, 1, 1));
    assert!(waiting.errors.contains(&(ErrorKind::TooManyWrites, 1)));
    go.send(()).unwrap();
    assert!(answers.recv().unwrap());
    assert_eq!(metrics(&store).submits_waiting, 0);
}

#[test]
fn messages_and_the_rows_of_jobs_are_counted() {
    let store = Store::temporary().unwrap();
    let hires: Queue<String> = store.queue("hires").unwrap();
    hires.send_all(["a", "b", "c"].map(String::from).iter()).unwrap();
    assert!(hires.send_unique("a", &"d".into()).unwrap());
    assert!(!hires.send_unique("a", &"again".into()).unwrap());
    let second = std::time::Duration::from_secs(30);
    hires.receive(second).unwrap().unwrap().delete().unwrap();
    let rest = hires.receive_many(10, second).unwrap();
    assert_eq!(hires.delete_all(&rest).unwrap(), 3);
    let found = metrics(&store);
    assert_eq!((found.messages_sent, found.messages_received, found.messages_completed), (4, 4, 4));

    let staff = store.table::<Employee>().unwrap();
    staff.bulk_insert((0..10).map(employee)).unwrap().into_result().unwrap();
    staff.delete_partition(Employee::partition("Sales")).unwrap().run().unwrap();
    assert!(metrics(&store).job_rows >= 10);
}

#[test]
fn a_backend_that_counts_nothing_says_so() {
    let error = MapStore::new().tables().metrics().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
