//! Each side of a summary says that the other is there, and what it takes of it fits.

use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company", kind = "untold")]
#[key(partition = "{department}", row = "id_{id:06}")]
struct Untold {
    department: String,
    id: u32,
}

// The entity doesn't say that it is summarized.
#[derive(Entity)]
#[entity(table = "Company", kind = "count")]
#[key(partition = "{department}", row = "count")]
#[summary(of = Untold)]
struct Count {
    department: String,
    #[summary(count)]
    all: u64,
}

// The other is no summary, or one of something else.
#[derive(Entity)]
#[entity(table = "Company", kind = "hopeful")]
#[key(partition = "{department}", row = "hope_{id:06}")]
#[summarized_in(Count, Untold)]
struct Hopeful {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "alone")]
#[key(partition = "{department}", row = "alone")]
#[summary(of = NoEntity)]
struct Alone {
    department: String,
    #[summary(count)]
    all: u64,
}

struct NoEntity;

// A function of another signature.
#[derive(Entity)]
#[entity(table = "Company", kind = "told")]
#[key(partition = "{department}", row = "told_{id:06}")]
#[summarized_in(Picks)]
struct Told {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "picks")]
#[key(partition = "{department}", row = "picks")]
#[summary(of = Told)]
struct Picks {
    department: String,
    #[summary(count)]
    all: u64,
    #[summary(count, when = picks)]
    some: u64,
}

fn picks(_: &Picks) -> bool {
    true
}

fn main() {}
