//! What the struct could not read is refused, and nothing is written.

use integration_tests::Scratch;
use table_core::{DynamicEntity, ErrorKind, IfMatch};

use super::{EXECUTORS, Employee, company, dynamic, employee, seen};

fn without(name: &str) -> DynamicEntity {
    let mut entity = dynamic(&employee("Sales", 1));
    entity.remove(name).unwrap();
    entity
}

fn with(name: &str, value: impl Into<table_core::Value>) -> DynamicEntity {
    dynamic(&employee("Sales", 1)).with(name, value)
}

#[test]
fn what_the_struct_could_not_read_is_refused() {
    for executor in EXECUTORS {
        executor.run(|| {
            let scratch = Scratch::new();
            let (store, _, table) = company(&scratch);
            let refused = [
                (without("Email"), "property `Email` does not fit the layout of `employee`: expected Edm.String, but there is no such property"),
                (with("Salary", "much"), "property `Salary` does not fit the layout of `employee`: expected Edm.Int64, found Edm.String"),
                (with("Age", 256), "property `Age` does not fit the layout of `employee`: more than the field's type holds"),
                (with("Age", -1), "property `Age` does not fit the layout of `employee`: less than the field's type holds"),
                (with("Hours_01", 256), "property `Hours_01` does not fit"),
                (with("Contract", "open"), "property `Contract` does not fit the layout of `employee`: the text is of none of the variants"),
                (with("Skills", "a, b"), "property `Skills` does not fit the layout of `employee`: the text is no JSON"),
                (with("Emial", "a"), "`employee` has no property `Emial`"),
                (with("Id", 2), "its properties give the keys `Sales` and `empid_000002`"),
            ];
            for (entity, because) in &refused {
                for error in [
                    table.insert(entity).unwrap_err(),
                    table.put(entity).unwrap_err(),
                    table.insert_or_merge(entity).unwrap_err(),
                    table.batch("Sales").insert(entity.clone()).commit().unwrap_err(),
                ] {
                    assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
                    assert!(error.to_string().contains(because), "{error}\n{because}");
                    assert_eq!(error.row_key(), Some("empid_000001"), "{error}");
                }
                assert!(seen(&store).is_empty());
            }
            for key in ["empid_1", "empid_0000001", "empid_x", "desk_00001"] {
                let mut entity = DynamicEntity::new("Sales", key);
                for (name, value) in dynamic(&employee("Sales", 1)).properties() {
                    entity.set(name, value.clone());
                }
                let error = table.insert(&entity).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
                assert!(seen(&store).is_empty());
            }
        });
    }
}

#[test]
fn a_merge_sets_what_the_struct_reads_and_no_part_of_the_key() {
    for executor in EXECUTORS {
        executor.run(|| {
            let scratch = Scratch::new();
            let (store, staff, table) = company(&scratch);
            table.insert(&dynamic(&employee("Sales", 1))).unwrap();
            let before = seen(&store);
            let change = |name: &str, value: table_core::Value| {
                DynamicEntity::new("Sales", "empid_000001").with(name, value)
            };
            for (change, kind) in [
                (change("Age", 256.into()), ErrorKind::SchemaMismatch),
                (change("Nothing", 1.into()), ErrorKind::SchemaMismatch),
                (change("Skills", "[".into()), ErrorKind::SchemaMismatch),
                (change("Id", 2.into()), ErrorKind::KeyChanged),
                (change("Department", "Legal".into()), ErrorKind::KeyChanged),
            ] {
                for error in [
                    table.merge(&change, IfMatch::Any).unwrap_err(),
                    table.insert_or_merge(&change).unwrap_err(),
                ] {
                    assert_eq!(error.kind(), kind, "{error}");
                    assert_eq!(seen(&store), before);
                }
            }
            // An integer may be given in either width, and a part of the key as it is.
            table.merge(&change("Id", 1.into()).with("Age", 40_i64).with("Salary", 5), IfMatch::Any).unwrap();
            let now = staff.get(Employee::key("Sales", 1)).unwrap().unwrap();
            assert_eq!((now.age, now.salary), (40, 5));
            let row = table.get("Sales", "empid_000001").unwrap().unwrap();
            assert_eq!((row.get("Age"), row.get("Salary")), (Some(&40.into()), Some(&5_i64.into())));
        });
    }
}

#[test]
fn what_has_a_default_may_be_absent_unless_it_is_filed_by() {
    let scratch = Scratch::new();
    let (_, staff, table) = company(&scratch);
    table.insert(&without("Rank")).unwrap();
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap().unwrap().rank, 0);
    assert!(staff.check().unwrap().is_sound());
}
