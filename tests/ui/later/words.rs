use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Large {
    department: String,
    id: u32,
    #[blob]
    photo: Vec<u8>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", wide)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Wide {
    department: String,
    id: u32,
}

fn main() {}
