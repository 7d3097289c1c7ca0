//! Each limit: what is at it is taken; what is one past it is refused, by kind, code and status, and leaves no trace.

mod batches;
mod entities;
mod names;
mod queries;

use table_core::{DynamicEntity, Error, ErrorKind, Query, Result, Store, limits};

const MIB: usize = 1 << 20;

/// The kind, and with it the service's code and status.
fn assert_refused<T: std::fmt::Debug>(
    result: Result<T>,
    expected: (ErrorKind, &str, u16),
    what: &str,
) -> Error {
    let error = result.expect_err(what);
    assert_eq!((error.kind(), error.kind().code(), error.kind().status()), expected, "{what}: {error}");
    error
}

/// Everything that can be seen of a store.
fn seen(store: &Store) -> (Vec<DynamicEntity>, table_core::store::StoreStats) {
    let rows = |name: String| {
        let table = store.dynamic_table(&name).unwrap();
        table.query(&Query::new()).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let entities = store.tables().unwrap().into_iter().flat_map(rows).collect();
    (entities, store.stats().unwrap())
}

/// An entity of so many bytes, in values as large as they may be.
fn sized(partition: &str, row: &str, bytes: usize) -> DynamicEntity {
    let mut entity = DynamicEntity::new(partition, row);
    for number in 0.. {
        let room = bytes - entity.size();
        let name = format!("P{number:02}");
        let overhead = 8 + 2 * name.len() + 4;
        if room <= overhead + limits::BINARY_BYTES {
            entity.set(&name, vec![0; room - overhead]);
            break;
        }
        // What is left must hold one more property.
        entity.set(&name, vec![0; limits::BINARY_BYTES.min(room - 2 * overhead)]);
    }
    assert_eq!(entity.size(), bytes);
    entity
}

fn many(partition: &str, row: &str, names: std::ops::Range<usize>) -> DynamicEntity {
    names.fold(DynamicEntity::new(partition, row), |entity, number| entity.with(&format!("P{number}"), 1))
}
