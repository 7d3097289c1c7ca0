//! Blobs whose bytes are sealed: held, copied, sealed anew under other keys, and lost with them.

use std::io::{Read, Seek, SeekFrom};

use integration_tests::{assert_sound, blobbed};
use table_core::blob::{Blob, SealedBlob};
use table_core::{DynamicEntity, Entity, EntitySet, ErrorKind, IfMatch, Store, Ticks, Value};

use super::{Scratch, kind};

/// A patient, who is found by name with a whole copy.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{ward}", row = "patient_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Patient {
    ward: String,
    id: u32,
    name: String,
    #[encrypt(scope = partition)]
    scan: SealedBlob,
    #[encrypt(scope = partition)]
    second: Option<SealedBlob>,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Clinic {
    Patient(Patient),
}

/// A recording, in a table for each month.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Recordings{at:%Y%m}", kind = "recording")]
#[key(partition = "{patient}", row = "at_{at:ticks}")]
struct Recording {
    patient: String,
    at: Ticks,
    #[encrypt]
    sound: SealedBlob,
}

/// What holds a blob that lies in the clear.
#[derive(Entity)]
#[entity(table = "Held", kind = "held")]
#[key(partition = "{owner}", row = "held")]
struct Plain {
    owner: String,
    photo: Blob,
}

fn patient(id: u32, scan: &SealedBlob) -> Patient {
    Patient { ward: "a".into(), id, name: format!("n{id}"), scan: scan.clone(), second: None }
}

fn key(id: u32) -> table_core::Key<Patient> {
    Patient::key("a", id)
}

fn upload(store: &Store, bytes: &[u8]) -> SealedBlob {
    store.upload_sealed("image/dicom", bytes).unwrap()
}

/// How many blobs there are, and how many of them wait for an entity.
fn held(store: &Store) -> (u64, u64) {
    let stats = store.stats().unwrap().blobs;
    (stats.blobs, stats.waiting)
}

#[test]
fn a_sealed_blob_is_read_through_its_opened_field() {
    let drawn = Patient::SCHEMA.to_string();
    assert!(
        drawn.contains("Scan: encrypted by partition Blob, Second: encrypted by partition Blob?"),
        "{drawn}"
    );
    let scratch = Scratch::new();
    let store = scratch.store();
    let patients = store.table::<Patient>().unwrap();
    for (id, put) in (1..).zip([blobbed::bytes(4), blobbed::bytes(1), blobbed::staged(3), Vec::new()]) {
        let scan = upload(&store, &put);
        assert_eq!((scan.len(), scan.is_empty()), (u64::try_from(put.len()).unwrap(), put.is_empty()));
        patients.insert(&patient(id, &scan)).unwrap();
        let found = patients.get(key(id)).unwrap().unwrap();
        assert_eq!((found.scan.len(), &found.scan, &found.second), (scan.len(), &scan, &None));
        assert!(found.scan.get(&store).unwrap() == put);
        let copied = patients.by_name().ward("a").name(&found.name).first().unwrap().unwrap();
        let mut reader = copied.scan.open(&store).unwrap();
        assert_eq!(reader.content_type(), "image/dicom");
        reader.seek(SeekFrom::End(-i64::try_from(put.len().min(5)).unwrap())).unwrap();
        let mut end = Vec::new();
        reader.read_to_end(&mut end).unwrap();
        assert!(end == put[put.len().saturating_sub(5)..]);
    }
    assert_eq!(held(&store), (4, 0));
    assert_sound(&store);
    // One takes another's place, two hold one, and the last takes it along.
    let put = blobbed::bytes(2);
    let second = upload(&store, &put);
    patients.update(key(1), |patient| patient.scan = second.clone()).unwrap();
    patients.merge(key(2), Patient::patch().second(Some(second.clone())), IfMatch::Any).unwrap();
    assert_eq!(held(&store), (4, 0));
    for id in [1, 3, 4] {
        patients.delete(key(id)).unwrap();
    }
    assert!(second.get(&store).unwrap() == put);
    assert_sound(&store);
    patients.delete(key(2)).unwrap();
    assert_eq!((held(&store), second.get(&store).unwrap_err().kind()), ((0, 0), ErrorKind::BlobGone));
    assert_eq!(patients.insert(&patient(5, &second)).unwrap_err().kind(), ErrorKind::BlobGone);
    let nothing = SealedBlob::default();
    assert_eq!(nothing.open(&store).map(drop).unwrap_err().kind(), ErrorKind::BlobNotFound);
    patients.insert(&patient(5, &nothing)).unwrap();
    assert_eq!(patients.get(key(5)).unwrap().unwrap().scan.get(&store).unwrap(), b"");
    assert_sound(&store);
}

#[test]
fn it_goes_on_every_way_that_its_entity_goes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let patients = store.table::<Patient>().unwrap();
    let put = blobbed::bytes(1);
    let scan = upload(&store, &put);
    patients.insert(&patient(1, &scan)).unwrap();
    // Another row seals the reference anew, and leaves the bytes where they are.
    patients.move_to(key(1), |patient| patient.id = 2).unwrap();
    patients.update(key(2), |patient| patient.name = "other".into()).unwrap();
    patients
        .egt(Patient::partition("a"))
        .update(key(2), |patient| patient.name = "third".into())
        .commit()
        .unwrap();
    store.transaction().put(&patient(3, &scan)).delete(key(2)).commit().unwrap();
    let set = store.set::<Clinic>().unwrap();
    let change = DynamicEntity::new("a", "patient_000003").with("Name", "fourth");
    set.merge_any(&change, IfMatch::Any).unwrap();
    let found = set.get_any("a", "patient_000003").unwrap().unwrap();
    let Clinic::Patient(found) = &*found;
    assert_eq!((&*found.name, held(&store)), ("fourth", (1, 0)));
    assert!(found.scan.get(&store).unwrap() == put);
    let seen = patients.view(key(3), |patient| patient.scan()).unwrap().unwrap();
    assert_eq!(seen, scan);
    assert!(patients.rows().ward("a").page(1, None).unwrap().next.is_none());
    assert_sound(&store);
    // A copy of the store has it, and opens it with the same keys.
    let copy = scratch.path().with_file_name("copy");
    store.copy_to(&copy).unwrap();
    let copy = scratch.store_at(&copy);
    let found = copy.table::<Patient>().unwrap().get(key(3)).unwrap().unwrap();
    assert!(found.scan.get(&copy).unwrap() == put);
    // A rule seals and opens the same reference, and what it seals is counted too.
    let memos = store.create_table("Memos").unwrap().encrypting(|_, _, property| property == "Photo");
    let photo = store.upload("image/jpeg", &b"in the clear"[..]).unwrap();
    let plain = store.table::<Plain>().unwrap();
    plain.insert(&Plain { owner: "a".into(), photo }).unwrap();
    let reference = plain.dynamic().get("a", "held").unwrap().unwrap().get("Photo").cloned().unwrap();
    memos.insert(&DynamicEntity::new("m", "1").with("Photo", reference.clone())).unwrap();
    plain.delete(Plain::key("a")).unwrap();
    assert_eq!(memos.get("m", "1").unwrap().unwrap().get("Photo"), Some(&reference));
    assert_eq!((photo.get(&store).unwrap(), held(&store)), (b"in the clear".to_vec(), (2, 0)));
    memos.delete("m", "1").unwrap();
    assert_eq!(held(&store), (1, 0));
    store.drop_table("Patients").unwrap();
    store.reclaim().unwrap();
    assert_eq!(held(&store), (0, 0));
    assert_sound(&store);
}

#[test]
fn periods_take_theirs_along() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let recordings = store.periods::<Recording>().unwrap();
    let at = |text: &str| text.parse::<Ticks>().unwrap();
    for time in ["2014-07-31T00:00:00Z", "2014-08-01T00:00:00Z"] {
        let sound = upload(&store, &blobbed::bytes(1));
        recordings.insert(&Recording { patient: "p".into(), at: at(time), sound }).unwrap();
    }
    recordings.drop_before(at("2014-08-01T00:00:00Z")).unwrap();
    store.reclaim().unwrap();
    assert_eq!(held(&store), (1, 0));
    let left = recordings.all_periods().rows().patient("p").first().unwrap().unwrap();
    assert!(left.sound.get(&store).unwrap() == blobbed::bytes(1));
    assert_sound(&store);
}

#[test]
fn keys_are_rotated_and_no_byte_of_a_blob_moves() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let patients = store.table::<Patient>().unwrap();
    let encryption = store.encryption().unwrap();
    let puts: Vec<_> = (0..8).map(blobbed::bytes).collect();
    for (id, put) in (0..).zip(&puts) {
        patients.insert(&patient(id, &upload(&store, put))).unwrap();
    }
    let bytes = store.stats().unwrap().blobs.bytes;
    let scope = patients.dynamic().partition_key_scope("a").unwrap();
    let former = super::handles(&patients.dynamic().get("a", "patient_000001").unwrap().unwrap())[0].1;
    encryption.rotate(&scope).unwrap();
    patients.reencrypt().unwrap().run().unwrap();
    encryption.rewrap().unwrap();
    let row = patients.dynamic().get("a", "patient_000001").unwrap().unwrap();
    assert_ne!(super::handles(&row)[0].1, former);
    encryption.destroy(former).unwrap();
    assert_eq!((store.stats().unwrap().blobs.bytes, held(&store)), (bytes, (8, 0)));
    for (id, put) in (0..).zip(&puts) {
        let found = patients.get(key(id)).unwrap().unwrap();
        assert!(found.scan.get(&store).unwrap() == *put, "{id}");
    }
    assert_sound(&store);
}

#[test]
fn with_the_key_of_its_field_goes_the_blob() {
    let scratch = Scratch::new();
    {
        let store = scratch.store();
        let patients = store.table::<Patient>().unwrap();
        for ward in ["a", "b"] {
            let scan = upload(&store, &blobbed::bytes(1));
            patients.insert(&Patient { ward: ward.into(), ..patient(1, &scan) }).unwrap();
        }
        let scope = patients.dynamic().partition_key_scope("a").unwrap();
        store.encryption().unwrap().shred(&scope).unwrap();
        assert_eq!(kind(patients.get(key(1))), ErrorKind::KeyShredded);
        let other = patients.get(Patient::key("b", 1)).unwrap().unwrap();
        assert!(other.scan.get(&store).unwrap() == blobbed::bytes(1));
    }
    // Without keys nothing is read, and everything can be removed.
    let store = scratch.without_provider();
    let patients = store.table::<Patient>().unwrap();
    assert_eq!(kind(patients.get(Patient::key("b", 1))), ErrorKind::KeyUnavailable);
    let scan = upload(&store, b"needs no key of the store's");
    assert_eq!(kind(patients.insert(&patient(2, &scan))), ErrorKind::KeyUnavailable);
    assert_eq!(held(&store), (3, 1));
    for ward in ["a", "b"] {
        patients.delete(Patient::key(ward, 1)).unwrap();
    }
    assert_eq!(held(&store), (1, 1));
}

#[test]
fn a_reference_opens_in_its_own_cell_and_to_its_own_blob_alone() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let patients = store.table::<Patient>().unwrap();
    for id in [1, 2] {
        patients.insert(&patient(id, &upload(&store, &blobbed::bytes(id)))).unwrap();
    }
    let table = patients.dynamic().raw();
    let stored = |id: u32| {
        let row = table.get("a", &format!("patient_{id:06}")).unwrap().unwrap();
        row.get("Scan").and_then(Value::as_bytes).unwrap().to_vec()
    };
    let [one, two] = [1, 2].map(stored);
    let put = |scan: Vec<u8>| {
        let change = DynamicEntity::new("a", "patient_000001").with("Scan", scan);
        table.merge(&change, IfMatch::Any).unwrap();
        kind(patients.get(key(1)))
    };
    assert_eq!(put(two.clone()), ErrorKind::DecryptionFailed, "another cell's");
    // The reference in the clear stands behind format, suite, type and key.
    let reference = 11..51;
    let mut exchanged = one.clone();
    exchanged[reference.clone()].copy_from_slice(&two[reference.clone()]);
    assert_eq!(put(exchanged), ErrorKind::DecryptionFailed, "another blob's");
    let bare = one[reference].to_vec();
    assert_eq!(put(bare), ErrorKind::DecryptionFailed, "as a blob in the clear has it");
    // A reference to what there is not is refused where it is written.
    let mut lost = one.clone();
    lost[30] ^= 1;
    let change = DynamicEntity::new("a", "patient_000001").with("Scan", lost);
    assert_eq!(table.merge(&change, IfMatch::Any).unwrap_err().kind(), ErrorKind::BlobGone);
}

#[test]
fn uploads_that_fail_leave_nothing() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let length = into.len().min(self.0);
            self.0 -= length;
            if length == 0 { Err(std::io::Error::other("no more")) } else { Ok(length) }
        }
    }
    let scratch = Scratch::new();
    let store = scratch.store();
    let error = store.upload_sealed("image/dicom", Failing(3_000_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert_eq!(held(&store), (0, 0));
    assert!(store.upload_sealed("", &b""[..]).is_err());
    assert_sound(&store);
}
