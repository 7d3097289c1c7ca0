//! Employees with a unique and a plain index, in every engine that there is.
//!
//! [`Employee`] is the entity, [`Engine`] what an engine is asked to do, and [`conforms`] whether it does it.

#[cfg(feature = "async")]
mod awaited;
mod chart;
mod conformance;
mod disk;
mod dynamic;
mod employee;
mod engine;
mod floor;
mod growth;
mod lmdb;
mod memory;
mod pointers;
mod profiling;
mod quiet;
mod syncs;
mod tables;
mod typed;

pub use conformance::conforms;
pub use employee::{DEPARTMENTS, Employee, department};
pub use engine::{Answer, Done, Engine, Maker, Open, Opening, SyncMode};
pub(crate) use lmdb::Lmdb;
pub(crate) use profiling::run as profile;
pub(crate) use syncs::run as syncs;

use crate::{Arguments, Result};

/// The engines that need nothing but heed, the floor first.
pub const ENGINES: &[Maker] = &[
    floor::MAKER,
    floor::BORROWED,
    pointers::MAKER,
    typed::MAKER,
    typed::VIEWS,
    dynamic::VIEWS,
    dynamic::MAKER,
    #[cfg(feature = "async")]
    awaited::MAKER,
];

/// The engines asked for, the floor always among them and first.
fn chosen(arguments: &Arguments, peers: &[Maker]) -> Result<Vec<Maker>> {
    let all: Vec<_> = ENGINES.iter().chain(peers).copied().collect();
    if let Some(unknown) = arguments.engines.iter().find(|name| all.iter().all(|maker| maker.name != **name))
    {
        let names: Vec<_> = all.iter().map(|maker| maker.name).collect();
        return Err(format!("there is no engine `{unknown}`; there are {}", names.join(", ")).into());
    }
    let asked = |maker: &Maker| match arguments.engines.as_slice() {
        // Ten million employees in each of all engines would take hours and fill the disk.
        [] if arguments.large => ["floor", "typed"].contains(&maker.name),
        [] => true,
        names => maker.name == floor::MAKER.name || names.iter().any(|name| name == maker.name),
    };
    Ok(all.into_iter().filter(asked).collect())
}

/// Runs every workload with every engine.
pub(crate) fn run(arguments: &Arguments, peers: &[Maker]) -> Result<()> {
    let makers = chosen(arguments, peers)?;
    let mut report = tables::Report::new(arguments, &makers);
    memory::run(arguments, &makers, &mut report)?;
    if !arguments.large {
        disk::run(arguments, &makers, &mut report)?;
    }
    report.finish()
}
