//! `tables put`, `merge` and `delete`.

use snapbox::str;
use table_cli::Cli;

use crate::fixture::{Place, copy};
use crate::kinds::Product;
use crate::run::{on, run, same};

const OLA: [&str; 10] = [
    "put",
    "Company/employee",
    "department=Sales",
    "id=9",
    "first_name=Ola",
    "lastName=Nordmann",
    "Email=ola@contoso.com",
    "Age=33",
    "Salary=50000",
    "Hired=2024-01-02T08:00:00Z",
];

fn write(place: &Place, arguments: &[&str]) -> crate::run::Ran {
    on(place.store(), &[arguments, &["--write"]].concat())
}

#[test]
fn an_entity_comes_changes_and_goes_with_its_copies() {
    let (_directory, place) = copy();
    same(
        write(&place, &OLA).shown(),
        str![[r#"
[0]
put `Sales`, `empid_000009`

"#]],
    );
    let get = ["get", "Company/employee", "department=Sales", "id=9", "--with-copies"];
    // The copy in the list of names is eventual.
    same(
        on(place.store(), &get).shown(),
        str![[r#"
{"PartitionKey":"Sales","RowKey":"empid_000009","EntityType":"employee","FirstName":"Ola","LastName":"Nordmann","Email":"ola@contoso.com","Age":33,"Salary":50000,"Hired":"2024-01-02T08:00:00Z","Timestamp":"<time>","ETag":"W/\"datetime'<time>'\""}
{"copy":"by_email","table":"Company","partition":"Sales","row":"email_ola@contoso.com","state":"agrees","why":null}
{"copy":"by_name","table":"Names","partition":"Nordmann","row":"Sales_000009","state":"follows","why":"it is not there: `tables outbox` says what is still to follow"}
{"copy":"by_project","table":"Company","partition":null,"row":null,"state":"unknown","why":"the entity has no `Project`, so it has no row there"}
{"copy":"headcount","table":"Company","partition":"Sales","row":"headcount","state":"unknown","why":"many entities give its row together: `tables check` compares it"}
[0]

"#]],
    );
    let headcount = ["get", "Company", "Sales", "headcount"];
    assert!(on(place.store(), &headcount).out.contains("\"Employees\":4,\"Salaries\":265000"));

    let merge =
        ["merge", "Company/employee", "department=Sales", "id=9", "Email=nordmann@contoso.com", "Age=34"];
    same(
        write(&place, &merge).shown(),
        str![[r#"
[0]
merged into `Sales`, `empid_000009`

"#]],
    );
    assert_eq!(on(place.store(), &["get", "Company", "Sales", "email_ola@contoso.com"]).code, 3);
    let ran = on(place.store(), &["get", "Company", "Sales", "email_nordmann@contoso.com"]);
    assert!(ran.out.contains("\"Age\":34"), "{}", ran.shown());

    let delete = ["delete", "Company/employee", "department=Sales", "id=9"];
    same(
        write(&place, &delete).shown(),
        str![[r#"
[0]
deleted `Sales`, `empid_000009`

"#]],
    );
    assert_eq!(on(place.store(), &get).code, 3);
    assert_eq!(on(place.store(), &["get", "Company", "Sales", "email_nordmann@contoso.com"]).code, 3);
    assert!(on(place.store(), &headcount).out.contains("\"Employees\":3,\"Salaries\":215000"));
    assert_eq!(write(&place, &delete).code, 3);
}

#[test]
fn what_only_a_struct_knows_takes_it() {
    let (_directory, place) = copy();
    let put = ["put", "Shop/product", "shelf=home", "id=4", "name=stool", "cents=990", "stock=2"];
    same(
        write(&place, &put).shown(),
        str![[r#"
[1]
tables: cannot insert or replace in table `Shop`, partition `home`, row `product_0004`: the row is an entity of the kind `product`, which a struct declares, and what is noted of that is not enough to write it by its properties: `index by_price row "price_" Cents:u32:"08" "_" Id:u32:"04" when copy all`: whether an entity has a copy there only a function of its struct says; change the entity by `Store::table`, or by `SetTable::merge_any` and the like, which make its copies follow; a handle by `DynamicTable::raw` writes the row all the same, and its copies stay as they are

"#]],
    );
    assert_eq!(on(place.store(), &["get", "Shop/product", "shelf=home", "id=4"]).code, 3);

    let with_struct = |arguments: &[&str]| {
        let arguments = [arguments, &["--write", "--store", place.store()]].concat();
        run(Cli::new().kind::<Product>(), &arguments, false)
    };
    assert_eq!(with_struct(&put).code, 0);
    let price = ["get", "Shop/product.by_price", "shelf=home", "cents=990", "id=4"];
    assert_eq!(on(place.store(), &price).code, 0);
    assert_eq!(with_struct(&["merge", "Shop/product", "shelf=home", "id=4", "stock=0"]).code, 0);
    assert_eq!(on(place.store(), &price).code, 3);
    assert_eq!(with_struct(&["delete", "Shop/product", "shelf=home", "id=4"]).code, 0);
    assert_eq!(on(place.store(), &["get", "Shop", "home", "name_stool_0004"]).code, 3);
}

#[test]
fn sealed_values_are_sealed_by_the_keys() {
    let (_directory, place) = copy();
    let put = ["put", "Payroll/contract", "company=contoso", "id=3", "title=clerk", "salary=1", "number=1"];
    let ran = write(&place, &put);
    assert!(ran.code == 1 && ran.err.contains("keys"), "{}", ran.shown());
    let ran = write(&place, &[&put[..], &["--keys", place.ring()]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let get = ["get", "Payroll", "contoso", "contract_0003", "--keys", place.ring()];
    assert!(on(place.store(), &get).out.contains("\"Salary\":1,\"Number\":\"1\""));
}

#[test]
fn rows_of_no_kind_are_written_by_their_keys() {
    let (_directory, place) = copy();
    let put = [
        "put",
        "Notes",
        "2016",
        "four",
        "Age:i32=41",
        "At:time=2024-01-02T08:00:00Z",
        "Text=a=b",
        "Bytes:binary=c0ffee",
    ];
    assert_eq!(write(&place, &put).code, 0);
    let ran = on(place.store(), &["get", "Notes", "2016", "four", "--format", "table"]);
    same(
        ran.shown(),
        str![[r#"
property      type          value
PartitionKey                2016
RowKey                      four
Text          Edm.String    a=b
Bytes         Edm.Binary    X'c0ffee'
Age           Edm.Int32     41
At            Edm.DateTime  2024-01-02T08:00:00Z
Timestamp                   <time>
ETag                        W/"datetime'<time>'"
[0]

"#]],
    );
    assert_eq!(write(&place, &["merge", "Notes", "2016", "four", "Text=new"]).code, 0);
    assert!(on(place.store(), &["get", "Notes", "2016", "four"]).out.contains("\"Text\":\"new\""));
    assert_eq!(write(&place, &["delete", "Notes", "2016", "four"]).code, 0);
    assert_eq!(on(place.store(), &["get", "Notes", "2016", "four"]).code, 3);
}

#[test]
fn a_raw_write_says_so_aloud() {
    let (_directory, place) = copy();
    let raw = ["merge", "Company", "Sales", "empid_000042", "Age:i32=99", "--raw"];
    same(
        write(&place, &raw).shown(),
        str![[r#"
[0]
written as it is: copies of the row, if it has any, are as they were
merged into `Sales`, `empid_000042`

"#]],
    );
    let ran = on(place.store(), &["get", "Company", "Sales", "empid_000042", "--with-copies"]);
    assert!(ran.code == 4 && ran.out.contains("in Age"), "{}", ran.shown());
}

#[test]
fn what_can_not_be_meant_is_refused_and_nothing_is_written() {
    let (_directory, place) = copy();
    let before = on(place.store(), &["query", "Company", "--copies"]).out;
    same(
        on(place.store(), &OLA).shown(),
        str![[r#"
[2]
tables: `put` changes the store: say so by --write

"#]],
    );
    let refused: [&[&str]; 7] = [
        &["put", "Company/employee", "department=Sales", "id=9"],
        &["put", "Company/employee", "department=Sales", "id=9", "shoe_size=44"],
        &["put", "Company/employee", "department=Sales", "id=9", "Id=10"],
        &["merge", "Company/employee", "department=Sales", "id=42", "age=old"],
        &["put", "Company/employee.by_email", "department=Sales"],
        &["delete", "Company/employee", "department=Sales", "id=42", "age=1"],
        &["put", "Company/manager", "id=1"],
    ];
    let said: Vec<_> = refused.iter().map(|arguments| write(&place, arguments).shown()).collect();
    same(
        said.join("\n"),
        str![[r#"
[2]
tables: `put` takes a whole entity, and of `employee` it lacks FirstName=.. LastName=.. Email=.. Age=.. Salary=.. Hired=..; `merge` sets some properties of one that is there

[2]
tables: `employee` has no property `shoe_size`; it has Department, Id, FirstName, LastName, Email, Age, Salary, Hired, Project

[2]
tables: `Id` is given twice

[2]
tables: `age` is a number of 32 bits, which `old` is not

[2]
tables: `by_email` is an index, whose rows follow their entities: write Company/employee

[2]
tables: an entity is deleted by the properties in its key alone

[3]
tables: table `Company` has no kind `manager`; it has `department`, `employee`

"#]],
    );
    assert_eq!(on(place.store(), &["query", "Company", "--copies"]).out, before);
}
