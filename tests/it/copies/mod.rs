//! Typed writes under random operations: after each, the table holds exactly the rows that the entities imply, as a
//! scan finds that knows nothing of how writes are planned; and what is refused leaves every byte as it was.
//!
//! `TABLE_CORE_SEED` repeats a run; `TABLE_CORE_COPIES` makes it longer or shorter.

mod account;
mod event;
mod film;
mod model;
mod patient;
mod post;
mod run;
mod shape;

use std::sync::Arc;

use integration_tests::executors::Executor;
use integration_tests::{Scratch, assert_sound};
use table_core::Tables;
use table_core::crypt::MemoryKeys;

use self::account::Account;
use self::event::Event;
use self::film::Film;
use self::patient::Patient;
use self::post::Post;
use self::run::Run;
use self::shape::Shape;

/// Steps of each kind of entity.
fn steps() -> u64 {
    number("TABLE_CORE_COPIES").unwrap_or(25_000)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn run<E: Shape>() {
    let seed = number("TABLE_CORE_SEED").unwrap_or(7);
    // Sealing takes its time, the more so in a test's build.
    let is_on_lmdb = Executor::of_test() == Executor::Lmdb;
    let steps = if E::SEALED.is_empty() && is_on_lmdb { steps() } else { steps() / 8 };
    let scratch = Scratch::new();
    let mut options = integration_tests::relaxed();
    if !E::SEALED.is_empty() {
        options = options.encryption(Arc::new(MemoryKeys::new().unwrap()));
    }
    let store: Tables = scratch.tables_with(&options);
    let mut run = Run::<E>::new(&store, seed);
    for _ in 0..steps {
        run.step();
    }
    run.check();
    assert_sound(&store);
    println!("seed {seed}, {steps} steps: {}", run.counts());
}

#[test]
fn copies_of_films_are_what_the_films_imply() {
    run::<Film>();
}

#[test]
fn copies_of_accounts_are_what_the_accounts_imply() {
    run::<Account>();
}

#[test]
fn copies_of_posts_are_what_the_posts_imply() {
    run::<Post>();
}

#[test]
fn copies_of_events_are_what_the_events_imply() {
    run::<Event>();
}

/// Copies hold the entity's own sealed bytes, which open as what the patient says.
#[test]
fn copies_of_patients_are_what_the_patients_imply() {
    run::<Patient>();
}

integration_tests::on_other_executors! {
    copies_of_films_are_what_the_films_imply
    copies_of_accounts_are_what_the_accounts_imply
    copies_of_posts_are_what_the_posts_imply
    copies_of_events_are_what_the_events_imply
}
