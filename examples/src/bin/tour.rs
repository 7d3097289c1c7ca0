//! The design guide's company in one walk: tables, entities, batches, queries and what each costs, paging,
//! concurrency, and a dropped table.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, draw, stdout};
use table_core::{DynamicEntity, ErrorKind, Filter, IfMatch, Query, Store, prop};

fn employee(department: &str, id: u32, first: &str, last: &str, age: i32) -> DynamicEntity {
    DynamicEntity::new(department, format!("empid_{id:06}"))
        .with("EntityType", "employee")
        .with("FirstName", first)
        .with("LastName", last)
        .with("Age", age)
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("tour");
    let store = Store::open(scratch.path())?;
    let mut out = stdout();

    writeln!(out, "A table holds entities of any shape, in order of PartitionKey and RowKey.\n")?;
    let company = store.create_table("Company")?;
    company.insert(&employee("Marketing", 2, "Jun", "Cao", 47))?;
    company.insert(&employee("Sales", 1, "Don", "Hall", 34))?;
    company.insert(&employee("Sales", 3, "Ken", "Kwok", 23))?;
    draw(&mut out, &company, &Query::new())?;

    writeln!(
        out,
        "\nA batch changes one partition, whole or not at all: a new employee and the head count.\n"
    )?;
    let department = DynamicEntity::new("Sales", "department").with("EntityType", "department");
    company.insert(&department.clone().with("HeadCount", 2))?;
    company
        .batch("Sales")
        .insert(employee("Sales", 4, "Mia", "Jones", 41))
        .merge(department.clone().with("HeadCount", 3), IfMatch::Any)
        .commit()?;
    draw(&mut out, &company, &Query::new().partition("Sales"))?;

    let refused = company
        .batch("Sales")
        .merge(department.with("HeadCount", 4), IfMatch::Any)
        .insert(employee("Sales", 4, "Mia", "Jones", 41))
        .commit()
        .unwrap_err();
    writeln!(out, "\nThe same employee again: {refused}")?;
    assert_eq!((refused.kind(), refused.index()), (ErrorKind::EntityAlreadyExists, Some(1)));
    let head_count = company.get("Sales", "department")?.and_then(|d| d.get("HeadCount")?.as_i32());
    assert_eq!(head_count, Some(3), "the failed batch changed nothing");

    writeln!(out, "\nFour ways to ask, from the best to the worst:\n")?;
    let queries = [
        Query::new().partition("Sales").row("empid_000003"),
        Query::new().partition("Sales").rows("empid_000001".."empid_000004"),
        Query::new().partition("Sales").filter(prop("Age").ge(40)),
        Query::new().filter(Filter::parse("LastName eq 'Cao' or LastName eq 'Kwok'")?),
    ];
    for (query, expected) in queries.iter().zip([1, 2, 1, 2]) {
        let found = company.query(query)?.count();
        writeln!(out, "  {}\n    -> {found} found", company.explain(query)?)?;
        assert_eq!(found, expected);
    }

    writeln!(
        out,
        "\nAnswers come in pages; a token says where the next one starts, also after a restart.\n"
    )?;
    let query = Query::new().select(["LastName"]);
    let (mut token, mut seen) = (None, 0);
    loop {
        let page = company.page(&query, 2, token.as_ref())?;
        seen += page.entities.len();
        let keys: Vec<_> = page.entities.iter().map(DynamicEntity::row_key).collect();
        writeln!(out, "  {}", keys.join(", "))?;
        token = page.next;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(seen, 5);

    writeln!(out, "\nTwo editors read one entity; the second to write is told that he is late.\n")?;
    let ann = company.get("Marketing", "empid_000002")?.ok_or("the employee is there")?;
    let bob = ann.clone();
    let version = ann.etag().ok_or("what was read has a version")?;
    company.replace(&ann.with("Age", 48), version)?;
    let late = company.replace(&bob.with("Age", 49), version).unwrap_err();
    writeln!(out, "  {late}")?;
    assert_eq!(late.kind(), ErrorKind::ConditionNotMet);

    writeln!(out, "\nDropping a table takes one small transaction, whatever it held.\n")?;
    for table in store.stats()?.tables {
        writeln!(out, "  {}: {} entities, {} bytes", table.name, table.entities, table.bytes)?;
    }
    store.drop_table("Company")?;
    assert_eq!(company.get("Sales", "empid_000001").unwrap_err().kind(), ErrorKind::TableNotFound);
    assert_eq!(store.tables()?, Vec::<String>::new());
    store.reclaim()?; // it would happen by itself, in the background
    writeln!(out, "  dropped, and its space is free again")?;
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
