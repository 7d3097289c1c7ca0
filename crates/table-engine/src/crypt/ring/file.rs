//! The bytes of a key ring's file.
//!
//! ```text
//! `tablekey` | version: 1 | protection: 1 | with a passphrase, memory: 4, passes: 4, lanes: 4, salt: 16
//! | the keys, or an envelope around them, bound to all before it | checksum: 8
//! ```

use crate::hash::xxh3_64;
use argon2::{Algorithm, Argon2, Params, Version};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::crypt::envelope::{self, Purpose};
use crate::crypt::key::{self, Derivation, SecretKey};
use crate::crypt::provider::KeyId;
use crate::error::{Error, ErrorKind, Result};

const MAGIC: [u8; 8] = *b"tablekey";
const VERSION: u8 = 1;

/// Bytes of a key's name.
const ID: usize = 16;
/// More keys than a ring can have.
const MOST: usize = 1_000;

/// The cost of stretching a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// In KiB.
    memory: u32,
    passes: u32,
    lanes: u32,
}

impl Cost {
    /// RFC 9106's second recommendation, in one lane.
    pub(super) const DEFAULT: Self = Self { memory: 64 * 1024, passes: 3, lanes: 1 };
    #[cfg(test)]
    pub(super) const LEAST: Self = Self { memory: 8, passes: 1, lanes: 1 };

    /// Returns whether this library writes such files. Any other file is refused before a byte is stretched: a higher cost would
    /// only take the machine's memory and time, and a lower one was made to be guessed.
    fn is_known(self) -> bool {
        #[cfg(test)]
        if self == Self::LEAST {
            return true;
        }
        self == Self::DEFAULT
    }
}

/// How the keys lie in the file.
#[derive(Debug)]
pub(super) enum Protection {
    None,
    /// The key that the passphrase gives, with the header that says how.
    Passphrase(Derivation, Vec<u8>),
}

impl Protection {
    pub(super) fn with_passphrase(passphrase: &str, cost: Cost) -> Result<Self> {
        if passphrase.is_empty() {
            return Err(Error::new(ErrorKind::KeyUnavailable).because("the passphrase is empty"));
        }
        let mut salt = [0; 16];
        key::random(&mut salt)?;
        let mut header = header(1);
        for number in [cost.memory, cost.passes, cost.lanes] {
            header.extend_from_slice(&number.to_le_bytes());
        }
        header.extend_from_slice(&salt);
        Ok(Self::Passphrase(stretch(passphrase, cost, &salt)?, header))
    }
}

fn header(protection: u8) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&[VERSION, protection]);
    header
}

fn stretch(passphrase: &str, cost: Cost, salt: &[u8; 16]) -> Result<Derivation> {
    let fail = |error: argon2::Error| {
        Error::new(ErrorKind::KeyUnavailable).because(format!("the passphrase can't be stretched: {error}"))
    };
    let params = Params::new(cost.memory, cost.passes, cost.lanes, Some(32)).map_err(fail)?;
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, &mut *key)
        .map_err(fail)?;
    SecretKey::from_slice(&*key).map(|key| key.derivation()).ok_or_else(damaged)
}

/// The keys of a ring, oldest first; the last one wraps.
#[derive(Debug, Default)]
pub(super) struct Contents(Vec<Entry>);

struct Entry {
    id: [u8; ID],
    key: SecretKey,
    derivation: Derivation,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.key).finish()
    }
}

impl Contents {
    /// Returns a new key, which wraps from now on.
    pub(super) fn add(&mut self) -> Result<KeyId> {
        if self.0.len() >= MOST {
            return Err(Error::new(ErrorKind::KeyUnavailable)
                .because(format!("a key ring holds at most {MOST} keys; remove old ones first")));
        }
        let mut bytes = [0; ID];
        key::random(&mut bytes)?;
        let id = *uuid::Builder::from_random_bytes(bytes).as_uuid().as_bytes();
        let key = SecretKey::generate()?;
        self.0.push(Entry { id, derivation: key.derivation(), key });
        name(id)
    }

    pub(super) fn remove(&mut self, id: &KeyId) -> bool {
        let before = self.0.len();
        self.0.retain(|entry| !is(entry, id));
        self.0.len() < before
    }

    pub(super) fn get(&self, id: &KeyId) -> Option<&Derivation> {
        self.0.iter().find(|entry| is(entry, id)).map(|entry| &entry.derivation)
    }

    pub(super) fn current(&self) -> Result<KeyId> {
        self.0.last().map_or_else(|| Err(damaged()), |entry| name(entry.id))
    }

    #[cfg(test)]
    pub(super) fn newest_key(&self) -> [u8; SecretKey::BYTES] {
        *self.0.last().unwrap().key.expose()
    }

    pub(super) fn ids(&self) -> Vec<KeyId> {
        self.0.iter().filter_map(|entry| name(entry.id).ok()).collect()
    }
}

fn is(entry: &Entry, id: &KeyId) -> bool {
    Uuid::try_parse(id.as_str()).is_ok_and(|id| *id.as_bytes() == entry.id)
}

fn name(id: [u8; ID]) -> Result<KeyId> {
    Ok(KeyId::new(Uuid::from_bytes(id).to_string())?)
}

/// Returns the file's bytes.
pub(super) fn encode(protection: &Protection, contents: &Contents) -> Result<Zeroizing<Vec<u8>>> {
    // Room for all of it at once: a vector that grows leaves its old bytes behind in memory.
    let length = contents.0.len() * (ID + SecretKey::BYTES);
    let mut keys = Zeroizing::new(Vec::with_capacity(length));
    for entry in &contents.0 {
        keys.extend_from_slice(&entry.id);
        keys.extend_from_slice(entry.key.expose());
    }
    let mut out = Zeroizing::new(Vec::with_capacity(length + 128));
    match protection {
        Protection::None => {
            out.extend_from_slice(&header(0));
            out.extend_from_slice(&keys);
        }
        Protection::Passphrase(key, header) => {
            out.extend_from_slice(header);
            out.extend_from_slice(&envelope::seal(key, Purpose::KeyRing, header, &keys)?);
        }
    }
    let sum = xxh3_64(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    Ok(out)
}

/// A file taken apart.
struct Parts<'a> {
    /// How the passphrase is stretched, if there is one.
    stretching: Option<(Cost, [u8; 16])>,
    header: &'a [u8],
    body: &'a [u8],
}

fn parse(bytes: &[u8]) -> Result<Parts<'_>> {
    let incompatible = |because: &'static str| Error::new(ErrorKind::Incompatible).because(because);
    let (magic, rest) = bytes.split_first_chunk().ok_or_else(|| incompatible("the file is no key ring"))?;
    if *magic != MAGIC {
        return Err(incompatible("the file is no key ring"));
    }
    let (&[version, protection], _) = rest.split_first_chunk().ok_or_else(damaged)?;
    if version != VERSION {
        return Err(incompatible("the key ring is of another version than this library reads"));
    }
    let (all, sum) = bytes.split_last_chunk().ok_or_else(damaged)?;
    if xxh3_64(all).to_le_bytes() != *sum {
        return Err(damaged());
    }
    let length = match protection {
        0 => 10,
        1 => 10 + 12 + 16,
        _ => return Err(damaged()),
    };
    let (header, body) = all.split_at_checked(length).ok_or_else(damaged)?;
    let stretching = header.get(10..).and_then(|fields| {
        let (memory, fields) = fields.split_first_chunk()?;
        let (passes, fields) = fields.split_first_chunk()?;
        let (lanes, salt) = fields.split_first_chunk()?;
        let [memory, passes, lanes] = [memory, passes, lanes].map(|number| u32::from_le_bytes(*number));
        Some((Cost { memory, passes, lanes }, salt.try_into().ok()?))
    });
    Ok(Parts { stretching, header, body })
}

/// Reads a file.
pub(super) fn open(bytes: &[u8], passphrase: Option<&str>) -> Result<(Protection, Contents)> {
    let parts = parse(bytes)?;
    let protection = match (parts.stretching, passphrase) {
        (None, None) => Protection::None,
        (Some((cost, salt)), Some(passphrase)) => {
            if !cost.is_known() {
                return Err(Error::new(ErrorKind::Corrupt).because(format!(
                    "the key ring's file asks for {} KiB, {} passes and {} lanes to stretch the passphrase, as no file \
                     of this version does; take it from a backup",
                    cost.memory, cost.passes, cost.lanes
                )));
            }
            Protection::Passphrase(stretch(passphrase, cost, &salt)?, parts.header.to_vec())
        }
        (None, Some(_)) => {
            return Err(Error::new(ErrorKind::KeyUnavailable)
                .because("the key ring has no passphrase; open it with `KeyRing::open`"));
        }
        (Some(_), None) => {
            return Err(Error::new(ErrorKind::KeyUnavailable)
                .because("the key ring has a passphrase; open it with `KeyRing::open_with_passphrase`"));
        }
    };
    let contents = read(&parts, &protection)?;
    Ok((protection, contents))
}

/// Reads a file that was opened before.
pub(super) fn open_again(bytes: &[u8], protection: &Protection) -> Result<Contents> {
    let parts = parse(bytes)?;
    let same = match protection {
        Protection::None => parts.stretching.is_none(),
        Protection::Passphrase(_, header) => parts.header == *header,
    };
    if !same {
        return Err(Error::new(ErrorKind::KeyUnavailable).because(
            "another key ring has taken the file's place, or it has another passphrase; open it anew",
        ));
    }
    read(&parts, protection)
}

fn read(parts: &Parts<'_>, protection: &Protection) -> Result<Contents> {
    let opened;
    let keys = match protection {
        Protection::None => parts.body,
        Protection::Passphrase(key, header) => {
            opened = envelope::open(key, Purpose::KeyRing, header, parts.body).map(Zeroizing::new).map_err(
                |_| Error::new(ErrorKind::KeyUnavailable).because("the passphrase is not the key ring's"),
            )?;
            &**opened
        }
    };
    let mut contents = Contents::default();
    let mut rest = keys;
    while let Some((id, after)) = rest.split_first_chunk::<ID>() {
        let (key, after) = after.split_at_checked(SecretKey::BYTES).ok_or_else(damaged)?;
        let key = SecretKey::from_slice(key).ok_or_else(damaged)?;
        contents.0.push(Entry { id: *id, derivation: key.derivation(), key });
        rest = after;
    }
    let fits = rest.is_empty() && !contents.0.is_empty() && contents.0.len() <= MOST;
    if fits { Ok(contents) } else { Err(damaged()) }
}

#[cold]
fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("the key ring's file is damaged; take it from a backup")
}
