//! What a property refers to: a blob, or one whose bytes are sealed.

use std::io::Read;

use table_core::blob::{Blob, BlobReader, SealedBlob};
use table_core::schema::Property;
use table_core::{Result, Tables, Value, ValueRef};

/// Bytes of a property that refers to a blob.
const REFERENCE: usize = 40;

/// Bytes of one that refers to a blob whose bytes are sealed, once the property is opened: the key comes behind the reference.
const WITH_KEY: usize = REFERENCE + 32;

/// A blob that an entity holds.
#[derive(Clone)]
pub(crate) enum Held {
    /// Its bytes lie in the store as they are.
    Clear(Blob),
    /// They are sealed, and the property, which is sealed itself, has their key.
    Sealed(SealedBlob),
}

impl Held {
    /// Returns the blob that a value refers to, and the bytes by which it is told from others; `None` if it refers to none, or to
    /// an empty one.
    pub(crate) fn of(value: ValueRef<'_>) -> Option<(Self, &[u8])> {
        let ValueRef::Binary(bytes) = value else { return None };
        let held = match bytes.len() {
            REFERENCE => Self::Clear(Blob::of(&value.to_value())?),
            WITH_KEY => Self::Sealed(SealedBlob::from_property(Some(value)).ok()?),
            _ => return None,
        };
        (held.len() > 0).then_some((held, bytes.get(..REFERENCE)?))
    }

    /// Returns whether its bytes are sealed.
    pub(crate) fn is_sealed(&self) -> bool {
        matches!(self, Self::Sealed(_))
    }

    /// Returns how many bytes it has, as they were before they were sealed.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Clear(blob) => blob.len(),
            Self::Sealed(blob) => blob.len(),
        }
    }

    /// Returns a reader of its bytes, which opens those that are sealed.
    pub(crate) fn open(&self, tables: &Tables) -> Result<BlobReader> {
        match self {
            Self::Clear(blob) => blob.open(tables),
            Self::Sealed(blob) => blob.open(tables),
        }
    }

    /// Copies it from one store to another.
    pub(super) fn import(&self, to: &Tables, from: &Tables) -> Result<Self> {
        match self {
            Self::Clear(blob) => to.import_blob(from, blob).map(Self::Clear),
            Self::Sealed(blob) => to.import_sealed_blob(from, blob).map(Self::Sealed),
        }
    }

    /// Uploads bytes to be held in its place, and seals them if its own are.
    pub(super) fn upload(&self, to: &Tables, content_type: &str, bytes: impl Read) -> Result<Self> {
        match self {
            Self::Clear(_) => to.upload(content_type, bytes).map(Self::Clear),
            Self::Sealed(_) => to.upload_sealed(content_type, bytes).map(Self::Sealed),
        }
    }

    /// Returns the value of a property that refers to it.
    pub(super) fn value(&self) -> Option<Value> {
        match self {
            Self::Clear(blob) => Some(Value::from(*blob)),
            Self::Sealed(blob) => blob.to_property().ok()?.into_value(),
        }
    }
}

#[cfg(test)]
mod tests {
    use table_core::Store;

    use super::*;

    #[test]
    fn a_value_refers_to_a_blob_by_its_length_and_its_mark() {
        let store = Store::temporary().unwrap();
        let clear = Value::from(store.upload("text/plain", &b"open"[..]).unwrap());
        let (held, told) = Held::of(clear.as_value_ref()).unwrap();
        assert!(!held.is_sealed() && held.len() == 4 && told.len() == REFERENCE);
        assert_eq!(held.value(), Some(clear));

        let sealed = Held::Sealed(store.upload_sealed("text/plain", &b"closed"[..]).unwrap());
        let value = sealed.value().unwrap();
        let (held, told) = Held::of(value.as_value_ref()).unwrap();
        assert!(held.is_sealed() && held.len() == 6 && told.len() == REFERENCE);
        let mut text = String::new();
        held.open(&store).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "closed");

        for none in [vec![0; REFERENCE], vec![0; WITH_KEY], Vec::new()] {
            assert!(Held::of(Value::Binary(none).as_value_ref()).is_none());
        }
        assert!(Held::of(Value::from(Blob::default()).as_value_ref()).is_none());
    }
}
