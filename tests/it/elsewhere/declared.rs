//! What a store knows of copies elsewhere: their rows are their struct's, their layout is noted where they lie, and keys of
//! other kinds there keep away from theirs.

use integration_tests::elsewhere::{Employee, check};
use table_core::schema::Schema;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Store};

use super::{Executor, company, employee, seen};

#[test]
fn rows_of_copies_elsewhere_are_written_by_their_struct_alone() {
    for executor in [Executor::Lmdb, Executor::Map] {
        executor.run(|| {
            let (_scratch, store) = company();
            let before = seen(&store);
            let names = store.dynamic_table("Names").unwrap();
            let copy = names.query(&Query::new().partition("name_n1")).unwrap().next().unwrap().unwrap();
            let other = DynamicEntity::new("any", "any").with("EntityType", "employee.by_name");
            for refused in [
                names.insert(&other).map(drop),
                names.merge(&copy, IfMatch::Any).map(drop),
                names.put(&copy).map(drop),
                store
                    .dynamic_table("Skills")
                    .unwrap()
                    .insert(&DynamicEntity::new("x", "y").with("EntityType", "employee.by_skill"))
                    .map(drop),
            ] {
                let error = refused.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
                assert!(error.to_string().contains("of an entity of the kind `employee`"), "{error}");
            }
            assert_eq!(seen(&store), before);
            if executor == Executor::Lmdb {
                let error = names.delete(copy.partition_key(), copy.row_key()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
                assert_eq!(seen(&store), before);
            }
            // Rows of no declared kind are anybody's, there too.
            names.insert(&DynamicEntity::new("any", "any").with("Number", 1)).unwrap();
        });
    }
}

/// A copy that was removed by force is an error of the lookup's query, and no wrong answer.
#[test]
fn an_entity_whose_copy_was_removed_by_force_is_mended_by_its_next_change() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    let names = store.dynamic_table("Names").unwrap().raw();
    names.delete("name_n1", "Sales_000001").unwrap();
    assert!(staff.get(Employee::by_name("n1", "Sales", 1)).unwrap().is_none());
    staff.update(Employee::key("Sales", 1), |employee| employee.email = "mended@contoso.com".into()).unwrap();
    check(&store).unwrap();
    // And one that nobody has is said to be nobody's.
    store.dynamic_table("Company").unwrap().raw().delete("Sales", "empid_000001").unwrap();
    let orphan = staff.by_name().last_name("n1").entities().into_iter().find_map(Result::err).unwrap();
    assert_eq!(orphan.kind(), ErrorKind::Corrupt);
    assert!(
        orphan
            .to_string()
            .contains("a copy of the entity in partition `Sales`, row `empid_000001`, which is not there"),
        "{orphan}"
    );
}

#[test]
fn a_schema_shows_where_each_copy_lies() {
    let schema: &Schema = Employee::SCHEMA;
    let shown = schema.to_string();
    for line in [
        "employee.by_email, unique, atomic",
        "employee.by_name, in table Names, atomic",
        "employee.by_badge, unique, not of every entity, in table Names, atomic",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let by_age = shown.lines().find(|line| line.starts_with("employee.by_age")).unwrap();
    assert!(by_age.starts_with("employee.by_age  "), "{shown}");
}

/// A further declaration of the same kind, or of another that lies there.
mod other {
    use super::Entity;

    /// The names are in other partitions.
    #[expect(clippy::duplicated_attributes, reason = "each index says for itself when its copies come")]
    #[derive(Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, partition = "all", row = "email_{email}", atomic, unique)]
    #[index(
        by_name,
        table = "Names",
        partition = "other_{last_name}",
        row = "{department}_{id:06}",
        copy(email),
        atomic
    )]
    #[index(by_badge, table = "Names", partition = "badges", row = "{badge:05}", copy = keys, when = Moved::is_inside, unique, atomic)]
    #[index(by_skill, table = "Skills", partition = "{department}", row = "{skills[]}_{id:06}", copy = keys, as = skill, atomic)]
    #[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
    pub(super) struct Moved {
        department: String,
        id: u32,
        last_name: String,
        email: String,
        badge: Option<u32>,
        is_inside: bool,
        #[property(json)]
        skills: Vec<String>,
        age: u32,
    }

    impl Moved {
        fn is_inside(&self) -> bool {
            self.is_inside
        }

        pub(super) fn new() -> Self {
            Self {
                department: "New".into(),
                id: 1,
                last_name: "n".into(),
                email: "new".into(),
                badge: None,
                is_inside: false,
                skills: Vec::new(),
                age: 1,
            }
        }
    }

    /// Its rows are in the table of the copies, and could have a copy's key.
    #[derive(Entity)]
    #[entity(table = "Names", kind = "street")]
    #[key(partition = "{town}", row = "{number:05}")]
    pub(super) struct Street {
        pub(super) town: String,
        pub(super) number: u32,
    }

    /// Its rows are there too, under keys that no copy can have; they would clash in the table of the employees.
    #[derive(Entity)]
    #[entity(table = "Names", kind = "river")]
    #[key(partition = "river_{name}", row = "empid_{number:06}")]
    pub(super) struct River {
        pub(super) name: String,
        pub(super) number: u32,
    }

    /// Employees of another table, whose copies would be of the same kind.
    #[derive(Entity)]
    #[entity(table = "Branch", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_name, table = "Names", partition = "branch_{last_name}", row = "{department}_{id:06}", atomic)]
    pub(super) struct Elsewhere {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) last_name: String,
    }
}

#[test]
fn a_declaration_that_does_not_fit_what_is_noted_where_the_copies_lie_is_refused() {
    for executor in [Executor::Lmdb, Executor::Map] {
        executor.run(|| {
            let (_scratch, store) = company();
            let before = seen(&store);
            let moved = store.transaction().insert(&other::Moved::new()).commit().unwrap_err();
            assert_eq!(moved.kind(), ErrorKind::LayoutChanged, "{moved}");
            assert!(
                moved.to_string().contains("+ index by_name in Names partition \"other_\" LastName:text row"),
                "{moved}"
            );
            let street = store
                .table::<other::Street>()
                .and_then(|table| table.insert(&other::Street { town: "badges".into(), number: 1 }));
            let street = street.unwrap_err();
            assert_eq!(street.kind(), ErrorKind::LayoutConflict, "{street}");
            let branch = other::Elsewhere { department: "Sales".into(), id: 1, last_name: "n1".into() };
            let branch = store.transaction().insert(&branch).commit().unwrap_err();
            assert_eq!(branch.kind(), ErrorKind::LayoutChanged, "{branch}");
            assert!(branch.to_string().contains("- of Company"), "{branch}");
            let kept = |rows: &[(String, DynamicEntity)]| {
                rows.iter().filter(|(table, _)| table != "Branch").cloned().collect::<Vec<_>>()
            };
            assert_eq!(kept(&seen(&store)), before);
            // What keeps away from the copies is no concern of theirs.
            store
                .table::<other::River>()
                .unwrap()
                .insert(&other::River { name: "Rhine".into(), number: 1 })
                .unwrap();
            store.table::<Employee>().unwrap().insert(&employee("New", 7, "7@contoso.com")).unwrap();
        });
    }
}

#[test]
fn copies_elsewhere_are_read_from_a_store_for_reading_only() {
    let (scratch, store) = company();
    drop(store);
    let reading = Store::options().read_only(true).open(scratch.path().join("store")).unwrap();
    let staff = reading.table::<Employee>().unwrap();
    assert_eq!(staff.get(Employee::by_badge(2)).unwrap().map(|row| row.id), Some(2));
    assert_eq!(staff.by_name().across_partitions().count().unwrap(), 3);
    let error = staff.insert(&employee("New", 7, "7@contoso.com")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
}
