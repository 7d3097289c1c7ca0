//! What every attribute of a field makes of every kind of row that repeats it: two releases of a program in one process, of which
//! the second says something else of the field.
//!
//! In each cell: what reads of these rows give before the second release has written, when it has written some of the entities,
//! and after its migration; and that the checks and repairs find nothing wrong then, and something where something is wrong.

mod gone;
mod key;
mod release;
mod renamed;
mod sealed;
mod typed;

use std::collections::BTreeSet;

use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, DynamicTable, ErrorKind, IfMatch, Query, Store, Value};

use self::release::{Cell, Cells, Release};

/// The entities of the former release: their ids, and the numbers that they have.
const FORMER: [(u32, i64); 4] = [(0, 0), (1, 10), (2, 20), (3, 30)];

/// The kinds of rows that every release reads.
const KINDS: [&str; 7] = ["own", "whole", "some", "projection", "projection of copies", "view", "set"];

/// Two releases, and what the second makes of what the first has written.
struct Pair {
    former: Release,
    now: Release,
    /// The properties of the field under the former release and under the second one.
    properties: [&'static str; 2],
    /// What the second release reads in the place of a number of the first.
    reads: fn(u32, i64) -> Option<i64>,
    /// A property that no row has any more after the migration.
    goes: Option<&'static str>,
    /// Whether the second release writes nothing before `rebuild` has made an index anew.
    rebuilds: bool,
    /// The kinds of rows that can't be read before the migration, and why.
    refused: &'static [(&'static str, ErrorKind)],
    /// How many entities, of both kinds, the migration writes anew when one of each has been written.
    renewed: u64,
}

fn expected(entities: &[(u32, Option<i64>)]) -> Cells {
    let all: Cell = Ok(entities.to_vec());
    let mut cells: Cells = KINDS.into_iter().map(|kind| (kind, all.clone())).collect();
    cells.insert("away", all.clone());
    cells.insert("holder", all.clone());
    let twenty: Vec<_> = entities.iter().copied().filter(|(_, number)| *number == Some(20)).collect();
    cells.insert("filter", Ok(twenty.clone()));
    cells.insert("filter of the set", Ok(twenty.clone()));
    cells.insert("filter of copies", Ok(twenty));
    let mut listed = entities.to_vec();
    listed.retain(|(_, number)| number.is_some());
    cells.insert("list", Ok(listed));
    cells.insert("summary", Ok(vec![(0, Some(entities.iter().filter_map(|(_, number)| *number).sum()))]));
    cells
}

impl Pair {
    /// Takes a store through both releases.
    fn run(&self, store: &Store) {
        self.begin(store);
        self.go_on(store);
    }

    /// The former release writes, and the second one reads.
    fn begin(&self, store: &Store) {
        for (id, number) in FORMER {
            (self.former.insert)(store, id, number).unwrap();
        }
        store.propagate().unwrap();
        assert_eq!((self.former.wrong)(store), [""; 0]);
    }

    fn go_on(&self, store: &Store) {
        let mut entities: Vec<_> =
            FORMER.iter().map(|(id, number)| (*id, (self.reads)(*id, *number))).collect();
        self.assert_cells(store, "before it has written", &entities, self.refused);
        let mut refused = self.refused;
        if self.rebuilds {
            assert_eq!((self.now.touch)(store, 1), Err(ErrorKind::LayoutChanged));
            (self.now.rebuild)(store);
            refused = &[];
        }
        // One is written with the number that it has, and one with another.
        (self.now.touch)(store, 1).unwrap();
        (self.now.renumber)(store, 3, 40).unwrap();
        entities[3].1 = (self.reads)(3, 40);
        store.propagate().unwrap();
        self.assert_cells(store, "when it has written", &entities, refused);
        assert_eq!((self.now.repair)(store), 0, "a repair finds nothing wrong");
        self.assert_falsified(store);
        (self.now.remake)(store);
        self.assert_cells(store, "when an index was made again", &entities, refused);
        assert_eq!((self.now.migrate)(store), self.renewed, "entities that the migration writes anew");
        store.propagate().unwrap();
        self.assert_cells(store, "after the migration", &entities, &[]);
        for table in ["Stock", "Away"] {
            let Some(goes) = self.goes else { break };
            assert_eq!(
                holding(&store.dynamic_table(table).unwrap(), goes),
                0,
                "rows of {table} with `{goes}`"
            );
        }
        assert_eq!((self.now.migrate)(store), 0, "nothing is left to be written anew");
        assert_eq!((self.now.repair)(store), 0);
        self.assert_falsified(store);
    }

    fn assert_cells(
        &self,
        store: &Store,
        when: &str,
        entities: &[(u32, Option<i64>)],
        refused: &[(&'static str, ErrorKind)],
    ) {
        let (mut expected, found) = (expected(entities), (self.now.cells)(store));
        for (kind, error) in refused {
            expected.insert(kind, Err(*error));
        }
        for (kind, found) in &found {
            assert_eq!(found, &expected[kind], "{kind}, {when}");
        }
        let missing: BTreeSet<_> = KINDS.into_iter().filter(|kind| !found.contains_key(kind)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!((self.now.wrong)(store), [""; 0], "{when}");
        assert_sound(store);
    }

    /// What somebody falsifies in one copy the check finds, and a repair mends.
    fn assert_falsified(&self, store: &Store) {
        for row in ["whole_000002", "some_000001"] {
            let table = store.dynamic_table("Stock").unwrap();
            let found = table.get("a", row).unwrap().unwrap();
            for property in self.properties.iter().collect::<BTreeSet<_>>() {
                let Some(value) = found.get(property).and_then(falsified) else { continue };
                let change = DynamicEntity::new("a", row).with(property, value);
                match table.raw().merge(&change, IfMatch::Any) {
                    // No copy with a sealed value can be falsified without its key.
                    Err(error) if error.kind() == ErrorKind::SchemaMismatch => continue,
                    written => written.unwrap(),
                };
                self.assert_mended(store, &format!("{row}, {property}"));
            }
            table.raw().delete("a", row).unwrap();
            self.assert_mended(store, row);
        }
    }
}

impl Pair {
    /// One row is wrong, and a repair mends it.
    fn assert_mended(&self, store: &Store, what: &str) {
        let wrong = (self.now.wrong)(store);
        assert_eq!(wrong.len(), 1, "{what}: {wrong:?}");
        assert_eq!((self.now.repair)(store), 1, "{what}");
        assert_eq!((self.now.wrong)(store), [""; 0], "{what}");
        assert_sound(store);
    }
}

/// Another value of the same type.
fn falsified(value: &Value) -> Option<Value> {
    match value {
        Value::Int32(number) => Some(Value::Int32(number + 1)),
        Value::Int64(number) => Some(Value::Int64(number + 1)),
        Value::String(_) => Some(Value::from("[77]")),
        _ => None,
    }
}

/// How many rows of a table have the property.
fn holding(table: &DynamicTable, property: &str) -> usize {
    let rows = table.query(&Query::new()).unwrap();
    rows.filter(|row| row.as_ref().unwrap().get(property).is_some()).count()
}

/// A store in a directory of its own.
fn store() -> (Scratch, Store) {
    let scratch = Scratch::new();
    let store = scratch.store();
    (scratch, store)
}

/// Makes sure that the compiler refuses what a case of its messages has, in these words.
fn assert_refused_by_the_compiler(case: &str, words: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("ui/{case}.stderr"));
    let message = std::fs::read_to_string(path).unwrap();
    assert!(message.contains(words), "{case}: {words}");
}
