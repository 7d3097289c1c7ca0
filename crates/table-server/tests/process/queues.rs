//! Queues of the binary: served at an address of their own, and nothing acknowledged is lost by a kill.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::process::Signal;
use table_core::Store;
use table_core::access::sas::AccountKey;

use crate::client::{ACCOUNT, Answer, Client, KEY};
use crate::running::Running;
use crate::signing::signed_for_queues;

const FLAGS: [&str; 1] = ["--queue-address=127.0.0.1:0"];

/// Sends a request for queues that the key has signed.
fn send(
    client: &mut Client<std::net::TcpStream>,
    method: &str,
    path: &str,
    body: &str,
) -> std::io::Result<Answer> {
    let path = format!("/{ACCOUNT}/{path}");
    let key = AccountKey::new(ACCOUNT, KEY).unwrap();
    let (date, authorization) = signed_for_queues(&key, method, &path, &[]);
    client.ask(method, &path, &format!("x-ms-date: {date}\r\nauthorization: {authorization}\r\n"), body)
}

fn connect(address: SocketAddr) -> Client<std::net::TcpStream> {
    Client::connect(address, KEY).unwrap()
}

/// Returns the text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split_once(after).map(|(found, _)| found)
}

#[test]
fn queues_have_an_address_of_their_own_and_end_with_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Running::start(directory.path(), &FLAGS);
    let queues = server.queues.unwrap();
    assert!(server.connection_string.contains(&format!("QueueEndpoint=http://{queues}/{ACCOUNT};")));
    let mut client = connect(queues);
    assert_eq!(send(&mut client, "PUT", "hires", "").unwrap().status, 201);
    // The one serves no tables, and the other no queues.
    assert_eq!(connect(queues).send("GET", "Tables", "").unwrap().status, 403);
    assert_eq!(send(&mut server.client(), "GET", "?comp=list", "").unwrap().status, 403);
    let metrics = server.ask_admin("GET", "/metrics").body;
    assert!(metrics.contains("CreateQueue"), "{metrics}");
    server.signal(Signal::TERM);
    let (status, text) = server.wait();
    assert!(status.success(), "{status} {text}");
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(store.queues().unwrap(), ["hires"]);
}

/// What a client was told until the server was gone.
#[derive(Default)]
struct Told {
    sent: BTreeSet<String>,
    /// Received, and perhaps deleted.
    received: BTreeSet<String>,
    deleted: BTreeSet<String>,
}

/// Sends messages, and receives and deletes as many, until the server is gone.
fn work(address: SocketAddr, name: &str) -> Told {
    let mut told = Told::default();
    let Ok(mut client) = Client::connect(address, KEY) else { return told };
    for number in 0.. {
        let text = format!("{name}-{number}");
        let body = format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>");
        match send(&mut client, "POST", "hires/messages", &body) {
            Ok(answer) => assert_eq!(answer.status, 201, "{}", answer.body),
            Err(_) => return told,
        }
        told.sent.insert(text);
        let Ok(received) = send(&mut client, "GET", "hires/messages?visibilitytimeout=1", "") else {
            return told;
        };
        let Some(text) = between(&received.body, "<MessageText>", "<") else { continue };
        told.received.insert(text.to_owned());
        let id = between(&received.body, "<MessageId>", "<").unwrap();
        let receipt = between(&received.body, "<PopReceipt>", "<").unwrap();
        let path = format!("hires/messages/{id}?popreceipt={receipt}");
        let Ok(deleted) = send(&mut client, "DELETE", &path, "") else { return told };
        // Another client may have received it, if it was hidden for less than that took.
        if deleted.status == 204 {
            told.deleted.insert(text.to_owned());
        }
    }
    told
}

#[test]
fn a_kill_loses_no_message_and_brings_none_back() {
    let kills = std::env::var("TABLE_SERVER_KILLS").map_or(3, |kills| kills.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mut all = Told::default();
    for kill in 0..kills {
        let mut server = Running::start(directory.path(), &FLAGS);
        let address = server.queues.unwrap();
        if kill == 0 {
            assert_eq!(send(&mut connect(address), "PUT", "hires", "").unwrap().status, 201);
        }
        let clients: Vec<_> = (0..4_u8)
            .map(|client| {
                let name = format!("{kill}-{client}");
                std::thread::spawn(move || work(address, &name))
            })
            .collect();
        // At another moment each time.
        std::thread::sleep(Duration::from_millis(150 + kill * 37 % 200));
        server.signal(Signal::KILL);
        server.wait();
        for client in clients {
            let told = client.join().unwrap();
            all.sent.extend(told.sent);
            all.received.extend(told.received);
            all.deleted.extend(told.deleted);
        }
    }
    let store = Store::open(directory.path()).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
    let queue = store.find_queue::<String>("hires").unwrap().unwrap().into_text().max_dequeues(u32::MAX);
    let mut left = BTreeSet::new();
    // What a client held when the server was killed shows again within a second.
    std::thread::sleep(Duration::from_millis(1_100));
    loop {
        let received = queue.receive_many(100, Duration::from_secs(600)).unwrap();
        if received.is_empty() {
            break;
        }
        left.extend(received.iter().map(|text| (**text).clone()));
    }
    assert!(all.sent.len() > 50, "{} messages show little", all.sent.len());
    let lost: Vec<_> =
        all.sent.iter().filter(|text| !left.contains(*text) && !all.received.contains(*text)).collect();
    assert!(lost.is_empty(), "acknowledged, and never received: {lost:?}");
    let back: Vec<_> = left.intersection(&all.deleted).collect();
    assert!(back.is_empty(), "deleted, and there again: {back:?}");
    store.close().unwrap();
}
