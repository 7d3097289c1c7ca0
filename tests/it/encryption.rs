//! Fields with `#[encrypt]`: sealed in every file, typed again when they are read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use table_core::crypt::{KeyHandle, MemoryKeys, Scope, Secret};
use table_core::{
    DynamicEntity, DynamicTable, EdmType, Entity, EntitySet, Error, ErrorKind, IfMatch, Projection,
    Properties, Query, Store, Stored, Table, Ticks, Uuid, Value, View,
};

/// What no file may ever hold.
const CANARY: &str = "canary-078-05-1120";

#[derive(Properties, Clone, Debug, PartialEq)]
struct Bank {
    bank: String,
    #[encrypt]
    iban: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:06}", copy(ssn, salary))]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    age: u8,
    #[encrypt]
    ssn: Secret<String>,
    #[encrypt]
    photo: Vec<u8>,
    #[encrypt]
    retired: bool,
    #[encrypt]
    grade: i32,
    #[encrypt]
    salary: i64,
    #[encrypt]
    share: f64,
    #[encrypt]
    born: Ticks,
    #[encrypt]
    pass: Uuid,
    #[encrypt]
    note: Option<String>,
    #[encrypt]
    #[property(json)]
    tags: Vec<String>,
    #[encrypt]
    #[property(default)]
    level: u8,
    #[flatten]
    account: Bank,
}

/// The names of the sealed properties and the types of what is sealed.
const SEALED: [(&str, EdmType); 12] = [
    ("Ssn", EdmType::String),
    ("Photo", EdmType::Binary),
    ("Retired", EdmType::Boolean),
    ("Grade", EdmType::Int32),
    ("Salary", EdmType::Int64),
    ("Share", EdmType::Double),
    ("Born", EdmType::DateTime),
    ("Pass", EdmType::Guid),
    ("Note", EdmType::String),
    ("Tags", EdmType::String),
    ("Level", EdmType::Int32),
    ("Iban", EdmType::String),
];

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Contact {
    name: String,
    email: String,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Pay {
    salary: i64,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Payroll {
    Employee(Employee),
}

fn employee(id: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        name: format!("Name{id}"),
        email: format!("{id}@contoso.com"),
        age: 40,
        ssn: Secret::new(CANARY.into()),
        photo: CANARY.into(),
        retired: true,
        grade: -7,
        salary: 1 << 40,
        share: 0.1,
        born: Ticks::new(600_000_000_000_000_000).unwrap(),
        pass: Uuid::from_u128(u128::from(id)),
        note: Some(CANARY.into()),
        tags: vec![CANARY.into()],
        level: 200,
        account: Bank { bank: "Bank".into(), iban: CANARY.into() },
    }
}

/// A place for a store, and its keys.
struct Scratch {
    dir: tempfile::TempDir,
    keys: Arc<MemoryKeys>,
}

impl Scratch {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), keys: Arc::new(MemoryKeys::new().unwrap()) }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn store(&self) -> Store {
        Store::options().map_size(1 << 28).encryption(self.keys.clone()).open(self.path()).unwrap()
    }
}

fn staff(store: &Store) -> Table<Employee> {
    store.table().unwrap()
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

/// The rows of the employee: its own and its copies.
fn rows(table: &DynamicTable, id: u32) -> Vec<DynamicEntity> {
    let keys =
        [format!("empid_{id:06}"), format!("email_{id}@contoso.com"), format!("name_Name{id}_{id:06}")];
    keys.iter().map(|row| table.get("Sales", row).unwrap().unwrap()).collect()
}

fn sealed(row: &DynamicEntity, property: &str) -> Option<Vec<u8>> {
    match row.get(property) {
        Some(Value::Binary(bytes)) => Some(bytes.clone()),
        None => None,
        Some(other) => panic!("{property} is {:?}", other.edm_type()),
    }
}

/// The kind of an error that shows no plaintext.
#[track_caller]
fn kind<T>(result: Result<T, Error>) -> ErrorKind {
    let error = result.err().expect("it was to be refused");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("canary") && !text.contains(&(1_u64 << 40).to_string()), "{text}");
    error.kind()
}

#[test]
fn every_type_comes_back_by_every_way() {
    let scratch = Scratch::new();
    let (one, two) = (employee(1), Employee { note: None, ..employee(2) });
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&one).unwrap();
    staff.put(&two).unwrap();
    assert_eq!(*staff.get(key(1)).unwrap().unwrap(), one);
    assert_eq!(*staff.get(key(2)).unwrap().unwrap(), two);
    assert_eq!(*staff.get(Employee::by_email("Sales", "1@contoso.com")).unwrap().unwrap(), one);
    let copy = staff.get(Employee::by_name("Sales", "Name1", 1)).unwrap().unwrap();
    assert_eq!((&copy.ssn, copy.salary), (&one.ssn, one.salary));
    assert_eq!(staff.get_as::<Pay>(key(1)).unwrap().unwrap().salary, one.salary);
    let of_copy = staff.get_as::<Pay>(Employee::by_name("Sales", "Name1", 1)).unwrap();
    assert_eq!(of_copy.unwrap().salary, one.salary);
    let found = staff.rows().department("Sales").into_iter().map(|e| Stored::into_inner(e.unwrap()));
    assert_eq!(found.collect::<Vec<_>>(), [one.clone(), two.clone()]);
    let found =
        staff.by_age().department("Sales").entities().into_iter().map(|e| Stored::into_inner(e.unwrap()));
    assert_eq!(found.collect::<Vec<_>>(), [one.clone(), two]);
    let pays = staff.by_name().department("Sales").select::<Pay>().into_iter();
    assert!(pays.map(Result::unwrap).all(|pay| pay.salary == one.salary));
    let seen = staff.view(key(1), |e| {
        assert_eq!((e.ssn()?, e.photo()?, e.note()?), (one.ssn.clone(), one.photo.clone(), one.note.clone()));
        assert_eq!((e.retired()?, e.grade()?, e.share()?), (true, -7, 0.1));
        assert_eq!((e.born()?, e.pass()?, e.level()?), (one.born, one.pass, 200));
        assert_eq!((e.tags()?, e.account()?), (one.tags.clone(), one.account.clone()));
        View::to_entity(&e)
    });
    assert_eq!(*seen.unwrap().unwrap(), one);

    // And after the store is opened anew.
    drop((staff, store));
    let store = scratch.store();
    assert_eq!(*store.table::<Employee>().unwrap().get(key(1)).unwrap().unwrap(), one);
}

#[test]
fn properties_are_stored_sealed_and_copies_hold_the_same_bytes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1)).unwrap();
    let rows = rows(staff.dynamic(), 1);
    let encryption = store.encryption().unwrap();
    for (property, edm) in SEALED {
        let bytes = sealed(&rows[0], property).unwrap();
        assert!(KeyHandle::of(&bytes).is_some(), "{property}");
        let cell = staff.dynamic().cell("Sales", "empid_000001", property).unwrap();
        assert_eq!(encryption.open(&cell, &bytes).unwrap().edm_type(), edm, "{property}");
        assert_eq!(sealed(&rows[1], property).unwrap(), bytes, "{property}");
    }
    for property in ["Ssn", "Salary"] {
        assert_eq!(sealed(&rows[2], property), sealed(&rows[0], property));
    }
    assert_eq!(sealed(&rows[2], "Photo"), None);
}

#[test]
fn changes_seal_anew_only_what_they_touch() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1)).unwrap();
    let before = rows(staff.dynamic(), 1);
    let check = |changed: &[&str], rewritten: [bool; 3], before: &[DynamicEntity]| {
        let after = rows(staff.dynamic(), 1);
        for (before, after) in before.iter().zip(&after) {
            for (property, _) in SEALED {
                let same = sealed(before, property) == sealed(after, property);
                let is_there = sealed(before, property).is_some();
                assert_eq!(!same, is_there && changed.contains(&property), "{property}");
            }
        }
        for ((before, after), rewritten) in before.iter().zip(&after).zip(rewritten) {
            assert_eq!(before.etag() != after.etag(), rewritten, "{}", before.row_key());
        }
        for (property, _) in SEALED {
            assert_eq!(sealed(&after[1], property), sealed(&after[0], property));
        }
        after
    };
    // What an update leaves alone keeps its bytes, and a copy without it is not touched.
    staff.update(key(1), |e| e.age = 41).unwrap();
    let before = check(&[], [true, true, false], &before);
    staff.update(key(1), |e| e.salary += 1).unwrap();
    let before = check(&["Salary"], [true, true, true], &before);
    staff.merge(key(1), Employee::patch().grade(8), IfMatch::Any).unwrap();
    let before = check(&["Grade"], [true, true, false], &before);
    let mut whole = Stored::into_inner(staff.get(key(1)).unwrap().unwrap());
    whole.photo = b"other".to_vec();
    staff.replace(&whole, IfMatch::Any).unwrap();
    let before = check(&["Photo"], [true, true, false], &before);
    whole.account.iban = "other".into();
    staff.put(&whole).unwrap();
    let before = check(&["Iban"], [true, true, false], &before);
    assert_eq!(*staff.get(key(1)).unwrap().unwrap(), whole);

    // A value that goes leaves nothing.
    staff.update(key(1), |e| e.note = None).unwrap();
    assert_eq!(sealed(&rows(staff.dynamic(), 1)[0], "Note"), None);

    // Another row, another cell: all is sealed anew.
    staff.move_to(key(1), |e| e.id = 3).unwrap();
    let moved = staff.dynamic().get("Sales", "empid_000003").unwrap().unwrap();
    assert_ne!(sealed(&moved, "Ssn"), sealed(&before[0], "Ssn"));
    assert_eq!(staff.get(key(3)).unwrap().unwrap().salary, (1 << 40) + 1);
    assert_eq!(staff.get(Employee::by_email("Sales", "1@contoso.com")).unwrap().unwrap().id, 3);
}

#[test]
fn what_was_moved_changed_or_never_sealed_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    for id in [1, 2] {
        staff.insert(&employee(id)).unwrap();
    }
    let table = staff.dynamic();
    let put = |row: &str, property: &str, value: Value| {
        let change = DynamicEntity::new("Sales", row).with(property, value);
        table.merge(&change, IfMatch::Any).unwrap();
    };
    let [own, copy, _] = <[DynamicEntity; 3]>::try_from(rows(table, 1)).unwrap();
    let other = rows(table, 2).swap_remove(0);
    let bytes = |row: &DynamicEntity, property| Value::Binary(sealed(row, property).unwrap());
    let mut flipped = sealed(&own, "Ssn").unwrap();
    *flipped.last_mut().unwrap() ^= 1;
    let mistakes = [
        bytes(&other, "Ssn"),
        bytes(&own, "Note"),
        bytes(&own, "Grade"),
        Value::Binary(flipped),
        Value::Binary(vec![]),
        Value::from(CANARY),
    ];
    for (row, original) in [("empid_000001", &own), ("email_1@contoso.com", &copy)] {
        for mistake in &mistakes {
            put(row, "Ssn", mistake.clone());
            let read = match row {
                "empid_000001" => staff.get(key(1)).map(drop),
                _ => staff.get(Employee::by_email("Sales", "1@contoso.com")).map(drop),
            };
            assert_eq!(kind(read), ErrorKind::DecryptionFailed);
            put(row, "Ssn", bytes(original, "Ssn"));
        }
    }
    put("empid_000001", "Ssn", bytes(&other, "Ssn"));
    // What leaves the field out can be read; what would write it back unseen is refused.
    assert_eq!(staff.get_as::<Contact>(key(1)).unwrap().unwrap().name, "Name1");
    assert_eq!(staff.view(key(1), |e| e.salary()).unwrap(), Some(1 << 40));
    assert_eq!(kind(staff.view(key(1), |e| e.ssn())), ErrorKind::DecryptionFailed);
    assert_eq!(kind(staff.update(key(1), |e| e.age = 50)), ErrorKind::DecryptionFailed);
    assert_eq!(
        kind(staff.rows().department("Sales").into_iter().next().unwrap()),
        ErrorKind::DecryptionFailed
    );
}

#[test]
fn readers_without_keys_see_what_is_not_sealed() {
    let scratch = Scratch::new();
    {
        let store = scratch.store();
        staff(&store).insert(&employee(1)).unwrap();
    }
    let is_closed_to = |store: &Store, expected: ErrorKind| {
        let staff = staff(store);
        assert_eq!(kind(staff.get(key(1))), expected);
        assert_eq!(kind(staff.get(Employee::by_email("Sales", "1@contoso.com"))), expected);
        assert_eq!(kind(staff.view(key(1), |e| e.ssn())), expected);
        assert_eq!(kind(staff.get_as::<Pay>(key(1))), expected);
        assert_eq!(kind(staff.update(key(1), |e| e.age = 1)), expected);
        assert_eq!(staff.view(key(1), |e| e.name().map(str::to_owned)).unwrap().unwrap(), "Name1");
        assert_eq!(staff.get_as::<Contact>(key(1)).unwrap().unwrap().email, "1@contoso.com");
        let contacts = staff.by_email().department("Sales").select::<Contact>();
        assert_eq!(contacts.into_iter().map(Result::unwrap).count(), 1);
        staff
    };
    {
        let store = Store::options().map_size(1 << 28).open(scratch.path()).unwrap();
        let staff = is_closed_to(&store, ErrorKind::KeyUnavailable);
        assert_eq!(kind(staff.insert(&employee(2))), ErrorKind::KeyUnavailable);
        assert!(staff.get(key(2)).unwrap().is_none());
        // A plan that is only shown takes no key.
        let (two, partition) = (employee(2), Employee::partition("Sales"));
        assert_eq!(staff.egt(partition).insert(&two).explain().unwrap().rows(), 4);
    }
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    encryption.shred(&Scope::store()).unwrap();
    is_closed_to(&store, ErrorKind::KeyShredded);
    // What comes later has a key of its own.
    let staff = staff(&store);
    staff.insert(&employee(2)).unwrap();
    assert_eq!(*staff.get(key(2)).unwrap().unwrap(), employee(2));
}

#[test]
fn the_plaintext_is_in_no_file_at_any_time() {
    fn search(dir: &Path, files: &mut usize) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                search(&path, files);
            } else {
                *files += 1;
                let bytes = fs::read(&path).unwrap();
                let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
                assert!(!found, "{} shows the plaintext", path.display());
            }
        }
    }
    let scratch = Scratch::new();
    let look = || {
        let mut files = 0;
        search(scratch.dir.path(), &mut files);
        assert!(files >= 3, "{files} files");
    };
    let store = scratch.store();
    let staff = staff(&store);
    for id in 0..20 {
        staff.insert(&employee(id)).unwrap();
    }
    look();
    for id in 0..20 {
        staff.update(key(id), |e| e.note = Some(format!("{CANARY} again"))).unwrap();
        staff.move_to(key(id), |e| e.id += 100).unwrap();
    }
    look();
    let (one, two) = (employee(1), employee(2));
    staff.egt(Employee::partition("Archive")).commit().unwrap_err();
    for id in 100..110 {
        staff.delete(key(id), IfMatch::Any).unwrap();
    }
    staff.egt(Employee::partition("Sales")).put(&one).put(&two).commit().unwrap();
    store.encryption().unwrap().rotate_all().unwrap();
    staff.put(&employee(5)).unwrap();
    look();
    store.copy_to(scratch.dir.path().join("copy")).unwrap();
    drop((staff, store));
    look();
}

#[test]
fn a_set_seals_what_it_is_given() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1)).unwrap();
    let set = store.set::<Payroll>().unwrap();
    let found = set.get_any("Sales", "empid_000001").unwrap().unwrap();
    assert_eq!(*found, Payroll::Employee(employee(1)));
    let change = DynamicEntity::new("Sales", "empid_000001").with("Salary", 5_i64).with("Age", 50);
    let before = rows(staff.dynamic(), 1);
    set.merge_any(&change, IfMatch::Any).unwrap();
    let after = rows(staff.dynamic(), 1);
    assert_ne!(sealed(&before[0], "Salary"), sealed(&after[0], "Salary"));
    assert_eq!(sealed(&before[0], "Ssn"), sealed(&after[0], "Ssn"));
    let stored = staff.get(key(1)).unwrap().unwrap();
    assert_eq!((stored.salary, stored.age), (5, 50));
}

#[test]
fn nothing_is_written_under_a_key_that_a_later_transaction_saw_retired() {
    const WRITERS: u32 = 3;
    const ROTATIONS: usize = 12;
    /// A writer that has failed is not waited for for ever.
    const PATIENCE: Duration = Duration::from_secs(10);
    let scratch = Scratch::new();
    let store = scratch.store();
    let (staff, encryption) = (staff(&store), store.encryption().unwrap());
    staff.insert(&employee(0)).unwrap();
    let barrier = store.create_table("Barrier").unwrap();
    let is_over = AtomicBool::new(false);
    let written = AtomicUsize::new(0);
    let mut retired = Vec::new();
    thread::scope(|scope| {
        for writer in 1..=WRITERS {
            let (staff, is_over, written) = (&staff, &is_over, &written);
            scope.spawn(move || {
                for number in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let first = writer * 100_000 + number * 10;
                    // One of them many at once.
                    if writer == 1 {
                        let report = staff.bulk_insert((first..first + 10).map(employee)).unwrap();
                        assert_eq!((report.committed, report.failures.len()), (10, 0));
                    } else {
                        staff.insert(&employee(first)).unwrap();
                    }
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for rotation in 0..ROTATIONS {
            // A writer that was held up is what is looked for: something is written between any two rotations.
            let (before, begun) = (written.load(Ordering::Relaxed), Instant::now());
            while written.load(Ordering::Relaxed) == before && begun.elapsed() < PATIENCE {
                thread::yield_now();
            }
            let old = encryption.keys().unwrap().into_iter().find(|key| key.current).unwrap();
            encryption.rotate(&old.scope).unwrap();
            let row = DynamicEntity::new("b", format!("{rotation:03}"));
            retired.push((old.handle, barrier.insert(&row).unwrap().timestamp()));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let mut seen = 0;
    for row in staff.dynamic().query(&Query::new().partition("Sales").row_prefix("empid_")).unwrap() {
        let row = row.unwrap();
        let handle = KeyHandle::of(&sealed(&row, "Ssn").unwrap()).unwrap();
        let late = retired.iter().find(|(old, _)| *old == handle);
        assert!(late.is_none_or(|(_, at)| row.timestamp().unwrap() < *at), "{} is late", row.row_key());
        seen += 1;
    }
    assert!(seen > 1, "only {seen} rows");
    assert_eq!(staff.rows().department("Sales").into_iter().filter(Result::is_ok).count(), seen);
}

#[test]
fn pictures_and_layouts_say_what_is_sealed() {
    let picture = <Employee as Entity>::SCHEMA.to_string();
    assert!(
        picture.contains("Ssn: encrypted String, ") && picture.contains("Note: encrypted String?"),
        "{picture}"
    );

    #[derive(Entity)]
    #[entity(table = "Payroll", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    struct Open {
        department: String,
        id: u32,
        ssn: String,
    }

    #[derive(Entity)]
    #[entity(table = "Payroll", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    struct Sealed {
        department: String,
        id: u32,
        #[encrypt]
        ssn: String,
    }

    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<Open>().unwrap();
    let error = store.table::<Sealed>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert!(error.to_string().contains("+ property Ssn encrypted String"), "{error}");
}
