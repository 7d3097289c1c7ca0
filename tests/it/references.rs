//! References: the key of another entity, kept as two properties.

use std::collections::HashSet;

use integration_tests::{Scratch, assert_sound};
use table_core::typed::Ref;
use table_core::{
    DynamicEntity, Entity, ErrorKind, IfMatch, Projection, Properties, Store, Stored, Table, View,
};

/// Fields that refer, shared.
#[derive(Properties, Clone, Debug, PartialEq)]
struct Posts {
    seat: Option<Ref<Desk>>,
    floor: i32,
}

/// An employee.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    manager: Option<Ref<Employee>>,
    id: u32,
    #[flatten]
    posts: Posts,
    #[property(rename = "Seat1")]
    first: Ref<Desk>,
    name: String,
    #[property(json)]
    former: Vec<u32>,
}

/// A desk, who refers back.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desks", kind = "desk")]
#[key(partition = "{floor:02}", row = "{number:escaped}")]
struct Desk {
    floor: u8,
    number: String,
    holder: Option<Ref<Employee>>,
}

/// What it refers to.
#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Above {
    manager: Option<Ref<Employee>>,
    name: String,
    first: Ref<Desk>,
}

fn desk(number: &str) -> Desk {
    Desk { floor: 3, number: number.into(), holder: None }
}

fn employee(id: u32, manager: Option<u32>) -> Employee {
    Employee {
        department: "Sales".into(),
        manager: manager.map(|id| Employee::key("Sales", id).into()),
        id,
        posts: Posts { seat: id.is_multiple_of(2).then(|| Ref::to(&desk("a/7"))), floor: 3 },
        first: Ref::to(&desk("\u{1f600}")),
        name: format!("n{id}"),
        former: vec![id],
    }
}

fn filled(scratch: &Scratch) -> (Store, Table<Employee>) {
    let store = Store::open(scratch.path()).unwrap();
    let staff = store.table::<Employee>().unwrap();
    for (id, manager) in [(1, None), (2, Some(1)), (3, Some(1)), (4, Some(9))] {
        staff.insert(&employee(id, manager)).unwrap();
    }
    (store, staff)
}

#[test]
fn a_reference_comes_back_from_every_kind_of_read() {
    let scratch = Scratch::new();
    let (store, staff) = filled(&scratch);
    for (id, manager) in [(1, None), (2, Some(1)), (4, Some(9))] {
        let expected = employee(id, manager);
        let found = staff.get(Employee::key("Sales", id)).unwrap().unwrap();
        assert_eq!(*found, expected);
        let copy = staff.get(Employee::by_name("Sales", &found.name, id)).unwrap().unwrap();
        assert_eq!(
            (&copy.manager, &copy.posts, &copy.first),
            (&expected.manager, &expected.posts, &expected.first)
        );
        let seen = staff
            .view(Employee::key("Sales", id), |view| {
                let whole = View::to_entity(&view).unwrap();
                assert_eq!(*whole, expected);
                Ok((view.manager()?, view.posts()?, view.first()?))
            })
            .unwrap()
            .unwrap();
        assert_eq!(seen, (expected.manager.clone(), expected.posts.clone(), expected.first.clone()));
        let some = staff.get_as::<Above>(Employee::key("Sales", id)).unwrap().unwrap();
        assert_eq!(some, Above { manager: expected.manager, name: expected.name, first: expected.first });
    }
    let above: Vec<_> =
        staff.rows().department("Sales").select::<Above>().into_iter().map(Result::unwrap).collect();
    assert_eq!(
        above.iter().filter(|above| above.manager == Some(Employee::key("Sales", 1).into())).count(),
        2
    );
    let row = staff.dynamic().get("Sales", "empid_000004").unwrap().unwrap();
    let text = |name: &str| row.get(name).and_then(|value| value.as_str()).map(str::to_owned);
    assert_eq!(text("ManagerPartition").as_deref(), Some("Sales"));
    assert_eq!(text("ManagerRow").as_deref(), Some("empid_000009"));
    assert_eq!(text("SeatPartition").as_deref(), Some("03"));
    assert_eq!(text("Seat1Row"), Some(Ref::to(&desk("\u{1f600}")).as_strs().unwrap().1.to_owned()));
    assert_sound(&store);
}

#[test]
fn tables_and_filters_take_references() {
    let scratch = Scratch::new();
    let (store, staff) = filled(&scratch);
    let desks = store.table::<Desk>().unwrap();
    desks.insert(&Desk { holder: Some(Employee::key("Sales", 2).into()), ..desk("a/7") }).unwrap();

    let two = staff.get(Employee::key("Sales", 2)).unwrap().unwrap();
    let one = staff.get(two.manager.as_ref().unwrap()).unwrap().unwrap();
    let seat = desks.get(two.posts.seat.as_ref().unwrap()).unwrap().unwrap();
    assert_eq!((one.id, seat.holder.as_ref()), (1, Some(&Ref::to(&*two))));
    // Nobody is there.
    assert!(desks.get(&two.first).unwrap().is_none());
    let four = staff.get(Employee::key("Sales", 4)).unwrap().unwrap();
    assert!(staff.get(four.manager.clone().unwrap()).unwrap().is_none());

    let count = |key: u32| staff.all().filter(|e| e.manager.eq(Employee::key("Sales", key))).count().unwrap();
    assert_eq!((count(1), count(9), count(2), count(1_000_000)), (2, 1, 0, 0));
    assert_eq!(staff.all().filter(|e| e.manager.is_none()).count().unwrap(), 1);
    assert_eq!(staff.by_name().department("Sales").filter(|e| e.manager.is_some()).count().unwrap(), 3);
    assert_eq!(staff.all().filter(|e| e.posts.seat.eq(Ref::to(&*seat))).count().unwrap(), 2);

    let snapshot = store.snapshot().unwrap();
    let rows = staff.at(&snapshot).rows().department("Sales");
    let joined = staff.at(&snapshot).join(rows, |employee| employee.manager.clone());
    let managers: Vec<_> = joined.map(|pair| pair.unwrap().1.map(|manager| manager.id)).collect();
    assert_eq!(managers, [None, Some(1), Some(1), None]);
}

#[test]
fn a_reference_is_made_of_an_entity_or_a_key_and_says_whom_to_change() {
    let scratch = Scratch::new();
    let (_store, staff) = filled(&scratch);
    let one = staff.get(Employee::key("Sales", 1)).unwrap().unwrap();
    let by_key = Ref::to(Employee::key("Sales", 1));
    assert_eq!(by_key, Ref::to(&one));
    assert_eq!(by_key, Ref::to(&*one));
    assert_eq!(by_key, Ref::to(&std::sync::Arc::new(Stored::into_inner(one))));

    staff.update(&by_key, |one| one.name = "Eve".into()).unwrap();
    assert_eq!(staff.view(&by_key, |one| one.name().map(str::to_owned)).unwrap().unwrap(), "Eve");
    staff.merge(by_key.clone(), Employee::patch().name("Ann"), IfMatch::Any).unwrap();
    assert_eq!(staff.get(&by_key).unwrap().unwrap().name, "Ann");
    // Of nobody.
    let nobody = Ref::to(Employee::key("Sales", 999_999));
    assert_eq!(staff.update(&nobody, |_| ()).unwrap_err().kind(), ErrorKind::EntityNotFound);
    staff.delete(by_key.clone()).unwrap();
    assert!(staff.get(&by_key).unwrap().is_none());
}

#[test]
fn a_reference_changes_as_any_field() {
    let scratch = Scratch::new();
    let (store, staff) = filled(&scratch);
    let key = || Employee::key("Sales", 3);
    staff
        .merge(key(), Employee::patch().manager(Some(Employee::key("Sales", 2).into())), IfMatch::Any)
        .unwrap();
    assert_eq!(staff.get(key()).unwrap().unwrap().manager, Some(Employee::key("Sales", 2).into()));
    staff.update(key(), |e| (e.manager, e.first) = (None, Ref::to(&desk("b")))).unwrap();
    let found = staff.get(key()).unwrap().unwrap();
    assert_eq!((&found.manager, &found.first), (&None, &Ref::to(&desk("b"))));
    assert!(staff.dynamic().get("Sales", "empid_000003").unwrap().unwrap().get("ManagerRow").is_none());
    staff.delete(found.first.key().as_strs().map(|_| key()).unwrap()).unwrap();
    assert!(staff.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn what_no_key_can_be_is_refused_and_half_a_reference_is_an_error() {
    let scratch = Scratch::new();
    let (_store, staff) = filled(&scratch);
    let wrong = Employee { manager: Some(Employee::key("Sa/les", 1_000_000).into()), ..employee(5, None) };
    let error = staff.insert(&wrong).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
    assert!(error.to_string().contains("manager.partition"), "{error}");
    assert!(staff.get(Employee::key("Sales", 5)).unwrap().is_none());
    let error = staff.get(wrong.manager.unwrap()).unwrap_err();
    assert_ne!(error.kind(), ErrorKind::EntityNotFound, "{error}");

    // By hand: one property without the other.
    let half = DynamicEntity::new("Sales", "empid_000001").with("ManagerRow", "empid_000002");
    staff.dynamic().raw().merge(&half, IfMatch::Any).unwrap();
    let error = staff.get(Employee::key("Sales", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert!(error.to_string().contains("ManagerPartition"), "{error}");
    let error = staff.get_as::<Above>(Employee::key("Sales", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
}

#[test]
fn references_are_values() {
    let (one, two) = (Ref::<Employee>::from(Employee::key("Sales", 1)), Ref::to(&employee(1, None)));
    assert_eq!(one, two);
    assert_eq!(one, Employee::key("Sales", 1));
    assert_ne!(one, Employee::key("Sales", 2));
    let all: HashSet<_> = [one.clone(), two, Employee::key("Sales", 2).into()].into();
    assert_eq!(all.len(), 2);
    assert_eq!(format!("{one:?}"), r#"Ref("Sales", "empid_000001")"#);
    assert_eq!(one.key(), Employee::key("Sales", 1));
}
