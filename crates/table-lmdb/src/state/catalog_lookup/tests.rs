//! One record of many, beside damage that hides some.

use std::fs::File;
use std::os::unix::fs::FileExt;

use table_derive::Entity;
use table_engine::Entity;
use table_engine::contents::length_of;
use table_engine::error::{ErrorKind, Result};
use table_engine::fields::Fields;
use table_engine::model::Ticks;
use table_engine::schema::PeriodTables;

use super::Lookup;
use crate::Store;
use crate::records::catalog::{self, Entry};
use crate::records::meta::Meta;
use crate::tests_scratch::in_memory;

#[derive(Entity)]
#[entity(table = "Seen{at:%Y%m%d%H}", kind = "seen")]
#[key(partition = "{site}", row = "seen_{at:ticks}")]
struct Seen {
    site: String,
    at: Ticks,
}

/// Every other hour has a table.
const HOURS: u64 = 600;
/// Bytes of a page before its entries' offsets, and where in an entry its key begins.
const HEADER: usize = 16;
const KEY: usize = 8;
/// What a page's flags say of it.
const KINDS: usize = 0xf;
const BRANCH: usize = 1;

fn tables() -> &'static PeriodTables {
    <Seen as Entity>::SCHEMA.periods().unwrap()
}

fn hour(number: u64) -> Ticks {
    let first: Ticks = "2014-07-31".parse().unwrap();
    Ticks::new(first.get() + number * 36_000_000_000).unwrap()
}

fn insert(store: &Store, number: u64) -> Result<()> {
    let seen = Seen { site: "docs".into(), at: hour(number) };
    store.periods::<Seen>().and_then(|periods| periods.insert(&seen)).map(drop)
}

fn built(path: &std::path::Path) -> Store {
    let store = Store::options().durability(crate::Durability::Relaxed).open(path).unwrap();
    store.create_table("Sedan").unwrap();
    store.create_table("Vain").unwrap();
    for number in (0..HOURS).step_by(2) {
        insert(&store, number).unwrap();
    }
    store
}

fn listed(store: &Store, number: u64) -> Result<Lookup<Entry>> {
    let inner = store.shared();
    let txn = inner.environment.read_txn()?;
    let read = inner.lookup_table(&txn, txn.id(), &tables().name(hour(number)));
    drop(txn);
    let txn = inner.environment.write_txn()?;
    let written = inner.lookup_table(&txn, lmdb_verify::state_of_write(&txn), &tables().name(hour(number)));
    assert_eq!(read.is_err(), written.is_err());
    written
}

#[test]
fn one_record_is_found_or_proved_to_be_absent_as_by_who_sees_all() {
    let dir = in_memory();
    let store = built(dir.path());
    let inner = store.shared();
    for number in 0..HOURS {
        let name = tables().name(hour(number));
        let found = {
            let txn = inner.environment.read_txn().unwrap();
            let meta = Meta::read(inner.environment.dbs.main, &txn).unwrap();
            let all = catalog::list(&inner.environment.dbs, &txn, &meta).unwrap();
            all.into_iter().find(|entry| *entry.name == *name)
        };
        assert_eq!(found.is_some(), number % 2 == 0);
        assert_eq!(listed(&store, number).unwrap(), found.map_or(Lookup::Absent, Lookup::Found));
    }
    let txn = inner.environment.read_txn().unwrap();
    let Lookup::Found(noted) = inner.lookup_periods(&txn, txn.id(), tables()).unwrap() else {
        panic!("the template is noted");
    };
    assert_eq!(&*noted.stem, "Seen");
    // A name in other letters is the same name.
    let name = tables().name(hour(2)).to_uppercase();
    assert!(matches!(inner.lookup_table(&txn, txn.id(), &name).unwrap(), Lookup::Found(_)));
}

#[test]
fn the_first_row_of_a_period_asks_for_no_other_table() {
    let dir = in_memory();
    let store = built(dir.path());
    let seen = store.periods::<Seen>().unwrap();
    let listed = || catalog::LISTED.replace(0);
    let key = |number: u64| Seen::key("docs", hour(number));
    // Nor does a read, or a change, of one that is not there.
    assert!(seen.get(key(4)).unwrap().is_some());
    listed();
    for number in (1..60).step_by(2) {
        assert!(seen.get(key(number)).unwrap().is_none());
        assert_eq!(seen.delete(key(number)).unwrap_err().kind(), ErrorKind::EntityNotFound);
        seen.insert(&Seen { site: "docs".into(), at: hour(number) }).unwrap();
        assert!(seen.get(key(number)).unwrap().is_some());
    }
    assert_eq!(listed(), 0);
    assert_eq!(seen.list().unwrap().len(), 330);
    assert_eq!(listed(), 1);
}

#[test]
fn a_table_that_damage_hides_is_not_made_a_second_time() {
    let dir = in_memory();
    let store = built(dir.path());
    let file = File::options().read(true).write(true).open(dir.path().join("data.mdb")).unwrap();
    let inner = store.shared();
    let size = inner.environment.dbs.pages.size();
    let leaf = |number: u64| {
        let txn = inner.environment.read_txn().unwrap();
        let key = catalog::folded(&tables().name(hour(number)));
        let record = inner.environment.dbs.catalog.get(&txn, key.as_bytes()).unwrap().unwrap();
        inner.environment.dbs.pages.number(record).unwrap()
    };
    let page = |number: u64| {
        let mut page = vec![0; size];
        file.read_exact_at(&mut page, number * length_of(size)).unwrap();
        page
    };
    let word = |page: &[u8], at: usize| usize::from(Fields(&page[at..]).u16().unwrap());
    let is_refused = |number: u64| {
        let listed = listed(&store, number).expect_err("what is hidden is not absent");
        assert_eq!(listed.kind(), ErrorKind::Corrupt);
        assert!(!store.check().unwrap().problems.is_empty());
        let made = store.clone().backend().clone().make_period(tables(), hour(number), Seen::SCHEMA);
        assert!(made.is_err_and(|error| error.kind() == ErrorKind::Corrupt));
    };
    let mut hidden = 0;
    for number in (0..HOURS - 2).step_by(2).filter(|number| leaf(*number) != leaf(number + 2)) {
        let leaf = leaf(number);
        let whole = page(leaf);
        let put = |at: usize, bytes: &[u8]| {
            file.write_all_at(bytes, leaf * length_of(size) + length_of(at)).unwrap();
        };
        // A leaf that is shorter lacks its last record.
        let lower = word(&whole, 12);
        put(12, &u16::try_from(lower - 2).unwrap().to_le_bytes());
        is_refused(number);
        put(0, &whole);
        // A key that is another's.
        let entry = word(&whole, lower - 2);
        put(entry + KEY, &[whole[entry + KEY] ^ 0x10]);
        is_refused(number);
        put(0, &whole);
        // A branch that leads to a leaf beside the right one.
        let mut led_astray = Vec::new();
        for number in 2..file.metadata().unwrap().len() / length_of(size) {
            let found = page(number);
            if word(&found, 10) & KINDS != BRANCH {
                continue;
            }
            let offset = |at: usize| [found[at], found[at + 1]];
            let child = |at: usize| Fields(&found[word(&found, at)..]).u32().map(u64::from);
            let mut offsets = (HEADER..word(&found, 12)).step_by(2);
            let Some(at) = offsets.find(|at| child(*at) == Some(leaf)) else { continue };
            let other = if at == HEADER { at + 2 } else { at - 2 };
            file.write_all_at(&offset(other), number * length_of(size) + length_of(at)).unwrap();
            led_astray.push((number * length_of(size) + length_of(at), offset(at)));
        }
        assert!(!led_astray.is_empty());
        is_refused(number);
        for (place, was) in led_astray {
            file.write_all_at(&was, place).unwrap();
        }
        for whole in [number, number + 2] {
            assert!(matches!(listed(&store, whole).unwrap(), Lookup::Found(_)));
        }
        hidden += 1;
    }
    assert!(hidden > 3, "the tables lie on several leaves");
    assert!(store.check().unwrap().problems.is_empty());
    insert(&store, 1).unwrap();
}
