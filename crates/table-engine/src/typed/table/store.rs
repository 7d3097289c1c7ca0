//! A store's typed tables.

use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::handle::tables::Tables;
use crate::schema::Schema;
use crate::typed::change::egt::{Egt, MemberOf};
use crate::typed::change::transaction::StoreTransaction;
use crate::typed::entity::InOneTable;
use crate::typed::propagate;
use crate::typed::read::key::Partition;
use crate::typed::set::{EntitySet, SetTable};
use crate::typed::table::Table;

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl Tables {
    /// Returns the table of this entity, created if there is none, for entities of this type.
    ///
    /// The store notes how each kind of entity is laid out, with the first write of a program. One that is declared
    /// otherwise than when it was last written is [`LayoutChanged`](crate::ErrorKind::LayoutChanged), with the difference:
    /// its rows would be read wrongly. Some changes do no harm: a further `Option` or `#[property(default)]` field, an
    /// integer that grows, a field that becomes an `Option`.
    ///
    /// To open a table and to read it notes nothing, so a newer program that only looks locks no older one out. A program
    /// that lacks an optional field of a newer one goes on: it carries the values along.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn table<E: InOneTable>(&self) -> Result<Table<E>> {
        match self.table_with_source(E::SCHEMA, E::SUMMARIZES) {
            Ok(table) => {
                propagate::register::<E>(self);
                Ok(Table::new(table))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the table of a kind, with that of the entities of which the kind is a summary.
    fn table_with_source(
        &self,
        schema: &'static Schema,
        summarizes: Option<&'static Schema>,
    ) -> Result<DynamicTable> {
        let table = self.table_of(&[schema])?;
        // The states of a summary are kept in the table of its entities.
        let others = match summarizes.map(Schema::table) {
            Some(source) if !source.eq_ignore_ascii_case(table.name()) => vec![self.related_table(source)?],
            _ => Vec::new(),
        };
        Ok(table.with_others(others))
    }

    /// Returns the table of these kinds, created if there is none.
    pub(crate) fn table_of(&self, kinds: &[&'static Schema]) -> Result<DynamicTable> {
        let name = kinds.first().map_or("", |schema| schema.table());
        let table = self.table_named(name)?;
        for schema in kinds {
            table.declare(schema).map_err(|e| e.attempted("open").table(name))?;
        }
        let mut others: Vec<DynamicTable> = Vec::new();
        for (schema, other) in
            kinds.iter().flat_map(|schema| schema.other_tables().map(move |other| (schema, other)))
        {
            let known = others.iter().position(|known| known.name().eq_ignore_ascii_case(other));
            let known = if let Some(known) = known {
                known
            } else {
                others.push(self.related_table(other)?);
                others.len() - 1
            };
            if let Some(table) = others.get(known) {
                table.declare(schema).map_err(|e| e.attempted("open").table(other))?;
            }
        }
        for kin in kinds.iter().flat_map(|schema| schema.relatives()) {
            for name in std::iter::once(kin.table()).chain(kin.other_tables()) {
                let is_known = |known: &DynamicTable| known.name().eq_ignore_ascii_case(name);
                if !is_known(&table) && !others.iter().any(is_known) {
                    others.push(self.related_table(name)?);
                }
                let all = || std::iter::once(&table).chain(&others);
                if let Some(there) = all().find(|known| is_known(known)) {
                    there.declare(kin).map_err(|e| e.attempted("open").table(name))?;
                }
            }
        }
        Ok(table.with_others(others))
    }

    /// Returns the table of this name, created if there is none and it may be.
    fn table_named(&self, name: &str) -> Result<DynamicTable> {
        if self.is_read_only() { self.dynamic_table(name) } else { self.create_table_if_missing(name) }
    }

    /// Returns a table where rows of another table's entities lie, or the other way round. An access to the one need not be to
    /// the other.
    fn related_table(&self, name: &str) -> Result<DynamicTable> {
        #[cfg(feature = "access")]
        if self.backend().unrestricted().is_some() {
            let found = self.backend().clone().related(name);
            return found.map(DynamicTable::new).map_err(|e| e.attempted("open").table(name));
        }
        self.table_named(name)
    }

    /// Returns the table of this set's kinds, created if there is none.
    pub fn set<Set: EntitySet>(&self) -> Result<SetTable<Set>> {
        let table = self.table_of(Set::KINDS)?;
        propagate::register_set::<Set>(self);
        Ok(SetTable::new(table))
    }

    /// Changes of several entities of one partition, of any kinds of the set, to be made together or not at all; see
    /// [`Egt`]. If the table can't be opened, committing says so.
    pub fn egt<'c, Set: EntitySet>(&self, partition: Partition<impl MemberOf<Set>>) -> Egt<'c, Set> {
        propagate::register_set::<Set>(self);
        Egt::new(self.table_of(Set::KINDS), partition)
    }

    /// Changes of entities of any partitions and tables, to be made together or not at all; see [`StoreTransaction`]. If a
    /// table can't be opened, committing says so.
    pub fn transaction<'c>(&self) -> StoreTransaction<'c> {
        StoreTransaction::new(self.clone())
    }
}
