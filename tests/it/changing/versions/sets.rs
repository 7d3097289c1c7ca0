//! Sets, which tell kinds and versions apart by the row.

use integration_tests::Scratch;
use integration_tests::company::Department;
use table_core::{DynamicEntity, EntitySet, ErrorKind, Query, Stored, prop};

use super::v2::Employee;
use super::{filled, key, second, v1};

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Company {
    Employee(Employee),
    Department(Department),
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Open {
    Employee(Employee),
    #[entity_set(unknown)]
    Other(DynamicEntity),
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Older {
    Employee(v1::Employee),
    Department(Department),
}

#[test]
fn a_set_dispatches_by_kind_and_version() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 1_100);
    let sales = Department { name: "Sales".into(), head_count: 9 };
    store.table::<Department>().unwrap().insert(&sales).unwrap();
    let check = |many: usize| {
        let set = store.set::<Company>().unwrap();
        let mut found: Vec<Company> =
            set.across_partitions().into_iter().map(|row| Stored::into_inner(row.unwrap())).collect();
        assert_eq!(found.remove(0), Company::Department(sales.clone()));
        let employees = (0..u32::try_from(many).unwrap()).map(|id| Company::Employee(second(id)));
        assert_eq!(found, employees.collect::<Vec<_>>());
        assert_eq!(set.across_partitions().count().unwrap(), many as u64 + 1);
        assert_eq!(set.partition(Employee::partition("Sales")).top(3).into_iter().count(), 3);
        assert_eq!(set.get(key(4)).unwrap().unwrap(), second(4));
        assert_eq!(set.get(key(9_999)).unwrap(), None);
        let any = set.get_any("Sales", "empid_000004").unwrap().map(Stored::into_inner);
        assert_eq!(any, Some(Company::Employee(second(4))));
        assert_eq!(set.get_any("Sales", "empid_009999").unwrap(), None);
        // What former versions had copies of, nobody takes for a kind of its own.
        let open = store.set::<Open>().unwrap();
        let others = open.across_partitions().into_iter().map(|row| Stored::into_inner(row.unwrap()));
        assert_eq!(others.filter(|found| matches!(found, Open::Other(_))).count(), 1);
    };
    check(1_100);
    let mut job = store.migration::<Employee>().unwrap().steps().unwrap();
    for _ in 0..5 {
        job.step().unwrap();
        check(1_100);
    }
    // What is asked of rows as they are stored waits, since some are of the former version.
    let set = store.set::<Company>().unwrap();
    let asked = || set.across_partitions().filter(prop("LastName").eq("Cao1"));
    assert_eq!(asked().count().unwrap_err().kind(), ErrorKind::MigrationPending);
    let error = asked().into_iter().next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MigrationPending, "{error}");
    let change = DynamicEntity::new("Sales", "empid_001099").with("Age", 40);
    let error = set.merge_any(&change, table_core::IfMatch::Any).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MigrationPending, "{error}");
    // Entities are given as they are now.
    let mut given = store.dynamic_table("Company").unwrap().get("Sales", "empid_001099").unwrap().unwrap();
    assert_eq!(given.get("EntityType").and_then(|kind| kind.as_str()), Some("employee"));
    assert_eq!(set.put_any(&given).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    set.delete_any("Sales", "empid_001099").unwrap();
    // Dynamic reads are raw.
    let raw = store.dynamic_table("Company").unwrap();
    let names = raw.query(&Query::new().filter(prop("Name").eq("Jun Cao1"))).unwrap().count();
    assert!(names > 0 && names < 440, "{names}");
    // An older set can't tell what it would leave out.
    let older = store.set::<Older>();
    assert_eq!(older.err().map(|error| error.kind()), Some(ErrorKind::LayoutChanged));

    job.run().unwrap();
    check(1_099);
    assert_eq!(asked().count().unwrap(), 220);
    set.merge_any(&DynamicEntity::new("Sales", "empid_001098").with("Age", 40), table_core::IfMatch::Any)
        .unwrap();
    given = raw.get("Sales", "empid_001098").unwrap().unwrap();
    assert_eq!(given.get("EntityType").and_then(|kind| kind.as_str()), Some("employee@2"));
    set.put_any(&given).unwrap();
}
