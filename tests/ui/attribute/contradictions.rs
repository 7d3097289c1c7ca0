use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Skipped {
    department: String,
    id: u32,
    #[property(skip, rename = "X")]
    x: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Flattened {
    department: String,
    id: u32,
    #[flatten]
    #[property(json)]
    x: Person,
    #[flatten(prefix)]
    y: Person,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Unsealed {
    department: String,
    id: u32,
    #[encrypt]
    #[property(skip)]
    x: u32,
    #[encrypt]
    #[flatten]
    y: Person,
    #[encrypt]
    #[encrypt]
    z: u32,
    #[encrypt(always)]
    w: u32,
}

struct Person;

fn main() {}
