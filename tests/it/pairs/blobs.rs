//! Blobs in entities of every shape, and on every way that these are written and read.

use std::io;
use std::sync::Arc;

use integration_tests::{Scratch, assert_sound};
use table_core::blob::Blob;
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, Entity, EntitySet, ErrorKind, IfMatch, Projection, Store, Stored, Ticks};

/// An employee, who is found by name with a whole copy.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    photo: Option<Blob>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    plan: Blob,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Company {
    Department(Department),
    Employee(Employee),
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Shown {
    id: u32,
    photo: Option<Blob>,
}

/// A scan of a day, in a table for each month.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans{at:%Y%m}", kind = "scan")]
#[key(partition = "{patient}", row = "at_{at:ticks}")]
#[index(by_room, row = "room_{room:03}_{at:ticks}")]
struct Scan {
    patient: String,
    at: Ticks,
    room: u8,
    image: Blob,
}

/// A report whose drawing lies in its second row.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Reports", kind = "report", wide)]
#[key(partition = "{office}", row = "report_{id:06}")]
struct Report {
    office: String,
    id: u32,
    title: String,
    #[part]
    drawing: Blob,
    pages: u32,
}

/// A patient whose finding is sealed, and whose image is not.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Patients", kind = "patient", signed)]
#[key(partition = "{ward}", row = "patient_{id:06}")]
struct Patient {
    ward: String,
    id: u32,
    #[encrypt]
    finding: String,
    image: Blob,
}

fn upload(store: &Store, bytes: &[u8]) -> Blob {
    store.upload("image/jpeg", bytes).unwrap()
}

fn employee(id: u32, photo: Option<Blob>) -> Employee {
    Employee { department: "Sales".into(), id, name: format!("n{id}"), photo }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

/// How many blobs there are, and how many of them nobody holds.
fn held(store: &Store) -> (u64, u64) {
    let stats = store.stats().unwrap().blobs;
    (stats.blobs, stats.waiting)
}

#[test]
fn blobs_go_with_changes_of_sets_batches_and_store_transactions() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let [first, second, third] = [b"1", b"2", b"3"].map(|bytes| upload(&store, bytes));
    let set = store.set::<Company>().unwrap();
    let (ann, bob) = (employee(1, Some(first)), employee(2, None));
    let sales = Department { name: "Sales".into(), plan: second };
    set.egt(Employee::partition("Sales")).insert(&ann).insert(&bob).insert(&sales).commit().unwrap();
    assert_eq!(held(&store), (3, 1));
    let all: Vec<_> =
        set.across_partitions().into_iter().map(|one| Stored::into_inner(one.unwrap())).collect();
    assert_eq!(all, [Company::Department(sales), Company::Employee(ann), Company::Employee(bob)]);

    // Two exchange what they hold, and nothing is lost in between.
    let staff = store.table::<Employee>().unwrap();
    store
        .transaction()
        .merge(key(1), Employee::patch().photo(None), IfMatch::Any)
        .merge(key(2), Employee::patch().photo(Some(first)), IfMatch::Any)
        .commit()
        .unwrap();
    assert_eq!((first.get(&store).unwrap(), held(&store)), (b"1".to_vec(), (3, 1)));
    // Refused whole: the upload is still to be held, and nothing was let go.
    let update = store.transaction().update(key(2), |employee| employee.photo = None);
    let error = update.insert(&employee(1, Some(third))).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EntityAlreadyExists);
    assert_eq!((first.get(&store).unwrap(), held(&store)), (b"1".to_vec(), (3, 1)));
    staff.merge(key(2), Employee::patch().photo(Some(third)), IfMatch::Any).unwrap();
    assert_eq!((first.get(&store).unwrap_err().kind(), held(&store)), (ErrorKind::BlobGone, (2, 0)));
    // One that is gone is held by nobody again, and the other change of the batch is not made.
    let batch = staff.egt(Employee::partition("Sales")).update(key(2), |employee| employee.photo = None);
    let error = batch.update(key(1), |employee| employee.photo = Some(first)).commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobGone);
    assert_eq!((third.get(&store).unwrap(), held(&store)), (b"3".to_vec(), (2, 0)));
    set.delete_any("Sales", "empid_000002").unwrap();
    assert_eq!(held(&store), (1, 0));
    assert_sound(&store);
}

#[test]
fn blobs_are_read_in_views_projections_and_pages_and_kept_by_jobs() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    let photos: Vec<_> = (0..5).map(|number| upload(&store, &[number; 100_000])).collect();
    for (id, photo) in (0..5).zip(&photos) {
        staff.insert(&employee(id, (id != 3).then_some(*photo))).unwrap();
    }
    let query = || staff.rows().department("Sales");
    let shown: Vec<_> = query().select::<Shown>().into_iter().map(|shown| shown.unwrap().photo).collect();
    let wanted: Vec<_> = (0..5).map(|id| (id != 3).then_some(photos[id])).collect();
    assert_eq!(shown, wanted);
    let snapshot = store.snapshot().unwrap();
    let views = staff.at(&snapshot).rows().department("Sales").views();
    assert!(views.map(|view| view.unwrap().photo().unwrap()).eq(wanted.iter().copied()));
    let (mut paged, mut after) = (Vec::new(), None);
    loop {
        let page = query().page(2, after.as_ref()).unwrap();
        paged.extend(page.entities.iter().map(|employee| employee.photo));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(paged, wanted);
    assert_eq!(query().filter(|e| e.photo.is_some()).count().unwrap(), 4);
    assert!(query().explain().unwrap().to_string().contains("Sales"));

    // A copy that lost its photo, and gets it back.
    drop((snapshot, paged));
    let wrong = DynamicEntity::new("Sales", "name_n0_000000").with("Photo", vec![0_u8; 3]);
    staff.dynamic().raw().merge(&wrong, IfMatch::Any).unwrap();
    assert_sound(&store);
    assert!(!staff.check().unwrap().is_sound());
    staff.repair().unwrap().run().unwrap();
    assert_sound(&store);
    assert!(staff.check().unwrap().is_sound());
    staff.rebuild().unwrap().run().unwrap();
    assert_eq!(staff.get(Employee::by_name("Sales", "n0", 0)).unwrap().unwrap().photo, Some(photos[0]));
    assert_sound(&store);
    assert_eq!(staff.cost().unwrap().entities, 5);
    let copy = scratch.path().join("copy");
    store.copy_to(&copy).unwrap();
    let copied = Store::open(&copy).unwrap();
    assert!(photos[4].get(&copied).unwrap() == [4; 100_000]);
    staff.delete_partition(Employee::partition("Sales")).unwrap().run().unwrap();
    assert_eq!(held(&store), (1, 1));
    assert_sound(&store);
}

#[test]
fn blobs_of_periods_go_with_their_tables() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let scans = store.periods::<Scan>().unwrap();
    let at = |month: u32| format!("2014-{month:02}-10").parse::<Ticks>().unwrap();
    let image = |month: u32| upload(&store, &vec![u8::try_from(month).unwrap(); 200_000]);
    let images: Vec<_> = (1..=4).map(image).collect();
    for (month, image) in (1..=4).zip(&images) {
        let scan = Scan { patient: "ann".into(), at: at(month), room: 7, image: *image };
        scans.insert(&scan).unwrap();
    }
    // Another patient's scan shows the first one's image.
    scans.insert(&Scan { patient: "bob".into(), at: at(4), room: 7, image: images[0] }).unwrap();
    let during = scans.during(at(2)..at(4)).unwrap().by_room().patient("ann").room(7);
    let found: Vec<_> = during.into_iter().map(|scan| scan.unwrap().image.get(&store).unwrap()[0]).collect();
    assert_eq!(found, [2, 3]);
    assert_eq!(held(&store), (4, 0));
    assert_eq!(scans.drop_before(at(3)).unwrap().tables, 2);
    store.reclaim().unwrap();
    assert_eq!(held(&store), (3, 0));
    assert!(images[0].get(&store).unwrap() == [1; 200_000]);
    assert_eq!(images[1].get(&store).unwrap_err().kind(), ErrorKind::BlobGone);
    assert_sound(&store);
}

#[test]
fn blobs_of_wide_entities_lie_in_their_parts() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let reports = store.table::<Report>().unwrap();
    let [first, second] = [b"1", b"2"].map(|bytes| upload(&store, bytes));
    let report = Report { office: "Oslo".into(), id: 1, title: "t".into(), drawing: first, pages: 3 };
    reports.insert(&report).unwrap();
    let key = || Report::key("Oslo", 1);
    assert_eq!(reports.get(key()).unwrap().unwrap().drawing.get(&store).unwrap(), b"1");
    reports.merge(key(), Report::patch().title("u"), IfMatch::Any).unwrap();
    assert_eq!(held(&store), (2, 1));
    reports.merge(key(), Report::patch().drawing(second), IfMatch::Any).unwrap();
    assert_eq!((held(&store), first.get(&store).unwrap_err().kind()), ((1, 0), ErrorKind::BlobGone));
    assert_sound(&store);
    reports.delete(key()).unwrap();
    assert_eq!(held(&store), (0, 0));
    assert_sound(&store);
}

#[test]
fn a_blob_lies_beside_what_is_sealed_and_signed() {
    let scratch = Scratch::new();
    let keys = Arc::new(MemoryKeys::new().unwrap());
    let store = Store::options().encryption(keys).open(scratch.path().join("store")).unwrap();
    let patients = store.table::<Patient>().unwrap();
    let [first, second] = [b"1", b"2"].map(|bytes| upload(&store, bytes));
    let patient = Patient { ward: "a".into(), id: 1, finding: "well".into(), image: first };
    patients.insert(&patient).unwrap();
    let key = || Patient::key("a", 1);
    assert_eq!(*patients.get(key()).unwrap().unwrap(), patient);
    patients.update(key(), |patient| patient.image = second).unwrap();
    assert_eq!((held(&store), second.get(&store).unwrap()), ((1, 0), b"2".to_vec()));
    // Sealed anew, it is held as before.
    patients.reencrypt().unwrap().run().unwrap();
    assert_eq!((held(&store), second.get(&store).unwrap()), ((1, 0), b"2".to_vec()));
    let empty = store.upload("image/jpeg", io::empty()).unwrap();
    patients.merge(key(), Patient::patch().image(empty), IfMatch::Any).unwrap();
    assert_eq!(held(&store), (1, 0));
    assert_sound(&store);
}

/// The first release of a document, and the second, which has two fields of one.
mod v1 {
    use table_core::Entity;
    use table_core::blob::Blob;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Documents", kind = "document")]
    #[key(partition = "{owner}", row = "document_{id:06}")]
    #[index(by_name, row = "name_{name}_{id:06}")]
    pub(super) struct Document {
        pub(super) owner: String,
        pub(super) id: u32,
        pub(super) name: String,
        pub(super) scan: Blob,
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(kind = "document", version = 1, former)]
#[key(partition = "{owner}", row = "document_{id:06}")]
struct DocumentV1 {
    owner: String,
    id: u32,
    name: String,
    scan: Blob,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Documents", kind = "document", version = 2, from = DocumentV1)]
#[key(partition = "{owner}", row = "document_{id:06}")]
#[index(by_title, row = "title_{title}_{id:06}")]
struct Document {
    owner: String,
    id: u32,
    title: String,
    #[property(default)]
    pages: u32,
    image: Blob,
}

impl From<DocumentV1> for Document {
    fn from(former: DocumentV1) -> Self {
        let DocumentV1 { owner, id, name, scan } = former;
        Self { owner, id, title: name, pages: 0, image: scan }
    }
}

#[test]
fn a_blob_stays_when_its_entity_is_converted() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let documents = store.table::<v1::Document>().unwrap();
    let scans: Vec<_> = (0..20).map(|number| upload(&store, &[number; 3])).collect();
    for (id, scan) in (0..20).zip(&scans) {
        let (owner, name) = ("ann".to_owned(), format!("n{id}"));
        documents.insert(&v1::Document { owner, id, name, scan: *scan }).unwrap();
    }
    drop(documents);
    let documents = store.table::<Document>().unwrap();
    let read = documents.get(Document::key("ann", 7)).unwrap().unwrap();
    assert_eq!(read.image.get(&store).unwrap(), [7; 3]);
    store.migration::<Document>().unwrap().run().unwrap();
    assert_eq!(held(&store), (20, 0));
    documents.update(Document::key("ann", 3), |document| document.image = Blob::default()).unwrap();
    assert_eq!(held(&store), (19, 0));
    assert!(documents.check().unwrap().is_sound());
    assert_sound(&store);
    for (id, scan) in (0..20).zip(&scans).filter(|(id, _)| *id != 3) {
        assert_eq!(documents.get(Document::key("ann", id)).unwrap().unwrap().image, *scan);
        documents.delete(Document::key("ann", id)).unwrap();
    }
    assert_eq!(held(&store), (0, 0));
    assert_sound(&store);
}
