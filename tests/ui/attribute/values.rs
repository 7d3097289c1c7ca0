use table_derive::Entity;

#[derive(Entity)]
#[entity(table = 5, kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Number {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table, kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Missing {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = "2")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Version {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", version = -1)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Negative {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique = true)]
struct Flag {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, when = |e| true)]
struct When {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity)]
#[entity(table = "Company" kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Comma {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity("Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Literal {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Name {
    department: String,
    id: u32,
    employee_type: String,
    #[property(rename = 'X')]
    entity_type: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", picture = "off")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Picture {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee", picture)]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Bare {
    department: String,
    id: u32,
}

fn main() {}
