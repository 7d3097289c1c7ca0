//! Dropping tables, on disk.

use std::error::Error;
use std::time::Instant;

use table_core::Store;

use crate::Arguments;
use crate::floor::Floor;
use crate::measure::nanoseconds;
use crate::ours::Ours;
use crate::place::Place;
use crate::report::{self, Unit};
use crate::rows;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::on_disk()?;
    println!("\n## Dropping a table of employees");
    report::machine(place.path(), "durable; the floor removes its rows in one transaction");
    println!(
        "| entities | `drop_table` | until `reclaim` returns | rows freed by it | floor | longest insert meanwhile |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    for (number, entities) in [1_000, 1_000, 1_000, 10 * arguments.rows].into_iter().enumerate() {
        let samples = rows::employees(entities);
        let floor = Floor::open(&place.join(&format!("floor-{number}")))?;
        for samples in samples.chunks(100_000) {
            floor.insert_together(samples)?;
        }
        let begun = Instant::now();
        floor.clear()?;
        let floor_time = nanoseconds(begun.elapsed());
        floor.close();

        let ours = Ours::open(&place.join(&format!("ours-{number}")), &Store::options())?;
        ours.load(&samples)?;
        let other = ours.store.create_table("Other")?;
        let begun = Instant::now();
        ours.store.drop_table("Company")?;
        let call = nanoseconds(begun.elapsed());
        // Others write meanwhile: the steps take turns with them.
        let store = &ours.store;
        let (freed, longest) = std::thread::scope(|scope| {
            let reclaim = scope.spawn(|| {
                let freed = store.reclaim()?;
                Ok::<_, table_core::Error>((freed, nanoseconds(begun.elapsed())))
            });
            let (mut longest, mut next) = (0.0_f64, 0);
            while !reclaim.is_finished() {
                let sample =
                    rows::employee(rows::Key { partition: "Other".to_owned(), row: rows::row_key(next) });
                let entity = table_core::DynamicEntity::clone(&sample.ours);
                let begun = Instant::now();
                other.insert(&entity)?;
                longest = longest.max(nanoseconds(begun.elapsed()));
                next += 1;
            }
            let freed = reclaim.join().map_err(|_| "the thread panicked")??;
            Ok::<_, Box<dyn Error + Send + Sync>>((freed, longest))
        })?;
        println!(
            "| {entities} | {} | {} | {} | {} | {} |",
            Unit::Milliseconds.show(call),
            Unit::Milliseconds.show(freed.1),
            freed.0,
            Unit::Milliseconds.show(floor_time),
            Unit::Milliseconds.show(longest),
        );
    }
    Ok(())
}
