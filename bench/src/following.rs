//! Copies in another table: inserts with none, with one that comes in the same transaction, and with one that follows; and how
//! many a propagator makes in a second.

use std::error::Error;
use std::time::Instant;

use table_core::store::Propagate;
use table_core::typed::InOneTable;
use table_core::{Durability, Store};

use crate::Arguments;
use crate::measure::{count_of, nanoseconds};
use crate::place::Place;
use crate::profile::profiled;
use crate::report;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Declares an employee in a module of its own, with a copy in another table if `$index` says so.
macro_rules! employee {
    ($name:ident, $table:literal, $($index:tt)*) => {
        mod $name {
            #[derive(table_core::Entity)]
            #[entity(table = $table, kind = "employee")]
            #[key(partition = "{department}", row = "empid_{id:06}")]
            $($index)*
            pub(super) struct Employee {
                pub(super) department: String,
                pub(super) id: u32,
                pub(super) last_name: String,
                pub(super) email: String,
                pub(super) age: u32,
            }

            impl Employee {
                pub(super) fn new(id: u32) -> Self {
                    Self {
                        department: format!("dept{:02}", id % 50),
                        id,
                        last_name: format!("name{:04}", id % 1_000),
                        email: format!("{id}@contoso.com"),
                        age: 20 + id % 50,
                    }
                }
            }
        }
    };
}

employee!(plain, "Plain",);
employee!(
    atomic,
    "Atomic",
    #[index(by_name, table = "AtomicNames", partition = "{last_name}", row = "{department}_{id:06}", copy(email), atomic)]
);
employee!(
    eventual,
    "Eventual",
    #[index(by_name, table = "EventualNames", partition = "{last_name}", row = "{department}_{id:06}", copy(email), eventual)]
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

/// What `--op` names: inserts of one kind alone, or propagation, for `valgrind --tool=callgrind --toggle-collect='*profiled*'`.
fn one(store: &Store, arguments: &Arguments) -> Result<()> {
    let rows = u32::try_from(arguments.rows)?;
    let ids = rows..rows + u32::try_from(arguments.count)?;
    let mut operations = arguments.count;
    macro_rules! loaded {
        ($name:ident) => {{
            store
                .table::<$name::Employee>()?
                .bulk_insert((0..rows).map($name::Employee::new))?
                .into_result()?;
            store.propagate()?;
            insert(store, $name::Employee::new, ids)?
        }};
    }
    let each = match arguments.op.as_str() {
        "plain" => loaded!(plain),
        "atomic" => loaded!(atomic),
        "eventual" => loaded!(eventual),
        "propagate" => {
            store
                .table::<eventual::Employee>()?
                .bulk_insert((0..rows).map(eventual::Employee::new))?
                .into_result()?;
            operations = usize::try_from(rows)?;
            let begun = Instant::now();
            profiled(|| Ok(store.propagate().map(|_| 0)?))?;
            nanoseconds(begun.elapsed()) / count_of(u64::from(rows))
        }
        other => return Err(format!("there is no operation `{other}` of that").into()),
    };
    println!("{}: {operations} operations, {each:.0} ns each", arguments.op);
    Ok(())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::in_memory()?;
    let options =
        Store::options().durability(Durability::Relaxed).propagate(Propagate::Manual).map_size(1 << 30);
    let store = options.open(place.join("following"))?;
    // What is asked for if nothing is said is another part's.
    if arguments.op != "get" {
        return one(&store, arguments);
    }
    println!("\n## Copies in another table");
    report::machine(
        place.path(),
        "relaxed, in memory; one thread, one insert after another; the best of five",
    );
    let count = u32::try_from(arguments.rows)?;
    let mut best = [f64::INFINITY; 4];
    for round in 0..5 {
        let ids = || round * count..(round + 1) * count;
        let mut note = |at: usize, found: f64| {
            if let Some(best) = best.get_mut(at) {
                *best = best.min(found);
            }
        };
        note(0, insert(&store, plain::Employee::new, ids())?);
        note(1, insert(&store, atomic::Employee::new, ids())?);
        note(2, insert(&store, eventual::Employee::new, ids())?);
        let begun = Instant::now();
        store.propagate()?;
        note(3, nanoseconds(begun.elapsed()) / count_of(u64::from(count)));
    }
    let [plain, atomic, eventual, propagated] = best;
    println!("| insert | ns | of the plain one |\n| --- | ---: | ---: |");
    for (what, found) in [("no copy", plain), ("`atomic`", atomic), ("`eventual`", eventual)] {
        println!("| {what} | {found:.0} | {:.2} |", found / plain);
    }
    println!("\nSettled: {:.0} copies a second.", 1e9 / propagated);
    Ok(())
}
