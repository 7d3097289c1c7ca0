//! The company at its simplest: an employee with one unique index, and a department. Tests that need another index or
//! property declare their own.

use table_core::Entity;

/// An employee, found by their address too.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
pub struct Employee {
    /// The name of their department.
    pub department: String,
    /// Their number in it.
    pub id: u32,
    /// Their address, of which each department has one.
    pub email: String,
    /// Their age in years.
    pub age: i32,
}

/// A department, in the partition of those who work in it.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
pub struct Department {
    /// Its name.
    pub name: String,
    /// How many work in it.
    pub head_count: u32,
}
