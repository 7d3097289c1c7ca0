//! What a library says to the world of an entity, and what Clippy says of that: nothing, whatever lints are on.
//!
//! `it/lints.rs` has everything that can be declared. It is no library, and lints about what others see pass it by.

#![deny(
    missing_docs,
    clippy::pedantic,
    clippy::nursery,
    clippy::restriction,
    reason = "so strict is nobody, and still nothing is to be said"
)]
#![allow(clippy::blanket_clippy_restriction_lints, reason = "all of them are meant")]

use table_core::{Entity, Properties};

/// An entity whose types lie beside it.
#[expect(
    clippy::arbitrary_source_item_ordering,
    reason = "what is derived follows it, and is not to be blamed"
)]
#[derive(Entity)]
#[entity(table = "Company", kind = "employee", types)]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, copy = keys)]
#[index(by_name, row = "name_{name}_{id:06}")]
#[non_exhaustive]
pub struct Employee {
    /// Where they work.
    pub department: String,
    /// A number in the department.
    pub id: u32,
    /// What they are called.
    pub name: String,
    /// Where letters go.
    pub email: String,
    /// Where they live.
    #[flatten]
    pub address: Address,
    /// By the hour.
    #[series]
    pub calls: [u32; 24],
}

/// What is flattened.
#[expect(
    clippy::arbitrary_source_item_ordering,
    reason = "what is derived follows it, and is not to be blamed"
)]
#[derive(Properties)]
#[non_exhaustive]
pub struct Address {
    /// A street.
    pub street: String,
    /// A city.
    pub city: String,
}
