//! A web application's handlers: tables that many tasks share, and errors as responses.

use std::future::Future;

use integration_tests::Scratch;
use table_core::{ETag, Entity, Error, IfMatch, Stored, Table};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes", kind = "note")]
#[key(partition = "{user}", row = "note_{id:06}")]
#[index(by_slug, row = "slug_{slug}", unique)]
struct Note {
    user: String,
    id: u32,
    slug: String,
    text: String,
}

/// What a handler gives: a status, and what the client gets.
#[derive(Debug, PartialEq)]
struct Response {
    status: u16,
    etag: Option<String>,
    body: String,
}

impl From<Error> for Response {
    fn from(error: Error) -> Self {
        Self { status: error.status(), etag: None, body: error.code().to_owned() }
    }
}

/// What the handlers share.
#[derive(Clone)]
struct App {
    notes: Table<Note>,
}

impl App {
    /// Inline.
    async fn read(&self, user: &str, id: u32) -> Result<Response, Response> {
        let note = self.notes.get(Note::key(user, id))?;
        let note = note.ok_or(Response { status: 404, etag: None, body: String::new() })?;
        let etag = Some(Stored::etag(&note).to_string());
        Ok(Response { status: 200, etag, body: Stored::into_inner(note).text })
    }

    /// On the blocking pool: what the header says of the version stands for the condition.
    async fn write(&self, note: Note, if_match: Option<String>) -> Result<Response, Response> {
        let condition = if_match.map(|text| text.parse::<ETag>()).transpose();
        let condition =
            condition.map_err(|why| Response { status: 400, etag: None, body: why.to_string() })?;
        let notes = self.notes.clone();
        let written = tokio::task::spawn_blocking(move || match condition {
            None => notes.insert(&note),
            Some(etag) => notes.replace(&note, IfMatch::from(etag)),
        });
        let etag = written.await.unwrap()?;
        Ok(Response { status: 204, etag: Some(etag.to_string()), body: String::new() })
    }
}

fn note(id: u32, slug: &str, text: &str) -> Note {
    Note { user: "mia".into(), id, slug: slug.into(), text: text.into() }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn refused(status: u16, body: &str) -> Result<Response, Response> {
    Err(Response { status, etag: None, body: body.to_owned() })
}

#[test]
fn errors_are_responses() {
    let scratch = Scratch::new();
    let app = App { notes: scratch.store().table().unwrap() };
    run(async {
        assert_eq!(app.read("mia", 1).await, refused(404, ""));
        let made = app.write(note(1, "shopping", "milk"), None).await.unwrap();
        assert_eq!(app.read("mia", 1).await.unwrap().etag, made.etag);
        // There already; by its key, and by the unique index.
        assert_eq!(app.write(note(1, "other", ""), None).await, refused(409, "EntityAlreadyExists"));
        assert_eq!(app.write(note(2, "shopping", ""), None).await, refused(409, "EntityAlreadyExists"));
        // An ETag that is none, one that is old, one of what isn't there.
        let text = "not an ETag such as `W/\"datetime'2026-11-20T20%3A37%3A52.6107149Z'\"`: text in quotation marks, with `W/` before \
                    them or without";
        assert_eq!(app.write(note(1, "shopping", ""), Some("7".into())).await, refused(400, text));
        app.write(note(1, "shopping", "bread"), made.etag.clone()).await.unwrap();
        let late = app.write(note(1, "shopping", "tea"), made.etag.clone()).await;
        assert_eq!(late, refused(412, "UpdateConditionNotSatisfied"));
        assert_eq!(app.write(note(9, "nine", ""), made.etag).await, refused(404, "ResourceNotFound"));
        // What the service would not take.
        assert_eq!(app.write(note(3, "a/b", ""), None).await, refused(400, "OutOfRangeInput"));
        let large = "x".repeat(40_000);
        assert_eq!(app.write(note(3, "large", &large), None).await, refused(400, "PropertyValueTooLarge"));
        assert_eq!(app.read("mia", 3).await, refused(404, ""));
        assert_eq!(app.read("mia", 1).await.unwrap().body, "bread");
    });
}

#[test]
fn of_many_tasks_with_one_version_one_wins() {
    let scratch = Scratch::new();
    let app = App { notes: scratch.store().table().unwrap() };
    run(async {
        let mut etag = app.write(note(1, "count", ""), None).await.unwrap().etag;
        for round in 0..5 {
            let tasks: Vec<_> = (0..16)
                .map(|task| {
                    let (app, etag) = (app.clone(), etag.clone());
                    let note = note(1, "count", &format!("{round}.{task}"));
                    tokio::spawn(async move { app.write(note, etag).await })
                })
                .collect();
            let mut won = Vec::new();
            for (task, handle) in tasks.into_iter().enumerate() {
                match handle.await.unwrap() {
                    Ok(response) => won.push((task, response.etag)),
                    Err(response) => assert_eq!(response.status, 412),
                }
            }
            assert_eq!(won.len(), 1, "{won:?}");
            let read = app.read("mia", 1).await.unwrap();
            assert_eq!((read.body, &read.etag), (format!("{round}.{}", won[0].0), &won[0].1));
            etag = read.etag;
        }
    });
}

#[test]
fn a_write_that_nobody_waits_for_is_carried_out() {
    let scratch = Scratch::new();
    let app = App { notes: scratch.store().table().unwrap() };
    run(async {
        let notes = app.notes.clone();
        let (begun, begin) = std::sync::mpsc::channel();
        let written = tokio::task::spawn_blocking(move || {
            begun.send(()).unwrap();
            notes.insert(&note(1, "shopping", "milk"))
        });
        begin.recv().unwrap();
        drop(written);
    });
    // The runtime waits for its blocking tasks as it ends.
    assert_eq!(app.notes.get(Note::key("mia", 1)).unwrap().unwrap().text, "milk");
}
