//! Pages that were damaged by hand: what a row's own checksum can't tell.

use std::fs;
use std::path::Path;

use integration_tests::child::Child;
use integration_tests::pages::{self, PAGE, Place};
use integration_tests::{Scratch, relaxed};
use table_core::{DynamicEntity, DynamicTable, ErrorKind, IfMatch, Query, Store, Value};

const ROWS: u32 = 300;

fn row(number: u32) -> DynamicEntity {
    DynamicEntity::new("p", format!("row {number:04}")).with("Number", number.cast_signed())
}

/// A store whose rows lie on several leaves, and its file. One row was changed several times.
fn built(scratch: &Scratch) -> Vec<u8> {
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let table = store.create_table("Table").unwrap();
    for number in 0..ROWS {
        table.insert(&row(number)).unwrap();
    }
    for change in 0..4 {
        table.replace(&row(150).with("Change", change), IfMatch::Any).unwrap();
    }
    assert_eq!(store.check().unwrap().problems.len(), 0);
    drop(store);
    fs::read(path.join("data.mdb")).unwrap()
}

/// A store with this file.
fn opened(scratch: &Scratch, name: &str, file: &[u8]) -> (Store, DynamicTable) {
    let path = scratch.path().join(name);
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("data.mdb"), file).unwrap();
    let store = relaxed().open(Path::new(&path)).unwrap();
    let table = store.dynamic_table("Table").unwrap();
    (store, table)
}

fn u16_at(file: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([file[at], file[at + 1]]))
}

/// Where the entries of a page lie in the file.
fn entries(file: &[u8], page: usize) -> Vec<usize> {
    let lower = u16_at(file, page + 12);
    (page + 16..page + lower).step_by(2).map(|at| page + u16_at(file, at)).collect()
}

/// The key of an entry.
fn key(file: &[u8], entry: usize) -> &[u8] {
    &file[entry + 8..entry + 8 + u16_at(file, entry + 6)]
}

/// Where the branch is that leads to the rows' leaves.
fn branch(file: &[u8]) -> usize {
    let places = pages::places(file);
    let branches: Vec<_> =
        (0..file.len()).step_by(PAGE).filter(|page| places[*page] == Place::BranchHeader).collect();
    assert_eq!(branches.len(), 1);
    branches[0]
}

/// The branch's entry that leads to the leaf of this row, and where the leaf is.
fn way(file: &[u8], row: &str) -> (usize, usize) {
    let leaf = |entry: usize| PAGE * (u16_at(file, entry) | u16_at(file, entry + 2) << 16);
    let holds =
        |entry: &usize| entries(file, leaf(*entry)).iter().any(|at| key(file, *at).ends_with(row.as_bytes()));
    let entry = entries(file, branch(file)).into_iter().find(holds).unwrap();
    (entry, leaf(entry))
}

#[test]
fn what_lies_on_a_former_page_is_an_error_and_never_an_answer() {
    let scratch = Scratch::new();
    let file = built(&scratch);
    let places = pages::places(&file);
    let (entry, leaf) = way(&file, "row 0150");
    let first = key(&file, entries(&file, leaf)[0]);
    // The same leaf, as it was before the last change or an earlier one.
    let former = (0..file.len()).step_by(PAGE).filter(|page| {
        places[*page] == Place::Stale
            && u16_at(&file, page + 10) == 2
            && entries(&file, *page).first().is_some_and(|at| key(&file, *at) == first)
    });
    let mut seen = 0;
    for page in former {
        let mut damaged = file.clone();
        let number = u32::try_from(page / PAGE).unwrap();
        damaged[entry..entry + 4].copy_from_slice(&number.to_le_bytes());
        let (store, table) = opened(&scratch, &format!("former {page}"), &damaged);
        assert_eq!(table.get("p", "row 0150").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(table.get("p", "row 0150x").unwrap_err().kind(), ErrorKind::Corrupt);
        // Another leaf is as it was.
        assert_eq!(table.get("p", "row 0299").unwrap().unwrap().get("Number"), row(299).get("Number"));
        for query in [Query::new().partition("p"), Query::new().partition("p").rev()] {
            assert!(table.query(&query).unwrap().any(|row| row.is_err()));
        }
        for done in [
            table.insert(&row(150)),
            table.insert(&DynamicEntity::new("p", "row 0150x")),
            table.replace(&row(150), IfMatch::Any),
            table.merge(&row(150), IfMatch::Any),
            table.put(&row(150)),
            table.insert_or_merge(&row(150)),
        ] {
            assert_eq!(done.unwrap_err().kind(), ErrorKind::Corrupt);
        }
        assert_eq!(table.delete("p", "row 0150").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_ne!(store.check().unwrap().problems.len(), 0);
        seen += 1;
    }
    assert_ne!(seen, 0, "no former page of the leaf is left");
}

#[test]
fn a_row_whose_key_is_damaged_gets_no_twin() {
    let scratch = Scratch::new();
    let file = built(&scratch);
    let (_, leaf) = way(&file, "row 0150");
    let row_at = *entries(&file, leaf).iter().find(|at| key(&file, **at).ends_with(b"row 0150")).unwrap();
    // Its last four digits.
    let digits = row_at + 8 + key(&file, row_at).len() - 4;
    for bit in 0..4 * 8 {
        let mut damaged = file.clone();
        damaged[digits + bit / 8] ^= 1 << (bit % 8);
        let (store, table) = opened(&scratch, &format!("bit {bit}"), &damaged);
        for done in [
            table.insert(&row(150)),
            table.put(&row(150)),
            table.insert_or_merge(&row(150)),
            table.replace(&row(150), IfMatch::Any),
            table.merge(&row(150), IfMatch::Any),
        ] {
            assert_eq!(done.unwrap_err().kind(), ErrorKind::Corrupt, "bit {bit}");
        }
        assert_eq!(table.delete("p", "row 0150").unwrap_err().kind(), ErrorKind::Corrupt);
        // Nothing was written.
        assert_eq!(store.stats().unwrap().tables[0].entities, u64::from(ROWS));
        assert_ne!(store.check().unwrap().problems.len(), 0);
    }
}

#[test]
fn a_branch_whose_key_is_damaged_lets_nobody_add_what_is_there() {
    let scratch = Scratch::new();
    let file = built(&scratch);
    let separators = entries(&file, branch(&file));
    assert!(separators.len() > 2);
    let separator = separators[1];
    let digits = separator + 8 + key(&file, separator).len() - 2;
    for bit in 0..2 * 8 {
        let mut damaged = file.clone();
        damaged[digits + bit / 8] ^= 1 << (bit % 8);
        let (_store, table) = opened(&scratch, &format!("bit {bit}"), &damaged);
        for number in 0..ROWS {
            let kind = table.insert(&row(number)).unwrap_err().kind();
            assert!(
                [ErrorKind::EntityAlreadyExists, ErrorKind::Corrupt].contains(&kind),
                "{bit} {number} {kind:?}"
            );
            let kind = table.get("p", &format!("row {number:04}")).map_err(|error| error.kind());
            assert!(!matches!(kind, Ok(None)), "bit {bit}, row {number}");
        }
    }
}

#[test]
fn a_check_names_the_record_that_is_damaged_and_goes_on_to_the_other_tables() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    for name in ["First", "Second", "Third"] {
        store.create_table(name).unwrap().insert(&row(1)).unwrap();
    }
    drop(store);
    let mut file = fs::read(path.join("data.mdb")).unwrap();
    // The record holds the name as it was given, its key in lower case.
    let places = pages::places(&file);
    let at =
        (0..file.len() - 6).filter(|at| places[*at] == Place::Small && file[*at..].starts_with(b"Second"));
    let at: Vec<_> = at.collect();
    assert_eq!(at.len(), 1);
    file[at[0]] ^= 1;
    fs::write(path.join("data.mdb"), file).unwrap();
    let report = relaxed().open(&path).unwrap().check().unwrap();
    let said: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert!(said.iter().any(|what| what.contains("under `second` is damaged")), "{said:?}");
    assert_eq!((report.tables, report.rows), (2, 3));
}

#[test]
fn a_branch_that_hides_its_last_leaves_is_an_error_and_never_an_answer() {
    let scratch = Scratch::new();
    let file = built(&scratch);
    let branch = branch(&file);
    let mut damaged = file.clone();
    // As if its last two entries were not there: nothing but its length says that they are.
    let lower = u16::try_from(u16_at(&file, branch + 12) - 4).unwrap();
    damaged[branch + 12..branch + 14].copy_from_slice(&lower.to_le_bytes());
    let (store, table) = opened(&scratch, "short", &damaged);
    assert_eq!(table.get("p", "row 0299").unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(table.insert(&row(299)).unwrap_err().kind(), ErrorKind::Corrupt);
    for query in [Query::new().partition("p"), Query::new().partition("p").rev()] {
        let kinds: Vec<_> =
            table.query(&query).unwrap().filter_map(|row| row.err().map(|error| error.kind())).collect();
        assert_eq!(kinds, [ErrorKind::Corrupt]);
    }
    assert!(!store.check().unwrap().problems.is_empty());
    // What is not hidden is as it was.
    assert_eq!(table.get("p", "row 0000").unwrap().unwrap().get("Number"), row(0).get("Number"));
}

#[test]
fn an_entry_of_a_branch_that_is_another_s_is_an_error_and_never_an_answer() {
    let scratch = Scratch::new();
    let file = built(&scratch);
    let branch = branch(&file);
    let count = entries(&file, branch).len();
    assert!(count > 3, "{count}");
    let mut refused = 0;
    for (at, of) in (0..count).flat_map(|at| (0..count).map(move |of| (at, of))).filter(|(at, of)| at != of) {
        let mut damaged = file.clone();
        damaged.copy_within(branch + 16 + 2 * of..branch + 18 + 2 * of, branch + 16 + 2 * at);
        let (store, table) = opened(&scratch, &format!("{at} as {of}"), &damaged);
        for number in (0..ROWS).step_by(7) {
            let name = format!("row {number:04}");
            let right = row(number).get("Number").cloned();
            let from = Query::new().partition("p").rows(name.as_str()..);
            let to = Query::new().partition("p").rows(..=name.as_str()).rev();
            let answers = [
                table.get("p", &name),
                table.query(&from).unwrap().next().transpose(),
                table.query(&to).unwrap().next().transpose(),
            ];
            for answer in answers {
                match answer {
                    Ok(found) => {
                        assert_eq!(found.and_then(|row| row.get("Number").cloned()), right, "{name}")
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Corrupt);
                        refused += 1;
                    }
                }
            }
            let kind = table.insert(&row(number)).unwrap_err().kind();
            assert!(matches!(kind, ErrorKind::Corrupt | ErrorKind::EntityAlreadyExists), "{name}: {kind:?}");
        }
        assert!(!store.check().unwrap().problems.is_empty());
    }
    assert!(refused > 0);
}

#[test]
fn a_row_that_is_changed_through_an_entry_that_is_another_s_is_not_read_as_it_was() {
    let scratch = Scratch::new();
    let file = built(&scratch);
    let branch = branch(&file);
    let count = entries(&file, branch).len();
    let changed = |number: u32| row(number).with("Number", -1).with("Text", "x".repeat(700));
    let (mut refused, mut done) = (0, 0);
    for (at, of) in (0..count).flat_map(|at| (0..count).map(move |of| (at, of))).filter(|(at, of)| at != of) {
        let mut damaged = file.clone();
        damaged.copy_within(branch + 16 + 2 * of..branch + 18 + 2 * of, branch + 16 + 2 * at);
        let (_store, table) = opened(&scratch, &format!("{at} changed as {of}"), &damaged);
        for number in (0..ROWS).step_by(5) {
            let name = format!("row {number:04}");
            let goes = number % 2 == 1;
            let written = if goes { table.delete("p", &name) } else { table.put(&changed(number)).map(drop) };
            let found = table.get("p", &name).map(|row| row.and_then(|row| row.get("Number").cloned()));
            match (written, found) {
                (_, Err(error)) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}"),
                (Ok(()), Ok(found)) => {
                    done += 1;
                    assert_eq!(found, (!goes).then_some(Value::Int32(-1)), "{name}: {at} as {of}");
                }
                (Err(error), Ok(found)) => {
                    refused += 1;
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}");
                    assert_eq!(found, row(number).get("Number").cloned(), "{name}: {at} as {of}");
                }
            }
        }
    }
    // Each write comes to that branch, which is looked at whole.
    assert!(done == 0 && refused > 0, "{done} done, {refused} refused");
}

/// LMDB frees as many pages as a large value's first page says. Whatever that says, no other's are freed.
#[test]
fn a_large_value_whose_pages_are_counted_wrong_takes_no_others_with_it() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let table = store.create_table("Table").unwrap();
    let large = |text: &str| DynamicEntity::new("p", "large").with("Text", text.repeat(9_000));
    table.insert(&large("x")).unwrap();
    for number in 0..ROWS {
        table.insert(&row(number)).unwrap();
    }
    let photos = store.container("photos").unwrap();
    photos.put("cat", &[7; 9_000]).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
    drop((photos, table, store));
    let file = fs::read(path.join("data.mdb")).unwrap();
    let places = pages::places(&file);
    let runs: Vec<_> =
        (0..file.len()).step_by(PAGE).filter(|page| places[*page] == Place::LargeHeader).collect();
    assert_eq!(runs.len(), 2, "of the row and of the blob");
    let is_corrupt =
        |done: table_core::Result<()>| done.is_err_and(|error| error.kind() == ErrorKind::Corrupt);
    for (run, bit) in runs.into_iter().flat_map(|run| (0..32).map(move |bit| (run, bit))) {
        let mut damaged = file.clone();
        damaged[run + 12 + bit / 8] ^= 1 << (bit % 8);
        let is_row = file[run + 16..run + 9_000].windows(9).any(|text| text == b"xxxxxxxxx");
        let (store, table) = opened(&scratch, &format!("run {run} {bit}"), &damaged);
        if is_row {
            let replaced = table.replace(&large("y"), IfMatch::Any).map(drop);
            let smaller = table.put(&DynamicEntity::new("p", "large")).map(drop);
            for done in [replaced, smaller, table.delete("p", "large")] {
                assert!(is_corrupt(done), "bit {bit}");
            }
        } else {
            let photos = store.container("photos").unwrap();
            let deleted = photos.delete("cat").map(drop);
            assert!(is_corrupt(deleted.and_then(|()| store.reclaim().map(drop))), "bit {bit}");
        }
        // New rows take free pages, if any were freed.
        for number in ROWS..ROWS + 60 {
            table.insert(&row(number)).unwrap();
        }
        for number in (0..ROWS + 60).step_by(3) {
            let found = table.get("p", &format!("row {number:04}")).unwrap().unwrap();
            assert_eq!(found.get("Number"), row(number).get("Number"), "bit {bit}");
        }
        if is_row {
            drop(table);
            store.drop_table("Table").unwrap();
            assert!(is_corrupt(store.reclaim().map(drop)), "bit {bit}");
        }
    }
}

/// What lies at the end of a table is proved by the row beside it, which may be one of a table that was dropped.
#[test]
fn a_damaged_row_of_a_dropped_table_is_told_until_its_space_comes_back() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    {
        let store = relaxed().open(&path).unwrap();
        let table = store.create_table("Table").unwrap();
        for number in 0..10 {
            table.insert(&row(number)).unwrap();
        }
    }
    let text = |part: u32, number: u32| format!("that is gone: {part:02} {number:02}");
    let texts = || (0..60).flat_map(move |part| (0..100).map(move |number| text(part, number)));
    // The space comes back in the background, which some of it may do before the process has died.
    let left = (0..20).find_map(|_| {
        {
            let store = relaxed().open(&path).unwrap();
            store.reclaim().unwrap();
            let gone = store.create_table("Gone").unwrap();
            for part in 0..60 {
                let rows = (0..100).map(|number| {
                    let row = DynamicEntity::new("q", format!("{part:02} {number:02}"));
                    row.with("Text", text(part, number))
                });
                rows.fold(gone.batch("q"), |batch, row| batch.insert(row)).commit().unwrap();
            }
        }
        Child::start(env!("CARGO_BIN_EXE_crash-child"), "drop", &[path.to_str().unwrap(), "Gone"]).finish();
        let reading = Store::options().read_only(true).open(&path).unwrap();
        let (dropped, file) = (reading.stats().unwrap().dropped, fs::read(path.join("data.mdb")).unwrap());
        (dropped > 0).then_some(file)
    });
    let file = left.expect("one in twenty dies before all is gone");
    // The first that is left lies beside the other table's last. Former pages may have it, too.
    let of_pages = pages::places(&file);
    let place = |text: String| {
        let mut places = file.windows(text.len()).enumerate().filter(|(_, bytes)| *bytes == text.as_bytes());
        places.find(|(at, _)| of_pages[*at] == Place::LeafValue).map(|(at, _)| at)
    };
    let at = texts().find_map(place).expect("a row is left");
    let mut damaged = file.clone();
    damaged[at] ^= 1;
    fs::write(path.join("data.mdb"), &damaged).unwrap();
    {
        let store = Store::options().read_only(true).open(&path).unwrap();
        let problems = store.check().unwrap().problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        let table = store.dynamic_table("Table").unwrap();
        let read = table.query(&Query::new()).unwrap().collect::<Result<Vec<_>, _>>();
        assert!(read.map_or_else(|error| error.kind() == ErrorKind::Corrupt, |rows| rows.len() == 10));
    }
    let store = relaxed().open(&path).unwrap();
    while store.reclaim().unwrap() > 0 {}
    assert_eq!(store.check().unwrap().problems.len(), 0);
    let table = store.dynamic_table("Table").unwrap();
    assert_eq!(table.query(&Query::new()).unwrap().count(), 10);
}
