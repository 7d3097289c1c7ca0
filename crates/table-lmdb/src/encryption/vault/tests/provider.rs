//! When the provider is asked, and what becomes of its failures.

use std::sync::atomic::AtomicU8;

use super::*;

/// Counts, and fails when it is told to.
struct Watched {
    inner: Arc<MemoryKeys>,
    calls: AtomicU64,
    /// What fails, a bit each.
    broken: AtomicU8,
}

const CURRENT: u8 = 1;
const WRAP: u8 = 2;
const UNWRAP: u8 = 4;
const ALL: u8 = CURRENT | WRAP | UNWRAP;

impl Watched {
    fn new() -> Arc<Self> {
        let inner = Arc::new(MemoryKeys::new().unwrap());
        Arc::new(Self { inner, calls: AtomicU64::new(0), broken: 0.into() })
    }

    fn called(&self, what: u8) -> Result<(), KeyError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.broken.load(Ordering::Relaxed) & what != 0 {
            Err(KeyError::unavailable("the line is dead"))
        } else {
            Ok(())
        }
    }
}

impl KeyProvider for Watched {
    fn current(&self) -> Result<KeyId, KeyError> {
        self.called(CURRENT).and_then(|()| self.inner.current())
    }
    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.called(WRAP).and_then(|()| self.inner.wrap(id, key, context))
    }
    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
        self.called(UNWRAP).and_then(|()| self.inner.unwrap(id, wrapped, context))
    }
}

#[test]
fn the_provider_is_asked_at_opening_and_never_for_a_value() {
    let (scratch, provider) = (Scratch::new(), Watched::new());
    let open = || Store::options().map_size(1 << 26).encryption(provider.clone()).open(&scratch.path);
    drop(open().unwrap());
    let before = provider.calls.load(Ordering::Relaxed);
    let store = open().unwrap();
    assert_eq!(provider.calls.load(Ordering::Relaxed), before + 1, "one unwrap");
    provider.broken.store(ALL, Ordering::Relaxed);
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    for partition in 0..5 {
        let partition = partition.to_string();
        let cell = company.cell(&partition, "1", "Ssn").unwrap().scoped(KeyScope::Partition);
        encryption.seal(&cell, SSN).unwrap();
        encryption.rotate(&company.partition_key_scope(&partition).unwrap()).unwrap();
    }
    // What needs it fails whole, and says why.
    let error = encryption.rewrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    assert_eq!(
        error.to_string(),
        "cannot rewrap the data keys: the key provider can't be used: the line is dead"
    );
    drop((store, company));
    assert_eq!(kind(open()), ErrorKind::KeyUnavailable);
    provider.broken.store(0, Ordering::Relaxed);
    assert_eq!(open().unwrap().encryption().unwrap().keys().unwrap().len(), 10);
}

#[test]
fn a_store_whose_provider_fails_at_first_leaves_nothing_behind() {
    let (scratch, provider) = (Scratch::new(), Watched::new());
    let open = || Store::options().map_size(1 << 26).encryption(provider.clone()).open(&scratch.path);
    for broken in [CURRENT, WRAP, UNWRAP] {
        provider.broken.store(broken, Ordering::Relaxed);
        assert_eq!(kind(open()), ErrorKind::KeyUnavailable);
        assert!(!scratch.path.join("keys").exists());
    }
    provider.broken.store(0, Ordering::Relaxed);
    open().unwrap();
}

#[test]
fn another_key_of_the_provider_takes_over() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = encryption.seal(&cell, SSN).unwrap();
    let peer = scratch.peer(&store);
    let old = scratch.provider.current().unwrap();
    scratch.provider.rotate().unwrap();
    encryption.rewrap().unwrap();
    assert!(scratch.provider.forget(&old));
    for one in [encryption, &peer, &scratch.peer(&store)] {
        assert_eq!(one.open(&cell, &sealed).unwrap().as_value_ref(), SSN);
    }
    assert_eq!(scratch.roots(), 1);
    assert_eq!(encryption.keys().unwrap().len(), 1);
}

#[test]
fn who_renews_the_root_key_knows_the_new_one() {
    let (scratch, provider) = (Scratch::new(), Watched::new());
    let store = Store::options().map_size(1 << 26).encryption(provider.clone()).open(&scratch.path).unwrap();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = encryption.seal(&cell, SSN).unwrap();
    encryption.rewrap().unwrap();
    let before = provider.calls.load(Ordering::Relaxed);
    assert_eq!(encryption.open(&cell, &sealed).unwrap().as_value_ref(), SSN);
    assert_eq!(provider.calls.load(Ordering::Relaxed), before, "it was asked again");
}

#[test]
fn a_provider_that_fails_leaves_the_old_root_key_in_force() {
    let (scratch, provider) = (Scratch::new(), Watched::new());
    let store = Store::options().map_size(1 << 26).encryption(provider.clone()).open(&scratch.path).unwrap();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = encryption.seal(&cell, SSN).unwrap();
    for broken in [CURRENT, WRAP, UNWRAP] {
        let before = encryption.vault.root().unwrap().number;
        provider.broken.store(broken, Ordering::Relaxed);
        for outcome in [encryption.rewrap().map(drop), encryption.shred(&Scope::store()).map(drop)] {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
            assert!(error.to_string().ends_with("the line is dead"), "{error}");
        }
        assert_eq!(scratch.roots(), 1);
        assert_eq!(encryption.vault.root().unwrap().number, before);
        assert_eq!(encryption.open(&cell, &sealed).unwrap().as_value_ref(), SSN);
    }
}

#[test]
fn who_can_not_ask_for_a_new_root_key_can_do_nothing_until_it_can() {
    let (scratch, provider) = (Scratch::new(), Watched::new());
    let store = Store::options().map_size(1 << 26).encryption(provider.clone()).open(&scratch.path).unwrap();
    let (company, encryption) = (table(&store), store.encryption().unwrap());
    let cell = company.cell("Sales", "1", "Ssn").unwrap();
    let sealed = encryption.seal(&cell, SSN).unwrap();
    let identity = encryption.vault.identity;
    let peer = Encryption::open_keys(&scratch.path, false, identity, provider.inner.clone()).unwrap();
    peer.rewrap().unwrap();
    provider.broken.store(UNWRAP, Ordering::Relaxed);
    let run = || {
        [
            encryption.open(&cell, &sealed).map(drop),
            encryption.seal(&cell, SSN).map(drop),
            encryption.reseal(&cell, &sealed).map(drop),
            encryption.token(&cell, TokenScope::Table, SSN).map(drop),
            encryption.tokens(&cell, TokenScope::Table, SSN).map(drop),
            encryption.rotate(&Scope::store()).map(drop),
            encryption.rotate_all().map(drop),
            encryption.rewrap().map(drop),
            encryption.shred(&company.key_scope()).map(drop),
        ]
    };
    for error in run().map(Result::unwrap_err) {
        assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
        assert!(error.to_string().contains("the line is dead (its key `memory/1`)"), "{error}");
    }
    provider.broken.store(0, Ordering::Relaxed);
    for outcome in run() {
        outcome.unwrap();
    }
    assert_eq!(peer.open(&cell, &sealed).unwrap().as_value_ref(), SSN);
}

/// Wraps keys into so many bytes.
struct Bulky(MemoryKeys, usize);

impl KeyProvider for Bulky {
    fn current(&self) -> Result<KeyId, KeyError> {
        self.0.current()
    }
    fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
        let mut wrapped = self.0.wrap(id, key, context)?;
        wrapped.resize(self.1, 0);
        Ok(wrapped)
    }
    fn unwrap(&self, id: &KeyId, wrapped: &[u8], context: &[u8]) -> Result<SecretKey, KeyError> {
        self.0.unwrap(id, &wrapped[..88], context)
    }
}

#[test]
fn a_wrapped_key_may_have_almost_64_kib() {
    for (length, fits) in [(65_535, true), (65_536, false)] {
        let scratch = Scratch::new();
        let provider = Arc::new(Bulky(MemoryKeys::new().unwrap(), length));
        let open = || Store::options().map_size(1 << 26).encryption(provider.clone()).open(&scratch.path);
        if fits {
            drop(open().unwrap());
            open().unwrap();
        } else {
            let error = open().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
            assert!(error.to_string().contains("gave 65536 bytes for a wrapped key"), "{error}");
        }
    }
}
