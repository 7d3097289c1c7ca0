use table_derive::Entity;

#[derive(Entity)]
#[entity(tabel = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Misspelt {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", colour = "red")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Unheard {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", rows = "empid_{id:06}")]
struct KeyWord {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", uniqe)]
struct Index {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Property {
    department: String,
    #[property(renam = "Number")]
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", allow(hot_partiton))]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Warning {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", rename_all = "camel_case")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Case {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(tbl = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Other {
    department: String,
    id: u32,
}

fn main() {}
