//! A summary in another partition or table says `atomic`; no other row has its keys, and no other index its name.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "id_{id:06}")]
#[index(by_level, row = "level_{level:03}_{id:06}")]
#[summarized_in(Beside, Elsewhere, OtherTable, Meets, Named, ByLevel)]
struct Employee {
    department: String,
    id: u32,
    level: u8,
}

// In the partition of its entities it always changes with them.
#[derive(Entity)]
#[entity(table = "Company", kind = "beside")]
#[key(partition = "{department}", row = "beside")]
#[summary(of = Employee, atomic)]
struct Beside {
    department: String,
    #[summary(count)]
    all: u64,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "elsewhere")]
#[key(partition = "all", row = "elsewhere_{department}")]
#[summary(of = Employee)]
struct Elsewhere {
    department: String,
    #[summary(count)]
    all: u64,
}

#[derive(Entity)]
#[entity(table = "Counts", kind = "other_table")]
#[key(partition = "{department}", row = "other")]
#[summary(of = Employee)]
struct OtherTable {
    department: String,
    #[summary(count)]
    all: u64,
}

// A row of it could have the key of a copy.
#[derive(Entity)]
#[entity(table = "Company", kind = "meets")]
#[key(partition = "{department}", row = "level_{level:03}_000007")]
#[summary(of = Employee)]
struct Meets {
    department: String,
    level: u8,
    #[summary(count)]
    all: u64,
}

// Its kind is the one of its entities.
#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "named")]
#[summary(of = Employee)]
struct Named {
    department: String,
    #[summary(count)]
    all: u64,
}

// Its kind is the name of an index.
#[derive(Entity)]
#[entity(table = "Company", kind = "by_level")]
#[key(partition = "{department}", row = "by_level")]
#[summary(of = Employee)]
struct ByLevel {
    department: String,
    #[summary(count)]
    all: u64,
}

fn main() {}
