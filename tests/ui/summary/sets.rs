//! A set is of entities that are written.

use table_core::{Entity, EntitySet};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "id_{id:06}")]
#[summarized_in(Count)]
struct Employee {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "count")]
#[key(partition = "{department}", row = "count")]
#[summary(of = Employee)]
struct Count {
    department: String,
    #[summary(count)]
    all: u64,
}

#[derive(EntitySet)]
enum Company {
    Employee(Employee),
    Count(Count),
}

fn main() {}
