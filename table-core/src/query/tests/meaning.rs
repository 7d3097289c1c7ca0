//! What filters say of rows.

use super::super::eval::Predicate;
use super::super::filter::{Filter, prop};
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

#[test]
fn a_mistyped_property_compares_false_even_for_ne() {
    let row = Row::new(&[("Age", Value::from("40"))]);
    for operator in ["eq", "ne", "gt", "ge", "lt", "le"] {
        assert!(!matches(&format!("Age {operator} 40"), &row), "{operator}");
        assert!(matches(&format!("not (Age {operator} 40)"), &row), "{operator}");
        assert!(!matches(&format!("RowKey {operator} 40"), &row), "{operator}");
        assert!(!matches(&format!("Timestamp {operator} 'r'"), &row), "{operator}");
    }
    assert!(!matches("Age", &row));
    assert!(!matches("RowKey", &row));
}

#[test]
fn numbers_compare_across_their_types() {
    let row =
        Row::new(&[("I", Value::from(5)), ("L", Value::from(1_i64 << 53 | 1)), ("D", Value::from(5.5))]);
    for text in ["I eq 5", "I eq 5L", "I eq 5.0", "I lt 5.5", "D gt 5", "D gt 5L", "D eq 5.5", "I ne NaN"] {
        assert!(matches(text, &row), "{text}");
    }
    assert!(matches("L gt 9007199254740992.0", &row));
    assert!(!matches("L eq 9007199254740992.0", &row));
    assert!(!matches("I lt NaN or I eq NaN or I gt NaN", &row));
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
    let chain = (0..100_000).fold(prop("A").eq(0), |filter, i| filter | prop("T").lt(i));
    let predicate = Predicate::new(&chain).unwrap();
    assert!(!predicate.matches(&row.under(Some(&predicate))).unwrap());
}
