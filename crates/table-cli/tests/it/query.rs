//! `tables query`.

use std::sync::Arc;

use snapbox::str;
use table_core::crypt::KeyRing;
use table_core::{DynamicEntity, Store};

use crate::fixture::copy;
use crate::kinds::Contract;
use crate::run::{on, on_company, same, to_people};

#[test]
fn entities_are_found_and_copies_are_not_shown() {
    let filter = "PartitionKey eq 'Sales' and Age ge 40";
    same(
        to_people(&["query", "Company", filter, "--select", "Age,Email"]).shown(),
        str![[r#"
PartitionKey  RowKey        Age  Email
Sales         empid_000008   55  ken@contoso.com
Sales         empid_000042   41  mia@contoso.com
[0]

"#]],
    );
    same(
        to_people(&["query", "Company", "--kind", "department"]).shown(),
        str![[r#"
PartitionKey  RowKey      EntityType  City    Seal
Legal         department  department  Bergen  X''
Sales         department  department  Oslo    (blob, 11 bytes)
[0]

"#]],
    );
    same(
        on_company(&["query", "Shop", "--copies", "--format", "csv"]).shown(),
        str![[r#"
PartitionKey,RowKey,EntityType,Cents,Stock,Name
home,name_chair_0002,product.by_name,12900,99,
home,name_lamp_0001,product.by_name,4990,12,
home,name_table_0003,product.by_name,24900,3,
home,price_00004990_0001,product.by_price,,12,lamp
home,price_00024900_0003,product.by_price,,3,table
home,product_0001,product,4990,12,lamp
home,product_0002,product,12900,0,chair
home,product_0003,product,24900,3,table
[0]

"#]],
    );
    same(
        on_company(&["query", "Shop", "--kind", "product", "--rev", "--top", "1"]).shown(),
        str![[r#"
{"PartitionKey":"home","RowKey":"product_0003","EntityType":"product","Name":"table","Cents":24900,"Stock":3}
[0]

"#]],
    );
}

#[test]
fn rows_of_no_kind_are_shown_as_they_are() {
    same(
        on_company(&["query", "Notes"]).shown(),
        str![[r#"
{"PartitionKey":"2014","RowKey":"one","Text":"Rows need no declaration.","Weight":2.5,"Large":9007199254740993}
{"PartitionKey":"2014","RowKey":"two","Bytes":"wP/u"}
{"PartitionKey":"2015","RowKey":"three","Text":"A new year,\nand two lines."}
[0]

"#]],
    );
    same(
        on_company(&["query", "Notes", "--format", "csv"]).shown(),
        str![[r#"
PartitionKey,RowKey,Text,Weight,Large,Bytes
2014,one,Rows need no declaration.,2.5,9007199254740993,
2014,two,,,,X'c0ffee'
2015,three,"A new year,
and two lines.",,,
[0]

"#]],
    );
    same(
        on_company(&["query", "Notes", "--format", "md"]).shown(),
        str![[r#"
| PartitionKey | RowKey | Text | Weight | Large | Bytes |
| --- | --- | --- | --- | --- | --- |
| 2014 | one | Rows need no declaration. | 2.5 | 9007199254740993 |  |
| 2014 | two |  |  |  | X'c0ffee' |
| 2015 | three | A new year, and two lines. |  |  |  |
[0]

"#]],
    );
    same(
        on_company(&["query", "Notes", "--format", "line"]).shown(),
        str![[r#"
PartitionKey = 2014
RowKey = one
Text = Rows need no declaration.
Weight = 2.5
Large = 9007199254740993

PartitionKey = 2014
RowKey = two
Bytes = X'c0ffee'

PartitionKey = 2015
RowKey = three
Text = A new year,
and two lines.
[0]

"#]],
    );
    same(
        to_people(&["query", "Notes"]).shown(),
        str![[r#"
PartitionKey  RowKey  Text                         Weight  Large             Bytes
2014          one     Rows need no declaration.       2.5  9007199254740993
2014          two                                                            X'c0ffee'
2015          three   A new year,\nand two lines.
[0]

"#]],
    );
}

#[test]
fn a_filter_may_be_words_of_the_line() {
    let quoted = on_company(&["query", "Company", "Age ge 40 and Age lt 50"]);
    let words = on_company(&["query", "Company", "Age", "ge", "40", "and", "Age", "lt", "50"]);
    assert_eq!((words.out, words.code), (quoted.out, 0));
}

#[test]
fn rows_are_counted() {
    let count = |arguments: &[&str]| {
        let ran = on_company(&[&["query"], arguments, &["--count"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out
    };
    assert_eq!(count(&["Company"]), "{\"count\":6}\n");
    assert_eq!(count(&["Company", "--copies"]), "{\"count\":14}\n");
    assert_eq!(count(&["Company", "Age ge 40"]), "{\"count\":3}\n");
    assert_eq!(count(&["Company", "--kind", "employee"]), "{\"count\":4}\n");
    assert_eq!(count(&["Tickets"]), "{\"count\":300}\n");
}

#[test]
fn pages_go_on_where_the_last_one_ended() {
    let mut found: Vec<String> = Vec::new();
    let mut after: Option<String> = None;
    for page in 0.. {
        let mut arguments = vec!["query", "Company", "--select", "City", "--page", "2"];
        if let Some(after) = &after {
            arguments.extend(["--after", after]);
        }
        let ran = on_company(&arguments);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.lines().count() <= 2 && page < 8, "{}", ran.out);
        found.extend(ran.out.lines().map(str::to_owned));
        after = ran.err.strip_prefix("more: --after ").map(|rest| rest.trim().to_owned());
        if after.is_none() {
            break;
        }
    }
    let whole = on_company(&["query", "Company", "--select", "City"]).out;
    assert_eq!(found, whole.lines().collect::<Vec<_>>());
}

#[test]
fn a_long_table_is_printed_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.tables");
    let store = Store::open(&path).unwrap();
    let table = store.create_table("Long").unwrap();
    let batches = (0..30).map(|hundred| {
        (0..100).fold(table.batch("p"), |batch, one| {
            batch.insert(DynamicEntity::new("p", format!("{:06}", hundred * 100 + one)).with("Number", one))
        })
    });
    store.bulk(batches).unwrap().into_result().unwrap();
    drop(table);
    store.close().unwrap();
    let path = path.to_str().unwrap();
    let ran = on(path, &["query", "Long"]);
    let keys: Vec<_> = ran.out.lines().filter_map(|line| line.get(30..45)).collect();
    assert_eq!(keys.len(), 3_000);
    assert!(keys.is_sorted(), "{keys:?}");
    let ran = on(path, &["query", "Long", "--format", "table"]);
    assert_eq!(ran.out.lines().count(), 3_001);
}

#[test]
fn sealed_values_open_with_their_keys() {
    let closed = on_company(&["query", "Payroll", "--copies", "--select", "Title,Salary,Number"]);
    same(
        closed.shown(),
        str![[r#"
{"PartitionKey":"contoso","RowKey":"contract_0001","Title":"engineer","Salary":"(sealed)","Number":"(sealed)"}
{"PartitionKey":"contoso","RowKey":"contract_0002","Title":"lawyer","Salary":"(sealed)","Number":"(sealed)"}
{"PartitionKey":"contoso","RowKey":"number_<bytes>","unreadable":"the store was opened without a key provider; give its options one by `.encryption(..)`"}
{"PartitionKey":"contoso","RowKey":"number_<bytes>","unreadable":"the store was opened without a key provider; give its options one by `.encryption(..)`"}
[0]

"#]],
    );
    // A process opens a store with keys or without: the one that all tests read it opens without.
    let (_directory, place) = copy();
    let keys = ["query", "Payroll", "--select", "Title,Salary,Number", "--keys", place.ring()];
    same(
        on(place.store(), &keys).shown(),
        str![[r#"
{"PartitionKey":"contoso","RowKey":"contract_0001","Title":"engineer","Salary":90000,"Number":"078-05-1120"}
{"PartitionKey":"contoso","RowKey":"contract_0002","Title":"lawyer","Salary":70000,"Number":"219-09-9999"}
[0]

"#]],
    );
}

#[test]
fn what_can_not_be_asked_is_refused() {
    same(
        on_company(&["query", "Company", "Age > 40"]).shown(),
        str![[r#"
[1]
tables: cannot parse the filter: found `>`, expected a comparison: `eq`, `ne`, `gt`, `ge`, `lt` or `le` (at byte 4)

"#]],
    );
    same(
        on_company(&["query", "Nothing"]).shown(),
        str![[r#"
[3]
tables: cannot open table `Nothing`: there is no such table; there are Company, Logins20140730, Logins20140731, Names, Notes, Payroll, Shop, Tickets, Weather

"#]],
    );
    same(
        on_company(&["query", "Company", "--kind", "manager"]).shown(),
        str![[r#"
[3]
tables: table `Company` has no kind `manager`; it has `department`, `employee`

"#]],
    );
    same(
        on_company(&["query", "Company", "--after", "nonsense"]).shown(),
        str![[r#"
[1]
tables: cannot read the continuation token: the token is damaged

"#]],
    );
    assert_eq!(on_company(&["query", "Company", "--top", "1", "--page", "1"]).code, 2);
}

#[test]
fn pages_go_on_behind_a_row_that_can_not_be_read() {
    for rev in [&[][..], &["--rev"]] {
        let whole = on_company(&[&["query", "Payroll", "--copies", "--select", "Title"], rev].concat()).out;
        assert_eq!(whole.lines().count(), 4, "{whole}");
        let (mut found, mut after): (Vec<String>, Option<String>) = (Vec::new(), None);
        for page in 0.. {
            let mut arguments = vec!["query", "Payroll", "--copies", "--select", "Title", "--page", "1"];
            arguments.extend(rev);
            if let Some(after) = &after {
                arguments.extend(["--after", after]);
            }
            let ran = on_company(&arguments);
            assert!(ran.code == 0 && page < 8, "{}", ran.shown());
            found.extend(ran.out.lines().map(str::to_owned));
            after = ran.err.strip_prefix("more: --after ").map(|rest| rest.trim().to_owned());
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, whole.lines().collect::<Vec<_>>());
    }
}

#[test]
fn no_row_comes_twice_where_one_of_a_long_key_can_not_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let (path, ring) = (directory.path().join("long.tables"), directory.path().join("long.keys"));
    let keys = Arc::new(KeyRing::create(&ring).unwrap());
    let store = Store::options().encryption(keys).open(&path).unwrap();
    let contract = |id: u32| Contract {
        company: "x".repeat(300),
        id,
        title: "engineer".into(),
        salary: 1,
        number: id.to_string().into(),
    };
    let contracts = store.table::<Contract>().unwrap();
    for id in [1, 2] {
        contracts.insert(&contract(id)).unwrap();
    }
    drop(contracts);
    store.close().unwrap();
    let ran = on(path.to_str().unwrap(), &["query", "Payroll", "--copies", "--select", "Title"]);
    assert_eq!(ran.out.matches("contract_0001").count(), 1, "{}", ran.shown());
    assert_eq!(ran.code, 1, "{}", ran.err);
}

#[test]
fn nothing_that_people_read_steers_the_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.tables");
    let store = Store::open(&path).unwrap();
    let note = DynamicEntity::new("p", "1").with("Text", "\u{1b}[2Jone\ntwo").with("Z", "\u{9b}2J");
    store.create_table("Notes").unwrap().insert(&note).unwrap();
    store.close().unwrap();
    for format in ["table", "line"] {
        for command in [&["query", "Notes"][..], &["get", "Notes", "p", "1"]] {
            let ran = on(path.to_str().unwrap(), &[command, &["--format", format]].concat());
            assert!(ran.out.contains("\\u{1b}[2Jone") && ran.out.contains("\\u{9b}2J"), "{}", ran.out);
            assert!(!ran.out.contains(['\u{1b}', '\u{9b}']), "{:?}", ran.out);
        }
    }
}
