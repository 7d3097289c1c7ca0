//! What is asked of the service, and answered.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::json;
use table_core::asynchronous::{AsyncTable, AsyncTables};
use table_core::{Continuation, ETag, Entity, ErrorKind, IfMatch, Stored};

use crate::failure::{Failure, Given};

/// A body is refused that is larger.
const BODY_BYTES: usize = 64 * 1024;
/// How many rows go into a piece of a streamed answer at most.
const PIECE: usize = 64;
/// How often a transfer is tried whose employee others change meanwhile.
const ATTEMPTS: usize = 8;

/// An employee, in the partition of the department. An e-mail address is given once in the whole company.
#[derive(Entity, Serialize, Clone, Debug)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, partition = "emails", row = "email_{email}", unique, atomic)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    age: u8,
}

/// What a client says of an employee; the path has the rest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    name: String,
    email: String,
    age: u8,
}

/// An employee who is hired: the path has the department.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewEmployee {
    id: u32,
    name: String,
    email: String,
    age: u8,
}

impl Details {
    fn of(self, department: String, id: u32) -> Employee {
        let Self { name, email, age } = self;
        Employee { department, id, name, email, age }
    }
}

/// What the handlers share.
#[derive(Clone)]
struct App {
    tables: AsyncTables,
    staff: AsyncTable<Employee>,
    held_for: Duration,
}

type Answer = Result<Response, Failure>;

/// Returns the service's routes over these tables.
pub(crate) async fn routes(tables: AsyncTables, held_for: Duration) -> table_core::Result<Router> {
    let staff = tables.table::<Employee>().await?;
    let employee = get(read).put(replace).delete(remove);
    Ok(Router::new()
        .route("/health", get(health))
        .route("/employees", get(by_email))
        .route("/departments/{department}/employees", get(page).post(create))
        .route("/departments/{department}/employees/{id}", employee)
        .route("/departments/{department}/employees/{id}/transfer", post(transfer))
        .route("/departments/{department}/export", get(export))
        .fallback(async || Failure::new(StatusCode::NOT_FOUND, "ResourceNotFound", "there is no such path"))
        .method_not_allowed_fallback(async || {
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "UnsupportedHttpVerb", "the path has other methods")
        })
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(App { tables, staff, held_for }))
}

/// Says whether the store can be read.
async fn health(State(app): State<App>) -> Answer {
    app.tables.tables().await?;
    Ok(Json(json!({ "status": "ok" })).into_response())
}

async fn create(
    State(app): State<App>,
    Given(Path(department)): Given<Path<String>>,
    Given(Json(NewEmployee { id, name, email, age })): Given<Json<NewEmployee>>,
) -> Answer {
    let employee = Employee { department, id, name, email, age };
    let etag = app.staff.insert(&employee).await?;
    let place = [(header::LOCATION, place_of(&employee))];
    Ok((StatusCode::CREATED, versioned(etag), place, Json(employee)).into_response())
}

async fn read(State(app): State<App>, Given(Path((department, id))): Given<Path<(String, u32)>>) -> Answer {
    let employee = app.staff.get(Employee::key(department, id)).await?.ok_or_else(Failure::not_found)?;
    Ok((versioned(Stored::etag(&employee)), Json(Stored::into_inner(employee))).into_response())
}

#[derive(Deserialize)]
struct ByEmail {
    email: String,
}

/// Answers from the copy under the e-mail address. Its version is not the employee's: the header says where to read that.
async fn by_email(State(app): State<App>, Given(Query(ByEmail { email })): Given<Query<ByEmail>>) -> Answer {
    let employee = app.staff.get(Employee::by_email(email)).await?.ok_or_else(Failure::not_found)?;
    Ok(([(header::CONTENT_LOCATION, place_of(&employee))], Json(&*employee)).into_response())
}

async fn replace(
    State(app): State<App>,
    Given(Path((department, id))): Given<Path<(String, u32)>>,
    headers: HeaderMap,
    Given(Json(details)): Given<Json<Details>>,
) -> Answer {
    let condition = if_match(&headers)?;
    let etag = app.staff.replace(&details.of(department, id), condition).await?;
    Ok((StatusCode::NO_CONTENT, versioned(etag)).into_response())
}

async fn remove(
    State(app): State<App>,
    Given(Path((department, id))): Given<Path<(String, u32)>>,
    headers: HeaderMap,
) -> Answer {
    app.staff.delete_if(Employee::key(department, id), if_match(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Deserialize)]
struct Place {
    #[serde(default = "Place::limit")]
    limit: usize,
    after: Option<String>,
}

impl Place {
    fn limit() -> usize {
        50
    }
}

/// Answers with a page of a department, and the token of the next one.
async fn page(
    State(app): State<App>,
    Given(Path(department)): Given<Path<String>>,
    Given(Query(Place { limit, after })): Given<Query<Place>>,
) -> Answer {
    let after: Option<Continuation> = after.as_deref().map(str::parse).transpose()?;
    let page = app.staff.rows().department(department).page(limit, after.as_ref()).await?;
    let employees: Vec<&Employee> = page.entities.iter().map(|employee| &**employee).collect();
    let next = page.next.as_ref().map(ToString::to_string);
    Ok(Json(json!({ "employees": employees, "next": next })).into_response())
}

/// Answers with a department at one moment, an employee a line, as quickly as the client reads. What goes wrong on the way is
/// the last line: the status has been sent by then.
async fn export(State(app): State<App>, Given(Path(department)): Given<Path<String>>) -> Answer {
    let mut rows = app.staff.rows().department(department).stream().held_for(app.held_for);
    // What is wrong from the start has a status of its own.
    let first = rows.try_next().await?;
    let rows = stream::iter(first.map(Ok)).chain(rows);
    let pieces = rows.ready_chunks(PIECE).map(|rows| Ok::<_, Infallible>(lines(rows)));
    let jsonl = [(header::CONTENT_TYPE, "application/jsonl")];
    Ok((jsonl, Body::from_stream(pieces)).into_response())
}

fn lines(rows: Vec<table_core::Result<Stored<Employee>>>) -> String {
    rows.into_iter().fold(String::new(), |lines, row| {
        let line = match row {
            Ok(employee) => json!(&*employee),
            Err(error) => Failure::from(error).to_json(),
        };
        lines + &line.to_string() + "\n"
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transfer {
    to: String,
}

/// Moves an employee to another department, which is another partition: goes there and comes here, or neither.
async fn transfer(
    State(app): State<App>,
    Given(Path((department, id))): Given<Path<(String, u32)>>,
    Given(Json(Transfer { to })): Given<Json<Transfer>>,
) -> Answer {
    for _ in 0..ATTEMPTS {
        let found = app.staff.get(Employee::key(&*department, id)).await?.ok_or_else(Failure::not_found)?;
        let moved = Employee { department: to.clone(), ..(*found).clone() };
        let transaction = app
            .tables
            .transaction()
            .delete_if(Employee::key(&*department, id), Stored::etag(&found))
            .insert(&moved);
        match transaction.commit().await {
            Ok(committed) => return Ok((versioned(committed.etag(1)), Json(moved)).into_response()),
            // Changed in between: what is moved is what is there now.
            Err(error) if error.kind() == ErrorKind::ConditionNotMet => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::new(StatusCode::CONFLICT, "ConcurrentChanges", "others change the employee all the time"))
}

fn versioned(etag: ETag) -> [(header::HeaderName, String); 1] {
    [(header::ETAG, etag.to_string())]
}

/// Reads the version that a change demands: nothing is changed unseen, unless the client says `*`.
fn if_match(headers: &HeaderMap) -> Result<IfMatch, Failure> {
    let missing = || {
        let text = "say `If-Match`: the ETag that was read, or `*`";
        Failure::new(StatusCode::PRECONDITION_REQUIRED, "MissingRequiredHeader", text)
    };
    let header = headers.get(header::IF_MATCH).ok_or_else(missing)?;
    let invalid = || Failure::new(StatusCode::BAD_REQUEST, "InvalidHeaderValue", "`If-Match` has no ETag");
    header.to_str().map_err(|_| invalid())?.parse().map_err(|_| invalid())
}

/// Returns the path of an employee.
fn place_of(employee: &Employee) -> String {
    format!("/departments/{}/employees/{}", in_path(&employee.department), employee.id)
}

/// Returns a text as it stands in a path.
fn in_path(text: &str) -> String {
    text.bytes().fold(String::new(), |path, byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            path + &char::from(byte).to_string()
        }
        _ => format!("{path}%{byte:02X}"),
    })
}
