//! What the fuzzer feeds of the keys' records: each is read, and written again.

use table_engine::crypt::mac::MacKey;
use table_engine::crypt::{KeyHandle, SecretKey};
use table_engine::model::Ticks;
use table_engine::sealing::job::Progress;

use super::record::{self, KeyRecord, MacKeyRecord, Meta, RecordCounts, ScopeRecord, State};
use super::{progress, root};
use crate::records::meta;

/// Returns the MAC key of the fuzzer's scopes.
fn authenticator() -> Option<MacKey> {
    SecretKey::from_slice(&[7; SecretKey::BYTES]).map(|key| MacKey::new(&key))
}

/// Returns the record of this key as it is written, if the body can be read as one. The body of a scope's has no MAC:
/// it is given one.
pub(crate) fn again(key: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let record = meta::sealed(key, body.to_vec());
    let authenticator = authenticator()?;
    // Reading a record that lacks its MAC may not panic.
    std::hint::black_box(record::flaw(Some(&authenticator), key, &record).is_none());
    let written = match key {
        record::META => Meta::decode(&record).ok()?.encode(),
        record::AUTHORITY => MacKeyRecord::decode(&record).ok()?.encode(),
        [b'k', ..] => {
            record::handle_of(key).ok()?;
            KeyRecord::decode(key, &record).ok()?.encode(key)
        }
        [b's', ..] => {
            let authenticated = ScopeRecord::parse(body)?.encode(&authenticator, key);
            let read = ScopeRecord::decode(&authenticator, key, &authenticated).ok()?;
            let authenticated = meta::opened(key, &read.encode(&authenticator, key))?.to_vec();
            meta::sealed(key, authenticated.strip_suffix(authenticated.last_chunk::<16>()?)?.to_vec())
        }
        [b'j', ..] => progress::encode(&progress::decode(key, &record).ok()?, key),
        root::SEED => root::encode(&root::decode(&record)?).ok()?,
        _ => return None,
    };
    meta::opened(key, &written).map(<[u8]>::to_vec)
}

/// Returns the keys and bodies of records of each sort.
pub(crate) fn samples() -> Vec<(Vec<u8>, Vec<u8>)> {
    let set_digest = RecordCounts { keys: 3, scopes: 2, jobs: 1, digest: u64::MAX };
    let meta =
        Meta { identity: [7; 16], root: 0x1234, generation: 9, is_new: false, transaction: 11, set_digest };
    let handle = KeyHandle(0x0102);
    let key = record::key_key(handle);
    let made = Ticks::UNIX_EPOCH;
    let keys = [State::Alive { check: [9; 32], wrapped: vec![5; 88] }, State::Shredded, State::Superseded]
        .map(|state| (key.to_vec(), KeyRecord { version: 2, made, state }.encode(&key)));
    let job = record::job_key("re-encrypt Company");
    let jobs = [None, Some(("Sales".to_owned(), "empid_000001".to_owned()))].map(|position| {
        let progress = Progress { position, seen: 5, changed: 3, generation: 7 };
        (job.clone(), progress::encode(&progress, &job))
    });
    let authenticator = MacKeyRecord { check: [9; 32], wrapped: vec![5; 88] };
    let others =
        [(record::META.to_vec(), meta.encode()), (record::AUTHORITY.to_vec(), authenticator.encode())];
    let root = root::sample().map(|file| (root::SEED.to_vec(), file));
    let sealed = keys.into_iter().chain(jobs).chain(others).chain(root);
    let opened = sealed.filter_map(|(key, record)| {
        let body = meta::opened(&key, &record)?.to_vec();
        Some((key, body))
    });
    // The latest key, and the living ones.
    let scope = (0_u32..3).flat_map(|at| [&at.to_le_bytes()[..], &[1; 8]].concat());
    let scope = [4_u32.to_le_bytes().to_vec(), scope.collect()].concat();
    opened.chain([(vec![b's'; 17], scope)]).collect()
}
