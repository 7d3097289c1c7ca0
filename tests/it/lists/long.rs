//! Lists that their rows have no room for: their ids lie in a blob, which comes and goes with the change of an entity.

use std::collections::BTreeMap;

use integration_tests::executors::Executor;
use integration_tests::random::Random;
use integration_tests::{Scratch, assert_sound, on_executors_with_jobs};
use table_core::blob::Blob;
use table_core::{DynamicEntity, Entity, ErrorKind, Store, Table, Tables};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Long", kind = "row")]
#[key(partition = "all", row = "row_{name}")]
#[index_list(by_group, row = "group_{group}", of = name)]
struct Row {
    name: String,
    group: u8,
}

/// About 1,200 such names are more than a row holds, and some 10,400 more than a list.
fn name(at: u32) -> String {
    format!("{at:05}{}", "n".repeat(395))
}

fn row(at: u32, group: u8) -> Row {
    Row { name: name(at), group }
}

fn insert(table: &Table<Row>, rows: impl IntoIterator<Item = u32>, group: u8) -> table_core::Result<()> {
    let rows: Vec<_> = rows.into_iter().map(|at| row(at, group)).collect();
    for some in rows.chunks(50) {
        some.iter().fold(table.egt(Row::partition()), |batch, row| batch.insert(row)).commit()?;
    }
    Ok(())
}

/// Makes sure that a store on LMDB has so many blobs; others don't count them.
#[track_caller]
fn assert_blobs(store: &Tables, many: u64) {
    if let Some(store) = Store::of(store) {
        assert_eq!(store.stats().unwrap().blobs.blobs, many);
    }
}

fn reclaim(store: &Tables) {
    if let Some(store) = Store::of(store) {
        store.reclaim().unwrap();
    }
}

/// The list has these entities, and a check agrees with all that is there.
fn assert_lists(store: &Tables, groups: &BTreeMap<u8, Vec<u32>>) {
    let table = store.table::<Row>().unwrap();
    for (group, wanted) in groups {
        let list = table.list(Row::by_group(*group)).unwrap();
        let keys: Vec<_> = list.keys().collect();
        assert_eq!(keys.len(), wanted.len());
        assert!(keys.iter().zip(wanted).all(|(key, at)| *key == Row::key(name(*at))));
        if let Some(last) = list.entities().last() {
            assert_eq!(last.unwrap().group, *group);
        }
    }
    let report = table.check().unwrap();
    assert!(report.is_sound(), "{report}: {:?}", report.problems);
    assert_eq!(report.lists, groups.values().filter(|ids| !ids.is_empty()).count() as u64);
    assert_sound(store);
}

#[test]
fn a_list_goes_into_a_blob_when_its_row_is_too_small_and_comes_back() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Row>().unwrap();
    insert(&table, 0..1_100, 1).unwrap();
    assert_blobs(&store, 0);
    assert!(table.dynamic().get("all", "group_001").unwrap().unwrap().get("Ids14").is_some());
    let short = store.snapshot().unwrap();

    insert(&table, 1_100..1_300, 1).unwrap();
    assert_blobs(&store, 1);
    assert_lists(&store, &BTreeMap::from([(1, (0..1_300).collect())]));
    let long = store.snapshot().unwrap();
    // One entity changes its value, and one goes.
    table.update(Row::key(name(7)), |row| row.group = 2).unwrap();
    table.delete(Row::key(name(1_299))).unwrap();
    let left: Vec<_> = (0..1_299).filter(|at| *at != 7).collect();
    assert_lists(&store, &BTreeMap::from([(1, left.clone()), (2, vec![7])]));
    // A list that was read before is as it was.
    assert_eq!(table.at(&short).list(Row::by_group(1)).unwrap().len(), 1_100);
    assert_eq!(table.at(&long).list(Row::by_group(1)).unwrap().len(), 1_300);
    drop((short, long));

    // Without its struct the list is a row with a blob of text.
    let there = table.dynamic().get("all", "group_001").unwrap().unwrap();
    assert_eq!(there.properties().count(), 2);
    let long = store.dynamic_table("Long").unwrap().get("all", "group_001").unwrap().unwrap();
    let ids = Blob::of(long.get("Ids").unwrap()).unwrap();
    let text = String::from_utf8(ids.get(&store).unwrap()).unwrap();
    assert!(text.split(',').eq(left.iter().map(|at| name(*at))));
    let info = ids.open(&store).unwrap();
    assert_eq!(info.content_type(), "text/plain; charset=utf-8");
    drop(info);

    // A copy of the store has it, and the first that is read of it in a process may be read in a snapshot.
    if let Some(store) = Store::of(&store) {
        let copy = scratch.path().join("copy");
        store.copy_to(&copy).unwrap();
        let copied = Store::options().map_size(1 << 30).open(&copy).unwrap();
        let snapshot = copied.snapshot().unwrap();
        let of_copy = copied.table::<Row>().unwrap();
        assert_eq!(of_copy.at(&snapshot).list(Row::by_group(1)).unwrap().len(), left.len());
        assert_lists(&copied, &BTreeMap::from([(1, left.clone()), (2, vec![7])]));
    }

    for some in left[1_000..].chunks(50) {
        let gone = some.iter().fold(table.egt(Row::partition()), |egt, at| egt.delete(Row::key(name(*at))));
        gone.commit().unwrap();
    }
    assert_blobs(&store, 0);
    assert!(table.dynamic().get("all", "group_001").unwrap().unwrap().get("Ids13").is_some());
    assert_lists(&store, &BTreeMap::from([(1, left[..1_000].to_vec()), (2, vec![7])]));
}

#[test]
fn plans_of_one_transaction_change_one_blob() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Row>().unwrap();
    insert(&table, 0..1_300, 1).unwrap();
    let ids = |store: &Tables| {
        let row = store.dynamic_table("Long").unwrap().get("all", "group_001").unwrap().unwrap();
        Blob::of(row.get("Ids").unwrap()).unwrap()
    };
    let before = ids(&store);
    // Each is a plan by itself, and all are in few transactions.
    let report = table.bulk_insert((1_300..1_800).rev().map(|at| row(at, 1))).unwrap();
    assert!(report.failures.is_empty());
    assert_eq!(before.get(&store).unwrap_err().kind(), ErrorKind::BlobGone);
    let text = ids(&store).get(&store).unwrap();
    assert_eq!(text.len(), 1_800 * 401 - 1);
    assert_blobs(&store, 1);
    assert_lists(&store, &BTreeMap::from([(1, (0..1_800).collect())]));
    // A blob that somebody else holds, too, stays as it is.
    let row_of_list = table.dynamic().get("all", "group_001").unwrap().unwrap();
    let mine = DynamicEntity::new("all", "mine").with("Kept", row_of_list.get("Ids").unwrap().clone());
    table.dynamic().insert(&mine).unwrap();
    table.bulk_insert((1_800..1_810).map(|at| row(at, 1))).unwrap().into_result().unwrap();
    assert_blobs(&store, 2);
    let kept = Blob::of(mine.get("Kept").unwrap()).unwrap();
    assert_eq!(kept.get(&store).unwrap(), text);
    table.dynamic().delete("all", "mine").unwrap();
    assert_blobs(&store, 1);
    assert_lists(&store, &BTreeMap::from([(1, (0..1_810).collect())]));
}

#[test]
fn what_is_longer_than_a_list_can_be_refuses_the_change() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Row>().unwrap();
    // Together, since each change writes the whole list.
    let insert = |range: std::ops::Range<u32>| {
        let rows: Vec<_> = range.map(|at| row(at, 1)).collect();
        rows.iter().fold(store.transaction(), |all, row| all.insert(row)).commit()
    };
    let most = (4 << 20) / 401;
    for step in 0..4 {
        insert(step * most / 4..(step + 1) * most / 4).unwrap();
    }
    let error = insert(most..most + 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EntityTooLarge, "{error}");
    let text = error.to_string();
    assert!(
        text.contains("4 MiB") && text.contains("`#[index(by_group, ..)]`") && text.contains("group_"),
        "{text}"
    );
    assert_eq!(table.list(Row::by_group(1)).unwrap().len(), most as usize);
    assert_eq!(table.rows().count().unwrap(), u64::from(most));
    assert_blobs(&store, 1);
    assert_sound(&store);
    // One goes, and another comes.
    table.delete(Row::key(name(0))).unwrap();
    insert(most..most + 1).unwrap();
    assert!(table.check().unwrap().is_sound());
    store.drop_table("Long").unwrap();
    reclaim(&store);
    assert_blobs(&store, 0);
}

#[test]
fn what_a_raw_write_makes_of_a_long_list_is_found_and_mended() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Row>().unwrap();
    insert(&table, 0..1_300, 1).unwrap();
    let raw = table.dynamic().raw();
    let list = || DynamicEntity::new("all", "group_001").with("EntityType", "row.by_group");
    let others = store.table::<Holder>().unwrap();
    let upload = |bytes: &[u8]| {
        let blob = store.upload("text/plain", bytes).unwrap();
        others.put(&Holder { id: 1, held: blob }).unwrap();
        blob
    };
    let known = list()
        .with("Ids", table.dynamic().get("all", "group_001").unwrap().unwrap().get("Ids").unwrap().clone());
    for bytes in [&b"\xff\xfe"[..], b"b,a", &vec![b'n'; (4 << 20) + 1]] {
        let wrong = list().with("Ids", upload(bytes));
        raw.put(&wrong).unwrap();
        let error = table.list(Row::by_group(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(
            error.to_string().contains("`Table::repair`") && error.to_string().contains("group_001"),
            "{error}"
        );
        let error = table.insert(&row(2_000, 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(!table.check().unwrap().is_sound());
        assert!(table.repair().unwrap().run().unwrap().mended > 0);
        assert_lists(&store, &BTreeMap::from([(1, (0..1_300).collect())]));
    }
    // One that lacks an id and has another.
    let text: Vec<_> = (0..1_300).map(|at| name(if at == 3 { 70_000 } else { at })).collect();
    let mut sorted = text;
    sorted.sort();
    raw.put(&list().with("Ids", upload(sorted.join(",").as_bytes()))).unwrap();
    let report = table.check().unwrap();
    assert_eq!((report.unlisted, report.mislisted), (1, 1), "{report}");
    assert_eq!(table.repair().unwrap().run().unwrap().mended, 2);
    assert_lists(&store, &BTreeMap::from([(1, (0..1_300).collect())]));
    // What is gone is not there to be referred to again.
    assert_eq!(raw.put(&known).unwrap_err().kind(), ErrorKind::BlobGone);
}

#[derive(Entity)]
#[entity(table = "Holders", kind = "holder")]
#[key(partition = "all", row = "{id}")]
struct Holder {
    id: u8,
    held: Blob,
}

mod bare {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(table = "Long", kind = "row")]
    #[key(partition = "all", row = "row_{name}")]
    pub(super) struct Row {
        pub(super) name: String,
        pub(super) group: u8,
    }
}

#[test]
fn a_long_list_is_made_by_a_job_and_goes_with_its_index_and_its_table() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let former = store.table::<bare::Row>().unwrap();
    former
        .bulk_insert((0..1_400).map(|at| bare::Row { name: name(at), group: 1 }))
        .unwrap()
        .into_result()
        .unwrap();
    let table = store.table::<Row>().unwrap();
    table.rebuild().unwrap().run().unwrap();
    assert_blobs(&store, 1);
    assert_lists(&store, &BTreeMap::from([(1, (0..1_400).collect())]));
    former.drop_index("by_group").unwrap().run().unwrap();
    assert_blobs(&store, 0);
    table.rebuild().unwrap().run().unwrap();
    assert_lists(&store, &BTreeMap::from([(1, (0..1_400).collect())]));
    store.drop_table("Long").unwrap();
    reclaim(&store);
    assert_blobs(&store, 0);
    assert_sound(&store);
}

#[test]
fn long_lists_say_what_a_plain_look_finds_whatever_is_changed() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Row>().unwrap();
    let (mut random, mut all) = (Random::new(16), BTreeMap::<u32, u8>::new());
    for step in 0..120 {
        // Rows come by fifties, and whole ranges change their list or go, so that lists are long and short by turns.
        let from = random.below(40) as u32 * 50;
        let group = random.below(2) as u8;
        let rows: Vec<_> = (from..from + 50).map(|at| row(at, group)).collect();
        let before = all.clone();
        let mut batch = table.egt(Row::partition());
        for (at, row) in (from..).zip(&rows) {
            let goes = random.below(5) == 0 && step > 60;
            batch = match all.get(&at) {
                Some(_) if goes => batch.delete(Row::key(name(at))),
                None if goes => continue,
                _ => batch.put(row),
            };
            if goes {
                all.remove(&at);
            } else {
                all.insert(at, group);
            }
        }
        // Some are refused, and change nothing.
        if step % 9 == 0 {
            batch.delete(Row::key("nobody")).commit().unwrap_err();
            all = before;
        } else {
            batch.commit().unwrap();
        }
        if step % 20 == 19 {
            let of = |group: u8| all.iter().filter(|(_, of)| **of == group).map(|(at, _)| *at).collect();
            assert_lists(&store, &BTreeMap::from([(0, of(0)), (1, of(1))]));
        }
    }
}

/// What has no blobs refuses what no row has room for.
fn where_there_are_no_blobs_a_list_ends_with_its_row() {
    if !Executor::of_test().abilities().additions {
        return;
    }
    let scratch = Scratch::new();
    let store = scratch.tables();
    let table = store.table::<Row>().unwrap();
    let error = insert(&table, 0..2_000, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EntityTooLarge, "{error}");
    let text = error.to_string();
    assert!(text.contains("keeps no blobs") && text.contains("`#[index(by_group, ..)]`"), "{text}");
    let listed = table.list(Row::by_group(1)).unwrap().len();
    assert_eq!(table.rows().count().unwrap(), listed as u64);
    assert!(listed > 1_000, "{listed}");
}

on_executors_with_jobs! {
    a_list_goes_into_a_blob_when_its_row_is_too_small_and_comes_back
    plans_of_one_transaction_change_one_blob
    what_is_longer_than_a_list_can_be_refuses_the_change
    what_a_raw_write_makes_of_a_long_list_is_found_and_mended
    a_long_list_is_made_by_a_job_and_goes_with_its_index_and_its_table
    long_lists_say_what_a_plain_look_finds_whatever_is_changed
}

/// Those that keep no blobs.
mod without_blobs {
    use super::Executor;

    #[test]
    fn a_list_ends_with_its_row() {
        for executor in [Executor::Map, Executor::Service, Executor::Later] {
            executor.run(super::where_there_are_no_blobs_a_list_ends_with_its_row);
        }
    }
}
