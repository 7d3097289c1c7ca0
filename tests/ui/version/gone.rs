use table_core::Entity;

// What goes is no property of a field, is named once, and is a name.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee", gone("Phone", "Fax", "Fax", "no name"))]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    phone: Option<String>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "guest", gone = "Phone")]
#[key(partition = "{department}", row = "guest_{id:06}")]
struct Guest {
    department: String,
    id: u32,
}

// The property's name, and no field's, unless both are said.
#[derive(Entity)]
#[entity(table = "Company", kind = "partner", gone("first_phone", "Fax", "fax"))]
#[key(partition = "{department}", row = "partner_{id:06}")]
struct Partner {
    department: String,
    id: u32,
}

// The version of a function that is not named, and one that is counted from 0.
#[derive(Entity)]
#[entity(table = "Company", kind = "visitor")]
#[key(partition = "{department}", row = "visitor_{id:06}")]
#[index(by_age, row = "age_{age:03}_{id:06}", when_version = 2)]
#[index(by_youth, row = "youth_{id:06}", when = is_young, when_version = 0)]
struct Visitor {
    department: String,
    id: u32,
    age: u8,
}

fn is_young(visitor: &Visitor) -> bool {
    visitor.age < 30
}

fn main() {}
