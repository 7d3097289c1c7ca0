//! The entities of a change of a kind of which there is no struct, but the layout that a store has noted.
//!
//! They stand where those of a struct do, so all else of a change is the same: what is read, which rows follow, what is demanded
//! of them. An entity is its fields' values as rows have them; what its struct would not read is refused.

use super::entity_images::{EntityImages, EntityMeta, ImageRef, ImageSlot};
use crate::error::{Error, ErrorKind, Result};
use crate::model::names::{ENTITY_PARTS, ENTITY_TYPE};
use crate::model::{DynamicEntity, EntityKeys, Value, ValueRef};
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::{
    self, FastPath, Field, Layout, Obstacle, PropertyValue, Reads, Schema, SumOf, Take, ValueError,
    knows_json,
};
use crate::typed::entity::source::Source;
use crate::typed::job::kind::JobKind;

/// A kind as its layout declares it.
#[derive(Debug)]
pub(crate) struct LayoutMeta {
    meta: EntityMeta,
    layout: Layout,
}

/// The values of an entity's fields, in the order of its declaration.
type Fields = Vec<Option<Value>>;

impl LayoutMeta {
    /// Returns a kind by its layout, and the declaration that was made of it.
    pub(crate) fn new(layout: Layout, schema: &'static Schema) -> Self {
        let meta = EntityMeta {
            schema,
            is_wide: schema.is_wide(),
            seals: schema.seals(),
            counts_some: false,
            has_previous: false,
            renames_key: schema.renames_key(),
            held: &[],
            dependents: &[],
            elements: |_, _| Ok(Vec::new()),
        };
        Self { meta, layout }
    }

    pub(crate) fn schema(&self) -> &'static Schema {
        self.meta.schema
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the entity of these keys and properties, if its struct would read it.
    pub(crate) fn entity(&self, entity: &DynamicEntity) -> Result<Fields> {
        let (schema, keys) = (self.schema(), EntityKeys::new(entity.partition_key(), entity.row_key()));
        let mut fields: Fields = vec![None; schema.fields.len()];
        for (template, key) in [(&schema.place().partition, keys.partition), (&schema.place().row, keys.row)]
        {
            let fits = schema::parse(template, key, |at, value| {
                if let (Some(field), Some(value)) = (fields.get_mut(at), value.into_value()) {
                    *field = Some(value);
                }
            });
            if !fits {
                let (key, source) = (key.escape_debug(), template.source);
                return Err(mismatch(format!("the key `{key}` does not fit the template `{source}`")));
            }
        }
        // What a key gives is a value of the field's type, unless only the struct knows that.
        for (at, field) in schema.fields.iter().enumerate() {
            if let Some(Some(value)) = fields.get_mut(at) {
                *value = self.given(field, value.as_value_ref())?;
            }
        }
        self.set(entity, &mut fields)?;
        self.check(&fields)?;
        self.check_keys(&fields, keys, ErrorKind::SchemaMismatch)?;
        Ok(fields)
    }

    /// Sets what is given of an entity's properties.
    fn set(&self, given: &DynamicEntity, fields: &mut Fields) -> Result<()> {
        let schema = self.schema();
        for (name, value) in given.properties() {
            if name == ENTITY_TYPE || name == ENTITY_PARTS && schema.is_wide() {
                continue;
            }
            let Some(at) = schema.fields.iter().position(|field| field.property == name) else {
                // A misspelt one would be lost on every copy.
                return Err(mismatch(format!("`{}` has no property `{name}`", schema.kind)));
            };
            if let (Some(field), Some(declared)) = (fields.get_mut(at), schema.fields.get(at)) {
                *field = Some(self.given(declared, value.as_value_ref())?);
            }
        }
        Ok(())
    }

    /// Returns a value that is given, as the field's type writes it.
    fn given(&self, field: &Field, value: ValueRef<'_>) -> Result<Value> {
        let obstacle = |because| {
            let obstacle = Obstacle { line: self.layout.line_of(field.property), because };
            Err(obstructed(self.schema().kind, &obstacle))
        };
        match field.reads {
            Reads::Other => obstacle("which values it takes only a type of the user's says"),
            Reads::Json if !knows_json() => obstacle("to tell JSON from other text takes the feature `json`"),
            reads => reads.read(field.edm, value).map_err(|error| self.misfit(field, &error)),
        }
    }

    /// Refuses an entity that its struct would not read, or whose copies and sums the layout does not say.
    fn check(&self, fields: &Fields) -> Result<()> {
        let schema = self.schema();
        let is_absent = |at: usize| fields.get(at).is_none_or(Option::is_none);
        let mut required = schema.fields.iter().enumerate().filter(|(_, field)| !field.optional);
        if let Some((_, field)) = required.find(|(at, _)| is_absent(*at)) {
            return Err(self.misfit(field, &ValueError::mistyped(field.edm, None)));
        }
        let is_unknown =
            |at: usize| is_absent(at) && schema.fields.get(at).is_some_and(|field| field.defaults);
        for index in schema.indexes {
            let sums = index.summary.iter().flat_map(|summary| summary.sums).filter_map(|sum| match sum.of {
                SumOf::Field(field) => Some(field),
                _ => None,
            });
            let printed = [&index.place.partition, &index.place.row].into_iter().flat_map(schema::fields);
            if printed.map(|part| part.field).chain(sums).any(is_unknown) {
                let line = self.layout.line_of_index(index.name);
                let because =
                    "a property that it takes is absent, and what stands for it only the struct says";
                return Err(obstructed(schema.kind, &Obstacle { line, because }));
            }
        }
        Ok(())
    }

    /// Refuses an entity whose fields print other keys than those under which it is to lie.
    fn check_keys(&self, fields: &Fields, keys: EntityKeys<'_>, kind: ErrorKind) -> Result<()> {
        let mut values = Values::with_capacity(fields.len());
        lay_out(fields, &mut values);
        let printed = schema::own_keys(self.schema(), &values)?;
        if printed.as_keys() == keys {
            return Ok(());
        }
        let EntityKeys { partition, row } = printed.as_keys();
        let (partition, row) = (partition.escape_debug(), row.escape_debug());
        Err(Error::new(kind).because(format!("its properties give the keys `{partition}` and `{row}`")))
    }

    /// Returns the values of an entity that is stored.
    fn stored(&self, source: &Source<'_>) -> Result<Fields> {
        const TAKE: Take<Option<Value>> =
            Take { quick: FastPath::Any, any: |value| Ok(value.map(ValueRef::to_value)) };
        let mut fields = Fields::with_capacity(self.schema().fields.len());
        for (at, field) in self.schema().fields.iter().enumerate() {
            let value = source.field(at, TAKE)?;
            fields.push(match (value, field.reads) {
                // What it is to say its struct has seen to.
                (Some(value), Reads::Other | Reads::Json) => Some(value),
                (Some(value), reads) => {
                    let read = reads.read(field.edm, value.as_value_ref());
                    Some(read.map_err(|error| self.misfit(field, &error))?)
                }
                (None, _) => None,
            });
        }
        self.check(&fields)?;
        Ok(fields)
    }

    #[cold]
    fn misfit(&self, field: &Field, error: &ValueError) -> Error {
        let (property, kind) = (field.property, self.schema().kind);
        mismatch(format!("property `{property}` does not fit the layout of `{kind}`: {error}"))
    }
}

#[cold]
fn mismatch(because: String) -> Error {
    Error::new(ErrorKind::SchemaMismatch).because(because)
}

/// Returns the error of a write of an entity that its layout does not say enough of.
#[cold]
pub(crate) fn obstructed(kind: &str, obstacle: &Obstacle) -> Error {
    let Obstacle { line, because } = obstacle;
    let line = if line.is_empty() { String::new() } else { format!("`{line}`: ") };
    Error::new(ErrorKind::DeclaredKind).because(format!(
        "the row is an entity of the kind `{kind}`, which a struct declares, and what is noted of that is not enough to write it \
         by its properties: {line}{because}; change the entity by `Store::table`, or by `SetTable::merge_any` and the like, \
         which make its copies follow; a handle by `DynamicTable::raw` writes the row all the same, and its copies stay as \
         they are"
    ))
}

fn lay_out<'s>(fields: &'s Fields, values: &mut Values<'s>) {
    for field in fields {
        let value = field.as_ref().map(Value::as_value_ref);
        values.push(Ok(value.map_or(PropertyValue::Absent, PropertyValue::Borrowed)));
    }
}

/// What is given of an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GivenFields<'c> {
    /// All of it.
    Whole(&'c DynamicEntity),
    /// What is set of the one there.
    Some(&'c DynamicEntity),
    /// What is set of the one there; all of it, if there is none.
    SomeOrWhole(&'c DynamicEntity),
    /// Nothing.
    Nothing,
}

/// The entities of a change.
pub(crate) struct LayoutImages<'c> {
    kind: &'static LayoutMeta,
    given: GivenFields<'c>,
    whole: Option<Fields>,
    /// Why what is given is no entity by itself, or why the one there can't be had, if that is to be said.
    refused: Option<Error>,
    before: Option<Fields>,
    edited: Option<Fields>,
    after: Option<Fields>,
}

impl<'c> LayoutImages<'c> {
    /// Returns the entities of a change that brings this along.
    pub(crate) fn new(kind: &'static LayoutMeta, given: GivenFields<'c>) -> Result<Self> {
        let (whole, refused) = match given {
            GivenFields::Whole(entity) => (Some(kind.entity(entity)?), None),
            GivenFields::SomeOrWhole(entity) => match kind.entity(entity) {
                Ok(whole) => (Some(whole), None),
                Err(error) => (None, Some(error)),
            },
            GivenFields::Some(entity) => {
                // What no entity could take is refused before anything is read.
                kind.set(entity, &mut vec![None; kind.schema().fields.len()])?;
                (None, None)
            }
            GivenFields::Nothing => (None, None),
        };
        Ok(Self { kind, given, whole, refused, before: None, edited: None, after: None })
    }

    /// Returns the entities of a change that needs only what is stored.
    fn of_stored(kind: &'static LayoutMeta) -> Self {
        let given = GivenFields::Nothing;
        Self { kind, given, whole: None, refused: None, before: None, edited: None, after: None }
    }

    fn seen(&self, seen: ImageRef) -> Option<&Fields> {
        match seen {
            ImageRef::Given => self.whole.as_ref(),
            ImageRef::In(ImageSlot::Before) => self.before.as_ref(),
            ImageRef::In(ImageSlot::Edited) => self.edited.as_ref(),
            ImageRef::In(ImageSlot::After) => self.after.as_ref(),
        }
    }

    /// Returns the entity that was found with what is set of it.
    fn merged(&self, given: &DynamicEntity, before: &Fields) -> Result<Fields> {
        let mut fields = before.clone();
        self.kind.set(given, &mut fields)?;
        self.kind.check(&fields)?;
        let keys = EntityKeys::new(given.partition_key(), given.row_key());
        self.kind.check_keys(&fields, keys, ErrorKind::KeyChanged)?;
        Ok(fields)
    }
}

impl JobKind for LayoutMeta {
    fn meta(&'static self) -> &'static EntityMeta {
        &self.meta
    }

    fn images(&'static self) -> Box<dyn EntityImages> {
        Box::new(LayoutImages::of_stored(self))
    }

    /// An update sets nothing of the one there, which stays as it is.
    fn unchanged(&'static self) -> Box<dyn EntityImages> {
        self.images()
    }
}

impl EntityImages for LayoutImages<'_> {
    fn meta(&self) -> &'static EntityMeta {
        &self.kind.meta
    }

    fn has(&self, seen: ImageRef) -> bool {
        self.seen(seen).is_some()
    }

    fn lay_out<'s>(&'s self, seen: ImageRef, values: &mut Values<'s>) -> bool {
        match self.seen(seen) {
            Some(fields) => {
                lay_out(fields, values);
                true
            }
            None => false,
        }
    }

    /// A kind with an index in which only some entities have a row is not planned without its struct.
    fn has_row(&self, seen: ImageRef, _: usize) -> bool {
        self.has(seen)
    }

    fn counted(&self, _: ImageRef, _: usize) -> u64 {
        0
    }

    fn forget(&mut self, slot: ImageSlot) {
        match slot {
            // What was made of it goes with it.
            ImageSlot::Before => (self.before, self.after) = (None, None),
            ImageSlot::Edited => self.edited = None,
            ImageSlot::After => self.after = None,
        }
    }

    fn take(&mut self, slot: ImageSlot, source: &mut Source<'_>) -> Result<()> {
        match (slot, self.given) {
            (ImageSlot::Before, GivenFields::SomeOrWhole(given)) => {
                let before =
                    self.kind.stored(source).inspect_err(|error| self.refused = Some(error.again()))?;
                self.after = Some(self.merged(given, &before)?);
                self.before = Some(before);
            }
            (ImageSlot::Before, _) => self.before = Some(self.kind.stored(source)?),
            (ImageSlot::Edited, GivenFields::Some(given)) => {
                if let Some(before) = &self.before {
                    self.edited = Some(self.merged(given, before)?);
                }
            }
            (ImageSlot::Edited | ImageSlot::After, _) => {}
        }
        Ok(())
    }

    fn take_previous(&mut self, _: ImageSlot, _: &RowView<'_>) -> Result<bool> {
        Ok(false)
    }

    fn begin_edit(&mut self) {
        self.edited = self.before.take();
    }

    fn check(&self) -> Result<()> {
        match &self.refused {
            Some(error) if self.before.is_none() => Err(error.again()),
            _ => Ok(()),
        }
    }

    fn change(&mut self) -> Result<()> {
        Ok(())
    }

    fn end_edit(&mut self) -> Result<()> {
        self.after = self.edited.take();
        Ok(())
    }
}
