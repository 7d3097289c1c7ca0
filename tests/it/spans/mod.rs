//! What a store tells to those who listen by the crate `tracing`: its spans here, its events and what must be in neither beside.

mod canary;
mod events;
mod listener;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use integration_tests::company::Employee;
use integration_tests::{MapStore, Scratch};
use table_core::queue::Queue;
use table_core::{DynamicEntity, ErrorKind, Filter, Query, Store};
use tracing::Level;

use self::listener::{Listener, Told};

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com"), age: 40 }
}

/// Runs this inside a span of the program's own; that span's number.
fn in_request<R>(listener: &Listener, run: impl FnOnce() -> R) -> (u64, R) {
    let made = tracing::info_span!("request").in_scope(run);
    (listener.one("request").number, made)
}

/// What all spans say of the store, but for their own fields.
#[track_caller]
fn assert_common(told: &Told, collection: &str, operation: &str) {
    assert_eq!(told.level, Level::DEBUG);
    let fields = ["db.system.name", "db.namespace", "db.collection.name", "db.operation.name"];
    let found = fields.map(|field| told.field(field).unwrap_or_default());
    assert_eq!(found, ["table-core", "store", collection, operation], "{told:?}");
    assert!(told.has_ended(), "{told:?}");
}

#[test]
fn a_commit_is_a_span_of_its_caller_and_says_what_it_took() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::DEBUG));
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    listener.hear(|| {
        let (request, _) = in_request(&listener, || staff.insert(&employee(1)).unwrap());
        let told = listener.one("commit");
        assert_common(&told, "Company", "insert");
        assert_eq!((told.target, told.parent), ("table_core::commit", Some(request)));
        assert_eq!([told.number("rows"), told.number("copies"), told.number("shared_with")], [2, 1, 0]);
        assert!(told.number("flush_us") > 0 && told.number("flush_us") < 60_000_000, "{told:?}");
        assert!(told.field("wait_us").is_some() && told.field("apply_us").is_some(), "{told:?}");
        for absent in ["db.operation.batch.size", "error.type", "db.response.status_code", "messages"] {
            assert_eq!(told.field(absent), None, "{told:?}");
        }

        // One that is refused says why, and that nothing was written with it.
        staff.insert(&employee(1)).unwrap_err();
        let told = listener.one("commit");
        assert_common(&told, "Company", "insert");
        assert_eq!(told.field("error.type"), Some("EntityAlreadyExists"));
        assert_eq!((told.field("db.response.status_code"), told.field("flush_us")), (Some("409"), None));

        // Of one row by its properties.
        let company = store.create_table("Other").unwrap();
        company.put(&DynamicEntity::new("a", "1")).unwrap();
        assert_common(&listener.one("commit"), "Other", "put");
        company.delete("a", "1").unwrap();
        assert_common(&listener.one("commit"), "Other", "delete");

        // Several changes are one write.
        let batch =
            company.batch("a").insert(DynamicEntity::new("a", "2")).insert(DynamicEntity::new("a", "3"));
        batch.commit().unwrap();
        let told = listener.one("commit");
        assert_common(&told, "Other", "BATCH");
        assert_eq!((told.number("db.operation.batch.size"), told.number("rows")), (2, 2));

        // An update reads, and then writes.
        listener.forget();
        staff.update(Employee::key("Sales", 1), |e| e.email = "jones@contoso.com".into()).unwrap();
        let read = listener.one("query");
        assert_common(&read, "Company", "get");
        assert_eq!(read.field("class"), Some("point read"));
        let told = listener.one("commit");
        assert_common(&told, "Company", "replace");
        assert_eq!((told.number("rows"), told.number("copies")), (3, 2));

        // By its properties, an entity of a declared kind is refused first, and then planned with its copies.
        let row = DynamicEntity::new("Sales", "empid_000009").with("EntityType", "employee");
        let row = row.with("Email", "9@contoso.com").with("Age", 40);
        store.dynamic_table("Company").unwrap().insert(&row).unwrap();
        let told = listener.take("commit");
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0].field("error.type"), Some("DeclaredKind"));
        assert_common(&told[1], "Company", "insert");
        assert_eq!((told[1].number("rows"), told[1].number("copies")), (2, 1));

        let report = staff.bulk_insert((10..60).map(employee)).unwrap();
        assert_eq!(report.committed, 50);
        let told = listener.one("commit");
        assert_common(&told, "Company", "BULK");
        assert_eq!((told.number("db.operation.batch.size"), told.number("rows")), (50, 100));
        assert_eq!(told.number("shared_with"), 49);
        assert!(told.number("flush_us") > 0);
    });
}

#[test]
fn a_write_is_its_callers_whichever_thread_leads_the_commit() {
    const THREADS: usize = 6;
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::DEBUG));
    let company = scratch.store().create_table("Company").unwrap();
    let mut rounds = 0;
    // Threads share a commit as soon as two come at one time.
    loop {
        rounds += 1;
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (listener, company) = (&listener, &company);
                scope.spawn(move || {
                    listener.hear(|| {
                        for row in 0..20 {
                            let span = tracing::info_span!("request", thread);
                            let _inside = span.enter();
                            let row = DynamicEntity::new("p", format!("{rounds} {thread} {row}"));
                            company.insert(&row).unwrap();
                        }
                    });
                });
            }
        });
        let (requests, commits) = (listener.take("request"), listener.take("commit"));
        assert_eq!(commits.len(), THREADS * 20);
        for request in &requests {
            assert_eq!(commits.iter().filter(|told| told.parent == Some(request.number)).count(), 1);
        }
        assert!(commits.iter().all(|told| told.has_ended() && told.number("rows") == 1));
        if commits.iter().any(|told| told.number("shared_with") > 0) {
            return;
        }
        assert!(rounds < 50, "no thread has ever shared a commit");
    }
}

#[test]
fn a_submitted_write_ends_with_its_answer() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::DEBUG));
    let company = scratch.store().create_table("Company").unwrap();
    let (told, answers) = mpsc::channel();
    let submit = |row: &str| {
        let told = told.clone();
        let batch = company.batch("p").insert(DynamicEntity::new("p", row));
        batch.submit(move |answer| told.send(answer.is_ok()).unwrap()).unwrap();
        answers.recv().unwrap()
    };
    let (request, answer) = listener.hear(|| in_request(&listener, || submit("1")));
    assert!(answer);
    let told = listener.one("commit");
    assert_common(&told, "Company", "insert");
    assert_eq!((told.parent, told.number("rows")), (Some(request), 1));
    assert!(told.number("flush_us") > 0);
    assert!(!listener.hear(|| submit("1")));
    assert_eq!(listener.one("commit").field("error.type"), Some("EntityAlreadyExists"));
}

#[test]
fn a_query_says_how_it_reads_and_what_it_gives() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::DEBUG));
    let store = scratch.store();
    let company = store.create_table("Company").unwrap();
    for id in 0..50 {
        company.insert(&DynamicEntity::new("Sales", format!("{id:03}")).with("Age", id)).unwrap();
    }
    let told = |class: &str, read: u64, given: u64| {
        let told = listener.one("query");
        assert_common(&told, "Company", "query");
        assert_eq!(told.target, "table_core::query");
        let found = (told.field("class").unwrap(), told.number("rows_read"), told.number("rows_returned"));
        assert_eq!(found, (class, read, given));
    };
    let partition = || Query::new().partition("Sales");
    let old = || partition().filter("Age ge 40".parse::<Filter>().unwrap());
    listener.hear(|| {
        assert_eq!(company.query(&old()).unwrap().count(), 10);
        told("partition scan", 50, 10);
        assert_eq!(company.query(&Query::new()).unwrap().count(), 50);
        told("table scan", 50, 50);
        company
            .query_with(&partition().filter("RowKey ge '048'".parse::<Filter>().unwrap()), |_| {})
            .unwrap();
        told("range", 2, 2);
        let page = company.page(&old(), 3, None).unwrap();
        told("partition scan", 43, 3);
        company.page_with(&old(), 3, page.next.as_ref(), |_| {}).unwrap();
        told("partition scan", 3, 3);
        let snapshot = store.snapshot().unwrap();
        assert_eq!(snapshot.views(&company, &old()).unwrap().count(), 10);
        told("partition scan", 50, 10);
        assert_eq!(snapshot.query(&company, &Query::new().top(0)).unwrap().count(), 0);
        told("nothing", 0, 0);

        // An iterator takes its span with it, and the thread is in none.
        let (request, rows) = in_request(&listener, || company.query(&partition()).unwrap());
        let (_, number) = in_request(&listener, || {
            thread::scope(|scope| scope.spawn(move || rows.take(5).count()).join().unwrap())
        });
        let one = listener.one("query");
        assert_eq!((number, one.parent, one.number("rows_returned")), (5, Some(request), 5));

        for (row, found) in [("007", 1), ("nobody", 0)] {
            company.get("Sales", row).unwrap();
            let told = listener.one("query");
            assert_common(&told, "Company", "get");
            assert_eq!((told.field("class"), told.number("rows_returned")), (Some("point read"), found));
        }
        drop(snapshot);
        let other = Store::temporary().unwrap();
        let snapshot = other.snapshot().unwrap();
        assert_eq!(snapshot.get(&company, "a", "b").unwrap_err().kind(), ErrorKind::InvalidQuery);
    });
}

#[test]
fn queues_and_blobs_have_spans_by_what_is_done() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::DEBUG));
    let store = scratch.store();
    let hires: Queue<String> = store.queue("hires").unwrap();
    let photos = store.container("photos").unwrap();
    let minute = Duration::from_secs(60);
    listener.hear(|| {
        let (request, _) = in_request(&listener, || hires.send(&"jones".into()).unwrap());
        let told = listener.one("queue.send");
        assert_common(&told, "hires", "send");
        assert_eq!((told.target, told.parent), ("table_core::queue", Some(request)));
        assert_eq!((told.number("messages"), told.number("shared_with")), (1, 0));
        assert!(told.number("flush_us") > 0);
        assert_eq!(hires.peek(3).unwrap().len(), 1);
        assert_common(&listener.one("queue.peek"), "hires", "peek");
        let hire = hires.receive(minute).unwrap().unwrap();
        let told = listener.one("queue.receive");
        assert_common(&told, "hires", "receive");
        assert_eq!(told.number("messages"), 1);
        hire.extend(minute).unwrap();
        hire.release(Duration::ZERO).unwrap();
        let hire = hires.receive(minute).unwrap().unwrap();
        assert_common(&listener.one("queue.receive"), "hires", "receive");
        hire.delete().unwrap();
        assert_common(&listener.one("queue.complete"), "hires", "complete");
        hire.delete().unwrap_err();
        let told = listener.one("queue.complete");
        assert!(told.field("error.type").is_some(), "{told:?}");
        // In the transaction of a change, it is part of that.
        hires.send(&"hall".into()).unwrap();
        let hire = hires.receive(minute).unwrap().unwrap();
        let staff = store.table::<Employee>().unwrap();
        let egt = staff.egt(Employee::partition("Sales"));
        egt.insert(&employee(1)).complete(&hire).commit().unwrap();
        let told = listener.one("commit");
        assert_common(&told, "Company", "insert");
        assert_eq!((told.number("messages"), told.number("rows")), (1, 2));
        drop((listener.take("queue.send"), listener.take("queue.receive")));
        hires.pause().unwrap();
        hires.resume().unwrap();
        hires.stats().unwrap();
        hires.clear().unwrap();
        for name in ["extend", "release", "pause", "resume", "stats", "clear"] {
            assert_common(&listener.one(&format!("queue.{name}")), "hires", name);
        }

        let (request, ()) = in_request(&listener, || photos.put("a", b"bytes").unwrap());
        let told = listener.one("blob.put");
        assert_common(&told, "photos", "put");
        assert_eq!((told.target, told.parent), ("table_core::blob", Some(request)));
        assert!(told.number("flush_us") > 0);
        photos.upload("b", "image/jpeg", &b"bytes"[..]).unwrap();
        photos.append("b", b"more").unwrap();
        photos.find("b").unwrap();
        photos.get("b").unwrap();
        photos.open("b").unwrap();
        photos.list("").unwrap();
        photos.delete("b").unwrap();
        for name in ["upload", "append", "find", "get", "open", "list", "delete"] {
            assert_common(&listener.one(&format!("blob.{name}")), "photos", name);
        }
        assert_eq!(photos.open("b").unwrap_err().kind(), ErrorKind::BlobNotFound);
        assert_eq!(listener.one("blob.open").field("error.type"), Some("BlobNotFound"));
        store.upload("image/jpeg", &b"bytes"[..]).unwrap().get(&store).unwrap();
        assert_common(&listener.one("blob.upload"), "", "upload");
        assert_common(&listener.one("blob.get"), "", "get");
        assert!(listener.all().iter().all(|told| told.name != "queue.other" && told.name != "blob.other"));
    });
}

#[test]
fn jobs_and_openings_have_spans() {
    let (scratch, listener) = (Scratch::new(), Listener::new(Level::DEBUG));
    listener.hear(|| {
        let (request, store) = in_request(&listener, || scratch.store());
        let told = listener.one("open");
        assert_common(&told, "", "open");
        assert_eq!((told.target, told.parent), ("table_core::open", Some(request)));

        let staff = store.table::<Employee>().unwrap();
        staff.bulk_insert((0..1_200).map(employee)).unwrap().into_result().unwrap();
        listener.forget();
        let job = staff.delete_partition(Employee::partition("Sales")).unwrap();
        listener.forget();
        let (request, _) = in_request(&listener, || job.run().unwrap());
        let told = listener.one("job");
        assert_common(&told, "Company", "delete-partition");
        assert_eq!((told.target, told.parent), ("table_core::job", Some(request)));
        assert!(told.number("rows_read") >= 1_200, "{told:?}");
        // A step is a commit inside the job.
        let steps = listener.take("commit");
        assert!(steps.len() >= 3 && steps.iter().all(|step| step.parent == Some(told.number)), "{steps:?}");
        staff.bulk_insert((0..100).map(employee)).unwrap().into_result().unwrap();
        staff.rebuild().unwrap().run().unwrap();
        staff.repair().unwrap().run().unwrap();
        assert!(staff.check().unwrap().problems.is_empty());
        let jobs = listener.take("job");
        assert!(jobs.len() == 3 && jobs.iter().all(Told::has_ended), "{jobs:?}");
        assert_common(&jobs[2], "Company", "check");
        assert!(listener.take("full_scan").is_empty(), "jobs read whole tables");

        assert!(store.check().unwrap().problems.is_empty());
        assert_common(&listener.one("job"), "", "check");
        store.copy_to(scratch.path().join("copy")).unwrap();
        assert_common(&listener.one("job"), "", "copy_to");
        store.reclaim().unwrap();
        assert_common(&listener.one("job"), "", "reclaim");
        drop((staff, store));
        scratch.store().compact().unwrap();
        assert_common(&listener.one("job"), "", "compact");
        listener.forget();

        let missing = scratch.path().join("missing");
        Store::options().create(false).open(missing).unwrap_err();
        let told = listener.one("open");
        assert_eq!(told.field("db.namespace"), Some("missing"));
        assert!(told.field("error.type").is_some());
    });
}

#[test]
fn who_listens_to_less_hears_less() {
    let scratch = Scratch::new();
    let company = scratch.store().create_table("Company").unwrap();
    let work = || {
        company.put(&DynamicEntity::new("p", "r")).unwrap();
        company.get("p", "r").unwrap();
        assert_eq!(company.query(&Query::new()).unwrap().count(), 1);
    };
    let names = |level: Level| {
        let listener = Listener::new(level);
        listener.hear(work);
        listener.all().iter().map(|told| told.name).collect::<Vec<_>>()
    };
    assert_eq!(names(Level::ERROR), Vec::<&str>::new());
    assert_eq!(names(Level::WARN), ["full_scan"]);
    assert_eq!(names(Level::TRACE), ["commit", "query", "query", "full_scan"]);
    // A backend that lends nothing to tell by tells nothing.
    let listener = Listener::new(Level::TRACE);
    listener.hear(|| {
        let table = MapStore::new().tables().create_table("Company").unwrap();
        table.put(&DynamicEntity::new("p", "r")).unwrap();
        assert_eq!(table.query(&Query::new()).unwrap().count(), 1);
    });
    assert!(listener.all().is_empty(), "{:?}", listener.all());
}
