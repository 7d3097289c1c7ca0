//! A change that takes long to plan, of an entity that others write at once.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use integration_tests::company::Department;
use integration_tests::{Scratch, on_other_executors};
use table_core::DynamicEntity;

/// Others write the entity again and again; the change loses 8 times, and then they are held while it plans again.
#[test]
fn a_slow_change_of_a_busy_entity_comes_through_and_loses_nothing() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Department>().unwrap();
    table.insert(&Department { name: "Sales".into(), head_count: 0 }).unwrap();
    let (stop, added) = (AtomicBool::new(false), AtomicU32::new(0));
    let other = store.create_table("Others").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    table.update(Department::key("Sales"), |department| department.head_count += 1).unwrap();
                    added.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..3 {
            let (begun, mut runs) = (Instant::now(), 0);
            let change = |department: &mut Department| {
                runs += 1;
                std::thread::sleep(Duration::from_millis(20));
                // The holder's own thread passes.
                let row = DynamicEntity::new("p", "r").with("Runs", runs);
                other.put(&row).unwrap();
                department.head_count += 1_000;
            };
            if round < 2 {
                table.update(Department::key("Sales"), change).unwrap();
            } else {
                store.transaction().update(Department::key("Sales"), change).commit().unwrap();
            }
            println!("{runs} attempts in {:?}", begun.elapsed());
            assert!(runs < 20, "{runs} attempts");
        }
        stop.store(true, Ordering::Relaxed);
    });
    let count = table.get(Department::key("Sales")).unwrap().unwrap().head_count;
    assert_eq!(count, 3_000 + added.load(Ordering::Relaxed));
}

on_other_executors! { a_slow_change_of_a_busy_entity_comes_through_and_loses_nothing }
