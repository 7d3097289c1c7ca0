use table_core::{Entity, Table};

#[derive(Entity, Debug)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}_{first_name}_{id:06}")]
#[index(by_email, row = "email_{email}", unique, copy = keys)]
#[index(by_age, row = "age_{age:03}_{id:06}", copy(first_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
    age: u8,
}

fn uses(staff: &Table<Employee>) -> Result<(), table_core::Error> {
    // A part of the key is skipped.
    staff.by_name().last_name("Cao").count()?;
    staff.by_name().department("Sales").first_name("Jun").count()?;
    // A query that is not complete is asked for its rows; and one that is, which is right.
    for employee in staff.by_name() {
        println!("{employee:?}");
    }
    for employee in staff.rows().department("Sales") {
        println!("{employee:?}");
    }
    // A part after a range.
    staff.by_age().department("Sales").age(30..40).id(7).count()?;
    // A number is asked as a text, and the other way round.
    staff.rows().department("Sales").filter(|e| e.age.ge("40")).count()?;
    staff.rows().department("Sales").filter(|e| e.last_name.eq(7)).count()?;
    // Two filters in the words of Rust.
    staff.rows().department("Sales").filter(|e| e.age.ge(40) && e.age.lt(50)).count()?;
    staff.rows().department("Sales").filter(|e| e.age == 40).count()?;
    staff.rows().department("Sales").filter(|e| e.age > 40).count()?;
    // `!` is right.
    staff.rows().department("Sales").filter(|e| !e.age.eq(40)).count()?;
    // Keys as texts, an ETag as a text.
    staff.get(("Sales", "empid_000007"))?;
    staff.get("Sales")?;
    staff.delete_if(Employee::key("Sales", 7), "W/\"datetime'2026'\"")?;
    staff.delete(Employee::key("Sales"))?;
    staff.get(Employee::key(7, "Sales"))?;
    Ok(())
}

fn main() {}
