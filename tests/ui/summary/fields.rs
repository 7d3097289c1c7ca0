//! The fields of a summary are those of its entities, and what is added up is exact.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "id_{id:06}")]
#[summarized_in(Wrong, Lossy)]
struct Employee {
    department: String,
    id: u32,
    city: Option<String>,
    level: u8,
    salary: f64,
    #[encrypt]
    bonus: i64,
    #[encrypt]
    name: String,
}

fn is_well_paid(employee: &Employee) -> bool {
    employee.salary > 1.0
}

#[derive(Entity)]
#[entity(table = "Company", kind = "wrong")]
#[key(partition = "{department}", row = "wrong_{city}_{level}_{team}_{name}")]
#[summary(of = Employee)]
struct Wrong {
    department: String,
    // It may be absent.
    city: String,
    // Another type.
    level: u32,
    // No such field.
    team: String,
    // Encrypted.
    name: String,
    #[summary(count)]
    all: u64,
    // Too narrow.
    #[summary(count)]
    few: u32,
    // A float.
    #[summary(sum = salary)]
    salaries: i64,
    // Encrypted.
    #[summary(sum = bonus)]
    bonuses: i64,
    // No such field.
    #[summary(sum = wage)]
    wages: i64,
}

// By a function, of entities that may not open any more.
#[derive(Entity)]
#[entity(table = "Company", kind = "lossy")]
#[key(partition = "{department}", row = "lossy_{level}")]
#[summary(of = Employee)]
struct Lossy {
    department: String,
    level: u8,
    #[summary(count)]
    all: u64,
    #[summary(count, when = is_well_paid)]
    some: u64,
}

fn main() {}
