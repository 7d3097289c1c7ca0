//! What is sealed from the start is in no file, and in nothing that the library prints.

use std::error::Error as _;
use std::fmt::{Debug, Display};
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use integration_tests::Scratch;
use table_core::blob::SealedBlob;
use table_core::crypt::{MemoryKeys, Scope, Secret};
use table_core::{
    DynamicEntity, Entity, EntitySet, Error, ErrorKind, IfMatch, Query, Store, Value, limits, prop,
};

const TEXT: &str = "canary-078-05-1120";
const NUMBER: i64 = 7_380_519_246_813_579;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy(ssn))]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u8,
    #[encrypt]
    ssn: Secret<String>,
    #[encrypt]
    salary: Secret<i64>,
    #[encrypt]
    photo: Secret<Vec<u8>>,
    #[encrypt]
    note: Secret<Option<String>>,
}

/// As another program may declare it.
mod other {
    use table_core::Entity;

    #[derive(Entity, Debug)]
    #[entity(table = "Payroll", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    pub(super) struct Employee {
        department: String,
        id: u32,
        ssn: String,
    }
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Payroll {
    Employee(Employee),
}

fn employee(id: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        id,
        email: format!("{id}@contoso.com"),
        age: 40,
        ssn: TEXT.into(),
        salary: NUMBER.into(),
        photo: Secret::new(TEXT.into()),
        note: Secret::new(Some(TEXT.into())),
    }
}

/// Makes an employee of properties, which are on their way to being sealed.
fn properties(id: u32) -> DynamicEntity {
    DynamicEntity::new("Sales", format!("empid_{id:06}"))
        .with("EntityType", "employee")
        .with("Email", format!("{id}@contoso.com"))
        .with("Age", 40)
        .with("Ssn", TEXT)
        .with("Salary", NUMBER)
        .with("Photo", TEXT.as_bytes().to_vec())
        .with("Note", TEXT)
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

/// Texts as which the secrets could be printed.
fn needles() -> Vec<String> {
    let hex: String = TEXT.bytes().map(|byte| format!("{byte:02x}")).collect();
    let bytes = |bytes: &[u8]| format!("{bytes:?}").trim_matches(['[', ']']).to_owned();
    let mut needles = vec![TEXT.into(), hex.to_uppercase(), hex, NUMBER.to_string(), bytes(TEXT.as_bytes())];
    needles.push(bytes(&NUMBER.to_le_bytes()));
    // Of base64 what lies between the ends, which hang on what stands around it; at each of three places.
    for before in 0..3 {
        let text = base64(&[&vec![0; before], TEXT.as_bytes()].concat());
        needles.push(text[4..text.len() - 4].to_owned());
    }
    needles
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letter = |number: u32| char::from(LETTERS[(number & 63) as usize]);
    let three = |three: &[u8]| {
        let number = three.iter().fold(0, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        [18, 12, 6, 0].map(|shift| letter(number >> shift))
    };
    bytes.chunks(3).flat_map(three).collect()
}

/// Reads what is printed.
struct Reader {
    needles: Vec<String>,
    read: usize,
}

impl Reader {
    fn new() -> Self {
        Self { needles: needles(), read: 0 }
    }

    #[track_caller]
    fn text(&mut self, text: &str) {
        assert!(!text.is_empty());
        for needle in &self.needles {
            assert!(!text.contains(needle), "{text} shows {needle}");
        }
        self.read += 1;
    }

    #[track_caller]
    fn debug(&mut self, value: &dyn Debug) {
        self.text(&format!("{value:?}"));
        self.text(&format!("{value:#?}"));
    }

    #[track_caller]
    fn display(&mut self, value: &dyn Display) {
        self.text(&value.to_string());
    }

    /// An error of this kind, as far as it and its sources can be printed.
    #[track_caller]
    fn error<T>(&mut self, result: Result<T, Error>, kind: ErrorKind) {
        let error = result.err().expect("it was to be refused");
        assert_eq!(error.kind(), kind, "{error}");
        self.display(&error);
        self.debug(&error);
        let mut source = error.source();
        while let Some(error) = source {
            self.display(error);
            self.debug(error);
            source = error.source();
        }
    }
}

fn store(scratch: &Scratch, keys: &Arc<MemoryKeys>) -> Store {
    integration_tests::relaxed().encryption(keys.clone()).open(scratch.path().join("store")).unwrap()
}

#[test]
fn the_search_finds_what_is_not_sealed() {
    let needles = needles();
    let shows = |text: String| needles.iter().any(|needle| text.contains(needle));
    assert!(shows(format!("{:?}", properties(1))));
    assert!(shows(format!("{:?}", Value::from(TEXT.as_bytes().to_vec()))));
    assert!(shows(format!("{:?}", TEXT.as_bytes())));
    for before in 0..4 {
        assert!(shows(base64(&[&vec![7; before], TEXT.as_bytes(), &[9, 9]].concat())), "{before}");
    }
    let scratch = Scratch::new();
    let table = scratch.store().create_table("Plain").unwrap();
    table.insert(&properties(1)).unwrap();
    assert_eq!(finds(scratch.path()).unwrap_err().len(), 1);
}

#[test]
fn nothing_that_is_printed_shows_it() {
    let (scratch, keys) = (Scratch::new(), Arc::new(MemoryKeys::new().unwrap()));
    let mut read = Reader::new();
    let store = store(&scratch, &keys);
    let (staff, set) = (store.table::<Employee>().unwrap(), store.set::<Payroll>().unwrap());
    let rule = staff.dynamic().raw().encrypting(|_, _, property| property == "Memo");
    for id in 0..5 {
        staff.insert(&employee(id)).unwrap();
    }
    read.debug(&employee(1));
    read.debug(&integration_tests::relaxed().encryption(keys.clone()));
    read.debug(&store);
    read.debug(&staff);
    read.debug(&set);
    read.debug(&rule);
    read.debug(&keys);
    read.debug(store.encryption().unwrap());
    read.debug(&store.encryption().unwrap().keys().unwrap());
    read.debug(&<Employee as Entity>::SCHEMA);
    read.display(&<Employee as Entity>::SCHEMA);

    // Keys, patches, changes on their way, and plans.
    read.debug(&key(1));
    read.debug(&Employee::by_email("Sales", "1@contoso.com"));
    let changes = || {
        staff
            .egt(Employee::partition("Sales"))
            .update(key(1), |e| e.note = Secret::new(Some(format!("{TEXT} again"))))
            .merge(key(2), Employee::patch().ssn(Secret::new(format!("{TEXT} too"))), IfMatch::Any)
            .delete(key(3))
    };
    read.debug(&changes());
    let plan = changes().explain().unwrap();
    read.debug(&plan);
    read.display(&plan);
    let batch = rule.batch("Sales").insert(DynamicEntity::new("Sales", "memo_1").with("Memo", TEXT));
    read.debug(&batch);
    batch.commit().unwrap();

    // What is read.
    read.debug(&staff.get(key(1)).unwrap());
    read.debug(&staff.get(Employee::by_email("Sales", "1@contoso.com")).unwrap());
    let copy = staff.get(Employee::by_age("Sales", 40, 1)).unwrap().unwrap();
    read.debug(&copy.ssn);
    read.debug(&copy);
    staff
        .view(key(1), |e| {
            read.debug(&e);
            Ok(())
        })
        .unwrap();
    read.debug(&staff.dynamic().get("Sales", "empid_000001").unwrap());
    read.debug(&rule.get("Sales", "empid_000001").unwrap());
    read.debug(&rule.get("Sales", "memo_1").unwrap());
    let found = set.get_any("Sales", "empid_000001").unwrap().unwrap();
    assert_eq!(*found, Payroll::Employee(employee(1)));
    read.debug(&found);
    let snapshot = store.snapshot().unwrap();
    read.debug(&snapshot.view(staff.dynamic(), "Sales", "empid_000001").unwrap());
    for row in snapshot.views(staff.dynamic(), &Query::new()).unwrap() {
        read.debug(&row);
    }
    read.debug(&staff.rows().department("Sales"));
    read.debug(&staff.rows().department("Sales").into_iter());
    read.debug(&rule.query(&Query::new()).unwrap());
    read.display(&staff.rows().department("Sales").explain().unwrap());

    // Continuation tokens, also of queries with a filter.
    let page = staff.rows().department("Sales").filter(|e| e.age.ge(40)).page(2, None).unwrap();
    read.display(page.next.as_ref().unwrap());
    read.debug(&page);
    let page = rule.page(&Query::new().filter(prop("Age").ge(40)), 2, None).unwrap();
    read.display(page.next.as_ref().unwrap());
    read.debug(&page);
    read.debug(&store.check().unwrap());
    read.debug(&store.stats().unwrap());
    let metrics = store.metrics().unwrap();
    read.debug(&metrics);
    read.display(&metrics);
    read.debug(&staff.bulk_insert([employee(1), employee(7)]).unwrap());
    read.debug(&store.bulk([rule.batch("Sales").insert(properties(1))]).unwrap());
    assert!(read.read > 80, "{}", read.read);
}

#[test]
fn no_error_shows_it() {
    let (scratch, keys) = (Scratch::new(), Arc::new(MemoryKeys::new().unwrap()));
    let mut read = Reader::new();
    {
        let store = store(&scratch, &keys);
        let (staff, set) = (store.table::<Employee>().unwrap(), store.set::<Payroll>().unwrap());
        let rule = staff.dynamic().raw().encrypting(|_, _, _| true);
        staff.insert(&employee(1)).unwrap();
        staff.insert(&employee(2)).unwrap();
        let stale = staff.get(key(1)).unwrap().map(|e| table_core::Stored::etag(&e)).unwrap();
        staff.update(key(1), |e| e.age = 41).unwrap();

        read.error(staff.insert(&employee(1)), ErrorKind::EntityAlreadyExists);
        read.error(staff.replace(&employee(1), stale), ErrorKind::ConditionNotMet);
        read.error(staff.replace(&employee(9), IfMatch::Any), ErrorKind::EntityNotFound);
        let twin = Employee { email: "1@contoso.com".into(), ..employee(3) };
        read.error(staff.insert(&twin), ErrorKind::UniqueConflict);
        read.error(staff.update(key(1), |e| e.id = 9), ErrorKind::KeyChanged);
        let slashed = Employee { email: "a/b".into(), ..employee(3) };
        read.error(staff.put(&slashed), ErrorKind::InvalidKey);
        let long = Employee { photo: Secret::new(TEXT.repeat(4_000).into()), ..employee(3) };
        read.error(staff.put(&long), ErrorKind::PropertyValueTooLarge);
        let both = staff.egt(Employee::partition("Sales")).insert(&twin).insert(&twin).commit();
        read.error(both, ErrorKind::DuplicateRow);
        read.error(set.insert_any(&properties(1)), ErrorKind::EntityAlreadyExists);
        read.error(set.put_any(&properties(3).with("Salary", TEXT)), ErrorKind::SchemaMismatch);
        read.error(set.put_any(&properties(3).with("Unknown", TEXT)), ErrorKind::SchemaMismatch);
        read.error(set.check_any(&properties(3).with("Age", NUMBER)), ErrorKind::SchemaMismatch);
        read.error(rule.insert(&properties(3)), ErrorKind::SchemaMismatch);
        read.error(rule.insert(&properties(3).with("Salary", TEXT)), ErrorKind::SchemaMismatch);
        let memo = |value: Value| DynamicEntity::new("Sales", "memo").with("Memo", value);
        read.error(rule.insert(&memo(TEXT.repeat(2_000).into())), ErrorKind::PropertyValueTooLarge);
        let large = vec![TEXT.as_bytes().repeat(10); 20].concat();
        let whole =
            (0..limits::PROPERTIES + 1).fold(memo(1.into()), |e, n| e.with(&format!("P{n}"), large.clone()));
        read.error(rule.insert(&whole).map(drop), ErrorKind::TooManyProperties);
        rule.insert(&memo(TEXT.into())).unwrap();
        read.error(rule.insert(&memo(TEXT.into())), ErrorKind::EntityAlreadyExists);
        let filter = Query::new().partition("Sales").filter(prop("Memo").eq(TEXT));
        read.debug(&rule.explain(&Query::new().filter(prop("Age").eq(1))).unwrap());
        read.error(rule.query(&filter).unwrap().next().unwrap(), ErrorKind::InvalidQuery);
        read.error(rule.page(&filter, 1, None), ErrorKind::InvalidQuery);

        // Sealed in its place, and of another type than the struct's; and not sealed at all.
        let cell = staff.dynamic().cell("Sales", "empid_000001", "Salary").unwrap();
        let wrong = store.encryption().unwrap().seal(&cell, table_core::ValueRef::String(TEXT)).unwrap();
        for value in [Value::Binary(wrong), TEXT.into(), NUMBER.into()] {
            let change = DynamicEntity::new("Sales", "empid_000001").with("Salary", value.clone());
            staff.dynamic().raw().merge(&change, IfMatch::Any).unwrap();
            let kind = match value {
                Value::Binary(_) => ErrorKind::SchemaMismatch,
                _ => ErrorKind::DecryptionFailed,
            };
            read.error(staff.get(key(1)), kind);
            read.error(staff.view(key(1), |e| e.salary()), kind);
            read.error(staff.update(key(1), |e| e.age = 1), kind);
            read.error(staff.rows().department("Sales").into_iter().next().unwrap(), kind);
        }
        read.error(rule.get("Sales", "empid_000001"), ErrorKind::DecryptionFailed);
        // Of another declaration: the layout that was noted is printed.
        read.error(store.table::<other::Employee>(), ErrorKind::LayoutChanged);
    }
    {
        let store = integration_tests::relaxed().open(scratch.path().join("store")).unwrap();
        let staff = store.table::<Employee>().unwrap();
        read.error(staff.get(key(2)), ErrorKind::KeyUnavailable);
        read.error(staff.insert(&employee(8)), ErrorKind::KeyUnavailable);
        read.error(
            staff.dynamic().encrypting(|_, _, _| true).get("Sales", "memo"),
            ErrorKind::KeyUnavailable,
        );
    }
    let store = store(&scratch, &keys);
    store.encryption().unwrap().shred(&Scope::store()).unwrap();
    read.error(store.table::<Employee>().unwrap().get(key(2)), ErrorKind::KeyShredded);
}

/// The files that there are, or those that show a secret.
fn finds(dir: &Path) -> Result<usize, Vec<String>> {
    fn files(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { files(&path, found) } else { found.push(path) }
        }
    }
    let numbers = [NUMBER.to_le_bytes(), NUMBER.to_be_bytes()];
    // The least bytes that the number can be stored in.
    let needles = [TEXT.as_bytes(), &numbers[0][..7], &numbers[1][1..]];
    let (mut all, mut guilty) = (Vec::new(), Vec::new());
    files(dir, &mut all);
    for path in &all {
        let bytes = fs::read(path).unwrap();
        let shows = |needle: &&[u8]| bytes.windows(needle.len()).any(|window| window == *needle);
        if needles.iter().any(shows) {
            guilty.push(path.display().to_string());
        }
    }
    if guilty.is_empty() { Ok(all.len()) } else { Err(guilty) }
}

#[test]
fn no_file_shows_it_at_any_time() {
    let (scratch, keys) = (Scratch::new(), Arc::new(MemoryKeys::new().unwrap()));
    // The data, the keys, a lock file for each, and the root key.
    let look = |least| assert!(finds(scratch.path()).unwrap() >= least);
    let store = store(&scratch, &keys);
    let (staff, set) = (store.table::<Employee>().unwrap(), store.set::<Payroll>().unwrap());
    let rule = staff.dynamic().raw().encrypting(|_, _, property| property.starts_with("Memo"));
    for id in 0..20 {
        staff.insert(&employee(id)).unwrap();
        set.insert_any(&properties(100 + id)).unwrap();
        let memo =
            DynamicEntity::new("Sales", format!("memo_{id}")).with("Memo", TEXT).with("MemoNumber", NUMBER);
        rule.insert(&memo).unwrap();
        rule.batch("Sales").insert_or_merge(memo.with("Memo2", TEXT)).commit().unwrap();
    }
    staff.bulk_insert((200..240).map(employee)).unwrap().into_result().unwrap();
    look(5);
    for id in 0..20 {
        staff.update(key(id), |e| e.note = Secret::new(Some(format!("{TEXT} again")))).unwrap();
        staff.merge(key(id), Employee::patch().salary(NUMBER.into()), IfMatch::Any).unwrap();
        staff.move_to(key(id), |e| e.id += 1_000).unwrap();
        let change = DynamicEntity::new("Sales", format!("empid_{:06}", 100 + id)).with("Note", TEXT);
        set.merge_any(&change, IfMatch::Any).unwrap();
        rule.merge(&change.with("Salary", NUMBER), IfMatch::Any).unwrap();
    }
    look(5);
    // What is refused leaves nothing behind either.
    staff.insert(&employee(200)).unwrap_err();
    staff.insert(&Employee { email: "201@contoso.com".into(), ..employee(1) }).unwrap_err();
    rule.insert(&DynamicEntity::new("Sales", "memo_1").with("Memo", TEXT)).unwrap_err();
    store.encryption().unwrap().rotate_all().unwrap();
    staff.egt(Employee::partition("Sales")).put(&employee(50)).put(&employee(51)).commit().unwrap();
    for id in 200..230 {
        staff.delete(key(id)).unwrap();
    }
    store.encryption().unwrap().rewrap().unwrap();
    look(5);
    store.copy_to(scratch.path().join("copy")).unwrap();
    store.drop_table("Payroll").unwrap();
    store.reclaim().unwrap();
    look(8);
    drop((staff, set, rule, store));
    look(8);
}

#[test]
fn a_sealed_blob_shows_nothing_and_neither_does_its_key() {
    #[derive(Entity, Debug, PartialEq)]
    #[entity(table = "Scans", kind = "scan")]
    #[key(partition = "{clinic}", row = "scan_{id:06}")]
    #[index(by_year, row = "year_{year:04}_{id:06}")]
    struct Scan {
        clinic: String,
        id: u32,
        year: u16,
        #[encrypt]
        image: SealedBlob,
    }
    let (scratch, keys) = (Scratch::new(), Arc::new(MemoryKeys::new().unwrap()));
    let mut read = Reader::new();
    let store = store(&scratch, &keys);
    let scans = store.table::<Scan>().unwrap();
    let look = || assert!(finds(scratch.path()).unwrap() >= 5);
    // Some hundred bytes, several segments, several stages.
    for (id, times) in (0..).zip([10, 10_000, 150_000]) {
        let image = store.upload_sealed("text/plain", TEXT.repeat(times).as_bytes()).unwrap();
        read.debug(&image);
        scans.insert(&Scan { clinic: "a".into(), id, year: 2014, image }).unwrap();
    }
    look();
    let failing = TEXT.repeat(80_000);
    let failing = failing.as_bytes().chain(Broken);
    read.error(store.upload_sealed("text/plain", failing), ErrorKind::Io);
    let scan = scans.get(Scan::key("a", 2)).unwrap().unwrap();
    read.debug(&scan);
    read.debug(&scan.image.open(&store).unwrap());
    assert_eq!(scan.image.get(&store).unwrap(), TEXT.repeat(150_000).as_bytes());
    // The blobs' keys, as the fields have them before they are sealed.
    let of = |id: u32| {
        let row = format!("scan_{id:06}");
        let stored = scans.dynamic().get("a", &row).unwrap().unwrap();
        let sealed = stored.get("Image").and_then(|image| image.as_bytes()).unwrap().to_vec();
        let cell = scans.dynamic().cell("a", &row, "Image").unwrap();
        let opened = store.encryption().unwrap().open(&cell, &sealed).unwrap();
        opened.as_bytes().unwrap()[40..].to_vec()
    };
    let blob_keys: Vec<_> = (0..3).map(of).collect();
    assert!(blob_keys.iter().all(|key| key.len() == 32 && *key != blob_keys[0] || key == &blob_keys[0]));
    let look_for_keys = || {
        for entry in fs::read_dir(scratch.path().join("store")).unwrap() {
            let path = entry.unwrap().path();
            let bytes = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            for key in &blob_keys {
                assert!(!bytes.windows(32).any(|window| window == key), "{}", path.display());
            }
        }
    };
    look_for_keys();
    store.encryption().unwrap().rotate_all().unwrap();
    scans.reencrypt().unwrap().run().unwrap();
    scans.delete(Scan::key("a", 1)).unwrap();
    store.copy_to(scratch.path().join("copy")).unwrap();
    look();
    look_for_keys();
}

/// A reader that fails.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }
}

#[test]
fn a_row_of_an_index_shows_nothing_of_what_is_sealed_or_secret() {
    #[derive(Entity)]
    #[entity(table = "Claims", kind = "claim")]
    #[key(partition = "{insurer}", row = "claim_{id:06}")]
    #[index(by_year, row = "year_{year:04}_{id:06}", copy(text, reason, drugs, card))]
    struct Claim {
        insurer: String,
        id: u32,
        year: u16,
        #[encrypt]
        text: String,
        #[encrypt]
        reason: Option<String>,
        #[encrypt]
        #[property(json)]
        drugs: Vec<String>,
        /// Stored as it is, and hidden by its type.
        #[property(plain)]
        card: Secret<Option<String>>,
    }

    let (scratch, keys) = (Scratch::new(), Arc::new(MemoryKeys::new().unwrap()));
    let store = store(&scratch, &keys);
    let claims = store.table::<Claim>().unwrap();
    let sealed = || TEXT.to_owned();
    let claim = |id, reason| Claim {
        insurer: "A".into(),
        id,
        year: 2024,
        text: sealed(),
        reason,
        drugs: vec![sealed()],
        card: Secret::new(Some(sealed())),
    };
    claims.insert(&claim(1, Some(sealed()))).unwrap();
    claims.insert(&claim(2, None)).unwrap();
    for id in 1..=2 {
        let row = claims.get(Claim::by_year("A", 2024, id)).unwrap().unwrap();
        assert_eq!(
            format!("{row:?}"),
            format!(
                "ClaimByYear {{ insurer: \"A\", id: {id}, year: 2024, text: .., reason: .., drugs: .., card: .. }}"
            )
        );
    }
}
