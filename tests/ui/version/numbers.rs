use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 0)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct FromNothing {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(kind = "employee", version = 1, former)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct EmployeeV1 {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(kind = "employee", former)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Unnumbered {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", from = EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct NoVersion {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = 1, from = EmployeeV1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct NotLater {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = "2")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Text {
    department: String,
    id: u32,
}

impl From<EmployeeV1> for NoVersion {
    fn from(EmployeeV1 { department, id }: EmployeeV1) -> Self {
        Self { department, id }
    }
}

fn main() {}
