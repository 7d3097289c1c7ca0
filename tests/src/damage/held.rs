//! Copies that others hold of an entity and that follow it, in the store that is damaged: some are propagated, some are to
//! follow, some have followed half-way, and some of an entity that is gone; and lists of those entities.

use table_core::typed::Propagation;
use table_core::{Entity, ErrorKind, IfMatch, Key, Projection, Result, Store, Stored};

use super::Findings;
use super::people::{all, one};
use super::writes::refused;

/// An author, whose name books hold, on a list beside the others of a shelf and on one elsewhere.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Authors", kind = "author")]
#[key(partition = "{shelf}", row = "author_{id:04}")]
#[index_list(by_subject, row = "subject_{subject}", of = id)]
#[index_list(by_town, table = "Towns", partition = "lists", row = "{town}", of(shelf, id), atomic)]
#[copied_into(Book)]
pub(crate) struct Author {
    pub(crate) shelf: String,
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) subject: String,
    pub(crate) town: String,
}

/// What a book holds of its author.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Author)]
pub(crate) struct Named {
    pub(crate) name: String,
}

/// A book, found by its own key.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Books", kind = "book")]
#[key(partition = "{shelf}", row = "{author_id:04}_{number:04}")]
pub(crate) struct Book {
    pub(crate) shelf: String,
    pub(crate) author_id: u32,
    pub(crate) number: u32,
    pub(crate) title: String,
    #[copy_of(Author, key(shelf, author_id), eventual)]
    pub(crate) author: Option<Named>,
}

/// The tables of both.
pub(super) const TABLES: [&str; 3] = ["Authors", "Books", "Towns"];
/// How many have copies that are to follow.
pub(super) const UNSETTLED: u64 = 3;
/// How many of these could not be propagated when it was tried.
pub(super) const FAILING: usize = 1;

/// Whose books have followed as far as one step goes.
const HALF: u32 = 1;
/// Whose have not.
const LATER: u32 = 3;
/// Who is gone, and whose books have not followed.
const GONE: u32 = 4;
const AUTHORS: u32 = 5;
/// So many books of one author are looked at in one step of propagation, and so many has the one.
const STEP: u32 = 256;
const MANY: u32 = STEP + 4;
const FEW: u32 = 2;

pub(crate) fn author(id: u32, name: &str) -> Author {
    let (subject, town) = if id.is_multiple_of(2) { ("sky", "Lima") } else { ("sea", "Kiel") };
    Author { shelf: "poems".into(), id, name: name.into(), subject: subject.into(), town: town.into() }
}

/// An author as it was, and as it is.
fn name(id: u32, is_now: bool) -> String {
    let has_changed = is_now && [HALF, LATER].contains(&id);
    format!("author {id}{}", if has_changed { ", renamed" } else { "" })
}

fn authors() -> Vec<Author> {
    (0..AUTHORS).filter(|id| *id != GONE).map(|id| author(id, &name(id, true))).collect()
}

pub(crate) fn book(author_id: u32, number: u32, name: Option<String>) -> Book {
    Book {
        shelf: "poems".into(),
        author_id,
        number,
        title: format!("title {number}"),
        author: name.map(|name| Named { name }),
    }
}

/// All books, in order, with what each holds before the rest has followed, and after.
fn books(is_propagated: bool) -> Vec<Book> {
    let of = |author: u32| {
        (0..if author == HALF { MANY } else { FEW }).map(move |number| {
            let has_followed = is_propagated || author == HALF && number < STEP;
            let is_gone = is_propagated && author == GONE;
            book(author, number, (!is_gone).then(|| name(author, has_followed)))
        })
    };
    (0..AUTHORS).flat_map(of).collect()
}

/// Opens both, so that the process propagates what follows.
pub(super) fn open(store: &Store) -> Result<()> {
    store.table::<Author>()?;
    store.table::<Book>().map(drop)
}

/// Propagates whatever is to follow so far.
pub(super) fn build(store: &Store) -> Result<()> {
    let (authors, books) = (store.table::<Author>()?, store.table::<Book>()?);
    for id in 0..AUTHORS {
        authors.insert(&author(id, &name(id, false)))?;
    }
    let report =
        books.bulk_insert(self::books(false).into_iter().map(|book| Book { author: None, ..book }))?;
    assert!(report.failures.is_empty());
    assert_eq!(store.propagate()?, Propagation::Complete);
    // One that can't be read has the second step fail.
    let rows = store.dynamic_table("Books")?.raw();
    let last = book(HALF, MANY - 1, None);
    let key = Key::of(&last);
    let (partition, row) = key.as_strs()?;
    let sound = rows.get(partition, row)?.expect("the book was inserted");
    rows.replace(&sound.clone().with("Title", 7), IfMatch::Any)?;
    authors.update(Key::of(&author(HALF, "")), |author| author.name = name(HALF, true))?;
    assert!(matches!(store.propagate()?, Propagation::Incomplete { .. }));
    rows.replace(&sound, IfMatch::Any)?;
    authors.update(Key::of(&author(LATER, "")), |author| author.name = name(LATER, true))?;
    authors.delete(Key::of(&author(GONE, "")))
}

/// Reads all of it in every way: the authors and their lists as they are, the books as far as they have followed.
pub(super) fn compare(store: &Store, findings: &mut Findings) {
    compare_all(store, findings).unwrap_or_else(|error| findings.error(&error));
}

fn compare_all(store: &Store, findings: &mut Findings) -> Result<()> {
    let (table, books_of) = (store.table::<Author>()?, store.table::<Book>()?);
    let authors = authors();
    for author in &authors {
        one(findings, table.get(Key::of(author)).map(|found| found.map(Stored::into_inner)), author);
    }
    all(findings, table.rows().across_partitions(), &authors.iter().collect::<Vec<_>>());
    compare_lists(store, findings, &authors);
    let books = books(false);
    for book in books.iter().step_by(50) {
        one(findings, books_of.get(Key::of(book)).map(|found| found.map(Stored::into_inner)), book);
    }
    all(findings, books_of.rows().across_partitions(), &books.iter().collect::<Vec<_>>());
    Ok(())
}

/// The lists of these authors, by their keys and with the entities.
fn compare_lists(store: &Store, findings: &mut Findings, authors: &[Author]) {
    let table = match store.table::<Author>() {
        Ok(table) => table,
        Err(error) => return findings.error(&error),
    };
    for (subject, town) in [("sea", "Kiel"), ("sky", "Lima")] {
        let listed = [table.list(Author::by_subject("poems", subject)), table.list(Author::by_town(town))];
        for (list, is_town) in listed.into_iter().zip([false, true]) {
            let on_it =
                |author: &&Author| if is_town { author.town == town } else { author.subject == subject };
            let wanted: Vec<_> = authors.iter().filter(on_it).collect();
            match list {
                Ok(list) if list.len() != wanted.len() => {
                    findings.missed(|| format!("{} of {} on a list", list.len(), wanted.len()));
                }
                Ok(list) => {
                    let found = list.entities();
                    super::people::compare(
                        findings,
                        found.map(|row| row.map(Stored::into_inner)),
                        wanted.into_iter(),
                    );
                }
                Err(error) => findings.error(&error),
            }
        }
    }
}

/// Goes on with it: what comes of it is right, or an error.
pub(super) fn go_on(store: &Store, findings: &mut Findings) {
    match change(store, findings) {
        Ok(None) => {}
        Ok(Some(text)) => findings.wrong(|| text),
        Err(error) => findings.error(&error),
    }
}

fn change(store: &Store, findings: &mut Findings) -> Result<Option<String>> {
    let (table, books_of) = (store.table::<Author>()?, store.table::<Book>()?);
    let again = author(0, "again");
    refused(findings, table.insert(&again).map(drop), ErrorKind::EntityAlreadyExists, || {
        format!("a second {again:?}")
    });
    let propagation = store.propagate()?;
    if propagation != Propagation::Complete {
        // What can't be read now fails, and says so.
        let left = store.pending_propagation()?;
        let is_told = left.entities > 0 && left.failing.iter().all(|failed| !failed.error.is_empty());
        return Ok((!is_told).then(|| format!("{propagation:?} with {left}")));
    }
    let found = books_of.rows().across_partitions().into_iter();
    let found = found.map(|book| book.map(Stored::into_inner)).collect::<Result<Vec<_>>>()?;
    if let Some((found, wanted)) = found.iter().zip(&books(true)).find(|(found, wanted)| found != wanted) {
        return Ok(Some(format!("{found:?} in place of {wanted:?} once it was propagated")));
    }
    let copies = books_of.check()?;
    if !copies.is_sound() {
        return Ok(Some(format!("{copies}: {:?}", copies.problems)));
    }
    // One comes onto another list, and one off.
    table.update(Key::of(&author(0, "")), |author| author.subject = "sea".into())?;
    table.delete(Key::of(&author(LATER, "")))?;
    let mut authors = authors();
    authors.retain(|author| author.id != LATER);
    authors.iter_mut().filter(|author| author.id == 0).for_each(|author| author.subject = "sea".into());
    compare_lists(store, findings, &authors);
    Ok(None)
}
