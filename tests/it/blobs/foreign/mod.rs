//! Blobs of another store: refused however a row comes to refer to one, copied by a call, and cleaned up where a former build
//! took them in.

mod held;
mod imported;

use integration_tests::Scratch;
use table_core::blob::Blob;
use table_core::{DynamicEntity, Entity, EntitySet, ErrorKind, IfMatch, Result, Store, Ticks, Value};

use integration_tests::assert_sound;

/// An employee, who is found by name with a whole copy.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    photo: Blob,
    sketch: Option<Blob>,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Company {
    Employee(Employee),
}

/// A scan of a day, in a table for each month.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans{at:%Y%m}", kind = "scan")]
#[key(partition = "{patient}", row = "at_{at:ticks}")]
struct Scan {
    patient: String,
    at: Ticks,
    image: Blob,
}

/// A report whose drawing lies in its second row.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Reports", kind = "report", wide)]
#[key(partition = "{office}", row = "report_{id:06}")]
struct Report {
    office: String,
    id: u32,
    #[part]
    drawing: Blob,
}

fn employee(id: u32, photo: Blob) -> Employee {
    Employee { department: "Sales".into(), id, name: format!("n{id}"), photo, sketch: None }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

/// A blob that an entity of its store holds, and will hold.
fn held(store: &Store, bytes: &[u8]) -> Blob {
    let photo = store.upload("image/jpeg", bytes).unwrap();
    let id = u32::try_from(store.stats().unwrap().blobs.blobs).unwrap();
    store.table::<Employee>().unwrap().insert(&employee(900_000 + id, photo)).unwrap();
    photo
}

/// That a write is refused since it would hold a blob that the store does not have.
#[track_caller]
fn assert_refused<T>(done: Result<T>, says: &[&str]) {
    let Err(error) = done else { panic!("the blob of another store was taken") };
    assert_eq!(error.kind(), ErrorKind::BlobGone, "{error}");
    let text = error.to_string();
    for says in says.iter().chain(&["another store", "`Store::import_blob`"]) {
        assert!(text.contains(says), "{text} has no {says}");
    }
}

/// What a target may be: it has never had a blob, has none but in a container, has had one, or has one.
fn targets(scratch: &Scratch) -> Vec<Store> {
    let open = |name: &str| Store::open(scratch.path().join(name)).unwrap();
    let [never, named, had, has] = ["never", "named", "had", "has"].map(open);
    named.container("files").unwrap().put("one", b"1").unwrap();
    for store in [&had, &has] {
        held(store, b"own");
    }
    had.table::<Employee>().unwrap().delete(key(900_001)).unwrap();
    vec![never, named, had, has]
}

#[test]
fn a_blob_of_another_store_is_refused_by_every_write() {
    let (scratch, elsewhere) = (Scratch::new(), Scratch::new());
    let from = elsewhere.store();
    let photo = held(&from, b"abc");
    for to in targets(&scratch) {
        let staff = to.table::<Employee>().unwrap();
        staff.insert(&employee(1, Blob::default())).unwrap();
        let before: Vec<_> = staff.dynamic().rows_of(&to);
        let (new, there) = (employee(7, photo), employee(1, photo));
        let whole = ["table `Company`, partition `Sales`, row `empid_000007`", "`Photo`"];
        assert_refused(staff.insert(&new), &whole);
        assert_refused(staff.put(&new), &whole);
        let of_one = ["row `empid_000001`", "`Photo`"];
        assert_refused(staff.put(&there), &of_one);
        assert_refused(staff.replace(&there, IfMatch::Any), &of_one);
        assert_refused(staff.merge(key(1), Employee::patch().photo(photo), IfMatch::Any), &of_one);
        assert_refused(
            staff.merge(key(1), Employee::patch().sketch(Some(photo)), IfMatch::Any),
            &["`Sketch`"],
        );
        assert_refused(staff.update(key(1), |employee| employee.photo = photo), &of_one);
        let moved = staff.move_to(key(1), |employee| (employee.id, employee.photo) = (8, photo));
        assert_refused(moved, &["`Photo`"]);

        // In a batch the entity is named that would hold it.
        let sales = || Employee::partition("Sales");
        let fine = employee(5, Blob::default());
        assert_refused(staff.egt(sales()).insert(&fine).insert(&new).commit(), &whole);
        assert_refused(to.transaction().insert(&fine).insert(&new).commit(), &whole);
        let set = to.set::<Company>().unwrap();
        assert_refused(set.egt(sales()).put(&new).commit(), &whole);
        let change = DynamicEntity::new("Sales", "empid_000001").with("Photo", photo);
        assert_refused(set.merge_any(&change, IfMatch::Any), &of_one);

        // Raw, and where no struct is.
        let raw = staff.dynamic().raw();
        let row = DynamicEntity::new("Sales", "raw").with("Anything", photo);
        let of_raw = ["table `Company`, partition `Sales`, row `raw`", "`Anything`"];
        assert_refused(raw.insert(&row), &of_raw);
        assert_refused(raw.put(&row), &of_raw);
        assert_refused(raw.insert_or_merge(&row), &of_raw);
        assert_refused(raw.merge(&change, IfMatch::Any), &of_one);
        assert_refused(raw.replace(&change, IfMatch::Any), &of_one);
        let notes = to.create_table("Notes").unwrap();
        assert_refused(notes.insert(&row), &["table `Notes`"]);
        assert_refused(notes.batch("Sales").insert(row.clone()).commit(), &["table `Notes`"]);
        // Within other bytes it is one as well, and one is beside many others.
        let Value::Binary(reference) = Value::from(photo) else { panic!("a reference is bytes") };
        let within = [&[0xc1; 30][..], &reference, &[7; 300]].concat();
        assert_refused(notes.insert(&DynamicEntity::new("Sales", "raw").with("Any", within)), &["`Any`"]);
        notes.insert(&DynamicEntity::new("Sales", "part").with("Any", reference[..31].to_vec())).unwrap();
        to.drop_table("Notes").unwrap();

        let report = staff.bulk_insert([fine.clone(), new.clone()]).unwrap();
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.failures[0].error.kind(), ErrorKind::BlobGone);
        staff.delete(key(5)).unwrap();

        let at = "2014-07-31".parse::<Ticks>().unwrap_or_else(|_| Ticks::now());
        let scans = to.periods::<Scan>().unwrap();
        assert_refused(scans.insert(&Scan { patient: "ann".into(), at, image: photo }), &["`Image`"]);
        let reports = to.table::<Report>().unwrap();
        let report = Report { office: "Oslo".into(), id: 1, drawing: photo };
        assert_refused(reports.insert(&report), &["table `Reports`", "`Drawing`"]);
        reports.insert(&Report { drawing: Blob::default(), ..report }).unwrap();
        let drawn = Report::patch().drawing(photo);
        assert_refused(reports.merge(Report::key("Oslo", 1), drawn, IfMatch::Any), &["`Drawing`"]);

        // Read, it is gone as well, and the message says where it is.
        let error = photo.get(&to).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BlobGone);
        assert!(error.to_string().contains("another store"), "{error}");
        assert!(photo.open(&to).is_err());
        assert_eq!(staff.dynamic().rows_of(&to), before);
        assert_sound(&to);
    }
    assert_eq!(photo.get(&from).unwrap(), b"abc");
    assert_sound(&from);
}

/// The rows of a table.
trait Rows {
    fn rows_of(&self, store: &Store) -> Vec<DynamicEntity>;
}

impl Rows for table_core::DynamicTable {
    fn rows_of(&self, _: &Store) -> Vec<DynamicEntity> {
        self.query(&table_core::Query::new()).unwrap().map(Result::unwrap).collect()
    }
}

/// The ordinary way to it: entities are copied as they were read.
#[test]
fn a_loop_that_copies_entities_leaves_the_target_as_it_was() {
    let scratch = Scratch::new();
    let [from, to] = ["from", "to"].map(|name| Store::open(scratch.path().join(name)).unwrap());
    let (staff, copies) = (from.table::<Employee>().unwrap(), to.table::<Employee>().unwrap());
    for id in 0..3 {
        let photo = from.upload("image/jpeg", &b"abc"[..]).unwrap();
        staff.insert(&employee(id, photo)).unwrap();
    }
    for found in staff.all() {
        assert_refused(copies.insert(&found.unwrap()), &["`Photo`"]);
    }
    assert_eq!(copies.all().count().unwrap(), 0);
    assert_sound(&to);
    let photo = to.upload("image/jpeg", &b"own"[..]).unwrap();
    copies.insert(&employee(1, photo)).unwrap();
    assert_sound(&to);
    copies.put(&employee(0, Blob::default())).unwrap();
    copies.delete(key(1)).unwrap();
    to.drop_table("Company").unwrap();
    to.reclaim().unwrap();
    assert_sound(&to);
    assert!(to.stats().unwrap().reclaim_failure.is_none());
}
