use table_core::{Entity, EntitySet, IfMatch, KeyPart, Projection, Properties, Result, Store};

#[derive(KeyPart)]
enum Level {
    Junior,
    #[key_part(rename = "a/b")]
    Senior,
}

#[derive(Properties)]
struct Address {
    #[property(rename = "1st")]
    city: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{departmnt}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(email))]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
    email: String,
    age: i32,
    level: Level,
    #[flatten]
    address: Address,
}

#[derive(EntitySet)]
enum Company {
    Employee(Employee),
    Again(Employee),
}

#[derive(Projection)]
#[projection(of = Employee)]
struct Age {
    #[property(rename = "Years")]
    age: i32,
}

fn uses(store: &Store, employee: &Employee) -> Result<()> {
    let staff = store.table::<Employee>()?;
    staff.insert(employee)?;
    staff.get(Employee::by_email("Sales", "a@b"))?;
    staff.merge(Employee::key("Sales", 7), Employee::patch().age(40), IfMatch::Any)?;
    for row in staff.by_name().department("Sales").last_name("Jones") {
        drop(row?.email);
    }
    for row in staff.rows().department("Sales").id(1..=7).filter(|e| e.age.ge(40)) {
        drop(row?.address.city.len());
    }
    for row in staff.rows().department("Sales").select::<Age>() {
        drop(row?.age);
    }
    store.egt::<Company>(Employee::partition("Sales")).insert(employee).commit()?;
    Ok(())
}

fn main() {}
