//! Threads and processes with the same keys.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use super::*;

#[test]
fn threads_and_peers_that_need_a_key_at_once_share_one() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    let handles = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let peer = scratch.peer(&store);
            for one in [store.encryption().unwrap().clone(), peer] {
                let (company, handles) = (&company, &handles);
                scope.spawn(move || {
                    for partition in 0..20 {
                        let partition = partition.to_string();
                        let cell = company.cell(&partition, "1", "Ssn").unwrap().scoped(KeyScope::Partition);
                        let sealed = one.seal(&cell, SSN).unwrap();
                        handles.lock().unwrap().push((partition, KeyHandle::of(&sealed).unwrap()));
                    }
                });
            }
        }
    });
    let mut handles = handles.into_inner().unwrap();
    assert_eq!(handles.len(), 160);
    handles.sort();
    handles.dedup();
    assert_eq!(handles.len(), 20, "one key for each partition");
    assert_eq!(store.encryption().unwrap().keys().unwrap().len(), 20);
}

#[test]
fn renewing_while_others_seal_and_open_loses_nothing() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    std::thread::scope(|scope| {
        for number in 0..3 {
            let (peer, company) = (scratch.peer(&store), &company);
            scope.spawn(move || {
                for round in 0..60 {
                    let partition = format!("{number} {}", round % 7);
                    let cell = company.cell(&partition, "1", "Ssn").unwrap().scoped(KeyScope::Partition);
                    let sealed = peer.seal(&cell, SSN).unwrap();
                    assert_eq!(peer.open(&cell, &sealed).unwrap().as_value_ref(), SSN);
                }
            });
        }
        for one in [store.encryption().unwrap().clone(), scratch.peer(&store)] {
            scope.spawn(move || {
                for _ in 0..15 {
                    one.rewrap().unwrap();
                    one.rotate_all().unwrap();
                }
            });
        }
    });
    assert_eq!(scratch.roots(), 1);
    // Every key that was ever made opens, as none was destroyed.
    let encryption = scratch.peer(&store);
    for key in encryption.keys().unwrap() {
        encryption.vault.key(key.handle).unwrap();
    }
}

#[test]
fn a_key_that_was_unwrapped_is_at_hand_until_the_keys_change() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (encryption, peer) = (store.encryption().unwrap(), scratch.peer(&store));
    let (vault, scope) = (&encryption.vault, Scope::store());
    let current = || vault.current(scope.as_bytes()).unwrap();
    let sealing = current();
    let by_name = || vault.key(sealing.handle()).unwrap();
    assert!(Arc::ptr_eq(&sealing, &current()) && Arc::ptr_eq(&sealing, &by_name()));
    // A commit that takes no key's place changes nothing.
    peer.save_progress("job", Some(&Progress::default())).unwrap();
    assert!(Arc::ptr_eq(&sealing, &current()) && Arc::ptr_eq(&sealing, &by_name()));
    peer.rotate(&scope).unwrap();
    let opening = by_name();
    assert!(!Arc::ptr_eq(&sealing, &opening) && Arc::ptr_eq(&opening, &by_name()));
    assert_eq!(current().version(), 2);
}

#[test]
fn keys_open_while_somebody_writes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let writing = store.encryption().unwrap().vault.change().unwrap();
        let (scratch, store) = (&scratch, &store);
        scope.spawn(move || tell.send(scratch.peer(store).keys().unwrap()).unwrap());
        let found = told.recv_timeout(std::time::Duration::from_secs(20));
        drop(writing);
        assert_eq!(found, Ok(Vec::new()), "it waited for the writer");
    });
}

/// Has another process renew the root key while it is asked for one.
struct Meddler {
    inner: Arc<MemoryKeys>,
    peer: OnceLock<Encryption>,
    /// How often it still does.
    times: AtomicU64,
    /// Whether it gives no key then: it came too late for the old one.
    refuses: AtomicBool,
}

impl Meddler {
    /// Opens the keys of a store through one.
    fn new(scratch: &Scratch, store: &Store) -> (Arc<Self>, Encryption) {
        let meddler = Arc::new(Self {
            inner: scratch.provider.clone(),
            peer: OnceLock::from(scratch.peer(store)),
            times: AtomicU64::new(0),
            refuses: AtomicBool::new(false),
        });
        let identity = store.encryption().unwrap().vault.identity;
        let keys = Encryption::open_keys(&scratch.path, false, identity, meddler.clone()).unwrap();
        (meddler, keys)
    }

    /// Meddles so often from now on; the root key that was known is another's already.
    fn begin(&self, times: u64, refuses: bool) {
        self.peer.get().unwrap().rewrap().unwrap();
        self.refuses.store(refuses, Ordering::Relaxed);
        self.times.store(times, Ordering::Relaxed);
    }
}

impl KeyProvider for Meddler {
    fn current(&self) -> Result<KeyId, KeyError> {
        self.inner.current()
    }
    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.inner.wrap(id, key, context)
    }
    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
        let left = self.times.load(Ordering::Relaxed);
        if left > 0 {
            self.times.store(left - 1, Ordering::Relaxed);
            self.peer.get().unwrap().rewrap()?;
            if self.refuses.load(Ordering::Relaxed) {
                return Err(KeyError::refused());
            }
        }
        self.inner.unwrap(id, wrapped, context)
    }
}

/// One operation for each loop that looks again when the root key has become another.
fn operations(keys: &Encryption, cell: &Cell<'_>, sealed: &[u8], number: usize) -> Result<()> {
    match number {
        0 => keys.open(cell, sealed).map(drop),
        1 => keys.seal(cell, SSN).map(drop),
        2 => keys.rotate(&Scope::store()).map(drop),
        _ => keys.rewrap().map(drop),
    }
}

#[test]
fn a_root_key_that_another_renews_meanwhile_is_looked_up_again() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = store.encryption().unwrap().seal(&cell, SSN).unwrap();
    for refuses in [false, true] {
        for number in 0..4 {
            let (meddler, keys) = Meddler::new(&scratch, &store);
            meddler.begin(3, refuses);
            operations(&keys, &cell, &sealed, number).unwrap();
            assert_eq!(meddler.times.load(Ordering::Relaxed), 0);
            assert_eq!(keys.open(&cell, &sealed).unwrap().as_value_ref(), SSN);
        }
    }
    assert_eq!(scratch.roots(), 1);
    let versions: Vec<_> = scratch.peer(&store).keys().unwrap().iter().map(|key| key.version).collect();
    assert_eq!(versions, [1, 2, 3], "each rotation made one key, however often it was tried");
}

#[test]
fn a_root_key_that_is_renewed_at_every_look_is_an_error_in_the_end() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let company = table(&store);
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = store.encryption().unwrap().seal(&cell, SSN).unwrap();
    for (number, refuses) in [(0, true), (0, false), (1, false), (2, false), (3, false)] {
        let (meddler, keys) = Meddler::new(&scratch, &store);
        meddler.begin(u64::MAX, refuses);
        let error = operations(&keys, &cell, &sealed, number).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
        assert!(error.to_string().contains("renewed without end"), "{error}");
        meddler.times.store(0, Ordering::Relaxed);
        operations(&keys, &cell, &sealed, number).unwrap();
    }
    assert_eq!(scratch.roots(), 1);
}
