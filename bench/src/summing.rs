//! Summaries: inserts of entities with none, with one row for each department, and with one row for all; alone and by sixteen
//! threads.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use table_core::typed::InOneTable;
use table_core::{Durability, Store};

use crate::Arguments;
use crate::measure::{count_of, nanoseconds};
use crate::place::Place;
use crate::profile::profiled;
use crate::report;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const THREADS: usize = 16;

mod plain {
    #[derive(table_core::Entity)]
    #[entity(table = "Plain", kind = "employee")]
    #[key(partition = "{company}", row = "empid_{id:08}")]
    pub(super) struct Employee {
        pub(super) company: String,
        pub(super) id: u32,
        pub(super) department: u32,
        pub(super) email: String,
        pub(super) salary: i64,
    }

    impl Employee {
        pub(super) fn new(id: u32) -> Self {
            Self {
                company: "contoso".to_owned(),
                id,
                department: id % 50,
                email: format!("{id}@contoso.com"),
                salary: i64::from(id % 977),
            }
        }
    }
}

/// The same, with two summaries.
mod summed {
    #[derive(table_core::Entity)]
    #[entity(table = "Summed", kind = "employee")]
    #[key(partition = "{company}", row = "empid_{id:08}")]
    #[summarized_in(OfDepartment, OfAll)]
    pub(super) struct Employee {
        pub(super) company: String,
        pub(super) id: u32,
        pub(super) department: u32,
        pub(super) email: String,
        pub(super) salary: i64,
    }

    impl Employee {
        pub(super) fn new(id: u32) -> Self {
            Self {
                company: "contoso".to_owned(),
                id,
                department: id % 50,
                email: format!("{id}@contoso.com"),
                salary: i64::from(id % 977),
            }
        }
    }

    #[derive(table_core::Entity)]
    #[entity(table = "Summed", kind = "department")]
    #[key(partition = "{company}", row = "department_{department:04}")]
    #[summary(of = Employee)]
    pub(super) struct OfDepartment {
        pub(super) company: String,
        pub(super) department: u32,
        #[summary(count)]
        pub(super) employees: u64,
        #[summary(sum = salary)]
        pub(super) salaries: i64,
    }

    #[derive(table_core::Entity)]
    #[entity(table = "Summed", kind = "total")]
    #[key(partition = "{company}", row = "total")]
    #[summary(of = Employee)]
    pub(super) struct OfAll {
        pub(super) company: String,
        #[summary(count)]
        pub(super) employees: u64,
        #[summary(sum = salary)]
        pub(super) salaries: i64,
    }
}

/// Inserts these, one after another; nanoseconds for each.
fn insert<E: InOneTable>(store: &Store, new: fn(u32) -> E, ids: std::ops::Range<u32>) -> Result<f64> {
    let staff = store.table::<E>()?;
    let employees: Vec<_> = ids.map(new).collect();
    let begun = Instant::now();
    profiled(|| {
        for employee in &employees {
            staff.insert(employee)?;
        }
        Ok(0)
    })?;
    Ok(nanoseconds(begun.elapsed()) / count_of(u64::try_from(employees.len())?))
}

/// Inserts in a second by sixteen threads, for as long as a cell takes.
fn together<E: InOneTable>(
    store: &Store,
    new: fn(u32) -> E,
    (next, arguments): (&AtomicU32, &Arguments),
) -> Result<f64>
where
    table_core::Table<E>: Sync,
{
    let (staff, is_over) = (store.table::<E>()?, AtomicBool::new(false));
    let begun = Instant::now();
    let inserted = thread::scope(|scope| -> Result<u64> {
        let writers: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| -> Result<u64> {
                    let mut inserted = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        staff.insert(&new(next.fetch_add(1, Ordering::Relaxed)))?;
                        inserted += 1;
                    }
                    Ok(inserted)
                })
            })
            .collect();
        thread::sleep(arguments.cell);
        is_over.store(true, Ordering::Relaxed);
        let done = writers.into_iter().map(|writer| writer.join().map_err(|_| "a writer has failed")?);
        done.sum()
    })?;
    Ok(count_of(inserted) * 1e9 / nanoseconds(begun.elapsed()))
}

/// What `--op` names: inserts of one kind alone, for `valgrind --tool=callgrind --toggle-collect='*profiled*'`.
fn one(store: &Store, arguments: &Arguments) -> Result<()> {
    let rows = u32::try_from(arguments.rows)?;
    let ids = rows..rows + u32::try_from(arguments.count)?;
    let each = match arguments.op.as_str() {
        "plain" => {
            store.table::<plain::Employee>()?.bulk_insert((0..rows).map(plain::Employee::new))?;
            insert(store, plain::Employee::new, ids)?
        }
        "summed" => {
            store.table::<summed::Employee>()?.bulk_insert((0..rows).map(summed::Employee::new))?;
            insert(store, summed::Employee::new, ids)?
        }
        other => return Err(format!("there is no operation `{other}` of that").into()),
    };
    println!("{}: {} operations, {each:.0} ns each", arguments.op, arguments.count);
    Ok(())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::in_memory()?;
    let store = Store::options().durability(Durability::Relaxed).open(place.join("summing"))?;
    // What is asked for if nothing is said is another part's.
    if arguments.op != "get" {
        return one(&store, arguments);
    }
    println!("\n## Summaries");
    report::machine(
        place.path(),
        "relaxed, in memory; entities of one partition, with two rows of summaries that each insert adds to, of which one is \
         the same for all; the best of five",
    );
    let next = AtomicU32::new(0);
    let mut best = [0_f64; 2];
    for _ in 0..5 {
        let found = [
            together(&store, plain::Employee::new, (&next, arguments))?,
            together(&store, summed::Employee::new, (&next, arguments))?,
        ];
        for (best, found) in best.iter_mut().zip(found) {
            *best = best.max(found);
        }
    }
    let count = u64::from(next.load(Ordering::Relaxed));
    let total = store.table::<summed::OfAll>()?.get(summed::OfAll::key("contoso"))?;
    let said = total.map_or(0, |total| total.employees);
    if said == 0 || said > count {
        return Err(format!("the summary says {said} of {count} employees").into());
    }
    let [plain, summed] = best;
    println!("| 16 threads | inserts a second | of those without |\n| --- | ---: | ---: |");
    println!("| no summary | {plain:.0} | 1.00 |\n| two summaries | {summed:.0} | {:.2} |", summed / plain);
    Ok(())
}
