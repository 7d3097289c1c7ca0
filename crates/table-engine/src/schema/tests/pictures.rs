//! Schemas drawn.

use super::checks::{EMPLOYEE, employee};
use crate::schema::{Copies, Index, Place, Schema};

#[test]
fn a_schema_is_drawn_as_a_table() {
    assert_eq!(
        EMPLOYEE.to_string(),
        "\
Employee in table Company
Row                        PartitionKey  RowKey                    Properties
employee                   {department}  empid_{id:06}             FirstName: String, LastName: String, Email: String, Age: Int32?
employee.by_email, unique  {department}  email_{email}             Id: Int64, FirstName: String, LastName: String, Age: Int32?
employee.by_name           {department}  name_{last_name}_{id:06}  FirstName: String"
    );
}

#[test]
fn a_schema_is_drawn_in_markdown() {
    let index = Index { copies: Copies::Keys, sparse: true, ..employee::BY_EMAIL };
    let schema = Schema { indexes: Vec::leak(vec![index]), ..EMPLOYEE };
    assert_eq!(
        schema.markdown().to_string(),
        "\
| Row | PartitionKey | RowKey | Properties |
| --- | --- | --- | --- |
| employee | `{department}` | `empid_{id:06}` | FirstName: String, LastName: String, Email: String, Age: Int32? |
| employee.by_email, unique, not of every entity | `{department}` | `email_{email}` | Id: Int64 |"
    );
}

#[test]
fn a_copy_that_lies_elsewhere_says_so() {
    let place = Place::new("Names", employee::BY_NAME.place.row, employee::BY_EMAIL.place.row);
    let indexes = vec![
        Index { place, ..employee::BY_EMAIL }.atomic(),
        Index { place: Place { table: EMPLOYEE.place().table, ..place }, ..employee::BY_NAME }.atomic(),
    ];
    let drawn = Schema { indexes: Vec::leak(indexes), ..EMPLOYEE }.to_string();
    assert!(
        drawn.contains(
            "\nemployee.by_email, unique, in table Names, atomic  name_{last_name}_{id:06}  email_{email}"
        ),
        "{drawn}"
    );
    assert!(drawn.contains("\nemployee.by_name, atomic "), "{drawn}");
}
