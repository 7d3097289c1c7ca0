//! `tables copy`.

use std::fs;
use std::path::Path;

use table_core::blob::Blob;
use table_core::{DynamicEntity, Store};

use crate::run::{Ran, tables};
use crate::store::{Employee, Page, Random, company, rows};

fn copy(from: &Path, to: &Path, more: &[&str]) -> Ran {
    let rejects = to.with_extension("rejects");
    let (from, to, rejects) = (from.to_str().unwrap(), to.to_str().unwrap(), rejects.to_str().unwrap());
    tables(&[&["copy", "--write", from, to, "--rejects", rejects], more].concat())
}

fn diff(a: &Path, b: &Path, more: &[&str]) -> Ran {
    tables(&[&["diff", a.to_str().unwrap(), b.to_str().unwrap()], more].concat())
}

#[test]
fn a_whole_store_is_copied_and_compared() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from.tables"), directory.path().join("to.tables"));
    company(&from, 1_500);
    let store = Store::open(&from).unwrap();
    let table = store.create_table("Anything").unwrap();
    let mut random = Random(11);
    for number in 0..500 {
        table.insert(&random.entity(number)).unwrap();
    }
    drop(table);
    store.close().unwrap();

    let ran = copy(&from, &to, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    let lines: Vec<_> = ran.out.lines().collect();
    assert!(lines[0].starts_with("{\"kind\":\"table\",\"name\":\"Anything\",\"read\":500,\"written\":500,\"skipped\":0,\"copies\":0,\"rejected\":0,\"differences\":0,\"digest\":\""), "{}", ran.out);
    assert!(
        lines[1].starts_with("{\"kind\":\"table\",\"name\":\"Company\",\"read\":3001,\"written\":3001,"),
        "{}",
        ran.out
    );
    let digest = lines[0].split("digest\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(lines[0].ends_with(&format!("\"targetDigest\":\"{digest}\"}}")), "{}", ran.out);
    assert_eq!(rows(&from, "Company"), rows(&to, "Company"));
    let ran = diff(&from, &to, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    // The target has noted the kinds, and goes on keeping copies.
    let store = Store::open(&to).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
    let company = store.dynamic_table("Company").unwrap();
    let change = DynamicEntity::new("Sales", "empid_000002").with("Email", "new@contoso.com");
    company.merge(&change, table_core::IfMatch::Any).unwrap();
    assert!(company.get("Sales", "email_new@contoso.com").unwrap().is_some());
    company
        .merge(
            &DynamicEntity::new("Sales", "empid_000002").with("Email", "e2@contoso.com"),
            table_core::IfMatch::Any,
        )
        .unwrap();
    drop(company);
    store.close().unwrap();
    let alone = directory.path().join("alone.tables");
    let ran = copy(&from, &alone, &["--entities-only", "--table", "Company"]);
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    assert!(ran.out.contains("\"read\":1501,\"written\":1501,\"skipped\":0,\"copies\":1500,"), "{}", ran.out);
    assert_eq!(rows(&from, "Company"), rows(&alone, "Company"));

    // A second time every entity is there.
    let ran = copy(&from, &to, &["--table", "anything"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("\"written\":0,") && ran.out.contains("\"rejected\":500,\"differences\":0"),
        "{}",
        ran.out
    );
    let ran = copy(&from, &to, &["--mode", "skip"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("\"skipped\":500,"), "{}", ran.out);
    let ran = copy(&from, &to, &["--mode", "replace"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
}

#[test]
fn a_target_that_knows_the_kind_makes_the_copies() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from.tables"), directory.path().join("to.tables"));
    company(&from, 300);
    let store = Store::open(&to).unwrap();
    let staff = store.table::<Employee>().unwrap();
    let other = Employee { department: "Zoo".into(), id: 1, email: "z".into(), age: 1 };
    staff.insert(&other).unwrap();
    drop(staff);
    store.close().unwrap();
    let ran = copy(&from, &to, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    assert!(
        ran.out.contains("\"written\":301,\"skipped\":0,\"copies\":300,\"rejected\":0,\"differences\":0,"),
        "{}",
        ran.out
    );
    // So it does with a file, whether copies are in it or not.
    for more in [&[][..], &["--entities-only"]] {
        let file = directory.path().join("Company.jsonl");
        assert_eq!(copy(&from, &file, more).code, 0);
        let filed = directory.path().join(format!("filed{}.tables", more.len()));
        let store = Store::open(&filed).unwrap();
        store.table::<Employee>().unwrap().insert(&other).unwrap();
        store.close().unwrap();
        let ran = copy(&file, &filed, &[]);
        assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
        assert!(
            ran.out.contains("\"written\":301,") && ran.out.contains("\"differences\":0,"),
            "{}",
            ran.out
        );
    }
    let ran = diff(&from, &to, &["--count"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.out,
        "{\"table\":\"Company\",\"entities\":601,\"onlyFirst\":0,\"onlySecond\":2,\"changed\":0}\n"
    );
}

#[test]
fn files_and_directories_of_files_are_copied() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let from = path("from.tables");
    company(&from, 50);
    for name in ["Company.jsonl", "Company.csv", "Company.json"] {
        let (file, to) = (path(name), path(&format!("{name}.tables")));
        assert_eq!(copy(&from, &file, &[]).code, 0);
        let ran = copy(&file, &to, &[]);
        assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
        assert_eq!(rows(&from, "Company"), rows(&to, "Company"), "{name}");
        assert_eq!(diff(&file, &from, &[]).code, 0);
    }
    let (dump, to) = (path("dump"), path("dumped.tables"));
    let export = ["export", "--all", "-o", dump.to_str().unwrap(), "--store", from.to_str().unwrap()];
    assert_eq!(tables(&export).code, 0);
    let ran = copy(&dump, &to, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    assert_eq!(diff(&dump, &to, &[]).code, 0);
    let ran = copy(&dump, &to, &["--table", "Nothing"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let ran = copy(&dump, &path("x.csv"), &[]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    let ran = copy(&from, &from, &[]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[test]
fn blobs_come_along() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let from = path("from.tables");
    let store = Store::open(&from).unwrap();
    let pages = store.table::<Page>().unwrap();
    let shared = store.upload("image/png", &b"shared"[..]).unwrap();
    for number in 0..10 {
        let own = vec![u8::try_from(number).unwrap(); 100_000];
        let picture = if number < 5 { shared } else { store.upload("image/jpeg", &*own).unwrap() };
        pages.insert(&Page { album: "a".into(), number, picture }).unwrap();
    }
    pages.insert(&Page { album: "a".into(), number: 99, picture: Blob::default() }).unwrap();
    drop(pages);
    store.close().unwrap();

    let pictures = |store: &Path| {
        let store = Store::open(store).unwrap();
        let pages = store.table::<Page>().unwrap();
        let read = |page: table_core::Result<table_core::Stored<Page>>| {
            let page = page.unwrap();
            (page.number, page.picture.get(&store).unwrap())
        };
        pages.all().into_iter().map(read).collect::<Vec<_>>()
    };
    let wanted = pictures(&from);
    assert_eq!(wanted.len(), 11);

    let to = path("to.tables");
    let ran = copy(&from, &to, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    assert_eq!(pictures(&to), wanted);
    assert_eq!(diff(&from, &to, &[]).code, 0);

    let (file, filed) = (path("Albums.jsonl"), path("filed.tables"));
    assert_eq!(copy(&from, &file, &[]).code, 0);
    let contents = fs::read_dir(path("Albums.jsonl.blobs")).unwrap().count();
    assert_eq!(contents, 6 + 1, "six contents and the directory of references");
    let ran = copy(&file, &filed, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    assert_eq!(pictures(&filed), wanted);
    assert_eq!(diff(&file, &to, &[]).code, 0);

    // A content is damaged, another one missing.
    let mut names: Vec<_> =
        fs::read_dir(path("Albums.jsonl.blobs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|name| name.is_file() && fs::metadata(name).unwrap().len() == 100_000);
    fs::write(&names[0], vec![9; 100_000]).unwrap();
    fs::remove_file(&names[1]).unwrap();
    let broken = path("broken.tables");
    let ran = copy(&file, &broken, &[]);
    assert_eq!(ran.code, 1, "{} {}", ran.err, ran.out);
    assert!(
        ran.out.contains("\"written\":9,") && ran.out.contains("\"rejected\":2,\"differences\":2"),
        "{}",
        ran.out
    );
    let rejects = fs::read_to_string(path("broken.rejects")).unwrap();
    assert!(rejects.contains("has other contents") && rejects.contains("has no contents"), "{rejects}");
    // Without contents an output has no place for them.
    let ran = tables(&["export", "Albums", "--store", from.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("give -o FILE"), "{}", ran.err);
}

#[test]
fn a_difference_is_told_by_its_names() {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (directory.path().join("a.tables"), directory.path().join("b.tables"));
    for (path, rows) in [
        (&a, [("1", 1, "x"), ("2", 2, "x"), ("3", 3, "x")]),
        (&b, [("2", 2, "x"), ("3", 4, "y"), ("4", 4, "x")]),
    ] {
        let store = Store::open(path).unwrap();
        let table = store.create_table("Any").unwrap();
        for (row, age, name) in rows {
            let entity = DynamicEntity::new("p", row).with("Age", age).with("Name", name).with("Same", 1.5);
            table.insert(&entity).unwrap();
        }
    }
    let store = Store::open(&b).unwrap();
    store.create_table("More").unwrap();
    store.close().unwrap();
    let ran = diff(&a, &b, &[]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(
        ran.out,
        "{\"table\":\"Any\",\"partitionKey\":\"p\",\"rowKey\":\"1\",\"difference\":\"only in the first\",\"properties\":null}\n\
         {\"table\":\"Any\",\"partitionKey\":\"p\",\"rowKey\":\"3\",\"difference\":\"changed\",\"properties\":\"Age,Name\"}\n\
         {\"table\":\"Any\",\"partitionKey\":\"p\",\"rowKey\":\"4\",\"difference\":\"only in the second\",\"properties\":null}\n\
         {\"table\":\"More\",\"partitionKey\":null,\"rowKey\":null,\"difference\":\"table only in the second\",\"properties\":null}\n"
    );
    let ran = diff(&a, &b, &["--table", "Nothing"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let file = directory.path().join("Any.jsonl");
    fs::write(
        &file,
        "{\"PartitionKey\":\"p\",\"RowKey\":\"2\"}\n{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n",
    )
    .unwrap();
    let ran = diff(&file, &b, &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("line 2") && ran.err.contains("order of keys"), "{}", ran.err);
}

#[test]
fn a_second_copy_skips_or_replaces_what_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (crate::fixture::company(), directory.path().join("to.tables"));
    let (source, keys) = (Path::new(from.store()), ["--keys", from.ring()]);
    let ran = copy(source, &to, &keys);
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    let ran = copy(source, &to, &[&keys[..], &["--mode", "skip"]].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    for line in ran.out.lines() {
        assert!(line.contains("\"written\":0,") && line.contains("\"rejected\":0,"), "{line}");
    }
    // The rows of a wide entity are written as one.
    let ran = copy(source, &to, &[&keys[..], &["--mode", "replace"]].concat());
    let rejects = fs::read_to_string(to.with_extension("rejects")).unwrap_or_default();
    assert_eq!(ran.code, 0, "{} {} {rejects}", ran.err, ran.out);
    let weather = ran.out.lines().find(|line| line.contains("Weather")).unwrap();
    let counted = "\"read\":2,\"written\":2,\"skipped\":0,\"copies\":0,\"rejected\":0,\"differences\":0,";
    assert!(weather.contains(counted), "{weather}");
    let ran = diff(source, &to, &keys);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let weather = ["--table", "Weather", "--mode", "replace", "--raw"];
    let ran = copy(source, &to, &[&keys[..], &weather].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    assert!(ran.out.contains("\"written\":2,"), "{}", ran.out);
}

#[test]
fn values_that_say_no_type_are_compared_by_those_of_the_kind() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (file, to) = (path("Company.csv"), path("to.tables"));
    company(&to, 2);
    // By itself the e-mail would be a number.
    fs::write(&file, "PartitionKey,RowKey,EntityType,Email,Age\nSales,empid_000008,employee,12,31\n")
        .unwrap();
    let ran = copy(&file, &to, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("\"written\":1,") && ran.out.contains("\"differences\":0,"), "{}", ran.out);
    let ran = diff(&file, &to, &["--entities-only"]);
    assert!(!ran.out.contains("changed"), "{}", ran.out);
}

#[test]
fn a_file_that_was_cut_off_is_told_by_the_list_of_the_export() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (from, dump) = (path("from.tables"), path("dump"));
    company(&from, 50);
    let export = ["export", "--all", "-o", dump.to_str().unwrap(), "--store", from.to_str().unwrap()];
    assert_eq!(tables(&export).code, 0);
    let file = dump.join("Company.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let kept: Vec<_> = text.lines().take(90).collect();
    fs::write(&file, kept.join("\n")).unwrap();
    let ran = copy(&dump, &path("to.tables"), &[]);
    assert_eq!(ran.code, 4, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("`Company.jsonl` has 90 entities, and 101 by the list"), "{}", ran.err);
}

#[test]
fn a_store_is_not_copied_to_itself_by_another_name() {
    let directory = tempfile::tempdir().unwrap();
    let from = directory.path().join("from.tables");
    company(&from, 1);
    let other = directory.path().join("..").join(directory.path().file_name().unwrap()).join("from.tables");
    let ran = copy(&from, &other, &["--mode", "replace"]);
    assert!(ran.code == 2 && ran.err.contains("the same"), "{} {}", ran.code, ran.err);
}

#[test]
fn contents_that_a_stopped_export_left_half_are_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (from, file, to) = (path("from.tables"), path("Albums.jsonl"), path("to.tables"));
    let store = Store::open(&from).unwrap();
    let pages = store.table::<Page>().unwrap();
    for number in 0..3 {
        let picture = store.upload("image/png", &*vec![u8::try_from(number).unwrap(); 1_000]).unwrap();
        pages.insert(&Page { album: "a".into(), number, picture }).unwrap();
    }
    drop(pages);
    store.close().unwrap();
    assert_eq!(copy(&from, &file, &[]).code, 0);
    // As a kill leaves it: notes without their text.
    let notes = fs::read_dir(path("Albums.jsonl.blobs").join("refs")).unwrap();
    for note in notes {
        fs::write(note.unwrap().path(), "").unwrap();
    }
    assert_eq!(copy(&from, &file, &[]).code, 0);
    let ran = copy(&file, &to, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("\"written\":3,"), "{}", ran.out);
}
