//! `tables schema`.

use snapbox::str;

use crate::run::{on_company, same};

#[test]
fn a_kind_is_drawn_as_text() {
    same(
        on_company(&["schema", "Company/employee"]).shown(),
        str![[r#"
employee in table Company
Row                                         PartitionKey  RowKey                Properties
employee                                    {Department}  empid_{Id:06}         FirstName: String, LastName: String, Email: String, Age: Int32, Salary: Int64, Hired: DateTime, Project: String?
employee.by_email, unique                   {Department}  email_{Email}         Id: Int64, FirstName: String, LastName: String, Age: Int32, Salary: Int64, Hired: DateTime, Project: String?
employee.by_name, in table Names, eventual  {LastName}    {Department}_{Id:06}  FirstName: String
employee.by_project, list                   {Department}  project_{Project}     Ids: list of Id
headcount, summary                          {Department}  headcount             Employees: count, Salaries: sum of Salary

By                                    Class           Reads                               In the order of
Department and Id                     point read      1 row
Department                            range           the rows that fit                   Id
Department and Email, by_email        point read      1 row
Department, by_email                  range           the rows that fit                   Email
LastName, Department and Id, by_name  point read      1 row
LastName and Department, by_name      range           the rows that fit                   Id
LastName, by_name                     partition scan  every row of the partition          Department, Id
Department and Project, by_project    point read      1 row, and 1 for each entity on it
Department, headcount                 point read      1 row
all                                   table scan      every row of the table              Department, Id
[0]

"#]],
    );
}

#[test]
fn a_kind_is_drawn_in_each_other_form() {
    same(
        on_company(&["schema", "Shop", "--as", "markdown"]).shown(),
        str![[r#"
| Row | PartitionKey | RowKey | Properties |
| --- | --- | --- | --- |
| product | `{Shelf}` | `product_{Id:04}` | Name: String, Cents: Int64, Stock: Int32 |
| product.by_price, not of every entity | `{Shelf}` | `price_{Cents:08}_{Id:04}` | Name: String, Stock: Int32 |
| product.by_name | `{Shelf}` | `name_{Name}_{Id:04}` | Cents: Int64, Stock: Int32 |

| By | Class | Reads | In the order of |
| --- | --- | --- | --- |
| Shelf and Id | point read | 1 row |  |
| Shelf | range | the rows that fit | Id |
| Shelf, Cents and Id, by_price | point read | 1 row |  |
| Shelf and Cents, by_price | range | the rows that fit | Id |
| Shelf, by_price | range | the rows that fit | Cents, Id |
| Shelf, Name and Id, by_name | point read | 1 row |  |
| Shelf and Name, by_name | range | the rows that fit | Id |
| Shelf, by_name | range | the rows that fit | Name, Id |
| all | table scan | every row of the table | Shelf, Id |
[0]

"#]],
    );
    same(
        on_company(&["schema", "Shop", "--as", "layout"]).shown(),
        str![[r#"
Shop/product
version 1
partition Shelf:text
row "product_" Id:u32:"04"
property Shelf String
property Id Int64
property Name String
property Cents Int64
property Stock Int32
reads
reads Id u32
reads Cents u32
index by_price row "price_" Cents:u32:"08" "_" Id:u32:"04" when copy all
index by_name row "name_" Name:text "_" Id:u32:"04" copy all
[0]

"#]],
    );
    same(
        on_company(&["schema", "Shop/product", "--as", "mermaid"]).shown(),
        str![[r#"
erDiagram
    product["product"] {
        key PartitionKey PK "{Shelf}"
        key RowKey PK "product_{Id:04}"
        String Name
        Int64 Cents
        Int32 Stock
    }
    product_by_price["product.by_price, not of every entity"] {
        key PartitionKey PK "{Shelf}"
        key RowKey PK "price_{Cents:08}_{Id:04}"
        String Name
        Int32 Stock
    }
    product_by_name["product.by_name"] {
        key PartitionKey PK "{Shelf}"
        key RowKey PK "name_{Name}_{Id:04}"
        Int64 Cents
        Int32 Stock
    }
    product ||--o| product_by_price : "by_price"
    product ||--o| product_by_name : "by_name"
[0]

"#]],
    );
    let ran = on_company(&["schema", "Shop", "--as", "svg"]);
    assert!(ran.out.starts_with("<svg ") && ran.out.trim_end().ends_with("</svg>"), "{}", ran.out);
    let ran = on_company(&["schema", "--as", "json"]);
    let all: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let kinds: Vec<_> = all.as_array().unwrap().iter().map(|kind| kind["kind"].as_str().unwrap()).collect();
    assert!(
        ["department", "employee", "product", "year"].iter().all(|kind| kinds.contains(kind)),
        "{kinds:?}"
    );
}

#[test]
fn what_is_not_there_is_said_to_be_missing() {
    same(
        on_company(&["schema", "Company/manager"]).shown(),
        str![[r#"
[3]
tables: table `Company` has no kind `manager`; it has `department`, `employee`

"#]],
    );
    same(
        on_company(&["schema", "Nothing"]).shown(),
        str![[r#"
[3]
tables: cannot open table `Nothing`: there is no such table; there are Company, Logins20140730, Logins20140731, Names, Notes, Payroll, Shop, Tickets, Weather

"#]],
    );
    same(
        on_company(&["schema", "Notes"]).shown(),
        str![[r#"
[0]
no kind of entities is declared in table `Notes`

"#]],
    );
}
