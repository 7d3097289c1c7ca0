//! Rows that were not written by the struct as it is now.

use integration_tests::Scratch;
use table_core::{DynamicEntity, Entity, IfMatch, Table, Tables, Value};

use super::seen;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Books", kind = "book")]
#[key(partition = "{shelf}", row = "book_{number:03}")]
#[index(by_title, row = "title_{title}", unique)]
#[index(by_year, row = "year_{year:04}_{number:03}", copy(stars, pages))]
#[index(by_author, row = "author_{authors[]}_{number:03}", copy(authors), as = author)]
struct Book {
    shelf: String,
    number: u32,
    title: String,
    year: i64,
    /// A later addition.
    #[property(default)]
    stars: i32,
    /// Once an `i32`.
    pages: i64,
    #[property(json)]
    authors: Vec<String>,
}

/// A book as it was written before it had stars, with fewer pages, and by somebody whose JSON has spaces.
fn write(table: &Table<Book>) {
    let row = |key: &str, kind: &str| DynamicEntity::new("top", key).with("EntityType", kind);
    let (authors, pages) = ("[ \"Ann\" ]", 90);
    let whole = |row: DynamicEntity| row.with("Pages", pages).with("Authors", authors).with("Year", 1999_i64);
    let rows = [
        whole(row("book_001", "book")).with("Title", "Tables"),
        whole(row("title_Tables", "book.by_title")).with("Number", 1_i64),
        row("year_1999_001", "book.by_year").with("Pages", pages),
        row("author_Ann_001", "book.by_author").with("Authors", authors),
    ];
    rows.into_iter()
        .fold(table.dynamic().raw().batch("top"), |batch, row| batch.insert(row))
        .commit()
        .unwrap();
}

fn property(store: &Tables, row: &str, name: &str) -> Option<Value> {
    let (found, _) = seen(store).into_iter().find(|(found, _)| found.row_key() == row).unwrap();
    found.get(name).cloned()
}

/// As far as the struct can tell these copies are right; still, filters would find other values in them than in the
/// entity's own row, once that is written anew.
#[test]
fn copies_of_a_former_declaration_are_brought_up_with_their_entity() {
    let changes: [fn(&Table<Book>); 4] = [
        |books| drop(books.update(Book::key("top", 1), |_| {}).unwrap()),
        |books| drop(books.merge(Book::key("top", 1), Book::patch().stars(0), IfMatch::Any).unwrap()),
        |books| {
            let book = books.get(Book::key("top", 1)).unwrap().unwrap();
            books.replace(&book, IfMatch::Any).unwrap();
        },
        |books| {
            assert!(books.egt(Book::partition("top")).update(Book::key("top", 1), |_| {}).commit().is_ok())
        },
    ];
    for change in changes {
        let scratch = Scratch::new();
        let store = scratch.tables();
        let books = store.table::<Book>().unwrap();
        write(&books);
        change(&books);
        for row in ["book_001", "title_Tables", "year_1999_001"] {
            assert_eq!(property(&store, row, "Stars"), Some(Value::Int32(0)), "{row}");
            assert_eq!(property(&store, row, "Pages"), Some(Value::Int64(90)), "{row}");
        }
        for row in ["book_001", "title_Tables", "author_Ann_001"] {
            assert_eq!(property(&store, row, "Authors"), Some("[\"Ann\"]".into()), "{row}");
        }
        let found = books.by_year().shelf("top").filter(|book| book.stars.eq(0)).count().unwrap();
        assert_eq!(found, 1);
    }
}

/// Once they are, a change of something else leaves them alone.
#[test]
fn a_copy_that_is_right_is_not_written_again() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let books = store.table::<Book>().unwrap();
    write(&books);
    let plan = || books.egt(Book::partition("top")).update(Book::key("top", 1), |_| {}).explain().unwrap();
    assert_eq!(plan().rows(), 4);
    books.update(Book::key("top", 1), |_| {}).unwrap();
    let note = DynamicEntity::new("top", "book_001").with("Note", "of nobody's concern");
    books.dynamic().raw().merge(&note, IfMatch::Any).unwrap();
    let written: Vec<_> = plan().written().map(str::to_owned).collect();
    assert_eq!(written, ["book_001"]);
}

integration_tests::on_other_executors! {
    copies_of_a_former_declaration_are_brought_up_with_their_entity
    a_copy_that_is_right_is_not_written_again
}
