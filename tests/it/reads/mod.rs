//! Typed reads: what each way to ask gives, and what it refuses.

mod comparisons;
mod keys;
mod model;

use integration_tests::Scratch;
use integration_tests::executors::{reverses, snapshot};
use table_core::query::QueryClass;
use table_core::{
    Continuation, DynamicEntity, Entity, ErrorKind, IfMatch, KeyPart, Projection, Stored, Table, Tables,
    Ticks, View, prefix,
};

/// One employee of a department.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(first_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    age: i32,
    email: String,
    photo: Option<Vec<u8>>,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Badge {
    id: u32,
    first_name: String,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Ages {
    department: String,
    age: i64,
    #[property(default)]
    photo: Vec<u8>,
}

fn employee(id: u32, last_name: &str, age: i32) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        first_name: format!("F{id}"),
        last_name: last_name.into(),
        age,
        email: format!("{id}@contoso.com"),
        photo: id.is_multiple_of(2).then(|| vec![7; 3]),
    }
}

fn staff(store: &Tables) -> Table<Employee> {
    let staff = store.table::<Employee>().unwrap();
    for (id, last_name, age) in [(1, "Hall", 30), (2, "Jones", 41), (3, "Jonas", 52), (4, "Jones", 23)] {
        staff.insert(&employee(id, last_name, age)).unwrap();
    }
    let elsewhere = Employee { department: "Support".into(), ..employee(5, "Kwok", 44) };
    staff.insert(&elsewhere).unwrap();
    staff
}

#[test]
fn many_keys_are_read_in_their_order() {
    let scratch = Scratch::new();
    let staff = staff(&scratch.tables());
    let found = staff.get_many([4, 9, 1, 4].map(|id| Employee::key("Sales", id))).unwrap();
    let found: Vec<_> = found.iter().map(|found| found.as_ref().map(|e| e.id)).collect();
    assert_eq!(found, [Some(4), None, Some(1), Some(4)]);
    let copies = staff.get_many(["2@contoso.com", "x"].map(|e| Employee::by_email("Sales", e))).unwrap();
    assert_eq!(copies.iter().map(|copy| copy.as_ref().map(|e| e.id)).collect::<Vec<_>>(), [Some(2), None]);
    assert!(staff.get_many(Vec::<table_core::Key<Employee>>::new()).unwrap().is_empty());
    // A key that none can have is an error of the read, not one that is missing.
    let error = staff.get_many([Employee::key("Sales", 1_000_000)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
}

#[test]
fn a_projection_reads_its_fields_alone() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = staff(&store);
    let badge = |id| Badge { id, first_name: format!("F{id}") };
    assert_eq!(staff.get_as::<Badge>(Employee::key("Sales", 2)).unwrap(), Some(badge(2)));
    assert_eq!(staff.get_as::<Badge>(Employee::key("Sales", 9)).unwrap(), None);
    let found = staff.by_name().department("Sales").last_name(prefix("Jon")).select::<Badge>();
    assert!(found.explain().unwrap().to_string().contains("select: Id, FirstName"), "{:?}", found.explain());
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    assert_eq!(found, [badge(3), badge(2), badge(4)]);
    let ages = staff.rows().department("Sales").filter(|e| e.age.gt(40)).select::<Ages>();
    let ages: Vec<_> =
        ages.into_iter().map(|ages| ages.map(|ages| (ages.age, ages.photo.len())).unwrap()).collect();
    assert_eq!(ages, [(41, 3), (52, 0)]);

    // What it doesn't ask for may be as it is.
    let mut row = staff.dynamic().get("Sales", "empid_000001").unwrap().unwrap();
    row.set("Age", "old");
    staff.dynamic().raw().replace(&row, IfMatch::Any).unwrap();
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    assert_eq!(staff.get_as::<Badge>(Employee::key("Sales", 1)).unwrap(), Some(badge(1)));
    assert_eq!(
        staff.get_as::<Ages>(Employee::key("Sales", 1)).unwrap_err().kind(),
        ErrorKind::SchemaMismatch
    );
    let seen = |e: View<'_, Employee>| e.first_name().map(str::to_owned);
    assert_eq!(staff.view(Employee::key("Sales", 1), seen).unwrap().as_deref(), Some("F1"));
    let error = staff.view(Employee::key("Sales", 1), |e| e.age()).unwrap_err();
    assert!(error.to_string().contains("`Age`"), "{error}");
}

#[test]
fn a_view_gives_each_field() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = staff(&store);
    let Some(snapshot) = snapshot(&store) else { return };
    staff.delete(Employee::key("Sales", 2)).unwrap();
    let then = staff.at(&snapshot);
    let jones = then.view(Employee::key("Sales", 2)).unwrap().unwrap();
    assert_eq!((&*jones.department().unwrap(), jones.id().unwrap()), ("Sales", 2));
    assert_eq!((jones.first_name().unwrap(), jones.age().unwrap()), ("F2", 41));
    assert_eq!(jones.photo().unwrap(), Some(&[7_u8, 7, 7][..]));
    let stored = then.get(Employee::key("Sales", 2)).unwrap().unwrap();
    assert_eq!(
        (View::etag(&jones), View::timestamp(&jones)),
        (Stored::etag(&stored), Stored::timestamp(&stored))
    );
    assert_eq!(View::to_entity(&jones).unwrap(), stored);
    assert!(then.view(Employee::key("Sales", 9)).unwrap().is_none());
    assert!(staff.view(Employee::key("Sales", 2), |e| e.age()).unwrap().is_none());
    assert_eq!(then.rows().department("Sales").count().unwrap(), 4);
    assert_eq!(staff.rows().department("Sales").count().unwrap(), 3);
    let names = then.rows().across_partitions().views().map(|e| e.unwrap().last_name().unwrap().to_owned());
    assert_eq!(names.collect::<Vec<_>>(), ["Hall", "Jones", "Jonas", "Jones", "Kwok"]);
    assert_eq!(then.get_as::<Badge>(Employee::key("Sales", 2)).unwrap().unwrap().first_name, "F2");
    assert_eq!(
        then.get_many([Employee::key("Sales", 2)]).unwrap()[0].as_deref(),
        Some(&employee(2, "Jones", 41))
    );

    let other = Scratch::new();
    let elsewhere = other.tables().table::<Employee>().unwrap();
    let error = elsewhere.at(&snapshot).get(Employee::key("Sales", 2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    let error = elsewhere.at(&snapshot).rows().department("Sales").into_iter().next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    let error = elsewhere.at(&snapshot).rows().department("Sales").views().next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
}

#[test]
fn a_page_goes_on_where_the_last_one_ended_and_nowhere_else() {
    let scratch = Scratch::new();
    let staff = staff(&scratch.tables());
    let query = staff.rows().department("Sales");
    let first = query.page(3, None).unwrap();
    assert_eq!(first.entities.iter().map(|e| e.id).collect::<Vec<_>>(), [1, 2, 3]);
    let token: Continuation = first.next.unwrap().to_string().parse().unwrap();
    // Between two pages the table may change.
    staff.delete(Employee::key("Sales", 3)).unwrap();
    let last = query.page(3, Some(&token)).unwrap();
    assert_eq!(last.entities.iter().map(|e| e.id).collect::<Vec<_>>(), [4]);
    assert!(last.next.is_none());

    let refused = |result: Result<usize, table_core::Error>| {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidContinuation);
    };
    refused(staff.rows().department("Support").page(3, Some(&token)).map(|page| page.entities.len()));
    if reverses(|| query.clone().rev().page(3, Some(&token))) {
        refused(query.clone().rev().page(3, Some(&token)).map(|page| page.entities.len()));
    }
    refused(query.clone().top(9).page(3, Some(&token)).map(|page| page.entities.len()));
    refused(query.clone().filter(|e| e.age.gt(1)).page(3, Some(&token)).map(|page| page.entities.len()));
    refused(query.clone().select::<Badge>().page(3, Some(&token)).map(|page| page.entities.len()));
    refused(staff.by_name().department("Sales").page(3, Some(&token)).map(|page| page.entities.len()));
    for size in [0, 1_001] {
        assert_eq!(query.page(size, None).unwrap_err().kind(), ErrorKind::InvalidQuery);
    }
}

#[test]
fn a_copy_leads_to_its_entity() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = staff(&store);
    let query = staff.by_name().department("Sales").last_name("Jones").entities();
    let explain = query.explain().unwrap();
    assert!(explain.looks_up());
    assert_eq!(
        explain.to_string(),
        "range of \"Sales\", rows starting with \"name_Jones_\"; filter: EntityType eq 'employee.by_name'; \
         then a point read of each entity"
    );
    let found: Vec<_> = query.into_iter().map(Result::unwrap).collect();
    assert_eq!(found.iter().map(|e| e.age).collect::<Vec<_>>(), [41, 23]);
    assert!(!staff.rows().department("Sales").entities().explain().unwrap().looks_up());
    staff.replace(&Employee { age: 42, ..employee(2, "Jones", 0) }, Stored::etag(&found[0])).unwrap();

    // A copy without its entity is damage.
    staff.dynamic().raw().delete("Sales", "empid_000004").unwrap();
    let mut found = staff.by_name().department("Sales").last_name("Jones").entities().into_iter();
    assert_eq!(found.next().unwrap().unwrap().age, 42);
    let error = found.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("`empid_000004`"), "{error}");
    assert!(found.next().is_none());
}

#[test]
fn many_partitions_are_read_where_that_is_said() {
    let scratch = Scratch::new();
    let staff = staff(&scratch.tables());
    let query = staff.rows().across_partitions();
    let explain = query.explain().unwrap();
    assert_eq!(explain.class(), QueryClass::TableScan);
    assert_eq!(
        explain.to_string(),
        "table scan; filter: EntityType eq 'employee'; why: no partition key is given"
    );
    assert_eq!(query.into_iter().map(|e| e.unwrap().id).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let query = staff.by_email().across_partitions().filter(|e| e.id.ge(4_u32) & e.department.ne("Support"));
    assert_eq!(query.into_iter().map(|e| e.unwrap().id).collect::<Vec<_>>(), [4]);
}

/// A log of devices, spread over four partitions.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Log", kind = "entry")]
#[key(partition = "log_{device:shard(4)}", row = "{at:inverted}_{device}_{number:03}")]
#[index(by_level, row = "level_{level}_{number:shard(2)}_{at:inverted}_{number:03}_{device}", copy(text))]
struct Entry {
    device: String,
    at: Ticks,
    number: u16,
    level: Level,
    text: String,
}

#[derive(KeyPart, Clone, Debug, PartialEq)]
enum Level {
    Info,
    Error,
}

#[test]
fn shards_are_computed_given_or_all() {
    let scratch = Scratch::new();
    let log = scratch.tables().table::<Entry>().unwrap();
    let at = |seconds: u64| Ticks::new(638_000_000_000_000_000 + seconds * 10_000_000).unwrap();
    for number in 0..20 {
        let level = if number % 5 == 0 { Level::Error } else { Level::Info };
        let device = format!("d{}", number % 7);
        log.insert(&Entry { device, at: at(number.into()), number, level, text: format!("{number}") })
            .unwrap();
    }
    let numbers = |found: table_core::Result<Vec<_>>| {
        found.unwrap().iter().map(|e: &Stored<Entry>| e.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(log.rows().device("d3").into_iter().collect()), [17, 10, 3]);
    assert_eq!(numbers(log.rows().device("d3").at(at(4)..at(17)).into_iter().collect()), [10]);
    assert_eq!(log.rows().device("d3").at(at(10)).number(10).explain().unwrap().class(), QueryClass::Point);
    assert_eq!(numbers(log.rows().all_shards().latest(3).into_iter().collect()), [19, 18, 17]);
    assert_eq!(numbers(log.rows().all_shards().rev().latest(3).into_iter().collect()), [19, 18, 17]);
    let oldest = || log.rows().all_shards().rev().top(3);
    if reverses(|| oldest().first()) {
        assert_eq!(numbers(oldest().into_iter().collect()), [0, 1, 2]);
    }
    let all = log.rows().all_shards().at(at(18)..);
    assert_eq!(all.explain().unwrap().ranges(), 4);
    assert!(all.explain().unwrap().to_string().contains("with 3 more ranges like it, merged"));
    let sum: u64 = (0..4).map(|shard| log.rows().shard(shard).count().unwrap()).sum();
    assert_eq!(sum, 20);
    for error in [
        log.rows().shard(4).explain().unwrap_err(),
        log.rows().shard(u32::MAX).into_iter().next().unwrap().unwrap_err(),
        log.rows().shard(4).page(1, None).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.to_string().contains("numbered from 0 to 3"), "{error}");
    }
    let errors = log.by_level().all_shards().level(Level::Error).all_shards().latest(2);
    assert_eq!(errors.explain().unwrap().ranges(), 8);
    assert_eq!(errors.into_iter().map(|e| e.unwrap().text).collect::<Vec<_>>(), ["15", "10"]);
    let one = log.by_level().device("d0").level(Level::Info).number(14).at(at(14)).into_iter();
    assert_eq!(one.map(|e| e.unwrap().text).collect::<Vec<_>>(), ["14"]);
}

/// Other kinds that share the keys' range are no answers.
#[test]
fn rows_of_other_kinds_are_left_out() {
    let scratch = Scratch::new();
    let staff = staff(&scratch.tables());
    let stranger = |row: &str| DynamicEntity::new("Sales", row);
    staff.dynamic().insert(&stranger("empid_000000").with("EntityType", "ghost")).unwrap();
    staff.dynamic().insert(&stranger("empid_000002x").with("EntityType", 7)).unwrap();
    staff.dynamic().insert(&stranger("empid_000009")).unwrap();
    let long = "k".repeat(200);
    staff.dynamic().insert(&stranger("empid_000008").with("EntityType", long.as_str())).unwrap();
    assert_eq!(staff.rows().department("Sales").count().unwrap(), 4);
    assert_eq!(staff.rows().across_partitions().into_iter().filter(|e| e.is_ok()).count(), 5);
}

#[test]
fn queries_move_between_threads() {
    fn movable<T: Send>(value: T) -> T {
        value
    }
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = movable(staff(&store));
    let mut rows = movable(staff.rows().department("Sales").into_iter());
    assert_eq!(rows.next().unwrap().unwrap().id, 1);
    let rest = std::thread::spawn(move || rows.map(|e| e.unwrap().id).collect::<Vec<_>>());
    assert_eq!(rest.join().unwrap(), [2, 3, 4]);
}

integration_tests::on_other_executors! {
    many_keys_are_read_in_their_order
    a_projection_reads_its_fields_alone
    a_view_gives_each_field
    a_page_goes_on_where_the_last_one_ended_and_nowhere_else
    a_copy_leads_to_its_entity
    many_partitions_are_read_where_that_is_said
    shards_are_computed_given_or_all
    rows_of_other_kinds_are_left_out
    queries_move_between_threads
}
