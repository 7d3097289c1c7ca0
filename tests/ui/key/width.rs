use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:6}")]
struct NoZero {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:006}")]
struct Zeros {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:00}")]
struct Nothing {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:021}")]
struct Wide {
    department: String,
    id: u32,
}

fn main() {}
