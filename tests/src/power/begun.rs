//! Jobs, copies in other tables and messages, by one thread that goes on when it is refused something: an index is added by
//! steps, dropped and begun again, while entities and messages are written.

use std::path::Path;
use std::time::Duration;

use table_core::queue::Queue;
use table_core::{Durability, ErrorKind, Result, Store, Table};

use super::run::{self, Acks, GivenUp, Run};
use super::{batches, wrong};
use crate::damage::begun::after::Sailor;
use crate::damage::begun::before;

/// Sailors of each round.
const EACH: u32 = 12;
const HOUR: Duration = Duration::from_secs(3_600);

fn queue(store: &Store) -> Result<Queue<u32>> {
    store.queue("orders")
}

pub(super) fn run(root: &Path, level: Durability) {
    run::work_alone(|| batches::open(root, level), work);
}

fn work(run: &mut Run<impl Fn() -> Result<Store>>, acks: &Acks) -> std::result::Result<(), GivenUp> {
    for id in 0..EACH {
        let sailor = before::Sailor::from(Sailor::new(id));
        run.attempt(|store| store.table::<before::Sailor>()?.put(&sailor))?;
        acks.say(format_args!("put {id}"));
    }
    for number in 0..4 {
        send(run, acks, number)?;
    }
    make(run, acks, 100)?;
    for id in EACH..2 * EACH {
        run.attempt(|store| store.table::<Sailor>()?.put(&Sailor::new(id)))?;
        acks.say(format_args!("put {id}"));
    }
    acks.say("dropping");
    while run.attempt(|store| match store.table::<Sailor>()?.drop_index("by_rank") {
        // The attempt before it may have been more than it said.
        Err(error) if error.kind() == ErrorKind::EntityNotFound => Ok(false),
        job => job?.gentle().step(),
    })? {}
    acks.say("dropped");
    run.attempt(|store| match store.drop_table("Ports") {
        Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(()),
        dropped => dropped,
    })?;
    run.close();
    for _ in 0..2 {
        run.attempt(|store| {
            let Some(received) = queue(store)?.receive(HOUR)? else { return Ok(()) };
            received.delete()
        })?;
        acks.say("completed");
    }
    // It is left in the middle.
    make(run, acks, 3)?;
    Ok(())
}

fn send(
    run: &mut Run<impl Fn() -> Result<Store>>,
    acks: &Acks,
    number: u32,
) -> std::result::Result<(), GivenUp> {
    run.attempt(|store| queue(store)?.send(&number))?;
    acks.say(format_args!("sent {number}"));
    Ok(())
}

/// Makes the indexes by at most so many steps, each by a job of its own.
fn make(
    run: &mut Run<impl Fn() -> Result<Store>>,
    acks: &Acks,
    most: u32,
) -> std::result::Result<(), GivenUp> {
    acks.say("making");
    for step in 0..most {
        if !run.attempt(|store| store.table::<Sailor>()?.rebuild()?.gentle().step())? {
            acks.say("ready");
            return Ok(());
        }
        send(run, acks, 100 * most + step)?;
    }
    Ok(())
}

pub(super) fn verify(
    root: &Path,
    level: Durability,
    acks: super::Acks<'_>,
) -> std::result::Result<u64, String> {
    let look = |opening, store: &Store, _: &_| {
        if opening > 0 {
            return Ok(None);
        }
        let last = acks.iter().rev().find(|ack| ["ready", "making", "dropping"].contains(&ack.as_str()));
        if level == Durability::Durable && last.is_some_and(|last| last == "ready") {
            let ready = store.table::<Sailor>().and_then(|crew| crew.get(Sailor::by_mail("0@sea.org")));
            ready.map_err(|e| wrong("an index that was made", e))?;
        }
        look(store, acks).map(Some)
    };
    let go_on = |_, store: &Store| go_on(store).map_err(|e| wrong("going on", e))?;
    run::open_twice(root, level, acks, || batches::open(root, level), look, go_on)
}

/// How many acknowledged commits are not there.
fn look(store: &Store, acks: super::Acks<'_>) -> std::result::Result<u64, String> {
    let count = || -> Result<u64> {
        let crew = store.table::<Sailor>()?;
        let mut lost = 0;
        for id in acks.iter().filter_map(|ack| ack.strip_prefix("put ")) {
            let sailor = Sailor::new(id.parse().expect("a number"));
            lost += u64::from(crew.get(table_core::Key::of(&sailor))?.is_none());
        }
        store.jobs()?;
        let acked = |word: &str| acks.iter().filter(|ack| ack.starts_with(word)).count() as u64;
        let stats = queue(store)?.stats()?;
        if stats.sent != stats.ready + stats.hidden + stats.completed {
            lost += 1_000;
        }
        lost += acked("sent ").saturating_sub(stats.sent);
        // A message that is received again after it was said to be completed is one that was not.
        Ok(lost + acked("completed").min(stats.sent).saturating_sub(stats.completed))
    };
    count().map_err(|e| wrong("looking", e))
}

/// Ends what has begun; what comes of it is right.
fn go_on(store: &Store) -> Result<std::result::Result<(), String>> {
    let crew: Table<Sailor> = store.table()?;
    crew.rebuild()?.run()?;
    let report = crew.check()?;
    if !report.is_sound() || !store.jobs()?.is_empty() {
        return Ok(Err(format!("{report}: {:?}", report.problems)));
    }
    for sailor in crew.all() {
        let sailor = sailor?;
        if crew.get(Sailor::by_mail(sailor.mail.as_str()))?.is_none_or(|found| found.id != sailor.id) {
            return Ok(Err(format!("{sailor:?} is not found by its mail")));
        }
    }
    let orders = queue(store)?;
    let (ready, received) = (orders.stats()?.ready, orders.receive_many(1_000, HOUR)?);
    if received.len() as u64 != ready {
        return Ok(Err(format!("{} messages of {ready} are received", received.len())));
    }
    orders.delete_all(&received)?;
    Ok(Ok(()))
}
