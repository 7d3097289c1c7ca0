//! The rule by which properties are sealed: those that the resolver names, and those that a struct declares.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::crypt::KeyScope;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::LayoutTexts;
use crate::executor::layouts::damaged;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::names::ENTITY_TYPE;
use crate::model::{DynamicEntity, EntityKeys, Name, ValueRef};
use crate::query::FilterGuard;
use crate::row::view::RowView;
use crate::schema::{Layout, LayoutProperty};
use crate::sealing::looks_sealed;

/// The user's function: whether the property of a row of these keys is sealed.
type Resolver = dyn Fn(&str, &str, &str) -> bool + Send + Sync;

/// The user's function, and whose values share a data key.
#[derive(Clone)]
pub(crate) struct Rule {
    resolver: Arc<Resolver>,
    pub(crate) scope: KeyScope,
}

impl Rule {
    pub(crate) fn new(resolver: impl Fn(&str, &str, &str) -> bool + Send + Sync + 'static) -> Self {
        Self { resolver: Arc::new(resolver), scope: KeyScope::default() }
    }

    pub(crate) fn scoped(self, scope: KeyScope) -> Self {
        Self { scope, ..self }
    }

    /// Returns whether the function names the property of a row. It is never asked about `EntityType`, which says what
    /// a row is.
    fn names(&self, partition: &str, row: &str, property: &str) -> bool {
        property != ENTITY_TYPE && (self.resolver)(partition, row, property)
    }
}

/// What a row is to the structs that are used with its table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowKind<'l> {
    /// Nothing: no struct of its kind is known.
    Free,
    /// An entity's own row.
    Own(&'l Layout),
    /// A copy in an index, which is sealed for its entity's own row.
    Copy(&'l Layout, &'l str),
}

/// How a property is stored.
pub(crate) enum Treatment<'l> {
    /// It is stored as it is.
    Plain,
    /// The resolver has it sealed.
    Resolved,
    /// Its struct has it sealed.
    Declared(&'l LayoutProperty),
    /// No struct declares the row, and some struct of the table has a property of this name sealed.
    Named(&'l LayoutProperty),
    /// The resolver names what its struct declares in the clear.
    Contradiction,
}

impl<'l> RowKind<'l> {
    /// Returns the kind of the struct that declares the row, and the index of which it is a copy.
    pub(crate) fn declared(self) -> Option<(&'l str, Option<&'l str>)> {
        match self {
            Self::Free => None,
            Self::Own(layout) => Some((&layout.kind, None)),
            Self::Copy(layout, index) => Some((&layout.kind, Some(index))),
        }
    }

    fn layout(self) -> Option<&'l Layout> {
        match self {
            Self::Free => None,
            Self::Own(layout) | Self::Copy(layout, _) => Some(layout),
        }
    }

    /// Returns whether the property is the token of a field, which lookups compare.
    fn is_token(self, property: &str) -> bool {
        let mut properties = self.layout().into_iter().flat_map(|layout| &layout.properties);
        properties.any(|of| of.is_token(property))
    }

    fn treatment(self, rule: &Rule, partition: &str, row: &str, property: &str) -> Treatment<'l> {
        match self.layout().and_then(|layout| layout.property(property)) {
            Some(declared) if declared.sealed.is_some() => Treatment::Declared(declared),
            Some(_) if rule.names(partition, row, property) => Treatment::Contradiction,
            None if !self.is_token(property) && rule.names(partition, row, property) => Treatment::Resolved,
            _ => Treatment::Plain,
        }
    }
}

/// What is noted of the kinds in a table, with the texts that it was read from.
pub(crate) struct Declared {
    texts: LayoutTexts,
    layouts: Vec<Layout>,
}

impl Declared {
    fn read(texts: LayoutTexts) -> Result<Self> {
        let layouts = texts.iter().map(|(kind, text)| Layout::parse(text, kind).ok_or_else(damaged));
        Ok(Self { layouts: layouts.collect::<Result<_>>()?, texts })
    }

    fn layout(&self, kind: &str) -> Option<&Layout> {
        self.layouts.iter().find(|layout| layout.kind == kind)
    }
}

/// What was last read of a table's kinds, which seldom changes.
#[derive(Clone, Default)]
pub(crate) struct LastDeclared(Arc<Mutex<Option<Arc<Declared>>>>);

impl LastDeclared {
    /// Returns what is declared of the kinds of the table in a snapshot.
    fn of(&self, snapshot: &Snapshot, table: &DynamicTable) -> Result<Arc<Declared>> {
        let texts = snapshot.layouts(table)?;
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && last.texts == texts
        {
            return Ok(last.clone());
        }
        let declared = Arc::new(Declared::read(texts)?);
        *last = Some(declared.clone());
        Ok(declared)
    }
}

/// A rule as it is asked for the rows of one snapshot, beside what the structs of the table declare.
pub(crate) struct Lens {
    pub(crate) rule: Rule,
    declared: Arc<Declared>,
}

impl Lens {
    pub(crate) fn new(
        rule: &Rule,
        last: &LastDeclared,
        snapshot: &Snapshot,
        table: &DynamicTable,
    ) -> Result<Self> {
        Ok(Self { rule: rule.clone(), declared: last.of(snapshot, table)? })
    }

    /// Returns what the rows of this `EntityType` are to the structs of the table.
    pub(crate) fn kind(&self, kind: Option<&str>) -> RowKind<'_> {
        let Some(kind) = kind else { return RowKind::Free };
        if let Some(layout) = self.declared.layout(kind) {
            return RowKind::Own(layout);
        }
        // A kind's name has no `.`.
        let Some((kind, index)) = kind.split_once('.') else { return RowKind::Free };
        let Some(layout) = self.declared.layout(kind) else { return RowKind::Free };
        layout.index(index).map_or(RowKind::Free, |index| RowKind::Copy(layout, &index.name))
    }

    /// Returns how a property of a row of this kind is stored. A person who can write the file can have a row say that
    /// it is of another kind: so a property that some struct of the table has sealed counts as sealed, too, on a row
    /// that none declares.
    pub(crate) fn treatment<'l>(
        &'l self,
        kind: RowKind<'l>,
        keys: EntityKeys<'_>,
        property: &str,
    ) -> Treatment<'l> {
        match kind.treatment(&self.rule, keys.partition, keys.row, property) {
            Treatment::Plain if matches!(kind, RowKind::Free) => {
                let mut properties = self.declared.layouts.iter().flat_map(|layout| &layout.properties);
                let sealed = properties.find(|of| of.sealed.is_some() && of.name == property);
                sealed.map_or(Treatment::Plain, Treatment::Named)
            }
            treatment => treatment,
        }
    }

    /// Opens what is sealed in the entity of a row.
    pub(crate) fn entity(
        &self,
        table: &DynamicTable,
        view: &RowView<'_>,
        entity: DynamicEntity,
    ) -> Result<DynamicEntity> {
        self.open(table, view.kind()?, entity)
    }

    /// Opens what is sealed in the entity of a row of this `EntityType`.
    pub(crate) fn open(
        &self,
        table: &DynamicTable,
        kind: Option<&str>,
        mut entity: DynamicEntity,
    ) -> Result<DynamicEntity> {
        let kind = self.kind(kind);
        if let RowKind::Copy(..) = kind {
            return Ok(entity);
        }
        let mut opened = Vec::new();
        let (partition, row) = (entity.partition_key(), entity.row_key());
        for (at, (name, value)) in entity.entries().iter().enumerate() {
            let may_be_plain = match self.treatment(kind, EntityKeys::new(partition, row), name) {
                Treatment::Plain | Treatment::Contradiction => continue,
                Treatment::Resolved => false,
                // The struct itself reads plain values with `#[encrypt(dual)]` alone.
                Treatment::Declared(of) => of.sealed.is_some_and(|sealed| sealed.dual),
                Treatment::Named(_) => true,
            };
            if may_be_plain && !looks_sealed(value.as_value_ref()) {
                continue;
            }
            let cell = table.cell(partition, row, name)?;
            let ValueRef::Binary(bytes) = value.as_value_ref() else {
                return Err(cell.error(
                    ErrorKind::DecryptionFailed,
                    "is stored in the clear, and is to be sealed; if it was written so on purpose, merge it anew",
                ));
            };
            let keys = table.exec().store().vault().map_err(|_| {
                cell.error(
                    ErrorKind::KeyUnavailable,
                    "is sealed, and the store was opened without a key provider; \
                     give its options one by `.encryption(..)`, or `select` other properties",
                )
            })?;
            opened.push((at, keys.open(&cell, bytes)?));
        }
        for (at, value) in opened {
            entity.set_plaintext(at, value);
        }
        Ok(entity)
    }
}

impl FilterGuard for Lens {
    /// Refuses a filter that compares a sealed property of this row.
    fn check(&self, view: &RowView<'_>, names: &[Name]) -> Result<()> {
        let kind = self.kind(view.kind()?);
        let (partition, row) = (view.partition_key(), view.row_key());
        let is_sealed = |name: &Name| match self.treatment(kind, EntityKeys::new(&partition, &row), name) {
            Treatment::Resolved | Treatment::Declared(_) => Ok::<_, Error>(true),
            Treatment::Named(_) => Ok(view.get(name)?.is_some_and(looks_sealed)),
            Treatment::Plain | Treatment::Contradiction => Ok(false),
        };
        for name in names {
            if is_sealed(name)? {
                return Err(Error::new(ErrorKind::InvalidQuery)
                    .because(format!(
                        "the filter looks at `{}`, which is sealed in this row; filter what was read instead",
                        name.escape_debug()
                    ))
                    .partition(&partition)
                    .row(&row));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Lens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lens").finish_non_exhaustive()
    }
}
