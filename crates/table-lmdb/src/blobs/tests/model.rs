//! Random operations against a map of bytes.

use std::collections::BTreeMap;
use std::io::Read;

use proptest::prelude::*;

use table_engine::blob::{BlobReader, Container};
use table_engine::error::ErrorKind;

use super::*;
use crate::tests_scratch::in_memory;

#[derive(Clone, Debug)]
enum Operation {
    Put { container: usize, name: usize, length: usize },
    PutNew { container: usize, name: usize, length: usize },
    Append { container: usize, name: usize, length: usize },
    Upload { container: usize, name: usize, length: usize, fails: bool },
    Delete { container: usize, name: usize },
    Open { container: usize, name: usize },
    Drop { container: usize },
    Reopen,
}

const CONTAINERS: [&str; 2] = ["one", "other"];
const NAMES: [&str; 5] = ["a", "a/1", "a/2", "b", "\u{e9}"];

fn operation() -> impl Strategy<Value = Operation> {
    let at = || (0..CONTAINERS.len(), 0..NAMES.len());
    let length = || prop_oneof![0..200_usize, 65_000..66_000_usize, 0..300_000_usize];
    prop_oneof![
        4 => (at(), length()).prop_map(|((container, name), length)| Operation::Put { container, name, length }),
        1 => (at(), length()).prop_map(|((container, name), length)| Operation::PutNew { container, name, length }),
        4 => (at(), length()).prop_map(|((container, name), length)| Operation::Append { container, name, length }),
        2 => (at(), 0..2_500_000_usize, any::<bool>()).prop_map(|((container, name), length, fails)| {
            Operation::Upload { container, name, length, fails }
        }),
        3 => at().prop_map(|(container, name)| Operation::Delete { container, name }),
        2 => at().prop_map(|(container, name)| Operation::Open { container, name }),
        1 => (0..CONTAINERS.len()).prop_map(|container| Operation::Drop { container }),
        1 => Just(Operation::Reopen),
    ]
}

/// Gives bytes, and an error at their end if it is to fail.
struct Source<'b>(&'b [u8], bool);

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.0.is_empty() && self.1 {
            return Err(std::io::Error::other("as the test wants it"));
        }
        let most = into.len().min(10_000);
        self.0.read(&mut into[..most])
    }
}

type Map = BTreeMap<(usize, usize), Vec<u8>>;

fn compare(store: &Store, containers: &[Container], map: &Map) {
    for (at, container) in containers.iter().enumerate() {
        let found: Vec<_> = container.list("").unwrap().map(|blob| blob.unwrap()).collect();
        let wanted: Vec<_> = map.iter().filter(|((of, _), _)| *of == at).collect();
        assert_eq!(found.len(), wanted.len());
        for (found, ((_, name), bytes)) in found.iter().zip(wanted) {
            assert_eq!(found.name, NAMES[*name]);
            assert_eq!(found.length, u64::try_from(bytes.len()).unwrap());
            assert!(container.get(&found.name).unwrap().as_ref() == Some(bytes), "{}", found.name);
        }
    }
    let stats = store.stats().unwrap().blobs;
    let count = u64::try_from(map.len()).unwrap();
    assert_eq!((stats.blobs, stats.names, stats.waiting), (count, count, 0));
    assert_eq!(stats.bytes, map.values().map(|bytes| u64::try_from(bytes.len()).unwrap()).sum::<u64>());
    assert_sound(store);
}

fn run(operations: &[Operation]) {
    let dir = in_memory();
    let path = dir.path().join("store");
    let open = || {
        let store = Store::open(&path).unwrap();
        let containers = CONTAINERS.map(|name| store.container(name).unwrap());
        (store, containers)
    };
    let (mut store, mut containers) = open();
    let (mut map, mut readers): (Map, Vec<(BlobReader, Vec<u8>)>) = (BTreeMap::new(), Vec::new());
    for (number, operation) in operations.iter().enumerate() {
        let new = |length| bytes(length, u64::try_from(number).unwrap() + 1);
        match *operation {
            Operation::Put { container, name, length } => {
                containers[container].put(NAMES[name], &new(length)).unwrap();
                map.insert((container, name), new(length));
            }
            Operation::PutNew { container, name, length } => {
                match containers[container].put_new(NAMES[name], "text/plain", &new(length)) {
                    Ok(()) => assert!(map.insert((container, name), new(length)).is_none()),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::BlobAlreadyExists);
                        assert!(map.contains_key(&(container, name)));
                    }
                }
            }
            Operation::Append { container, name, length } => {
                let whole = map.entry((container, name)).or_default();
                whole.extend_from_slice(&new(length));
                let length = containers[container].append(NAMES[name], &new(length)).unwrap();
                assert_eq!(length, u64::try_from(whole.len()).unwrap());
            }
            Operation::Upload { container, name, length, fails } => {
                let bytes = new(length);
                let done = containers[container].upload(NAMES[name], "text/plain", Source(&bytes, fails));
                assert_eq!(done.is_err(), fails);
                if !fails {
                    map.insert((container, name), bytes);
                }
            }
            Operation::Delete { container, name } => {
                let was_there = containers[container].delete(NAMES[name]).unwrap();
                assert_eq!(was_there, map.remove(&(container, name)).is_some());
            }
            Operation::Open { container, name } => match containers[container].open(NAMES[name]) {
                Ok(reader) => readers.push((reader, map[&(container, name)].clone())),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::BlobNotFound);
                    assert!(!map.contains_key(&(container, name)));
                }
            },
            Operation::Drop { container } => {
                store.drop_container(CONTAINERS[container]).unwrap();
                map.retain(|(of, _), _| *of != container);
                containers[container] = store.container(CONTAINERS[container]).unwrap();
            }
            Operation::Reopen => {
                read(&mut readers);
                drop((store, containers));
                (store, containers) = open();
            }
        }
    }
    read(&mut readers);
    compare(&store, &containers, &map);
}

/// Each reader reads the bytes as they were when it was opened.
fn read(readers: &mut Vec<(BlobReader, Vec<u8>)>) {
    for (mut reader, wanted) in readers.drain(..) {
        let mut found = Vec::new();
        reader.read_to_end(&mut found).unwrap();
        assert!(found == wanted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(25), ..ProptestConfig::default() })]
    #[test]
    fn blobs_are_what_a_map_of_bytes_would_hold(operations in prop::collection::vec(operation(), 1..400)) {
        run(&operations);
    }
}
