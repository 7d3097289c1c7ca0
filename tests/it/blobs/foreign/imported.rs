//! Blobs copied from one store to another.

use std::io::Read;
use std::sync::Arc;

use integration_tests::Scratch;
use table_core::blob::{Blob, SealedBlob};
use table_core::crypt::MemoryKeys;
use table_core::{Entity, ErrorKind, Store, Stored};

use super::{Employee, assert_refused, employee, held, key};
use crate::blobs::bytes;
use integration_tests::assert_sound;

#[test]
fn entities_move_to_another_store_with_their_blobs() {
    let scratch = Scratch::new();
    let [from, to] = ["from", "to"].map(|name| Store::open(scratch.path().join(name)).unwrap());
    let (staff, copies) = (from.table::<Employee>().unwrap(), to.table::<Employee>().unwrap());
    // Of no bytes, of one segment, and of several stages.
    let contents = [Vec::new(), b"abc".to_vec(), bytes(3_000_000, 7)];
    for (id, content) in (1..).zip(&contents) {
        let photo = from.upload("image/jpeg", &content[..]).unwrap();
        staff.insert(&employee(id, photo)).unwrap();
    }
    for found in staff.all() {
        let mut employee = Stored::into_inner(found.unwrap());
        employee.photo = to.import_blob(&from, &employee.photo).unwrap();
        copies.insert(&employee).unwrap();
    }
    // What was copied is this store's own, whatever becomes of the other.
    staff.delete_partition(Employee::partition("Sales")).unwrap().run().unwrap();
    drop((staff, from));
    std::fs::remove_dir_all(scratch.path().join("from")).unwrap();
    for (id, content) in (1..).zip(&contents) {
        let found = copies.get(key(id)).unwrap().unwrap();
        let mut reader = found.photo.open(&to).unwrap();
        assert_eq!(reader.content_type(), "image/jpeg");
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == *content, "{id}");
    }
    assert!(copies.check().unwrap().is_sound());
    assert_sound(&to);
    copies.delete_partition(Employee::partition("Sales")).unwrap().run().unwrap();
    assert_eq!(to.stats().unwrap().blobs.blobs, 0);
    assert_sound(&to);
}

#[test]
fn an_import_is_refused_where_the_blob_is_not_and_empty_fields_need_none() {
    let scratch = Scratch::new();
    let [from, to] = ["from", "to"].map(|name| Store::open(scratch.path().join(name)).unwrap());
    let photo = held(&from, b"abc");
    let empty = Blob::default();
    assert_eq!(to.import_blob(&from, &empty).unwrap(), empty);
    // The two stores exchanged: the blob is in neither.
    let third = Store::open(scratch.path().join("third")).unwrap();
    let error = third.import_blob(&to, &photo).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobGone);
    assert!(error.to_string().starts_with("cannot import a blob"), "{error}");
    assert!(error.to_string().contains("another store"), "{error}");
    from.table::<Employee>().unwrap().delete(key(900_001)).unwrap();
    let error = to.import_blob(&from, &photo).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobGone);
    assert!(error.to_string().contains("no entity holds it"), "{error}");
    // Into what can't be written, nothing comes.
    let photo = held(&from, b"abc");
    drop(to);
    let read_only = Store::options().read_only(true).open(scratch.path().join("to")).unwrap();
    assert_eq!(read_only.import_blob(&from, &photo).unwrap_err().kind(), ErrorKind::ReadOnly);
    drop(from);
    let from = Store::options().read_only(true).open(scratch.path().join("from")).unwrap();
    let brought = third.import_blob(&from, &photo).unwrap();
    assert_eq!(brought.get(&third).unwrap(), b"abc");
    for store in [third, read_only, from] {
        assert_sound(&store);
    }
}

/// A copy of a store is the same store: what it had before the copy stays right in both. What comes later is the one's in which it came.
#[test]
fn a_copied_store_has_the_blobs_that_were_there() {
    let scratch = Scratch::new();
    let store = Store::open(scratch.path().join("store")).unwrap();
    let paths = ["bare", "copy"].map(|name| scratch.path().join(name));
    store.copy_to(&paths[0]).unwrap();
    let photo = held(&store, b"before");
    store.copy_to(&paths[1]).unwrap();
    let [bare, copy] = paths.map(|path| Store::open(path).unwrap());
    let there = copy.table::<Employee>().unwrap();
    assert_eq!(photo.get(&copy).unwrap(), b"before");
    there.insert(&employee(1, photo)).unwrap();
    // No copying is needed, and none is made.
    assert_eq!(copy.import_blob(&store, &photo).unwrap(), photo);
    assert_eq!(copy.import_blob(&copy, &photo).unwrap(), photo);
    assert_eq!(copy.stats().unwrap().blobs.blobs, 1);

    let later = held(&store, b"later");
    for (target, blob) in [(&copy, later), (&bare, photo)] {
        let staff = target.table::<Employee>().unwrap();
        let error = staff.insert(&employee(2, blob)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BlobGone);
        assert!(error.to_string().contains("a copy of this store"), "{error}");
        let brought = target.import_blob(&store, &blob).unwrap();
        assert_ne!(brought, blob);
        staff.insert(&employee(2, brought)).unwrap();
        assert_sound(target);
    }
    // Compacted it is the same store, too.
    let compacted = {
        drop(there);
        copy.compact().unwrap()
    };
    compacted.table::<Employee>().unwrap().insert(&employee(3, photo)).unwrap();
    assert_eq!(photo.get(&compacted).unwrap(), b"before");
    assert_sound(&compacted);
    assert_sound(&store);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{ward}", row = "patient_{id:06}")]
struct Patient {
    ward: String,
    id: u32,
    #[encrypt(scope = partition)]
    scan: SealedBlob,
}

#[test]
fn a_sealed_blob_is_refused_and_copied_as_it_is() {
    let scratch = Scratch::new();
    let [from, to] = ["from", "to"].map(|name| {
        let keys = Arc::new(MemoryKeys::new().unwrap());
        Store::options().encryption(keys).open(scratch.path().join(name)).unwrap()
    });
    let (patients, copies) = (from.table::<Patient>().unwrap(), to.table::<Patient>().unwrap());
    let content = bytes(200_000, 3);
    let scan = from.upload_sealed("image/dicom", &content[..]).unwrap();
    patients.insert(&Patient { ward: "a".into(), id: 7, scan }).unwrap();
    let found = Stored::into_inner(patients.get(Patient::key("a", 7)).unwrap().unwrap());
    let whole = ["table `Patients`, partition `a`, row `patient_000007`", "`Scan`"];
    assert_refused(copies.insert(&found), &whole);
    assert_refused(copies.put(&found), &whole);
    assert_eq!(found.scan.get(&to).unwrap_err().kind(), ErrorKind::BlobGone);
    // The bytes of the sealed property say the same.
    let rows = patients.dynamic().raw().get("a", "patient_000007").unwrap().unwrap();
    assert_refused(to.create_table("Rows").unwrap().insert(&rows), &["`Scan`"]);

    let scan = to.import_sealed_blob(&from, &found.scan).unwrap();
    assert_ne!(scan, found.scan);
    copies.insert(&Patient { scan, ..found.clone() }).unwrap();
    let there = copies.get(Patient::key("a", 7)).unwrap().unwrap();
    assert!(there.scan.get(&to).unwrap() == content);
    assert_eq!(there.scan.open(&to).unwrap().content_type(), "image/dicom");
    // The other store's key is not needed for it, and no byte of it lies in the clear.
    drop((patients, from));
    assert!(there.scan.get(&to).unwrap() == content);
    let data = std::fs::read(scratch.path().join("to/data.mdb")).unwrap();
    assert!(!data.windows(16).any(|window| window == &content[..16]));
    assert_eq!(to.import_sealed_blob(&to, &SealedBlob::default()).unwrap(), SealedBlob::default());
    assert_eq!(to.import_sealed_blob(&to, &there.scan).unwrap(), there.scan);
    assert!(copies.check().unwrap().is_sound());
    assert_sound(&to);
}
