//! Entities that are converted from one version to another, and kinds as they are reported meanwhile.

use table_core::ErrorKind;
use table_core::introspect::IndexCondition;

use crate::releases::{Two, fill, first, third};

fn key(id: u32) -> table_core::Key<third::Employee> {
    third::Employee::key("Sales", id)
}

#[test]
fn a_version_is_read_before_and_written_after_its_entities_are_converted() {
    let Two { ours, theirs } = Two::open();
    fill(&ours, 300);
    let staff = theirs.table::<third::Employee>().unwrap();
    let seven = || staff.get(key(7)).unwrap().unwrap();
    assert_eq!((&*seven().user, &*seven().host), ("7", "example.com"));
    let error = staff.by_host().department("Sales").count().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MigrationPending, "{error}");
    let migration = theirs.migration::<third::Employee>().unwrap();
    assert_eq!((migration.from(), migration.to(), migration.rows()), (Some(1), 2, 300));
    assert!(migration.is_needed() && migration.bytes() > 300);

    let mut job = migration.steps().unwrap().steps_of(70);
    assert!(job.step().unwrap());
    // Another process goes on with it, and writes meanwhile.
    drop(job);
    let late = ours.table::<third::Employee>().unwrap();
    late.update(key(299), |one| one.host = "other.com".into()).unwrap();
    let kinds = ours.kinds().unwrap();
    let [kind] = &kinds[..] else { panic!("{kinds:?}") };
    assert_eq!((kind.version(), kind.converting_from()), (2, Some(1)));
    assert_eq!(kind.indexes()[0].condition, Some(IndexCondition::Building));
    let old = ours.table::<first::Employee>().map(drop).unwrap_err();
    assert_eq!(old.kind(), ErrorKind::LayoutChanged, "{old}");
    ours.migration::<third::Employee>().unwrap().run().unwrap();

    assert_eq!((&*seven().user, &*seven().host), ("7", "example.com"));
    assert_eq!(staff.by_host().department("Sales").host("example.com").count().unwrap(), 299);
    assert_eq!(staff.by_host().department("Sales").host("other.com").count().unwrap(), 1);
    assert!(staff.check().unwrap().is_sound() && ours.jobs().unwrap().is_empty());
    let kind = ours.kinds().unwrap().remove(0);
    assert_eq!((kind.version(), kind.converting_from()), (2, None));
    assert_eq!(kind.indexes()[0].condition, Some(IndexCondition::Ready));
    assert!(!theirs.migration::<third::Employee>().unwrap().is_needed());
}
