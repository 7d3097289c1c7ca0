//! The matrix: each method with and without its permissions, inside, at the edges and outside. With a check taken away it
//! fails.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;

use table_core::ErrorKind;
use table_core::access::checks::{Check, take_away};

use crate::awaited::AWAITED;
use crate::cells::{Cell, DERIVED, DYNAMIC, Kind, NAMED, TYPED};
use crate::edges;
use crate::world::{Call, Place, World, access};

/// Returns the sets of permissions that a cell is tried with: what it takes, each of those left out, all, and none.
fn sets(needs: &str) -> BTreeSet<String> {
    let without = |left: char| needs.chars().filter(|letter| *letter != left).collect();
    let others = ["raud", needs, ""].map(str::to_owned);
    needs.chars().map(without).chain(others).collect()
}

/// What a call is made with, and where.
struct Trial<'c> {
    cell: &'c Cell,
    letters: &'c str,
    place: Place,
    /// Whether it is inside: of what has no keys, whether it is named.
    is_inside: bool,
}

impl Trial<'_> {
    fn expected(&self) -> Result<bool, ErrorKind> {
        let is_permitted = self.cell.needs.chars().all(|letter| self.letters.contains(letter));
        match self.cell.kind {
            Kind::Never => Err(ErrorKind::NotPermitted),
            _ if !is_permitted => Err(ErrorKind::NotPermitted),
            Kind::Read => Ok(self.is_inside),
            Kind::Write if !self.is_inside => Err(ErrorKind::OutsideRange),
            Kind::Named if !self.is_inside => Err(ErrorKind::NotPermitted),
            Kind::Write | Kind::Named => Ok(true),
        }
    }

    /// Makes the call. Returns what is wrong with what comes of it, and whether tables are as they were `before`.
    fn run(&self, world: &World, before: &[String]) -> (Option<String>, bool) {
        let (department, id) = self.place.key();
        let tables = world.store.restricted(&access(self.letters));
        let found = (self.cell.run)(&Call { tables: &tables, department, id, is_inside: self.is_inside });
        let expected = self.expected();
        let is_written = world.dump() != before;
        let may_write = matches!(expected, Ok(true)) && self.cell.kind == Kind::Write;
        let as_expected = match (&found, expected) {
            (Ok(found), Ok(expected)) => *found == expected,
            (Err(error), Err(kind)) => error.kind() == kind,
            _ => false,
        };
        let described = || {
            let Self { cell, letters, place, .. } = self;
            let names = cell.names.join(", ");
            format!(
                "{names} with `{letters}` at {place:?}: {found:?}, expected {expected:?}, written: {is_written}"
            )
        };
        ((!as_expected || is_written != may_write).then(described), is_written)
    }
}

/// Returns the first thing that is wrong.
fn first_wrong() -> Option<String> {
    let world = World::new();
    let edges =
        edges::ALL.iter().find_map(|(name, edge)| edge(&world).err().map(|wrong| format!("{name}: {wrong}")));
    if edges.is_some() {
        return edges;
    }
    let of_keys = [DYNAMIC, TYPED, AWAITED]
        .into_iter()
        .flatten()
        .flat_map(|cell| Place::ALL.map(|place| (cell, place, place.is_inside())));
    let derived = DERIVED.iter().flat_map(|cell| Place::ALL.map(|place| (cell, place, false)));
    let named = NAMED.iter().flat_map(|cell| [true, false].map(|is_named| (cell, Place::Inside, is_named)));
    // What there is, and which entity is left out, as long as nothing has written.
    let mut there: Option<(Option<Place>, Vec<String>)> = None;
    for (cell, place, is_inside) in of_keys.chain(derived).chain(named) {
        for letters in sets(cell.needs) {
            let absent = cell.is_new.then_some(place);
            let (_, before) = match there.take() {
                Some(there) if there.0 == absent && cell.kind != Kind::Named => there,
                _ => {
                    world.reset(absent);
                    (absent, world.dump())
                }
            };
            let trial = Trial { cell, letters: &letters, place, is_inside };
            let (wrong, is_written) = trial.run(&world, &before);
            if wrong.is_some() {
                return wrong;
            }
            there = (!is_written).then_some((absent, before));
        }
    }
    None
}

#[test]
fn each_method_does_what_its_permissions_let_it_do_and_no_more() {
    assert_eq!(first_wrong(), None);
}

#[test]
fn each_check_is_missed_when_it_is_taken_away() {
    // What is taken away is missing on the thread alone.
    let missed = |check| {
        take_away(Some(check));
        let found = std::panic::catch_unwind(first_wrong);
        take_away(None);
        println!("without {check:?}: {found:?}");
        // A store that others may change is not put back as it was.
        assert!(!matches!(found, Ok(None)), "nothing fails without {check:?}");
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for first in 0..threads {
            let checks = Check::ALL.into_iter().skip(first).step_by(threads);
            scope.spawn(move || checks.for_each(missed));
        }
    });
}

/// What no cell is for, with the reason.
const BESIDE: &[(&str, &[&str])] = &[
    // They say what the handle is, or begin what another method ends.
    (
        "Tables",
        &[
            "restricted",
            "new",
            "backend",
            "path",
            "tables",
            "tables_page",
            "kinds",
            "metrics",
            "queues",
            "containers",
            "periods",
            "migration",
            "log",
            "cancel_job",
        ],
    ),
    ("DynamicTable", &["exec", "name", "explain", "cell", "key_scope", "partition_key_scope"]),
    ("Table", &["dynamic", "cost"]),
    ("TableAt", &["dynamic"]),
    ("Snapshot", &["age"]),
    ("Batch", &["partition_key", "len", "is_empty"]),
    ("EncryptingTable", &["dynamic", "name", "explain", "open"]),
    ("SetTable", &["dynamic", "at", "check_any"]),
    ("PathQuery", &["new", "at", "fixed", "part", "blind", "shard", "newest", "explain"]),
    ("Queue", &["max_dequeues", "name"]),
    ("Container", &["name"]),
    // An edge tests it: no access permits it.
    ("Tables", &["service_records"]),
    // Edges test them: `Follow`, and series.
    ("Snapshot", &["follows"]),
    ("Table", &["add", "join"]),
    // Of a kind without sealed fields it has nothing to do.
    ("Table", &["reencrypt"]),
    ("TableAt", &["join"]),
    ("Egt", &["add", "get"]),
    ("StoreTransaction", &["add", "get"]),
    // `awaited::queues` tests it; what is awaited of a container runs what blocks.
    ("Queue", &["to_async"]),
    ("Container", &["to_async"]),
    // By cells of what they are made of.
    ("Queue", &["worker"]),
    ("Tables", &["import_blob", "upload_sealed", "import_sealed_blob"]),
    ("SetTable", &["get_any", "partition", "insert_any", "put_any"]),
];

/// The methods that `writes_of_entities!` makes.
const WRITES: [&str; 5] = ["insert", "replace", "merge", "put", "insert_or_merge"];

/// Returns the methods of the handles, as the engine's sources have them.
fn methods() -> BTreeSet<String> {
    const HANDLES: [&str; 11] = [
        "Tables",
        "DynamicTable",
        "Table",
        "TableAt",
        "Snapshot",
        "EncryptingTable",
        "SetTable",
        "Egt",
        "StoreTransaction",
        "Queue",
        "Container",
    ];
    let mut found = BTreeSet::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/table-engine/src");
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // Methods there are for the compiler's messages alone.
                if !path.ends_with("typed/advice") {
                    folders.push(path);
                }
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            // The executor has another `Batch`, with which it fills cursors.
            let is_batch = path.ends_with("handle/batch.rs");
            let mut handle = None;
            for line in text.lines() {
                if let Some(rest) = line.strip_prefix("impl") {
                    let rest = rest.split_once(" for ").map_or(rest, |(_, rest)| rest);
                    let rest = rest.trim_start();
                    // Past the parameters of the block itself.
                    let rest = if rest.starts_with('<') {
                        rest.split_once("> ").map_or("", |(_, rest)| rest)
                    } else {
                        rest
                    };
                    let name = rest
                        .split(['<', ' ', '{'])
                        .find(|word| !word.is_empty())
                        .unwrap_or_default()
                        .to_owned();
                    handle = Some(name)
                        .filter(|name| HANDLES.contains(&name.as_str()) || is_batch && name == "Batch");
                } else if line.starts_with('}') {
                    handle = None;
                }
                let Some(handle) = &handle else { continue };
                if let Some(rest) = line.strip_prefix("    pub fn ") {
                    let name = rest.split(['<', '(']).next().unwrap();
                    found.insert(format!("{handle}::{name}"));
                }
                if line.contains("writes_of_entities!(") {
                    found.extend(WRITES.map(|name| format!("{handle}::{name}")));
                }
            }
        }
    }
    found
}

#[test]
fn every_method_of_a_handle_has_a_cell() {
    let cells = [DYNAMIC, TYPED, AWAITED, DERIVED, NAMED].into_iter().flatten().flat_map(|cell| cell.names);
    let named: BTreeSet<_> = cells.map(|name| (*name).to_owned()).collect();
    let beside =
        BESIDE.iter().flat_map(|(handle, names)| names.iter().map(move |name| format!("{handle}::{name}")));
    let beside: BTreeSet<_> = beside.collect();
    let methods = methods();
    let missing: Vec<_> =
        methods.iter().filter(|name| !named.contains(*name) && !beside.contains(*name)).collect();
    assert!(methods.len() > 100, "{methods:?}");
    assert!(missing.is_empty(), "no cell: {missing:?}");
}
