use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "skip_{id}")]
#[index(step, row = "step_{name}_{id}", copy(age))]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: i32,
}

/// A key part left out, one of the wrong type, and a query without its partition.
fn misuse(staff: &table_core::Table<Employee>) {
    let _ = staff.step().name("Jones");
    let _ = staff.rows().department(7);
    for _ in staff.rows() {}
}

fn main() {}
