//! What every backend of the tables must pass, and a backend in memory that passes it.
//!
//! A backend's own tests say how an empty one is made, and get a test for each [check](CHECKS):
//!
//! ```
//! use table_conformance::MapStore;
//!
//! for check in table_conformance::CHECKS {
//!     (check.run)(&MapStore::new().backend());
//! }
//! ```
//!
//! A check demands no more than what the backend says that it is able to do, and that what goes beyond is refused by the
//! ability's name. It panics at the first thing that is wrong.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::indexing_slicing,
    reason = "a check that fails panics"
)]

// What the derive generates names the crate that programs import.
extern crate table_engine as table_core;

mod changes;
mod map;
mod plans;
mod random;
mod reads;
mod tables;
mod typed;

use std::sync::Arc;

use table_engine::__executor::{self as seam, Backend};
use table_engine::Tables;

pub use self::map::MapStore;

/// Something that every backend must do.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// What it is about, as the name of a test.
    pub name: &'static str,
    /// Checks an empty store.
    pub run: fn(&Arc<dyn Backend>),
}

/// The tables of a store as a user holds them.
fn tables(backend: &Arc<dyn Backend>) -> Tables {
    seam::tables(backend.clone())
}

macro_rules! checks {
    ($($module:ident: $($check:ident)+;)+) => {
        /// Every check.
        pub const CHECKS: &[Check] = &[$($(Check { name: stringify!($check), run: $module::$check },)+)+];

        /// Makes a test of each check, on an empty store that the expression gives.
        #[macro_export]
        macro_rules! conformance {
            ($backend:expr) => {
                $($(
                    #[test]
                    fn $check() {
                        $crate::check(stringify!($check), &$backend);
                    }
                )+)+
            };
        }
    };
}

checks! {
    tables: tables_come_and_go names_are_compared_without_case;
    changes: each_condition_holds_or_is_refused merges_keep_what_they_do_not_name every_value_comes_back
        what_is_too_large_is_refused versions_rise;
    plans: a_plan_happens_whole_or_not_at_all what_a_plan_demands_of_other_rows
        what_goes_beyond_the_abilities_is_refused_by_name;
    reads: rows_come_in_the_order_of_their_keys random_queries_find_what_a_model_finds
        pages_join_to_the_whole a_snapshot_is_of_one_moment;
    typed: entities_and_their_copies_change_together a_unique_key_is_of_one_entity
        rows_of_a_declared_kind_are_their_structs rows_of_a_declared_kind_are_planned_by_their_layout a_changed_declaration_is_refused
        a_lost_update_is_tried_again;
}

/// Runs the check of this name on an empty store.
pub fn check(name: &str, backend: &Arc<dyn Backend>) {
    let check = CHECKS.iter().find(|check| check.name == name);
    (check.unwrap_or_else(|| panic!("there is no check `{name}`")).run)(backend);
}
