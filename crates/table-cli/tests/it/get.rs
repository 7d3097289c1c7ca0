//! `tables get`.

use snapbox::str;

use crate::fixture::copy;
use crate::run::{on, on_company, same, to_people};

#[test]
fn an_entity_is_named_by_its_keys() {
    same(
        to_people(&["get", "Company", "Sales", "empid_000042"]).shown(),
        str![[r#"
property      type          value
PartitionKey                Sales
RowKey                      empid_000042
EntityType    Edm.String    employee
FirstName     Edm.String    Mia
LastName      Edm.String    Hall
Email         Edm.String    mia@contoso.com
Age           Edm.Int32     41
Salary        Edm.Int64     71000
Hired         Edm.DateTime  2014-07-31T18:00:00Z
Project       Edm.String    apollo
Timestamp                   <time>
ETag                        W/"datetime'<time>'"
[0]

"#]],
    );
    same(
        on_company(&["get", "Notes", "2014", "one"]).shown(),
        str![[r#"
{"PartitionKey":"2014","RowKey":"one","Text":"Rows need no declaration.","Weight":2.5,"Large":9007199254740993,"Timestamp":"<time>","ETag":"W/\"datetime'<time>'\""}
[0]

"#]],
    );
}

#[test]
fn an_entity_is_named_by_the_properties_in_its_key() {
    let by_keys = on_company(&["get", "Company", "Sales", "empid_000042"]);
    let by_properties = on_company(&["get", "Company/employee", "id=42", "department=Sales"]);
    assert_eq!(by_properties.out, by_keys.out);
    let by_index = ["get", "Company/employee.by_email", "department=Sales", "email=mia@contoso.com"];
    same(
        on_company(&by_index).shown(),
        str![[r#"
{"PartitionKey":"Sales","RowKey":"email_mia@contoso.com","EntityType":"employee.by_email","FirstName":"Mia","LastName":"Hall","Age":41,"Salary":71000,"Hired":"2014-07-31T18:00:00Z","Project":"apollo","Id":42,"Timestamp":"<time>","ETag":"W/\"datetime'<time>'\""}
[0]
this is a row of the index `by_email` of `employee`

"#]],
    );
    let elsewhere = ["get", "Company/employee.by_name", "lastName=Hall", "department=Sales", "id=42"];
    same(
        on_company(&elsewhere).shown(),
        str![[r#"
{"PartitionKey":"Hall","RowKey":"Sales_000042","EntityType":"employee.by_name","FirstName":"Mia","Timestamp":"<time>","ETag":"W/\"datetime'<time>'\""}
[0]
this is a row of the index `by_name` of `employee`

"#]],
    );
}

#[test]
fn copies_are_compared_with_their_entity() {
    let sound = ["get", "Company", "Sales", "empid_000042", "--with-copies"];
    same(
        to_people(&sound).shown(),
        str![[r#"
property      type          value
PartitionKey                Sales
RowKey                      empid_000042
EntityType    Edm.String    employee
FirstName     Edm.String    Mia
LastName      Edm.String    Hall
Email         Edm.String    mia@contoso.com
Age           Edm.Int32     41
Salary        Edm.Int64     71000
Hired         Edm.DateTime  2014-07-31T18:00:00Z
Project       Edm.String    apollo
Timestamp                   <time>
ETag                        W/"datetime'<time>'"

copy        table    partition  row                    state    why
by_email    Company  Sales      email_mia@contoso.com  agrees
by_name     Names    Hall       Sales_000042           agrees
by_project  Company  Sales      project_apollo         unknown  many entities give its row together: `tables check` compares it
headcount   Company  Sales      headcount              unknown  many entities give its row together: `tables check` compares it
[0]

"#]],
    );
    // One of its copies was written by itself.
    let differs = ["get", "Shop/product", "shelf=home", "id=2", "--with-copies"];
    same(
        to_people(&differs).shown(),
        str![[r#"
property      type        value
PartitionKey              home
RowKey                    product_0002
EntityType    Edm.String  product
Name          Edm.String  chair
Cents         Edm.Int64   12900
Stock         Edm.Int32   0
Timestamp                 <time>
ETag                      W/"datetime'<time>'"

copy      table  partition  row                  state    why
by_price  Shop   home       price_00012900_0002  unknown  a function of the struct says which entities have a row there
by_name   Shop   home       name_chair_0002      differs  in Stock
[4]

"#]],
    );
    // The copy under the name that he had, and the one that is still to follow.
    let missing = ["get", "Names", "Kwok", "Sales_000008", "--with-copies"];
    same(
        on_company(&missing).shown(),
        str![[r#"
{"PartitionKey":"Kwok","RowKey":"Sales_000008","EntityType":"employee.by_name","FirstName":"Ken","Timestamp":"<time>","ETag":"W/\"datetime'<time>'\""}
{"copy":"by_email","table":"Company","partition":"Sales","row":"email_ken@contoso.com","state":"agrees","why":null}
{"copy":"by_name","table":"Names","partition":"Kwok-Berg","row":"Sales_000008","state":"follows","why":"it is not there: `tables outbox` says what is still to follow"}
{"copy":"by_project","table":"Company","partition":"Sales","row":"project_apollo","state":"unknown","why":"many entities give its row together: `tables check` compares it"}
{"copy":"headcount","table":"Company","partition":"Sales","row":"headcount","state":"unknown","why":"many entities give its row together: `tables check` compares it"}
[0]
this is a row of the index `by_name` of `employee`

"#]],
    );
    let wide = ["get", "Weather", "Oslo", "year_2014", "--with-copies"];
    same(
        on_company(&wide).shown(),
        str![[r#"
{"PartitionKey":"Oslo","RowKey":"year_2014","EntityType":"year","Rain":763.0,"EntityParts":1,"Months_00":-4.5,"Months_01":-3.0,"Months_02":0.5,"Timestamp":"<time>","ETag":"W/\"datetime'<time>'\""}
{"copy":"part 1","table":"Weather","partition":"Oslo","row":"year_2014_01","state":"agrees","why":null}
[0]

"#]],
    );
}

#[test]
fn sealed_values_are_closed_without_keys() {
    let closed = ["get", "Payroll", "contoso", "contract_0001"];
    let ran = on_company(&closed);
    assert!(ran.out.contains("\"Salary\":\"(sealed)\",\"Number\":\"(sealed)\""), "{}", ran.out);
    // A process opens a store with keys or without: the one that all tests read it opens without.
    let (_directory, place) = copy();
    let ran = on(place.store(), &["get", "Payroll", "contoso", "contract_0001", "--keys", place.ring()]);
    assert!(ran.out.contains("\"Salary\":90000,\"Number\":\"078-05-1120\""), "{}", ran.shown());
}

#[test]
fn what_is_not_there_is_not_found() {
    same(
        on_company(&["get", "Company", "Sales", "nobody"]).shown(),
        str![[r#"
[3]
tables: table `Company` has no row with partition key `Sales` and row key `nobody`

"#]],
    );
    same(
        on_company(&["get", "Nothing", "p", "r"]).shown(),
        str![[r#"
[3]
tables: cannot open table `Nothing`: there is no such table; there are Company, Logins20140730, Logins20140731, Names, Notes, Payroll, Shop, Tickets, Weather

"#]],
    );
    same(
        on_company(&["get", "Company/employee", "department=Sales", "id=99"]).shown(),
        str![[r#"
[3]
tables: table `Company` has no row with partition key `Sales` and row key `empid_000099`

"#]],
    );
}

#[test]
fn keys_that_can_not_be_meant_are_refused() {
    same(
        on_company(&["get", "Company", "Sales"]).shown(),
        str![[r#"
[2]
tables: a row of a table is named by two keys: tables get Company PARTITION ROW

"#]],
    );
    same(
        on_company(&["get", "Company/employee", "department=Sales"]).shown(),
        str![[r#"
[1]
tables: cannot make a key for table `Company`: a key of `employee` is made of `Department` and `Id`: `Id` is missing

"#]],
    );
    same(
        on_company(&["get", "Company/employee", "department=Sales", "id=many"]).shown(),
        str![[r#"
[1]
tables: cannot make a key for table `Company`: `Id` is a number from zero, which "many" is not

"#]],
    );
    same(
        on_company(&["get", "Company/employee.by_age", "age=3"]).shown(),
        str![[r#"
[1]
tables: cannot make a key for table `Company`: `employee` has no index `by_age`; it has `by_email`, `by_name`, `by_project`, `headcount`

"#]],
    );
    same(
        on_company(&["get", "Company/manager", "id=3"]).shown(),
        str![[r#"
[3]
tables: table `Company` has no kind `manager`; it has `department`, `employee`

"#]],
    );
    same(
        on_company(&["get", "Company/employee", "Sales", "42"]).shown(),
        str![[r#"
[2]
tables: a value is given as NAME=VALUE: the key is Department=.. Id=..

"#]],
    );
}
