//! Blobs by name: put, read, listed, appended to, uploaded, deleted.

use std::io::{self, Read, Seek, SeekFrom};

use integration_tests::assert_sound;
use table_core::store::BlobStats;
use table_core::{ErrorKind, Store};

use super::{bytes, stats, store, store_on_lmdb};

const SEGMENT: usize = 65_512;

#[test]
fn blobs_of_every_size_are_read_as_they_were_put() {
    let (_dir, store) = store();
    let files = store.container("files").unwrap();
    let lengths =
        [0, 1, 100, SEGMENT - 1, SEGMENT, SEGMENT + 1, 3 * SEGMENT, 1 << 20, (4 << 20) + 1, 9 << 20];
    for length in lengths {
        let put = bytes(length, length as u64);
        files.put(&format!("{length}"), &put).unwrap();
        assert!(files.get(&format!("{length}")).unwrap() == Some(put), "{length}");
    }
    let all: usize = lengths.iter().sum();
    if let Some(stats) = stats(&store) {
        assert_eq!(
            (stats.blobs, stats.names, stats.waiting),
            (lengths.len() as u64, lengths.len() as u64, 0)
        );
        assert_eq!(stats.bytes, all as u64);
    }
    assert_sound(&store);
    for length in lengths {
        assert!(files.delete(&format!("{length}")).unwrap());
        assert!(!files.delete(&format!("{length}")).unwrap());
        assert_eq!(files.get(&format!("{length}")).unwrap(), None);
    }
    assert!(stats(&store).is_none_or(|stats| stats == BlobStats::default()));
    assert_sound(&store);
}

#[test]
fn a_reader_reads_from_any_place_and_what_was_there_when_it_was_opened() {
    let (_dir, store) = store();
    let files = store.container("files").unwrap();
    let put = bytes(200_000, 7);
    files.put_as("film", "video/mp4", &put).unwrap();
    let mut reader = files.open("film").unwrap();
    assert_eq!((reader.len(), reader.is_empty(), reader.content_type()), (200_000, false, "video/mp4"));
    // What comes after changes nothing of it.
    files.append("film", &[1, 2, 3]).unwrap();
    files.put("film", b"another").unwrap();
    assert!(files.delete("film").unwrap());
    let mut buffer = [0; 1_000];
    for place in [0, 1, 65_000, 65_511, 65_512, 131_023, 131_024, 199_000, 199_999] {
        reader.seek(SeekFrom::Start(place as u64)).unwrap();
        let read = reader.read(&mut buffer).unwrap();
        assert!(read > 0);
        assert_eq!(buffer[..read], put[place..place + read], "{place}");
    }
    assert_eq!(reader.read(&mut buffer).unwrap(), 0);
    assert_eq!(reader.seek(SeekFrom::End(-5)).unwrap(), 199_995);
    assert_eq!(reader.seek(SeekFrom::Current(2)).unwrap(), 199_997);
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, put[199_997..]);
    assert_eq!(reader.seek(SeekFrom::Start(300_000)).unwrap(), 300_000);
    assert_eq!(reader.read(&mut buffer).unwrap(), 0);
    assert_eq!(reader.seek(SeekFrom::End(-200_001)).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    reader.rewind().unwrap();
    let mut whole = Vec::new();
    reader.read_to_end(&mut whole).unwrap();
    assert!(whole == put);
    assert_eq!(files.open("film").unwrap_err().kind(), ErrorKind::BlobNotFound);
}

#[test]
fn what_is_appended_comes_behind_what_is_there() {
    let (_dir, store) = store();
    let logs = store.container("logs").unwrap();
    let mut whole = Vec::new();
    for (number, length) in [10, 0, 65_000, 600, 65_512, 1, 200_000, 30].into_iter().enumerate() {
        let more = bytes(length, number as u64 + 1);
        whole.extend_from_slice(&more);
        assert_eq!(logs.append("today.log", &more).unwrap(), whole.len() as u64);
        assert!(logs.get("today.log").unwrap().as_ref() == Some(&whole), "{number}");
        assert_sound(&store);
    }
    let info = logs.find("today.log").unwrap().unwrap();
    assert_eq!((info.name.as_str(), info.length), ("today.log", whole.len() as u64));
    assert_eq!(info.content_type, "application/octet-stream");
    assert!(info.made < info.changed);
    let error = logs.append("today.log", &vec![0; (4 << 20) + 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobTooLarge);
    assert!(error.to_string().contains("container `logs`, blob `today.log`"), "{error}");
}

#[test]
fn blobs_are_listed_by_the_beginning_of_their_names() {
    let (_dir, store) = store();
    let files = store.container("files").unwrap();
    for number in (0..700).rev() {
        files.put(&format!("a/{number:03}"), &[]).unwrap();
    }
    for name in ["a", "a0", "b/1", "\u{e9}/x", "B"] {
        files.put(name, name.as_bytes()).unwrap();
    }
    let names = |prefix: &str| -> Vec<String> {
        files.list(prefix).unwrap().map(|blob| blob.unwrap().name).collect()
    };
    let numbered: Vec<_> = (0..700).map(|number| format!("a/{number:03}")).collect();
    assert_eq!(names("a/"), numbered);
    assert_eq!(names("a/69").len(), 10);
    assert_eq!(names("c"), Vec::<String>::new());
    let mut all = numbered.clone();
    all.extend(["a", "a0", "b/1", "\u{e9}/x", "B"].map(String::from));
    all.sort();
    assert_eq!(names(""), all);
    // It is of one moment.
    let mut listing = files.list("a/").unwrap();
    for name in &numbered {
        assert!(files.delete(name).unwrap());
    }
    assert!(listing.by_ref().take(700).all(|blob| blob.is_ok()));
    assert!(listing.next().is_none());
    assert_eq!(names("a/"), Vec::<String>::new());
    assert_sound(&store);
}

#[test]
fn a_list_goes_on_behind_any_name() {
    let (_dir, store) = store();
    let files = store.container("files").unwrap();
    for name in ["a/1", "a/2", "a/3", "b"] {
        files.put(name, &[]).unwrap();
    }
    assert!(files.delete("a/2").unwrap());
    let names = |prefix: &str, after: &str| -> Vec<String> {
        files.list_after(prefix, after).unwrap().map(|blob| blob.unwrap().name).collect()
    };
    assert_eq!(names("", "a/1"), ["a/3", "b"]);
    assert_eq!(names("", "a/2"), ["a/3", "b"]);
    assert_eq!(names("a/", "a/2"), ["a/3"]);
    // It may come before all that have the beginning, or behind them.
    assert_eq!(names("a/", "A"), ["a/1", "a/3"]);
    assert_eq!(names("a/", "b"), Vec::<String>::new());
    assert_eq!(names("", "c"), Vec::<String>::new());
    assert_eq!(files.list_after("", &"n".repeat(2_000)).unwrap_err().kind(), ErrorKind::InvalidBlobName);
    assert_sound(&store);
}

#[test]
fn containers_are_apart_and_go_with_their_blobs() {
    let (_dir, store) = store();
    let (one, other) = (store.container("one").unwrap(), store.container("other").unwrap());
    one.put("name", b"1").unwrap();
    other.put("name", b"2").unwrap();
    assert_eq!(store.containers().unwrap(), ["one", "other"]);
    if let Some(store) = store.lmdb() {
        let report = store.check().unwrap();
        assert_eq!((report.containers, report.blobs), (2, 2));
    }
    let mut reader = one.open("name").unwrap();
    store.drop_container("one").unwrap();
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(read, "1");
    for error in [
        one.put("name", b"3").unwrap_err(),
        one.get("name").unwrap_err(),
        one.append("name", b"3").unwrap_err(),
        one.delete("name").unwrap_err(),
        one.list("").unwrap_err(),
        one.upload("name", "text/plain", &b"3"[..]).unwrap_err(),
        store.drop_container("one").unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ContainerNotFound, "{error}");
        assert_eq!(error.container_name(), Some("one"));
    }
    assert_eq!(store.containers().unwrap(), ["other"]);
    let again = store.container("one").unwrap();
    assert_eq!(again.get("name").unwrap(), None);
    assert_eq!(other.get("name").unwrap(), Some(b"2".to_vec()));
    if let Some(stats) = stats(&store) {
        assert_eq!((stats.blobs, stats.names, stats.waiting, stats.bytes), (1, 1, 0, 1));
    }
    assert_sound(&store);
}

#[test]
fn bad_names_and_types_are_refused_and_nothing_is_written() {
    let (_dir, store) = store();
    assert_eq!(store.container("No").unwrap_err().kind(), ErrorKind::InvalidContainerName);
    let files = store.container("files").unwrap();
    for error in [
        files.put("", &[]).unwrap_err(),
        files.put("a\nb", &[]).unwrap_err(),
        files.get(&"a".repeat(1_025)).unwrap_err(),
        files.list("\0").unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidBlobName, "{error}");
    }
    let error = files.put_as("a", "caf\u{e9}", &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
    files.put_new("a", "text/plain", b"first").unwrap();
    let large = bytes(5 << 20, 1);
    for second in [&b"second"[..], &large] {
        let error = files.put_new("a", "text/plain", second).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BlobAlreadyExists);
    }
    assert_eq!(files.get("a").unwrap(), Some(b"first".to_vec()));
    if let Some(stats) = stats(&store) {
        assert_eq!((stats.blobs, stats.bytes), (1, 5));
    }
    assert_sound(&store);
}

/// Gives so many bytes and then fails.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(self.0);
        self.0 -= length;
        if length == 0 { Err(io::Error::other("the line is dead")) } else { Ok(length) }
    }
}

#[test]
fn an_upload_is_there_whole_or_not_at_all() {
    let (_dir, store) = store();
    let files = store.container("files").unwrap();
    files.put("film", b"former").unwrap();
    let error = files.upload("film", "video/mp4", Failing(3_000_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("the line is dead"), "{error}");
    assert_eq!(files.get("film").unwrap(), Some(b"former".to_vec()));
    if let Some(stats) = stats(&store) {
        assert_eq!((stats.blobs, stats.waiting, stats.bytes), (1, 0, 6));
    }

    let film = bytes(10_000_000, 3);
    assert_eq!(files.upload("film", "video/mp4", &*film).unwrap(), 10_000_000);
    assert!(files.get("film").unwrap().as_ref() == Some(&film));
    assert_eq!(files.upload("nothing", "video/mp4", io::empty()).unwrap(), 0);
    assert_eq!(files.get("nothing").unwrap(), Some(Vec::new()));
    assert_sound(&store);
}

#[test]
fn a_store_that_is_reopened_copied_and_compacted_has_its_blobs() {
    let (dir, store) = store_on_lmdb();
    let put = bytes(1_000_000, 5);
    store.container("files").unwrap().put("a", &put).unwrap();
    store.copy_to(dir.path().join("copy")).unwrap();
    let store = store.compact().unwrap();
    drop(store);
    for name in ["store", "copy"] {
        let store = Store::open(dir.path().join(name)).unwrap();
        assert!(store.container("files").unwrap().get("a").unwrap().as_ref() == Some(&put), "{name}");
        assert_sound(&store);
        drop(store);
        let store = Store::options().read_only(true).open(dir.path().join(name)).unwrap();
        let files = store.container("files").unwrap();
        assert!(files.get("a").unwrap().as_ref() == Some(&put), "{name}");
        assert_eq!(files.put("b", &[]).unwrap_err().kind(), ErrorKind::ReadOnly);
        assert_eq!(store.container("others").unwrap_err().kind(), ErrorKind::ReadOnly);
    }
}

/// A blob of more than a thousand segments goes in steps; what is left of a crash in between goes later.
#[test]
fn a_large_blob_is_gone_at_once_and_its_space_comes_back() {
    let (_dir, store) = store_on_lmdb();
    let files = store.container("files").unwrap();
    files.upload("large", "video/mp4", io::repeat(1).take(100 << 20)).unwrap();
    assert!(files.delete("large").unwrap());
    assert_eq!(files.get("large").unwrap(), None);
    store.reclaim().unwrap();
    assert_eq!(store.stats().unwrap().blobs, Default::default());
    assert_sound(&store);
}

integration_tests::on_executors_with_jobs! {
    blobs_of_every_size_are_read_as_they_were_put
    a_reader_reads_from_any_place_and_what_was_there_when_it_was_opened
    what_is_appended_comes_behind_what_is_there
    blobs_are_listed_by_the_beginning_of_their_names
    a_list_goes_on_behind_any_name
    containers_are_apart_and_go_with_their_blobs
    bad_names_and_types_are_refused_and_nothing_is_written
    an_upload_is_there_whole_or_not_at_all
}
