//! Programs that have the queue open beside the clients of the protocol.

use std::time::Duration;

use table_core::queue::Queue;

use crate::client::{Client, message};

const LONG: Duration = Duration::from_secs(60);

#[test]
fn clients_and_programs_share_a_queue() {
    let client = Client::with_queue();
    let hires: Queue<Vec<u32>> = client.store.find_queue("hires").unwrap().unwrap();
    hires.send(&vec![1, 2]).unwrap();
    let received = client.get("/acme/hires/messages");
    assert_eq!(received.all("MessageText"), ["[1,2]"]);
    client.send("DELETE", &received.address(), &[], "");
    assert_eq!(hires.stats().unwrap().completed, 1);

    client.put("[3]", "");
    let hire = hires.receive(LONG).unwrap().unwrap();
    assert_eq!(*hire, [3]);
    // What a program holds no client gets.
    assert!(client.get("/acme/hires/messages").all("MessageId").is_empty());
    hire.delete().unwrap();

    client.put("no JSON", "");
    let texts = client.store.find_queue::<u32>("hires").unwrap().unwrap().into_text();
    assert_eq!(*texts.receive(LONG).unwrap().unwrap(), "no JSON");
}

#[test]
fn a_client_that_updates_a_message_takes_it_from_the_program_that_held_it() {
    let client = Client::with_queue();
    client.put("[1]", "");
    let hires: Queue<Vec<u32>> = client.store.queue("hires").unwrap();
    let held = hires.receive(LONG).unwrap().unwrap();
    let id = client.store.queue::<Vec<u32>>("hires").unwrap().stats().unwrap();
    assert_eq!(id.hidden, 1);
    let receipt = held.pop_receipt();
    let path = format!(
        "/acme/hires/messages/{}?popreceipt={receipt}&visibilitytimeout=60",
        table_core::Uuid::from_u64_pair(receipt.sent.get(), receipt.id)
    );
    assert_eq!(client.send("PUT", &path, &[], &message("[2]")).status(), 204);
    assert!(held.delete().is_err());
    assert_eq!(hires.stats().unwrap().hidden, 1);
}

#[test]
fn what_a_worker_gives_up_goes_where_clients_find_it() {
    let client = Client::with_queue();
    client.put("no JSON", "");
    let hires = client.store.queue::<Vec<u32>>("hires").unwrap().max_dequeues(1);
    assert!(hires.receive(LONG).is_err());
    let moved = client.get("/acme/hires-poison/messages");
    assert_eq!(moved.all("MessageText"), ["no JSON"]);
    assert!(client.get("/acme/hires/messages").all("MessageId").is_empty());
}

#[test]
fn a_paused_queue_gives_clients_nothing() {
    let client = Client::with_queue();
    client.put("a", "");
    let hires = client.store.queue::<String>("hires").unwrap();
    hires.pause().unwrap();
    assert!(client.get("/acme/hires/messages").all("MessageId").is_empty());
    hires.resume().unwrap();
    assert_eq!(client.get("/acme/hires/messages").all("MessageText"), ["a"]);
}
