//! Copies mended, and jobs gone on with, by what is noted of a kind: without its struct.

use std::path::PathBuf;
use std::sync::Arc;

use table_cli::Cli;
use table_core::crypt::{KeyRing, Scope, Secret};
use table_core::{DynamicEntity, Entity, IfMatch, Query, Store, Value};

use crate::fixture::copy;
use crate::kinds::{Employee, Headcount, Product};
use crate::run::{on, run, tables};

#[derive(Entity)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{clinic}", row = "patient_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
#[index(by_number, row = "number_{number:blind}", unique, copy = keys)]
struct Patient {
    clinic: String,
    id: u32,
    name: String,
    #[encrypt]
    diagnosis: Secret<String>,
    #[encrypt(blind)]
    number: Secret<String>,
}

fn patient(id: u32) -> Patient {
    let (name, diagnosis, number) =
        (format!("n{id}"), format!("two broken ribs, {id}").into(), id.to_string().into());
    Patient { clinic: "north".into(), id, name, diagnosis, number }
}

struct Clinic {
    directory: tempfile::TempDir,
}

impl Clinic {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn open(&self) -> Store {
        let ring = Arc::new(KeyRing::open(self.path("clinic.keys")).unwrap());
        Store::options().encryption(ring).open(self.path("clinic.tables")).unwrap()
    }

    fn run(&self, arguments: &[&str], with_keys: bool) -> crate::run::Ran {
        let (store, keys) = (self.text("clinic.tables"), self.text("clinic.keys"));
        let keys = if with_keys { vec!["--keys", &*keys] } else { Vec::new() };
        tables(&[arguments, &["--store", &store], &keys].concat())
    }
}

fn clinic() -> Clinic {
    let clinic = Clinic { directory: tempfile::tempdir().unwrap() };
    KeyRing::create(clinic.path("clinic.keys")).unwrap();
    let store = clinic.open();
    store.table::<Patient>().unwrap().bulk_insert((0..20).map(patient)).unwrap().into_result().unwrap();
    store.close().unwrap();
    clinic
}

#[test]
fn sealed_copies_are_mended_with_the_keys_and_left_without() {
    let clinic = clinic();
    let store = clinic.open();
    let raw = store.dynamic_table("Patients").unwrap().raw();
    // One copy is gone, one lies under another name than its entity has, and a token leads nowhere any more.
    raw.delete("north", "name_n3_000003").unwrap();
    let renamed = DynamicEntity::new("north", "patient_000004").with("Name", "n44");
    raw.merge(&renamed, IfMatch::Any).unwrap();
    let rows = raw.query(&Query::new()).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    let is_token = |row: &&DynamicEntity| {
        row.row_key().starts_with("number_") && row.get("Id").and_then(Value::as_i64) == Some(7)
    };
    raw.delete("north", rows.iter().find(is_token).unwrap().row_key()).unwrap();
    drop(raw);
    store.close().unwrap();

    let before = clinic.run(&["query", "Patients", "--copies"], false).out;
    let ran = clinic.run(&["repair", "--write"], false);
    assert_eq!(ran.code, 4, "{}", ran.shown());
    assert!(ran.out.starts_with("{\"mended\":0,"), "{}", ran.shown());
    assert!(ran.err.contains("give --keys FILE") && ran.err.contains("Diagnosis"), "{}", ran.err);
    assert_eq!(clinic.run(&["query", "Patients", "--copies"], false).out, before);

    let ran = clinic.run(&["repair", "--write"], true);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"mended\":4,\"left\":0}\n", 0), "{}", ran.err);
    let store = clinic.open();
    let patients = store.table::<Patient>().unwrap();
    assert!(patients.check().unwrap().is_sound());
    assert!(patients.get(Patient::by_name("north", "n4", 4)).unwrap().is_none());
    for id in 0..20 {
        let name = if id == 4 { "n44".to_owned() } else { format!("n{id}") };
        let found = patients.get(Patient::by_name("north", name, id)).unwrap().unwrap();
        assert!(found.diagnosis == Secret::from(format!("two broken ribs, {id}")));
        let found = patients.get(Patient::by_number("north", Secret::from(id.to_string()))).unwrap().unwrap();
        assert_eq!(found.id, id);
    }
}

#[test]
fn values_are_sealed_anew_by_a_job_that_a_program_began() {
    let clinic = clinic();
    let store = clinic.open();
    store.encryption().unwrap().rotate(&Scope::store()).unwrap();
    let patients = store.table::<Patient>().unwrap();
    let mut job = patients.reencrypt().unwrap().steps_of(5);
    job.step().unwrap();
    drop((job, patients));
    store.close().unwrap();
    let resume = ["jobs", "resume", "--write", "Patients", "re-encrypt", "patient"];
    let ran = clinic.run(&resume, false);
    assert!(ran.code == 1 && ran.err.contains("--keys FILE"), "{}", ran.shown());
    let ran = clinic.run(&resume, true);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(ran.err.contains("has ended: 20 changed"), "{}", ran.err);
    let store = clinic.open();
    let old = store.encryption().unwrap().keys().unwrap().into_iter().find(|key| !key.current).unwrap();
    store.encryption().unwrap().destroy(old.handle).unwrap();
    assert!(store.table::<Patient>().unwrap().check().unwrap().is_sound());
}

#[test]
fn rows_that_many_entities_give_and_those_that_follow_are_mended() {
    let (_directory, place) = copy();
    let store = Store::open(place.store()).unwrap();
    let company = store.dynamic_table("Company").unwrap().raw();
    let wrong = DynamicEntity::new("Sales", "headcount").with("Employees", 9_i64);
    company.merge(&wrong, IfMatch::Any).unwrap();
    company.delete("Sales", "project_apollo").unwrap();
    store.dynamic_table("Names").unwrap().raw().delete("Hall", "Sales_000042").unwrap();
    drop(company);
    store.close().unwrap();
    let ran = on(place.store(), &["repair", "--write", "--keys", place.ring()]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let store = Store::open(place.store()).unwrap();
    let headcount = store.table::<Headcount>().unwrap().get(Headcount::key("Sales")).unwrap().unwrap();
    assert_eq!(headcount.employees, 3);
    let staff = store.table::<Employee>().unwrap();
    assert!(staff.check().unwrap().is_sound(), "{:?}", staff.check());
    drop((staff, headcount));
    store.close().unwrap();
    assert_eq!(on(place.store(), &["get", "Names", "Hall", "Sales_000042"]).code, 0);
}

/// A product, before anybody wanted it by price.
mod before {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(table = "Shop", kind = "product")]
    #[key(partition = "{shelf}", row = "product_{id:04}")]
    #[index(by_name, row = "name_{name}_{id:04}")]
    pub(super) struct Product {
        pub(super) shelf: String,
        pub(super) id: u32,
        pub(super) name: String,
        pub(super) cents: u32,
        pub(super) stock: i32,
    }
}

#[test]
fn what_takes_code_names_the_line_and_the_cure_which_works() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("shop.tables");
    let store = Store::open(&path).unwrap();
    let product = |id: u32| before::Product {
        shelf: "home".into(),
        id,
        name: format!("n{id}"),
        cents: 100,
        stock: i32::from(id.is_multiple_of(2)),
    };
    store
        .table::<before::Product>()
        .unwrap()
        .bulk_insert((0..100).map(product))
        .unwrap()
        .into_result()
        .unwrap();
    store.table::<Product>().unwrap().rebuild().unwrap().steps_of(10).step().unwrap();
    store.close().unwrap();
    let store = path.to_str().unwrap();
    let resume = ["jobs", "resume", "--write", "Shop", "rebuild", "product", "by_price"];
    let before = on(store, &["query", "Shop", "--copies"]).out;
    for arguments in [&resume[..], &["jobs", "cancel", "--write", "Shop", "rebuild", "product", "by_price"]] {
        let ran = on(store, arguments);
        assert_eq!(ran.code, 1, "{}", ran.shown());
        assert!(ran.err.contains("`index by_price row ") && ran.err.contains(" when "), "{}", ran.err);
        assert!(ran.err.contains("`table_cli::Cli::new().kind::<Product>().run()`"), "{}", ran.err);
    }
    assert_eq!(on(store, &["query", "Shop", "--copies"]).out, before);

    let ran = run(Cli::new().kind::<Product>(), &[&resume[..], &["--store", store]].concat(), false);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let found = on(store, &["get", "Shop/product.by_price", "shelf=home", "cents=100", "id=2"]);
    assert_eq!(found.code, 0, "{}", found.shown());
    let found = on(store, &["get", "Shop/product.by_price", "shelf=home", "cents=100", "id=3"]);
    assert_eq!(found.code, 3, "{}", found.shown());
}

#[test]
fn an_index_that_is_being_made_is_given_up() {
    let (_directory, place) = copy();
    let cancel = ["jobs", "cancel", "--write", "Tickets", "rebuild", "ticket", "by_state"];
    let ran = on(place.store(), &cancel);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(!on(place.store(), &["jobs"]).out.contains("rebuild"));
    let ran = on(place.store(), &cancel);
    assert!(ran.code == 3 && ran.err.contains("there are:"), "{}", ran.shown());
}

/// Files and other stores bring products into a store of a program that has their struct.
#[test]
fn imports_and_copies_go_by_the_struct_where_a_layout_says_too_little() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (from, to, file) = (path("from.tables"), path("to.tables"), path("shop.jsonl"));
    let product = |id: u32| Product {
        shelf: "home".into(),
        id,
        name: format!("n{id}"),
        cents: 100 + id,
        stock: i32::from(id.is_multiple_of(2)),
    };
    let add_to = |path: &str, products: std::ops::Range<u32>| {
        let store = Store::open(path).unwrap();
        let table = store.table::<Product>().unwrap();
        table.bulk_insert(products.map(product)).unwrap().into_result().unwrap();
        store.close().unwrap();
    };
    add_to(&from, 0..40);
    add_to(&to, 0..10);
    let exported = on(&from, &["export", "Shop", "-o", &file]);
    assert_eq!(exported.code, 0, "{}", exported.shown());
    let by_struct = |arguments: &[&str]| run(Cli::new().kind::<Product>(), arguments, false);
    let import = ["import", "--write", "Shop", &file, "--store", &to];

    // Without the struct nothing is taken.
    let refused = tables(&import);
    assert!(refused.code == 1 && refused.out.contains("\"written\":0,"), "{}", refused.shown());
    let skipped = by_struct(&[&import[..], &["--mode", "skip"]].concat());
    assert_eq!(skipped.code, 0, "{}", skipped.shown());
    assert!(skipped.out.contains("\"written\":30,\"skipped\":10,"), "{}", skipped.shown());
    let inserted = by_struct(&import);
    assert!(inserted.code == 1 && inserted.out.contains("\"rejected\":40,"), "{}", inserted.shown());
    for mode in ["merge", "replace"] {
        let again = by_struct(&[&import[..], &["--mode", mode]].concat());
        assert_eq!(again.code, 0, "{}", again.shown());
        assert!(again.out.contains("\"written\":40,"), "{}", again.shown());
    }
    let copied = by_struct(&["copy", "--write", &from, &to, "--mode", "replace"]);
    assert_eq!(copied.code, 0, "{}", copied.shown());

    let store = Store::open(&to).unwrap();
    let table = store.table::<Product>().unwrap();
    assert!(table.check().unwrap().is_sound());
    assert_eq!(table.by_price().shelf("home").count().unwrap(), 20);
}
