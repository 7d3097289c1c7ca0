//! Bits that flip in queues' records: a message is received as it was sent, or there is an error; none is missing without
//! one.

use table_engine::error::ErrorKind;
use table_engine::messages::keys::Key;

use super::*;
use crate::open::walk_bytes;
use crate::tests_scratch::in_memory;

const MESSAGES: u64 = 40;

/// Returns a queue with messages that are ready, held, given back and named.
fn filled(store: &Store) -> (QueueId, Vec<Receipt>) {
    set_clock(1_000);
    let queue = queues(store).open("work").unwrap();
    for number in 0..MESSAGES {
        let unique = (number % 4 == 0).then(|| Arc::from(format!("key {number}")));
        let sending = Sending { unique, ..sending(&format!("message {number}")) };
        ask(store, queue, vec![Task::Send(sending)]).unwrap();
    }
    let held: Vec<_> =
        receive(store, queue, 10, 1_000, 5).unwrap().into_iter().map(|delivery| delivery.receipt).collect();
    for receipt in &held[5..] {
        ask(store, queue, vec![Task::Release(*receipt, release(50, Some("not now"), 5))]).unwrap();
    }
    (queue, held)
}

/// Returns every record of the queues' database.
fn records(store: &Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let environment = &store.shared().environment;
    let db = environment.known(crate::open::OptionalDb::Queues).unwrap();
    let txn = environment.read_txn().unwrap();
    db.iter(&txn)
        .unwrap()
        .map(|pair| pair.map(|(key, record)| (key.to_vec(), record.to_vec())).unwrap())
        .collect()
}

/// Puts other bytes under a key, as damage would, or none.
fn put(store: &Store, key: &[u8], record: Option<&[u8]>) {
    let environment = &store.shared().environment;
    let db = environment.known(crate::open::OptionalDb::Queues).unwrap();
    let mut txn = environment.write_txn().unwrap();
    let mut meta = crate::records::meta::Meta::begin(environment.dbs.main, &txn).unwrap();
    match record {
        Some(record) => db.put(&mut txn, key, record).unwrap(),
        None => drop(db.delete(&mut txn, key).unwrap()),
    }
    meta.write(environment.dbs.main, &mut txn).unwrap();
    environment.commit(txn).unwrap();
}

/// Uses the queue in every way; the kinds of error that there were. `untimed` is a message that is not found by its time.
fn use_it(store: &Store, queue: QueueId, held: &[Receipt], untimed: Option<u64>) -> Vec<ErrorKind> {
    let mut errors = Vec::new();
    let mut seen = Vec::new();
    let mut note = |result: Result<Vec<Delivery>>| match result {
        Ok(found) => seen.extend(found),
        Err(error) => errors.push(error.kind()),
    };
    set_clock(1_010);
    note(queues(store).peek(queue, 1_000));
    for receipt in &held[..2] {
        note(complete(store, queue, *receipt).map(|()| Vec::new()));
    }
    note(
        ask(store, queue, vec![Task::Send(Sending { unique: Some(Arc::from("key 8")), ..sending("again") })])
            .map(|answer| {
                assert!(matches!(answer[..], [Answer::Sent { is_new: false, .. }]), "a message has that key");
                Vec::new()
            }),
    );
    // Those that were given back show by now.
    set_clock(1_060);
    let mut received = Vec::new();
    loop {
        match receive(store, queue, 7, 100_000, 5) {
            Ok(found) if found.is_empty() => break,
            Ok(found) => received.extend(found),
            Err(error) => {
                errors.push(error.kind());
                break;
            }
        }
    }
    // The receiver of one holds it.
    for found in &received {
        if let Err(error) = complete(store, queue, found.receipt) {
            errors.push(error.kind());
        }
    }
    // Without an error all are there, each as it was sent.
    if errors.is_empty() {
        let numbers: Vec<_> = received.iter().map(|found| found.receipt.id).collect();
        let expected: Vec<_> = (6..=MESSAGES).filter(|id| Some(*id) != untimed).collect();
        assert_eq!(numbers, expected);
    }
    for found in received.iter().chain(&seen) {
        assert_eq!(&*found.body, format!("message {}", found.receipt.id - 1));
    }
    errors
}

fn built() -> (tempfile::TempDir, Store, QueueId, Vec<Receipt>) {
    let dir = in_memory();
    let options = Store::options().durability(crate::Durability::Relaxed).map_size(1 << 26);
    let store = options.open(dir.path().join("store")).unwrap();
    let (queue, held) = filled(&store);
    (dir, store, queue, held)
}

#[test]
fn a_queue_that_is_sound_gives_all() {
    let (_dir, store, queue, held) = built();
    assert_sound(&store);
    assert_eq!(use_it(&store, queue, &held, None), []);
    assert_sound(&store);
}

#[test]
fn a_flipped_bit_or_a_missing_record_is_told_by_who_meets_it_and_by_the_check() {
    let (_dir, store, ..) = built();
    let all = records(&store);
    let kinds: std::collections::BTreeSet<_> = all.iter().map(|(key, _)| key[0]).collect();
    assert_eq!(kinds.len(), 7, "there is a record of each kind");
    drop(store);
    let mut told = 0;
    for (number, (key, record)) in all.iter().enumerate() {
        for how in 0..3 {
            // One of many like it is enough.
            if !matches!(Key::parse(key), Some(Key::Directory | Key::State(_))) && number % 5 != how {
                continue;
            }
            let (_dir, store, queue, held) = built();
            let (original, mut key, mut record) = (key.clone(), key.clone(), record.clone());
            match how {
                0 => put(&store, &key, None),
                1 => {
                    let at = number % record.len();
                    record[at] ^= 1 << (number % 8);
                    put(&store, &key, Some(&record));
                }
                _ => {
                    // A bit of the key: it stands elsewhere.
                    put(&store, &key, None);
                    let at = key.len() - 1 - number % key.len().min(8);
                    key[at] ^= 1 << (number % 8);
                    put(&store, &key, Some(&record));
                }
            }
            let problems = store.check().map_or(1, |report| report.problems.len());
            assert_ne!(problems, 0, "{how}: {}", key.escape_ascii());
            // That a message shows again is asked by time alone. What was taken out of a sound tree, which no damage does,
            // the check finds.
            let untimed = match Key::parse(&original) {
                Some(Key::Hidden(_, _, id)) if how != 1 => Some(id),
                _ => None,
            };
            let errors = use_it(&store, queue, &held, untimed);
            // Nor does anything but a lease say that a message is held.
            let may_be_stale = how != 1 && matches!(Key::parse(&original), Some(Key::Lease(..)));
            let is_right = |kind: &ErrorKind| {
                *kind == ErrorKind::Corrupt || may_be_stale && *kind == ErrorKind::StaleReceipt
            };
            assert!(errors.iter().all(is_right), "{how}: {errors:?}");
            told += usize::from(!errors.is_empty());
        }
    }
    assert!(told * 2 > all.len() / 5, "{told}");
}

/// What pages prove: an entry that damage has put out of order, or hidden, is no entry that is not there.
#[test]
fn a_bit_that_flips_in_the_file_hides_no_message() {
    let (dir, store, ..) = built();
    let path = dir.path().join("store");
    let environment = &store.shared().environment;
    let pages = environment.dbs.pages;
    let places: std::collections::BTreeSet<u64> = {
        let db = environment.known(crate::open::OptionalDb::Queues).unwrap();
        let txn = environment.read_txn().unwrap();
        let keys = db.iter(&txn).unwrap().map(|pair| pages.number(pair.unwrap().0).unwrap());
        keys.collect()
    };
    let size = pages.size();
    drop(store);
    let file = std::fs::read(path.join("data.mdb")).unwrap();
    let (mut flips, mut met) = (0, 0);
    for page in places {
        let from = usize::try_from(page).unwrap() * size;
        // LMDB goes by what a page's header and offsets say: those are other tests'.
        let lower = usize::from(u16::from_le_bytes([file[from + 12], file[from + 13]]));
        let upper = usize::from(u16::from_le_bytes([file[from + 14], file[from + 15]]));
        for at in (from + upper.max(lower)..from + size).step_by(37) {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            let copy = in_memory();
            std::fs::write(copy.path().join("data.mdb"), &damaged).unwrap();
            let options = Store::options().durability(crate::Durability::Relaxed).map_size(1 << 26);
            flips += 1;
            // A node's own fields are seen by a look at the pages.
            if walk_bytes(&damaged).is_none() {
                continue;
            }
            let Ok(store) = options.open(copy.path()) else { continue };
            let Ok(queue) = queues(&store).open("work") else { continue };
            let held: Vec<_> = (1..=10).map(|id| Receipt { id, delivery: 1, until: Ticks::MIN }).collect();
            let errors = use_it(&store, queue, &held, None);
            assert!(errors.iter().all(|kind| *kind == ErrorKind::Corrupt), "{at}: {errors:?}");
            met += usize::from(!errors.is_empty());
        }
    }
    println!("{flips} flips, {met} met");
    assert!(flips > 100 && met * 3 > flips, "{met} of {flips}");
}

/// Where the key of a lease says another message's number, a lease that comes beside it would stand out of order, and be looked
/// for elsewhere once there are others: the receiver that holds the message would be refused as if another one did.
#[test]
fn a_lease_whose_key_has_changed_leads_no_other_astray() {
    let dir = in_memory();
    let options = Store::options().durability(crate::Durability::Relaxed).map_size(1 << 26);
    let store = options.open(dir.path().join("store")).unwrap();
    set_clock(1_000);
    let queue = queues(&store).open("work").unwrap();
    // One in three is hidden for so long that no receive looks at its lease.
    let is_later = |id: u64| id.is_multiple_of(3);
    for id in 1..=MESSAGES {
        let after = if is_later(id) { span(100_000) } else { Duration::ZERO };
        let sending = Sending { after, ..sending(&format!("message {}", id - 1)) };
        ask(&store, queue, vec![Task::Send(sending)]).unwrap();
    }
    drop(store);
    let file = std::fs::read(dir.path().join("store/data.mdb")).unwrap();
    let (mut flips, mut met) = (0, 0);
    for id in (1..=MESSAGES).filter(|id| is_later(*id)) {
        let key = table_engine::messages::keys::lease(queue.number, id);
        let places = (0..file.len() - key.len()).filter(|at| file[*at..].starts_with(&key));
        for (at, bit) in places.map(|at| at + key.len() - 1).flat_map(|at| (0..6).map(move |bit| (at, bit))) {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            let copy = in_memory();
            std::fs::write(copy.path().join("data.mdb"), &damaged).unwrap();
            let store = options.open(copy.path()).unwrap();
            let queue = queues(&store).open("work").unwrap();
            let mut errors = Vec::new();
            // The receiver of one holds it.
            match receive(&store, queue, 100, 100_000, 5) {
                Ok(found) => {
                    assert_eq!(found.len(), (1..=MESSAGES).filter(|id| !is_later(*id)).count());
                    let done = found.into_iter().map(|found| complete(&store, queue, found.receipt));
                    errors.extend(done.filter_map(Result::err));
                }
                Err(error) => errors.push(error),
            }
            let is_right = errors.iter().all(|error| error.kind() == ErrorKind::Corrupt);
            assert!(is_right, "{id}, bit {bit}: {errors:?}");
            flips += 1;
            met += usize::from(!errors.is_empty());
        }
    }
    println!("{flips} flips, {met} met");
    // No look reads pages that nothing leads to any more.
    assert!(met > 50, "{met} of {flips}");
}

#[test]
fn a_database_without_its_bit_and_a_bit_without_its_database_are_damage() {
    let (dir, store, ..) = built();
    let environment = &store.shared().environment;
    let mut txn = environment.write_txn().unwrap();
    let main = environment.dbs.main;
    let mut meta = crate::records::meta::Meta::begin(main, &txn).unwrap();
    meta.features.clear(crate::records::features::Feature::Queues);
    meta.write(main, &mut txn).unwrap();
    environment.commit(txn).unwrap();
    drop(store);
    let store = Store::options()
        .map_size(1 << 26)
        .durability(crate::Durability::Relaxed)
        .open(dir.path().join("store"));
    let store = store.unwrap();
    let error = queues(&store).open("work").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_ne!(store.check().unwrap().problems.len(), 0);
}

/// Where a leaf holds little any more LMDB joins it with one beside it, and takes what that says of its entries as it is.
#[test]
fn a_leaf_is_not_joined_with_one_that_is_damaged() {
    const NAMED: u64 = 160;
    let dir = in_memory();
    let path = dir.path().join("store");
    let name = |number: u64| Some(Arc::from(format!("key {number:0>60}")));
    let send = |number| vec![Task::Send(Sending { unique: name(number), ..sending("named") })];
    let leaves: std::collections::BTreeSet<u64> = {
        let store = Store::open(&path).unwrap();
        set_clock(1_000);
        let queue = queues(&store).open("work").unwrap();
        for number in 0..NAMED {
            ask(&store, queue, send(number)).unwrap();
        }
        let environment = &store.shared().environment;
        let db = environment.known(crate::open::OptionalDb::Queues).unwrap();
        let txn = environment.read_txn().unwrap();
        let pages = environment.dbs.pages;
        db.iter(&txn).unwrap().map(|pair| pages.number(pair.unwrap().0).unwrap()).collect()
    };
    assert!(leaves.len() > 5, "{} leaves", leaves.len());
    let data = path.join("data.mdb");
    let whole = std::fs::read(&data).unwrap();
    let mut refused = 0;
    for leaf in leaves {
        let page = usize::try_from(leaf * 4_096).unwrap();
        // Where the room on the page ends: later than it does.
        let upper = u16::from_le_bytes([whole[page + 14], whole[page + 15]]);
        let bit = (6..12).rev().find(|bit| upper & 1 << bit == 0 && upper + (1 << bit) < 4_096).unwrap();
        let mut bytes = whole.clone();
        bytes[page + 14..page + 16].copy_from_slice(&(upper | 1 << bit).to_le_bytes());
        std::fs::write(&data, bytes).unwrap();
        let store = Store::open(&path).unwrap();
        let Ok(queue) = queues(&store).open("work") else { continue };
        let mut left: std::collections::BTreeSet<u64> = (1..=NAMED).collect();
        while let Ok(found) = receive(&store, queue, 3, 100_000, 5) {
            if found.is_empty() {
                break;
            }
            for found in found {
                if complete(&store, queue, found.receipt).is_ok() {
                    left.remove(&found.receipt.id);
                }
            }
        }
        assert!(!left.is_empty());
        for id in left {
            match ask(&store, queue, send(id - 1)) {
                Ok(answer) => {
                    assert!(matches!(answer[..], [Answer::Sent { is_new: false, .. }]), "{id} is there");
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt);
                    refused += 1;
                }
            }
        }
        assert!(!store.check().unwrap().problems.is_empty());
    }
    assert!(refused > 10, "{refused} were refused");
}

/// A leaf of queues' records is whole, in use and sound, and a row's key lies between its keys.
#[test]
fn a_row_is_not_taken_to_be_absent_where_a_branch_leads_to_queues() {
    let dir = in_memory();
    let path = dir.path().join("store");
    let row =
        |number: u32| table_engine::DynamicEntity::new("p", format!("{number:04}")).with("Number", number);
    let roots = {
        let store = Store::open(&path).unwrap();
        let table = store.create_table("Table").unwrap();
        for number in 0..300 {
            table.insert(&row(number)).unwrap();
        }
        set_clock(1_000);
        let queue = queues(&store).open("work").unwrap();
        ask(&store, queue, vec![Task::Send(sending("a message"))]).unwrap();
        let environment = &store.shared().environment;
        let txn = environment.read_txn().unwrap();
        // LMDB's record of a database ends with its root.
        ["data", "queues"].map(|name| {
            let record = environment.dbs.main.get(&txn, name.as_bytes()).unwrap().unwrap();
            u64::from_le_bytes(*record.last_chunk().unwrap())
        })
    };
    let data = path.join("data.mdb");
    let mut bytes = std::fs::read(&data).unwrap();
    let branch = usize::try_from(roots[0] * 4_096).unwrap();
    // The second entry of the branch leads to queues.
    let entry = branch + usize::from(u16::from_le_bytes([bytes[branch + 18], bytes[branch + 19]]));
    bytes[entry..entry + 4].copy_from_slice(&u32::try_from(roots[1]).unwrap().to_le_bytes());
    std::fs::write(&data, bytes).unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.dynamic_table("Table").unwrap();
    let mut told = 0;
    for number in 0..300 {
        match table.get("p", &format!("{number:04}")) {
            Ok(found) => assert_eq!(found.unwrap().get("Number"), row(number).get("Number")),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                assert_eq!(table.insert(&row(number)).unwrap_err().kind(), ErrorKind::Corrupt);
                told += 1;
            }
        }
    }
    assert!((10..100).contains(&told), "{told} were told");
}
