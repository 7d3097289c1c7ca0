//! The root key: in a small file of its own, wrapped by the provider.
//!
//! It does not lie in the environment, since LMDB keeps deleted bytes in its free pages. All data keys lie under the root
//! key. Once a new root key has taken its place, and the file of the old one is overwritten, nothing opens the data keys
//! that still lie in free pages.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use table_engine::crypt::key::{self, CheckValue, Derivation};
use table_engine::crypt::{KeyError, KeyId, KeyProvider, SecretKey, files};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::fields::Fields;

use super::record::FORMAT;
use crate::records::meta;

/// The start of the files' names; a number in 16 hex digits follows.
const NAME: &str = "root-";

/// What binds a file to its contents.
pub(super) const SEED: &[u8] = b"root";

/// A root key in memory.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) number: u64,
    pub(super) key: Derivation,
}

/// A new root key, with the bytes of its file.
pub(super) struct NewRoot {
    pub(super) root: Root,
    file: Vec<u8>,
}

pub(super) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{NAME}{number:016x}"))
}

/// Returns the bytes that the provider binds a root key to.
fn context(identity: &[u8; 16], number: u64) -> Vec<u8> {
    let mut context = b"table-derive root 1".to_vec();
    context.extend_from_slice(identity);
    context.extend_from_slice(&number.to_le_bytes());
    context
}

impl NewRoot {
    /// Makes a root key and has it wrapped, and unwrapped again: a provider that can't give it back is found out
    /// before anything lies under it.
    pub(super) fn make(identity: &[u8; 16], provider: &dyn KeyProvider) -> Result<Self> {
        let (number, key) = (key::random_number()?, SecretKey::generate()?);
        let context = context(identity, number);
        let id = provider.current()?;
        let wrapped = provider.wrap(&id, &key, &context)?;
        let check = key.check_value();
        if provider.unwrap(&id, &wrapped, &context)?.check_value() != check {
            return Err(another_key());
        }
        let file = encode(&File { number, id, check, wrapped })?;
        Ok(Self { root: Root { number, key: key.derivation() }, file })
    }

    /// Writes the file; it is durable when this returns.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        files::create_named(&path(dir, self.root.number), &self.file)
    }
}

/// Reads the file of the root key of this number; `None` if there is no such file.
fn read(dir: &Path, number: u64) -> Result<Option<File>> {
    let path = path(dir, number);
    let Some(bytes) = files::read(&path)? else { return Ok(None) };
    let file = decode(&bytes).filter(|file| file.number == number).ok_or_else(|| {
        Error::new(ErrorKind::Corrupt)
            .because(format!("`{}` is damaged; take it from a backup of the keys", path.display()))
    })?;
    Ok(Some(file))
}

/// Has the provider unwrap the root key of this number; `None` if there is no such file.
pub(super) fn load(
    dir: &Path,
    identity: &[u8; 16],
    number: u64,
    provider: &dyn KeyProvider,
) -> Result<Option<Root>> {
    let Some(file) = read(dir, number)? else { return Ok(None) };
    let unwrapped = provider.unwrap(&file.id, &file.wrapped, &context(identity, number));
    let key = unwrapped.map_err(|error: KeyError| {
        let because = format!("{error} (its key `{}`)", file.id.as_str().escape_debug());
        Error::from(error).because(because)
    })?;
    if key.check_value() != file.check {
        return Err(another_key());
    }
    Ok(Some(Root { number, key: key.derivation() }))
}

/// Makes sure that the file of the root key of this number can be read.
pub(super) fn check(dir: &Path, number: u64) -> Result<()> {
    read(dir, number)?.map(drop).ok_or_else(|| missing(&path(dir, number)))
}

#[cold]
pub(super) fn missing(path: &Path) -> Error {
    Error::new(ErrorKind::KeyUnavailable)
        .because(format!("`{}` is missing; take it from a backup of the keys", path.display()))
}

#[cold]
fn another_key() -> Error {
    Error::new(ErrorKind::KeyUnavailable).because("the key provider gave another key than it was given")
}

/// Overwrites and removes the root keys that are not this one. No root key is being made meanwhile: the caller holds
/// the environment's write lock, under which the file of a new one is written.
pub(super) fn wipe_others(dir: &Path, current: u64) -> Result<()> {
    let in_use = path(dir, current);
    for name in list(dir)? {
        // Also what a crash left half-made: its name goes on after the number.
        if in_use.file_name() != Some(&name) {
            files::wipe_beside(&dir.join(name), &in_use)?;
        }
    }
    Ok(())
}

/// Returns the names of root keys' files, and of what a crash left of them.
pub(super) fn list(dir: &Path) -> Result<Vec<OsString>> {
    let listed = |error| files::failed("reading", dir, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(listed)? {
        let name = entry.map_err(listed)?.file_name();
        if name.as_encoded_bytes().starts_with(NAME.as_bytes()) {
            found.push(name);
        }
    }
    Ok(found)
}

pub(super) struct File {
    number: u64,
    id: KeyId,
    check: CheckValue,
    wrapped: Vec<u8>,
}

pub(super) fn encode(file: &File) -> Result<Vec<u8>> {
    let framed = |length: usize| {
        u16::try_from(length).map(u16::to_le_bytes).map_err(|_| {
            Error::new(ErrorKind::KeyUnavailable).because(format!(
                "the key provider gave {length} bytes for a wrapped key; 65,535 are the most"
            ))
        })
    };
    let mut out = FORMAT.to_le_bytes().to_vec();
    out.extend_from_slice(&file.number.to_le_bytes());
    out.extend_from_slice(&file.check);
    out.extend_from_slice(&framed(file.id.as_str().len())?);
    out.extend_from_slice(file.id.as_str().as_bytes());
    out.extend_from_slice(&framed(file.wrapped.len())?);
    out.extend_from_slice(&file.wrapped);
    out.extend_from_slice(&[0; meta::CHECKSUM]);
    meta::seal(SEED, &mut out);
    Ok(out)
}

/// Returns the file of some root key.
#[cfg(feature = "fuzzing")]
pub(super) fn sample() -> Option<Vec<u8>> {
    let id = KeyId::new("1f0c").ok()?;
    encode(&File { number: 5, id, check: [9; 32], wrapped: vec![5; 88] }).ok()
}

pub(super) fn decode(bytes: &[u8]) -> Option<File> {
    let mut body = Fields(meta::opened(SEED, bytes)?);
    (body.u32()? == FORMAT).then_some(())?;
    let (number, check) = (body.u64()?, body.take()?);
    let length = usize::from(body.u16()?);
    let id = KeyId::new(std::str::from_utf8(body.bytes(length)?).ok()?).ok()?;
    let length = usize::from(body.u16()?);
    let wrapped = body.bytes(length)?.to_vec();
    body.0.is_empty().then_some(File { number, id, check, wrapped })
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_engine::crypt::MemoryKeys;

    #[test]
    fn a_root_key_is_found_again_and_every_flipped_bit_is_seen() {
        let (dir, provider) = (tempfile::tempdir().unwrap(), MemoryKeys::new().unwrap());
        let new = NewRoot::make(&[7; 16], &provider).unwrap();
        let number = new.root.number;
        assert!(load(dir.path(), &[7; 16], number, &provider).unwrap().is_none());
        new.write(dir.path()).unwrap();
        let root = load(dir.path(), &[7; 16], number, &provider).unwrap().unwrap();
        assert_eq!(root.key.expand::<32>(&[b"same"]), new.root.key.expand::<32>(&[b"same"]));
        // Another store's, or under another number, it does not open.
        assert!(load(dir.path(), &[8; 16], number, &provider).is_err());
        fs::copy(path(dir.path(), number), path(dir.path(), number + 1)).unwrap();
        assert!(load(dir.path(), &[7; 16], number + 1, &provider).is_err());
        for bit in 0..new.file.len() * 8 {
            let mut flipped = new.file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&flipped).is_none(), "bit {bit}");
        }
        fs::write(dir.path().join("root-0000.new-1"), "half").unwrap();
        wipe_others(dir.path(), number).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_provider_that_gives_another_key_back_is_found_out() {
        struct Forgetful(MemoryKeys);
        impl KeyProvider for Forgetful {
            fn current(&self) -> Result<KeyId, KeyError> {
                self.0.current()
            }
            fn wrap(&self, id: &KeyId, key: &SecretKey, context: &[u8]) -> Result<Vec<u8>, KeyError> {
                self.0.wrap(id, key, context)
            }
            fn unwrap(&self, _: &KeyId, _: &[u8], _: &[u8]) -> Result<SecretKey, KeyError> {
                Ok(SecretKey::generate()?)
            }
        }
        let Err(error) = NewRoot::make(&[7; 16], &Forgetful(MemoryKeys::new().unwrap())) else {
            panic!("it was believed");
        };
        assert_eq!(error.kind(), ErrorKind::KeyUnavailable);
    }
}
