//! Periods, copies that follow, what follows from other entities, at once and later, lists, and a conversion, by one thread
//! that goes on when it is refused something.

use std::path::Path;

use table_core::store::CheckReport;
use table_core::typed::Propagation;
use table_core::{Durability, ErrorKind, Key, Result, Store};

use super::run::{self, Acks, GivenUp, Run};
use super::{sealed, wrong};
use crate::damage::fleet::{Captain, Vessel, Wages, captain, vessel};
use crate::damage::held::{Author, Book, author, book};
use crate::damage::letters::Letter;
use crate::damage::tides::{Tide, day, tide};
use crate::versions;

/// Days, letters, captains and authors.
const MANY: u32 = 5;
/// How often a letter, a captain and an author are written.
const TURNS: u32 = 3;
/// Employees that are converted.
const HIRED: u32 = 20;

pub(super) fn run(root: &Path, level: Durability) {
    run::work_alone(|| sealed::open(root, level), work);
}

fn letter(id: u32, turn: u32) -> Letter {
    Letter { stamp: turn, ..Letter::new(id, true) }
}

fn paid(id: u32, turn: u32) -> Captain {
    Captain { wage: i64::from(turn), name: format!("{id} at {turn}"), ..captain("red", id) }
}

/// Each time on another list.
fn wrote(id: u32, turn: u32) -> Author {
    Author { subject: format!("subject {}", (id + turn) % 2), ..author(id, &format!("{id} at {turn}")) }
}

/// When a name was given.
fn turn(name: &str) -> Option<u32> {
    name.rsplit(' ').next()?.parse().ok()
}

fn work(run: &mut Run<impl Fn() -> Result<Store>>, acks: &Acks) -> std::result::Result<(), GivenUp> {
    for id in 0..MANY {
        let mut vessel = vessel("red", id);
        vessel.captain = None;
        run.attempt(|store| store.table::<Vessel>()?.put(&vessel))?;
        run.attempt(|store| store.table::<Book>()?.put(&book(id, 0, None)))?;
    }
    for turn in 1..=TURNS {
        for id in 0..MANY {
            let number = u64::from(turn * MANY + id);
            run.attempt(|store| store.periods::<Tide>()?.put(&tide("Brest", number, 1)))?;
            acks.say(format_args!("tide {number}"));
            run.attempt(|store| store.table::<Letter>()?.put(&letter(id, turn)))?;
            acks.say(format_args!("letter {id} {turn}"));
            run.attempt(|store| store.table::<Captain>()?.put(&paid(id, turn)))?;
            acks.say(format_args!("captain {id} {turn}"));
            run.attempt(|store| store.table::<Author>()?.put(&wrote(id, turn)))?;
            acks.say(format_args!("author {id} {turn}"));
        }
        acks.say("dropping");
        run.attempt(|store| store.periods::<Tide>()?.drop_before(day(u64::from(turn * MANY + 2))))?;
        acks.say(format_args!("floor {}", turn * MANY + 2));
        if turn < TURNS {
            let propagation = run.attempt(|store| {
                store.table::<Letter>()?;
                store.table::<Author>()?;
                store.table::<Book>()?;
                store.propagate()
            })?;
            if propagation == Propagation::Complete {
                acks.say(format_args!("propagated {turn}"));
            }
        }
        run.close();
    }
    for id in 0..HIRED {
        run.attempt(|store| store.table::<versions::first::Employee>()?.put(&versions::hired(id)))?;
        acks.say(format_args!("hired {id}"));
    }
    // It is left in the middle.
    let mut job = 0;
    while job < 2
        && run.attempt(|store| store.migration::<versions::second::Employee>()?.steps()?.gentle().step())?
    {
        job += 1;
    }
    Ok(())
}

pub(super) fn verify(
    root: &Path,
    level: Durability,
    acks: super::Acks<'_>,
) -> std::result::Result<u64, String> {
    let look = |opening, store: &Store, report: &CheckReport| {
        if !report.wrong_copies.is_empty() {
            return Err(format!("{:?}", report.wrong_copies));
        }
        if opening > 0 {
            return Ok(None);
        }
        look(store, acks).map_err(|e| wrong("looking", e))?.map(Some)
    };
    let go_on = |_, store: &Store| go_on(store).map_err(|e| wrong("going on", e))?;
    run::open_twice(root, level, acks, || sealed::open(root, level), look, go_on)
}

/// The numbers behind a word, as one or two.
fn said<'a>(acks: super::Acks<'a>, word: &'a str) -> impl Iterator<Item = (u32, u32)> + 'a {
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    acks.iter().filter_map(move |ack| ack.strip_prefix(word)).map(move |rest| {
        rest.split_once(' ').map_or((number(rest), 0), |(one, other)| (number(one), number(other)))
    })
}

/// How many acknowledged commits are not there.
fn look(store: &Store, acks: super::Acks<'_>) -> Result<std::result::Result<u64, String>> {
    let (tides, letters, captains) =
        (store.periods::<Tide>()?, store.table::<Letter>()?, store.table::<Captain>()?);
    let authors = store.table::<Author>()?;
    let mut lost = 0;
    let floor = tides.floor()?;
    lost += u64::from(said(acks, "floor ").last().is_some_and(|(number, _)| floor < day(number.into())));
    for (number, _) in said(acks, "tide ").filter(|(number, _)| day(u64::from(*number)) >= floor) {
        lost += u64::from(tides.get(Key::of(&tide("Brest", number.into(), 1)))?.is_none());
    }
    if let Some(late) = tides.list()?.iter().find(|period| period.start < floor) {
        return Ok(Err(format!("{late:?} is there below {floor}")));
    }
    let last = |word, id| said(acks, word).filter(|(found, _)| *found == id).map(|(_, turn)| turn).last();
    for id in 0..MANY {
        let found = letters.get(Key::of(&letter(id, 0)))?.map(|letter| letter.stamp);
        lost += u64::from(found < last("letter ", id));
        let found = captains.get(Key::of(&paid(id, 0)))?.map(|captain| captain.wage);
        lost += u64::from(found < last("captain ", id).map(i64::from));
        let found = authors.get(Key::of(&wrote(id, 0)))?;
        lost += u64::from(found.as_ref().and_then(|author| turn(&author.name)) < last("author ", id));
        // It is on the list of its subject, and on no other.
        for number in 0..2 {
            let subject = format!("subject {number}");
            let wanted = found.as_ref().is_some_and(|author| author.subject == subject);
            let list = authors.list(Author::by_subject("poems", &*subject))?;
            if list.keys().any(|key| key == Key::of(&wrote(id, 0))) != wanted {
                return Ok(Err(format!("{found:?} on the list of {subject}")));
            }
        }
    }
    // Since it was said that all is propagated nothing was written.
    if acks.last().is_some_and(|ack| ack.starts_with("propagated ")) {
        lost += u64::from(store.pending_propagation()?.entities > 0);
    }
    let is_there = store.tables()?.iter().any(|table| table == "Company");
    for (id, _) in said(acks, "hired ") {
        let find = || store.dynamic_table("Company")?.get("Sales", &format!("empid_{id:06}"));
        lost += u64::from(!is_there || find()?.is_none());
    }
    Ok(Ok(lost))
}

/// Ends what has begun; what comes of it is right.
fn go_on(store: &Store) -> Result<std::result::Result<(), String>> {
    let (letters, captains, vessels) =
        (store.table::<Letter>()?, store.table::<Captain>()?, store.table::<Vessel>()?);
    let (authors, books) = (store.table::<Author>()?, store.table::<Book>()?);
    let propagation = store.propagate()?;
    let reports = [letters.check()?, captains.check()?, vessels.check()?, authors.check()?, books.check()?];
    if propagation != Propagation::Complete || !reports.iter().all(|report| report.is_sound()) {
        return Ok(Err(format!("{propagation:?}: {reports:?}")));
    }
    for letter in letters.all() {
        let letter = letter?;
        let rows = letters.by_sender().sender(&*letter.sender).office(&*letter.office).id(letter.id);
        if rows.count()? != 1 {
            return Ok(Err(format!("{letter:?} is not listed once")));
        }
    }
    for book in books.all() {
        let book = book?;
        let author = authors.get(Key::of(&wrote(book.author_id, 0)))?.map(|author| author.name.clone());
        if book.author.as_ref().map(|held| &held.name) != author.as_ref() {
            return Ok(Err(format!("{book:?} of {author:?}")));
        }
    }
    let (mut many, mut sum) = (0, 0);
    for captain in captains.all() {
        let captain = captain?;
        (many, sum) = (many + 1, sum + captain.wage);
        let name = vessels.get(Vessel::key("red", captain.id))?.map(|vessel| vessel.captain.clone());
        if let Some(held) = name
            && captain.id % 4 != 0
            && held.as_ref().map(|held| &held.name) != Some(&captain.name)
        {
            return Ok(Err(format!("{held:?} is held of {captain:?}")));
        }
    }
    let wages = store.table::<Wages>()?.get(Wages::key("red"))?.map(|wages| (wages.captains, wages.paid));
    if wages.unwrap_or_default() != (many, sum) {
        return Ok(Err(format!("{wages:?} of {many} captains and {sum}")));
    }
    if store.tables()?.iter().any(|table| table == "Company") {
        store.migration::<versions::second::Employee>()?.run()?;
        let staff = store.table::<versions::second::Employee>()?;
        let found = staff
            .all()
            .into_iter()
            .map(|one| one.map(|one| (one.id, one.age)))
            .collect::<Result<Vec<_>>>()?;
        let expected = (0..HIRED).map(|id| (id, versions::age(id))).take(found.len());
        if !expected.eq(found.iter().copied()) || !store.jobs()?.is_empty() {
            return Ok(Err(format!("converted are {found:?}")));
        }
    }
    let late = store.periods::<Tide>()?.insert(&tide("Brest", 1, 1));
    let floor = store.periods::<Tide>()?.floor()?;
    match late {
        Err(error) if error.kind() == ErrorKind::PeriodDropped => Ok(Ok(())),
        late if floor > day(1) => Ok(Err(format!("{late:?} below {floor}"))),
        _ => Ok(Ok(())),
    }
}
