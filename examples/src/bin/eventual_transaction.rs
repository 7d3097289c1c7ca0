//! Guide, pattern 3: an eventually consistent transaction. An employee goes from one table to another by a queue, and a
//! worker that is killed half-way loses nothing.
//!
//! Two tables of one store could be changed by one transaction. The pattern is for steps that can't be: here each step
//! stands for one that leaves the store.

use std::error::Error;
use std::io::Write;
use std::process::{Command, exit};
use std::time::Duration;

use examples::{Scratch, draw, stdout};
use serde::{Deserialize, Serialize};
use table_core::queue::{Queue, Received};
use table_core::{Entity, ErrorKind, Query, Store, Stored, Table};

/// One who works here.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Current", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    leaves: bool,
}

/// One who has left.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Archive", kind = "former")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Former {
    department: String,
    id: u32,
    name: String,
}

/// The message: this employee is to be archived.
#[derive(Serialize, Deserialize)]
struct Leave {
    department: String,
    id: u32,
}

/// How long a message is hidden from others, and so how soon it shows again after its worker has died.
const VISIBILITY: Duration = Duration::from_millis(300);

/// The first step, which does no harm when it is done twice.
fn archive(current: &Table<Employee>, former: &Table<Former>, leave: &Leave) -> table_core::Result<()> {
    let Some(found) = current.get(Employee::key(&leave.department, leave.id))? else { return Ok(()) };
    let Employee { department, id, name, .. } = Stored::into_inner(found);
    former.put(&Former { department, id, name }).map(drop)
}

/// The second step, with the end of the message: both in one transaction.
fn remove(current: &Table<Employee>, leave: &Received<Leave>) -> table_core::Result<()> {
    let key = Employee::key(&leave.department, leave.id);
    let step = current.egt(Employee::partition(&leave.department));
    match step.delete(key).complete(leave).commit() {
        // Somebody has done it before.
        Err(error) if error.kind() == ErrorKind::EntityNotFound => leave.delete(),
        done => done.map(drop),
    }
}

/// A worker that dies between the steps.
fn die_half_way(path: &str) -> Result<(), Box<dyn Error>> {
    let store = Store::open(path)?;
    let leaves: Queue<Leave> = store.queue("leaves")?;
    let leave = leaves.receive(VISIBILITY)?.ok_or("there is a message")?;
    archive(&store.table()?, &store.table()?, &leave)?;
    exit(9);
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = std::env::args().nth(1) {
        return die_half_way(&path);
    }
    let scratch = Scratch::new("eventual_transaction");
    let store = Store::open(scratch.path())?;
    let (current, former) = (store.table::<Employee>()?, store.table::<Former>()?);
    let leaves: Queue<Leave> = store.queue("leaves")?;
    let mut out = stdout();

    for (id, name) in [(1, "Jones"), (2, "Hall")] {
        current.insert(&Employee { department: "Sales".into(), id, name: name.into(), leaves: false })?;
    }
    // That she leaves, and the message that says so: both, or neither.
    current
        .egt(Employee::partition("Sales"))
        .update(Employee::key("Sales", 1), |e| e.leaves = true)
        .send(&leaves, &Leave { department: "Sales".into(), id: 1 })
        .commit()?;
    writeln!(out, "Jones leaves, and a message says so:\n")?;
    draw(&mut out, current.dynamic(), &Query::new())?;

    let died = Command::new(std::env::current_exe()?).arg(scratch.path()).status()?;
    assert_eq!(died.code(), Some(9));
    writeln!(out, "\nA worker has archived her and died. A reader finds her in both tables:\n")?;
    draw(&mut out, former.dynamic(), &Query::new())?;
    let stats = leaves.stats()?;
    assert_eq!((stats.ready + stats.hidden, stats.completed), (1, 0), "the message is not lost");
    assert!(current.get(Employee::key("Sales", 1))?.is_some());

    let (steps, archives) = (current.clone(), former.clone());
    let worker = leaves.worker().threads(2).run(move |leave| {
        archive(&steps, &archives, leave)?;
        remove(&steps, leave)
    })?;
    while leaves.stats()?.completed < 1 {
        std::thread::sleep(Duration::from_millis(5));
    }
    worker.stop();
    writeln!(out, "\nThe message has shown again, and another worker has done both steps:\n")?;
    draw(&mut out, current.dynamic(), &Query::new())?;
    assert!(current.get(Employee::key("Sales", 1))?.is_none());
    assert_eq!(former.get(Former::key("Sales", 1))?.map(|former| former.name.clone()), Some("Jones".into()));

    // What nobody can deal with goes aside, with the reason.
    leaves.send(&Leave { department: "Marketing".into(), id: 404 })?;
    for _ in 0..5 {
        let leave = leaves.receive(VISIBILITY)?.ok_or("it is there")?;
        leave.fail(format!("there is no employee {} in {}", leave.id, leave.department), Duration::ZERO)?;
    }
    let poison: Queue<Leave> = store.queue("leaves-poison")?;
    let aside = poison.peek(1)?;
    let reason = aside.first().and_then(|leave| leave.last_error()).ok_or("it was set aside")?;
    writeln!(out, "\nAfter five tries a message goes to `leaves-poison`: {reason}")?;
    assert!(store.check()?.problems.is_empty());
    Ok(())
}
