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
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index_list(by_name, row = "names_{name}", of = id)]
struct Lists {
    department: String,
    id: u32,
    name: String,
}

fn main() {}
