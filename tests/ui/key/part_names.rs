use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{filter}", row = "{first}_{id}")]
struct Field {
    filter: String,
    #[property(rename = "FirstName")]
    first: u32,
    id: u32,
    count: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_tag, row = "tag_{tags[]}_{id}", as = top)]
#[index(by_label, row = "label_{tags[]}_{id}", as = id)]
struct Alias {
    department: String,
    id: u32,
    tags: Vec<String>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_id, row = "id_{id}", as = number)]
#[index(by_tag, row = "tag_{tags[]}_{id}", as(tag, label))]
struct Count {
    department: String,
    id: u32,
    tags: Vec<String>,
}

fn main() {}
