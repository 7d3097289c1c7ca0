use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    title: String,
    #[property(rename = "Title")]
    position: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Natural {
    department: String,
    id: u32,
    #[property(rename = "Title")]
    position: String,
    title: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Digits {
    department: String,
    id: u32,
    line1: String,
    line_1: String,
    #[property(skip)]
    line__1: String,
}

fn main() {}
