//! Kinds of entities that a program has structs of.
//!
//! A store notes how a kind is declared, and that is enough to write its entities, but for what only the struct's code says:
//! which entities an index with `when` has, and what a part of a user's type prints. A program that gives its structs to
//! [`Cli::kind`](crate::Cli::kind) has that code.

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use table_core::schema::Schema;
use table_core::typed::{CopyReport, InOneTable};
use table_core::{__private, DynamicEntity, Entity, EntitySet, IfMatch, Result, SetTable, Tables};

/// A kind of entities whose struct is known.
pub(crate) trait Declared {
    /// Returns the declaration.
    fn schema(&self) -> &'static Schema;

    /// Adds an entity by its properties; there must be none of its keys.
    fn insert(&self, store: &Tables, entity: &DynamicEntity) -> Result<()>;

    /// Adds an entity by its properties, or puts it in the place of the one there.
    fn put(&self, store: &Tables, entity: &DynamicEntity) -> Result<()>;

    /// Sets the given properties of the entity there.
    fn merge(&self, store: &Tables, changes: &DynamicEntity) -> Result<()>;

    /// Removes the entity of these keys.
    fn delete(&self, store: &Tables, partition: &str, row: &str) -> Result<()>;

    /// Makes the indexes that are not ready; returns how many copies were written.
    fn rebuild(&self, store: &Tables) -> Result<u64>;

    /// Mends copies that do not agree with their entities.
    fn repair(&self, store: &Tables) -> Result<CopyReport>;

    /// Seals anew what is sealed with old keys; returns how many rows were.
    fn reencrypt(&self, store: &Tables) -> Result<u64>;

    /// Opens its table, so that the store knows how copies of it follow.
    fn open(&self, store: &Tables) -> Result<()>;
}

impl fmt::Debug for dyn Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.schema().kind)
    }
}

/// The kinds of a program.
pub(crate) type Structs = Rc<[Box<dyn Declared>]>;

/// Returns the kind of this name in a table, if the program has its struct.
pub(crate) fn find<'s>(structs: &'s Structs, table: &str, kind: &str) -> Option<&'s dyn Declared> {
    let mut all = structs.iter().map(|known| &**known);
    all.find(|known| {
        let schema = known.schema();
        schema.table().eq_ignore_ascii_case(table) && schema.kind == kind
    })
}

/// A struct.
pub(crate) struct Kind<E>(PhantomData<fn() -> E>);

impl<E> Kind<E> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<E: InOneTable> Kind<E> {
    fn set(store: &Tables) -> Result<SetTable<Alone<E>>> {
        store.set()
    }
}

impl<E: InOneTable> Declared for Kind<E> {
    fn schema(&self) -> &'static Schema {
        E::SCHEMA
    }

    fn insert(&self, store: &Tables, entity: &DynamicEntity) -> Result<()> {
        Self::set(store)?.insert_any(entity).map(drop)
    }

    fn put(&self, store: &Tables, entity: &DynamicEntity) -> Result<()> {
        Self::set(store)?.put_any(entity).map(drop)
    }

    fn merge(&self, store: &Tables, changes: &DynamicEntity) -> Result<()> {
        Self::set(store)?.merge_any(changes, IfMatch::Any).map(drop)
    }

    fn delete(&self, store: &Tables, partition: &str, row: &str) -> Result<()> {
        Self::set(store)?.delete_any(partition, row)
    }

    fn rebuild(&self, store: &Tables) -> Result<u64> {
        Ok(store.table::<E>()?.rebuild()?.run()?.changed)
    }

    fn repair(&self, store: &Tables) -> Result<CopyReport> {
        store.table::<E>()?.repair()?.run()
    }

    fn reencrypt(&self, store: &Tables) -> Result<u64> {
        Ok(store.table::<E>()?.reencrypt()?.run()?.changed)
    }

    fn open(&self, store: &Tables) -> Result<()> {
        store.table::<E>().map(drop)
    }
}

/// The set of one kind.
struct Alone<E>(E);

impl<E: Entity> EntitySet for Alone<E> {
    const KINDS: &'static [&'static Schema] = &[E::SCHEMA];

    fn visit<V: __private::Visitor<Self>>(kind: &str, visitor: V) -> Option<V::Output> {
        (kind == E::SCHEMA.entity_type).then(|| __private::Visitor::visit(visitor, Alone::<E>))
    }
}
