//! Runs the company on the store that the first argument names: a directory, `emulator`, or a connection string. With `--store`
//! the guide's example programs run there, all of them or those that are named.
//!
//! ```console
//! cargo run -p azure-example company.tables
//! cargo run -p azure-example "$AZURE_STORAGE_CONNECTION_STRING"
//! cargo run -p azure-example -- --store azurite
//! cargo run -p azure-example -- --store "$AZURE_STORAGE_CONNECTION_STRING" index_table summary
//! cargo run -p azure-example --features postgres -- --store postgres://app@localhost/app
//! ```

use std::error::Error;
use std::process::ExitCode;

use azure_example::store::Place;
use azure_example::{Became, PROGRAMS, run_at};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_else(|| "company.tables".into());
    if first == "--store" {
        let place = arguments
            .next()
            .ok_or("`--store` is followed by `azurite`, a connection string, the address of a database, or a directory")?;
        return programs(&Place::parse(&place), &arguments.collect::<Vec<_>>());
    }
    let tables = azure_example::open(&first)?;
    for employee in azure_example::run(&tables)? {
        println!("{} ({}), {}", employee.last_name, employee.age, employee.email);
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs programs, and says of each what has become of it.
fn programs(place: &Place, named: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    if let Some(unknown) = named.iter().find(|name| PROGRAMS.iter().all(|(known, _)| known != name)) {
        let known: Vec<_> = PROGRAMS.iter().map(|(known, _)| *known).collect();
        return Err(format!("there is no example `{unknown}`: they are {}", known.join(", ")).into());
    }
    let wanted = |name: &str| named.is_empty() || named.iter().any(|other| other == name);
    let mut have_failed = false;
    for (name, program) in PROGRAMS.iter().filter(|(name, _)| wanted(name)) {
        println!("==== {name}");
        match run_at(place, *program) {
            Ok(Became::Done) => println!("==== {name}: done"),
            Ok(Became::Refused(why)) => println!("==== {name}: refused: {why}"),
            Ok(Became::Alone) => {
                println!(
                    "==== {name}: runs itself again: `cargo run -p examples --bin {name}`, in a directory"
                );
            }
            Err(error) => {
                have_failed = true;
                println!("==== {name}: FAILED: {error}");
            }
        }
    }
    Ok(if have_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
