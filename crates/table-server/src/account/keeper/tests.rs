//! Several keepers of one store stand for as many processes: they share nothing but the record.

use std::thread;

use table_core::asynchronous::block_on;
use table_core::{ErrorKind, Store};

use super::*;

const KEYS: [KeyName; 2] = [KeyName::Key1, KeyName::Key2];

fn store() -> Tables {
    let store = Store::temporary().unwrap();
    (*store).clone()
}

fn open(tables: &Tables) -> KeyKeeper {
    block_on(KeyKeeper::open(tables.to_async(), "contoso", Given::default())).unwrap()
}

fn texts(keys: &AccountKeys) -> [String; 2] {
    KEYS.map(|which| keys.key(which).to_owned())
}

fn known(keeper: &KeyKeeper) -> [String; 2] {
    texts(&keeper.known().keys)
}

/// Looks as if this much time had gone by since the last look.
fn after(keeper: &KeyKeeper, time: Duration, every: Duration) -> Result<Arc<AccountKeys>, AccountError> {
    let now = keeper.known().looked + time;
    block_on(keeper.looked_at(now, every))
}

/// Requests are answered by tasks that go from thread to thread.
#[test]
fn what_is_awaited_can_be_sent() {
    fn sent<T: Send>(_: &T) {}
    let tables = store();
    sent(&KeyKeeper::open(tables.to_async(), "contoso", Given::default()));
    let keeper = open(&tables);
    sent(&(keeper.current(), keeper.after_failure(1), keeper.rotate(KeyName::Key1)));
}

#[test]
fn the_first_start_makes_keys_that_others_find() {
    let tables = store();
    let keepers: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| open(&tables))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let first = known(&keepers[0]);
    assert!(keepers.iter().all(|keeper| known(keeper) == first));
    assert_eq!(known(&open(&tables)), first);
    assert_eq!(block_on(keepers[0].current()).unwrap().generation(), 1);
    assert_ne!(known(&open(&store())), first);
}

#[test]
fn given_keys_count_at_the_first_start_alone() {
    let tables = store();
    let given = |byte: u8| Given { key1: Some(text::base64(&[byte; 32])), key2: None };
    let open =
        |name: &'static str, given: &Given| block_on(KeyKeeper::open(tables.to_async(), name, given.clone()));
    let keeper = open("contoso", &given(1)).unwrap();
    assert_eq!(known(&keeper)[0], *text::base64(&[1; 32]));
    assert!(keeper.is_as_given(&given(1)) && keeper.is_as_given(&Given::default()));
    let again = open("contoso", &given(2)).unwrap();
    assert_eq!(known(&again), known(&keeper));
    assert!(!again.is_as_given(&given(2)));

    let error = open("fabrikam", &given(1)).unwrap_err();
    assert!(matches!(&error, AccountError::OtherAccount(name) if name == "contoso"), "{error}");
    let bad = Given { key1: Some(Zeroizing::new("short".to_owned())), key2: None };
    let fresh = store();
    let error = block_on(KeyKeeper::open(fresh.to_async(), "contoso", bad)).unwrap_err();
    assert!(matches!(error, AccountError::Key(KeyName::Key1)), "{error}");
    assert_eq!(record(&fresh).unwrap(), None);
}

#[test]
fn a_key_is_exchanged_and_the_other_stays() {
    let tables = store();
    let keeper = open(&tables);
    let [first, second] = known(&keeper);
    let new = block_on(keeper.rotate(KeyName::Key1)).unwrap();
    assert_ne!(*new, first);
    assert_eq!(known(&keeper), [new.to_string(), second.clone()]);
    let newer = block_on(keeper.rotate(KeyName::Key2)).unwrap();
    assert_ne!(*newer, second);
    // It is in the store.
    let again = open(&tables);
    assert_eq!(known(&again), [new.to_string(), newer.to_string()]);
    assert_eq!(again.known().keys.generation(), 3);
    assert!(!format!("{again:?}").contains(&*new));
}

#[test]
fn another_process_learns_of_it_within_a_second_or_at_a_failure() {
    let tables = store();
    let [one, other] = [open(&tables), open(&tables)];
    let before = known(&other);
    block_on(one.rotate(KeyName::Key1)).unwrap();
    let now = known(&one);

    let [shorter, second] = [LOOK_EVERY.saturating_sub(Duration::from_millis(1)), LOOK_EVERY];
    assert_eq!(texts(&after(&other, shorter, LOOK_EVERY).unwrap()), before);
    assert_eq!(texts(&after(&other, second, LOOK_EVERY).unwrap()), now);

    // A failure makes it look, though not for each of many.
    block_on(one.rotate(KeyName::Key2)).unwrap();
    let soon = LOOK_AFTER_FAILURE.saturating_sub(Duration::from_millis(1));
    assert_eq!(texts(&after(&other, soon, LOOK_AFTER_FAILURE).unwrap()), now);
    assert_eq!(texts(&after(&other, LOOK_AFTER_FAILURE, LOOK_AFTER_FAILURE).unwrap()), known(&one));

    // By the clock, from the last look on.
    block_on(one.rotate(KeyName::Key1)).unwrap();
    other.known().looked = Instant::now().checked_sub(LOOK_AFTER_FAILURE).unwrap();
    let found = block_on(other.after_failure(3)).unwrap().unwrap();
    assert_eq!((texts(&found), found.generation()), (known(&one), 4));
    assert!(block_on(other.after_failure(4)).unwrap().is_none());
}

#[test]
fn a_look_that_fails_is_made_again_by_the_next_request() {
    let tables = store();
    let keeper = open(&tables);
    let records = tables.service_records().unwrap();
    let text = record(&tables).unwrap().unwrap();
    let put = |value: Option<&[u8]>| {
        assert!(records.replace(RecordOwner::Store, RECORD, Expected::Any, value).unwrap());
    };
    for (value, expected) in [(None, "removed"), (Some(&b"not it"[..]), "can't be read")] {
        put(value);
        for _ in 0..2 {
            let error = after(&keeper, LOOK_EVERY, LOOK_EVERY).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            let error = block_on(keeper.rotate(KeyName::Key1)).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
    put(Some(&text));
    assert_eq!(texts(&after(&keeper, LOOK_EVERY, LOOK_EVERY).unwrap()), known(&keeper));
}

#[test]
fn processes_that_exchange_keys_at_one_time_lose_none() {
    let tables = store();
    let keepers = [open(&tables), open(&tables)];
    for _ in 0..10 {
        // One exchanges the first key while the other does the second: both must be there.
        let new = thread::scope(|scope| {
            let of = |at: usize| {
                let keeper = &keepers[at];
                scope.spawn(move || block_on(keeper.rotate(KEYS[at])).unwrap().to_string())
            };
            [of(0), of(1)].map(|thread| thread.join().unwrap())
        });
        assert_eq!(known(&open(&tables)), new);
    }
    // Of those that exchange one key, the last has told the one that is there, and who was too late is told so.
    let done: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|at: usize| {
                scope.spawn({
                    let keepers = &keepers;
                    move || block_on(keepers[at % 2].rotate(KeyName::Key1))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let there = known(&open(&tables))[0].clone();
    let told: Vec<_> = done.iter().filter_map(|done| done.as_ref().ok()).collect();
    assert!(told.iter().any(|key| ***key == there));
    for error in done.iter().filter_map(|done| done.as_ref().err()) {
        assert!(matches!(error, AccountError::Exchanged(KeyName::Key1)), "{error}");
    }
}

#[test]
fn a_store_that_can_only_be_read_has_keys_if_they_were_made() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    drop(store);
    let reading = Store::options().read_only(true);
    let store = reading.open(&path).unwrap();
    let error = block_on(KeyKeeper::open(store.to_async(), "contoso", Given::default())).unwrap_err();
    assert!(matches!(&error, AccountError::Store(error) if error.kind() == ErrorKind::ReadOnly), "{error}");
    drop(store);
    let store = Store::open(&path).unwrap();
    let keys = known(&open(&store));
    drop(store);
    let store = reading.open(&path).unwrap();
    assert_eq!(known(&open(&store)), keys);
}
