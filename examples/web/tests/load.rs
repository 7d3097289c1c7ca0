//! The service under load: many at once, clients that are slow or go away, and its end meanwhile.

#[allow(dead_code, reason = "each test program uses a part of it")]
mod client;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{Client, Service, request};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::sleep;

const SALES: &str = "/departments/Sales/employees";

fn employee(id: u32) -> Value {
    json!({ "id": id, "name": format!("Employee {id}"), "email": format!("{id}@contoso.com"), "age": 40 })
}

fn ids(employees: &[Value]) -> Vec<u64> {
    employees.iter().filter_map(|employee| employee["id"].as_u64()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_create_at_once() {
    let service = Arc::new(Service::start().await);
    // Of both ends of the connections, as many as most systems let a process have.
    let connections = Arc::new(Semaphore::new(400));
    let tasks: Vec<_> = (0..1_000)
        .map(|id| {
            let (service, connections) = (service.clone(), connections.clone());
            tokio::spawn(async move {
                let _one = connections.acquire().await.unwrap();
                // Every tenth asks for the address of the one before.
                let email = format!("{}@contoso.com", id - u32::from(id % 10 == 1));
                let body = json!({ "id": id, "name": "Ann", "email": email, "age": 40 });
                service.create("Sales", &body).await.status
            })
        })
        .collect();
    let (mut created, mut taken) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            201 => created += 1,
            409 => taken += 1,
            status => panic!("{status}"),
        }
    }
    assert_eq!((created, taken), (900, 100));
    assert_eq!(service.export("Sales").await.len(), 900);
    Arc::into_inner(service).unwrap().stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_is_told_where_to_go_on() {
    let held_for = Duration::from_millis(300);
    let service =
        Service::start_with(tempfile::tempdir().unwrap(), |config| config.held_for = held_for).await;
    // More than the buffers between the two hold.
    for id in 0..600 {
        let mut large = employee(id);
        large["name"] = "x".repeat(30_000).into();
        assert_eq!(service.create("Sales", &large).await.status, 201);
    }
    let mut reader = Client::narrow(service.address).await.unwrap();
    reader.write(&request("GET", "/departments/Sales/export", &[], "")).await.unwrap();
    sleep(3 * held_for).await;
    // The snapshot was given up, though it was not read; what is written now is not in its rest.
    assert_eq!(service.create("Sales", &employee(1_000)).await.status, 201);
    let lines = reader.reply().await.unwrap().lines();
    let error = &lines.last().unwrap()["error"];
    assert_eq!(error["code"], "OperationTimedOut", "{error}");
    let mut all = ids(&lines);
    assert!(!all.is_empty() && all.len() < 600, "{}", all.len());
    assert_eq!(all.len() + 1, lines.len());
    // By pages the client goes on, and nothing is left out or comes twice.
    let mut after = error["continuation"].as_str().map(str::to_owned);
    while let Some(token) = after {
        let page = service.get(&format!("{SALES}?limit=100&after={token}")).await.json();
        all.extend(ids(page["employees"].as_array().unwrap()));
        after = page["next"].as_str().map(str::to_owned);
    }
    assert_eq!(all, (0..600).chain([1_000]).collect::<Vec<_>>());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_client_that_goes_away_the_write_is_whole_or_not_there() {
    let service = Service::start().await;
    for id in 0..200 {
        let text = request("POST", SALES, &[], &employee(id).to_string());
        let mut client = Client::connect(service.address).await.unwrap();
        // Every fourth goes in the middle of its request, the others at some time behind it.
        let sent = if id % 4 == 0 { text.len() - 5 } else { text.len() };
        client.write(&text[..sent]).await.unwrap();
        sleep(Duration::from_micros(u64::from(id) * 10)).await;
    }
    // What was given to the store is answered, if to none.
    let directory = service.stop().await;
    let service = Service::start_with(directory, |_| {}).await;
    let mut written = 0;
    for id in 0..200 {
        let by_id = service.get(&format!("{SALES}/{id}")).await.status;
        let by_email = service.get(&format!("/employees?email={id}%40contoso.com")).await.status;
        assert_eq!(by_id, by_email, "{id}");
        assert!(id % 4 != 0 || by_id == 404, "{id} was never asked for");
        written += u32::from(by_id == 200);
    }
    assert!(written > 0);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_before_the_end_is_there_after_it() {
    let service = Service::start().await;
    let address = service.address;
    let writers: Vec<_> = (0..32)
        .map(|writer| {
            tokio::spawn(async move {
                let (mut asked, mut acknowledged) = (0, Vec::new());
                let mut client = Client::connect(address).await.unwrap();
                for id in (0..10_000).map(|n| writer * 10_000 + n) {
                    asked = id;
                    match client.ask("POST", SALES, &[], &employee(id).to_string()).await {
                        Ok(reply) if reply.status == 201 => acknowledged.push(id),
                        Ok(reply) => panic!("{reply:?}"),
                        Err(_) => break,
                    }
                }
                (asked, acknowledged)
            })
        })
        .collect();
    sleep(Duration::from_millis(500)).await;
    let directory = service.stop().await;
    let service = Service::start_with(directory, |_| {}).await;
    let all: std::collections::BTreeSet<_> = ids(&service.export("Sales").await).into_iter().collect();
    let mut count = 0;
    for writer in writers {
        let (asked, acknowledged) = writer.await.unwrap();
        count += acknowledged.len();
        let missing: Vec<_> = acknowledged.iter().filter(|&&id| !all.contains(&u64::from(id))).collect();
        assert!(missing.is_empty(), "{missing:?}");
        // Of the last one the answer may be lost, and it is whole or not there.
        let by_email = service.get(&format!("/employees?email={asked}%40contoso.com")).await.status;
        assert_eq!(by_email == 200, all.contains(&u64::from(asked)));
    }
    assert!(count >= 32 && all.len() >= count && all.len() <= count + 32, "{count} of {}", all.len());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_does_not_keep_the_service_from_its_end() {
    let service =
        Service::start_with(tempfile::tempdir().unwrap(), |config| config.grace = Duration::from_millis(300))
            .await;
    for id in 0..400 {
        let mut large = employee(id);
        large["name"] = "x".repeat(30_000).into();
        assert_eq!(service.create("Sales", &large).await.status, 201);
    }
    let mut reader = Client::narrow(service.address).await.unwrap();
    reader.write(&request("GET", "/departments/Sales/export", &[], "")).await.unwrap();
    // An idle connection is no reason to wait, either.
    let _idle = Client::connect(service.address).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    let begun = Instant::now();
    service.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(reader);
}

/// The program, which is told to stop as service managers do.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_ends_by_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_web-example"))
        .args(["--address", "127.0.0.1:0", "--directory"])
        .arg(directory.path().join("company.tables"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
    let mut client = Client::connect(address).await.unwrap();
    assert_eq!(client.ask("POST", SALES, &[], &employee(1).to_string()).await.unwrap().status, 201);
    assert!(Command::new("kill").args(["-TERM", &program.id().to_string()]).status().unwrap().success());
    assert!(program.wait().unwrap().success());
    assert!(Client::connect(address).await.is_err(), "it accepts no more");
    let service = Service::start_with(directory, |_| {}).await;
    assert_eq!(ids(&service.export("Sales").await), [1]);
    service.stop().await;
}
