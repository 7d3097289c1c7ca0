//! The fields of `key(..)`, in another order than those of the source's key.

use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[copied_into(Desk)]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Name {
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "desk")]
#[key(partition = "{department}", row = "desk_{id:06}")]
struct Desk {
    department: String,
    id: u32,
    #[copy_of(Employee, key(id, department))]
    who: Option<Name>,
}

// Both are text, so that the names alone tell.
#[derive(Entity)]
#[entity(table = "Company", kind = "guest")]
#[key(partition = "{host}", row = "guest_{name}")]
#[copied_into(Badge)]
struct Guest {
    host: String,
    name: String,
    age: u8,
}

#[derive(Projection)]
#[projection(of = Guest)]
struct Age {
    age: u8,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "badge")]
#[key(partition = "{host}", row = "badge_{name}")]
struct Badge {
    host: String,
    name: String,
    #[copy_of(Guest, key(name, host))]
    of: Option<Age>,
}

fn main() {}
