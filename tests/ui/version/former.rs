use table_core::Entity;

// What is only read has no table, no indexes, and no names of functions.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 1, former, patch_name = change, types)]
#[key(partition = "{department}", row = "empid_{id:06}", name = find)]
#[index(by_email, row = "email_{email}", unique)]
struct EmployeeV1 {
    department: String,
    id: u32,
    email: String,
}

// Its mistake is told once: it is a former version all the same.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
}

impl From<EmployeeV1> for Employee {
    fn from(former: EmployeeV1) -> Self {
        Self { department: former.department, id: former.id }
    }
}

fn main() {}
