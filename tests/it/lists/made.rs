//! Lists that come while there are entities, and are made by jobs.

use integration_tests::together::rebuild_while_others_write;
use integration_tests::{Scratch, assert_sound};
use table_core::{Entity, ErrorKind, Query};

/// The program before it had a list, with one, and with one that lists otherwise.
mod former {
    use table_core::Entity;

    pub(super) mod none {
        use super::Entity;

        #[derive(Entity, Clone)]
        #[entity(table = "Club", kind = "member")]
        #[key(partition = "{club}", row = "member_{id:06}")]
        pub(crate) struct Member {
            pub(crate) club: String,
            pub(crate) id: u32,
            pub(crate) city: String,
        }
    }

    pub(super) mod one {
        use super::Entity;

        #[derive(Entity, Clone)]
        #[entity(table = "Club", kind = "member")]
        #[key(partition = "{club}", row = "member_{id:06}")]
        #[index_list(by_city, row = "city_{city}", of = id)]
        pub(crate) struct Member {
            pub(crate) club: String,
            pub(crate) id: u32,
            pub(crate) city: String,
        }
    }

    pub(super) mod two {
        use super::Entity;

        #[derive(Entity, Clone)]
        #[entity(table = "Club", kind = "member")]
        #[key(partition = "{club}", row = "member_{id:06}")]
        #[index_list(by_city, row = "city_{city:lower}", of = id)]
        pub(crate) struct Member {
            pub(crate) club: String,
            pub(crate) id: u32,
            pub(crate) city: String,
        }
    }
}

use former::{none, one, two};

const CITIES: [&str; 3] = ["Bern", "Oslo", "Rome"];

fn members(many: u32) -> Vec<none::Member> {
    (0..many).map(|id| none::Member { club: "c".into(), id, city: CITIES[id as usize % 3].into() }).collect()
}

#[test]
fn a_list_that_is_added_is_made_by_rebuild_and_says_so_until_then() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let former = store.table::<none::Member>().unwrap();
    former.bulk_insert(members(900)).unwrap().into_result().unwrap();
    let table = store.table::<one::Member>().unwrap();
    // Nothing but the list is held up, and nobody keeps it yet.
    table.insert(&one::Member { club: "c".into(), id: 900, city: "Bern".into() }).unwrap();
    former.insert(&none::Member { club: "c".into(), id: 901, city: "Bern".into() }).unwrap();
    let snapshot = store.snapshot().unwrap();
    for error in [
        table.list(one::Member::by_city("c", "Bern")).unwrap_err(),
        table.at(&snapshot).list(one::Member::by_city("c", "Bern")).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
        assert!(error.to_string().contains("`by_city`") && error.to_string().contains("rebuild"), "{error}");
    }
    let mut job = table.rebuild().unwrap();
    let mut at = 0;
    while job.step().unwrap() {
        // Entities come and go beside it, also such as are not on it yet.
        if at < 200 {
            table.delete(one::Member::key("c", at)).unwrap();
            table.delete(one::Member::key("c", 899 - at)).unwrap();
            table.insert(&one::Member { club: "c".into(), id: 2_000 + at, city: "Oslo".into() }).unwrap();
        }
        at += 1;
    }
    let check = |store: &table_core::Tables| {
        let table = store.table::<one::Member>().unwrap();
        for city in CITIES {
            let mut wanted: Vec<u32> = table
                .rows()
                .club("c")
                .into_iter()
                .map(Result::unwrap)
                .filter(|one| one.city == city)
                .map(|one| one.id)
                .collect();
            wanted.sort_unstable();
            let list = table.list(one::Member::by_city("c", city)).unwrap();
            assert_eq!(list.entities().map(|one| one.unwrap().id).collect::<Vec<_>>(), wanted);
        }
        assert!(table.check().unwrap().is_sound());
    };
    check(&store);
    // Who doesn't know the list would leave it behind.
    let error = former.insert(&none::Member { club: "c".into(), id: 999, city: "Bern".into() }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert!(error.to_string().contains("by_city"), "{error}");

    // One that lists otherwise is made anew, and one that nobody wants is dropped.
    let changed = store.table::<two::Member>().unwrap();
    let error = changed.list(two::Member::by_city("c", "bern")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    changed.rebuild().unwrap().run().unwrap();
    assert!(changed.check().unwrap().is_sound());
    assert!(changed.list(two::Member::by_city("c", "BERN")).unwrap().len() > 100);
    changed.drop_index("by_city").unwrap().run().unwrap();
    former.insert(&none::Member { club: "c".into(), id: 999, city: "Bern".into() }).unwrap();
    let rows = store.dynamic_table("Club").unwrap().query(&Query::new()).unwrap();
    assert!(rows.map(Result::unwrap).all(|row| row.get("EntityType").unwrap().as_str() == Some("member")));
    assert_sound(&store);
}

#[test]
fn a_list_is_made_exactly_while_others_write() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    store.table::<none::Member>().unwrap().bulk_insert(members(600)).unwrap().into_result().unwrap();
    let table = store.table::<one::Member>().unwrap();
    rebuild_while_others_write(&table, |id, is_renewed| {
        let city = CITIES[(id as usize + 1) % 3];
        table.update(one::Member::key("c", id), |one| one.city = city.into()).unwrap();
        if is_renewed {
            table.delete(one::Member::key("c", id)).unwrap();
            let new = one::Member { club: "c".into(), id: 1_000 + id, city: "Rome".into() };
            table.insert(&new).unwrap();
        }
    });
    let report = table.check().unwrap();
    assert!(report.is_sound() && report.lists == 3, "{report}");
    assert_eq!(one::Member::SCHEMA.indexes.len(), 1);
}

integration_tests::on_executors_with_jobs! {
    a_list_that_is_added_is_made_by_rebuild_and_says_so_until_then
    a_list_is_made_exactly_while_others_write
}
