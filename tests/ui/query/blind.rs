use table_core::{Entity, Table, prefix};

#[derive(Entity)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
struct Employee {
    department: String,
    id: u32,
    #[encrypt(blind)]
    ssn: String,
}

/// A token has no order: it is looked up by one value.
fn ranges(staff: &Table<Employee>) {
    let _ = staff.by_ssn().department("Sales").ssn("1".."2");
    let _ = staff.by_ssn().department("Sales").ssn(prefix("1"));
}

/// Filters ask it for equality alone: the first is right.
fn filters(staff: &Table<Employee>) {
    let _ = staff.rows().department("Sales").filter(|e| e.ssn.eq("1"));
    let _ = staff.rows().department("Sales").filter(|e| e.ssn.ge("1"));
    let _ = staff.rows().department("Sales").filter(|e| e.ssn.ne("1"));
}

fn main() {}
