use table_core::{Entity, Result, Store, Table};

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

fn floors(store: &Store, staff: &Table<Employee>, departments: &Table<Department>) -> Result<()> {
    let snapshot = store.snapshot()?;
    let all = staff.at(&snapshot).all();
    for pair in departments.at(&snapshot).join(all, |employee| Some(Employee::key("west", employee.id))) {
        let (employee, department) = pair?;
        println!("{} {}", employee.id, department.is_some());
    }
    Ok(())
}

fn main() {}
