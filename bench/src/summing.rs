//! Summaries: inserts of entities of one partition with none, with one row for all of them, and with one for each department
//! besides; by one thread and by sixteen.

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

/// Declares an employee in a module of its own, with the summaries that `$summarized` says.
macro_rules! employee {
    ($name:ident, $table:literal, { $($summarized:tt)* }, $($summary:item)*) => {
        mod $name {
            #[derive(table_core::Entity)]
            #[entity(table = $table, kind = "employee")]
            #[key(partition = "{company}", row = "empid_{id:08}")]
            $($summarized)*
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

            $($summary)*
        }
    };
}

employee!(plain, "Plain", {},);
employee!(
    one,
    "One",
    { #[summarized_in(OfAll)] },
    #[derive(table_core::Entity)]
    #[entity(table = "One", kind = "total")]
    #[key(partition = "{company}", row = "total")]
    #[summary(of = Employee)]
    pub(super) struct OfAll {
        pub(super) company: String,
        #[summary(count)]
        pub(super) employees: u64,
        #[summary(sum = salary)]
        pub(super) salaries: i64,
    }
);
employee!(
    two,
    "Two",
    { #[summarized_in(OfDepartment, OfAll)] },
    #[derive(table_core::Entity)]
    #[entity(table = "Two", kind = "department")]
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
    #[entity(table = "Two", kind = "total")]
    #[key(partition = "{company}", row = "total")]
    #[summary(of = Employee)]
    pub(super) struct OfAll {
        pub(super) company: String,
        #[summary(count)]
        pub(super) employees: u64,
        #[summary(sum = salary)]
        pub(super) salaries: i64,
    }
);

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
    next: &AtomicU32,
    arguments: &Arguments,
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
fn alone(store: &Store, arguments: &Arguments) -> Result<()> {
    let rows = u32::try_from(arguments.rows)?;
    let ids = rows..rows + u32::try_from(arguments.count)?;
    macro_rules! loaded {
        ($name:ident) => {{
            store
                .table::<$name::Employee>()?
                .bulk_insert((0..rows).map($name::Employee::new))?
                .into_result()?;
            insert(store, $name::Employee::new, ids)?
        }};
    }
    let each = match arguments.op.as_str() {
        "plain" => loaded!(plain),
        "one" => loaded!(one),
        "two" => loaded!(two),
        other => return Err(format!("there is no operation `{other}` of that").into()),
    };
    println!("{}: {} operations, {each:.0} ns each", arguments.op, arguments.count);
    Ok(())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::in_memory()?;
    let options = Store::options().durability(Durability::Relaxed).map_size(1 << 30);
    let store = options.open(place.join("summing"))?;
    // What is asked for if nothing is said is another part's.
    if arguments.op != "get" {
        return alone(&store, arguments);
    }
    println!("\n## Summaries");
    report::machine(
        place.path(),
        "relaxed, in memory; entities of one partition, whose inserts add to one row that is the same for all, and to one of \
         50 besides; the best of five",
    );
    let (next, count) = (AtomicU32::new(0), u32::try_from(arguments.rows)?);
    let (mut single, mut best) = ([f64::INFINITY; 3], [0_f64; 3]);
    for _ in 0..5 {
        let ids = || {
            let first = next.fetch_add(count, Ordering::Relaxed);
            first..first + count
        };
        let found = [
            insert(&store, plain::Employee::new, ids())?,
            insert(&store, one::Employee::new, ids())?,
            insert(&store, two::Employee::new, ids())?,
        ];
        for (best, found) in single.iter_mut().zip(found) {
            *best = best.min(found);
        }
        let found = [
            together(&store, plain::Employee::new, &next, arguments)?,
            together(&store, one::Employee::new, &next, arguments)?,
            together(&store, two::Employee::new, &next, arguments)?,
        ];
        for (best, found) in best.iter_mut().zip(found) {
            *best = best.max(found);
        }
    }
    let inserted = store.table::<one::Employee>()?.rows().across_partitions().count()?;
    let total = store.table::<one::OfAll>()?.get(one::OfAll::key("contoso"))?;
    if total.map(|total| total.employees) != Some(inserted) {
        return Err(format!("the summary does not say that there are {inserted} employees").into());
    }
    println!("| | an insert, ns | of the plain one | 16 threads: inserts a second | of those without |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let ([alone, ..], [plain, ..]) = (single, best);
    for ((what, each), a_second) in
        ["no summary", "one summary", "two summaries"].into_iter().zip(single).zip(best)
    {
        println!("| {what} | {each:.0} | {:.2} | {a_second:.0} | {:.2} |", each / alone, a_second / plain);
    }
    Ok(())
}
