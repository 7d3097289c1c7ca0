//! Entities that have no lists.

use table_core::Entity;

// Encrypted fields: in the key, and by their tokens.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index_list(by_name, row = "name_{name}", of = id)]
#[index_list(by_ssn, row = "ssn_{ssn:blind}", of = id)]
#[index_list(by_city, row = "city_{city}", of = name)]
struct Employee {
    department: String,
    id: u32,
    #[encrypt]
    name: String,
    #[encrypt(blind)]
    ssn: String,
    city: String,
}

// Signed rows.
#[derive(Entity)]
#[entity(table = "Company", kind = "contract", signed)]
#[key(partition = "{department}", row = "contract_{id:06}")]
#[index_list(by_name, row = "name_{name}", of = id)]
struct Contract {
    department: String,
    id: u32,
    name: String,
}

// A table for each period.
#[derive(Entity)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
#[index_list(by_city, row = "city_{city}", of = at)]
struct Login {
    user: String,
    at: table_core::Ticks,
    city: String,
}

// A former version.
#[derive(Entity)]
#[entity(kind = "member", version = 1, former)]
#[key(partition = "{club}", row = "member_{id:06}")]
#[index_list(by_city, row = "city_{city}", of = id)]
struct MemberV1 {
    club: String,
    id: u32,
    city: String,
}

fn main() {}
