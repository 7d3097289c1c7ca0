//! Rows that a plan only looks at hold what they refer to.

use integration_tests::assert_sound;
use table_core::blob::Blob;
use table_core::{Entity, Projection, Tables};

use super::{stats, store};

/// Somebody whose name others hold, with a photo that they do not.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", kind = "person")]
#[key(partition = "{town}", row = "person_{id:06}")]
#[copied_into(Club)]
struct Person {
    town: String,
    id: u32,
    name: String,
    photo: Blob,
}

#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Person)]
struct Name {
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", kind = "club")]
#[key(partition = "{town}", row = "club_{name}")]
#[index(by_chair, row = "chair_{chair_id:06}_{name}", copy = keys)]
struct Club {
    town: String,
    name: String,
    chair_id: u32,
    #[copy_of(Person, key(town, chair_id))]
    chair: Option<Name>,
    flag: Blob,
}

fn upload(store: &Tables, bytes: &[u8]) -> Blob {
    store.upload("image/jpeg", bytes).unwrap()
}

/// A plan that demands of a row that it stays as it is, as that of who comes to hold copies of another entity's fields does,
/// leaves what the row refers to.
#[test]
fn a_row_that_is_relied_on_keeps_its_blob() {
    let (_scratch, store) = store();
    let (people, clubs) = (store.table::<Person>().unwrap(), store.table::<Club>().unwrap());
    let [photo, flag] = [b"1", b"2"].map(|bytes| upload(&store, bytes));
    people.insert(&Person { town: "Ulm".into(), id: 1, name: "Ann".into(), photo }).unwrap();
    for name in ["chess", "rowing"] {
        let club = Club { town: "Ulm".into(), name: name.into(), chair_id: 1, chair: None, flag };
        clubs.insert(&club).unwrap();
        assert_sound(&store);
    }
    people.update(Person::key("Ulm", 1), |person| person.name = "Eve".into()).unwrap();
    let club = clubs.get(Club::key("Ulm", "chess")).unwrap().unwrap();
    assert_eq!((club.chair.as_ref().map(|chair| &*chair.name), club.flag), (Some("Eve"), flag));
    assert_sound(&store);
    clubs.delete(Club::key("Ulm", "chess")).unwrap();
    assert_sound(&store);
    assert_eq!((photo.get(&store).unwrap(), flag.get(&store).unwrap()), (b"1".to_vec(), b"2".to_vec()));
    assert!(stats(&store).is_none_or(|stats| (stats.blobs, stats.waiting) == (2, 0)));
}

/// A repair relies on the entity's row, and puts the copies right.
#[test]
fn a_repair_leaves_the_entity_its_blob() {
    let (_scratch, store) = store();
    let clubs = store.table::<Club>().unwrap();
    let flag = upload(&store, b"1");
    let club = Club { town: "Ulm".into(), name: "chess".into(), chair_id: 1, chair: None, flag };
    clubs.insert(&club).unwrap();
    for _ in 0..3 {
        let rows = clubs.dynamic().raw();
        rows.delete("Ulm", "chair_000001_chess").unwrap();
        assert!(!clubs.check().unwrap().is_sound());
        clubs.repair().unwrap().run().unwrap();
        assert_sound(&store);
        assert!(clubs.check().unwrap().is_sound());
        assert_sound(&store);
    }
    clubs.rebuild().unwrap().run().unwrap();
    assert_sound(&store);
    assert_eq!(flag.get(&store).unwrap(), b"1");
}

integration_tests::on_executors_with_jobs! {
    a_row_that_is_relied_on_keeps_its_blob
    a_repair_leaves_the_entity_its_blob
}
