use table_core::{Entity, Projection, Table};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, copy(first_name))]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
#[index(by_name, row = "name_{first_name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    email: String,
    age: u8,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Badge {
    id: u32,
    first_name: String,
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Card {
    first_name: String,
    age: u8,
    email: String,
}

// What a copy lacks is said where it is asked for. Copies that have the fields, whole ones and the entities themselves are right:
// the first query, the last two, and the last two reads by key.
fn uses(staff: &Table<Employee>) -> Result<(), table_core::Error> {
    staff.by_email().department("Sales").select::<Badge>().count()?;
    staff.by_email().department("Sales").select::<Card>().count()?;
    staff.by_age().department("Sales").select::<Badge>().count()?;
    staff.by_name().department("Sales").select::<Card>().count()?;
    staff.rows().department("Sales").select::<Card>().count()?;
    staff.get_as::<Card>(Employee::by_email("Sales", "a@b.c"))?;
    staff.get_as::<Badge>(Employee::by_email("Sales", "a@b.c"))?;
    staff.get_as::<Card>(Employee::key("Sales", 7))?;
    Ok(())
}

fn main() {}
