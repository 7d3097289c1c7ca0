use table_core::{DynamicEntity, Entity, EntitySet};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "review")]
#[key(partition = "{department}", row = "{area}_{number:06}")]
struct Review {
    department: String,
    area: String,
    number: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "guest_{id:06}")]
struct Guest {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Orders", kind = "order")]
#[key(partition = "{customer}", row = "order_{id}")]
struct Order {
    customer: String,
    id: u32,
}

struct Plain;

#[derive(EntitySet)]
enum Meeting {
    Employee(Employee),
    Review(Review),
}

#[derive(EntitySet)]
enum OneKind {
    Employee(Employee),
    Guest(Guest),
}

#[derive(EntitySet)]
enum TwoTables {
    Employee(Employee),
    Order(Order),
}

#[derive(EntitySet)]
enum NoEntity {
    Employee(Employee),
    Plain(Plain),
}

#[derive(EntitySet)]
enum Unknown {
    Employee(Employee),
    #[entity_set(unknown)]
    Other(String),
}

fn main() {
    let _ = DynamicEntity::new("", "");
}
