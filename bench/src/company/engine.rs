//! What every engine is asked to do, and how one is made.

use std::path::Path;

use super::Employee;
use crate::{Digest, Result};

/// What an engine read.
pub type Answer = Result<Digest>;
/// What an engine did.
pub type Done = Result<()>;

/// A store of employees.
///
/// All engines refuse a key that is there already, and an e-mail address that another employee of the department
/// has, before they write anything. What they read they add to a [`Digest`], as owned values unless the engine's
/// description says otherwise. `asked` tells by whole employees what is looked for; an engine uses no more of them
/// than the method's name says.
pub trait Engine: Sync {
    /// Adds employees of one department, who must not be there, in one transaction.
    fn load(&self, staff: &[Employee]) -> Done;
    /// Adds an employee, who must not be there, in one transaction.
    fn insert(&self, employee: &Employee) -> Done {
        self.load(std::slice::from_ref(employee))
    }
    /// Employees by department and id, each in a read transaction of its own.
    fn get(&self, asked: &[Employee]) -> Answer;
    /// Employees by department and e-mail address, each in a read transaction of its own.
    fn get_by_email(&self, asked: &[Employee]) -> Answer;
    /// For each of the asked, the department's employees of the last name, in the order of their ids.
    fn list_by_last_name(&self, asked: &[Employee]) -> Answer;
    /// For each of the asked, the `count` ids of the department from theirs on.
    fn range(&self, asked: &[Employee], count: u32) -> Answer;
    /// Every employee.
    fn scan(&self) -> Answer;
    /// Gives an employee, found by department and id, another e-mail address, in one transaction. Nothing else of
    /// `who` is to be relied on.
    fn change_email(&self, who: &Employee, email: &str) -> Done;
    /// Removes an employee, found by department and id, in one transaction.
    fn delete(&self, who: &Employee) -> Done;
    /// Removes all employees at once, by the quickest way that the engine has. The engine is not used afterwards.
    fn clear(&self) -> Done;
    /// Commits so far, and the inserts and other transactions in them, where several can share one.
    fn commits(&self) -> Result<Option<(u64, u64)>> {
        Ok(None)
    }
    /// Waits until the space of what was cleared can be used again, where `clear` does not.
    fn reclaim(&self) -> Done {
        Ok(())
    }
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// Until what it wrote survives a power failure.
    Durable,
    /// For nothing that the engine lets one leave out.
    Lax,
}

/// Opens an engine in an empty directory.
pub type Open = fn(&Path, &Opening) -> Result<Box<dyn Engine>>;

/// How an engine is to be opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// What commits wait for.
    pub sync: SyncMode,
    /// The bytes that a memory map may take, where the engine has one: valgrind has no room for large ones.
    pub map: usize,
}

impl Opening {
    /// With a map that is never full.
    pub fn with(sync: SyncMode) -> Self {
        Self { sync, map: 1 << 40 }
    }
}

/// An engine and what is to be said of it.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// What it is called on the command line and in the tables.
    pub name: &'static str,
    /// What it is and how it is used, in a sentence.
    pub what: &'static str,
    /// How [`SyncMode::Durable`] and [`SyncMode::Lax`] are asked for.
    pub sync: &'static str,
    /// Whether threads of its own do part of its work, so that their time counts too.
    pub threads: bool,
    /// Whether it is another way to read what an engine of another name wrote, so that its writes tell nothing.
    pub reads_only: bool,
    /// Opens it.
    pub open: Open,
}
