//! Blobs in containers and in entities, logs, and lists that are longer than a row.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails panics")]

mod support;

use std::io::{Read, Seek, SeekFrom};
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use support::proxy::{Cut, Proxy};
use support::{options, schema, server, server_at, server_port};
use table_core::blob::Blob;
use table_core::{DynamicEntity, Entity, ErrorKind, Query};
use table_postgres::PostgresTables;

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Albums", kind = "photo")]
#[key(partition = "{album}", row = "{id:06}")]
#[index(by_title, row = "title_{title}_{id:06}")]
struct Photo {
    album: String,
    id: u32,
    title: String,
    picture: Blob,
}

fn photo(id: u32, picture: Blob) -> Photo {
    Photo { album: "2014".into(), id, title: format!("title{id}"), picture }
}

fn key(id: u32) -> table_core::Key<Photo> {
    Photo::key("2014", id)
}

/// Returns so many bytes, of which no two segments are alike.
fn bytes(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at % 251).unwrap().wrapping_add(seed)).collect()
}

/// Returns one number that the server gives.
fn number(sql: &str) -> i64 {
    let output = Command::new("psql").args([&*server(), "-Atc", sql]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// Returns how many segments there are, and blobs that something leads to.
fn kept(schema: &str) -> (i64, i64) {
    let count = |what: &str| number(&format!("SELECT count(*) FROM {schema}.{what}"));
    (count("_segments"), count("_blobs WHERE refs > 0"))
}

#[test]
fn a_blob_is_read_from_any_place_as_it_was_when_it_was_opened() {
    let tables = PostgresTables::options().schema(schema()).connect(&server()).unwrap();
    let films = tables.container("films").unwrap();
    let all = bytes(5_000_000, 3);
    assert_eq!(films.upload("holiday.mp4", "video/mp4", &all[..]).unwrap(), 5_000_000);
    let mut film = films.open("holiday.mp4").unwrap();
    films.put("holiday.mp4", b"another").unwrap();
    for from in [4_999_990, 65_512, 65_511, 0, 1_000_000] {
        film.seek(SeekFrom::Start(from)).unwrap();
        let mut some = [0; 100];
        let read = film.read(&mut some).unwrap();
        let from = usize::try_from(from).unwrap();
        assert_eq!(some[..read], all[from..from + read]);
    }
    film.seek(SeekFrom::Start(0)).unwrap();
    let mut read = Vec::new();
    film.read_to_end(&mut read).unwrap();
    assert!(read == all);
    assert_eq!(films.get("holiday.mp4").unwrap().unwrap(), b"another");
    assert_eq!(films.append("holiday.mp4", &all[..100_000]).unwrap(), 100_007);
    assert_eq!(films.append("holiday.mp4", &all[..100_000]).unwrap(), 200_007);
    let joined = [b"another", &all[..100_000], &all[..100_000]].concat();
    assert!(films.get("holiday.mp4").unwrap().unwrap() == joined);
    assert!(films.delete("holiday.mp4").unwrap() && !films.delete("holiday.mp4").unwrap());
    assert_eq!(films.open("holiday.mp4").unwrap_err().kind(), ErrorKind::BlobNotFound);
}

#[test]
fn a_blob_stays_as_long_as_a_row_refers_to_it() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let photos = tables.table::<Photo>().unwrap();
    let picture = tables.upload("image/jpeg", &bytes(200_000, 1)[..]).unwrap();
    photos.insert(&photo(1, picture)).unwrap();
    photos.insert(&photo(2, picture)).unwrap();
    assert_eq!(kept(&schema), (4, 1));
    let stats = || {
        let stats = tables.blob_stats().unwrap();
        (stats.blobs, stats.bytes, stats.names, stats.waiting)
    };
    assert_eq!(stats(), (1, 200_000, 0, 0));
    assert!(photos.get(key(1)).unwrap().unwrap().picture.get(&tables).unwrap() == bytes(200_000, 1));
    photos.update(key(1), |photo| photo.title = "other".into()).unwrap();
    photos.delete(key(2)).unwrap();
    assert_eq!(kept(&schema), (4, 1));
    // Another in its place.
    let other = tables.upload("image/jpeg", &bytes(10, 2)[..]).unwrap();
    tables.container("films").unwrap().put("a", b"film").unwrap();
    assert_eq!(stats(), (2, 200_004, 1, 1));
    tables.container("films").unwrap().delete("a").unwrap();
    photos.update(key(1), |photo| photo.picture = other).unwrap();
    assert_eq!(kept(&schema), (1, 1));
    // What is released waits for the next look at what nothing leads to.
    assert_eq!(stats(), (1, 10, 0, 1));
    assert_eq!(picture.get(&tables).unwrap_err().kind(), ErrorKind::BlobGone);
    let error = photos.insert(&photo(3, picture)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobGone, "{error}");
    assert!(error.to_string().contains("Picture"), "{error}");
    assert!(photos.get(key(3)).unwrap().is_none());
    // Rows by their properties count, too.
    let table = tables.create_table("Plain").unwrap();
    let more = tables.upload("image/jpeg", &bytes(10, 3)[..]).unwrap();
    table.insert(&DynamicEntity::new("a", "b").with("Cover", more)).unwrap();
    table.merge(&DynamicEntity::new("a", "b").with("Other", 5), table_core::IfMatch::Any).unwrap();
    assert_eq!(kept(&schema), (2, 2));
    table.delete("a", "b").unwrap();
    assert_eq!(kept(&schema), (1, 1));
    // With its table goes what its rows held.
    tables.drop_table("Albums").unwrap();
    assert_eq!(kept(&schema).1, 0);
    drop(PostgresTables::options().schema(&schema).connect(&server()).unwrap().container("films").unwrap());
    assert_eq!(kept(&schema), (0, 0));
}

#[test]
fn what_is_written_at_once_over_a_row_with_a_blob_leaves_no_reference() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let table = tables.create_table("Plain").unwrap();
    let row = |at: i32| DynamicEntity::new("a", format!("{at:04}"));
    for at in 0..300 {
        table.insert(&row(at).with("Cover", 1)).unwrap();
        let cover = tables.upload("image/jpeg", &bytes(10, 1)[..]).unwrap();
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                table.put(&row(at).with("Cover", cover)).unwrap();
            });
            barrier.wait();
            if at % 2 == 0 {
                table.put(&row(at).with("Cover", 2)).unwrap();
            } else {
                table.delete("a", &format!("{at:04}")).unwrap();
            }
        });
    }
    let all = table.query(&Query::new()).unwrap().map(Result::unwrap);
    let with_blobs = all.filter(|row| row.get("Cover").unwrap().as_i32().is_none()).count();
    let references = number(&format!("SELECT sum(count) FROM {schema}._blob_refs"));
    assert_eq!(references, i64::try_from(with_blobs).unwrap());
}

/// A plan may wait for a row that another is writing, and go on with what it has seen of its table's references before.
#[test]
fn the_first_reference_of_a_table_is_seen_by_all_that_write_behind_it() {
    let schema = schema();
    let connect = || PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let (one, other) = (connect(), connect());
    for at in 0..50 {
        let name = format!("Plain{at}");
        let (table, of_other) = (one.create_table(&name).unwrap(), other.dynamic_table(&name).unwrap());
        table.insert(&DynamicEntity::new("a", "b").with("Cover", 1)).unwrap();
        let cover = one.upload("image/jpeg", &bytes(10, 1)[..]).unwrap();
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                table.put(&DynamicEntity::new("a", "b").with("Cover", cover)).unwrap();
            });
            barrier.wait();
            of_other.put(&DynamicEntity::new("a", "b").with("Cover", 2)).unwrap();
        });
        let has_blob = table.get("a", "b").unwrap().unwrap().get("Cover").unwrap().as_i32().is_none();
        let id = format!("(SELECT id FROM {schema}._tables WHERE name = '{name}')");
        let references =
            number(&format!("SELECT coalesce(sum(count), 0) FROM {schema}._blob_refs WHERE table_id = {id}"));
        assert_eq!(references, i64::from(has_blob), "{name}");
    }
}

#[test]
fn writers_of_one_blob_at_once_count_right() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let photos = tables.table::<Photo>().unwrap();
    let picture = tables.upload("image/jpeg", &bytes(100_000, 1)[..]).unwrap();
    photos.insert(&photo(0, picture)).unwrap();
    thread::scope(|scope| {
        for writer in 1..5 {
            let photos = &photos;
            scope.spawn(move || {
                for at in 0..10 {
                    photos.insert(&photo(writer * 100 + at, picture)).unwrap();
                    if at % 2 == 0 {
                        photos.delete(key(writer * 100 + at)).unwrap();
                    }
                }
            });
        }
    });
    let refs = number(&format!("SELECT refs FROM {schema}._blobs"));
    // Each has a whole copy in the index.
    assert_eq!(refs, 2 * (1 + 4 * 5));
    let all: Vec<_> = photos.all().into_iter().map(|one| one.unwrap().id).collect();
    for id in all {
        photos.delete(key(id)).unwrap();
    }
    assert_eq!(kept(&schema), (0, 0));
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "People", kind = "person")]
#[key(partition = "all", row = "{name}")]
#[index_list(by_town, table = "Towns", partition = "towns", row = "{town}", of = name, atomic)]
struct Person {
    name: String,
    town: String,
}

#[test]
fn a_list_may_be_longer_than_a_row() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let people = tables.table::<Person>().unwrap();
    // A row has room for some 480,000 characters.
    let name = |at: u32| format!("{at:05}{}", "n".repeat(480));
    let person = |at: u32| Person { name: name(at), town: "Bonn".into() };
    for some in (0..1_100).collect::<Vec<_>>().chunks(100) {
        let all: Vec<_> = some.iter().copied().map(person).collect();
        let mut changes = people.egt(Person::partition());
        for one in &all {
            changes = changes.insert(one);
        }
        changes.commit().unwrap();
    }
    let count = || people.list(Person::by_town("Bonn")).unwrap().keys().count();
    assert_eq!(count(), 1_100);
    assert_eq!(kept(&schema).1, 1);
    people.insert(&person(2_000)).unwrap();
    people.delete(Person::key(name(3))).unwrap();
    assert_eq!((count(), kept(&schema).1), (1_100, 1));
    for some in (100..1_100).collect::<Vec<_>>().chunks(100) {
        let changes = people.egt(Person::partition());
        some.iter().fold(changes, |changes, at| changes.delete(Person::key(name(*at)))).commit().unwrap();
    }
    // It has room in its row again.
    assert_eq!((count(), kept(&schema)), (100, (0, 0)));
}

#[test]
fn logs_are_read_by_time() {
    let tables = options().connect(&server()).unwrap();
    let log = tables.log::<String>("events").unwrap();
    for at in 0..50 {
        log.append(&format!("event {at}")).unwrap();
    }
    log.flush().unwrap();
    let found: Vec<_> = log.entries().unwrap().map(|entry| entry.unwrap().value).collect();
    assert_eq!(found.len(), 50);
    assert_eq!((&*found[0], &*found[49]), ("event 0", "event 49"));
}

/// Reads a blob: it is of one moment, so a reader that has begun does not go on with another connection.
fn read<T>(read: &dyn Fn() -> table_core::Result<T>) -> T {
    match read() {
        Err(error) if error.kind() == ErrorKind::Unreachable => read().unwrap(),
        done => done.unwrap(),
    }
}

#[test]
fn blobs_bear_cuts_at_any_message() {
    let proxy = Proxy::begin(server_port());
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server_at(proxy.port)).unwrap();
    let photos = tables.table::<Photo>().unwrap();
    let films = tables.container("films").unwrap();
    let work = || {
        films.put("a", b"one").unwrap();
        assert_eq!(films.append("a", b"two").unwrap(), 6);
        assert_eq!(read(&|| films.get("a")).unwrap(), b"onetwo");
        assert!(films.delete("a").unwrap());
        let picture = tables.upload("image/jpeg", &bytes(1_500_000, 5)[..]).unwrap();
        photos.insert(&photo(1, picture)).unwrap();
        assert!(read(&|| picture.get(&tables)) == bytes(1_500_000, 5));
        photos.delete(key(1)).unwrap();
    };
    work();
    assert_eq!(kept(&schema), (0, 0));
    proxy.stop();
    let mut runs = 0;
    for cut in [Cut::Before, Cut::Behind] {
        for message in (0..300).step_by(2) {
            proxy.cut_at(message, cut);
            work();
            runs += 1;
            let cuts = proxy.stop();
            assert_eq!(kept(&schema), (0, 0), "{message}");
            if cuts == 0 {
                break;
            }
        }
    }
    println!("{runs} cuts");
    assert!(runs > 10, "{runs}");
}
