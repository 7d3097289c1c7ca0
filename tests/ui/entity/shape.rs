use table_derive::{Entity, Projection, Properties};

#[derive(Entity)]
struct Tuple(String, u32);

#[derive(Entity)]
#[entity(table = "Company", kind = "unit")]
struct Unit;

#[derive(Entity)]
enum Enum {
    A,
}

#[derive(Properties)]
struct Properties2(u32);

#[derive(Projection)]
#[projection(of = Employee)]
struct Contact(String);

fn main() {}
