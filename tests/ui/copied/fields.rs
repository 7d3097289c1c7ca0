//! What can be copied, by what it is found, and where both lie.

use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(table = "Company", kind = "person")]
#[key(partition = "{team}", row = "id_{id:06}")]
#[index(by_desk, row = "desk_{desk:04}_{id:06}", copy = keys)]
#[copied_into(Lost, Few, Other, Far, Near, Sealed, Again, Silent, Neighbour)]
struct Person {
    team: String,
    id: u32,
    name: Option<String>,
    age: i32,
    #[encrypt]
    ssn: String,
    desk: u16,
    #[copy_of(Desk, key(team, desk))]
    seat: Option<Seat>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "desk")]
#[key(partition = "{team}", row = "of_{number:04}")]
#[copied_into(Person)]
struct Desk {
    team: String,
    number: u16,
    floor: i32,
}

#[derive(Projection)]
#[projection(of = Desk)]
struct Seat {
    floor: i32,
}

#[derive(Projection)]
#[projection(of = Person)]
struct Age {
    age: i32,
}

#[derive(Projection)]
#[projection(of = Person)]
struct Secret {
    ssn: String,
}

#[derive(Projection)]
#[projection(of = Person)]
struct Name {
    name: Option<String>,
}

// No index leads back.
#[derive(Entity)]
#[entity(table = "Company", kind = "lost")]
#[key(partition = "{team}", row = "lost")]
#[index(by_name, row = "name_{name}_{person:06}", copy = keys)]
struct Lost {
    team: String,
    name: String,
    person: u32,
    #[copy_of(Person, key(team, person))]
    of: Option<Age>,
}

// The key of a person is made of two fields.
#[derive(Entity)]
#[entity(table = "Company", kind = "few")]
#[key(partition = "{team}", row = "few")]
struct Few {
    team: String,
    #[copy_of(Person, key(team))]
    of: Option<Age>,
}

// A text where a number stands.
#[derive(Entity)]
#[entity(table = "Company", kind = "other")]
#[key(partition = "{team}", row = "other_{person}")]
struct Other {
    team: String,
    person: String,
    #[copy_of(Person, key(team, person))]
    of: Option<Age>,
}

// In another table.
#[derive(Entity)]
#[entity(table = "Far", kind = "far")]
#[key(partition = "{team}", row = "far_{person:06}")]
struct Far {
    team: String,
    person: u32,
    #[copy_of(Person, key(team, person))]
    of: Option<Age>,
}

// In the same partition.
#[derive(Entity)]
#[entity(table = "Company", kind = "near")]
#[key(partition = "{team}", row = "near_{person:06}")]
struct Near {
    team: String,
    person: u32,
    #[copy_of(Person, key(team, person), atomic)]
    of: Option<Age>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "sealed")]
#[key(partition = "{team}", row = "sealed_{person:06}")]
struct Sealed {
    team: String,
    person: u32,
    #[copy_of(Person, key(team, person))]
    of: Option<Secret>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "silent")]
#[key(partition = "{team}", row = "silent_{person:06}")]
struct Silent {
    team: String,
    person: u32,
    #[copy_of(Person, key(team, person))]
    of: Option<Name>,
}

// What is a copy there is copied on.
#[derive(Projection)]
#[projection(of = Person)]
struct Floor {
    age: i32,
    seat: Option<Seat>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "again")]
#[key(partition = "{team}", row = "again_{person:06}")]
struct Again {
    team: String,
    person: u32,
    #[copy_of(Person, key(team, person))]
    of: Option<Floor>,
}

// In the same partition.
#[derive(Entity)]
#[entity(table = "Company", kind = "neighbour")]
#[key(partition = "{team}", row = "neighbour_{person:06}")]
struct Neighbour {
    team: String,
    person: u32,
    #[copy_of(Person, key(team, person), eventual)]
    of: Option<Age>,
}

fn main() {}
