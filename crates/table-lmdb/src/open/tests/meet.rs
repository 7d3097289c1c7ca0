//! Damage that a write comes to, on pages that it changes and on those that they lead to.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use lmdb_verify::{LeafPath, Page};

use table_engine::error::ErrorKind;
use table_engine::{DynamicEntity, DynamicTable, IfMatch};

use crate::Store;
use crate::open::Environment;
use crate::tests_scratch::in_memory;

const ROWS: u32 = 400;

fn row_key(number: u32) -> String {
    format!("{number:0>450}")
}

fn row(number: u32) -> DynamicEntity {
    DynamicEntity::new("p", row_key(number)).with("Number", number)
}

/// A store whose rows' tree has three levels: keys so long that few stand on a branch. It is opened anew.
struct Tall {
    dir: tempfile::TempDir,
    path: std::path::PathBuf,
    store: Store,
    table: DynamicTable,
}

impl Tall {
    fn new() -> Self {
        let dir = in_memory();
        let path = dir.path().join("store");
        let table = Store::open(&path).unwrap().create_table("Table").unwrap();
        for number in 0..ROWS {
            table.insert(&row(number * 7 % ROWS)).unwrap();
        }
        drop(table);
        let store = Store::open(&path).unwrap();
        let table = store.dynamic_table("Table").unwrap();
        // The names of properties are known then, so that a new row is put without a look at what is there.
        table.get("p", &row_key(0)).unwrap();
        Self { dir, path, store, table }
    }

    fn environment(&self) -> &Environment {
        &self.store.shared().environment
    }

    /// Opens the store anew.
    fn again(self) -> Self {
        let Self { dir, path, store, table } = self;
        drop((store, table));
        let store = Store::open(&path).unwrap();
        let table = store.dynamic_table("Table").unwrap();
        Self { dir, path, store, table }
    }

    fn file(&self) -> File {
        File::options().read(true).write(true).open(self.path.join("data.mdb")).unwrap()
    }

    /// The way to the leaf of a row.
    fn path_of(&self, number: u32) -> LeafPath {
        let environment = self.environment();
        let txn = environment.read_txn().unwrap();
        let tree = environment.rows_tree(&txn, txn.id()).unwrap();
        assert_eq!(tree.depth(), 3);
        let sought = row_key(number);
        let rows = environment.dbs.data.iter(&txn).unwrap().map(|row| row.unwrap().0);
        let key = rows.into_iter().find(|key| key.ends_with(sought.as_bytes())).unwrap();
        tree.path(&environment.reader, &txn, key).unwrap()
    }

    /// The first row from `from` on that stands below another branch than this one.
    fn below_another(&self, from: u32) -> u32 {
        let branch = |number| self.path_of(number).branches()[1].0;
        let first = branch(from);
        // Not the first entry of the branch, whose key stands for none.
        (from..ROWS)
            .find(|number| branch(*number) != first && self.path_of(*number).branches()[1].1 > 0)
            .unwrap()
    }

    /// Has the entry of the lowest branch that leads to a row lead to another page.
    fn lead_to(&self, number: u32, page: u64) {
        let (branch, at) = self.path_of(number).branches()[1];
        let size = u64::try_from(self.environment().dbs.pages.size()).unwrap();
        let file = self.file();
        let mut offset = [0; 2];
        let at = u64::try_from(at).unwrap();
        file.read_exact_at(&mut offset, branch * size + 16 + 2 * at).unwrap();
        let node = branch * size + u64::from(u16::from_le_bytes(offset));
        file.write_all_at(&page.to_le_bytes()[..6], node).unwrap();
    }

    /// Whatever is written to a row is refused, and nothing changes.
    fn refuses(&self, number: u32) {
        let before = self.environment().read_txn().unwrap().id();
        let there = row(number).with("More", "x");
        let kinds = [
            self.table.insert(&there).map(drop),
            self.table.replace(&there, IfMatch::Any).map(drop),
            self.table.merge(&there, IfMatch::Any).map(drop),
            self.table.put(&there).map(drop),
            self.table.delete("p", &row_key(number)),
        ]
        .map(|done| done.unwrap_err().kind());
        assert!(kinds.iter().all(|kind| *kind == ErrorKind::Corrupt), "{kinds:?}");
        assert_eq!(self.environment().read_txn().unwrap().id(), before);
    }
}

#[test]
fn a_branch_that_leads_to_a_leaf_of_another_one_is_refused_though_that_leaf_was_looked_at() {
    let tall = Tall::new();
    let (mine, other) = (0, tall.below_another(0));
    // That it is there is found out on its leaf.
    assert_eq!(tall.table.insert(&row(mine)).unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    let leaf = tall.path_of(mine).leaf();
    assert!(tall.environment().reader.has_met(leaf));
    tall.lead_to(other, leaf);
    tall.refuses(other);
    // It turned before this opening, too.
    tall.again().refuses(other);
}

/// The key that leads to a branch turns into another one that its own entries allow: only the rows at the ends of what it
/// leads to tell.
#[test]
fn a_key_of_the_root_that_is_not_between_the_rows_on_both_sides_is_refused() {
    for upwards in [true, false] {
        let tall = Tall::new();
        // The first row of a leaf that is the first below its branch, and more than one on that leaf.
        let is_first = |number: u32| {
            let (path, before) = (tall.path_of(number), tall.path_of(number - 1));
            path.branches()[1].1 == 0
                && path.branches()[1].0 != before.branches()[1].0
                && tall.path_of(number + 1).leaf() == path.leaf()
        };
        let first = (1..ROWS - 1).find(|number| is_first(*number)).unwrap();
        // A row that would be looked for on the wrong side.
        let (other, hidden) = if upwards { (first + 1, first) } else { (first - 1, first - 1) };
        let (root, at) = tall.path_of(first).branches()[0];
        let (file, size) = (tall.file(), tall.environment().dbs.pages.size());
        let mut page = vec![0; size];
        let start = root * u64::try_from(size).unwrap();
        file.read_exact_at(&mut page, start).unwrap();
        let key = Page::parse(&page, root).unwrap().key(at).unwrap();
        let place = key.as_ptr().addr() - page.as_ptr().addr() + key.len() - row_key(0).len();
        file.write_all_at(row_key(other).as_bytes(), start + u64::try_from(place).unwrap()).unwrap();
        tall.refuses(hidden);
        tall.again().refuses(hidden);
    }
}

#[test]
fn what_turns_on_a_page_that_was_looked_at_is_told_by_reads_the_check_and_the_next_opening() {
    let tall = Tall::new();
    let (mine, other) = (0, tall.below_another(0));
    for number in [mine, other] {
        assert_eq!(tall.table.insert(&row(number)).unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    }
    let leaf = tall.path_of(mine).leaf();
    tall.lead_to(other, leaf);
    assert_eq!(tall.table.get("p", &row_key(other)).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(!tall.store.check().unwrap().problems.is_empty());
    assert!(!tall.environment().reader.has_met_all());
    tall.again().refuses(other);
}

#[test]
fn a_branch_that_leads_to_a_page_written_since_the_opening_is_refused() {
    let tall = Tall::new();
    let last = {
        let environment = tall.environment();
        let txn = environment.read_txn().unwrap();
        let state = u64::try_from(txn.id()).unwrap();
        environment.reader.header(state).unwrap().last_page
    };
    let other = tall.below_another(0);
    // Until the leaf of the first row comes to lie behind what the file had: what a snapshot reads is not used again.
    let snapshot = tall.store.snapshot().unwrap();
    let leaf = (0..100)
        .find_map(|round: u32| {
            tall.table.replace(&row(0).with("Round", round), IfMatch::Any).unwrap();
            Some(tall.path_of(0).leaf()).filter(|leaf| *leaf > last)
        })
        .unwrap();
    drop(snapshot);
    tall.lead_to(other, leaf);
    tall.refuses(other);
    tall.again().refuses(other);
}

#[test]
fn a_leaf_that_only_a_join_would_change_is_looked_at_first() {
    // The rows of one leaf, and one beside it on each side.
    let tall = Tall::new();
    let leaf_of = |number| tall.path_of(number).leaf();
    let (first, leaf) = (100..ROWS)
        .map(|number| (number, leaf_of(number)))
        .find(|(number, leaf)| leaf_of(number - 1) != *leaf)
        .unwrap();
    let rows: Vec<u32> = (first..ROWS).take_while(|number| leaf_of(*number) == leaf).collect();
    let beside = [first - 1, rows[rows.len() - 1] + 1];
    let is_beside = |number: u32| tall.path_of(number).branches()[1].0 == tall.path_of(first).branches()[1].0;
    let beside: Vec<u32> = beside.into_iter().filter(|number| is_beside(*number)).collect();
    assert!(rows.len() > 1 && !beside.is_empty());
    let Tall { path, .. } = &tall;
    let whole = std::fs::read(path.join("data.mdb")).unwrap();
    for damaged in beside {
        // In the row, behind its key.
        let sought = row_key(damaged);
        let places = whole.windows(sought.len()).enumerate().filter(|(_, found)| *found == sought.as_bytes());
        let mut bytes = whole.clone();
        for (at, _) in places {
            bytes[at + sought.len() + 12] ^= 4;
        }
        let dir = in_memory();
        std::fs::write(dir.path().join("data.mdb"), bytes).unwrap();
        let store = Store::open(dir.path()).unwrap();
        let table = store.dynamic_table("Table").unwrap();
        let done: Vec<_> = rows.iter().map(|number| table.delete("p", &row_key(*number))).collect();
        assert!(
            done.iter().all(|done| done.as_ref().is_err_and(|error| error.kind() == ErrorKind::Corrupt)),
            "{done:?}"
        );
        // A row is put there all the same: that joins no leaves.
        table.replace(&row(rows[0]).with("More", 1), IfMatch::Any).unwrap();
        let lost: Vec<_> =
            (0..ROWS).filter(|number| matches!(table.get("p", &row_key(*number)), Ok(None))).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}

#[test]
fn no_write_looks_at_pages_any_more_once_all_have_been_looked_at() {
    let met = |path: &Path, verify: bool| {
        let store = Store::options().verify_first(verify).open(path).unwrap();
        let table = store.dynamic_table("Table").unwrap();
        (store, table)
    };
    let tall = Tall::new();
    assert!(!tall.environment().reader.has_met_all());
    let path = tall.path.clone();
    let Tall { dir: _dir, store, table, .. } = tall;
    assert!(store.check().unwrap().problems.is_empty());
    assert!(store.shared().environment.reader.has_met_all());
    drop((store, table));
    let (store, table) = met(&path, true);
    assert!(store.shared().environment.reader.has_met_all());
    drop((store, table));
    // One after another.
    let (store, table) = met(&path, false);
    let has_all = || store.shared().environment.reader.has_met_all();
    let when = (0..ROWS).find(|number| {
        table.replace(&row(*number), IfMatch::Any).unwrap();
        has_all()
    });
    assert!(when.is_some_and(|number| number > ROWS / 2), "{when:?}");
    drop((store, table));
    // A new one has nothing to look at.
    let dir = in_memory();
    let store = Store::open(dir.path()).unwrap();
    store.create_table("Table").unwrap().insert(&row(1)).unwrap();
    assert!(store.shared().environment.reader.has_met_all());
}

#[test]
fn a_damaged_row_keeps_a_store_from_being_opened_by_who_verifies_it_first() {
    let tall = Tall::new();
    let (key, file) = (row_key(7), tall.path.join("data.mdb"));
    let mut bytes = std::fs::read(&file).unwrap();
    let places: Vec<_> = bytes
        .windows(key.len())
        .enumerate()
        .filter(|(_, found)| *found == key.as_bytes())
        .map(|(at, _)| at)
        .collect();
    for at in places {
        bytes[at + key.len() + 12] ^= 4;
    }
    drop((tall.table, tall.store));
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(Store::options().verify_first(true).open(&tall.path).unwrap_err().kind(), ErrorKind::Corrupt);
    let store = Store::open(&tall.path).unwrap();
    assert_eq!(store.dynamic_table("Table").unwrap().get("p", &key).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(!store.check().unwrap().problems.is_empty());
    assert!(!store.shared().environment.reader.has_met_all());
}
