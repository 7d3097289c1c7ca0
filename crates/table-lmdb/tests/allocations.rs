//! What must not allocate: rows that are lent to a closure, and the texts that a server writes for each of them.

#![allow(unsafe_code, reason = "an allocator that counts is one")]
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::{self, Write};

use table_core::{DynamicEntity, ETag, Query, Store, Ticks, Uuid};

/// Counts what each thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: Every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: The caller keeps to what `alloc` asks of it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: The caller keeps to what `dealloc` asks of it, and the system's allocator gave the memory.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: The caller keeps to what `realloc` asks of it, and the system's allocator gave the memory.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns how often the thread allocates while this runs.
fn allocations(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    run();
    ALLOCATIONS.with(Cell::get) - before
}

/// Counts what is written to it, and keeps nothing.
#[derive(Default)]
struct Length(usize);

impl Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

fn filled(store: &Store) -> table_core::DynamicTable {
    let table = store.create_table("Company").unwrap();
    let rows = (0..500).map(|id| {
        let entity = DynamicEntity::new("Sales", format!("{id:06}"))
            .with("EntityType", "employee")
            .with("Name", "Jones")
            .with("Age", 34)
            .with("At", Ticks::UNIX_EPOCH)
            .with("Id", Uuid::from_u128(7))
            .with("Notes", "x".repeat(300));
        table.batch("Sales").put(entity)
    });
    assert!(store.bulk(rows).unwrap().failures.is_empty());
    table
}

#[test]
fn no_row_that_is_lent_costs_an_allocation() {
    let store = Store::temporary().unwrap();
    let table = filled(&store);
    let snapshot = store.snapshot().unwrap();
    let some = Query::new().select(["Name", "Notes"]);
    for query in [Query::new(), some, Query::new().partition("Sales").rev()] {
        let read = |size: usize| {
            let mut length = 0;
            let allocations = allocations(|| {
                let next = snapshot.page_with(&table, &query, size, None, |row| {
                    length += row.partition_key().len() + row.row_key().len();
                    length += row.get("Notes").and_then(table_core::ValueRef::as_str).map_or(0, str::len);
                    let mut buffer = [0; ETag::TEXT_BYTES];
                    length += row.etag().encode(&mut buffer).len();
                    for (name, value) in row.properties() {
                        length += name.len() + value.as_str().map_or(0, str::len);
                    }
                });
                assert!(next.unwrap().is_some());
            });
            assert!(length > size * 300);
            allocations
        };
        // The first page makes what the thread and the table have once, and what is known of the pages that were verified.
        read(400);
        // One of them may look at the list of free pages, which is due by the clock, and only once.
        let least = |size: usize| (0..3).map(|_| read(size)).min();
        assert_eq!(least(10), least(400), "{query:?}");
    }
    let scan = |top: usize| {
        let mut length = 0;
        let query = Query::new().top(top);
        let count = allocations(|| {
            snapshot
                .query_with(&table, &query, |row| {
                    length += row.properties().map(|(name, _)| name.len()).sum::<usize>();
                })
                .unwrap();
        });
        assert!(length > top * 20);
        count
    };
    scan(500);
    // Batches of rows are read ahead; their number grows with the leaves, and that of rows does not count.
    assert!(scan(500) - scan(50) < 20, "{} and {}", scan(500), scan(50));
}

#[test]
fn the_texts_of_a_row_are_written_without_an_allocation() {
    let time: Ticks = "2026-11-20T20:37:52.6107149Z".parse().unwrap();
    let foreign: ETag = "\"1\"".parse().unwrap();
    let store = Store::temporary().unwrap();
    let table = store.create_table("Company").unwrap();
    for row in ["1", "2", &"名".repeat(500)] {
        table.insert(&DynamicEntity::new("Sales", row)).unwrap();
    }
    let tokens: Vec<_> =
        (1..=2).map(|size| table.page(&Query::new(), size, None).unwrap().next.unwrap()).collect();
    let backwards = table.page(&Query::new().rev(), 1, None).unwrap().next.unwrap();
    let mut written = Length::default();
    let count = allocations(|| {
        let (mut ticks, mut etag) = ([0; Ticks::TEXT_BYTES], [0; ETag::TEXT_BYTES]);
        assert_eq!(time.encode(&mut ticks), "2026-11-20T20:37:52.6107149Z");
        assert!(ETag::from_timestamp(time).encode(&mut etag).starts_with("W/\"datetime'2026"));
        assert!(foreign.encode(&mut etag).starts_with("W/\"foreign'"));
        write!(written, "{time} {} {foreign}", ETag::from_timestamp(time)).unwrap();
        for token in tokens.iter().chain([&backwards]) {
            write!(written, "{token}").unwrap();
        }
    });
    assert_eq!(count, 0);
    // The long key took part.
    assert!(written.0 > 2_000, "{}", written.0);
}
