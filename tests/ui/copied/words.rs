//! The words of a copy.

use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "person")]
#[key(partition = "{team}", row = "id_{id:06}")]
struct Person {
    team: String,
    id: u32,
}

#[derive(Projection)]
#[projection(of = Person)]
struct Id {
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "words")]
#[key(partition = "{team}", row = "{of}")]
struct Words {
    team: String,
    person: u32,
    #[encrypt]
    secret: u32,
    #[copy_of]
    bare: Option<Id>,
    #[copy_of()]
    empty: Option<Id>,
    #[copy_of(Person)]
    keyless: Option<Id>,
    #[copy_of(Person, key(team, persn), atomic)]
    misspelt: Option<Id>,
    #[copy_of(Person, key(team, secret))]
    sealed: Option<Id>,
    #[copy_of(Person, key(team, bare))]
    by_copy: Option<Id>,
    #[copy_of(Person, key(team, person), later)]
    unknown: Option<Id>,
    #[copy_of(Person, key(team, person))]
    always: Id,
    #[copy_of(Person, key(team, person))]
    #[property(default)]
    #[encrypt]
    of: Option<Id>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "into")]
#[key(partition = "{team}", row = "into")]
#[copied_into]
struct Into {
    team: String,
    #[copied_into(Words)]
    name: String,
}

#[derive(Entity)]
#[entity(kind = "into", version = 1, former)]
#[key(partition = "{team}", row = "into")]
#[copied_into(Words)]
struct Former {
    team: String,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "both")]
#[key(partition = "{team}", row = "both")]
struct Both {
    team: String,
    person: u32,
    #[copy_of(Person, key(team, person), atomic, eventual)]
    of: Option<Id>,
}

fn main() {}
