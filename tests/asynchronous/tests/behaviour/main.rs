//! How awaited calls behave: dropped half-way, at the bounds of what waits, contended, as streams, on one thread.

mod blobs;
mod bounds;
mod dropped;
mod one_thread;
mod periods;
mod planted;
mod pooled;
mod streams;
mod turns;

use table_core::asynchronous::{
    AsyncBatch, AsyncBlobReader, AsyncBlobWriter, AsyncContainer, AsyncDynamicTable, AsyncEgt, AsyncJob,
    AsyncQueue, AsyncReceived, AsyncSetTable, AsyncTable, AsyncTables, AsyncTransaction, RowStream,
    WriteToken,
};
use table_core::{Entity, EntitySet};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: u32,
}

#[allow(dead_code, reason = "what is read of a set is counted")]
#[derive(EntitySet)]
enum Company {
    Department(Department),
    Employee(Employee),
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com"), age: 40 }
}

/// What users keep in other tasks can go there.
#[test]
fn handles_and_streams_can_be_sent() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<AsyncTables>();
    shared::<AsyncTable<Employee>>();
    shared::<AsyncDynamicTable>();
    shared::<AsyncSetTable<Company>>();
    shared::<AsyncBatch>();
    shared::<WriteToken>();
    sent::<AsyncEgt<'static, Company>>();
    sent::<AsyncTransaction<'static>>();
    sent::<table_core::Snapshot>();
    sent::<RowStream<table_core::store::Rows>>();
    shared::<AsyncQueue<u32>>();
    shared::<AsyncContainer>();
    sent::<AsyncReceived<u32>>();
    sent::<AsyncJob>();
    sent::<AsyncBlobReader>();
    sent::<AsyncBlobWriter>();
}
