//! The short ways: the first that a query finds, whether there is any, a change that may be called off, an entity that is
//! made where there is none, rows with what they name.

use std::sync::{Arc, Barrier};
use std::thread;

use integration_tests::Scratch;
use integration_tests::company::Employee;
use integration_tests::executors::{reverses, snapshot};
use table_core::{Entity, Error, ErrorKind, Key, Projection, Stored, Table, Tables};

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Age {
    age: i32,
}

fn employee(id: u32, age: i32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com"), age }
}

fn staff(store: &Tables) -> Table<Employee> {
    let staff = store.table::<Employee>().unwrap();
    for (id, age) in [(1, 30), (2, 41), (3, 52)] {
        staff.insert(&employee(id, age)).unwrap();
    }
    staff
}

#[test]
fn the_first_that_is_found_comes_alone_whatever_the_query() {
    let scratch = Scratch::new();
    let staff = staff(&scratch.tables());
    let sales = || staff.rows().department("Sales");
    assert_eq!(sales().first().unwrap().unwrap().id, 1);
    let has_reverse = reverses(|| sales().rev().first());
    if has_reverse {
        assert_eq!(sales().rev().first().unwrap().unwrap().id, 3);
    }
    assert_eq!(sales().filter(|e| e.age.gt(35)).first().unwrap().unwrap().id, 2);
    assert_eq!(sales().id(2..).select::<Age>().first().unwrap(), Some(Age { age: 41 }));
    if has_reverse {
        assert_eq!(staff.by_email().department("Sales").entities().rev().first().unwrap().unwrap().id, 3);
    }
    assert_eq!(staff.rows().across_partitions().first().unwrap().unwrap().id, 1);
    assert!(staff.rows().department("Legal").first().unwrap().is_none());

    assert!(sales().exists().unwrap());
    assert!(sales().filter(|e| e.age.gt(51)).exists().unwrap());
    assert!(!sales().filter(|e| e.age.gt(52)).exists().unwrap());
    assert!(staff.by_email().department("Sales").email("2@contoso.com").exists().unwrap());

    let key = |id| Employee::key("Sales", id);
    assert!(staff.exists(key(1)).unwrap() && !staff.exists(key(4)).unwrap());
    assert!(staff.exists(Employee::by_email("Sales", "1@contoso.com")).unwrap());
    assert!(!staff.exists(Employee::by_email("Sales", "4@contoso.com")).unwrap());
    let error = staff.exists(Employee::key("Sales/", 1)).unwrap_err();
    assert_eq!(error.kind(), staff.get(Employee::key("Sales/", 1)).unwrap_err().kind());
}

/// Why somebody's age stays as it is.
#[derive(Debug)]
enum Refused {
    TooOld(i32),
    Store(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

#[test]
fn a_change_that_is_called_off_writes_nothing() {
    let scratch = Scratch::new();
    let staff = staff(&scratch.tables());
    let key = || Employee::key("Sales", 3);
    let older = |by: i32| {
        move |employee: &mut Employee| {
            employee.age += by;
            employee.email = format!("{}@contoso.com", employee.age);
            if employee.age > 60 { Err(Refused::TooOld(employee.age)) } else { Ok(()) }
        }
    };
    let changed = staff.try_update(key(), older(8)).unwrap();
    assert_eq!((changed.age, &*changed.email), (60, "60@contoso.com"));
    let stored = staff.get(key()).unwrap().unwrap();
    assert_eq!(Stored::etag(&stored), Stored::etag(&changed));

    assert!(matches!(staff.try_update(key(), older(1)), Err(Refused::TooOld(61))));
    let again = staff.get(key()).unwrap().unwrap();
    assert_eq!((Stored::etag(&again), again.age), (Stored::etag(&stored), 60));
    assert!(staff.get(Employee::by_email("Sales", "61@contoso.com")).unwrap().is_none());

    // What the store refuses comes as the store's, from a closure that agreed.
    let taken = |e: &mut Employee| -> Result<(), Refused> {
        e.email = "1@contoso.com".into();
        Ok(())
    };
    let Err(Refused::Store(error)) = staff.try_update(key(), taken) else { panic!("it was not refused") };
    assert_eq!(error.kind(), ErrorKind::UniqueConflict);
    let Err(Refused::Store(error)) = staff.try_update(Employee::key("Sales", 9), older(1)) else {
        panic!("it was not refused")
    };
    assert_eq!(error.kind(), ErrorKind::EntityNotFound);
    let moved = |e: &mut Employee| -> Result<(), Error> {
        e.id = 4;
        Ok(())
    };
    assert_eq!(staff.try_update(key(), moved).unwrap_err().kind(), ErrorKind::KeyChanged);
    assert_eq!(staff.rows().department("Sales").count().unwrap(), 3);
}

#[test]
fn a_change_that_may_be_called_off_sees_the_last_state_of_many_writers() {
    let scratch = Scratch::new();
    let staff = scratch.tables().table::<Employee>().unwrap();
    staff.insert(&employee(1, 0)).unwrap();
    let begin = Barrier::new(4);
    let counted: i32 = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    begin.wait();
                    let mut counted = 0;
                    let up = |e: &mut Employee| {
                        e.age += 1;
                        if e.age > 50 { Err(Refused::TooOld(e.age)) } else { Ok(()) }
                    };
                    while staff.try_update(Employee::key("Sales", 1), up).is_ok() {
                        counted += 1;
                    }
                    counted
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(counted, 50);
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap().unwrap().age, 50);
}

#[test]
fn an_entity_is_made_once_by_the_first_to_ask() {
    let scratch = Scratch::new();
    let staff = scratch.tables().table::<Employee>().unwrap();
    let begin = Barrier::new(4);
    let ask = &|age| {
        begin.wait();
        let found = staff.get_or_insert(&employee(1, age)).unwrap();
        (found.age, Stored::etag(&found))
    };
    let mut ages: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = (0..4).map(|age| scope.spawn(move || ask(age))).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    ages.dedup();
    assert_eq!(ages.len(), 1);
    assert_eq!(staff.rows().department("Sales").count().unwrap(), 1);

    // One that would take what is another's is refused, and nothing is there afterwards.
    let double = Employee { email: "1@contoso.com".into(), ..employee(2, 20) };
    assert_eq!(staff.get_or_insert(&double).unwrap_err().kind(), ErrorKind::UniqueConflict);
    assert!(!staff.exists(Employee::key("Sales", 2)).unwrap());
    staff.delete(Employee::key("Sales", 1)).unwrap();
    assert_eq!(staff.get_or_insert(&double).unwrap().age, 20);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Departments", kind = "department")]
#[key(partition = "{region}", row = "{name}")]
struct Department {
    region: String,
    name: String,
    floor: i32,
}

#[test]
fn rows_are_joined_with_what_they_name_at_one_moment_and_each_is_asked_for_once() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let (staff, departments) = (staff(&store), store.table::<Department>().unwrap());
    let department = |name: &str, floor| Department { region: "west".into(), name: name.into(), floor };
    departments.insert(&department("even", 2)).unwrap();
    departments.insert(&department("odd", 1)).unwrap();
    let Some(snapshot) = snapshot(&store) else { return };
    departments.update(Department::key("west", "odd"), |odd| odd.floor = 9).unwrap();
    departments.delete(Department::key("west", "even")).unwrap();
    staff.delete(Employee::key("Sales", 3)).unwrap();

    let then = departments.at(&snapshot);
    let rows = || staff.at(&snapshot).rows().department("Sales");
    let parity = |e: &Stored<Employee>| {
        Some(Department::key("west", if e.id.is_multiple_of(2) { "even" } else { "odd" }))
    };
    let joined: Vec<_> = then.join(rows(), parity).map(Result::unwrap).collect();
    let floors: Vec<_> = joined.iter().map(|(e, found)| (e.id, found.as_ref().unwrap().floor)).collect();
    assert_eq!(floors, [(1, 1), (2, 2), (3, 1)]);
    let found = |at: usize| joined[at].1.as_ref().unwrap();
    assert!(Arc::ptr_eq(found(0), found(2)), "asked for once");

    // Who is named by nobody, and who is not there.
    let none: Vec<_> = then.join(rows(), |_| None::<Key<Department>>).map(Result::unwrap).collect();
    assert!(none.len() == 3 && none.iter().all(|(_, found)| found.is_none()));
    let gone = then.join(rows(), |_| Some(Department::key("east", "odd"))).map(Result::unwrap);
    assert_eq!(gone.filter(|(_, found)| found.is_none()).count(), 3);

    // A key that can't be one is the error of that row alone; an error of the rows comes as it is.
    let bad = |e: &Stored<Employee>| Some(Department::key("west", if e.id == 2 { "a/b" } else { "odd" }));
    let kinds: Vec<_> = then.join(rows(), bad).map(|pair| pair.map(drop).map_err(|e| e.kind())).collect();
    assert_eq!(kinds, [Ok(()), Err(ErrorKind::InvalidKey), Ok(())]);
    let failing = staff.get(Employee::key("Sales/", 1)).map(|_| unreachable!("no key has a slash"));
    let kinds: Vec<_> =
        then.join([failing], parity).map(|pair| pair.map(drop).map_err(|e| e.kind())).collect();
    assert_eq!(kinds, [Err(ErrorKind::InvalidKey)]);

    // By an index, and as copies.
    let copies = staff.at(&snapshot);
    let by_email = then.rows().region("west");
    let email =
        |d: &Stored<Department>| Some(Employee::by_email("Sales", format!("{}@contoso.com", d.floor)));
    let ids: Vec<_> = copies.join(by_email, email).map(|pair| pair.unwrap().1.unwrap().id).collect();
    assert_eq!(ids, [2, 1]);
}

integration_tests::on_other_executors! {
    the_first_that_is_found_comes_alone_whatever_the_query
    a_change_that_is_called_off_writes_nothing
    a_change_that_may_be_called_off_sees_the_last_state_of_many_writers
    an_entity_is_made_once_by_the_first_to_ask
    rows_are_joined_with_what_they_name_at_one_moment_and_each_is_asked_for_once
}
