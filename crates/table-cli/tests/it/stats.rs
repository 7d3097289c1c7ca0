//! `tables stats`.

use crate::run::{on_company, to_people};

#[test]
fn a_store_says_what_it_holds() {
    let ran = on_company(&["stats"]);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let number = |name: &str| found[name].as_u64().unwrap_or_else(|| panic!("{name} in {}", ran.out));
    assert_eq!((number("tables"), number("rows"), number("queues"), number("messages")), (9, 337, 3, 6));
    assert!(number("file bytes") >= number("live bytes") && number("live bytes") > 0);
    assert!(to_people(&["stats"]).out.starts_with("tables           9\nrows             337\n"));
}

#[test]
fn statistics_are_printed_again_and_again() {
    let ran = on_company(&["stats", "--watch", "1ms", "--times", "3"]);
    assert_eq!((ran.out.lines().count(), ran.code), (3, 0), "{}", ran.err);
    assert_eq!(on_company(&["stats", "--watch", "often"]).code, 2);
    assert_eq!(on_company(&["stats", "--times", "3"]).code, 2);
}
