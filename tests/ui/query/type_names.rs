use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types)]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
}

fn row(_: &EmployeeByNam) {}

fn main() {}
