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

fn main() {}
