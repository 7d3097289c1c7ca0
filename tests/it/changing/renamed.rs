//! A property with another name: rows are read under both, and written under the new one.

use integration_tests::{Scratch, assert_sound};
use table_core::{Entity, EntitySet, ErrorKind, IfMatch, Projection, Query, Store, Stored, Table};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy(email, phone))]
struct Former {
    department: String,
    id: u32,
    email: String,
    age: u8,
    phone: Option<String>,
    #[property(default = 1)]
    level: i32,
}

/// The next release's.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{mail}", unique)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy(mail, telephone))]
struct Employee {
    department: String,
    id: u32,
    #[property(was = "Email")]
    mail: String,
    #[property(rename = "Years", was = "Age")]
    age: u8,
    #[property(was = "Phone")]
    telephone: Option<String>,
    #[property(rename = "Grade", was = "Level", default = 1)]
    level: i32,
}

/// One whose author forgot what the properties were.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{mail}", unique)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy(mail, telephone))]
struct Forgetful {
    department: String,
    id: u32,
    mail: String,
    #[property(rename = "Years")]
    age: u8,
    telephone: Option<String>,
    #[property(rename = "Grade", default = 1)]
    level: i32,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Company {
    Employee(Employee),
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Contact {
    mail: String,
    telephone: Option<String>,
}

fn former(id: u32) -> Former {
    let phone = id.is_multiple_of(2).then(|| format!("555-{id:04}"));
    let age = u8::try_from(20 + id).unwrap();
    let level = i32::try_from(id % 3).unwrap();
    Former { department: "Sales".into(), id, email: format!("{id}@contoso.com"), age, phone, level }
}

fn now(id: u32) -> Employee {
    let Former { department, id, email, age, phone, level } = former(id);
    Employee { department, id, mail: email, age, telephone: phone, level }
}

/// Ten employees of the former program, of whom the new one has written the last five again; both have the table open.
fn company(scratch: &Scratch) -> (Store, Table<Former>, Table<Employee>) {
    let store = scratch.store();
    let older = store.table::<Former>().unwrap();
    for id in 0..10 {
        older.insert(&former(id)).unwrap();
    }
    let staff = store.table::<Employee>().unwrap();
    for id in 5..10 {
        staff.replace(&now(id), IfMatch::Any).unwrap();
    }
    (store, older, staff)
}

fn ids(found: impl IntoIterator<Item = table_core::Result<Stored<Employee>>>) -> Vec<u32> {
    found
        .into_iter()
        .map(|found| {
            let found = Stored::into_inner(found.unwrap());
            assert_eq!(found, now(found.id));
            found.id
        })
        .collect()
}

#[test]
fn rows_are_read_under_either_name() {
    let scratch = Scratch::new();
    let (store, _, staff) = company(&scratch);
    let sales = || staff.rows().department("Sales");
    assert_eq!(ids(sales()), (0..10).collect::<Vec<_>>());
    assert_eq!(ids(sales().filter(|e| e.mail.eq("3@contoso.com"))), [3]);
    assert_eq!(ids(sales().filter(|e| e.mail.starts_with("7@"))), [7]);
    assert_eq!(ids(sales().filter(|e| e.age.between(24..=26))), [4, 5, 6]);
    assert_eq!(ids(sales().filter(|e| e.telephone.is_none())), [1, 3, 5, 7, 9]);
    assert_eq!(ids(sales().filter(|e| e.level.eq(1))), [1, 4, 7]);
    for id in 0..10 {
        assert_eq!(staff.get(Employee::key("Sales", id)).unwrap().unwrap(), now(id));
        let mail = format!("{id}@contoso.com");
        assert_eq!(staff.get(Employee::by_email("Sales", &mail)).unwrap().unwrap(), now(id));
        let contact: Contact = sales().id(id).select::<Contact>().into_iter().next().unwrap().unwrap();
        assert_eq!(contact, Contact { mail, telephone: now(id).telephone });
    }
    let by_age: Vec<_> = staff.by_age().department("Sales").into_iter().map(|row| row.unwrap()).collect();
    assert_eq!(by_age.len(), 10);
    for row in by_age {
        let whole = now(row.id);
        assert_eq!((row.mail, row.telephone, row.age), (whole.mail, whole.telephone, whole.age));
    }
    let mailed = staff.by_age().department("Sales").filter(|e| e.mail.eq("2@contoso.com"));
    assert_eq!(mailed.into_iter().map(|row| row.unwrap().id).collect::<Vec<_>>(), [2]);

    let snapshot = store.snapshot().unwrap();
    let at = staff.at(&snapshot);
    let mut seen = 0;
    for view in at.rows().department("Sales").filter(|e| e.mail.ne("4@contoso.com")).views() {
        let view = view.unwrap();
        let whole = now(view.id().unwrap());
        assert_eq!(view.mail().unwrap(), whole.mail);
        assert_eq!(view.age().unwrap(), whole.age);
        assert_eq!(view.telephone().unwrap(), whole.telephone.as_deref());
        assert_eq!(view.level().unwrap(), whole.level);
        seen += 1;
    }
    assert_eq!(seen, 9);

    let set = store.set::<Company>().unwrap();
    let all: Vec<_> = set
        .partition(Employee::partition("Sales"))
        .into_iter()
        .map(|e| Stored::into_inner(e.unwrap()))
        .collect();
    assert_eq!(all, (0..10).map(|id| Company::Employee(now(id))).collect::<Vec<_>>());
}

#[test]
fn rows_are_written_under_the_new_name_alone() {
    let scratch = Scratch::new();
    let (store, _, staff) = company(&scratch);
    // Each kind of change, of rows that have the former names.
    staff.update(Employee::key("Sales", 0), |e| e.age += 1).unwrap();
    staff.merge(Employee::key("Sales", 1), Employee::patch().mail("x@contoso.com"), IfMatch::Any).unwrap();
    staff.put(&now(2)).unwrap();
    staff.move_to(Employee::key("Sales", 3), |e| e.id = 30).unwrap();
    staff
        .egt(Employee::partition("Sales"))
        .update(Employee::key("Sales", 4), |e: &mut Employee| e.telephone = None)
        .commit()
        .unwrap();
    let mut rows = 0;
    for row in staff.dynamic().query(&Query::new()).unwrap() {
        let row = row.unwrap();
        for former in ["Email", "Age", "Phone", "Level"] {
            assert!(row.get(former).is_none(), "{row:?}");
        }
        rows += 1;
    }
    assert_eq!(rows, 30);
    assert_eq!(staff.get(Employee::by_email("Sales", "x@contoso.com")).unwrap().unwrap().id, 1);
    assert!(staff.get(Employee::by_email("Sales", "1@contoso.com")).unwrap().is_none());
    assert_eq!(staff.get(Employee::key("Sales", 4)).unwrap().unwrap().telephone, None);
    assert_eq!(staff.get(Employee::key("Sales", 30)).unwrap().unwrap().mail, "3@contoso.com");
    assert_sound(&store);
}

#[test]
fn who_does_not_know_of_the_new_name_writes_nothing() {
    let scratch = Scratch::new();
    let (store, older, staff) = company(&scratch);
    let before: Vec<_> = staff.dynamic().query(&Query::new()).unwrap().map(Result::unwrap).collect();
    // A program of the last release, that has the table open and has written.
    let errors = [
        older.insert(&former(20)).unwrap_err(),
        older.put(&former(1)).unwrap_err(),
        older.update(Former::key("Sales", 1), |e| e.age += 1).map(drop).unwrap_err(),
        older.delete(Former::key("Sales", 1)).unwrap_err(),
    ];
    let report = older.bulk_insert([former(20)]).unwrap();
    assert_eq!((report.committed, report.failures.len()), (0, 1));
    let loaded = report.failures.into_iter().map(|failure| failure.error);
    for error in errors.into_iter().chain(loaded) {
        assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
        assert!(
            error.to_string().contains(
                "the property `Age` of `employee` is called `Years` by another program, and rows have the one name or the \
                 other; declare it in the struct `Former` with `#[property(rename = \"Years\", was = \"Age\")]` too"
            ) || error.to_string().contains("called `Grade`"),
            "{error}"
        );
    }
    drop((older, staff));
    drop(store);
    let store = scratch.store();
    // One that begins now.
    for error in
        [store.table::<Former>().map(drop).unwrap_err(), store.table::<Forgetful>().map(drop).unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    }
    let staff = store.table::<Employee>().unwrap();
    let after: Vec<_> = staff.dynamic().query(&Query::new()).unwrap().map(Result::unwrap).collect();
    assert_eq!(before, after);
    assert_sound(&store);
}

#[test]
fn opening_with_the_new_name_locks_nobody_out() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let older = store.table::<Former>().unwrap();
    older.insert(&former(1)).unwrap();
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap().unwrap(), now(1));
    // Nothing was written under the new name yet.
    older.update(Former::key("Sales", 1), |e| e.level = 5).unwrap();
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap().unwrap().level, 5);
}

/// The release after, which gives the property a third name.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{post}", unique)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy(post, telephone))]
struct Again {
    department: String,
    id: u32,
    #[property(was = "Mail")]
    post: String,
    #[property(rename = "Years", was = "Age")]
    age: u8,
    #[property(rename = "Line", was = "Telephone")]
    telephone: Option<String>,
    #[property(rename = "Grade", was = "Level", default = 1)]
    level: i32,
}

/// Rows of the first release have neither name that this one reads: what is optional would be `None` in silence.
#[test]
fn a_property_is_not_renamed_again_by_its_second_name() {
    let scratch = Scratch::new();
    let (store, _, table) = company(&scratch);
    let refused = store.table::<Again>().map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LayoutChanged, "{refused}");
    let text = refused.to_string();
    assert!(text.contains("rows may still have `Telephone` as `Phone`"), "{text}");
    assert!(text.contains("#[property(rename = \"Telephone\", was = \"Phone\")]"), "{text}");
    assert_eq!(table.get(Employee::key("Sales", 2)).unwrap().map(Stored::into_inner), Some(now(2)));
}
