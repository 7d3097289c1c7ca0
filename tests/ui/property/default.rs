//! C24: `default` alone, or with a value of the field's type.

use table_core::Entity;

struct NoDefault;

impl table_core::schema::Property for NoDefault {
    const EDM: table_core::EdmType = table_core::EdmType::Int32;

    fn to_property(&self) -> Result<table_core::schema::PropertyValue<'_>, table_core::schema::ValueError> {
        unimplemented!()
    }

    fn from_property(_: Option<table_core::ValueRef<'_>>) -> Result<Self, table_core::schema::ValueError> {
        unimplemented!()
    }
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{id}")]
struct Employee {
    department: String,
    id: u32,
    #[property(default)]
    level: NoDefault,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    #[property(default(5))]
    head_count: u32,
    #[property(default =)]
    budget: i64,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "room")]
#[key(partition = "{name}", row = "room")]
struct Room {
    name: String,
    #[property(default = "many")]
    seats: u32,
}

fn main() {}
