//! A wide entity on index lists, by what a part holds.

use integration_tests::Scratch;
use table_core::{DynamicEntity, Entity, IfMatch, Result, Store, Table};

use super::assert_sound;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Visits", kind = "visit", wide)]
#[key(partition = "{office}", row = "visit_{id:06}")]
#[index_list(by_city, row = "city_{city}", of = id)]
#[index(by_age, table = "Ages", partition = "all", row = "{age:03}_{office}_{id:06}", copy = keys, atomic)]
struct Visit {
    office: String,
    id: u32,
    #[part]
    city: String,
    age: u8,
}

fn visit(id: u32, city: &str) -> Visit {
    Visit { office: "Oslo".into(), id, city: city.into(), age: 30 }
}

fn on(visits: &Table<Visit>, city: &str) -> Vec<u32> {
    let list = visits.list(Visit::by_city("Oslo", city)).unwrap();
    list.entities().map(|one| one.map(|one| one.id)).collect::<Result<_>>().unwrap()
}

fn assert_whole(store: &Store, visits: &Table<Visit>) {
    assert_eq!(visits.check().unwrap().wrong(), 0);
    let report = store.check().unwrap();
    assert!(report.wrong_copies.is_empty(), "{report:#?}");
    assert_sound(store);
}

#[test]
fn a_wide_entity_is_listed_by_what_a_part_holds() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let visits = store.table::<Visit>().unwrap();
    visits.bulk_insert((1..5).map(|id| visit(id, "Rome"))).unwrap().into_result().unwrap();
    visits.merge(Visit::key("Oslo", 2), Visit::patch().city("Bonn").age(40), IfMatch::Any).unwrap();
    visits.delete(Visit::key("Oslo", 3)).unwrap();
    assert_eq!((on(&visits, "Rome"), on(&visits, "Bonn")), (vec![1, 4], vec![2]));
    let aged: Vec<_> = visits.by_age().age(40).office("Oslo").entities().into_iter().collect();
    assert_eq!(aged.into_iter().map(|one| one.unwrap().id).collect::<Vec<_>>(), [2]);
    assert_whole(&store, &visits);

    // A list that somebody has taken away is missed by either check, and made again.
    let rows = store.dynamic_table("Visits").unwrap().raw();
    rows.delete("Oslo", "city_Rome").unwrap();
    assert_eq!(visits.check().unwrap().unlisted, 2);
    let wrong = store.check().unwrap().wrong_copies;
    assert!(wrong.iter().any(|problem| problem.what.contains("index list `by_city`")), "{wrong:#?}");
    visits.repair().unwrap().run().unwrap();
    assert_eq!(on(&visits, "Rome"), [1, 4]);
    assert_whole(&store, &visits);
}

#[test]
fn an_entity_that_lacks_a_part_stays_on_its_list_until_it_is_deleted() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let visits = store.table::<Visit>().unwrap();
    visits.bulk_insert((1..4).map(|id| visit(id, "Rome"))).unwrap().into_result().unwrap();
    let rows = store.dynamic_table("Visits").unwrap().raw();
    rows.delete("Oslo", "visit_000002_01").unwrap();
    let report = visits.check().unwrap();
    assert_eq!((report.lost_parts, report.mislisted, report.unlisted), (1, 0, 0), "{report}");
    // Another row in the part's place is no part either.
    rows.insert(&DynamicEntity::new("Oslo", "visit_000002_01")).unwrap();
    assert_eq!(visits.check().unwrap().mislisted, 0);
    rows.delete("Oslo", "visit_000002_01").unwrap();

    visits.delete(Visit::key("Oslo", 2)).unwrap();
    visits.repair().unwrap().run().unwrap();
    assert_eq!(on(&visits, "Rome"), [1, 3]);
    assert_whole(&store, &visits);
}
