use table_core::{Entity, crypt::Secret};

struct Plain;

enum Role {
    Seller,
}

// Types that are no key parts, and a function that says no truth value. The secret is right.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{role}_{id:06}")]
#[index(by_plain, row = "plain_{plain}", when = is_old)]
struct Employee {
    department: String,
    id: u32,
    role: Role,
    plain: Plain,
    #[encrypt]
    ssn: Secret<String>,
}

fn is_old(_employee: &Employee) -> u8 {
    3
}

// A secret that is not encrypted, defaults of what has none.
#[derive(Entity)]
#[entity(table = "Company", kind = "guest")]
#[key(partition = "{department}", row = "guest_{id:06}")]
struct Guest {
    department: String,
    id: u32,
    pin: Secret<String>,
    #[property(json)]
    plain: Plain,
    #[property(default)]
    role: Role,
    #[property(skip)]
    other: Plain,
}

// A list and a map without a word.
#[derive(Entity)]
#[entity(table = "Company", kind = "visitor")]
#[key(partition = "{department}", row = "visitor_{id:06}")]
struct Visitor {
    department: String,
    id: u32,
    tags: Vec<String>,
    by_name: std::collections::HashMap<String, u32>,
}

fn main() {}
