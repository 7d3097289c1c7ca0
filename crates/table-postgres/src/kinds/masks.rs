//! What this process goes by when it reads and writes a kind by a declaration, until the store's generation is another.

use std::sync::{PoisonError, RwLock};

use table_engine::schema::{IndexMask, Schema};

/// What is known of the declarations by which a table is read and written.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    known: RwLock<Vec<KnownDeclaration>>,
    /// Those whose properties were found to be plain in no row any more, where rows were allowed to hold them so before.
    sealed: RwLock<Vec<&'static Schema>>,
}

/// What is known of a declaration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownDeclaration {
    schema: &'static Schema,
    /// The store's generation at which the other fields were so.
    generation: i64,
    mask: IndexMask,
    /// Whether it may write; else it may read.
    may_write: bool,
    /// Whether it was allowed to write at some time.
    has_written: bool,
}

impl Masks {
    /// Returns the indexes that a program with this declaration goes by; `None` if that is not known at this generation.
    pub(crate) fn get(&self, schema: &'static Schema, generation: i64, writes: bool) -> Option<IndexMask> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let known = known.iter().find(|known| std::ptr::eq(known.schema, schema))?;
        (known.generation == generation && (known.may_write || !writes)).then_some(known.mask)
    }

    /// Returns whether this declaration has been one that may write.
    pub(crate) fn has_written(&self, schema: &'static Schema) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|known| std::ptr::eq(known.schema, schema) && known.has_written)
    }

    /// Takes note of the indexes that a program with this declaration goes by at a generation.
    pub(crate) fn set(&self, schema: &'static Schema, generation: i64, mask: IndexMask, may_write: bool) {
        let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let known = KnownDeclaration { schema, generation, mask, may_write, has_written: may_write };
        match all.iter_mut().find(|known| std::ptr::eq(known.schema, schema)) {
            Some(former) => {
                *former = KnownDeclaration { has_written: may_write || former.has_written, ..known }
            }
            None => all.push(known),
        }
    }

    /// Returns whether no row was found to hold plain what this declaration has sealed alone.
    pub(crate) fn is_sealed(&self, schema: &'static Schema) -> bool {
        let sealed = self.sealed.read().unwrap_or_else(PoisonError::into_inner);
        sealed.iter().any(|known| std::ptr::eq(*known, schema))
    }

    /// Takes note that no row holds plain what this declaration has sealed alone. None can come.
    pub(crate) fn set_sealed(&self, schema: &'static Schema) {
        let mut sealed = self.sealed.write().unwrap_or_else(PoisonError::into_inner);
        if !sealed.iter().any(|known| std::ptr::eq(*known, schema)) {
            sealed.push(schema);
        }
    }
}
