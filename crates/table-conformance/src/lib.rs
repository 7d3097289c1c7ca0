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

mod blobs;
mod changes;
mod jobs;
mod kinds;
mod map;
mod pairs;
mod periods;
mod plans;
mod queues;
mod random;
mod reads;
mod service_records;
mod shared_rows;
mod tables;
mod typed;
mod visits;

use std::sync::Arc;

use table_engine::__executor::{self as seam, Backend};
use table_engine::{Error, ErrorKind, Query, Snapshot, Tables};

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

/// Makes sure that an error refuses what the backend can't do, and says what that is.
fn check_lacks(error: &Error, ability: &str) {
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains(ability), "{error}");
}

/// Returns a snapshot, if the store has the ability; else makes sure that it is refused.
fn snapshot(backend: &Arc<dyn Backend>) -> Option<Snapshot> {
    let taken = tables(backend).snapshot();
    if backend.abilities().snapshot {
        return Some(taken.unwrap());
    }
    check_lacks(&taken.unwrap_err(), "`snapshot`");
    None
}

/// Returns the queries, and each from the last row to the first, if the store has the ability.
fn each_way(backend: &Arc<dyn Backend>, queries: &[Query]) -> Vec<Query> {
    let has_reverse = backend.abilities().reverse;
    let turned = |query: &Query| has_reverse.then(|| query.clone().rev());
    queries.iter().flat_map(|query| std::iter::once(query.clone()).chain(turned(query))).collect()
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
    tables: tables_come_and_go names_are_compared_without_case a_table_has_another_name_or_keeps_its_own
        tables_are_listed_by_pages;
    changes: each_condition_holds_or_is_refused merges_keep_what_they_do_not_name every_value_comes_back
        what_is_too_large_is_refused versions_rise;
    plans: a_plan_happens_whole_or_not_at_all what_a_plan_demands_of_other_rows
        what_goes_beyond_the_abilities_is_refused_by_name rows_keep_their_times_where_the_plan_says_so
        a_load_fails_batch_by_batch;
    reads: rows_come_in_the_order_of_their_keys random_queries_find_what_a_model_finds
        pages_join_to_the_whole a_snapshot_is_of_one_moment rows_come_backwards_or_are_refused;
    pairs: ranges_of_pairs_find_what_a_model_finds no_row_outside_a_range_of_pairs_is_read
        an_end_that_is_no_key_is_refused;
    visits: rows_are_lent_as_they_are_read a_value_is_lent_as_long_as_the_closure_runs
        a_visitor_may_stop_or_fail a_budget_ends_pages_early pages_of_any_budget_join_to_the_whole;
    typed: entities_and_their_copies_change_together a_unique_key_is_of_one_entity
        rows_of_a_declared_kind_are_their_structs rows_of_a_declared_kind_are_planned_by_their_layout
        each_operation_has_the_version_of_its_entity a_changed_declaration_is_refused
        a_lost_update_is_tried_again pages_of_merged_ranges_end_early
        entities_come_backwards_or_are_refused;
    shared_rows: numbers_are_added_to copies_follow_their_entities;
    queues: queues_come_and_go a_message_is_of_one_receiver_until_it_is_given_back a_unique_message_is_there_once
        a_message_is_spoken_of_by_its_receipt messages_go_with_the_rows_of_a_plan;
    blobs: containers_come_and_go a_blob_is_what_was_put_and_appended blobs_are_listed_by_their_names
        blobs_change_together;
    jobs: a_repair_mends_every_copy a_job_goes_on_where_it_was a_table_is_gone_over_in_bounded_steps;
    periods: each_period_has_a_table a_period_goes_with_its_table;
    kinds: kinds_are_those_that_were_written a_key_is_made_without_its_struct;
    service_records: a_service_record_is_what_was_last_put a_service_record_is_replaced_by_what_it_was
        a_service_record_goes_with_its_table a_service_record_goes_with_its_queue what_is_no_service_record_is_refused;
}

/// Runs the check of this name on an empty store.
pub fn check(name: &str, backend: &Arc<dyn Backend>) {
    let check = CHECKS.iter().find(|check| check.name == name);
    (check.unwrap_or_else(|| panic!("there is no check `{name}`")).run)(backend);
}
