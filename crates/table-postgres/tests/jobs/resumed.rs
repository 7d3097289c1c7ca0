//! Jobs that another handle goes on with, or gives up.

use std::thread;

use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch};

use crate::releases::{Two, by_email, fill, second};

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Orders", kind = "order")]
#[key(partition = "{customer}", row = "order_{id:06}")]
#[index(by_day, row = "day_{day:03}_{id:06}")]
#[summarized_in(Total)]
struct Order {
    customer: String,
    id: u32,
    day: u16,
    amount: i64,
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Orders", kind = "total")]
#[key(partition = "{customer}", row = "total")]
#[summary(of = Order)]
struct Total {
    customer: String,
    #[summary(count)]
    orders: u64,
    #[summary(sum = amount)]
    amount: i64,
}

fn order(id: u32) -> Order {
    Order { customer: "ann".into(), id, day: u16::try_from(id % 30).unwrap(), amount: i64::from(id) }
}

#[test]
fn a_job_goes_on_in_another_process_where_it_was() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 400);
    let mut job = second(&ours).rebuild().unwrap().steps_of(60);
    while ours.jobs().unwrap()[0].changed < 120 {
        assert!(job.step().unwrap());
    }
    // The process ends between two steps.
    drop(job);
    drop(ours);
    let [begun] = &theirs.jobs().unwrap()[..] else { panic!("one job") };
    assert_eq!((&*begun.table, &*begun.name), ("Company", "rebuild employee by_email"));
    let changed = begun.changed;
    let progress = second(&theirs).rebuild().unwrap().run().unwrap();
    // No entity is done twice.
    assert!(changed >= 120 && progress.changed == 400, "{changed} {progress}");
    assert!(theirs.jobs().unwrap().is_empty());
    let staff = second(&theirs);
    assert_eq!(staff.by_email().department("Sales").count().unwrap(), 400);
    assert_eq!(by_email(&staff, "400@example.com").unwrap(), Some(400));
}

#[test]
fn two_processes_share_a_job() {
    // Few entities: both are at the end of a part at one time in many of the rounds.
    for many in [20; 12].into_iter().chain([600]) {
        let Two { ours, theirs } = Two::open();
        fill(&ours, many);
        let run = |tables: &table_postgres::PostgresTables| {
            let mut job = second(tables).rebuild().unwrap().steps_of(20);
            while job.step().unwrap() {}
        };
        thread::scope(|scope| {
            scope.spawn(|| run(&ours));
            scope.spawn(|| run(&theirs));
        });
        let staff = second(&ours);
        assert_eq!(staff.by_email().department("Sales").count().unwrap(), u64::from(many));
        assert!(staff.check().unwrap().is_sound() && ours.jobs().unwrap().is_empty());
    }
}

#[test]
fn a_job_that_is_given_up_leaves_what_it_has_done() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 300);
    let mut job = second(&ours).rebuild().unwrap().steps_of(50);
    while ours.jobs().unwrap()[0].changed == 0 {
        assert!(job.step().unwrap());
    }
    second(&theirs).rebuild().unwrap().cancel().unwrap();
    // Who goes on with it finds it ended.
    assert!(!job.step().unwrap());
    let [left] = &theirs.jobs().unwrap()[..] else { panic!("the index is being dropped") };
    assert_eq!(left.name, "drop employee by_email");
    assert_eq!(by_email(&second(&ours), "1@example.com").unwrap_err().kind(), ErrorKind::IndexBuilding);
    let error = second(&ours).drop_index("by_email").unwrap().cancel().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    second(&theirs).drop_index("by_email").unwrap().run().unwrap();
    assert_eq!(ours.dynamic_table("Company").unwrap().query(&table_core::Query::new()).unwrap().count(), 300);

    let staff = second(&ours);
    let mut deletion = staff.delete_partition(second::Employee::partition("Sales")).unwrap().steps_of(100);
    assert!(deletion.step().unwrap());
    let listed = theirs.jobs().unwrap();
    theirs.cancel_job(&listed[0]).unwrap();
    assert!(!deletion.step().unwrap());
    assert_eq!(staff.rows().department("Sales").count().unwrap(), 200);
}

#[test]
fn everything_that_a_step_changes_happens_with_it() {
    let Two { ours, theirs } = Two::open();
    let orders = ours.table::<Order>().unwrap();
    orders.bulk_insert((0..400).map(order)).unwrap().into_result().unwrap();
    let totals = ours.table::<Total>().unwrap();
    let total = || totals.get(Total::key("ann")).unwrap().map(|total| (total.orders, total.amount));
    assert_eq!(total(), Some((400, (0..400).sum())));
    let late = || theirs.table::<Order>().unwrap();
    let job = late().delete_where(late().rows().customer("ann").filter(|o| o.amount.ge(200)).entities());
    let mut job = job.unwrap().steps_of(70);
    while job.step().unwrap() {
        let left = orders.rows().customer("ann").count().unwrap();
        assert_eq!(total().unwrap().0, left);
        assert_eq!(orders.by_day().customer("ann").count().unwrap(), left);
    }
    assert_eq!(total(), Some((200, (0..200).sum())));
    assert!(orders.check().unwrap().is_sound());
}

#[test]
fn a_repair_mends_what_raw_writes_have_broken() {
    let Two { ours, theirs } = Two::open();
    let orders = ours.table::<Order>().unwrap();
    orders.bulk_insert((0..60).map(order)).unwrap().into_result().unwrap();
    let raw = orders.dynamic().raw();
    for id in 0..20 {
        raw.delete("ann", &format!("day_{:03}_{id:06}", id % 30)).unwrap();
    }
    raw.merge(&DynamicEntity::new("ann", "order_000050").with("Amount", 1_000_i64), IfMatch::Any).unwrap();
    let found = orders.check().unwrap();
    assert!(!found.is_sound() && found.missing == 20, "{found}");
    let mut job = orders.repair().unwrap().steps_of(8);
    assert!(job.step().unwrap());
    drop(job);
    let report = theirs.table::<Order>().unwrap().repair().unwrap().run().unwrap();
    assert!(report.missing == 20 && report.mended >= 21, "{report}");
    assert!(orders.check().unwrap().is_sound() && ours.jobs().unwrap().is_empty());
    assert_eq!(orders.by_day().customer("ann").count().unwrap(), 60);
}
