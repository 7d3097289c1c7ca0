//! What the service answers, by requests over TCP.

#[allow(dead_code, reason = "each test program uses a part of it")]
mod client;

use client::Service;
use serde_json::{Value, json};
use web_example::Config;

fn employee(id: u32, name: &str) -> Value {
    json!({ "id": id, "name": name, "email": format!("{}@contoso.com", name.to_lowercase()), "age": 40 })
}

/// What is said of an employee whose place is known.
fn details(name: &str, age: u8) -> String {
    json!({ "name": name, "email": format!("{}@contoso.com", name.to_lowercase()), "age": age }).to_string()
}

#[tokio::test]
async fn an_employee_is_created_read_changed_and_deleted() {
    let service = Service::start().await;
    let place = "/departments/Sales%20%26%20Co/employees/7";
    assert_eq!(service.get(place).await.code(), (404, "ResourceNotFound".into()));
    let created = service.create("Sales%20%26%20Co", &employee(7, "Ann")).await;
    assert_eq!((created.status, &*created.headers["location"]), (201, place));

    let read = service.get(place).await;
    assert_eq!((read.status, read.etag()), (200, created.etag()));
    let whole = json!({
        "department": "Sales & Co", "id": 7, "name": "Ann", "email": "ann@contoso.com", "age": 40
    });
    assert_eq!((read.json(), created.json()), (whole.clone(), whole.clone()));
    let found = service.get("/employees?email=ann%40contoso.com").await;
    assert_eq!((found.status, &*found.headers["content-location"]), (200, place));
    assert_eq!(found.json(), whole);

    // Unseen nothing is changed.
    assert_eq!(service.ask("PUT", place, &[], &details("Ann", 41)).await.status, 428);
    let condition = format!("If-Match: {}", read.etag());
    let changed = service.ask("PUT", place, &[&condition], &details("Eve", 41)).await;
    assert_eq!((changed.status, &*changed.body), (204, ""));
    assert_ne!(changed.etag(), read.etag());
    let stale = service.ask("PUT", place, &[&condition], &details("Ann", 42)).await;
    assert_eq!(stale.code(), (412, "UpdateConditionNotSatisfied".into()));
    assert_eq!(service.ask("DELETE", place, &[&condition], "").await.status, 412);
    assert_eq!(service.get(place).await.etag(), changed.etag());
    // The address went along.
    assert_eq!(service.get("/employees?email=ann%40contoso.com").await.status, 404);
    assert_eq!(service.get("/employees?email=eve%40contoso.com").await.json()["age"], 41);

    assert_eq!(service.ask("DELETE", place, &["If-Match: *"], "").await.status, 204);
    assert_eq!(service.ask("DELETE", place, &["If-Match: *"], "").await.status, 404);
    assert_eq!(service.ask("PUT", place, &["If-Match: *"], &details("Eve", 41)).await.status, 404);
    assert_eq!(service.get("/employees?email=eve%40contoso.com").await.status, 404);
    service.stop().await;
}

#[tokio::test]
async fn what_is_taken_is_a_conflict() {
    let service = Service::start().await;
    assert_eq!(service.create("Sales", &employee(1, "Ann")).await.status, 201);
    let same = service.create("Sales", &employee(1, "Bob")).await;
    assert_eq!(same.code(), (409, "EntityAlreadyExists".into()));
    // In another department, too: and who has it is not said.
    let taken = service.create("Legal", &employee(2, "Ann")).await;
    assert_eq!(taken.code(), (409, "EntityAlreadyExists".into()));
    assert_eq!(taken.json()["error"]["message"], "another employee has the e-mail address");
    assert!(!taken.body.contains("Sales"), "{taken:?}");
    assert_eq!(service.create("Legal", &employee(2, "Bob")).await.status, 201);
    let moved =
        service.ask("PUT", "/departments/Legal/employees/2", &["If-Match: *"], &details("Ann", 1)).await;
    assert_eq!(moved.status, 409);
    assert_eq!(service.export("Legal").await[0]["name"], "Bob");
    service.stop().await;
}

#[tokio::test]
async fn what_is_no_request_is_refused_and_writes_nothing() {
    let service = Service::start().await;
    let ann = employee(1, "Ann").to_string();
    let long =
        |length: usize| json!({ "id": 1, "name": "x".repeat(length), "email": "a", "age": 1 }).to_string();
    let (sales, one) = ("/departments/Sales/employees", "/departments/Sales/employees/1");
    let (large, too_long) = (long(65_600), long(40_000));
    let too_much = json!({ "id": 1, "name": "Ann", "email": "a", "age": 1, "salary": 1 }).to_string();
    type Case<'a> = (&'a str, &'a str, &'a [&'a str], &'a str, (u16, &'a str));
    let cases: &[Case<'_>] = &[
        ("POST", sales, &[], "{ \"id\": 1, ", (400, "InvalidInput")),
        ("POST", sales, &[], "{ \"id\": \"one\" }", (422, "InvalidInput")),
        ("POST", sales, &[], "{}", (422, "InvalidInput")),
        ("POST", sales, &[], &too_much, (422, "InvalidInput")),
        ("POST", sales, &["Content-Type: text/plain"], &ann, (415, "UnsupportedMediaType")),
        ("POST", sales, &[], &large, (413, "RequestBodyTooLarge")),
        ("POST", sales, &[], &too_long, (400, "PropertyValueTooLarge")),
        ("POST", "/departments/a%2Fb/employees", &[], &ann, (400, "OutOfRangeInput")),
        (
            "POST",
            "/departments/Sales/employees/1/transfer",
            &[],
            "{ \"to\": \"Legal\" }",
            (404, "ResourceNotFound"),
        ),
        ("GET", "/departments/Sales/employees/one", &[], "", (400, "InvalidInput")),
        ("GET", "/departments/Sales/employees?limit=0", &[], "", (400, "InvalidInput")),
        ("GET", "/departments/Sales/employees?limit=2000", &[], "", (400, "InvalidInput")),
        ("GET", "/departments/Sales/employees?limit=-1", &[], "", (400, "InvalidInput")),
        ("GET", "/departments/Sales/employees?after=x", &[], "", (400, "InvalidInput")),
        ("GET", "/employees", &[], "", (400, "InvalidInput")),
        ("PUT", one, &["If-Match: yesterday"], &details("Ann", 1), (400, "InvalidHeaderValue")),
        ("PUT", one, &["If-Match: *"], &details("Ann", 1), (404, "ResourceNotFound")),
        ("DELETE", one, &[], "", (428, "MissingRequiredHeader")),
        ("PATCH", one, &[], &ann, (405, "UnsupportedHttpVerb")),
        ("GET", "/salaries", &[], "", (404, "ResourceNotFound")),
    ];
    for (method, path, headers, body, (status, code)) in cases {
        let reply = service.ask(method, path, headers, body).await;
        assert_eq!(reply.code(), (*status, (*code).to_owned()), "{method} {path}: {reply:?}");
        // Nothing of the machine.
        assert!(!reply.body.contains("company.tables") && !reply.body.contains(".rs"), "{reply:?}");
    }
    assert!(service.export("Sales").await.is_empty());
    assert_eq!(service.get("/health").await.json(), json!({ "status": "ok" }));
    service.stop().await;
}

#[tokio::test]
async fn a_department_comes_in_pages_and_as_a_stream() {
    let service = Service::start().await;
    for id in (0..25).rev() {
        assert_eq!(service.create("Sales", &employee(id, &format!("e{id}"))).await.status, 201);
    }
    assert_eq!(service.create("Legal", &employee(1, "Ann")).await.status, 201);
    let ids = |employees: &[Value]| -> Vec<u64> {
        employees.iter().map(|employee| employee["id"].as_u64().unwrap()).collect()
    };
    let (mut paged, mut sizes, mut after) = (Vec::new(), Vec::new(), String::new());
    loop {
        let page = service.get(&format!("/departments/Sales/employees?limit=10{after}")).await.json();
        let employees = page["employees"].as_array().unwrap();
        sizes.push(employees.len());
        paged.extend(ids(employees));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!((paged, sizes), ((0..25).collect(), vec![10, 10, 5]));
    let other = service.get(&format!("/departments/Legal/employees?limit=10{after}")).await;
    assert_eq!(other.code(), (400, "InvalidInput".into()), "a token of another department");

    let streamed = service.get("/departments/Sales/export").await;
    assert_eq!(streamed.headers["content-type"], "application/jsonl");
    assert_eq!(ids(&streamed.lines()), (0..25).collect::<Vec<_>>());
    let empty = service.get("/departments/Press/export").await;
    assert_eq!((empty.status, &*empty.body), (200, ""));
    service.stop().await;
}

#[tokio::test]
async fn a_transfer_moves_an_employee_whole_or_not() {
    let service = Service::start().await;
    for (id, name) in [(1, "Ann"), (2, "Bob")] {
        assert_eq!(service.create("Sales", &employee(id, name)).await.status, 201);
    }
    assert_eq!(service.create("Legal", &employee(2, "Cleo")).await.status, 201);
    let transfer = |id: u32, to: &str| {
        let (path, body) =
            (format!("/departments/Sales/employees/{id}/transfer"), json!({ "to": to }).to_string());
        let service = &service;
        async move { service.ask("POST", &path, &[], &body).await }
    };
    let moved = transfer(1, "Legal").await;
    assert_eq!((moved.status, &moved.json()["department"]), (200, &json!("Legal")), "{moved:?}");
    assert_eq!(service.get("/departments/Sales/employees/1").await.status, 404);
    assert_eq!(service.get("/departments/Legal/employees/1").await.etag(), moved.etag());
    assert_eq!(service.get("/employees?email=ann%40contoso.com").await.json()["department"], "Legal");
    // The number is taken there.
    assert_eq!(transfer(2, "Legal").await.status, 409);
    assert_eq!(service.get("/departments/Sales/employees/2").await.json()["name"], "Bob");
    assert_eq!(service.get("/departments/Legal/employees/2").await.json()["name"], "Cleo");
    assert_eq!(transfer(2, "Sales").await.status, 400, "to where the employee is");
    assert_eq!(transfer(2, "a/b").await.status, 400);
    assert_eq!(transfer(1, "Press").await.status, 404);
    assert_eq!((service.export("Sales").await.len(), service.export("Legal").await.len()), (1, 2));
    service.stop().await;
}

#[test]
fn arguments_come_before_the_environment() {
    let read = |arguments: &[&str]| {
        Config::read(arguments.iter().map(|&argument| argument.into()), |name| {
            (name == "WEB_ADDRESS").then(|| "127.0.0.1:9000".into())
        })
    };
    let config = read(&["--directory", "/srv/company"]).unwrap();
    assert_eq!((config.address.port(), config.directory.to_str()), (9000, Some("/srv/company")));
    assert_eq!(read(&["--address", "[::1]:1"]).unwrap().address.to_string(), "[::1]:1");
    assert!(Config::read([], |_| None).unwrap().address.ip().is_loopback());
    for (wrong, named) in [
        (["--address", "home"], "`home` is no address"),
        (["--port", "1"], "`--port` is no argument"),
        (["--address", "127.0.0.1:1"], ""),
    ] {
        let read = read(&wrong);
        assert!(if named.is_empty() { read.is_ok() } else { read.unwrap_err().contains(named) });
    }
    assert_eq!(read(&["--directory"]).unwrap_err(), "`--directory` is without its value");
}
