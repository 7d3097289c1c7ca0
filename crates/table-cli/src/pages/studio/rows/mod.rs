//! What pages show of a table: rows with their copies, and what a query reads.

mod copies;
mod explained;
mod listing;
mod moment;
#[cfg(test)]
mod tests;

pub(super) use self::copies::{Agreement, CopyState};
pub(super) use self::explained::{Explained, Place};
pub(super) use self::listing::{Asked, Identity, Item, Listed, Listing};
pub(super) use self::moment::Moment;
