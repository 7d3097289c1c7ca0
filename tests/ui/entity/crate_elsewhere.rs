//! The crate is not where the derives look for it: each says so once.

use table_core::{Entity, EntitySet, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", crate = core_of_tables)]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name:escaped}!{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    #[series]
    cpu: [u8; 4],
}

#[derive(Projection)]
#[projection(of = Employee, crate = core_of_tables)]
struct Name {
    name: String,
}

#[derive(EntitySet)]
#[entity_set(crate = core_of_tables)]
enum Company {
    Employee(Employee),
}

fn main() {}
