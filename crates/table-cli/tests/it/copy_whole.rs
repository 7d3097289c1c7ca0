//! `tables copy` of what a store has beside its tables.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use table_core::queue::StoredMessage;
use table_core::{Durability, DynamicEntity, Store, Tables};

use crate::fixture::company;
use crate::run::{Ran, tables};

/// An entry of a log.
#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Request {
    path: String,
    status: u16,
}

const HOUR: Duration = Duration::from_secs(3_600);

/// Makes a store with a table, two containers, a log, and queues in each state that a message can be in.
pub(crate) fn fill(path: &Path, many: u32) {
    let store = Store::options().durability(Durability::Relaxed).open(path).unwrap();
    let notes = store.create_table("Notes").unwrap();
    let numbers: Vec<_> = (0..many).collect();
    for some in numbers.chunks(100) {
        let note =
            |number: &u32| DynamicEntity::new("p", format!("{number:06}")).with("Number", i64::from(*number));
        let batch = some.iter().fold(notes.batch("p"), |batch, number| batch.insert(note(number)));
        batch.commit().unwrap();
    }
    let photos = store.container("photos").unwrap();
    photos.put_as("mia.png", "image/png", b"not really a picture").unwrap();
    photos.put_as("large/one.bin", "application/x-large", &vec![7; 5 << 20]).unwrap();
    for number in 0..many / 10 {
        photos.put(&format!("small/{number:06}"), number.to_string().as_bytes()).unwrap();
    }
    store.container("empty").unwrap();
    let log = store.log::<Request>("requests").unwrap();
    log.append(&Request { path: "/".into(), status: 200 }).unwrap();
    log.flush().unwrap();

    let hires = store.queue::<String>("hires").unwrap().max_dequeues(1);
    for _ in 0..2 {
        hires.send(&"set aside".to_owned()).unwrap();
        hires.receive(HOUR).unwrap().unwrap().fail("the printer is on fire", Duration::ZERO).unwrap();
        assert!(hires.receive(HOUR).unwrap().is_none());
    }
    hires.send(&"held".to_owned()).unwrap();
    drop(hires.receive(HOUR).unwrap().unwrap());
    let patient = store.queue::<String>("hires").unwrap();
    patient.send(&"given back".to_owned()).unwrap();
    patient.receive(HOUR).unwrap().unwrap().fail("later", 2 * HOUR).unwrap();
    let texts: Vec<_> = (0..many).map(|number| format!("ready {number}")).collect();
    for some in texts.chunks(1_000) {
        hires.send_all(some).unwrap();
    }
    hires.send_after(&"delayed".to_owned(), 3 * HOUR).unwrap();
    assert!(hires.send_unique("one", &"unique".to_owned()).unwrap());
    hires.message(&"mortal".to_owned()).time_to_live(5 * HOUR).send().unwrap();
    hires.message(&"gone".to_owned()).time_to_live(Duration::from_millis(1)).send().unwrap();
    let payments = store.queue::<u32>("payments").unwrap();
    payments.send(&1).unwrap();
    payments.pause().unwrap();
    store.close().unwrap();
    std::thread::sleep(Duration::from_millis(5));
}

/// Returns the messages of a queue in their order, those that are hidden too.
pub(crate) fn messages(store: &Tables, queue: &str) -> Vec<StoredMessage> {
    let mut all = Vec::new();
    let queue = store.find_queue::<String>(queue).unwrap().unwrap();
    queue
        .stored(|message| {
            all.push(message);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    all
}

/// Asserts that two stores have the same queues and containers.
pub(crate) fn assert_alike(from: &Path, to: &Path) {
    let [from, to] =
        [from, to].map(|path| Store::options().read_only(true).create(false).open(path).unwrap());
    assert_eq!(from.queues().unwrap(), to.queues().unwrap());
    for name in from.queues().unwrap() {
        let [one, other] = [&from, &to].map(|store| messages(store, &name));
        assert_eq!(one.len(), other.len(), "{name}");
        for (one, other) in one.iter().zip(&other) {
            let StoredMessage { text, sent, count, error, unique, .. } = one;
            assert_eq!((text, sent, count), (&other.text, &other.sent, &other.count));
            assert_eq!((error, unique), (&other.error, &other.unique));
            for (one, other) in [(one.expires, other.expires), (one.hidden_until, other.hidden_until)] {
                assert_eq!(one.is_some(), other.is_some(), "{text}");
                let (one, other) = (one.unwrap_or(*sent), other.unwrap_or(*sent));
                let apart = one.saturating_since(other).max(other.saturating_since(one));
                assert!(apart < HOUR / 2, "{text} {one} {other}");
            }
        }
        let [one, other] = [&from, &to].map(|store| store.find_queue::<String>(&name).unwrap().unwrap());
        let (one, other) = (one.stats().unwrap(), other.stats().unwrap());
        assert_eq!((one.is_paused, one.hidden), (other.is_paused, other.hidden), "{name}");
    }
    assert_eq!(from.containers().unwrap(), to.containers().unwrap());
    for name in from.containers().unwrap() {
        let [one, other] = [&from, &to].map(|store| {
            let container = store.container(&name).unwrap();
            let read = |blob: table_core::Result<table_core::blob::BlobInfo>| {
                let blob = blob.unwrap();
                (container.get(&blob.name).unwrap().unwrap(), blob.name, blob.content_type)
            };
            container.list("").unwrap().map(read).collect::<Vec<_>>()
        });
        assert!(one == other, "{name}");
    }
}

fn copy(from: &Path, to: &Path, more: &[&str]) -> Ran {
    let rejects = to.with_extension("rejects");
    let (from, to, rejects) = (from.to_str().unwrap(), to.to_str().unwrap(), rejects.to_str().unwrap());
    tables(&[&["copy", "--write", from, to, "--rejects", rejects], more].concat())
}

#[test]
fn queues_containers_and_logs_come_along() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from.tables"), directory.path().join("to.tables"));
    fill(&from, 2_500);
    let ran = copy(&from, &to, &[]);
    assert_eq!((ran.code, &*ran.err), (0, ""), "{}", ran.out);
    for line in [
        "{\"kind\":\"table\",\"name\":\"Notes\",\"read\":2500,\"written\":2500,",
        "{\"kind\":\"container\",\"name\":\"photos\",\"read\":252,\"written\":252,",
        "{\"kind\":\"container\",\"name\":\"logs\",\"read\":1,\"written\":1,",
        "{\"kind\":\"container\",\"name\":\"empty\",\"read\":0,\"written\":0,",
        "{\"kind\":\"queue\",\"name\":\"hires\",\"read\":2505,\"written\":2505,",
        "{\"kind\":\"queue\",\"name\":\"hires-poison\",\"read\":2,\"written\":2,",
        "{\"kind\":\"queue\",\"name\":\"payments\",\"read\":1,\"written\":1,",
    ] {
        let found = ran.out.lines().find(|found| found.starts_with(line));
        assert!(
            found.is_some_and(|found| found.contains("\"rejected\":0,\"differences\":0,")),
            "{line}: {}",
            ran.out
        );
    }
    assert_alike(&from, &to);
    assert!(!directory.path().join("to.rejects.journal").exists());

    let store = Store::open(&to).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
    let entries = store.log::<Request>("requests").unwrap().entries().unwrap();
    let entries: Vec<_> = entries.map(|entry| entry.unwrap().value).collect();
    assert_eq!(entries, [Request { path: "/".into(), status: 200 }]);
    let hires = store.find_queue::<String>("hires").unwrap().unwrap();
    assert_eq!(&**hires.receive(HOUR).unwrap().unwrap(), "ready 0");
    assert!(!hires.send_unique("one", &"again".to_owned()).unwrap());
    let aside = messages(&store, "hires-poison");
    assert!(aside.iter().all(|message| message.error.as_deref() == Some("the printer is on fire")));
}

#[test]
fn what_the_target_has_already_is_refused_by_name_skipped_or_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from.tables"), directory.path().join("to.tables"));
    fill(&from, 20);
    let store = Store::open(&to).unwrap();
    store.queue::<String>("hires").unwrap().send(&"mine".to_owned()).unwrap();
    store.queue::<String>("payments").unwrap();
    store.container("photos").unwrap().put("mia.png", b"mine").unwrap();
    store.close().unwrap();
    let ran = copy(&from, &to, &["--queue", "hires", "--container", "photos"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
    let rejects = fs::read_to_string(directory.path().join("to.rejects")).unwrap();
    assert!(rejects.contains("queue `hires` has 1 messages in the target"), "{rejects}");
    assert!(rejects.contains("container `photos` has a blob `mia.png` already"), "{rejects}");
    let mine = || {
        let store = Store::options().read_only(true).open(&to).unwrap();
        let first = messages(&store, "hires").swap_remove(0).text;
        (first, store.container("photos").unwrap().get("mia.png").unwrap().unwrap())
    };
    assert_eq!(mine(), ("\"mine\"".into(), b"mine".to_vec()));
    let ran = copy(&from, &to, &["--queue", "hires", "--container", "photos", "--mode", "skip"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("\"skipped\":26,"), "{}", ran.out);
    assert_eq!(mine().1, b"mine");
    let ran = copy(&from, &to, &["--mode", "replace"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_alike(&from, &to);
}

#[test]
fn names_that_are_none_and_ways_that_are_none_are_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from.tables"), directory.path().join("to.tables"));
    fill(&from, 1);
    let ran = copy(&from, &to, &["--queue", "nothing"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.err.contains("the source has no queue `nothing`; it has hires, hires-poison, payments"),
        "{}",
        ran.err
    );
    let ran = copy(&from, &to, &["--container", "nothing"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("it has empty, logs, photos"), "{}", ran.err);
    let file = directory.path().join("Notes.jsonl");
    for more in [["--queue", "hires"], ["--container", "photos"]] {
        let ran = copy(&from, &file, &more);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("go from store to store"), "{}", ran.err);
    }
    let ran = copy(&from, &file, &["--resume"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("written whole or not at all"), "{}", ran.err);
    assert!(!to.exists() && !file.exists());
}

#[test]
fn copies_that_are_to_follow_are_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("to.tables");
    let ran = copy(company().store().as_ref(), &to, &["--table", "Company"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.err.starts_with("copies of 1 entities are still to follow in the source"), "{}", ran.err);
    let to = directory.path().join("quiet.tables");
    let ran = copy(company().store().as_ref(), &to, &["--table", "Company", "--quiet"]);
    assert_eq!((ran.code, &*ran.err), (0, ""), "{}", ran.out);
}

#[test]
fn messages_of_the_target_are_not_dropped_for_a_copy_that_has_sent_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (from, to, rejects) = (path("from.tables"), path("to.tables"), path("rejects"));
    fill(from.as_ref(), 1);
    let store = Store::open(&to).unwrap();
    store.queue::<String>("hires").unwrap().send(&"mine".to_owned()).unwrap();
    store.close().unwrap();
    // As it is after a kill before the first message is sent.
    let mut hash = Sha256::new();
    for part in [&*from, &to, "insert false false 0", "", "hires", ""] {
        hash.update(u64::try_from(part.len()).unwrap().to_le_bytes());
        hash.update(part);
    }
    let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let (digest, queue) = (hex(&hash.finalize()), hex(b"hires"));
    fs::write(path("rejects.journal"), format!("tables-copy 1\t{digest}\npart\tqueue\t{queue}\t0\t0\n"))
        .unwrap();
    let ran = tables(&["copy", "--write", &from, &to, "--queue", "hires", "--rejects", &rejects, "--resume"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    let text = fs::read_to_string(&rejects).unwrap_or_default();
    assert!(text.contains("has 1 messages in the target"), "{text}");
    let store = Store::open(&to).unwrap();
    assert_eq!(&*messages(&store, "hires").swap_remove(0).text, "\"mine\"");
}

#[test]
fn blobs_that_are_refused_are_told_by_their_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from.tables"), directory.path().join("to.tables"));
    for (path, names) in [(&from, &["a", "b", "c"][..]), (&to, &["b"])] {
        let store = Store::open(path).unwrap();
        let photos = store.container("photos").unwrap();
        for name in names {
            photos.put(name, path.to_str().unwrap().as_bytes()).unwrap();
        }
        drop(photos);
        store.close().unwrap();
    }
    assert_eq!(copy(&from, &to, &[]).code, 1);
    let rejects = fs::read_to_string(directory.path().join("to.rejects")).unwrap();
    assert!(rejects.starts_with("{\"line\":2,"), "{rejects}");
}
