//! What a store notes of how entities are laid out: one that has changed is refused, unless that does no harm.

use integration_tests::company::Department;
use integration_tests::{Scratch, assert_sound, relaxed};
use table_core::{Entity, EntitySet, ErrorKind, IfMatch, KeyPart, Query, Tables};

mod first {
    use super::*;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) email: String,
        pub(super) age: i32,
    }
}

/// The rows of `first::Employee`, of a struct that has grown.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{unit}", row = "empid_{number:06}")]
#[index(by_email, row = "email_{mail}", unique)]
struct Grown {
    #[property(rename = "Department")]
    unit: String,
    #[property(rename = "Id")]
    number: u64,
    #[property(rename = "Email")]
    mail: String,
    age: i64,
    note: Option<String>,
    #[property(default)]
    level: u8,
}

/// The kind `employee` under other keys.
#[derive(Entity, Debug)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "employee_{id:06}")]
struct Moved {
    department: String,
    id: u32,
    email: String,
    age: i32,
}

fn jun() -> first::Employee {
    first::Employee { department: "Sales".into(), id: 7, email: "jun@contoso.com".into(), age: 40 }
}

#[test]
fn a_layout_that_has_grown_reads_what_was_written_before() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    store.table::<first::Employee>().unwrap().insert(&jun()).unwrap();

    let staff = store.table::<Grown>().unwrap();
    let read = staff.get(Grown::key("Sales", 7)).unwrap().unwrap();
    let expected = Grown {
        unit: "Sales".into(),
        number: 7,
        mail: "jun@contoso.com".into(),
        age: 40,
        note: None,
        level: 0,
    };
    assert_eq!(read, expected);
    assert_eq!(staff.get(Grown::by_email("Sales", "jun@contoso.com")).unwrap().unwrap(), expected);
    staff.merge(Grown::key("Sales", 7), Grown::patch().age(1 << 40), IfMatch::Any).unwrap();

    drop(staff);

    // The new layout is the one that counts from now on.
    let error = reopened(&scratch, store).table::<first::Employee>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
}

fn reopened(scratch: &Scratch, store: Tables) -> Tables {
    drop(store);
    scratch.tables()
}

#[test]
fn another_layout_is_refused_with_the_difference() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<first::Employee>().unwrap();
    staff.insert(&jun()).unwrap();
    let error = store.table::<Moved>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert_eq!(
        error.to_string(),
        "cannot open table `Company`: keep the template of the row key, `empid_{Id:06}`, by which rows have theirs; or make \
         this the next version, `version = 2, from = ..`, and keep the struct as it was with `#[entity(kind = \
         \"employee\", version = 1, former)]`\n\
         the struct `Moved` declares `employee` otherwise than it was last written (- stored, + declared):\n  \
         - index by_email row \"email_\" Email:text unique copy all\n  \
         - row \"empid_\" Id:u32:\"06\"\n  \
         + row \"employee_\" Id:u32:\"06\""
    );
    // Nothing has changed, in this process or the next.
    assert_eq!(staff.dynamic().query(&Query::new()).unwrap().count(), 2);
    let store = reopened(&scratch, store);
    assert_eq!(store.table::<Moved>().unwrap_err().kind(), ErrorKind::LayoutChanged);
    store.table::<first::Employee>().unwrap();
    assert_sound(&store);
}

/// The rows of `first::Employee`, of a newer release that is compatible with the first: one more field, and no other change.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Phoned {
    department: String,
    id: u32,
    email: String,
    age: i32,
    phone: Option<String>,
}

/// A release of another branch.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Noted {
    department: String,
    id: u32,
    email: String,
    age: i32,
    /// Not what another branch has called otherwise.
    #[property(default, new)]
    note: String,
}

#[test]
fn who_opens_and_reads_notes_nothing() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<first::Employee>().unwrap();
    staff.insert(&jun()).unwrap();
    let grown = store.table::<Grown>().unwrap();
    assert_eq!(grown.get(Grown::key("Sales", 7)).unwrap().unwrap().age, 40);
    assert_eq!(grown.rows().unit("Sales").into_iter().count(), 1);
    // The older program is locked out by nothing that the newer one has done.
    let store = reopened(&scratch, store);
    let staff = store.table::<first::Employee>().unwrap();
    staff.update(first::Employee::key("Sales", 7), |e| e.age = 41).unwrap();
    assert_sound(&store);
    // What is not there can be declared in two ways as long as neither has written.
    store.drop_table("Company").unwrap();
    store.table::<Moved>().unwrap();
    store.table::<first::Employee>().unwrap().insert(&jun()).unwrap();
    assert_eq!(store.table::<Moved>().unwrap_err().kind(), ErrorKind::LayoutChanged);
}

#[test]
fn every_way_of_writing_notes_the_layout() {
    type Write = fn(&Tables) -> Result<(), table_core::Error>;
    let ways: [Write; 6] = [
        |store| store.table::<first::Employee>()?.insert(&jun()).map(drop),
        |store| store.table::<first::Employee>()?.put(&jun()).map(drop),
        |store| {
            let report = store.table::<first::Employee>()?.bulk_insert([jun()])?;
            report.failures.into_iter().next().map_or(Ok(()), |failure| Err(failure.error))
        },
        |store| {
            let partition = first::Employee::partition("Sales");
            store.table::<first::Employee>()?.egt(partition).insert(&jun()).commit().map(drop)
        },
        |store| {
            let partition = first::Employee::partition("Sales");
            store.egt::<Staff>(partition).insert(&jun()).commit().map(drop)
        },
        |store| {
            let jun = table_core::DynamicEntity::new("Sales", "empid_000007")
                .with("EntityType", "employee")
                .with("Email", "jun@contoso.com")
                .with("Age", 40);
            store.set::<Staff>()?.insert_any(&jun).map(drop)
        },
    ];
    for (number, write) in ways.into_iter().enumerate() {
        let scratch = Scratch::new();
        let store = scratch.tables();
        let other = store.table::<Moved>().unwrap();
        write(&store).unwrap_or_else(|error| panic!("{number}: {error}"));
        // Who had the table open before anything was noted can't write, either, and nothing is written.
        let moved = Moved { department: "Sales".into(), id: 8, email: "m@contoso.com".into(), age: 1 };
        let error = other.insert(&moved).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{number}: {error}");
        assert_eq!(other.bulk_insert([moved]).unwrap().failures[0].error.kind(), ErrorKind::LayoutChanged);
        assert_eq!(other.dynamic().query(&Query::new()).unwrap().count(), 2, "{number}");
        let store = reopened(&scratch, store);
        assert_eq!(store.table::<Moved>().unwrap_err().kind(), ErrorKind::LayoutChanged, "{number}");
        let found = store.table::<first::Employee>().unwrap().get(first::Employee::key("Sales", 7)).unwrap();
        assert_eq!(*found.unwrap(), jun(), "{number}");
    }
}

#[derive(EntitySet)]
enum Staff {
    Employee(first::Employee),
}

#[test]
fn programs_of_two_branches_write_beside_the_first_and_lose_nothing() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let (old, phoned, noted) = (
        store.table::<first::Employee>().unwrap(),
        store.table::<Phoned>().unwrap(),
        store.table::<Noted>().unwrap(),
    );
    old.insert(&jun()).unwrap();
    for round in 0..3 {
        let phone = format!("555-{round}");
        phoned.update(Phoned::key("Sales", 7), |e| e.phone = Some(phone.clone())).unwrap();
        noted.update(Noted::key("Sales", 7), |e| e.note = format!("note {round}")).unwrap();
        old.update(first::Employee::key("Sales", 7), |e| e.age = 50 + round).unwrap();
        // The own row and the copy, by each declaration.
        for row in ["empid_000007", "email_jun@contoso.com"] {
            let row = old.dynamic().get("Sales", row).unwrap().unwrap();
            assert_eq!(row.get("Phone").and_then(|value| value.as_str()), Some(&*phone));
            assert_eq!(row.get("Note").and_then(|value| value.as_str()), Some(&*format!("note {round}")));
            assert_eq!(row.get("Age").and_then(|value| value.as_i32()), Some(50 + round));
        }
    }
    // Each of them opens the table again: what was noted has all of them.
    drop((old, phoned, noted));
    let store = reopened(&scratch, store);
    store
        .table::<first::Employee>()
        .unwrap()
        .update(first::Employee::key("Sales", 7), |e| e.age = 1)
        .unwrap();
    store.table::<Phoned>().unwrap().update(Phoned::key("Sales", 7), |e| e.age = 2).unwrap();
    let noted = store.table::<Noted>().unwrap();
    noted.update(Noted::key("Sales", 7), |e| e.age = 3).unwrap();
    assert_eq!(noted.get(Noted::by_email("Sales", "jun@contoso.com")).unwrap().unwrap().note, "note 2");
    assert_sound(&store);
}

#[test]
fn a_dropped_table_takes_its_layouts_along() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<first::Employee>().unwrap().insert(&jun()).unwrap();
    store.drop_table("Company").unwrap();
    let moved = store.table::<Moved>().unwrap();
    moved
        .insert(&Moved { department: "Sales".into(), id: 7, email: "jun@contoso.com".into(), age: 40 })
        .unwrap();
    store.reclaim().unwrap();
    store.table::<Moved>().unwrap();
    assert_eq!(store.table::<first::Employee>().unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert_sound(&store);
}

/// Another kind in the table, whose rows could be taken for an employee's copies.
#[derive(Entity, Debug)]
#[entity(table = "Company", kind = "message")]
#[key(partition = "{department}", row = "{kind}_{name}")]
struct Message {
    department: String,
    kind: Word,
    name: String,
}

#[derive(KeyPart, Clone, Copy, Debug)]
#[key_part(rename_all = "lowercase")]
enum Word {
    Email,
    Letter,
}

#[test]
fn kinds_whose_keys_could_meet_are_refused() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    store.table::<first::Employee>().unwrap().insert(&jun()).unwrap();
    // In another process, too, which knows the other kind from the store alone.
    let store = reopened(&scratch, store);
    let error = store.table::<Message>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutConflict);
    assert_eq!(
        error.to_string(),
        "cannot open table `Company`: the row key (`{kind}_{name}`) of `Message` and the index `by_email` \
         (`email_{Email}`) of `employee` could print one key: start each with literal text of its own"
    );
    let _unused = Message { department: String::new(), kind: Word::Email, name: String::new() };
    assert_eq!(store.tables().unwrap(), ["Company"]);
}

#[derive(EntitySet)]
enum Company {
    Department(Department),
    Moved(Moved),
}

#[test]
fn a_set_is_refused_for_any_of_its_kinds() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    store.table::<first::Employee>().unwrap().insert(&jun()).unwrap();
    assert_eq!(store.set::<Company>().unwrap_err().kind(), ErrorKind::LayoutChanged);
    let department = Department { name: "Sales".into(), head_count: 0 };
    let egt = store.egt::<Company>(Department::partition("Sales")).insert(&department);
    assert_eq!(egt.commit().unwrap_err().kind(), ErrorKind::LayoutChanged);
    let _unused = |Staff::Employee(employee): Staff| employee.id;
    let _unused = |company: Company| match company {
        Company::Department(department) => department.head_count,
        Company::Moved(moved) => moved.id,
    };
}

/// A struct whose layout has pages of its own in the store.
macro_rules! wide {
    ($($field:ident)*) => {
        #[derive(Entity, Debug, Default, PartialEq)]
        #[entity(table = "Wide", kind = "wide")]
        #[key(partition = "{place}", row = "{id}")]
        struct Wide {
            place: String,
            id: u32,
            $($field: Option<i64>,)*
        }
    };
}

wide! {
    a_measurement_of_many_00 a_measurement_of_many_01 a_measurement_of_many_02 a_measurement_of_many_03
    a_measurement_of_many_04 a_measurement_of_many_05 a_measurement_of_many_06 a_measurement_of_many_07
    a_measurement_of_many_08 a_measurement_of_many_09 a_measurement_of_many_10 a_measurement_of_many_11
    a_measurement_of_many_12 a_measurement_of_many_13 a_measurement_of_many_14 a_measurement_of_many_15
    a_measurement_of_many_16 a_measurement_of_many_17 a_measurement_of_many_18 a_measurement_of_many_19
    a_measurement_of_many_20 a_measurement_of_many_21 a_measurement_of_many_22 a_measurement_of_many_23
    a_measurement_of_many_24 a_measurement_of_many_25 a_measurement_of_many_26 a_measurement_of_many_27
    a_measurement_of_many_28 a_measurement_of_many_29 a_measurement_of_many_30 a_measurement_of_many_31
    a_measurement_of_many_32 a_measurement_of_many_33 a_measurement_of_many_34 a_measurement_of_many_35
    a_measurement_of_many_36 a_measurement_of_many_37 a_measurement_of_many_38 a_measurement_of_many_39
    a_measurement_of_many_40 a_measurement_of_many_41 a_measurement_of_many_42 a_measurement_of_many_43
    a_measurement_of_many_44 a_measurement_of_many_45 a_measurement_of_many_46 a_measurement_of_many_47
    a_measurement_of_many_48 a_measurement_of_many_49 a_measurement_of_many_50 a_measurement_of_many_51
    a_measurement_of_many_52 a_measurement_of_many_53 a_measurement_of_many_54 a_measurement_of_many_55
    a_measurement_of_many_56 a_measurement_of_many_57 a_measurement_of_many_58 a_measurement_of_many_59
}

#[test]
fn a_long_layout_is_read_again() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let wide = Wide { place: "a".into(), id: 1, a_measurement_of_many_07: Some(7), ..Wide::default() };
    store.table::<Wide>().unwrap().insert(&wide).unwrap();
    let store = reopened(&scratch, store);
    assert_eq!(*store.table::<Wide>().unwrap().get(Wide::key("a", 1)).unwrap().unwrap(), wide);
    assert_sound(&store);
}

integration_tests::on_other_executors! {
    a_layout_that_has_grown_reads_what_was_written_before
    who_opens_and_reads_notes_nothing
    every_way_of_writing_notes_the_layout
    programs_of_two_branches_write_beside_the_first_and_lose_nothing
    another_layout_is_refused_with_the_difference
    kinds_whose_keys_could_meet_are_refused
    a_set_is_refused_for_any_of_its_kinds
    a_long_layout_is_read_again
}

/// A table that goes while it is written for the first time is one that is not found, and never damaged.
#[test]
fn a_table_that_is_dropped_under_a_first_write_is_not_found() {
    #[derive(Entity)]
    #[entity(table = "Gone", kind = "note")]
    #[key(partition = "{of}", row = "note_{id:06}")]
    #[index(by_id, row = "id_{id:06}", copy = keys)]
    struct Note {
        of: String,
        id: u32,
    }

    let scratch = Scratch::new();
    let store = relaxed().open(scratch.path().join("store")).unwrap();
    let (mut written, mut missed) = (0, 0);
    for id in 0..400 {
        let table = store.table::<Note>().unwrap();
        let dropper = store.clone();
        let dropping = std::thread::spawn(move || dropper.drop_table("Gone"));
        match table.insert(&Note { of: "a".into(), id }) {
            Ok(_) => written += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TableNotFound, "{error}");
                missed += 1;
            }
        }
        dropping.join().unwrap().unwrap();
    }
    assert!(written + missed == 400 && store.check().unwrap().problems.is_empty());
}
