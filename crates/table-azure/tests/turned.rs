//! Queries from the last row to the first, for which rows are held.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

#[path = "support/server.rs"]
mod server;

use table_azure::AzureTables;
use table_core::asynchronous::block_on;
use table_core::{DynamicEntity, Entity, ErrorKind, Query};

use self::server::{Own, connection};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    age: i32,
}

/// How many there are: more than a page of the service's has.
const ALL: u32 = 1_500;

/// Returns the tables of a server with so many employees.
fn company() -> (Own, AzureTables) {
    let server = Own::start();
    let tables = AzureTables::connect(&connection(server.address)).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    let employee = |id| Employee { department: "Sales".into(), id, age: i32::try_from(id % 50).unwrap() };
    assert_eq!(staff.bulk_insert((0..ALL).map(employee)).unwrap().into_result().unwrap(), u64::from(ALL));
    (server, tables)
}

#[test]
fn rows_come_from_the_last_where_they_may_be_held() {
    let (_server, tables) = company();
    let staff = tables.table::<Employee>().unwrap();
    let ids = |most| -> table_core::Result<Vec<u32>> {
        staff
            .rows()
            .department("Sales")
            .rev()
            .buffered(most)
            .into_iter()
            .map(|one| one.map(|one| one.id))
            .collect()
    };
    let turned: Vec<_> = (0..ALL).rev().collect();
    assert_eq!(ids(1_500).unwrap(), turned);
    let refused = ids(1_499).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    assert!(refused.to_string().contains("`.buffered(1499)`"), "{refused}");
    // Of the last few no more are held, whichever the filter leaves out.
    let last = |most| {
        let query = staff.rows().department("Sales").filter(|one| one.age.eq(7)).rev().top(3).buffered(most);
        query.into_iter().map(|one| one.map(|one| one.id)).collect::<table_core::Result<Vec<_>>>()
    };
    assert_eq!(last(3).unwrap(), [1_457, 1_407, 1_357]);
    assert_eq!(last(2).unwrap_err().kind(), ErrorKind::Unsupported);
    // Without the word it is refused, by a message that has it.
    let refused = staff.rows().department("Sales").rev().into_iter().next().unwrap().unwrap_err();
    assert!(refused.to_string().contains("`.buffered(n)`"), "{refused}");
}

#[test]
fn pages_and_streams_come_from_the_last_too() {
    let (_server, tables) = company();
    let company = tables.dynamic_table("Company").unwrap();
    let query = Query::new().partition("Sales").rev().buffered(2_000);
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let page = company.page(&query, 700, after.as_ref()).unwrap();
        rows.extend(page.entities.iter().map(|row| row.row_key().to_owned()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let turned: Vec<_> = (0..ALL).rev().map(|id| format!("empid_{id:06}")).collect();
    assert_eq!(rows, turned);
    let staff = block_on(tables.to_async().table::<Employee>()).unwrap();
    let mut stream = staff.rows().department("Sales").rev().buffered(2_000).stream();
    let ids = block_on(async {
        let mut ids = Vec::new();
        while let Some(one) = stream.next().await {
            ids.push(one.unwrap().id);
        }
        ids
    });
    assert_eq!(ids, (0..ALL).rev().collect::<Vec<_>>());
    assert!(company.query(&query.row("none")).unwrap().next().is_none());
    let empty = tables.create_table("Empty").unwrap();
    empty.insert(&DynamicEntity::new("p", "r")).unwrap();
    assert_eq!(empty.query(&Query::new().rev().buffered(1)).unwrap().count(), 1);
}
