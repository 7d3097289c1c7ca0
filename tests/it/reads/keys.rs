//! Keys as values: copied, compared, kept in sets, and shown.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use table_core::{Entity, IndexKey, Key, Partition};

use super::{Employee, employee};

#[derive(Entity)]
#[entity(table = "Company", kind = "member")]
#[key(partition = "{team}", row = "id_{number:04}")]
#[index(by_phone, row = "phone_{phone:blind}_{number:04}")]
#[index(by_email, row = "mail_{email:lower}", unique)]
struct Member {
    team: String,
    email: String,
    number: u16,
    #[encrypt(blind)]
    phone: String,
}

/// What nothing may show.
const PHONE: &str = "030-5551234";

/// All of them are one: equal, of one hash, and so are their copies.
#[track_caller]
fn assert_one<T: Clone + Eq + std::hash::Hash + std::fmt::Debug>(keys: &[T]) {
    let hasher = RandomState::new();
    let first = keys.first().unwrap();
    for key in keys.iter().cloned().chain(keys.iter().map(T::clone)) {
        assert_eq!(&key, first);
        assert_eq!(hasher.hash_one(&key), hasher.hash_one(first));
        assert_eq!(format!("{key:?}"), format!("{first:?}"));
    }
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 1);
}

/// No two of them are equal.
#[track_caller]
fn assert_many<T: Clone + Eq + std::hash::Hash + std::fmt::Debug>(keys: &[T]) {
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "{keys:?}");
}

#[test]
fn two_spellings_of_a_key_are_one_key() {
    let department = String::from("Sales");
    let keys: [Key<Employee>; 4] = [
        Employee::key("Sales", 7),
        Employee::key(&department, 7),
        Employee::key(department.clone(), 7),
        Key::of(&employee(7, "Hall", 30)),
    ];
    assert_one(&keys);
    assert_eq!(keys[0].clone().as_strs().unwrap(), ("Sales", "empid_000007"));
    // By what the key prints: text that is folded is one text.
    assert_one(&[Member::by_email("Red", "Ann@b.c"), Member::by_email("Red", "aNN@b.c")]);
    assert_one::<Partition<Employee>>(&[Employee::partition("Sales"), Employee::partition(&department)]);
    assert_many(&[Employee::key("Sales", 7), Employee::key("Sales", 8), Employee::key("Salt", 7)]);
    assert_many(&[Employee::partition("Sales"), Employee::partition("Salt")]);
    let by_name: [IndexKey<_>; 3] = [
        Employee::by_name("Sales", "Hall", 7),
        Employee::by_name("Sales", "Hal", 7),
        Employee::by_name("S", "Hall", 7),
    ];
    assert_many(&by_name);
}

#[test]
fn a_key_that_no_row_can_have_is_the_same_as_one_that_is_refused_in_the_same_words() {
    // The number has six digits in the key.
    assert_one(&[Employee::key("Sales", 1_000_000), Employee::key("Sales", 1_000_000)]);
    assert_many(&[Employee::key("Sales", 1_000_000), Employee::key("Sales", 1)]);
    let refused = Employee::key("Sales", 1_000_000);
    assert_eq!(
        refused.clone().as_strs().unwrap_err().to_string(),
        refused.as_strs().unwrap_err().to_string()
    );
}

#[test]
fn a_key_with_a_token_is_compared_by_what_was_given_and_shows_nothing_of_it() {
    let phone = PHONE.to_owned();
    let keys = [Member::by_phone("Red", PHONE, 1), Member::by_phone("Red", &phone, 1)];
    assert_one(&keys);
    assert_many(&[
        Member::by_phone("Red", PHONE, 1),
        Member::by_phone("Red", PHONE, 2),
        Member::by_phone("Blue", PHONE, 1),
        Member::by_phone("Red", "030-5551235", 1),
    ]);
    // Of what is looked up by its token nothing stands in the hash either: it can be guessed from one.
    let hasher = RandomState::new();
    let other = Member::by_phone("Red", "030-5551235", 1);
    assert_eq!(hasher.hash_one(&keys[0]), hasher.hash_one(&other));
    for shown in [format!("{:?}", keys[0]), format!("{:#?}", keys[1].clone())] {
        assert!(shown.contains("phone_{phone:blind}_{number:04}"), "{shown}");
        assert!(!shown.contains("5551234"), "{shown}");
    }
}
