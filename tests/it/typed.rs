//! Entities in one partition: what the derives write, and what can be asked, written and refused.

mod by_layout;
mod conveniences;
mod cost;
mod derive;
mod hygiene;
mod json;
mod kinds;
mod lints;
mod ranges;
mod reads;
mod references;
mod refusals;
mod sets;
mod shapes;
mod transactions;
mod types;
mod web;
mod writes;
