use table_derive::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:reverse}")]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

// The entity's own mistake is the only one to report.
#[derive(Projection)]
#[projection(of = Employee)]
struct Contact {
    email: String,
}

fn main() {}
