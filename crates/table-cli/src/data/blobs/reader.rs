//! Contents into a store.

use std::collections::HashMap;
use std::io::Read;

use sha2::{Digest, Sha256};
use table_core::{DynamicEntity, ErrorKind, Tables};

use super::contents::{Contents, find};
use super::{Held, hex};
use crate::failure::Failure;

/// So many blobs are remembered that were brought into the store, so that entities share them again.
const REMEMBERED: usize = 65_536;

/// Brings contents into a store.
pub(crate) struct BlobReader {
    contents: Contents,
    brought: HashMap<Vec<u8>, Held>,
}

impl BlobReader {
    /// Makes a reader of these contents.
    pub(crate) fn new(contents: Contents) -> Self {
        Self { contents, brought: HashMap::new() }
    }

    /// Brings the contents that an entity refers to into the store, and lets the entity refer to them there. Returns why it
    /// can't be: a content is missing, or is not what its name says, or is to be sealed by a property that `seals` denies.
    pub(crate) fn bring(
        &mut self,
        tables: &Tables,
        entity: &mut DynamicEntity,
        mut seals: impl FnMut(&DynamicEntity, &str) -> bool,
    ) -> Result<Option<String>, Failure> {
        let mut found: Vec<(String, Held, Vec<u8>)> = Vec::new();
        for (name, value) in entity.properties() {
            if let Some((blob, bytes)) = Held::of(value.as_value_ref()) {
                if blob.is_sealed() && !seals(entity, name) {
                    return Ok(Some(format!(
                        "the blob of `{name}` is to be sealed, and the table does not seal that property: write an entity \
                         by the struct first, so that it notes the kind"
                    )));
                }
                found.push((name.to_owned(), blob, bytes.to_vec()));
            }
        }
        for (name, blob, bytes) in found {
            let new = match self.brought.get(&bytes).filter(|known| known.is_sealed() == blob.is_sealed()) {
                Some(known) => known.clone(),
                None => match self.upload(tables, &blob, &bytes)? {
                    Ok(new) => new,
                    Err(why) => return Ok(Some(format!("the blob of `{name}` {why}"))),
                },
            };
            if self.brought.len() >= REMEMBERED {
                self.brought.clear();
            }
            if let Some(value) = new.value() {
                entity.set(&name, value);
            }
            self.brought.insert(bytes, new);
        }
        Ok(None)
    }

    /// Uploads what a reference refers to; the words say what is wrong with it.
    fn upload(&self, tables: &Tables, blob: &Held, bytes: &[u8]) -> Result<Result<Held, String>, Failure> {
        let directory = match &self.contents {
            Contents::Nowhere => return Ok(Err("has no contents".into())),
            Contents::Store(from) => {
                return match blob.import(tables, from) {
                    Ok(new) => Ok(Ok(new)),
                    Err(error) if error.kind() == ErrorKind::BlobGone => Ok(Err(format!("is gone: {error}"))),
                    Err(error) => Err(error.into()),
                };
            }
            Contents::Directory(directory) => directory,
        };
        let noted = match find(directory, bytes)? {
            Ok(noted) => noted,
            // The store that it comes from has it.
            Err(_) if blob.open(tables).is_ok() => return Ok(Ok(blob.clone())),
            Err(why) => return Ok(Err(why)),
        };
        let mut hashing = Hashing { reader: noted.file, hash: Sha256::new() };
        let new = blob.upload(tables, &noted.content_type, &mut hashing)?;
        if hex(&hashing.hash.finalize()) != noted.digest || new.len() != blob.len() {
            let path = noted.path.display();
            return Ok(Err(format!("has other contents than it had: `{path}` is damaged")));
        }
        Ok(Ok(new))
    }
}

/// Hashes what is read.
struct Hashing<R> {
    reader: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
