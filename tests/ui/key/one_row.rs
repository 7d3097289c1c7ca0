use table_derive::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{title}", row = "{actors[]}")]
struct Movie {
    title: String,
    actors: Vec<String>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "{id}")]
struct Stored {
    department: String,
    #[property(skip)]
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{person}", row = "{id}")]
struct Flat {
    id: u32,
    #[flatten]
    person: Person,
}

struct Person;

fn main() {}
