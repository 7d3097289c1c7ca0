//! What pages show.

use std::path::PathBuf;

use table_core::{DynamicEntity, Store};

use super::browser::Studio;
use crate::sample::{SCRIPT, company};

fn store(employees: u32) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("company.tables");
    company(&path, employees);
    (directory, path)
}

/// Returns how often a text stands in another.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn copies_are_folded_under_their_entities_and_marked_where_they_disagree() {
    let (_directory, path) = store(20);
    let studio = Studio::start(&path, &[]);
    let page = studio.get("/t/Company").body;
    // Forty employees, and the copy that says something else than its entity.
    assert_eq!(count(&page, "data-row"), 41, "{page}");
    assert_eq!(count(&page, ">2 copies<"), 38, "{page}");
    assert_eq!(count(&page, ">1 disagrees<"), 2, "{page}");
    assert!(page.contains("says something else of Email"), "{page}");
    assert!(page.contains(">missing<"), "{page}");
    assert!(page.contains("copies folded"), "{page}");

    let page = studio.get("/t/Company?rows=all").body;
    assert_eq!(count(&page, "data-row"), 50, "{page}");
    let copy = studio.get("/t/Company/row?p=Sales&r=name_Name1_000001").body;
    assert!(copy.contains(">disagrees<"), "{copy}");
    assert!(copy.contains("empid_000001"), "{copy}");
    let copy = studio.get("/t/Company/row?p=Sales&r=name_Name3_000003").body;
    assert!(copy.contains(">agrees<"), "{copy}");
}

#[test]
fn every_row_is_on_one_page() {
    let (_directory, path) = store(400);
    let studio = Studio::start(&path, &[]);
    for query in ["", "kind=employee", "rows=all", "filter=Age%20ge%2030"] {
        let (mut next, mut entities, mut pages) = (format!("/t/Company?{query}"), 0, 0);
        loop {
            let page = studio.get(&next).body;
            entities += count(&page, "<span class=\"pill\">employee</span>");
            pages += 1;
            let Some((before, _)) = page.split_once("\" data-next") else { break };
            let (_, link) = before.rsplit_once("href=\"").unwrap();
            next = link.replace("&amp;", "&");
            assert!(pages < 200, "{query}: {next}");
        }
        let expected = if query.starts_with("filter") { 640 } else { 800 };
        assert_eq!(entities, expected, "{query}");
        assert!(pages > 5, "{query}: {pages}");
    }
}

#[test]
fn what_a_query_reads_is_drawn_before_it_runs() {
    let (_directory, path) = store(5);
    let studio = Studio::start(&path, &[]);
    for (filter, kind, class, drawn) in [
        ("PartitionKey%20eq%20'Sales'", "", "partition scan", "class=\"read\" title=\"Sales\""),
        ("PartitionKey%20eq%20'Sales'", "employee", ">range<", "rows starting with &quot;empid_&quot;"),
        (
            "Age%20ge%2040",
            "employee",
            "table scan",
            "#[index(by_age, row = &quot;age_{age:019}_{id:06}&quot;)]",
        ),
        ("PartitionKey%20eq%20'Sales'%20and%20RowKey%20eq%20'x'", "", "point read", "row &quot;x&quot;"),
    ] {
        let answer = studio.get(&format!("/t/Company/explain?filter={filter}&kind={kind}"));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains(class) && answer.body.contains(drawn), "{class}, {drawn}: {answer:?}");
        assert!(!answer.body.contains("<html"), "{answer:?}");
    }
    // Without scripts, too, and no row is read.
    let page = studio.get("/t/Company?filter=Age%20ge%2040&run=no").body;
    assert!(page.contains("table scan") && !page.contains("data-row"), "{page}");
    let answer = studio.get("/t/Company/explain?filter=Age%20g");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.contains("cannot parse"), "{answer:?}");
}

#[test]
fn an_entity_is_found_by_the_fields_of_a_key() {
    let (_directory, path) = store(5);
    let studio = Studio::start(&path, &[]);
    let found = studio.get("/t/Company/find?kind=employee&f.Department=Sales&f.Id=3");
    assert_eq!(found.status, 303, "{found:?}");
    assert!(found.head.contains("location: /t/company/row?p=sales&r=empid_000003"), "{found:?}");
    let found =
        studio.get("/t/Company/find?kind=employee&index=by_email&f.Department=Sales&f.Email=3%40contoso.com");
    assert!(found.head.contains("r=email_3%40contoso.com"), "{found:?}");
    let refused = studio.get("/t/Company/find?kind=employee&f.Department=Sales&f.Id=many");
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("Id"), "{refused:?}");
    assert_eq!(studio.get("/t/Company/find?kind=nobody").status, 404);
}

#[test]
fn values_keys_and_messages_are_text() {
    let (_directory, path) = store(3);
    let studio = Studio::start(&path, &[]);
    for page in ["/t/Notes", "/t/Notes/row?p=inbox&r=%3Cb%3Eone", "/queues/hires", "/queues"] {
        let answer = studio.get(page);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(!answer.body.contains(SCRIPT) && !answer.body.contains("<b>one"), "{page}: {answer:?}");
    }
    assert!(studio.get("/t/Notes").body.contains("&lt;script&gt;"));
    assert!(studio.get("/queues/hires").body.contains("&lt;script&gt;"));
    let answer = studio.get(&format!("/t/{}", SCRIPT.replace('/', "%2F")));
    assert_eq!(answer.status, 400, "{answer:?}");
    assert!(!answer.body.contains(SCRIPT), "{answer:?}");
}

#[test]
fn numbers_are_sent_as_they_change() {
    let (_directory, path) = store(3);
    let studio = Studio::start(&path, &[]);
    // Eighteen rows of employees but for the copy that is gone, and a note.
    let sent = studio.read_events("/live/statistics", "<b>18</b><span>rows</span>");
    assert!(sent.to_lowercase().contains("content-type: text/event-stream"), "{sent}");
    let store = Store::open(&path).unwrap();
    store.dynamic_table("Notes").unwrap().insert(&DynamicEntity::new("inbox", "2")).unwrap();
    let sent = studio.read_events("/live/statistics", "<b>19</b><span>rows</span>");
    assert!(sent.contains("data: "), "{sent}");
}

#[test]
fn the_check_tells_which_copies_are_wrong() {
    let (_directory, path) = store(3);
    let studio = Studio::start(&path, &[]);
    assert_eq!(studio.get("/check").status, 200);
    let checked = studio.post("/check", "/check", "");
    assert_eq!(checked.status, 200, "{checked:?}");
    assert!(checked.body.contains("Copies that disagree \u{b7} 2"), "{checked:?}");
    assert!(checked.body.contains("name_Name1_000001"), "{checked:?}");
}

#[test]
fn every_page_says_where_one_is() {
    let (_directory, path) = store(3);
    let studio = Studio::start(&path, &[]);
    for (page, said) in [
        ("/", "Kinds of entities"),
        ("/t/Company/design", "Entity chart"),
        ("/queues", "hires"),
        ("/jobs", "No job is under way"),
        ("/outbox", "Nothing waits"),
        ("/statistics", "The file's pages"),
    ] {
        let answer = studio.get(page);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains(said), "{page}: {answer:?}");
        assert!(answer.body.contains("reads alone"), "{page}: {answer:?}");
    }
    let picture = studio.get("/t/Company/picture/employee");
    assert!(picture.head.contains("content-type: image/svg+xml"), "{picture:?}");
    assert_eq!(studio.get("/t/Company/picture/nobody").status, 404);
}
