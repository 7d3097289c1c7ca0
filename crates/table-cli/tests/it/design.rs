//! `tables design`.

use table_core::Store;

use crate::run::tables;
use crate::sample::{SCRIPT, company};

#[test]
fn the_page_has_charts_patterns_writes_states_and_advice() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 10);
    let ran = tables(&["design", "--store", path.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "<!DOCTYPE html>",
        "<h1>company.tables</h1>",
        "Entity chart",
        "<i>empid_</i><b>{Id:06}</b>",
        "employee.by_email",
        ">unique</span>",
        "Access patterns",
        "Department and Email, by_email",
        "point read",
        "Rows that a change writes",
        "<code>LastName</code>",
        "<span class=\"pill good\">ready</span>",
        "Cost and advice",
        "#[index(by_age, row = &quot;age_{age:019}_{id:06}&quot;)]",
        "color-scheme: light dark",
        "id=\"theme-dark\"",
    ] {
        assert!(ran.out.contains(part), "{part} is missing in {}", ran.out);
    }
    // It needs no network, and says so to the browser.
    assert!(ran.out.contains("default-src 'none'; style-src 'unsafe-inline'"));
    for reference in ["http://", "https://", " src=", "<link", "<script", "@import", "url("] {
        assert!(!ran.out.contains(reference), "{reference} is in {}", ran.out);
    }
}

#[test]
fn one_table_is_shown_alone_and_written_to_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 3);
    let (path, file) = (path.to_str().unwrap(), directory.path().join("design.html"));
    let ran = tables(&["design", "--store", path, "--table", "Notes", "-o", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("No kind of entities is noted"), "{page}");
    assert!(!page.contains("employee"), "{page}");

    let ran = tables(&["design", "--store", path, "--table", "Nothing"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    assert!(ran.err.contains("Nothing"), "{}", ran.err);
}

#[test]
fn a_name_that_looks_like_a_page_is_text() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(SCRIPT.replace('/', "-"));
    let store = Store::open(&path).unwrap();
    store.create_table("Company").unwrap();
    store.close().unwrap();
    let ran = tables(&["design", "--store", path.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("&lt;script&gt;alert("), "{}", ran.out);
    assert!(!ran.out.contains("<script"), "{}", ran.out);
}

#[test]
fn a_file_that_can_not_be_written_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, 3);
    let (path, file) = (path.to_str().unwrap(), directory.path().join("designs.html"));
    let ran = tables(&["design", "--store", path, "-o", "/no/such/directory/designs.html"]);
    assert!(ran.code == 3 && ran.err.contains("/no/such/directory/designs.html"), "{}", ran.shown());
    let ran = tables(&["design", "--store", path, "-o", file.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(std::fs::read_to_string(file).unwrap().contains("Entity chart"));
}
