use table_core::{Entity, IfMatch, Table};

#[derive(Entity, Debug, Clone)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_age, row = "age_{age:03}_{id:06}", copy(first_name))]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    age: u8,
}

fn uses(staff: &Table<Employee>, mut other: Employee) -> Result<(), table_core::Error> {
    // A key can't be patched.
    staff.merge(Employee::key("Sales", 7), Employee::patch().id(8), IfMatch::Any)?;
    // A patch of another type, a patch that is an entity.
    staff.merge(Employee::key("Sales", 7), Employee::patch().age("40"), IfMatch::Any)?;
    staff.merge(Employee::key("Sales", 7), &other, IfMatch::Any)?;
    // The condition is left out; an entity by value; a change that gives the entity back.
    staff.replace(&other)?;
    staff.insert(other)?;
    staff.update(Employee::key("Sales", 7), |e| Employee { age: 1, ..e })?;
    // Not a field of the copy.
    staff.by_age().department("Sales").filter(|e| e.salary.eq(7)).count()?;
    for row in staff.by_age().department("Sales").age(40) {
        println!("{}", row?.last_name);
    }
    // An error that can't hold the store's.
    staff.try_update(Employee::key("Sales", 7), |e| if e.age > 99 { Err("old") } else { Ok(()) }).ok();
    // Methods that other libraries have.
    staff.get_all(Employee::key("Sales", 7))?;
    staff.remove(Employee::key("Sales", 7))?;
    other.save(staff)?;
    Ok(())
}

fn main() {}
