//! `tables import`.

use std::fs;
use std::path::{Path, PathBuf};

use table_core::{DynamicEntity, Store};

use crate::run::{Ran, tables};
use crate::store::{Employee, company, employee, rows};

/// A store and a file beside it.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        Store::open(place.store()).unwrap().close().unwrap();
        place
    }

    fn store(&self) -> PathBuf {
        self.directory.path().join("to.tables")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn import(&self, table: &str, text: &str, more: &[&str]) -> Ran {
        let file = self.path("data");
        fs::write(&file, text).unwrap();
        self.import_file(table, &file, more)
    }

    fn import_file(&self, table: &str, file: &Path, more: &[&str]) -> Ran {
        let (store, file) = (self.store(), file.to_str().unwrap());
        tables(&[&["import", "--write", "--store", store.to_str().unwrap(), table, file], more].concat())
    }

    fn rejects(&self) -> String {
        fs::read_to_string(self.path("data.rejects.jsonl")).unwrap_or_default()
    }
}

fn line(row: &str, age: i32) -> String {
    format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"Age\":{age}}}\n")
}

fn entity(row: &str, age: i32) -> DynamicEntity {
    DynamicEntity::new("p", row).with("Age", age)
}

#[test]
fn a_mode_says_what_becomes_of_entities_that_are_there() {
    let text = [line("1", 1), line("2", 2), line("1", 3), line("4", 4)].concat();
    for (mode, code, counts, age, has_name) in [
        ("insert", 1, "\"written\":1,\"skipped\":0,\"copies\":0,\"rejected\":3", 0, true),
        ("skip", 0, "\"written\":1,\"skipped\":3,\"copies\":0,\"rejected\":0", 0, true),
        ("merge", 0, "\"written\":4,\"skipped\":0,\"copies\":0,\"rejected\":0", 3, true),
        ("replace", 0, "\"written\":4,\"skipped\":0,\"copies\":0,\"rejected\":0", 3, false),
    ] {
        let place = Place::new();
        let store = Store::open(place.store()).unwrap();
        let table = store.create_table("Any").unwrap();
        for row in ["1", "2"] {
            table.insert(&entity(row, 0).with("Name", "x")).unwrap();
        }
        drop(table);
        store.close().unwrap();
        let ran = place.import("Any", &text, &["--mode", mode]);
        assert_eq!(ran.code, code, "{mode} {}", ran.err);
        assert!(ran.out.contains(counts), "{mode} {}", ran.out);
        let rows = rows(&place.store(), "Any");
        assert_eq!(rows.len(), 3, "{mode}");
        assert_eq!(rows[0].get("Age").unwrap().as_i32(), Some(age), "{mode}");
        assert_eq!(rows[0].get("Name").is_some(), has_name, "{mode}");
        assert_eq!(place.rejects().lines().count(), if mode == "insert" { 3 } else { 0 });
    }
}

#[test]
fn what_is_not_taken_is_written_with_line_code_and_sentence() {
    let place = Place::new();
    let text = [
        line("1", 1),
        "{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"Age@odata.type\":\"Edm.Int32\",\"Age\":\"old\"}\n".into(),
        line("a/b", 2),
        line("1", 3),
        "{\"PartitionKey\":\"p\"".into(),
    ]
    .concat();
    let ran = place.import("Any", &text, &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("\"read\":5,\"written\":1,"), "{}", ran.out);
    let rejects = place.rejects();
    let lines: Vec<_> = rejects.lines().collect();
    let starts = [
        "{\"line\":2,\"column\":69,\"code\":\"InvalidInput\",\"message\":\"property `Age` is no Edm.Int32",
        "{\"line\":3,\"code\":\"OutOfRangeInput\",\"partitionKey\":\"p\",\"rowKey\":\"a/b\",\"message\":\"cannot insert into table `Any`",
        "{\"line\":4,\"code\":\"EntityAlreadyExists\",\"partitionKey\":\"p\",\"rowKey\":\"1\",\"message\":\"cannot insert",
        "{\"line\":5,\"column\":20,\"code\":\"InvalidInput\",\"message\":\"",
    ];
    assert_eq!(lines.len(), starts.len(), "{rejects}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
    assert_eq!(rows(&place.store(), "Any"), [entity("1", 1)]);
    assert!(!place.path("data.journal").exists());
}

#[test]
fn entities_of_declared_kinds_get_their_copies_and_copies_are_left_out() {
    let place = Place::new();
    let from = place.path("from.tables");
    company(&from, 250);
    let file = place.path("data");
    let export = ["export", "Company", "--store", from.to_str().unwrap(), "-o", file.to_str().unwrap()];
    assert_eq!(tables(&export).code, 0);
    // The target knows the kind, and has an employee whose e-mail another one is to have.
    let store = Store::open(place.store()).unwrap();
    let staff = store.table::<Employee>().unwrap();
    let mut other = employee(2);
    other.id = 900_000;
    staff.insert(&other).unwrap();
    store.close().unwrap();

    let ran = place.import_file("Company", &file, &[]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.out.contains("\"read\":501,\"written\":250,\"skipped\":0,\"copies\":250,\"rejected\":1,"),
        "{}",
        ran.out
    );
    assert!(place.rejects().contains("\"rowKey\":\"empid_000002\""), "{}", place.rejects());
    let store = Store::open(place.store()).unwrap();
    let staff = store.table::<Employee>().unwrap();
    for id in [1, 3, 4, 250] {
        let found = staff.get(Employee::by_email(&*employee(id).department, &*employee(id).email)).unwrap();
        assert_eq!(found.map(|found| found.email.clone()), Some(employee(id).email));
    }
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn csv_without_types_has_those_of_the_kind() {
    let place = Place::new();
    let store = Store::open(place.store()).unwrap();
    store.table::<Employee>().unwrap().insert(&employee(2)).unwrap();
    store.close().unwrap();
    // By itself the e-mail would be a number.
    let csv = "PartitionKey,RowKey,EntityType,Id,Email,Age\nSales,empid_000008,employee,8,12,31\nSales,note,,,12,31\n";
    let ran = place.import("Company", csv, &[]);
    assert_eq!(ran.code, 0, "{} {} {}", ran.out, ran.err, place.rejects());
    let found = rows(&place.store(), "Company");
    let of = |key: &str| found.iter().find(|row| row.row_key() == key).unwrap();
    assert_eq!(of("empid_000008").get("Email").unwrap().as_str(), Some("12"));
    assert_eq!(of("email_12").get("Age").unwrap().as_i64(), Some(31));
    assert_eq!(of("note").get("Email").unwrap().as_i32(), Some(12));
}

#[test]
fn a_file_of_the_other_tools_is_taken() {
    let place = Place::new();
    // As Storage Explorer writes it: types of absent values are there or not, and some types are missing.
    let csv = "PartitionKey,RowKey,Timestamp,Age,Age@type,Born,Born@type,Name,Name@type\r\n\
               p,1,2025-09-22T09:45:35.2743359Z,41,Int32,1984-05-01T00:00:00Z,DateTime,Jun,String\r\n\
               p,2,2025-09-22T09:45:35.2743359Z,42,,,DateTime,007,String\r\n";
    let ran = place.import("FromCsv", csv, &[]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    let ran = place.import("FromCsv", &csv.replace(",,DateTime", ",,"), &["--mode", "replace"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let found = rows(&place.store(), "FromCsv");
    assert_eq!(found[1], DynamicEntity::new("p", "2").with("Age", 42).with("Name", "007"));

    // As AzCopy 7.3 writes it: the service's answer, with minimal metadata.
    let page = "{\"odata.metadata\":\"https://acme.table.core.windows.net/$metadata#Any\",\"value\":[\
                {\"odata.etag\":\"W/\\\"datetime'2014-07-31T18%3A00%3A00.1234567Z'\\\"\",\"PartitionKey\":\"p\",\"RowKey\":\"1\",\
                \"Timestamp\":\"2014-07-31T18:00:00.1234567Z\",\"Salary@odata.type\":\"Edm.Int64\",\"Salary\":\"52000\"}]}";
    let ran = place.import("FromPage", page, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!(rows(&place.store(), "FromPage"), [DynamicEntity::new("p", "1").with("Salary", 52_000_i64)]);
}

#[test]
fn what_can_not_be_meant_is_refused_and_nothing_written() {
    let place = Place::new();
    let store = place.store();
    let store = store.to_str().unwrap();
    let file = place.path("data");
    fs::write(&file, line("1", 1)).unwrap();
    let file = file.to_str().unwrap();
    for (arguments, code, word) in [
        (&["--store", store, "Any", file][..], 2, "--write"),
        (&["--write", "--store", store, "Any", "/no/such/file"], 3, "no such file"),
        (&["--write", "--store", "/no/such/store", "Any", file], 3, "no store"),
        (&["--write", "--store", store, "A", file], 1, "3 to 63"),
        (&["--write", "--store", store, "Any", "-", "--resume"], 2, "pipe"),
        (&["--write", "--store", store, "Any", store], 1, "data.mdb"),
    ] {
        let ran = tables(&[&["import"], arguments].concat());
        if word == "data.mdb" {
            assert_ne!(ran.code, 0, "a directory is no file");
            continue;
        }
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?} {}", ran.err);
        assert!(ran.err.contains(word), "{arguments:?} {}", ran.err);
    }
    let listed = tables(&["ls", "--store", store]);
    assert!(!listed.out.contains("\"A\""), "{}", listed.out);
}

#[test]
fn what_is_read_is_no_file_of_rejects() {
    let place = Place::new();
    let file = place.path("data");
    for command in [&["import", "Any"][..], &["copy"]] {
        fs::write(&file, line("1", 1)).unwrap();
        let (store, file) = (place.store(), file.to_str().unwrap());
        let store = store.to_str().unwrap();
        let more = match command {
            ["copy"] => vec![file, store, "--table", "Any"],
            _ => vec![file, "--store", store],
        };
        let ran = tables(&[command, &more[..], &["--write", "--rejects", file]].concat());
        assert_eq!(ran.code, 2, "{command:?} {} {}", ran.out, ran.err);
        assert!(ran.err.contains("can't be the file of rejects"), "{}", ran.err);
        assert_eq!(fs::read_to_string(file).unwrap(), line("1", 1), "{command:?}");
    }
}

#[test]
fn what_can_not_be_read_makes_no_table() {
    let place = Place::new();
    let ran = place.import("Any", "\u{1f}\u{8b}", &[]);
    assert_ne!(ran.code, 0);
    fs::write(place.path("data"), [0x1f, 0x8b, 8, 0]).unwrap();
    let ran = place.import_file("Any", &place.path("data"), &[]);
    assert!(ran.code == 2 && ran.err.contains("compressed"), "{}", ran.err);
    assert_eq!(tables(&["ls", "--store", place.store().to_str().unwrap()]).out, "");
}
