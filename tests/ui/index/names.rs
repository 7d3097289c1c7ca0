use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "last_{last_name}_{id:06}")]
#[index(by_name, row = "first_{first_name}_{id:06}")]
struct Twice {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(latest, row = "last_{last_name}_{id:06}")]
struct Table {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(key, row = "last_{last_name}_{id:06}")]
struct Function {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{id}", name = find, partition_name = find)]
#[index(by_name, row = "last_{last_name}_{id:06}", name = find)]
struct Names {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(reencrypt, row = "last_{last_name}_{id:06}")]
struct Method {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

fn main() {}
