//! Sealed values in and out.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use table_cli::Cli;
use table_core::blob::SealedBlob;
use table_core::crypt::{KeyRing, Secret};
use table_core::{DynamicEntity, Entity, Store};

use crate::run::tables;

#[derive(Entity)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{clinic}", row = "patient_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Patient {
    clinic: String,
    id: u32,
    name: String,
    #[encrypt]
    diagnosis: Secret<String>,
}

struct Clinic {
    directory: tempfile::TempDir,
}

impl Clinic {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap_or_default().to_owned()
    }

    fn open(&self, name: &str, keys: &str) -> Store {
        let ring = Arc::new(KeyRing::open(self.path(keys)).unwrap());
        Store::options().encryption(ring).open(self.path(name)).unwrap()
    }
}

fn clinic() -> Clinic {
    let clinic = Clinic { directory: tempfile::tempdir().unwrap() };
    for keys in ["from.keys", "to.keys"] {
        KeyRing::create(clinic.path(keys)).unwrap();
    }
    let store = clinic.open("from.tables", "from.keys");
    let patients = store.table::<Patient>().unwrap();
    for id in 0..20 {
        let (name, diagnosis) = (format!("n{id}"), format!("two broken ribs, {id}").into());
        patients.insert(&Patient { clinic: "north".into(), id, name, diagnosis }).unwrap();
    }
    patients.dynamic().insert(&DynamicEntity::new("north", "note").with("Text", "open")).unwrap();
    drop(patients);
    store.close().unwrap();
    clinic
}

fn holds(path: &Path, text: &str) -> bool {
    let file = fs::read(path).unwrap();
    file.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn without_keys_sealed_entities_are_left_out_by_name() {
    let clinic = clinic();
    let (from, file, to) = (clinic.text("from.tables"), clinic.text("out.jsonl"), clinic.text("to.tables"));
    let ran = tables(&["export", "Patients", "--store", &from, "-o", &file, "--entities-only"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("20 of `patient.Diagnosis`") && ran.err.contains("--keys"), "{}", ran.err);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    // What is not sealed can be had by name.
    let ran = tables(&["export", "Patients", "--store", &from, "--kind", "patient", "--select", "Name"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 20), "{}", ran.err);

    let rejects = clinic.text("rejects");
    let ran = tables(&["copy", "--write", &from, &to, "--rejects", &rejects]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("patient.Diagnosis"), "{}", ran.err);
}

#[test]
fn with_keys_values_are_opened_and_sealed_anew() {
    let clinic = clinic();
    let (from, file, to) = (clinic.text("from.tables"), clinic.text("out.jsonl"), clinic.text("to.tables"));
    let (keys, to_keys, rejects) = (clinic.text("from.keys"), clinic.text("to.keys"), clinic.text("rejects"));
    let copy = [
        "copy",
        "--write",
        &*from,
        &*to,
        "--keys",
        &*keys,
        "--target-keys",
        &*to_keys,
        "--rejects",
        &*rejects,
    ];
    // A table with rows that does not know the kind would keep the values open.
    let store = clinic.open("to.tables", "to.keys");
    let table = store.create_table("Patients").unwrap();
    table.insert(&DynamicEntity::new("south", "note")).unwrap();
    drop(table);
    store.close().unwrap();
    let ran = tables(&copy);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    let text = fs::read_to_string(&rejects).unwrap();
    assert!(text.contains("does not seal `Diagnosis`"), "{text}");
    assert!(!text.contains("ribs"), "{text}");

    let store = clinic.open("to.tables", "to.keys");
    store.drop_table("Patients").unwrap();
    store.close().unwrap();
    let ran = tables(&[&copy[..], &["--mode", "replace"]].concat());
    assert_eq!(ran.code, 0, "{} {} {}", ran.out, ran.err, fs::read_to_string(&rejects).unwrap_or_default());
    let store = clinic.open("to.tables", "to.keys");
    let patients = store.table::<Patient>().unwrap();
    let found = patients.get(Patient::by_name("north", "n7", 7)).unwrap().unwrap();
    assert_eq!(found.id, 7);
    let found = patients.get(Patient::key("north", 7)).unwrap().unwrap();
    assert!(found.diagnosis == Secret::from("two broken ribs, 7".to_owned()));
    drop((found, patients));
    store.close().unwrap();
    assert!(!holds(&clinic.path("to.tables").join("data.mdb"), "broken ribs"));

    // A file has them open, as it was asked to, and a store that knows the kind seals them again.
    let ran = tables(&["export", "Patients", "--store", &from, "--keys", &keys, "-o", &file]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(holds(Path::new(&file), "two broken ribs, 7"));
    let ran = tables(&["diff", &from, &file, "--table", "Patients", "--keys", &keys]);
    assert_eq!((ran.code, &*ran.out), (0, ""), "{}", ran.err);
    let ran = tables(&["diff", &from, &file, "--table", "Patients"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
}

#[derive(Entity)]
#[entity(table = "Scans", kind = "scan")]
#[key(partition = "{clinic}", row = "scan_{id:06}")]
struct Scan {
    clinic: String,
    id: u32,
    #[encrypt]
    picture: SealedBlob,
}

/// Returns the bytes of a picture: more than one segment, and other ones for each.
fn picture(id: u32) -> Vec<u8> {
    format!("broken rib {id} ").repeat(7_000).into_bytes()
}

fn pictures(clinic: &Clinic, store: &str, keys: &str) -> Vec<(Vec<u8>, String)> {
    let store = clinic.open(store, keys);
    let scans = store.table::<Scan>().unwrap();
    let mut found = Vec::new();
    for scan in scans.all() {
        let scan = scan.unwrap();
        let content_type = if scan.picture.is_empty() {
            String::new()
        } else {
            scan.picture.open(&store).unwrap().content_type().to_owned()
        };
        found.push((scan.picture.get(&store).unwrap(), content_type));
    }
    drop(scans);
    store.close().unwrap();
    found
}

#[test]
fn sealed_blobs_come_along_with_keys_and_are_left_out_by_name_without() {
    let clinic = clinic();
    let store = clinic.open("from.tables", "from.keys");
    let scans = store.table::<Scan>().unwrap();
    for id in 0..5 {
        let picture = store.upload_sealed("image/dicom", &*picture(id)).unwrap();
        scans.insert(&Scan { clinic: "north".into(), id, picture }).unwrap();
    }
    drop(scans);
    store.close().unwrap();
    let wanted: Vec<_> = (0..5).map(|id| (picture(id), "image/dicom".to_owned())).collect();
    let (from, file) = (clinic.text("from.tables"), clinic.text("Scans.jsonl"));
    let (keys, to_keys, rejects) = (clinic.text("from.keys"), clinic.text("to.keys"), clinic.text("rejects"));
    let copy = |from: &str, to: &str, more: &[&str]| {
        let copy = ["copy", "--write", from, to, "--table", "Scans", "--rejects", &rejects];
        tables(&[&copy[..], more].concat())
    };

    let ran = copy(&from, &clinic.text("without.tables"), &[]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("5 of `scan.Picture`"), "{}", ran.err);
    let both = ["--keys", &*keys, "--target-keys", &*to_keys];
    let ran = copy(&from, &clinic.text("to.tables"), &both);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("\"written\":5,") && ran.out.contains("\"differences\":0,"), "{}", ran.out);
    assert!(pictures(&clinic, "to.tables", "to.keys") == wanted);
    assert!(!holds(&clinic.path("to.tables").join("data.mdb"), "broken rib 3"));

    // A file has them open beside it; what knows the kind seals them again, and what does not takes none.
    let ran = copy(&from, &file, &["--keys", &keys]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let contents = fs::read_dir(clinic.path("Scans.jsonl.blobs")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(contents.filter(|path| path.is_file() && holds(path, "broken rib")).count(), 5);
    let filed = clinic.open("filed.tables", "to.keys");
    let known = Scan { clinic: "a".into(), id: 0, picture: SealedBlob::default() };
    filed.table::<Scan>().unwrap().insert(&known).unwrap();
    filed.close().unwrap();
    let ran = copy(&file, &clinic.text("filed.tables"), &["--keys", &to_keys]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, fs::read_to_string(&rejects).unwrap());
    assert!(pictures(&clinic, "filed.tables", "to.keys")[1..] == wanted);
    let ran = tables(&["diff", &from, &file, "--table", "Scans", "--keys", &keys]);
    assert_eq!((ran.code, &*ran.out), (0, ""), "{}", ran.err);
    let ran = copy(&file, &clinic.text("unsealed.tables"), &[]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    let text = fs::read_to_string(&rejects).unwrap();
    assert!(text.lines().count() == 5 && text.contains("the blob of `Picture` is to be sealed"), "{text}");
}

/// The longest piece that was printed at once, and how much was.
#[derive(Default)]
struct Pieces {
    longest: usize,
    all: usize,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.longest = self.longest.max(bytes.len());
        self.all += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn one_moment_of_opened_values_is_printed_by_pieces() {
    let clinic = clinic();
    let store = clinic.open("from.tables", "from.keys");
    let patients = store.table::<Patient>().unwrap();
    for id in 100..500 {
        let diagnosis = "x".repeat(30_000).into();
        patients.insert(&Patient { clinic: "south".into(), id, name: String::new(), diagnosis }).unwrap();
    }
    drop(patients);
    store.close().unwrap();
    let (from, keys) = (clinic.text("from.tables"), clinic.text("from.keys"));
    let mut pieces = Pieces::default();
    let export = ["tables", "export", "Patients", "--consistent", "--store", &from, "--keys", &keys];
    let exit = Cli::new().run_with(export, &mut pieces, &mut Vec::new(), false);
    assert_eq!(exit.code(), 0);
    assert!(pieces.all > 12_000_000 && pieces.longest < 6_000_000, "{} of {}", pieces.longest, pieces.all);
}

#[test]
fn a_row_that_is_written_as_it_is_has_no_sealed_value_open() {
    let clinic = clinic();
    let (from, to) = (clinic.text("from.tables"), clinic.text("to.tables"));
    let (keys, to_keys, rejects) = (clinic.text("from.keys"), clinic.text("to.keys"), clinic.text("rejects"));
    let both = ["--keys", &*keys, "--target-keys", &*to_keys];
    let copy = ["copy", "--write", &*from, &*to, "--raw", "--rejects", &*rejects];
    let ran = tables(&[&copy[..], &both].concat());
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    let text = fs::read_to_string(&rejects).unwrap_or_default();
    assert!(text.contains("leave --raw out") && !text.contains("ribs"), "{text}");
    assert!(!holds(&clinic.path("to.tables").join("data.mdb"), "broken ribs"));

    let put = ["put", "--write", "Patients/patient", "--raw", "--store", &from, "--keys", &keys];
    let ran = tables(&[&put[..], &["clinic=north", "id=99", "name=n", "diagnosis=ribs of glass"]].concat());
    assert!(ran.code == 2 && ran.err.contains("seals `Diagnosis`"), "{} {}", ran.code, ran.err);
    assert!(!holds(&clinic.path("from.tables").join("data.mdb"), "ribs of glass"));
}
