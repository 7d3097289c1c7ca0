//! `tables export`.

use std::fs;

use table_core::{DynamicEntity, Store};

use crate::run::tables;
use crate::store::{Random, company, rows};

#[test]
fn a_table_is_written_in_each_form() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 1);
    let path = path.to_str().unwrap();
    let export = |more: &[&str]| {
        let ran = tables(&[&["export", "Company", "--store", path], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out
    };
    let odata = export(&["--kind", "employee", "--select", "Email,Age"]);
    assert_eq!(
        odata,
        "{\"PartitionKey\":\"Legal\",\"RowKey\":\"empid_000001\",\"Email\":\"e1@contoso.com\",\"Age\":21}\n"
            .replace("{\"P", &format!("{}\"P", odata.split("\"P").next().unwrap()))
    );
    assert_eq!(
        export(&["--kind", "employee", "--select", "Email,Age", "--as", "azure-csv"]),
        "PartitionKey,RowKey,Email,Email@type,Age,Age@type\nLegal,empid_000001,e1@contoso.com,String,21,Int32\n"
    );
    assert_eq!(
        export(&["--filter", "RowKey eq 'note'", "--select", "Text", "--as", "csv"]),
        "PartitionKey,RowKey,Text\nSales,note,\"a|b, \"\"c\"\"\nd\"\n"
    );
    assert_eq!(
        export(&["--filter", "RowKey eq 'note'", "--select", "Text", "--as", "md"]),
        "| PartitionKey | RowKey | Text |\n| --- | --- | --- |\n| Sales | note | a\\|b, \"c\" d |\n"
    );
    let page = export(&["--as", "azcopy"]);
    assert!(page.starts_with("{\"value\":[\n{") && page.ends_with("}\n]}\n"), "{page}");
    assert_eq!(export(&[]).lines().count(), 3);
    assert_eq!(export(&["--entities-only"]).lines().count(), 2);
    assert_eq!(export(&["--consistent"]).lines().count(), 3);
    let all = export(&["--as", "csv"]);
    assert_eq!(all.lines().next(), Some("PartitionKey,RowKey,Timestamp,EntityType,Age,Id,Email,Text"));
}

#[test]
fn what_can_not_be_meant_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 1);
    let path = path.to_str().unwrap();
    for (arguments, code, word) in [
        (&["Company", "--kind", "customer"][..], 3, "it has `employee`"),
        (&["Nothing"], 3, "no such table"),
        (&["Company", "--filter", "Age gg 3"], 1, "filter"),
        (&["--all"], 2, "--output"),
        (&[], 2, "TABLE"),
        (&["Company", "-o", "/no/such/directory/file"], 3, "no such file"),
    ] {
        let ran = tables(&[&["export", "--store", path], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?} {}", ran.err);
        assert!(ran.err.contains(word), "{arguments:?} {}", ran.err);
    }
}

#[test]
fn every_lossless_form_gives_back_what_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let from = directory.path().join("from.tables");
    let store = Store::open(&from).unwrap();
    let table = store.create_table("Anything").unwrap();
    let mut random = Random(7);
    let batches: Vec<_> = (0..10_000)
        .map(|number| random.entity(number))
        .map(|entity| table.batch(entity.partition_key()).insert(entity))
        .collect();
    store.bulk(batches).unwrap().into_result().unwrap();
    drop(table);
    store.close().unwrap();
    let wanted = rows(&from, "Anything");
    assert_eq!(wanted.len(), 10_000);

    for form in ["odata", "azure-csv", "azcopy"] {
        let file = directory.path().join(form);
        let file = file.to_str().unwrap();
        let ran =
            tables(&["export", "Anything", "--store", from.to_str().unwrap(), "--as", form, "-o", file]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let to = directory.path().join(format!("{form}.tables"));
        Store::open(&to).unwrap().close().unwrap();
        let ran = tables(&["import", "--write", "--store", to.to_str().unwrap(), "Anything", file]);
        assert_eq!(ran.code, 0, "{form} {} {}", ran.err, ran.out);
        let found = rows(&to, "Anything");
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted, "{form}");
        }
    }
}

#[test]
fn a_whole_store_becomes_a_directory_with_a_list() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 10);
    let store = Store::open(&path).unwrap();
    store.create_table("Empty").unwrap();
    store.close().unwrap();
    let dump = directory.path().join("dump");
    let (path, dump) = (path.to_str().unwrap(), dump.to_str().unwrap());
    let ran = tables(&["export", "--all", "-o", dump, "--entities-only", "--store", path]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("\"table\":\"Company\"") && ran.out.contains("\"entities\":11,"), "{}", ran.out);
    assert!(ran.out.contains("\"copies\":10,"), "{}", ran.out);
    let list = fs::read_to_string(format!("{dump}/manifest.jsonl")).unwrap();
    assert_eq!(list.lines().count(), 2);
    assert!(
        list.starts_with(
            "{\"table\":\"Company\",\"file\":\"Company.jsonl\",\"entities\":\"11\",\"digest\":\""
        ),
        "{list}"
    );
    assert_eq!(fs::read_to_string(format!("{dump}/Company.jsonl")).unwrap().lines().count(), 11);
    let again = tables(&["export", "--all", "-o", dump, "--store", path]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("not empty"), "{}", again.err);
}

#[test]
fn a_property_may_be_called_as_versions_are() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (from, file, to) = (path("from.tables"), path("Any.csv"), path("to.tables"));
    let entity = DynamicEntity::new("p", "1").with("etag", "mine").with("Name", "x");
    let store = Store::open(&from).unwrap();
    store.create_table("Any").unwrap().insert(&entity).unwrap();
    store.close().unwrap();
    Store::open(&to).unwrap().close().unwrap();
    assert_eq!(tables(&["export", "Any", "--store", &from, "--as", "azure-csv", "-o", &file]).code, 0);
    let ran = tables(&["import", "--write", "--store", &to, "Any", &file]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(rows(to.as_ref(), "Any"), [entity]);
}

#[test]
fn a_file_is_written_by_one_run_at_a_time_and_a_link_stays_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (store, file, link) = (path("company.tables"), path("out.jsonl"), path("link.jsonl"));
    company(store.as_ref(), 1);
    fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let export = ["export", "Company", "--store", &store, "-o", &link];
    // What one that was killed has left is no other run.
    fs::write(path("out.jsonl.part"), "half, and longer than what comes ".repeat(1_000)).unwrap();
    let other = fs::File::options().write(true).open(path("out.jsonl.part")).unwrap();
    other.lock().unwrap();
    let ran = tables(&export);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("in use by another run"), "{}", ran.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    drop(other);
    let ran = tables(&export);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 3);
    assert!(!fs::exists(path("out.jsonl.part")).unwrap());
}
