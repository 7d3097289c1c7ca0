//! A derived entity in a table: keys, copies, queries.

use integration_tests::executors::reverses;
use integration_tests::{Scratch, assert_sound};
use table_core::query::QueryClass;
use table_core::{Entity, ErrorKind, IfMatch, KeyPart, Query, Stored, Tables, prefix};

/// One employee of a department.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(first_name, email))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    age: i32,
    email: String,
}

fn jun() -> Employee {
    Employee {
        department: "Marketing".into(),
        id: 2,
        first_name: "Jun".into(),
        last_name: "Cao".into(),
        age: 47,
        email: "junc@contoso.com".into(),
    }
}

fn rows(store: &Tables) -> Vec<String> {
    let table = store.dynamic_table("Company").unwrap();
    table.query(&Query::new()).unwrap().map(|e| e.unwrap().row_key().to_owned()).collect()
}

#[test]
fn an_entity_has_its_row_and_its_copies() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&jun()).unwrap();
    assert_eq!(rows(&store), ["email_junc@contoso.com", "empid_000002", "name_Cao_000002"]);

    let read = staff.get(Employee::key("Marketing", 2)).unwrap().unwrap();
    assert_eq!(read, jun());
    let copy = staff.get(Employee::by_email("Marketing", "junc@contoso.com")).unwrap().unwrap();
    assert_eq!(copy, jun());

    let changed =
        staff.update(Employee::key("Marketing", 2), |e| e.email = "jun@contoso.com".into()).unwrap();
    assert_eq!(changed.email, "jun@contoso.com");
    assert_eq!(rows(&store), ["email_jun@contoso.com", "empid_000002", "name_Cao_000002"]);
    assert!(staff.get(Employee::by_email("Marketing", "junc@contoso.com")).unwrap().is_none());

    staff.delete_if(Employee::key("Marketing", 2), Stored::etag(&changed)).unwrap();
    assert_eq!(rows(&store), Vec::<String>::new());
    assert_sound(&store);
}

#[test]
fn queries_give_parts_from_left_to_right() {
    let scratch = Scratch::new();
    let staff = scratch.tables().table::<Employee>().unwrap();
    for (id, last_name, age) in
        [(99, "Hall", 30), (100, "Jones", 41), (150, "Jonas", 52), (199, "Jones", 23), (200, "Kwok", 44)]
    {
        let email = format!("{id}@contoso.com");
        let department = "Sales".to_owned();
        staff
            .insert(&Employee {
                department,
                id,
                first_name: "X".into(),
                last_name: last_name.into(),
                age,
                email,
            })
            .unwrap();
    }
    staff.insert(&jun()).unwrap();

    let ids = |query: Vec<u32>| query;
    let found = staff.rows().department("Sales").id(100..=199).into_iter().map(|e| e.unwrap().id).collect();
    assert_eq!(ids(found), [100, 150, 199]);
    let last = || staff.rows().department("Sales").id(150..).rev().top(2);
    if reverses(|| last().first()) {
        assert_eq!(ids(last().into_iter().map(|e| e.unwrap().id).collect()), [200, 199]);
    }
    let found =
        staff.by_name().department("Sales").last_name("Jones").into_iter().map(|e| e.unwrap().id).collect();
    assert_eq!(ids(found), [100, 199]);
    let found = staff
        .by_name()
        .department("Sales")
        .last_name(prefix("Jo"))
        .into_iter()
        .map(|e| e.unwrap().id)
        .collect();
    assert_eq!(ids(found), [150, 100, 199]);
    let found = staff
        .rows()
        .department("Sales")
        .filter(|e| e.age.ge(40) & !e.last_name.eq("Kwok"))
        .into_iter()
        .map(|e| e.unwrap().id)
        .collect();
    assert_eq!(ids(found), [100, 150]);
    assert_eq!(staff.rows().department("Sales").count().unwrap(), 5);

    let explained = staff.rows().department("Sales").id(7).explain().unwrap();
    assert_eq!(explained.class(), QueryClass::Point);
    let row = staff.by_name().department("Sales").last_name("Kwok").into_iter().next().unwrap().unwrap();
    assert_eq!((row.first_name.as_str(), row.email.as_str()), ("X", "200@contoso.com"));
    assert_eq!((row.last_name.as_str(), row.id), ("Kwok", 200));
    assert_eq!(staff.get(row.key()).unwrap().unwrap().age, 44);
}

#[test]
fn a_row_of_an_index_shows_its_fields() {
    /// A type that can't be shown, among others that can.
    #[derive(KeyPart)]
    struct Mute(bool);

    #[derive(Entity)]
    #[entity(table = "Visits", kind = "visit")]
    #[key(partition = "{place}", row = "visit_{number:06}")]
    #[index(by_guest, row = "guest_{guest}_{number:06}", copy(length, note, grade, mute, tags, photo))]
    struct Visit {
        place: String,
        number: u64,
        guest: String,
        length: i64,
        note: Option<String>,
        grade: Option<f32>,
        mute: Mute,
        #[property(json)]
        tags: Vec<String>,
        photo: Vec<u8>,
    }

    let visits = Scratch::new().tables().table::<Visit>().unwrap();
    let visit = Visit {
        place: "Inn".into(),
        number: 7,
        guest: "Ann".into(),
        length: -3,
        note: None,
        grade: Some(1.5),
        mute: Mute(true),
        tags: vec!["late".into()],
        photo: vec![0xca, 0xfe],
    };
    visits.insert(&visit).unwrap();
    let row = visits.get(Visit::by_guest("Inn", "Ann", 7)).unwrap().unwrap();
    assert_eq!(
        format!("{row:?}"),
        "VisitByGuest { place: \"Inn\", number: 7, guest: \"Ann\", length: -3, note: None, grade: 1.5, \
         mute: true, tags: \"[\\\"late\\\"]\", photo: X'cafe' }"
    );
}

#[test]
fn what_cannot_be_written_is_not() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&jun()).unwrap();
    let before = rows(&store);

    let error = staff.insert(&Employee { id: 3, ..jun() }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueConflict);
    assert!(error.to_string().contains("`by_email`"), "{error}");
    assert_eq!(staff.insert(&jun()).unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    assert!(staff.insert(&Employee { id: 1_000_000, email: "x".into(), ..jun() }).is_err());
    assert!(staff.insert(&Employee { id: 4, email: "x".into(), last_name: "A_B".into(), ..jun() }).is_err());
    assert!(staff.insert(&Employee { id: 4, email: "a/b".into(), ..jun() }).is_err());
    let error = staff.update(Employee::key("Marketing", 2), |e| e.id = 5).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyChanged);
    let error = staff.update(Employee::key("Marketing", 9), |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EntityNotFound);
    assert_eq!(rows(&store), before);
    staff.put(&Employee { last_name: "Kao".into(), ..jun() }).unwrap();
    staff.replace(&jun(), IfMatch::Any).unwrap();
    assert_eq!(rows(&store), before);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Series", kind = "series")]
#[key(partition = "p", row = "{id:03}")]
struct Series {
    id: u16,
    #[property(json)]
    values: Vec<Option<f64>>,
}

#[test]
fn a_float_that_json_lacks_is_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<Series>().unwrap();
    let first = Series { id: 1, values: vec![Some(0.5), None] };
    table.insert(&first).unwrap();
    let before = store.stats().unwrap();
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        // Written as `null`, it would be read as `None`.
        let bad = |id| Series { id, values: vec![Some(1.0), Some(float)] };
        let patch = Series::patch().values(bad(1).values);
        for error in [
            table.insert(&bad(2)).unwrap_err(),
            table.put(&bad(1)).unwrap_err(),
            table.merge(Series::key(1), patch, IfMatch::Any).unwrap_err(),
            table.update(Series::key(1), |series| series.values = bad(1).values).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::ValueOutOfRange, "{error}");
            assert!(error.to_string().contains("field `values`"), "{error}");
            assert!(error.to_string().contains("a float in it is NaN or infinite"), "{error}");
        }
    }
    assert_eq!(store.stats().unwrap(), before);
    assert_eq!(*table.get(Series::key(1)).unwrap().unwrap(), first);
}

integration_tests::on_other_executors! {
    an_entity_has_its_row_and_its_copies
    queries_give_parts_from_left_to_right
    a_row_of_an_index_shows_its_fields
    what_cannot_be_written_is_not
}
