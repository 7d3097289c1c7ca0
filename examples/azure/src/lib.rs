//! A company, whatever its store is; and the guide's example programs, wherever their stores lie.

pub mod store;

use std::error::Error;

use table_azure::AzureTables;
use table_core::{Copied, Entity, ErrorKind, Store, Tables};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_last_name, row = "lastname_{last_name}_{id:06}")]
pub struct Employee {
    pub department: String,
    pub id: u32,
    pub last_name: String,
    pub email: String,
    pub age: i32,
}

/// Opens the store that a text names: `emulator`, a connection string, or a directory.
pub fn open(store: &str) -> Result<Tables, Box<dyn Error>> {
    Ok(match store {
        "emulator" => Tables::clone(&*AzureTables::connect("UseDevelopmentStorage=true")?),
        text if text.contains('=') => Tables::clone(&*AzureTables::connect(text)?),
        directory => Tables::clone(&*Store::open(directory)?),
    })
}

/// Hires two, gives one another address, and returns the department by name. It can be run again.
pub fn run(tables: &Tables) -> Result<Vec<Employee>, Box<dyn Error>> {
    let staff = tables.table::<Employee>()?;
    for (id, last_name) in [(1, "Jones"), (2, "Cao")] {
        let email = format!("{}@contoso.com", last_name.to_lowercase());
        let employee =
            Employee { department: "Sales".into(), id, last_name: last_name.into(), email, age: 30 };
        staff.put(&employee)?;
    }
    // The row and its two copies change together, or not at all.
    staff.update(Employee::key("Sales", 1), |jones| {
        jones.email = "j.jones@contoso.com".into();
        jones.age += 1;
    })?;
    let found = staff.get(Employee::by_email("Sales", "j.jones@contoso.com"))?;
    println!("by the new address: {:?}", found.map(|jones| jones.last_name.clone()));
    let mut department = Vec::new();
    for employee in staff.by_last_name().department("Sales") {
        department.push(Copied::into_inner(employee?));
    }
    Ok(department)
}

/// An example program.
pub type Program = fn() -> Result<(), Box<dyn Error>>;

mod programs {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}
pub use programs::PROGRAMS;

/// What has become of a program.
#[derive(Debug, PartialEq, Eq)]
pub enum Became {
    /// It has run to its end.
    Done,
    /// The store can't do what it asks for, and says so.
    Refused(String),
    /// It runs itself again, which only its own binary can.
    Alone,
}

/// Runs an example program whose stores lie at a place.
pub fn run_at(place: &store::Place, program: Option<Program>) -> Result<Became, Box<dyn Error>> {
    let Some(program) = program else { return Ok(Became::Alone) };
    let Err(error) = place.run(program) else { return Ok(Became::Done) };
    match error.downcast_ref::<table_core::Error>() {
        // A store that has no tables of copies alone refuses to drop the entities' part of one.
        Some(refused) if matches!(refused.kind(), ErrorKind::Unsupported | ErrorKind::CopiesElsewhere) => {
            Ok(Became::Refused(refused.to_string()))
        }
        _ => Err(error),
    }
}
