//! The rule by which properties are sealed: those that the resolver names, and those that a struct declares.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Keys, TableView};
use crate::crypt::{Cell, KeyScope};
use crate::error::{Error, ErrorKind, Result};
use crate::model::names::ENTITY_TYPE;
use crate::model::{DynamicEntity, Name, ValueRef};
use crate::row::view::RowView;
use crate::schema::{Layout, LayoutProperty};
use crate::sealing::looks_sealed;
use crate::store::lmdb::Databases;
use crate::store::records::catalog::TableState;
use crate::store::records::layouts;

/// The longest name of a kind that a struct may declare, in bytes.
const LONGEST_KIND: usize = 64;

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
#[derive(Clone, Debug)]
pub(crate) enum RowKind {
    /// Nothing: no struct of its kind is known.
    Free,
    /// An entity's own row.
    Own(Arc<Layout>),
    /// A copy in the index of this name, which is sealed for its entity's own row.
    Copy(Arc<Layout>, Box<str>),
}

/// How a property is stored.
pub(crate) enum Treatment<'k> {
    /// It is stored as it is.
    Plain,
    /// The resolver has it sealed.
    Resolved,
    /// Its struct has it sealed.
    Declared(&'k LayoutProperty),
    /// No struct declares the row, and some struct of the table has a property of this name sealed.
    Named(&'k LayoutProperty),
    /// The resolver names what its struct declares in the clear.
    Contradiction,
}

impl RowKind {
    /// Finds what the layouts that are noted say of a kind.
    fn find(view: TableView<'_>, kind: &str) -> Result<Self> {
        let TableView { dbs, txn, table } = view;
        let declared = |kind| declared(dbs, txn, table, kind);
        if let Some(layout) = declared(kind)? {
            return Ok(Self::Own(layout.into()));
        }
        // A kind's name has no `.`.
        let Some((kind, index)) = kind.split_once('.') else { return Ok(Self::Free) };
        let Some(layout) = declared(kind)? else { return Ok(Self::Free) };
        Ok(if layout.index(index).is_some() { Self::Copy(layout.into(), index.into()) } else { Self::Free })
    }

    /// Returns the kind of the struct that declares the row, and the index of which it is a copy.
    pub(crate) fn declared(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::Free => None,
            Self::Own(layout) => Some((&layout.kind, None)),
            Self::Copy(layout, index) => Some((&layout.kind, Some(index))),
        }
    }

    fn layout(&self) -> Option<&Layout> {
        match self {
            Self::Free => None,
            Self::Own(layout) | Self::Copy(layout, _) => Some(layout),
        }
    }

    /// Returns whether the property is the token of a field, which lookups compare.
    fn is_token(&self, property: &str) -> bool {
        let mut properties = self.layout().into_iter().flat_map(|layout| &layout.properties);
        properties.any(|of| of.is_token(property))
    }

    fn treatment(&self, rule: &Rule, partition: &str, row: &str, property: &str) -> Treatment<'_> {
        match self.layout().and_then(|layout| layout.property(property)) {
            Some(declared) if declared.sealed.is_some() => Treatment::Declared(declared),
            Some(_) if rule.names(partition, row, property) => Treatment::Contradiction,
            None if !self.is_token(property) && rule.names(partition, row, property) => Treatment::Resolved,
            _ => Treatment::Plain,
        }
    }
}

/// Returns the layout of a kind; `None` if the table has none of this kind.
fn declared(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    kind: &str,
) -> Result<Option<Layout>> {
    if kind.len() > LONGEST_KIND {
        return Ok(None);
    }
    layouts::noted(dbs, txn, table, kind)
}

/// A rule as it is asked for the rows of one snapshot: it remembers the kinds that it has met.
pub(crate) struct Lens {
    pub(crate) rule: Rule,
    keys: Keys,
    kinds: Mutex<Vec<(Box<str>, RowKind)>>,
    /// The properties that structs of the table have sealed, once a row was met that none declares.
    sealed: OnceLock<Vec<LayoutProperty>>,
}

impl Lens {
    pub(crate) fn new(rule: &Rule, keys: Keys) -> Self {
        Self { rule: rule.clone(), keys, kinds: Mutex::default(), sealed: OnceLock::new() }
    }

    /// Returns what the rows of this `EntityType` are to the structs of the table.
    pub(crate) fn kind(&self, view: TableView<'_>, kind: Option<&str>) -> Result<RowKind> {
        let found = self.find(view, kind)?;
        if let (RowKind::Free, None) = (&found, self.sealed.get()) {
            let TableView { dbs, txn, table } = view;
            table.check_exists(dbs, txn)?;
            let properties = layouts::all_read(dbs, txn, table.id)?.into_iter().flat_map(|of| of.properties);
            self.sealed.get_or_init(|| properties.filter(|property| property.sealed.is_some()).collect());
        }
        Ok(found)
    }

    fn find(&self, view: TableView<'_>, kind: Option<&str>) -> Result<RowKind> {
        let Some(kind) = kind else { return Ok(RowKind::Free) };
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kinds.iter().find(|(known, _)| **known == *kind) {
            return Ok(found.clone());
        }
        let found = RowKind::find(view, kind)?;
        // A program has few kinds; data used as kinds must not fill the memory.
        if kinds.len() < 64 {
            kinds.push((kind.into(), found.clone()));
        }
        Ok(found)
    }

    /// Returns how a property of a row of this kind is stored. A person who can write the file can have a row say that
    /// it is of another kind: so a property that some struct of the table has sealed counts as sealed, too, on a row
    /// that none declares.
    pub(crate) fn treatment<'k>(
        &'k self,
        kind: &'k RowKind,
        keys: (&str, &str),
        property: &str,
    ) -> Treatment<'k> {
        match kind.treatment(&self.rule, keys.0, keys.1, property) {
            Treatment::Plain if matches!(kind, RowKind::Free) => {
                let mut sealed = self.sealed.get().into_iter().flatten();
                sealed.find(|sealed| sealed.name == property).map_or(Treatment::Plain, Treatment::Named)
            }
            treatment => treatment,
        }
    }

    /// Refuses a filter that compares a sealed property of this row.
    pub(crate) fn check_filter(&self, of: TableView<'_>, view: &RowView<'_>, names: &[Name]) -> Result<()> {
        let kind = self.kind(of, view.kind()?)?;
        let (partition, row) = (view.partition_key(), view.row_key());
        let is_sealed = |name: &Name| match self.treatment(&kind, (&partition, &row), name) {
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

    /// Opens what is sealed in the entity of a row.
    pub(crate) fn entity(
        &self,
        of: TableView<'_>,
        view: &RowView<'_>,
        entity: DynamicEntity,
    ) -> Result<DynamicEntity> {
        self.open(of.table, &self.kind(of, view.kind()?)?, entity)
    }

    /// Opens what is sealed in the entity of a row of this kind.
    pub(crate) fn open(
        &self,
        table: &TableState,
        kind: &RowKind,
        mut entity: DynamicEntity,
    ) -> Result<DynamicEntity> {
        if let RowKind::Copy(..) = kind {
            return Ok(entity);
        }
        let mut opened = Vec::new();
        let (partition, row) = (entity.partition_key(), entity.row_key());
        for (at, (name, value)) in entity.entries().iter().enumerate() {
            let may_be_plain = match self.treatment(kind, (partition, row), name) {
                Treatment::Plain | Treatment::Contradiction => continue,
                Treatment::Resolved => false,
                // The struct itself reads plain values with `#[encrypt(dual)]` alone.
                Treatment::Declared(of) => of.sealed.is_some_and(|sealed| sealed.dual),
                Treatment::Named(_) => true,
            };
            if may_be_plain && !looks_sealed(value.as_value_ref()) {
                continue;
            }
            let cell = Cell::new(table.id, partition, row, name)?;
            let ValueRef::Binary(bytes) = value.as_value_ref() else {
                return Err(cell.error(
                    ErrorKind::DecryptionFailed,
                    "is stored in the clear, and is to be sealed; if it was written so on purpose, merge it anew",
                ));
            };
            let keys = self.keys.get().map_err(|_| {
                cell.error(
                    ErrorKind::KeyUnavailable,
                    "is sealed, and the store was opened without a key provider; \
                     give one by `Store::options().encryption(..)`, or `select` other properties",
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

impl fmt::Debug for Lens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lens").finish_non_exhaustive()
    }
}
