//! Each table's dictionary: property names, the few texts of `EntityType`, and the shapes of rows, as numbers.
//!
//! Numbers are given once and never change, so what a process has read stays true. A number enters a process's
//! dictionary only when the transaction that gave it has committed.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, OnceLock};

use crate::hash::xxh3_64_with_seed;

use super::fast_path::FieldSteps;
use super::numbers::{self, ByDeclaration, FieldNumbers, PropertyNumber, RowForm, RowNumbers, StepsByShape};
use super::shape::{Column, MAX_SHAPES, Shape};
use super::shaped::ShapedRow;
use super::vault::Vault;
use crate::model::names::ENTITY_TYPE;
use crate::model::{Name, ValueRef};
use crate::plan::{Cause, RowKind};
use crate::schema::{Field, Place, Schema};

/// Names that a table numbers; those that come later stand in the rows themselves, so that data used as names
/// can't grow the dictionary without end.
pub const MAX_NAMES: usize = 60_000;
/// Texts of `EntityType` that a table numbers, and the longest of them in bytes.
const MAX_SYMBOLS: usize = 1_000;
const MAX_SYMBOL_BYTES: usize = 64;

/// How many texts are compared rather than hashed.
const FEW: usize = 8;
/// How many names after the last one are looked at before one is looked up.
const NEAR: usize = 4;

/// One direction of numbering: texts by number and numbers by text.
#[derive(Clone, Debug, Default)]
pub struct Numbered {
    pub texts: Vec<Name>,
    ids: HashMap<Name, u16, TextHash>,
}

impl Numbered {
    #[inline]
    pub fn id(&self, text: &str) -> Option<u16> {
        if self.texts.len() <= FEW {
            return (0..).zip(&self.texts).find(|(_, known)| ***known == *text).map(|(id, _)| id);
        }
        self.ids.get(text).copied()
    }

    pub fn push(&mut self, text: Name) -> Option<u16> {
        let id = u16::try_from(self.texts.len()).ok()?;
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        Some(id)
    }

    /// Returns whether this text of `EntityType` is to be numbered among those.
    pub fn takes_symbol(&self, text: &str) -> bool {
        text.len() <= MAX_SYMBOL_BYTES && self.texts.len() < MAX_SYMBOLS
    }

    fn truncate(&mut self, length: usize) {
        for text in self.texts.drain(length.min(self.texts.len())..) {
            self.ids.remove(&text);
        }
    }
}

/// How many names, symbols and shapes a dictionary has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    pub names: usize,
    pub symbols: usize,
    pub shapes: usize,
}

impl Length {
    /// Returns whether a dictionary of this length holds all that one of the other has.
    pub fn holds(self, other: Self) -> bool {
        self.names >= other.names && self.symbols >= other.symbols && self.shapes >= other.shapes
    }
}

/// What a process knows of a table's dictionary.
#[derive(Clone, Debug, Default)]
pub struct Dict {
    pub names: Numbered,
    pub symbols: Numbered,
    /// By their numbers.
    pub shapes: Vec<Shape>,
    /// The number of [`ENTITY_TYPE`], which every read asks for.
    entity_type: Option<u16>,
    /// What was asked of it for structs.
    structs: ByDeclaration<[Field], FieldNumbers>,
    /// And for the rows of entities.
    rows: ByDeclaration<Schema, Vec<RowForm>>,
    /// What opens the table's sealed values and authenticates its rows. It is no name, but every view of a row has its
    /// table's dictionary.
    vault: Option<Arc<dyn Vault>>,
}

impl Dict {
    /// Returns the dictionary of a table of which nothing is known but what opens its sealed values and authenticates its rows.
    pub fn of_vault(vault: Option<Arc<dyn Vault>>) -> Self {
        Self { vault, ..Self::default() }
    }

    /// Returns what opens the table's sealed values and authenticates its rows; `None` where the store was opened without keys.
    #[inline]
    pub fn vault(&self) -> Option<&dyn Vault> {
        self.vault.as_deref()
    }

    pub fn name(&self, id: u16) -> Option<&Name> {
        self.names.texts.get(usize::from(id))
    }

    /// Returns the numbers of a struct's properties, in its order.
    pub(crate) fn numbers_of(&self, fields: &'static [Field]) -> &[PropertyNumber] {
        &self.known_of(fields).numbers
    }

    #[inline]
    fn known_of(&self, fields: &'static [Field]) -> &FieldNumbers {
        self.structs.of(fields, |fields| numbers::numbers(self, fields))
    }

    /// Returns how these fields are read from a row by the short way, if there is one: from a row that lies in a place, or from
    /// one whose keys are not looked at.
    #[inline]
    pub(crate) fn steps(
        &self,
        row: &ShapedRow<'_>,
        fields: &'static [Field],
        place: Option<&'static Place>,
    ) -> Option<(&Shape, &FieldSteps)> {
        let number = row.shape();
        let shape = self.shape(number)?;
        let known = self.structs.get(fields).and_then(|known| match place {
            Some(place) => known.paths.get(place),
            None => Some(&known.stored),
        });
        match known.and_then(|known| known.known(number)) {
            Some(steps) => Some((shape, steps)),
            None => self.find_steps(number, fields, place),
        }
    }

    #[inline(never)]
    fn find_steps(
        &self,
        number: u16,
        fields: &'static [Field],
        place: Option<&'static Place>,
    ) -> Option<(&Shape, &FieldSteps)> {
        let shape = self.shape(number)?;
        let find = || FieldSteps::find(fields, self.numbers_of(fields), shape, place);
        let known = self.known_of(fields);
        let known = match place {
            Some(place) => known.paths.of(place, |_| StepsByShape::new(self)),
            None => &known.stored,
        };
        Some((shape, known.of(number, find)?))
    }

    /// Returns what one of these fields holds in a row, by its place; `None` where it takes the longer way.
    #[inline]
    pub(crate) fn quick_field<'v>(
        &self,
        row: &ShapedRow<'v>,
        fields: &'static [Field],
        field: usize,
    ) -> Option<ValueRef<'v>> {
        let (shape, steps) = self.steps(row, fields, None)?;
        steps.get(row, shape, field)
    }

    /// Returns how rows of this kind are written by their shape; `None` if they have none, or not yet.
    #[inline]
    pub fn row_numbers(&self, kind: RowKind) -> Option<&RowNumbers> {
        match self.row_form(kind)? {
            RowForm::Shaped(numbers) => Some(numbers),
            RowForm::Wanted | RowForm::Slots => None,
        }
    }

    /// Returns whether rows of this kind are to get a shape that the dictionary does not have.
    pub fn wants_shape(&self, kind: RowKind) -> bool {
        matches!(self.row_form(kind), Some(RowForm::Wanted))
    }

    fn row_form(&self, kind: RowKind) -> Option<&RowForm> {
        let rows = self.rows.of(kind.schema, |schema| RowForm::of_all(self, schema));
        let at = match kind.cause {
            Cause::Entity => 0,
            Cause::Index(index) => index + 1,
            Cause::Part(part) => kind.schema.indexes.len() + part,
        };
        rows.get(at)
    }

    /// Returns the shape of this number.
    #[inline]
    pub fn shape(&self, number: u16) -> Option<&Shape> {
        self.shapes.get(usize::from(number))
    }

    /// Returns the lowest number of the shape of these columns.
    pub fn shape_id(&self, symbol: u16, columns: &[Column]) -> Option<u16> {
        let found = self.shapes.iter().position(|shape| shape.is(symbol, columns));
        found.and_then(|number| u16::try_from(number).ok())
    }

    /// Returns the shapes of rows whose kind has this text, the latest first.
    pub(crate) fn shapes_of(&self, symbol: u16) -> impl Iterator<Item = (u16, &Shape)> {
        let numbered = |(number, shape)| Some((u16::try_from(number).ok()?, shape));
        let all = self.shapes.iter().enumerate().rev().filter_map(numbered);
        all.filter(move |(_, shape): &(u16, &Shape)| shape.symbol() == symbol)
    }

    pub fn shapes_full(&self) -> bool {
        self.shapes.len() >= MAX_SHAPES
    }

    /// Gives the rows of a kind a shape, if they are to have one that the dictionary lacks.
    pub fn push_shape_of(&mut self, kind: RowKind) {
        if self.wants_shape(kind)
            && let Some(shape) = numbers::shape_of(self, kind)
        {
            self.forget();
            self.shapes.push(shape);
        }
    }

    /// Forgets what was found for declarations: the dictionary changes.
    pub fn forget(&mut self) {
        self.structs = ByDeclaration::default();
        self.rows = ByDeclaration::default();
    }

    #[inline]
    pub fn id(&self, name: &str) -> Option<u16> {
        self.names.id(name)
    }

    /// Returns the number of a name that may well be one of those after `last`: properties mostly come in the order in which
    /// the table first saw their names, a copy leaves some out, and comparing a few is quicker than looking one up.
    pub(crate) fn id_after(&self, last: Option<u16>, name: &str) -> Option<u16> {
        let first = last.map_or(0, |last| last.saturating_add(1));
        let names = self.names.texts.get(usize::from(first)..).unwrap_or_default();
        let near = (first..).zip(names).take(NEAR).find(|(_, known)| ***known == *name);
        near.map(|(id, _)| id).or_else(|| self.id(name))
    }

    /// Returns the number of the property [`ENTITY_TYPE`].
    #[inline]
    pub fn entity_type(&self) -> Option<u16> {
        self.entity_type
    }

    pub fn symbol(&self, id: u16) -> Option<&Name> {
        self.symbols.texts.get(usize::from(id))
    }

    pub fn symbol_id(&self, text: &str) -> Option<u16> {
        self.symbols.id(text)
    }

    /// Returns how much it has.
    #[inline]
    pub fn len(&self) -> Length {
        let (names, symbols) = (self.names.texts.len(), self.symbols.texts.len());
        Length { names, symbols, shapes: self.shapes.len() }
    }

    pub fn names_full(&self) -> bool {
        self.names.texts.len() >= MAX_NAMES
    }

    /// Returns whether this text of `EntityType` is to be numbered.
    pub fn takes_symbol(&self, text: &str) -> bool {
        self.symbols.takes_symbol(text)
    }

    pub fn push_name(&mut self, name: Name) -> Option<u16> {
        self.forget();
        let is_entity_type = &*name == ENTITY_TYPE;
        let id = self.names.push(name);
        if is_entity_type {
            self.entity_type = id;
        }
        id
    }

    /// Finds the number of [`ENTITY_TYPE`] again: names have come.
    pub fn find_entity_type(&mut self) {
        self.entity_type = self.id(ENTITY_TYPE);
    }

    pub fn push_symbol(&mut self, text: Name) -> Option<u16> {
        self.forget();
        self.symbols.push(text)
    }

    /// Forgets what was pushed since the dictionary had this length.
    pub fn truncate(&mut self, length: Length) {
        self.forget();
        self.names.truncate(length.names);
        self.symbols.truncate(length.symbols);
        self.shapes.truncate(length.shapes);
        self.entity_type = self.id(ENTITY_TYPE);
    }
}

/// Hashes names with the checksum's own function, which is quicker on short texts than the standard library's,
/// and seeds it per process, so that chosen names can't collide on purpose.
#[derive(Clone, Copy, Debug, Default)]
struct TextHash;

impl BuildHasher for TextHash {
    type Hasher = TextHasher;

    fn build_hasher(&self) -> TextHasher {
        static SEED: OnceLock<u64> = OnceLock::new();
        TextHasher(*SEED.get_or_init(|| RandomState::new().build_hasher().finish()))
    }
}

struct TextHasher(u64);

impl Hasher for TextHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    /// The byte that ends a `str` in its hash; one text is all that is ever hashed.
    fn write_u8(&mut self, _: u8) {}
}
