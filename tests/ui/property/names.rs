use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    timestamp: u64,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Renamed {
    department: String,
    id: u32,
    #[property(rename = "EntityType")]
    kind: String,
    #[property(rename = "first-name")]
    first_name: String,
    #[property(rename = "")]
    empty: String,
    #[property(rename = "a₁")]
    subscript: String,
    #[property(rename = "a⅓")]
    fraction: String,
    #[property(rename = "a‿b")]
    tied: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Digit {
    department: String,
    id: u32,
    _1st: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", rename_all = "kebab-case")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Cased {
    department: String,
    id: u32,
}

fn main() {}
