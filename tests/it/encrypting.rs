//! Properties that are sealed because a function says so: by rule, in tables of entities of any shape.

use std::sync::Arc;

use integration_tests::Scratch;
use table_core::crypt::{KeyHandle, KeyScope, MemoryKeys, Scope};
use table_core::store::EncryptingTable;
use table_core::{
    DynamicEntity, DynamicTable, Entity, EntitySet, Error, ErrorKind, IfMatch, Query, Store, Ticks, Uuid,
    Value, limits, prop,
};

const CANARY: &str = "canary-078-05-1120";

struct Home {
    scratch: Scratch,
    keys: Arc<MemoryKeys>,
}

impl Home {
    fn new() -> Self {
        Self { scratch: Scratch::new(), keys: Arc::new(MemoryKeys::new().unwrap()) }
    }

    fn store(&self) -> Store {
        integration_tests::relaxed()
            .encryption(self.keys.clone())
            .open(self.scratch.path().join("s"))
            .unwrap()
    }

    fn store_without_keys(&self) -> Store {
        integration_tests::relaxed().open(self.scratch.path().join("s")).unwrap()
    }
}

fn company(store: &Store) -> DynamicTable {
    store.create_table_if_missing("Company").unwrap()
}

/// Everything whose name starts with `S`, and notes in one partition and of one row.
fn sealing(table: &DynamicTable) -> EncryptingTable {
    table.encrypting(|partition, row, property| {
        property.starts_with('S') || (property == "Note" && (partition == "Legal" || row == "secret"))
    })
}

fn entity(row: &str) -> DynamicEntity {
    DynamicEntity::new("Sales", row).with("Name", "Ann").with("Ssn", CANARY)
}

#[track_caller]
fn refused<T>(result: Result<T, Error>) -> Error {
    let error = result.err().expect("it was to be refused");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("canary"), "{text}");
    error
}

fn bytes(table: &DynamicTable, row: &str, property: &str) -> Vec<u8> {
    table.get("Sales", row).unwrap().unwrap().get(property).unwrap().as_bytes().unwrap().to_vec()
}

#[test]
fn a_row_that_is_lent_has_what_is_stored() {
    let home = Home::new();
    let store = home.store();
    let table = company(&store);
    sealing(&table).insert(&entity("1")).unwrap();
    let stored = bytes(&table, "1", "Ssn");
    let mut seen = 0;
    let mut look = |row: &table_core::store::Row<'_>| {
        assert_eq!(row.get("Ssn").and_then(|sealed| sealed.as_bytes()), Some(&*stored));
        assert_eq!(row.get("Name").and_then(|name| name.as_str()), Some("Ann"));
        seen += 1;
    };
    table.get_with("Sales", "1", &mut look).unwrap();
    table.query_with(&Query::new(), &mut look).unwrap();
    table.page_with(&Query::new(), 10, None, &mut look).unwrap();
    assert_eq!(seen, 3);
}

#[test]
fn every_type_is_sealed_and_comes_back_by_every_way() {
    let home = Home::new();
    let store = home.store();
    let table = company(&store);
    let sealed = sealing(&table);
    let whole = entity("1")
        .with("SText", "")
        .with("SBytes", CANARY.as_bytes().to_vec())
        .with("SFlag", true)
        .with("SInt", -7)
        .with("SLong", 1_i64 << 40)
        .with("SDouble", f64::NAN)
        .with("STime", Ticks::new(600_000_000_000_000_000).unwrap())
        .with("SId", Uuid::from_u128(7));
    sealed.insert(&whole).unwrap();
    let stored = table.get("Sales", "1").unwrap().unwrap();
    for (name, value) in stored.properties() {
        let is_sealed = value.as_bytes().is_some_and(|bytes| KeyHandle::of(bytes).is_some());
        assert_eq!(is_sealed, name.starts_with('S'), "{name}");
    }
    assert_eq!(sealed.get("Sales", "1").unwrap().unwrap(), whole);
    assert_eq!(sealed.get("Sales", "2").unwrap(), None);
    let found: Vec<_> = sealed.query(&Query::new()).unwrap().map(Result::unwrap).collect();
    assert_eq!(found, std::slice::from_ref(&whole));
    let page = sealed.page(&Query::new().partition("Sales"), 10, None).unwrap();
    assert_eq!((page.entities, page.next.is_none()), (vec![whole.clone()], true));
    let snapshot = store.snapshot().unwrap();
    let read = snapshot.get(&table, "Sales", "1").unwrap().unwrap();
    assert_eq!(sealed.open(read).unwrap(), whole);
    let some = sealed.query(&Query::new().select(["SInt", "Name"])).unwrap().next().unwrap().unwrap();
    assert_eq!(some, DynamicEntity::new("Sales", "1").with("SInt", -7).with("Name", "Ann"));
    assert_eq!((sealed.name(), sealed.dynamic().name()), ("Company", "Company"));
    assert!(!format!("{sealed:?} {:?}", sealed.query(&Query::new()).unwrap()).contains("canary"));
}

#[test]
fn each_write_seals_what_it_touches_and_nothing_else() {
    let home = Home::new();
    let store = home.store();
    let table = company(&store);
    let sealed = sealing(&table);
    let first = sealed.insert(&entity("1").with("Salary", 5_i64)).unwrap();
    let (ssn, salary) = (bytes(&table, "1", "Ssn"), bytes(&table, "1", "Salary"));
    let change = |value: i64| DynamicEntity::new("Sales", "1").with("Salary", value);

    let second = sealed.merge(&change(6), first).unwrap();
    assert_eq!(bytes(&table, "1", "Ssn"), ssn);
    assert_ne!(bytes(&table, "1", "Salary"), salary);
    assert_eq!(refused(sealed.merge(&change(7), first)).kind(), ErrorKind::ConditionNotMet);
    sealed.insert_or_merge(&change(8)).unwrap();
    assert_eq!(bytes(&table, "1", "Ssn"), ssn);
    assert_eq!(refused(sealed.insert(&entity("1"))).kind(), ErrorKind::EntityAlreadyExists);
    assert_eq!(refused(sealed.replace(&entity("1"), second)).kind(), ErrorKind::ConditionNotMet);
    sealed.replace(&entity("1"), IfMatch::Any).unwrap();
    assert_ne!(bytes(&table, "1", "Ssn"), ssn);
    assert!(table.get("Sales", "1").unwrap().unwrap().get("Salary").is_none());
    sealed.put(&entity("2")).unwrap();
    sealed.insert_or_merge(&entity("3")).unwrap();
    assert_eq!(sealed.get("Sales", "3").unwrap().unwrap(), entity("3"));
    let missing = DynamicEntity::new("Sales", "4").with("Salary", 1);
    assert_eq!(refused(sealed.merge(&missing, IfMatch::Any)).kind(), ErrorKind::EntityNotFound);
    sealed.delete("Sales", "2").unwrap();
    assert_eq!(sealed.get("Sales", "2").unwrap(), None);

    // The keys have a say.
    for (partition, row, is_sealed) in
        [("Sales", "5", false), ("Legal", "5", true), ("Sales", "secret", true)]
    {
        let note = DynamicEntity::new(partition, row).with("Note", CANARY);
        sealed.insert(&note).unwrap();
        let stored = table.get(partition, row).unwrap().unwrap();
        assert_eq!(stored.get("Note").unwrap().as_bytes().is_some(), is_sealed, "{partition} {row}");
        assert_eq!(sealed.get(partition, row).unwrap().unwrap(), note);
    }
}

#[test]
fn batches_and_bulk_loads_are_sealed() {
    let home = Home::new();
    let store = home.store();
    let table = company(&store);
    let sealed = sealing(&table);
    let batch = sealed
        .batch("Sales")
        .insert(entity("1"))
        .insert_or_merge(entity("2"))
        .put(entity("3"))
        .insert(entity("4"));
    assert_eq!((batch.len(), batch.partition_key()), (4, "Sales"));
    assert!(format!("{batch:?}").contains("operations: 4") && !format!("{batch:?}").contains("canary"));
    batch.commit().unwrap();
    let change = DynamicEntity::new("Sales", "2").with("Salary", 1);
    sealed
        .batch("Sales")
        .delete("1")
        .merge(change, IfMatch::Any)
        .replace(DynamicEntity::new("Sales", "3").with("Ssn", "other"), IfMatch::Any)
        .commit()
        .unwrap();
    assert_eq!(sealed.get("Sales", "1").unwrap(), None);
    assert_eq!(sealed.get("Sales", "2").unwrap().unwrap(), entity("2").with("Salary", 1));
    assert_eq!(bytes(&table, "3", "Ssn").len(), 67 + 5);
    let report =
        store.bulk((10..30).map(|id| sealed.batch("Sales").insert(entity(&id.to_string())))).unwrap();
    assert_eq!((report.committed, report.failures.len()), (20, 0));
    assert_eq!(
        sealed.query(&Query::new()).unwrap().filter(|e| e.as_ref().unwrap().get("Ssn").is_some()).count(),
        23
    );

    // One that fails says which, and nothing happens.
    let absent = DynamicEntity::new("Sales", "99").with("Ssn", CANARY);
    let error = refused(sealed.batch("Sales").insert(entity("40")).merge(absent, IfMatch::Any).commit());
    assert_eq!((error.kind(), error.index()), (ErrorKind::EntityNotFound, Some(1)));
    let error = refused(sealed.batch("Sales").insert(entity("40")).insert(entity("1").with("", 1)).commit());
    assert_eq!((error.kind(), error.index()), (ErrorKind::PropertyNameInvalid, Some(1)));
    assert_eq!(refused(sealed.batch("Sales").commit()).kind(), ErrorKind::BatchLength);
    assert_eq!(sealed.get("Sales", "40").unwrap(), None);
}

#[test]
fn a_filter_on_what_is_sealed_is_an_error_and_others_work() {
    let home = Home::new();
    let store = home.store();
    let sealed = sealing(&company(&store));
    for row in ["1", "2", "secret"] {
        sealed.insert(&entity(row).with("Note", "plain").with("Age", 40)).unwrap();
    }
    let of = |filter| Query::new().partition("Sales").filter(filter);
    for filter in [
        prop("Ssn").eq(CANARY),
        prop("Age").ge(40) & prop("Ssn").ne("x"),
        prop("Age").ge(50) & prop("Ssn").ne("x"),
        prop("Sabbatical").eq(true),
    ] {
        let error = refused(sealed.query(&of(filter.clone())).unwrap().next().unwrap());
        assert_eq!(error.kind(), ErrorKind::InvalidQuery);
        assert!(error.to_string().contains("sealed in this row"), "{error}");
        assert_eq!(refused(sealed.page(&of(filter), 10, None)).kind(), ErrorKind::InvalidQuery);
    }
    let mut notes = sealed.query(&of(prop("Note").eq("plain"))).unwrap();
    assert_eq!((0..2).filter(|_| notes.next().unwrap().is_ok()).count(), 2);
    let error = refused(notes.next().unwrap());
    assert!(error.to_string().contains("`Note`") && error.to_string().contains("secret"), "{error}");
    assert!(notes.next().is_none());
    let aged = sealed.query(&of(prop("Age").ge(40) & prop("RowKey").lt("s"))).unwrap();
    assert_eq!(aged.map(Result::unwrap).count(), 2);
    assert!(sealed.explain(&of(prop("Age").ge(40))).unwrap().filter().is_some());

    let two = sealed.page(&of(prop("Age").ge(40)), 2, None).unwrap();
    let rest = sealed.page(&of(prop("Age").ge(40)), 2, two.next.as_ref()).unwrap();
    assert_eq!((two.entities.len(), rest.entities.len(), rest.next.is_none()), (2, 1, true));
}

#[test]
fn without_keys_what_is_not_sealed_is_readable() {
    let home = Home::new();
    {
        let store = home.store();
        let sealed = sealing(&company(&store));
        sealed.insert(&entity("1")).unwrap();
        sealed.insert(&DynamicEntity::new("Sales", "2").with("Name", "Bob")).unwrap();
    }
    let store = home.store_without_keys();
    let sealed = sealing(&company(&store));
    let error = refused(sealed.get("Sales", "1"));
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    let text = error.to_string();
    assert!(
        ["`Ssn`", "Company", "Sales", "`1`", "encryption(..)"].iter().all(|word| text.contains(word)),
        "{text}"
    );
    assert_eq!(
        refused(sealed.query(&Query::new()).unwrap().next().unwrap()).kind(),
        ErrorKind::KeyUnavailable
    );
    assert!(sealed.get("Sales", "2").unwrap().is_some());
    let names = sealed.query(&Query::new().select(["Name"])).unwrap().map(Result::unwrap);
    assert_eq!(names.filter(|e| e.get("Name").is_some()).count(), 2);
    assert_eq!(refused(sealed.insert(&entity("3"))).kind(), ErrorKind::KeyUnavailable);
    assert_eq!(sealed.get("Sales", "3").unwrap(), None);
    // A merge of something else takes no key.
    sealed.merge(&DynamicEntity::new("Sales", "1").with("Name", "Eve"), IfMatch::Any).unwrap();

    drop((sealed, store));
    let store = home.store();
    store.encryption().unwrap().shred(&Scope::store()).unwrap();
    assert_eq!(refused(sealing(&company(&store)).get("Sales", "1")).kind(), ErrorKind::KeyShredded);
}

#[test]
fn what_was_not_sealed_or_not_there_is_refused() {
    let home = Home::new();
    let store = home.store();
    let table = company(&store);
    let sealed = sealing(&table);
    for row in ["1", "2"] {
        sealed.insert(&entity(row)).unwrap();
    }
    let stolen = bytes(&table, "2", "Ssn");
    for wrong in [Value::from(CANARY), Value::from(7), Value::Binary(vec![]), Value::Binary(stolen)] {
        table.merge(&DynamicEntity::new("Sales", "1").with("Ssn", wrong), IfMatch::Any).unwrap();
        assert_eq!(refused(sealed.get("Sales", "1")).kind(), ErrorKind::DecryptionFailed);
        let read = table.get("Sales", "1").unwrap().unwrap();
        assert_eq!(refused(sealed.open(read)).kind(), ErrorKind::DecryptionFailed);
    }
    // Written once through the table, it is sealed.
    sealed.merge(&DynamicEntity::new("Sales", "1").with("Ssn", CANARY), IfMatch::Any).unwrap();
    assert_eq!(sealed.get("Sales", "1").unwrap().unwrap(), entity("1"));

    // Too long once it is sealed, or not a value, name or key at all: nothing is written.
    let bad = |entity: DynamicEntity, kind| {
        assert_eq!(refused(sealed.put(&entity)).kind(), kind);
        assert_eq!(sealed.query(&Query::new()).unwrap().count(), 2);
    };
    let long = vec![0; limits::BINARY_BYTES - 66];
    bad(DynamicEntity::new("Sales", "3").with("Ssn", long), ErrorKind::PropertyValueTooLarge);
    bad(DynamicEntity::new("Sales", "3").with("Since", Ticks::MIN), ErrorKind::ValueOutOfRange);
    bad(DynamicEntity::new("Sales", "3").with("S-n", 1), ErrorKind::PropertyNameInvalid);
    bad(DynamicEntity::new("Sa/les", "3").with("Ssn", 1), ErrorKind::InvalidKey);
    bad(DynamicEntity::new("Sales", "x".repeat(513)).with("Ssn", 1), ErrorKind::KeyTooLong);
    let all = |_: &str, _: &str, _: &str| true;
    let entity = DynamicEntity::new("Sales", "4").with("EntityType", "note").with("RowKey", "x");
    assert!(table.encrypting(all).insert(&entity).is_err());
    let entity = DynamicEntity::new("Sales", "4").with("EntityType", "note").with("Text", "x");
    table.encrypting(all).insert(&entity).unwrap();
    let stored = table.get("Sales", "4").unwrap().unwrap();
    assert_eq!(stored.get("EntityType").unwrap().as_str(), Some("note"));
    assert_eq!(table.encrypting(all).get("Sales", "4").unwrap().unwrap(), entity);
    // A dropped table's handle says so.
    store.drop_table("Company").unwrap();
    assert_eq!(refused(sealed.get("Sales", "1")).kind(), ErrorKind::TableNotFound);
    assert_eq!(refused(sealed.insert(&DynamicEntity::new("Sales", "9"))).kind(), ErrorKind::TableNotFound);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    #[encrypt]
    ssn: String,
    #[encrypt]
    salary: i64,
}

#[derive(EntitySet, Debug, PartialEq)]
enum Staff {
    Employee(Employee),
}

fn employee() -> Employee {
    Employee { department: "Sales".into(), id: 1, email: "a@b.c".into(), ssn: CANARY.into(), salary: 90_000 }
}

#[test]
fn what_a_struct_has_sealed_stays_sealed_whatever_the_function_says() {
    let home = Home::new();
    let store = home.store();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee()).unwrap();
    let set = store.set::<Staff>().unwrap();
    let key = || Employee::key("Sales", 1);
    let none = set.dynamic().raw().encrypting(|_, _, _| false);
    let change = |value: Value| DynamicEntity::new("Sales", "empid_000001").with("Salary", value);

    let read = none.get("Sales", "empid_000001").unwrap().unwrap();
    assert_eq!(read.get("Ssn").unwrap().as_str(), Some(CANARY));
    assert_eq!(read.get("Salary").unwrap().as_i64(), Some(90_000));
    none.merge(&change(5_i64.into()), IfMatch::Any).unwrap();
    assert_eq!(staff.get(key()).unwrap().unwrap().salary, 5);
    none.insert_or_merge(&change(6.into())).unwrap();
    assert_eq!(staff.get(key()).unwrap().unwrap().salary, 6);
    none.replace(&read, IfMatch::Any).unwrap();
    assert_eq!(*staff.get(key()).unwrap().unwrap(), employee());
    assert!(bytes(none.dynamic(), "empid_000001", "Salary").len() > 60);
    let second = DynamicEntity::new("Sales", "empid_000002").with("EntityType", "employee");
    none.insert(&second.with("Email", "x@y.z").with("Ssn", CANARY).with("Salary", 1_i64)).unwrap();
    assert_eq!(staff.get(Employee::key("Sales", 2)).unwrap().unwrap().ssn, CANARY);

    // What the struct could not read is not written.
    let before = none.dynamic().get("Sales", "empid_000001").unwrap().unwrap().etag();
    for wrong in [Value::from(CANARY), Value::from(1.5)] {
        let error = refused(none.merge(&change(wrong), IfMatch::Any));
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
        assert!(error.to_string().contains("declared as Int64"), "{error}");
    }
    let all = set.dynamic().raw().encrypting(|_, _, _| true);
    let email = DynamicEntity::new("Sales", "empid_000001").with("Email", "new@b.c");
    let error = refused(all.merge(&email, IfMatch::Any));
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert!(error.to_string().contains("needs `#[encrypt]` there"), "{error}");
    let copy = DynamicEntity::new("Sales", "email_a@b.c").with("Salary", 1_i64);
    for table in [&none, &all] {
        let error = refused(table.merge(&copy, IfMatch::Any));
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
        assert!(error.to_string().contains("copy of an entity of the kind `employee`"), "{error}");
    }
    assert_eq!(none.dynamic().get("Sales", "empid_000001").unwrap().unwrap().etag(), before);
    // What the struct knows nothing of can be sealed beside it, and stays when the struct is written.
    all.merge(&DynamicEntity::new("Sales", "empid_000001").with("Note", CANARY), IfMatch::Any).unwrap();
    staff.update(key(), |e| e.salary = 7).unwrap();
    let read = all.get("Sales", "empid_000001").unwrap().unwrap();
    assert_eq!(
        (read.get("Note").unwrap().as_str(), read.get("Salary").unwrap().as_i64()),
        (Some(CANARY), Some(7))
    );

    // Copies are given as they are, and no filter looks into what is sealed, of copies neither.
    let copy = none.get("Sales", "email_a@b.c").unwrap().unwrap();
    assert!(KeyHandle::of(copy.get("Salary").unwrap().as_bytes().unwrap()).is_some());
    for row in ["email_a@b.c", "empid_000001"] {
        let query = Query::new().partition("Sales").row(row).filter(prop("Salary").gt(1));
        assert_eq!(refused(none.query(&query).unwrap().next().unwrap()).kind(), ErrorKind::InvalidQuery);
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "visitor")]
#[key(partition = "{department}", row = "visitor_{id:06}")]
struct Visitor {
    department: String,
    id: u32,
    #[encrypt(blind)]
    pass: String,
    #[encrypt(scope = partition)]
    note: String,
}

#[test]
fn a_query_over_rows_of_several_kinds_opens_each_by_its_own() {
    let home = Home::new();
    let store = home.store();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee()).unwrap();
    let table = staff.dynamic();
    let sealed = table.encrypting(|_, _, property| property == "Note");
    // Plain in a row of another kind, though a struct seals what has that name in its own.
    let visit = |row: &str, kind: &str| {
        DynamicEntity::new("Sales", row).with("EntityType", kind).with("Ssn", "plain").with("Note", CANARY)
    };
    let others = [visit("a_visit", "visit"), visit("z_call", "call")];
    for other in &others {
        sealed.insert(other).unwrap();
    }
    let query = Query::new().partition("Sales");
    for _ in 0..2 {
        let found: Vec<_> = sealed.query(&query).unwrap().map(Result::unwrap).collect();
        assert_eq!(sealed.page(&query, 10, None).unwrap().entities, found);
        let by_row = |row: &str| found.iter().find(|found| found.row_key() == row).unwrap();
        assert_eq!([by_row("a_visit"), by_row("z_call")], [&others[0], &others[1]]);
        assert_eq!(by_row("empid_000001").get("Ssn").unwrap().as_str(), Some(CANARY));
        assert!(by_row("email_a@b.c").get("Ssn").unwrap().as_bytes().is_some());
    }
}

#[test]
fn a_declared_property_goes_under_its_own_scope_and_one_with_a_token_is_left_to_its_struct() {
    let home = Home::new();
    let store = home.store();
    let visitors = store.table::<Visitor>().unwrap();
    let visitor = Visitor { department: "Sales".into(), id: 1, pass: CANARY.into(), note: "n".into() };
    visitors.insert(&visitor).unwrap();
    let all = visitors.dynamic().raw().encrypting(|_, _, _| true);
    let row = || DynamicEntity::new("Sales", "visitor_000001");

    all.merge(&row().with("Note", "later"), IfMatch::Any).unwrap();
    let handles: Vec<_> = ["Note", "Pass"]
        .map(|name| KeyHandle::of(&bytes(visitors.dynamic(), "visitor_000001", name)).unwrap())
        .into();
    assert_ne!(handles[0], handles[1]);
    let before = visitors.dynamic().get("Sales", "visitor_000001").unwrap().unwrap();
    let error = refused(all.merge(&row().with("Pass", "other"), IfMatch::Any));
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert!(error.to_string().contains("`Pass` is looked up by a token"), "{error}");
    assert_eq!(visitors.dynamic().get("Sales", "visitor_000001").unwrap().unwrap(), before);

    // The token is no business of the function's.
    let read = all.get("Sales", "visitor_000001").unwrap().unwrap();
    assert_eq!(read.get("PassToken"), before.get("PassToken"));
    assert_eq!(read.get("Pass").unwrap().as_str(), Some(CANARY));
    store.encryption().unwrap().shred(&all.dynamic().partition_key_scope("Sales").unwrap()).unwrap();
    assert_eq!(refused(all.get("Sales", "visitor_000001")).kind(), ErrorKind::KeyShredded);
    let pass = visitors.view(Visitor::key("Sales", 1), |v| v.pass()).unwrap();
    assert_eq!(pass.as_deref(), Some(CANARY));
}

#[test]
fn a_scope_of_its_own_is_shredded_alone() {
    let home = Home::new();
    let store = home.store();
    let table = company(&store);
    let whole = sealing(&table);
    let apart = sealing(&table).scoped(KeyScope::Partition);
    whole.insert(&entity("1")).unwrap();
    apart.insert(&entity("2")).unwrap();
    let encryption = store.encryption().unwrap();
    assert_eq!(encryption.keys().unwrap().len(), 2);
    assert_eq!(whole.get("Sales", "2").unwrap().unwrap(), entity("2"));
    encryption.shred(&table.partition_key_scope("Sales").unwrap()).unwrap();
    assert_eq!(refused(whole.get("Sales", "2")).kind(), ErrorKind::KeyShredded);
    assert!(apart.get("Sales", "1").unwrap().is_some());
}

#[test]
fn writers_and_a_rotation_don_t_get_in_each_others_way() {
    let home = Home::new();
    let store = home.store();
    let table = company(&store);
    let sealed = sealing(&table);
    sealed.insert(&entity("0").with("Salary", 0)).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let sealed = &sealed;
            scope.spawn(move || {
                for number in 0..40 {
                    let row = format!("{writer}_{number}");
                    sealed.insert(&entity(&row)).unwrap();
                    let change = DynamicEntity::new("Sales", "0").with("Salary", number);
                    sealed.merge(&change, IfMatch::Any).unwrap();
                    sealed.batch("Sales").insert_or_merge(entity(&row).with("Salary", 1)).commit().unwrap();
                }
            });
        }
        for _ in 0..10 {
            store.encryption().unwrap().rotate(&Scope::store()).unwrap();
        }
    });
    assert_eq!(sealed.query(&Query::new()).unwrap().map(Result::unwrap).count(), 121);
}
