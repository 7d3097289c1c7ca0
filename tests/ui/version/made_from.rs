use table_core::{Entity, Store};

#[derive(Entity)]
#[entity(kind = "employee", version = 1, former)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct EmployeeV1 {
    department: String,
    id: u32,
}

// Nothing says what the former one becomes.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
}

struct Plain {
    department: String,
    id: u32,
}

// The struct is no former version.
#[derive(Entity)]
#[entity(table = "Company", kind = "guest", version = 2, from = Plain)]
#[key(partition = "{department}", row = "guest_{id:06}")]
struct Guest {
    department: String,
    id: u32,
}

impl From<Plain> for Guest {
    fn from(Plain { department, id }: Plain) -> Self {
        Self { department, id }
    }
}

// A former version is read, and nothing else.
fn no_table(store: &Store) {
    let _ = store.table::<EmployeeV1>();
}

fn main() {}
