use table_core::asynchronous::{AsyncSetTable, AsyncTable};
use table_core::{Entity, EntitySet, Result};

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

#[derive(EntitySet)]
enum Company {
    Employee(Employee),
}

async fn ages(staff: &AsyncTable<Employee>) -> Result<()> {
    for employee in staff.rows().department("Sales") {
        println!("{}", employee?.age);
    }
    for employee in staff.all() {
        println!("{}", employee?.age);
    }
    let emails: Result<Vec<_>> = staff.by_email().department("Sales").into_iter().collect();
    println!("{}", emails?.len());
    Ok(())
}

async fn names(company: &AsyncSetTable<Company>) {
    for found in company.across_partitions() {
        drop(found);
    }
    for found in company.partition(Employee::partition("Sales")) {
        drop(found);
    }
}

fn main() {}
