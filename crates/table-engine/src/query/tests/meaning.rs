//! What filters say of rows.

use super::super::eval::Predicate;
use super::super::filter::Filter;
use super::super::property::prop;
use super::strategies::Row;
use crate::model::{Ticks, Value};

fn matches(text: &str, row: &Row) -> bool {
    let predicate = Predicate::new(&Filter::parse(text).unwrap()).unwrap();
    predicate.matches(&row.under(Some(&predicate))).unwrap()
}

#[test]
fn a_missing_property_compares_false_even_for_ne() {
    let row = Row::new(&[]);
    for operator in ["eq", "ne", "gt", "ge", "lt", "le"] {
        assert!(!matches(&format!("Age {operator} 40"), &row), "{operator}");
        assert!(matches(&format!("not (Age {operator} 40)"), &row), "{operator}");
        assert!(!matches(&format!("Name {operator} ''"), &row), "{operator}");
    }
    assert!(!matches("Flag", &row));
    assert!(matches("not Flag", &row));
    assert!(!matches("not (not (Age ne 40))", &row));
}

/// Returns the comparisons that hold with a constant, as text.
fn held(property: &str, constant: &str, row: &Row) -> Vec<&'static str> {
    let operators = ["eq", "ne", "gt", "ge", "lt", "le"].into_iter();
    operators.filter(|operator| matches(&format!("{property} {operator} {constant}"), row)).collect()
}

const LESS: [&str; 3] = ["ne", "lt", "le"];
const EQUAL: [&str; 3] = ["eq", "ge", "le"];

#[test]
fn a_property_of_another_type_is_less() {
    let row = Row::new(&[("Age", Value::from("40")), ("Flag", Value::from(1))]);
    for (property, constant) in [
        ("Age", "40"),
        ("Age", "-INF"),
        ("Age", "true"),
        ("RowKey", "40"),
        ("Timestamp", "''"),
        ("Flag", "true"),
    ] {
        assert_eq!(held(property, constant, &row), LESS, "{property} {constant}");
        assert!(!matches(&format!("not ({property} lt {constant})"), &row), "{property} {constant}");
        assert!(matches(&format!("not ({property} ge {constant})"), &row), "{property} {constant}");
    }
    for property in ["Age", "RowKey", "Flag"] {
        assert!(!matches(property, &row), "{property}");
    }
    // Together they name one type.
    assert!(!matches("Age ge 0 and Age lt 50", &row));
    assert!(matches("Flag ge 0 and Flag lt 50", &row));
}

#[test]
fn a_number_widens_to_the_type_of_the_property_and_no_further() {
    let row = Row::new(&[("I", Value::from(5)), ("L", Value::from(5_i64)), ("D", Value::from(5.0))]);
    for (property, constant) in [("I", "5"), ("L", "5"), ("L", "5L"), ("D", "5"), ("D", "5L"), ("D", "5.0")] {
        assert_eq!(held(property, constant, &row), EQUAL, "{property} {constant}");
    }
    for (property, constant) in
        [("I", "5L"), ("I", "-9L"), ("I", "5.0"), ("I", "NaN"), ("L", "5.0"), ("L", "-INF")]
    {
        assert_eq!(held(property, constant, &row), LESS, "{property} {constant}");
    }
    assert_eq!(held("D", "NaN", &row), ["ne"]);
    // To the last digit: the constant is not rounded.
    let row = Row::new(&[("D", Value::from(9_007_199_254_740_992.0))]);
    assert_eq!(held("D", "9007199254740993L", &row), LESS);
}

#[test]
fn keys_and_timestamp_are_properties() {
    let mut row = Row::new(&[]);
    row.timestamp = "2026-11-20T20:37:52.6107149Z".parse().unwrap();
    assert!(matches("PartitionKey eq 'p' and RowKey lt 's'", &row));
    assert!(matches("Timestamp ge datetime'2026-11-20T20:37:52.6107149Z'", &row));
    assert!(!matches("Timestamp gt datetime'2026-11-20T20:37:52.6107149Z'", &row));
    assert!(matches("datetime'2026-11-20' lt Timestamp", &row));
}

#[test]
fn each_name_has_one_slot() {
    let filter =
        Filter::parse("A eq 1 and (B eq 2 or not (A eq 3)) and RowKey eq 'r' and b and Timestamp ne 1");
    let predicate = Predicate::new(&filter.unwrap()).unwrap();
    let names: Vec<_> = predicate.names().iter().map(|name| &**name).collect();
    assert_eq!(names, ["A", "B", "b"]);
}

#[test]
fn a_long_chain_is_evaluated() {
    let row = Row::new(&[("A", Value::from(1)), ("T", Value::from(Ticks::MAX))]);
    let text = vec!["A eq 1"; 5_000].join(" and ");
    assert!(matches(&text, &row));
    assert!(!matches(&(text + " and A eq 2"), &row));
    let chain = (0..100_000).fold(prop("A").eq(0), |filter, i| filter | prop("T").gt(i));
    let predicate = Predicate::new(&chain).unwrap();
    assert!(!predicate.matches(&row.under(Some(&predicate))).unwrap());
}
