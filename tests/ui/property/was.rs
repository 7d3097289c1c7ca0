//! C10, C11, C24: `was` is a name that no field has any more, of a property that is stored as it is; it is the property's name,
//! and no field's, unless both are said.

use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{id}")]
struct Employee {
    department: String,
    id: u32,
    #[property(was = "Mail")]
    mail: String,
    #[property(was = "Department")]
    unit: String,
    #[property(was = "Phone")]
    first_phone: String,
    #[property(was = "Phone")]
    second_phone: String,
    #[property(was = "e-mail")]
    address: String,
    #[property(was)]
    age: u8,
    #[property(skip, was = "Notes")]
    notes: String,
    #[encrypt]
    #[property(was = "SocialSecurity")]
    ssn: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    #[property(was = "Heads")]
    head_count: u32,
}

#[derive(Projection)]
#[projection(of = Department)]
struct Size {
    // What others hold of it had that name.
    #[property(was = "Heads")]
    head_count: u32,
}

#[derive(Projection)]
#[projection(of = Department)]
struct Shown {
    #[property(was = "HeadCount")]
    head_count: u32,
    #[property(was = "title")]
    name: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "guest")]
#[key(partition = "{host}", row = "guest_{id}")]
struct Guest {
    #[property(was = "host_name")]
    host: String,
    id: u32,
    #[property(was = "mail")]
    mail: Option<String>,
    #[property(rename = "Phone", was = "phone")]
    phone: Option<String>,
    #[property(new, was = "Car")]
    plate: Option<String>,
    #[property(skip, new)]
    seen: bool,
}

fn main() {}
