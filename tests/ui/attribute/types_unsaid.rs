//! Generated types that nobody has asked for, named.

use table_core::typed::{At, OwnRows};
use table_core::{Entity, Table};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}", copy = keys)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: i32,
}

fn in_sales(staff: &Table<Employee>) -> EmployeeQuery<OwnRows<Employee>, At<1>> {
    staff.rows().department("Sales")
}

fn older() -> EmployeePatch {
    Employee::patch().age(4)
}

fn label(row: &EmployeeByName) -> String {
    row.name.clone()
}
// Some of them are beside the struct.
#[derive(Entity)]
#[entity(table = "Company", kind = "guest", types(patch))]
#[key(partition = "{department}", row = "guest_{id:06}")]
struct Guest {
    department: String,
    id: u32,
    age: i32,
}

fn birthday(age: i32) -> GuestPatch {
    Guest::patch().age(age + 1)
}

fn is_adult(guest: &GuestColumns) -> table_core::Filter {
    guest.age.ge(18)
}

fn main() {}
