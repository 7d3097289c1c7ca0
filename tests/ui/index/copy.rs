use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(frist_name, email))]
struct Unknown {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(email, first_name, email))]
struct Repeated {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(id, last_name))]
struct Key {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}", copy(cached))]
struct Skipped {
    department: String,
    id: u32,
    name: String,
    #[property(skip)]
    cached: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{last_name}_{id:06}", copy = some)]
#[index(by_email, row = "email_{email}", copy)]
struct Malformed {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
}

fn main() {}
