use table_core::{Entity, KeyPart, Table, Ticks, prefix};

#[derive(KeyPart)]
enum State {
    Open,
    Closed,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "name_{name}_{id}")]
#[index(by_state, row = "state_{state}_{id}_{name:escaped}")]
#[index(by_month, row = "month_{at:%m}_{id}_{name:escaped}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    state: State,
    at: Ticks,
}

/// Ranges of text that something follows, of names, and of a part of a time that starts anew every year.
fn ranges(staff: &Table<Employee>, at: Ticks) {
    let _ = staff.rows().department("Sales").name("A".."D");
    let _ = staff.by_state().department("Sales").state(State::Open..);
    let _ = staff.by_month().department("Sales").at(..at);
}

/// A prefix of what is no text, and a range of another type.
fn others(staff: &Table<Employee>) {
    let _ = staff.rows().department("Sales").name("Jones").id(prefix("1"));
    let _ = staff.rows().department("Sales").name("Jones").id("1".."2");
}

fn main() {}
