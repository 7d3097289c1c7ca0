use table_core::{Entity, EntitySet, Store};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "guest")]
#[key(partition = "{department}", row = "guest_{id:06}")]
struct Guest {
    department: String,
    id: u32,
}

#[derive(EntitySet)]
enum Company {
    Employee(Employee),
}

fn of_another_set(store: &Store, guest: &Guest) {
    let _ = store.egt::<Company>(Employee::partition("Sales")).insert(guest);
    let _ = store.egt::<Company>(Guest::partition("Sales"));
    let _ = store.set::<Employee>();
}

fn main() {}
