//! Entities that can't be converted.

use integration_tests::Scratch;
use table_core::{ErrorKind, Tables};

use super::v2::Employee;
use super::{assert_converted, filled, key, second, v1};

fn with_bad_ones(scratch: &Scratch) -> Tables {
    let store = filled(scratch, 40);
    let older = store.table::<v1::Employee>().unwrap();
    older.update(v1::Employee::key("Sales", 11), |e| e.name = "Cher".into()).unwrap();
    older.update(v1::Employee::key("Sales", 30), |e| e.age = 900).unwrap();
    store
}

#[test]
fn one_that_can_t_be_converted_is_one_error_among_the_others() {
    let scratch = Scratch::new();
    let store = with_bad_ones(&scratch);
    let staff = store.table::<Employee>().unwrap();
    for all in [staff.all(), staff.all().rev(), staff.all().filter(|e| e.level.eq(1))] {
        let (found, failed): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
        assert_eq!((found.len(), failed.len()), (38, 2));
        for error in failed.into_iter().map(Result::unwrap_err) {
            assert_eq!(error.kind(), ErrorKind::NotConverted, "{error}");
            assert!(error.to_string().contains("empid_0000"), "{error}");
        }
    }
    // What is asked of all of them is not answered wrongly.
    for error in [
        staff.get(key(11)).unwrap_err(),
        staff.all().count().unwrap_err(),
        staff.all().page(100, None).unwrap_err(),
        staff.all().filter(|e| e.age.lt(10)).count().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::NotConverted, "{error}");
    }
    let error = staff.get(key(11)).unwrap_err().to_string();
    assert!(error.contains("`Cher` is one name"), "{error}");
    assert_eq!(staff.rows().department("Sales").id(12..30).count().unwrap(), 18);
}

#[test]
fn the_migration_stops_there_says_why_and_goes_on_when_it_is_mended() {
    let scratch = Scratch::new();
    let store = with_bad_ones(&scratch);
    let staff = store.table::<Employee>().unwrap();
    for _ in 0..2 {
        let error = store.migration::<Employee>().unwrap().run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotConverted, "{error}");
        assert!(error.to_string().contains("`Cher` is one name"), "{error}");
        let migration = store.migration::<Employee>().unwrap();
        assert!(migration.to_string().contains("it has stopped at partition `Sales`, row `empid_000011`"));
        assert_eq!(store.jobs().unwrap().len(), 3);
    }
    // Meanwhile all else goes on, and what needs the entity itself says why it can't.
    staff.update(key(20), |e| e.age = 5).unwrap();
    let error = staff.update(key(11), |e| e.age = 5).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotConverted, "{error}");
    assert!(staff.update(key(11), |_| {}).is_err());
    // It is given anew.
    staff.put(&Employee { last_name: "Sarkisian".into(), ..second(11) }).unwrap();
    let error = store.migration::<Employee>().unwrap().run().unwrap_err();
    assert!(error.to_string().contains("nobody is 900 years old"), "{error}");
    staff.delete(key(30)).unwrap();
    store.migration::<Employee>().unwrap().run().unwrap();
    assert_converted(&store, 39);
    assert_eq!(staff.by_last_name().department("Sales").last_name("Sarkisian").count().unwrap(), 1);
    assert_eq!(staff.get(key(20)).unwrap().unwrap().age, 5);
}

#[test]
fn two_entities_that_come_to_claim_one_key_of_a_unique_index_stop_the_index_alone() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 20);
    let staff = store.table::<Employee>().unwrap();
    let job = store.migration::<Employee>().unwrap().steps().unwrap();
    // While it runs nobody can tell.
    staff.update(key(4), |e| e.email = "5@contoso.com".into()).unwrap();
    let error = job.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
    staff.update(key(4), |e| e.email = "4@contoso.com".into()).unwrap();
    store.migration::<Employee>().unwrap().run().unwrap();
    assert_converted(&store, 20);
}

integration_tests::on_executors_with_jobs! {
    one_that_can_t_be_converted_is_one_error_among_the_others
    the_migration_stops_there_says_why_and_goes_on_when_it_is_mended
    two_entities_that_come_to_claim_one_key_of_a_unique_index_stop_the_index_alone
}

integration_tests::on_azure! {
    the_migration_stops_there_says_why_and_goes_on_when_it_is_mended
    two_entities_that_come_to_claim_one_key_of_a_unique_index_stop_the_index_alone
}
