use table_core::{Entity, Result, Table};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u8,
}

#[derive(Entity)]
#[entity(table = "Departments", kind = "department")]
#[key(partition = "{region}", row = "{name}")]
struct Department {
    region: String,
    name: String,
    floor: i32,
}

fn floors(staff: &Table<Employee>, departments: &Table<Department>) -> Result<()> {
    let joined = departments.join(staff.all(), |employee| Some(Department::key("west", &employee.department)));
    for pair in joined {
        let (employee, department) = pair?;
        println!("{} {:?}", employee.id, department.map(|department| department.floor));
    }
    Ok(())
}

fn main() {}
