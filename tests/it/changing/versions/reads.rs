//! Rows of a former version, read before anything was converted.

use integration_tests::Scratch;
use table_core::{DynamicEntity, ErrorKind, IfMatch, Stored};

use super::v2::{Contact, Employee};
use super::{filled, first, key, second, v1};

#[test]
fn every_way_of_reading_converts_first() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 120);
    let staff = store.table::<Employee>().unwrap();
    let snapshot = store.snapshot().unwrap();

    assert_eq!(staff.get(key(7)).unwrap().unwrap(), second(7));
    assert!(staff.exists(key(7)).unwrap() && !staff.exists(key(120)).unwrap());
    assert_eq!(staff.get(key(120)).unwrap(), None);
    assert_eq!(staff.at(&snapshot).get(key(8)).unwrap().unwrap(), second(8));
    assert_eq!(staff.at(&snapshot).get(key(120)).unwrap(), None);
    let many = staff.get_many([key(1), key(500), key(2)]).unwrap();
    assert_eq!(
        many.into_iter().map(|found| found.map(Stored::into_inner)).collect::<Vec<_>>(),
        [Some(second(1)), None, Some(second(2))]
    );
    let contact = Contact { id: 9, last_name: "Cao4".into() };
    assert_eq!(staff.get_as::<Contact>(key(9)).unwrap(), Some(contact));
    assert_eq!(staff.at(&snapshot).get_as::<Contact>(key(400)).unwrap(), None);

    let rows = || staff.rows().department("Sales");
    let ids = |found: Vec<Stored<Employee>>| found.into_iter().map(|found| found.id).collect::<Vec<_>>();
    let all: Vec<_> = rows().into_iter().map(|row| row.unwrap().clone()).collect();
    assert_eq!(all, (0..120).map(second).collect::<Vec<_>>());
    // A filter speaks of what rows become, and so does the rest of a query.
    let found = rows().filter(|e| e.last_name.eq("Cao3") & e.age.lt(40)).rev().top(2);
    assert_eq!(ids(found.into_iter().map(Result::unwrap).collect()), [118, 113]);
    assert_eq!(rows().filter(|e| e.level.eq(1)).count().unwrap(), 120);
    assert_eq!(rows().filter(|e| e.first_name.ne("Jun")).count().unwrap(), 0);
    assert!(rows().filter(|e| e.id.eq(77)).exists().unwrap());
    assert_eq!(rows().id(10..20).count().unwrap(), 10);
    assert_eq!(staff.all().count().unwrap(), 120);
    let projected: Vec<_> = rows()
        .filter(|e| e.last_name.eq("Cao0"))
        .select::<Contact>()
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(projected.len(), 24);
    assert!(projected.iter().all(|contact| contact.last_name == "Cao0" && contact.id % 5 == 0));
    let entities: Vec<_> = rows().id(3..5).entities().into_iter().map(|row| row.unwrap().clone()).collect();
    assert_eq!(entities, [second(3), second(4)]);
    let in_snapshot = staff.at(&snapshot).rows().department("Sales").filter(|e| e.age.eq(25));
    assert_eq!(ids(in_snapshot.into_iter().map(Result::unwrap).collect()), [5, 55, 105]);
}

#[test]
fn a_page_goes_on_where_the_one_before_ended_whatever_is_converted_between_them() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 1_300);
    let staff = store.table::<Employee>().unwrap();
    let query = || staff.rows().department("Sales").filter(|e| e.last_name.eq("Cao1"));
    let (mut found, mut after) = (Vec::new(), None);
    let mut job = store.migration::<Employee>().unwrap().steps().unwrap();
    loop {
        let page = query().page(50, after.as_ref()).unwrap();
        found.extend(page.entities.iter().map(|entity| entity.id));
        after = page.next.map(|next| next.to_string().parse().unwrap());
        if after.is_none() {
            break;
        }
        job.step().unwrap();
    }
    assert_eq!(found, (0..1_300).filter(|id| id % 5 == 1).collect::<Vec<_>>());
}

#[test]
fn what_can_t_be_read_of_a_former_version_says_so() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 20);
    let staff = store.table::<Employee>().unwrap();
    let snapshot = store.snapshot().unwrap();
    let by_email = || Employee::by_email("Sales", "7@contoso.com");
    for error in [
        staff.get(by_email()).unwrap_err(),
        staff.at(&snapshot).get(by_email()).unwrap_err(),
        staff.by_email().department("Sales").count().unwrap_err(),
        staff.by_last_name().department("Sales").into_iter().next().unwrap().unwrap_err(),
        staff.view(key(3), |view| view.age()).unwrap_err(),
        staff.at(&snapshot).view(key(3)).unwrap_err(),
        staff.at(&snapshot).rows().department("Sales").views().next().unwrap().unwrap_err(),
        staff.check().unwrap_err(),
        staff.repair().unwrap_err(),
        staff.rebuild().unwrap_err(),
        staff.drop_index("by_age").unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::MigrationPending, "{error}");
        let says = error.to_string();
        assert!(says.contains("version 1") && says.contains("store.migration::<Employee>()"), "{says}");
    }
    assert!(staff.view(key(300), |view| view.age()).unwrap().is_none());
}

#[test]
fn nothing_is_written_before_a_migration_is_begun_and_the_older_program_goes_on() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 20);
    let staff = store.table::<Employee>().unwrap();
    let before = super::kinds(&store);
    let report = staff.bulk_insert([second(40)]);
    for error in [
        staff.insert(&second(30)).unwrap_err(),
        staff.put(&second(3)).unwrap_err(),
        staff.replace(&second(3), IfMatch::Any).unwrap_err(),
        staff.update(key(3), |e| e.age = 1).unwrap_err(),
        staff.merge(key(3), Employee::patch().age(1), IfMatch::Any).unwrap_err(),
        staff.move_to(key(3), |e| e.id = 90).unwrap_err(),
        staff.delete(key(3)).unwrap_err(),
        staff.get_or_insert(&second(30)).unwrap_err(),
        staff.egt(Employee::partition("Sales")).insert(&second(31)).commit().unwrap_err(),
        store.transaction().insert(&second(31)).commit().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::MigrationPending, "{error}");
    }
    let report = report.unwrap();
    assert_eq!((report.committed, report.failures[0].error.kind()), (0, ErrorKind::MigrationPending));
    assert_eq!(super::kinds(&store), before);

    // The older program reads and writes as ever, and knows nothing of the other.
    let older = store.table::<v1::Employee>().unwrap();
    older.update(v1::Employee::key("Sales", 3), |e| e.name = "Ann Jones".into()).unwrap();
    older.insert(&first(50)).unwrap();
    assert!(older.get(v1::Employee::by_email("Sales", "50@contoso.com")).unwrap().is_some());
    assert!(older.check().unwrap().is_sound());
    assert_eq!(staff.get(key(3)).unwrap().unwrap().last_name, "Jones");
    assert_eq!(staff.all().count().unwrap(), 21);
    // Not even by its properties.
    let raw = DynamicEntity::new("Sales", "empid_000003").with("EntityType", "employee@2");
    let error = store.dynamic_table("Company").unwrap().insert(&raw).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
}

#[test]
fn a_migration_explains_what_it_takes() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 1_000);
    let migration = store.migration::<Employee>().unwrap();
    assert_eq!((migration.from(), migration.to(), migration.rows()), (Some(1), 2, 3_000));
    assert!(migration.bytes() > 100_000 && migration.transactions() == 6, "{migration:?}");
    assert!(migration.is_needed() && migration.writes_meanwhile());
    let says = migration.to_string();
    for part in [
        "`employee` becomes version 2 from version 1 on: 3000 rows",
        "not begun",
        "read, each converted, and written in version 2",
        "these indexes are made, which are not read until they are: `by_email`, `by_last_name`",
    ] {
        assert!(says.contains(part), "{part}: {says}");
    }
    // It begins nothing by itself.
    assert!(store.jobs().unwrap().is_empty());
    store.table::<v1::Employee>().unwrap().insert(&first(2_000)).unwrap();

    store.migration::<Employee>().unwrap().run().unwrap();
    let migration = store.migration::<Employee>().unwrap();
    assert_eq!((migration.from(), migration.is_needed(), migration.transactions()), (None, false, 0));
    assert_eq!(migration.to_string(), "`employee` is of version 2: nothing is to be converted");
    migration.run().unwrap();
    super::assert_converted(&store, 1_001);
}

#[test]
fn a_store_without_such_rows_has_nothing_to_migrate() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    assert!(!store.migration::<Employee>().unwrap().is_needed());
    staff.insert(&second(1)).unwrap();
    assert_eq!(staff.get(Employee::by_email("Sales", "1@contoso.com")).unwrap().unwrap().id, 1);
    assert_eq!(staff.view(key(1), |view| view.age()).unwrap(), Some(21));
    super::assert_converted(&store, 1);
    // The first release can't read it, nor take it for something else.
    let error = store.table::<v1::Employee>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert!(error.to_string().contains("version 2"), "{error}");
}

mod rooms {
    use table_core::Entity;

    pub(super) mod before {
        #[derive(super::Entity)]
        #[entity(table = "Rooms", kind = "room")]
        #[key(partition = "{house}", row = "room_{id:03}")]
        pub(in super::super) struct Room {
            pub(in super::super) house: String,
            pub(in super::super) id: u32,
        }
    }

    #[derive(Entity)]
    #[entity(kind = "room", version = 1, former)]
    #[key(partition = "{house}", row = "room_{id:03}")]
    struct Former {
        house: String,
        id: u32,
    }

    #[derive(Entity)]
    #[entity(table = "Rooms", kind = "room", version = 2, from = Former)]
    #[key(partition = "{house}", row = "room_{id:03}")]
    pub(super) struct Room {
        pub(super) house: String,
        pub(super) id: u32,
        pub(super) name: String,
    }

    impl From<Former> for Room {
        fn from(Former { house, id }: Former) -> Self {
            Self { name: format!("{house} {id}"), house, id }
        }
    }
}

#[test]
fn a_struct_that_others_see_is_made_from_a_private_one() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let before = rooms::before::Room { house: "North".into(), id: 7 };
    store.table::<rooms::before::Room>().unwrap().insert(&before).unwrap();
    let found = store.table::<rooms::Room>().unwrap().get(rooms::Room::key("North", 7)).unwrap().unwrap();
    assert_eq!((&*found.house, found.id, &*found.name), ("North", 7, "North 7"));
}

integration_tests::on_executors_with_jobs! {
    every_way_of_reading_converts_first
    a_page_goes_on_where_the_one_before_ended_whatever_is_converted_between_them
    what_can_t_be_read_of_a_former_version_says_so
    nothing_is_written_before_a_migration_is_begun_and_the_older_program_goes_on
    a_migration_explains_what_it_takes
    a_store_without_such_rows_has_nothing_to_migrate
    a_struct_that_others_see_is_made_from_a_private_one
}

integration_tests::on_azure! {
    a_page_goes_on_where_the_one_before_ended_whatever_is_converted_between_them
    nothing_is_written_before_a_migration_is_begun_and_the_older_program_goes_on
    a_store_without_such_rows_has_nothing_to_migrate
    a_struct_that_others_see_is_made_from_a_private_one
}
