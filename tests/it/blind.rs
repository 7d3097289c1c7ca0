//! Fields with `#[encrypt(blind)]`: looked up by tokens, in indexes and filters, before and after a rotation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use table_core::crypt::{KeyHandle, KeyScope, MemoryKeys, Scope, Secret, TokenScope};
use table_core::{
    Column, DynamicEntity, Entity, EntitySet, Error, ErrorKind, Filter, IfMatch, Projection, Properties,
    Query, Store, Stored, Table, Ticks, Uuid, Value, ValueRef, prop,
};

/// What nothing may show.
const SSN: &str = "123-45-6789";

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
#[index(by_iban, row = "iban_{iban:blind}_{id:06}", copy(name))]
#[index(by_pin, row = "pin_{pin:blind}_{name}_{id:06}", copy = keys)]
#[index(by_name, row = "name_{name}_{id:06}", copy(ssn))]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[encrypt(blind)]
    ssn: Secret<String>,
    #[encrypt(blind, tokens = table)]
    iban: Option<String>,
    #[encrypt(blind)]
    pin: i32,
    #[encrypt]
    salary: i64,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Named {
    id: u32,
    name: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Payroll {
    Employee(Employee),
}

fn employee(id: u32, ssn: &str) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        name: format!("Name{id}"),
        ssn: ssn.into(),
        iban: Some("DE02".into()),
        pin: 4711,
        salary: 90_000,
    }
}

struct Scratch {
    dir: tempfile::TempDir,
    keys: Arc<MemoryKeys>,
}

impl Scratch {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), keys: Arc::new(MemoryKeys::new().unwrap()) }
    }

    fn store(&self) -> Store {
        let options = Store::options().map_size(1 << 28).encryption(self.keys.clone());
        options.open(self.dir.path().join("store")).unwrap()
    }
}

fn staff(store: &Store) -> Table<Employee> {
    store.table().unwrap()
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

fn rotate(store: &Store) {
    store.encryption().unwrap().rotate_all().unwrap();
}

fn ids<T: std::ops::Deref<Target = Employee>>(
    found: impl IntoIterator<Item = table_core::Result<T>>,
) -> Vec<u32> {
    found.into_iter().map(|found| found.unwrap().id).collect()
}

/// Every row of the table, keys and versions.
fn rows(staff: &Table<Employee>) -> Vec<(String, Option<table_core::ETag>)> {
    let rows = staff.dynamic().query(&Query::new()).unwrap().map(Result::unwrap);
    rows.map(|row| (row.row_key().to_owned(), row.etag())).collect()
}

/// Refused, with nothing written and nothing shown.
#[track_caller]
fn refused<T>(staff: &Table<Employee>, kind: ErrorKind, run: impl FnOnce() -> Result<T, Error>) -> String {
    let before = rows(staff);
    let error = run().err().expect("it was to be refused");
    let text = format!("{error} {error:?}");
    assert_eq!(error.kind(), kind, "{text}");
    assert!(!text.contains(SSN), "{text}");
    assert_eq!(rows(staff), before, "{text}");
    text
}

#[test]
fn a_value_is_found_by_its_token_on_every_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    // Before anything was sealed there is no key, and nothing is found.
    assert!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().is_none());
    assert_eq!(staff.by_ssn().department("Sales").ssn(SSN).count().unwrap(), 0);
    assert_eq!(staff.rows().department("Sales").filter(|e| e.ssn.eq(SSN)).count().unwrap(), 0);
    for (id, ssn) in [(1, SSN), (2, "987-65-4321"), (3, "555-55-5555")] {
        staff.insert(&employee(id, ssn)).unwrap();
    }
    staff.put(&Employee { iban: None, pin: 1, ..employee(4, "444") }).unwrap();

    let one = employee(1, SSN);
    let by_ssn = || Employee::by_ssn("Sales", SSN);
    assert_eq!(*staff.get(by_ssn()).unwrap().unwrap(), one);
    assert_eq!(*staff.get(Employee::by_ssn("Sales", one.ssn.clone())).unwrap().unwrap(), one);
    assert_eq!(*staff.get(Employee::by_ssn("Sales", &one.ssn)).unwrap().unwrap(), one);
    assert!(staff.get(Employee::by_ssn("Sales", "123")).unwrap().is_none());
    assert!(staff.get(Employee::by_ssn("Marketing", SSN)).unwrap().is_none());
    let many =
        staff.get_many([by_ssn(), Employee::by_ssn("Sales", "?"), Employee::by_ssn("Sales", "444")]).unwrap();
    let many: Vec<_> = many.into_iter().map(|found| found.map(|e| e.id)).collect();
    assert_eq!(many, [Some(1), None, Some(4)]);
    assert_eq!(staff.get_as::<Named>(by_ssn()).unwrap().unwrap(), Named { id: 1, name: "Name1".into() });
    let copy = staff.get(Employee::by_iban("Sales", "DE02", 2)).unwrap().unwrap();
    assert_eq!((copy.id, &*copy.name, copy.iban.as_deref()), (2, "Name2", Some("DE02")));
    assert!(staff.get(Employee::by_iban("Sales", "DE02", 4)).unwrap().is_none());
    assert_eq!(staff.get(Employee::by_pin("Sales", 4711, "Name3", 3)).unwrap().unwrap().pin, 4711);

    assert_eq!(ids(staff.by_ssn().department("Sales").ssn(SSN)), [1]);
    assert_eq!(ids(staff.by_ssn().department("Sales")).len(), 4);
    assert_eq!(ids(staff.by_iban().department("Sales").iban("DE02").entities()), [1, 2, 3]);
    assert_eq!(ids(staff.by_iban().department("Sales").iban("DE02").id(2..).entities()), [2, 3]);
    assert_eq!(ids(staff.by_iban().department("Sales").iban("DE02").rev().top(2).entities()), [3, 2]);
    assert_eq!(staff.by_pin().department("Sales").pin(4711).count().unwrap(), 3);
    let named = staff.by_pin().department("Sales").pin(1).into_iter().map(|row| row.unwrap().id);
    assert_eq!(named.collect::<Vec<_>>(), [4]);

    let sales = || staff.rows().department("Sales");
    assert_eq!(ids(sales().filter(|e| e.ssn.eq(SSN))), [1]);
    assert_eq!(ids(sales().filter(|e| !e.ssn.eq(SSN) & e.pin.eq(4711))), [2, 3]);
    assert_eq!(ids(sales().filter(|e| e.iban.eq("DE02") | e.ssn.eq("444")).rev()), [4, 3, 2, 1]);
    assert_eq!(ids(staff.by_name().department("Sales").filter(|e| e.ssn.eq("444")).entities()), [4]);
    assert_eq!(ids(staff.rows().across_partitions().filter(|e| e.ssn.eq(SSN) | e.iban.eq("x"))), [1]);

    let snapshot = store.snapshot().unwrap();
    staff.delete(key(1), IfMatch::Any).unwrap();
    assert!(staff.get(by_ssn()).unwrap().is_none());
    let then = staff.at(&snapshot);
    assert_eq!(then.get(by_ssn()).unwrap().unwrap().id, 1);
    assert_eq!(then.get_many([by_ssn()]).unwrap().len(), 1);
    assert_eq!(then.get_as::<Named>(by_ssn()).unwrap().unwrap().id, 1);
    assert_eq!(ids(then.by_ssn().department("Sales").ssn(SSN)), [1]);
    let seen = then.rows().department("Sales").filter(|e| e.ssn.eq(SSN)).views();
    assert_eq!(seen.map(|e| e.unwrap().id().unwrap()).collect::<Vec<_>>(), [1]);
}

#[test]
fn keys_with_tokens_show_nothing_of_what_was_given() {
    let key = Employee::by_ssn("Sales", SSN);
    assert_eq!(format!("{key:?}"), "IndexKey(ssn_{ssn:blind})");
    let error = key.as_strs().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert!(error.to_string().contains("holds a token"), "{error}");

    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    let by_token = staff.by_ssn().department("Sales").ssn(SSN);
    let by_filter = staff.rows().department("Sales").filter(|e| e.ssn.eq(SSN));
    for shown in [
        format!("{by_token:?}"),
        by_token.explain().unwrap().to_string(),
        format!("{by_filter:?}"),
        format!("{:?}", by_filter.explain().unwrap()),
        by_filter.explain().unwrap().to_string(),
    ] {
        assert!(!shown.contains(SSN), "{shown}");
    }
    assert!(by_filter.explain().unwrap().to_string().ends_with("and Ssn eq <encrypted>"));

    // A key that can't be made says so before any key of the store is asked for.
    let error = staff.get(Employee::by_pin("Sales", 1, "a/b", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
}

#[test]
fn rows_hold_the_token_beside_the_value_and_keep_both() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    let own = || staff.dynamic().get("Sales", "empid_000001").unwrap().unwrap();
    let first = own();
    let bytes =
        |row: &DynamicEntity, property: &str| row.get(property).and_then(Value::as_bytes).unwrap().to_vec();
    let encryption = store.encryption().unwrap();
    let token_of = |property: &str, tokens, value: ValueRef<'_>| {
        let cell = staff.dynamic().cell("Sales", "", property).unwrap();
        encryption.token(&cell, tokens, value).unwrap()
    };
    let token = token_of("Ssn", TokenScope::Partition, ValueRef::String(SSN));
    assert_eq!(bytes(&first, "SsnToken"), token.to_bytes());
    let iban = token_of("Iban", TokenScope::Table, ValueRef::String("DE02"));
    assert_eq!(bytes(&first, "IbanToken"), iban.to_bytes());
    let copy = staff.dynamic().get("Sales", &format!("ssn_{token}")).unwrap().unwrap();
    assert_eq!(bytes(&copy, "Ssn"), bytes(&first, "Ssn"));
    assert_eq!(bytes(&copy, "SsnToken"), token.to_bytes());
    let by_name = staff.dynamic().get("Sales", "name_Name1_000001").unwrap().unwrap();
    assert_eq!(bytes(&by_name, "SsnToken"), token.to_bytes());
    assert!(by_name.get("IbanToken").is_none());

    // What a change leaves alone keeps its token, also under a new key of the store.
    rotate(&store);
    staff.update(key(1), |e| e.salary += 1).unwrap();
    assert_eq!(bytes(&own(), "SsnToken"), token.to_bytes());
    assert_eq!(bytes(&own(), "Ssn"), bytes(&first, "Ssn"));
    // A new value has a new one, and the copy moves.
    staff.update(key(1), |e| e.ssn = "other".into()).unwrap();
    assert_ne!(bytes(&own(), "SsnToken"), token.to_bytes());
    assert!(staff.dynamic().get("Sales", &format!("ssn_{token}")).unwrap().is_none());
    assert!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().is_none());
    assert_eq!(staff.get(Employee::by_ssn("Sales", "other")).unwrap().unwrap().id, 1);
    // One that goes leaves none.
    staff.update(key(1), |e| e.iban = None).unwrap();
    assert!(own().get("IbanToken").is_none() && own().get("Iban").is_none());
    assert_eq!(staff.by_iban().department("Sales").count().unwrap(), 0);

    // Moved, it is sealed anew, and found still.
    staff.move_to(key(1), |e| e.id = 7).unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", "other")).unwrap().unwrap().id, 7);
    staff.delete(key(7), IfMatch::Any).unwrap();
    assert_eq!(rows(&staff), []);
}

#[test]
fn both_keys_find_while_a_rotation_is_under_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    staff.insert(&employee(2, "two")).unwrap();
    rotate(&store);
    staff.insert(&employee(3, "three")).unwrap();
    rotate(&store);
    staff.insert(&Employee { iban: Some("FR76".into()), ..employee(4, "four") }).unwrap();
    for (id, ssn) in [(1, SSN), (2, "two"), (3, "three"), (4, "four")] {
        assert_eq!(staff.get(Employee::by_ssn("Sales", ssn)).unwrap().unwrap().id, id);
        assert_eq!(ids(staff.by_ssn().department("Sales").ssn(ssn)), [id]);
        assert_eq!(ids(staff.rows().department("Sales").filter(|e| e.ssn.eq(ssn))), [id]);
    }
    // Merged by what follows the token, whichever key made it.
    staff.insert(&Employee { pin: 9, ..employee(5, "five") }).unwrap();
    let by_iban = || staff.by_iban().department("Sales").iban("DE02");
    assert_eq!(ids(by_iban().entities()), [1, 2, 3, 5]);
    assert_eq!(ids(by_iban().rev().entities()), [5, 3, 2, 1]);
    assert_eq!(ids(by_iban().top(3).entities()), [1, 2, 3]);
    assert_eq!(by_iban().count().unwrap(), 4);
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = by_iban().page(1, after.as_ref()).unwrap();
        seen.extend(page.entities.iter().map(|row| row.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, [1, 2, 3, 5]);
    let explain = by_iban().explain().unwrap().to_string();
    assert!(explain.ends_with("with 2 more ranges like it, merged"), "{explain}");

    // A page of a filter goes on over a rotation; one by several tokens starts again.
    let filtered = || staff.rows().department("Sales").filter(|e| e.iban.eq("DE02"));
    let page = filtered().page(2, None).unwrap();
    let by_token = by_iban().page(1, None).unwrap();
    rotate(&store);
    let rest = filtered().page(10, page.next.as_ref()).unwrap();
    assert_eq!(rest.entities.iter().map(|e| e.id).collect::<Vec<_>>(), [3, 5]);
    let error = by_iban().page(1, by_token.next.as_ref()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
    // A token of one value is none of another's.
    let other = staff.rows().department("Sales").filter(|e| e.iban.eq("FR76"));
    let error = other.page(1, page.next.as_ref()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidContinuation);
}

#[test]
fn what_is_unique_stays_so_while_a_rotation_is_under_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    let partition = || Employee::partition("Sales");
    staff.insert(&employee(1, SSN)).unwrap();
    staff.insert(&employee(2, "two")).unwrap();
    rotate(&store);
    let (twin, third) = (employee(3, SSN), employee(4, "four"));
    let says = |text: String| assert!(text.contains("unique index `by_ssn`"), "{text}");
    says(refused(&staff, ErrorKind::UniqueConflict, || staff.insert(&twin)));
    says(refused(&staff, ErrorKind::UniqueConflict, || staff.put(&twin)));
    says(refused(&staff, ErrorKind::UniqueConflict, || staff.update(key(2), |e| e.ssn = SSN.into())));
    says(refused(&staff, ErrorKind::UniqueConflict, || {
        staff.merge(key(2), Employee::patch().ssn(SSN.into()), IfMatch::Any)
    }));
    says(refused(&staff, ErrorKind::UniqueConflict, || staff.replace(&employee(2, SSN), IfMatch::Any)));
    says(refused(&staff, ErrorKind::UniqueConflict, || {
        staff.move_to(key(2), |e| (e.id, e.ssn) = (9, SSN.into()))
    }));
    says(refused(&staff, ErrorKind::UniqueConflict, || {
        staff.egt(partition()).insert(&third).insert(&twin).commit()
    }));
    // Beside an operation on the entity that has it.
    let text = refused(&staff, ErrorKind::UniqueConflict, || {
        staff.egt(partition()).update(key(1), |e| e.salary = 1).insert(&twin).commit()
    });
    assert!(text.contains("operation 0") && text.contains("by_ssn"), "{text}");
    let report = staff.bulk_insert([&twin, &third]).unwrap();
    assert_eq!((report.committed, report.failures.len()), (1, 1));
    assert_eq!(report.failures[0].error.kind(), ErrorKind::UniqueConflict);
    let set = store.set::<Payroll>().unwrap();
    let change = DynamicEntity::new("Sales", "empid_000002").with("Ssn", SSN);
    says(refused(&staff, ErrorKind::UniqueConflict, || set.merge_any(&change, IfMatch::Any)));

    // Two may exchange what they have, and one may take what another gives up.
    staff
        .egt(partition())
        .update(key(1), |e| e.ssn = "two".into())
        .update(key(2), |e| e.ssn = SSN.into())
        .commit()
        .unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 2);
    assert_eq!(staff.get(Employee::by_ssn("Sales", "two")).unwrap().unwrap().id, 1);
    staff.egt(partition()).delete(key(2), IfMatch::Any).insert(&twin).commit().unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 3);
    // An entity doesn't stand in its own way.
    rotate(&store);
    staff.put(&twin).unwrap();
    staff.move_to(key(3), |e| e.id = 33).unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 33);
    // Another partition is another matter.
    staff.insert(&Employee { department: "Other".into(), ..employee(1, SSN) }).unwrap();
}

#[test]
fn a_rotation_makes_no_transaction_too_large() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(0, "zero")).unwrap();
    rotate(&store);
    // Five rows each, which are as many as a transaction may touch; and another is looked at for each.
    let many: Vec<_> = (1..=20).map(|id| employee(id, &format!("ssn{id}"))).collect();
    let partition = || Employee::partition("Sales");
    let egt = || many.iter().fold(staff.egt(partition()), |egt, employee| egt.insert(employee));
    assert_eq!(egt().explain().unwrap().rows(), 100);
    egt().commit().unwrap();
    assert_eq!(staff.by_ssn().department("Sales").count().unwrap(), 21);
}

#[test]
fn tokens_tell_partitions_apart_unless_they_are_the_tables() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    staff.insert(&Employee { department: "Other".into(), ..employee(1, SSN) }).unwrap();
    let own = |partition: &str| staff.dynamic().get(partition, "empid_000001").unwrap().unwrap();
    let (sales, other) = (own("Sales"), own("Other"));
    assert_ne!(sales.get("SsnToken"), other.get("SsnToken"));
    assert_eq!(sales.get("IbanToken"), other.get("IbanToken"));
    let everywhere = || staff.rows().across_partitions();
    assert_eq!(everywhere().filter(|e| e.ssn.eq(SSN)).count().unwrap(), 2);
    assert_eq!(everywhere().filter(|e| e.iban.eq("DE02")).count().unwrap(), 2);
    assert_eq!(everywhere().filter(|e| !e.iban.eq("DE02")).count().unwrap(), 0);
}

#[test]
fn uniqueness_holds_between_writers_and_rotations() {
    const WRITERS: u32 = 3;
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(0, "first")).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 1..=WRITERS {
            let (staff, is_over) = (&staff, &is_over);
            scope.spawn(move || {
                for number in 0..40 {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let ssn = format!("ssn{number}");
                    match staff.insert(&employee(writer * 1_000 + number, &ssn)) {
                        Ok(_) => {}
                        Err(error) => assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}"),
                    }
                    assert!(staff.get(Employee::by_ssn("Sales", ssn.as_str())).unwrap().is_some());
                }
            });
        }
        for _ in 0..15 {
            rotate(&store);
        }
    });
    is_over.store(true, Ordering::Relaxed);
    let mut seen: Vec<_> =
        staff.rows().department("Sales").into_iter().map(|e| e.unwrap().ssn.clone()).collect();
    assert!(seen.len() > 1);
    let all = seen.len();
    seen.sort_by(|a, b| a.expose().cmp(b.expose()));
    seen.dedup();
    assert_eq!(seen.len(), all);
}

#[test]
fn a_row_that_was_put_under_another_token_is_not_believed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    staff.insert(&employee(2, "two")).unwrap();
    let table = staff.dynamic();
    let own = |id: u32| table.get("Sales", &format!("empid_{id:06}")).unwrap().unwrap();
    let token = |id| own(id).get("SsnToken").cloned().unwrap();
    let text =
        |value: &Value| value.as_bytes().unwrap().iter().map(|b| format!("{b:02x}")).collect::<String>();
    // The second's copy in the place of the first's, and the first's token on the second's own row.
    let forged = table.get("Sales", &format!("ssn_{}", text(&token(2)))).unwrap().unwrap();
    let mut put = DynamicEntity::new("Sales", format!("ssn_{}", text(&token(1))));
    for (name, value) in forged.properties() {
        put = put.with(name, value.clone());
    }
    table.insert_or_replace(&put).unwrap();
    table
        .merge(&DynamicEntity::new("Sales", "empid_000002").with("SsnToken", token(1)), IfMatch::Any)
        .unwrap();
    assert!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().is_none());
    assert_eq!(ids(staff.by_ssn().department("Sales").ssn(SSN)), [0; 0]);
    assert_eq!(ids(staff.rows().department("Sales").filter(|e| e.ssn.eq(SSN))), [1]);
    // A token that is none does no harm: it is made anew with the next change.
    table
        .merge(&DynamicEntity::new("Sales", "empid_000001").with("SsnToken", "nothing"), IfMatch::Any)
        .unwrap();
    staff.update(key(1), |e| e.salary = 1).unwrap();
    assert_eq!(own(1).get("SsnToken"), Some(&put_token(&staff)));
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 1);
}

fn put_token(staff: &Table<Employee>) -> Value {
    let copy = staff.by_ssn().department("Sales").ssn(SSN).into_iter().next().unwrap().unwrap();
    let row = staff.dynamic().get("Sales", &format!("empid_{:06}", copy.id)).unwrap().unwrap();
    row.get("SsnToken").cloned().unwrap()
}

#[test]
fn explain_shows_the_rows_of_tokens_without_making_a_key() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    let (one, two) = (employee(1, SSN), employee(2, "two"));
    let plan = staff.egt(Employee::partition("Sales")).insert(&one).insert(&two).explain().unwrap();
    assert_eq!(plan.rows(), 10);
    assert!(store.encryption().unwrap().keys().unwrap().is_empty());
    staff.insert(&one).unwrap();
    rotate(&store);
    let plan =
        staff.egt(Employee::partition("Sales")).update(key(1), |e| e.ssn = "new".into()).explain().unwrap();
    let shown = plan.to_string();
    assert!(shown.contains("its copy for by_ssn") && !shown.contains(SSN), "{shown}");
    let [gone, come] =
        [plan.removed().collect::<Vec<_>>(), plan.written().filter(|k| k.starts_with("ssn_")).collect()];
    assert_eq!((gone.len(), come.len()), (1, 1));
    assert!(staff.dynamic().get("Sales", gone[0]).unwrap().is_some());
    staff.update(key(1), |e| e.ssn = "new".into()).unwrap();
    assert!(staff.dynamic().get("Sales", come[0]).unwrap().is_some());
    // Two entities of one value are refused already in the plan.
    let twin = employee(2, "new");
    let error = staff.egt(Employee::partition("Sales")).insert(&employee(3, "new")).insert(&twin).explain();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::UniqueConflict);
}

#[test]
fn filters_on_tokens_are_of_typed_queries_alone() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    let mut kept: Option<Filter> = None;
    let _ = staff.rows().department("Sales").filter(|e| {
        let filter = e.ssn.eq(SSN);
        kept = Some(filter.clone());
        filter
    });
    let filter = kept.unwrap();
    assert_eq!(
        (filter.to_string(), format!("{filter:?}")),
        ("Ssn eq <encrypted>".into(), "Filter(Ssn eq <encrypted>)".into())
    );
    let query = Query::new().filter(filter & prop("Name").eq("Name1"));
    let error = staff.dynamic().query(&query).unwrap().next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidFilter);
    assert!(!error.to_string().contains(SSN), "{error}");
}

#[test]
fn readers_without_keys_can_look_up_nothing() {
    let scratch = Scratch::new();
    let path = scratch.dir.path().join("store");
    {
        let store = scratch.store();
        staff(&store).insert(&employee(1, SSN)).unwrap();
    }
    let store = Store::options().map_size(1 << 28).open(path).unwrap();
    let staff = staff(&store);
    refused(&staff, ErrorKind::KeyUnavailable, || staff.get(Employee::by_ssn("Sales", SSN)).map(drop));
    refused(&staff, ErrorKind::KeyUnavailable, || staff.by_ssn().department("Sales").ssn(SSN).count());
    let filtered = || staff.rows().department("Sales").filter(|e| e.ssn.eq(SSN));
    refused(&staff, ErrorKind::KeyUnavailable, || filtered().count());
    refused(&staff, ErrorKind::KeyUnavailable, || filtered().explain());
    refused(&staff, ErrorKind::KeyUnavailable, || staff.insert(&employee(2, SSN)));
    assert_eq!(staff.get_as::<Named>(key(1)).unwrap().unwrap().id, 1);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{clinic}", row = "{id:06}")]
#[index(by_card, row = "card_{card:blind}", unique)]
struct Patient {
    clinic: String,
    id: u32,
    #[encrypt(blind, scope = partition)]
    card: String,
    #[encrypt(scope = table)]
    note: String,
    #[encrypt]
    phone: String,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Patient)]
struct Phone {
    note: String,
    phone: String,
}

fn patient(clinic: &str, id: u32, card: &str) -> Patient {
    Patient { clinic: clinic.into(), id, card: card.into(), note: "note".into(), phone: "1".into() }
}

#[test]
fn a_partitions_values_are_shredded_by_themselves() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let patients = store.table::<Patient>().unwrap();
    let encryption = store.encryption().unwrap();
    for clinic in ["East", "West"] {
        patients.insert(&patient(clinic, 1, "c1")).unwrap();
        patients.insert(&patient(clinic, 2, "c2")).unwrap();
    }
    let table = patients.dynamic();
    let (east, of_table) = (table.partition_key_scope("East").unwrap(), table.key_scope());
    let row = table.get("East", "000001").unwrap().unwrap();
    let scope_of = |property: &str| {
        let handle = KeyHandle::of(row.get(property).unwrap().as_bytes().unwrap()).unwrap();
        encryption.keys().unwrap().into_iter().find(|key| key.handle == handle).unwrap().scope
    };
    assert_eq!(
        (scope_of("Card"), scope_of("Note"), scope_of("Phone")),
        (east.clone(), of_table, Scope::store())
    );
    assert_eq!(patients.get(Patient::by_card("East", "c2")).unwrap().unwrap().id, 2);

    encryption.shred(&east).unwrap();
    assert_eq!(patients.get(Patient::key("East", 1)).unwrap_err().kind(), ErrorKind::KeyShredded);
    assert_eq!(*patients.get(Patient::key("West", 1)).unwrap().unwrap(), patient("West", 1, "c1"));
    let rest = patients.get_as::<Phone>(Patient::key("East", 1)).unwrap().unwrap();
    assert_eq!(rest, Phone { note: "note".into(), phone: "1".into() });
    // What is no more is found by nothing, and stands in nobody's way.
    assert!(patients.get(Patient::by_card("East", "c1")).unwrap().is_none());
    assert_eq!(patients.rows().clinic("East").filter(|p| p.card.eq("c1")).count().unwrap(), 0);
    let found = patients.rows().across_partitions().filter(|p| p.card.eq("c1"));
    let found: Vec<_> = found.into_iter().map(|p| Stored::into_inner(p.unwrap())).collect();
    assert_eq!(found, [patient("West", 1, "c1")]);
    patients.insert(&patient("East", 3, "c1")).unwrap();
    assert_eq!(patients.get(Patient::by_card("East", "c1")).unwrap().unwrap().id, 3);
}

#[derive(Properties, Clone, Debug, PartialEq)]
struct Bank {
    #[encrypt(blind)]
    iban: Secret<String>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Accounts", kind = "account")]
#[key(partition = "{owner}", row = "{id:03}")]
#[index(by_id, row = "id_{id:03}")]
struct Account {
    owner: String,
    id: u16,
    #[flatten]
    bank: Bank,
}

#[test]
fn flattened_fields_are_looked_up_by_filters() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let accounts = store.table::<Account>().unwrap();
    for id in 0..3 {
        let bank = Bank { iban: format!("DE{id}").into() };
        accounts.insert(&Account { owner: "Ann".into(), id, bank }).unwrap();
        rotate(&store);
    }
    let found = accounts.rows().owner("Ann").filter(|a| a.bank.iban.eq("DE1"));
    assert_eq!(found.into_iter().map(|a| a.unwrap().id).collect::<Vec<_>>(), [1]);
    let copies = accounts.by_id().owner("Ann").filter(|a| a.bank.iban.eq("DE2"));
    assert_eq!(copies.into_iter().map(|a| a.unwrap().id).collect::<Vec<_>>(), [2]);
    accounts.update(Account::key("Ann", 1), |a| a.bank.iban = "DE9".into()).unwrap();
    assert_eq!(accounts.rows().owner("Ann").filter(|a| a.bank.iban.eq("DE9")).count().unwrap(), 1);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Types", kind = "types")]
#[key(partition = "p", row = "{id:03}")]
#[index(by_all, row = "{bytes:blind}{born:blind}{pass:blind}-{big:blind}", unique)]
#[index(by_text, row = "text_{text:blind}_{id:03}", copy = keys)]
#[index(by_shard, row = "shard_{id:shard(2)}_{big:blind}_{id:03}", copy = keys)]
struct Types {
    id: u16,
    #[encrypt(blind)]
    bytes: Vec<u8>,
    #[encrypt(blind)]
    born: Ticks,
    #[encrypt(blind)]
    pass: Uuid,
    #[encrypt(blind)]
    big: i64,
    #[encrypt(blind)]
    text: Secret<Option<String>>,
}

#[test]
fn every_type_that_can_be_looked_up_is() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<Types>().unwrap();
    let types = |id: u16| Types {
        id,
        bytes: vec![1, 2],
        born: Ticks::new(600_000_000_000_000_000).unwrap(),
        pass: Uuid::from_u128(7),
        big: i64::from(id % 2),
        text: Secret::new((id > 1).then(|| "text".into())),
    };
    let (zero, one) = (types(0), types(1));
    table.insert(&zero).unwrap();
    rotate(&store);
    table.insert(&one).unwrap();
    let by_all = |of: &Types| Types::by_all(&of.bytes, of.born, of.pass, of.big);
    assert_eq!(*table.get(by_all(&zero)).unwrap().unwrap(), zero);
    assert_eq!(*table.get(by_all(&one)).unwrap().unwrap(), one);
    assert_eq!(table.insert(&types(2)).unwrap_err().kind(), ErrorKind::UniqueConflict);
    let four_tokens = table.by_all().bytes(vec![1, 2]).born(zero.born).pass(zero.pass).big(1);
    assert_eq!(four_tokens.into_iter().map(|t| t.unwrap().id).collect::<Vec<_>>(), [1]);
    assert_eq!(table.by_text().count().unwrap(), 0);
    let third = Types { big: 5, ..types(3) };
    table.insert(&third).unwrap();
    let by_text = table.by_text().text(third.text.clone());
    assert_eq!(by_text.into_iter().map(|row| row.unwrap().id).collect::<Vec<_>>(), [3]);
    let sharded = table.by_shard().all_shards().big(0).count();
    assert_eq!(sharded.unwrap(), 1);
}

#[test]
fn pictures_and_layouts_say_what_can_be_looked_up() {
    let picture = <Patient as Entity>::SCHEMA.to_string();
    assert!(picture.contains("Card: encrypted by partition blind String"), "{picture}");
    assert!(picture.contains("Note: encrypted by table String"), "{picture}");

    #[derive(Entity)]
    #[entity(table = "Patients", kind = "patient")]
    #[key(partition = "{clinic}", row = "{id:06}")]
    #[index(by_card, row = "card_{card:blind}", unique)]
    struct Other {
        clinic: String,
        id: u32,
        #[encrypt(blind, tokens = table)]
        card: String,
        #[encrypt(scope = table)]
        note: String,
        #[encrypt(scope = store)]
        phone: String,
    }

    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<Patient>().unwrap();
    let error = store.table::<Other>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    let text = error.to_string();
    assert!(text.contains("+ property Card encrypted blind by table String"), "{text}");
    assert!(!text.contains("Phone") && !text.contains("Note"), "{text}");
    let _: (Option<Column<u8>>, KeyScope) = (None, KeyScope::Store);
}
