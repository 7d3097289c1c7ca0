//! Jobs and propagation, awaited.

use integration_tests::Scratch;
use table_core::asynchronous::{AsyncTable, block_on};
use table_core::store::Propagate;
use table_core::typed::Propagation;
use table_core::{DynamicEntity, Entity, IfMatch, Store};

use super::steps::{is_send, polled};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, table = "Names", partition = "{email}", row = "{department}_{id:06}", eventual)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com") }
}

fn staff(store: &Store) -> AsyncTable<Employee> {
    let staff = store.table::<Employee>().unwrap();
    staff.bulk_insert((0..1_200).map(employee)).unwrap().into_result().unwrap();
    staff.to_async()
}

#[test]
fn a_job_says_after_each_step_how_far_it_is_and_is_gone_on_with() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    block_on(async {
        let delete = || staff.delete_partition(Employee::partition("Sales"));
        let mut job = delete().await?.steps_of(100);
        let (mut last, mut steps) = (0, 0);
        while steps < 3 {
            let progress = job.next().await?.unwrap();
            // A step ends by time, too: on a slow machine it may have looked at copies by e-mail alone.
            assert!(progress.changed >= last && progress.changed <= last + 100, "{progress}");
            assert_eq!((job.progress(), job.report()), (&progress, Some(&progress)));
            steps += u32::from(progress.changed > last);
            last = progress.changed;
        }
        drop(job);
        let tables = store.to_async();
        let [begun] = &tables.jobs().await?[..] else { panic!("one job") };
        assert_eq!((begun.changed, staff.all().count().await?), (last, 1_200 - last));
        // A step whose future is dropped comes to its end, and the next call waits for it.
        let mut job = delete().await?.steps_of(100);
        if polled(job.next(), 1, false).is_none() {
            assert!(job.report().is_none());
        }
        assert!(job.next().await?.unwrap().changed > last);
        let done = job.run().await?;
        assert_eq!((done.changed, staff.all().count().await?), (1_200, 0));
        assert!(tables.jobs().await?.is_empty());
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn a_job_is_given_up_wherever_it_is() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    block_on(async {
        let tables = store.to_async();
        let young =
            || staff.delete_where(staff.rows().department("Sales").filter(|e| e.id.lt(600)).entities());
        let mut job = young().await?.steps_of(100);
        job.next().await?;
        job.cancel().await?;
        assert!(tables.jobs().await?.is_empty());
        let mut job = young().await?.gentle();
        drop(polled(job.next(), 1, false));
        job.cancel().await?;
        assert!(tables.jobs().await?.is_empty());
        drop(young().await?);
        let jobs = tables.jobs().await?;
        tables.cancel_job(&jobs[0]).await?;
        assert!(tables.jobs().await?.is_empty());
        young().await?.run().await?;
        assert_eq!(staff.all().count().await?, 600);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn copies_are_checked_mended_and_made_again() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    block_on(async {
        let raw = staff.dynamic().raw();
        let change = DynamicEntity::new("Sales", "empid_000007").with("Email", "cao@contoso.com");
        raw.merge(&change, IfMatch::Any).await?;
        assert!(!staff.check().await?.is_sound());
        assert!(staff.repair().await?.run().await?.mended >= 2);
        assert!(staff.check().await?.is_sound());
        staff.rebuild().await?.run().await?;
        store.to_async().migrate::<Employee>().await?.run().await?;
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn deferred_copies_are_propagated() {
    let scratch = Scratch::new();
    let store = Store::options().propagate(Propagate::Manual).open(scratch.path()).unwrap();
    let staff = staff(&store);
    block_on(async {
        let tables = store.to_async();
        assert_eq!(tables.pending_propagation().await?.entities, 1_200);
        assert_eq!(tables.retry_failed().await?, 0);
        assert_eq!(tables.propagate().await?, Propagation::Complete);
        assert_eq!(tables.pending_propagation().await?.entities, 0);
        assert!(staff.exists(Employee::by_name("7@contoso.com", "Sales", 7)).await?);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn every_future_may_go_to_another_thread() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (tables, staff) = (store.to_async(), store.table::<Employee>().unwrap().to_async());
    drop(is_send(staff.rebuild()));
    drop(is_send(staff.repair()));
    drop(is_send(staff.check()));
    drop(is_send(staff.delete_where(staff.all().entities())));
    drop(is_send(tables.migrate::<Employee>()));
    drop(is_send(tables.propagate()));
    let mut job = is_send(block_on(staff.rebuild()).unwrap());
    drop(is_send(job.next()));
    drop(is_send(job.run()));
}
