//! `tables explain`.

use snapbox::str;

use crate::run::{on_company, same, to_people};

#[test]
fn a_query_is_explained() {
    same(
        to_people(&["explain", "Company", "PartitionKey eq 'Sales' and RowKey eq 'department'"]).shown(),
        str![[r#"
class       point read
partitions  "Sales"
rows        "department"
[0]

"#]],
    );
    same(
        to_people(&["explain", "Company"]).shown(),
        str![[r#"
class  table scan
why    no partition key is given
[0]

"#]],
    );
    same(
        on_company(&["explain", "Notes", "PartitionKey eq '2014'"]).shown(),
        str![[r#"
{"class":"partition scan","partitions":"\"2014\"","rows":null,"filter":null,"why":"no row key is given","advice":null}
[0]

"#]],
    );
}

#[test]
fn an_index_that_is_there_is_named() {
    let email = "PartitionKey eq 'Sales' and Email eq 'mia@contoso.com'";
    same(
        to_people(&["explain", "Company", email, "--kind", "employee"]).shown(),
        str![[r#"
class       partition scan
partitions  "Sales"
filter      Email eq 'mia@contoso.com' and EntityType eq 'employee'
why         no row key is given
advice      a point read by `by_email`: tables get Company/employee.by_email Department=.. Email=..
[0]

"#]],
    );
    same(
        to_people(&["explain", "Company", "LastName eq 'Hall'"]).shown(),
        str![[r#"
class   table scan
filter  LastName eq 'Hall'
why     no partition key is given
advice  a partition scan by `by_name`, whose rows have the keys {LastName} and {Department}_{Id:06}: tables query Names "PartitionKey eq '..'" --copies
[0]

"#]],
    );
    // One that is still being made will help.
    same(
        to_people(&["explain", "Tickets", "PartitionKey eq 'support' and State eq 'open'"]).shown(),
        str![[r#"
class       partition scan
partitions  "support"
filter      State eq 'open'
why         no row key is given
advice      a range by `by_state`, once that can be read: it is being made
[0]

"#]],
    );
}

#[test]
fn an_index_that_would_help_is_declared() {
    same(
        to_people(&["explain", "Company", "PartitionKey eq 'Sales' and Age ge 40"]).shown(),
        str![[r#"
class       partition scan
partitions  "Sales"
filter      Age ge 40
why         no row key is given
advice      an index of `employee` would make it a range: #[index(by_age, row = "age_{age:offset}_{id:06}")]
[0]

"#]],
    );
    same(
        to_people(&["explain", "Company", "Age ge 40 and Age lt 50"]).shown(),
        str![[r#"
class   table scan
filter  Age ge 40 and Age lt 50
why     no partition key is given
advice  an index of `employee` would make it a range of one partition: #[index(by_age, partition = "all", atomic, row = "age_{age:offset}_{department}_{id:06}")]
[0]

"#]],
    );
    same(
        to_people(&["explain", "Company", "Age eq 40 or Age eq 50"]).shown(),
        str![[r#"
class   table scan
filter  Age eq 40 or Age eq 50
why     no partition key is given
[0]

"#]],
    );
}

#[test]
fn a_run_tells_how_many_rows_were_read() {
    let ran = on_company(&["explain", "Company", "PartitionKey eq 'Sales' and Age ge 40", "--run"]);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (found["rows read"].as_u64(), found["rows returned"].as_u64()),
        (Some(9), Some(4)),
        "{}",
        ran.out
    );
}

#[test]
fn what_can_not_be_explained_is_refused() {
    assert_eq!(on_company(&["explain", "Nothing"]).code, 3);
    assert_eq!(on_company(&["explain", "Company", "Age"]).code, 0);
    assert_eq!(on_company(&["explain", "Company", "Age eq"]).code, 1);
}

#[test]
fn an_index_that_could_be_has_a_name_of_its_own() {
    let ran = on_company(&["explain", "Company", "Email eq 'mia@contoso.com'", "--kind", "employee"]);
    assert!(ran.out.contains("#[index(by_email_2, partition = "), "{}", ran.shown());
}
