use table_core::{Entity, Table};

#[derive(Entity)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[encrypt]
    ssn: String,
    #[encrypt(dual)]
    iban: String,
}

/// What is sealed has no order and no equality that a filter could see.
fn by_ssn(staff: &Table<Employee>) {
    let _ = staff.rows().department("Sales").filter(|e| e.ssn.eq("078-05-1120"));
}

/// Nor of what is still being sealed: it may be either.
fn by_iban(staff: &Table<Employee>) {
    let _ = staff.rows().department("Sales").filter(|e| e.iban.eq("DE89 3704"));
}

fn main() {}
