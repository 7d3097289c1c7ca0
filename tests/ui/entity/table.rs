use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Co", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Short {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "our-company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Sign {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "1Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Digit {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Tables", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Taken {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Empty {
    department: String,
    id: u32,
}

fn main() {}
