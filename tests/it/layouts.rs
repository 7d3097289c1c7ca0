//! What a store notes of how entities are laid out: one that has changed is refused, unless that does no harm.

use integration_tests::{Scratch, assert_sound};
use table_core::{Entity, EntitySet, ErrorKind, IfMatch, KeyPart, Query, Store};

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

/// The same rows, of a struct that has grown.
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

/// The same kind under other keys.
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
    let store = scratch.store();
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

fn reopened(scratch: &Scratch, store: Store) -> Store {
    drop(store);
    scratch.store()
}

#[test]
fn another_layout_is_refused_with_the_difference() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<first::Employee>().unwrap();
    staff.insert(&jun()).unwrap();
    let error = store.table::<Moved>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert_eq!(
        error.to_string(),
        "cannot open table `Company`: `employee` of the struct `Moved` is declared otherwise than when it was last \
         written:\n  \
         - index by_email row \"email_\" Email:text unique copy all\n  \
         - row \"empid_\" Id:u32:\"06\"\n  \
         + row \"employee_\" Id:u32:\"06\"\n\
         declare it as it was, or keep the new declaration in another table or under another kind"
    );
    // Nothing has changed, in this process or the next.
    assert_eq!(staff.dynamic().query(&Query::new()).unwrap().count(), 2);
    let store = reopened(&scratch, store);
    assert_eq!(store.table::<Moved>().unwrap_err().kind(), ErrorKind::LayoutChanged);
    store.table::<first::Employee>().unwrap();
    assert_sound(&store);
}

#[test]
fn a_dropped_table_takes_its_layouts_along() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<first::Employee>().unwrap().insert(&jun()).unwrap();
    store.drop_table("Company").unwrap();
    store.table::<Moved>().unwrap();
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
    let store = scratch.store();
    store.table::<first::Employee>().unwrap();
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

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: u32,
}

#[derive(EntitySet)]
enum Company {
    Department(Department),
    Moved(Moved),
}

#[test]
fn a_set_is_refused_for_any_of_its_kinds() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<first::Employee>().unwrap();
    assert_eq!(store.set::<Company>().unwrap_err().kind(), ErrorKind::LayoutChanged);
    let department = Department { name: "Sales".into(), head_count: 0 };
    let egt = store.egt::<Company>(Department::partition("Sales")).insert(&department);
    assert_eq!(egt.commit().unwrap_err().kind(), ErrorKind::LayoutChanged);
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
    let store = scratch.store();
    let wide = Wide { place: "a".into(), id: 1, a_measurement_of_many_07: Some(7), ..Wide::default() };
    store.table::<Wide>().unwrap().insert(&wide).unwrap();
    let store = reopened(&scratch, store);
    assert_eq!(*store.table::<Wide>().unwrap().get(Wide::key("a", 1)).unwrap().unwrap(), wide);
    assert_sound(&store);
}

integration_tests::on_other_executors! {
    a_layout_that_has_grown_reads_what_was_written_before
    another_layout_is_refused_with_the_difference
    kinds_whose_keys_could_meet_are_refused
    a_set_is_refused_for_any_of_its_kinds
    a_long_layout_is_read_again
}
