//! Entities seen in place.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use super::origin::{AnyOrigin, TableIn};
use super::reading::Whole;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::rows::Views;
use crate::model::{ETag, EdmType, Ticks, Value, ValueRef};
use crate::row::fast_path::{Near, SeenRow};
use crate::row::view::RowView;
use crate::schema::{self, FastPath, PropertyValue, Take, Template, ValueError};
use crate::typed::entity::path::{self, Path, PathKeys};
use crate::typed::entity::source::{Source, Text};
use crate::typed::entity::stored::Stored;
use crate::typed::entity::{Entity, wide};
use crate::typed::query::{OwnRows, PartFilter, PathQuery, lowered};

/// An entity in place: a method for each field decodes that one, and no other.
///
/// Text and bytes are borrowed from the store, and what stands in the key is parsed when it is asked for. Version and time
/// are associated functions, so that they hide no field of the entity's.
///
/// ```
/// # use table_core::{Entity, Store, View};
/// # #[derive(Entity)]
/// # #[entity(table = "Company", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, email: String }
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// # let staff = store.table::<Employee>()?;
/// # staff.insert(&Employee { department: "Sales".into(), id: 1, email: "ann@contoso.com".into() })?;
/// let snapshot = store.snapshot()?;
/// for employee in staff.at(&snapshot).rows().department("Sales").views() {
///     let employee = employee?;
///     let email: &str = employee.email()?;
///     println!("{email}, written at {}", View::timestamp(&employee));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct View<'a, E: Entity>(E::View<'a>);

impl<'a, E: Entity> View<'a, E> {
    pub(crate) fn new(row: RowView<'a>) -> Self {
        let seen = row.seen(E::SCHEMA.fields);
        Self(E::View::new(FieldViews { row, seen, keys: OwnRows::<E>::KEYS }))
    }

    /// Returns the version, to be demanded of a later write.
    pub fn etag(this: &Self) -> ETag {
        this.0.fields().row.etag()
    }

    /// Returns when the version was written.
    pub fn timestamp(this: &Self) -> Ticks {
        this.0.fields().row.timestamp()
    }

    /// Returns the whole entity, owned.
    pub fn to_entity(this: &Self) -> Result<Stored<E>> {
        path::read_stored(&this.0.fields().row)
    }
}

impl<'a, E: Entity> Deref for View<'a, E> {
    type Target = E::View<'a>;

    fn deref(&self) -> &E::View<'a> {
        &self.0
    }
}

/// The entity, decoded.
impl<E: Entity + fmt::Debug> fmt::Debug for View<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::to_entity(self) {
            Ok(entity) => entity.fmt(f),
            Err(error) => error.fmt(f),
        }
    }
}

/// A struct of methods that each decode one field. Made by the derive.
pub trait EntityView<'a> {
    #[doc(hidden)]
    fn new(fields: FieldViews<'a>) -> Self;

    #[doc(hidden)]
    fn fields(&self) -> &FieldViews<'a>;
}

/// A row of an entity, for generated code to take single fields of.
#[derive(Debug)]
pub struct FieldViews<'a> {
    row: RowView<'a>,
    /// The row's values, where it has a shape and none of them is large.
    seen: Option<SeenRow<'a>>,
    keys: &'static PathKeys,
}

impl FieldViews<'_> {
    /// Stands for a field of a struct whose declaration has mistakes. Such a program does not compile, so this is never
    /// called.
    pub fn nothing<T>(&self) -> Result<T> {
        Err(self.located(String::new()))
    }

    /// Returns a text that is stored.
    // Once for all entities: of each text of each row there is then nothing but a call where it is asked for.
    #[inline(never)]
    pub fn text(&self, field: usize) -> Result<&str> {
        match self.seen.as_ref().and_then(|seen| seen.text(field)) {
            Some(text) => Ok(text),
            None => self.stored(field, as_text),
        }
    }

    /// Returns a field that is stored, and is made of its value.
    pub fn made<T>(&self, field: usize, take: Take<T>) -> Result<T> {
        if let (FastPath::Integer(make), Some(seen)) = (take.quick, &self.seen)
            && let Some(number) = seen.integer(field)
            && let Some(value) = make(number)
        {
            return Ok(value);
        }
        self.stored(field, take.any)
    }

    /// Returns a field that is stored.
    pub fn stored<'v, T>(
        &'v self,
        field: usize,
        from: fn(Option<ValueRef<'v>>) -> Result<T, ValueError>,
    ) -> Result<T> {
        let found = match self.near(field) {
            Near::Found(value) => Some(value),
            Near::Absent => None,
            Near::Elsewhere => self.value(field)?,
        };
        from(found).map_err(|error| self.refused(field, &error))
    }

    /// Returns a field that is stored; its type's default if it is absent.
    pub fn stored_or_default<'v, T: Default>(
        &'v self,
        field: usize,
        from: fn(Option<ValueRef<'v>>) -> Result<T, ValueError>,
    ) -> Result<T> {
        self.stored_or(field, from, T::default)
    }

    /// Returns a field that is stored; what `default` makes if it is absent.
    pub fn stored_or<'v, T>(
        &'v self,
        field: usize,
        from: fn(Option<ValueRef<'v>>) -> Result<T, ValueError>,
        default: fn() -> T,
    ) -> Result<T> {
        let found = match self.near(field) {
            Near::Found(value) => Some(value),
            Near::Absent => None,
            Near::Elsewhere => self.value(field)?,
        };
        match found {
            None => Ok(default()),
            found => from(found).map_err(|error| self.refused(field, &error)),
        }
    }

    /// Returns a field that is stored sealed.
    pub fn sealed<T>(&self, field: usize, take: Take<T>) -> Result<T> {
        Source::without_keys(self.keys.schema(), &self.row).field(field, take)
    }

    /// Returns a field that is stored sealed; what `default` makes if it is absent.
    pub fn sealed_or<T>(&self, field: usize, take: Take<T>, default: fn() -> T) -> Result<T> {
        Source::without_keys(self.keys.schema(), &self.row).field_or(field, take, default)
    }

    /// Returns the field by a short way.
    #[inline]
    fn near(&self, field: usize) -> Near<'_> {
        let fields = self.keys.schema().fields;
        match &self.seen {
            Some(seen) => self.row.get_in(seen, fields, field),
            None => self.row.get_near(fields, field).map_or(Near::Elsewhere, Near::Found),
        }
    }

    #[inline(never)]
    fn value(&self, field: usize) -> Result<Option<ValueRef<'_>>> {
        self.row.get_field(self.keys.schema().fields, field)
    }

    /// Returns a field that the key gives back.
    pub fn key<T>(&self, field: usize, from: fn(Option<ValueRef<'_>>) -> Result<T, ValueError>) -> Result<T> {
        if let Some(value) = self.plain_key(field) {
            return from(Some(value)).map_err(|error| self.refused(field, &error));
        }
        let (template, key) = self.key_of(field);
        let value = schema::parse_field(template, key.as_bytes(), field)
            .ok_or_else(|| self.misfit(&key, template.source))?;
        from(value.as_value_ref()).map_err(|error| self.refused(field, &error))
    }

    /// Returns a text that the key gives back.
    pub fn key_text(&self, field: usize) -> Result<Cow<'_, str>> {
        if let Some(ValueRef::String(text)) = self.plain_key(field) {
            return Ok(Cow::Borrowed(text));
        }
        let (template, key) = self.key_of(field);
        let text = match &key {
            Cow::Borrowed(key) => match schema::parse_field(template, key.as_bytes(), field) {
                Some(PropertyValue::Borrowed(ValueRef::String(text))) => Some(Cow::Borrowed(text)),
                other => other.and_then(owned_text),
            },
            Cow::Owned(key) => schema::parse_field(template, key.as_bytes(), field).and_then(owned_text),
        };
        text.ok_or_else(|| self.misfit(&key, template.source))
    }

    /// Returns what a key that stands as it is gives back of the field, and lends.
    #[inline]
    fn plain_key(&self, field: usize) -> Option<ValueRef<'_>> {
        let partition = &self.keys.place().partition;
        let found = match (schema::gives_back(partition, field), self.row.plain_partition()) {
            (true, Some(key)) => schema::parse_plain_field(partition, key, field),
            (true, None) => schema::parse_field(partition, self.row.plain_keys()?.0, field),
            (false, _) => schema::parse_field(self.keys.row(), self.row.plain_keys()?.1, field),
        };
        match found? {
            PropertyValue::Borrowed(value) => Some(value),
            PropertyValue::Absent | PropertyValue::Owned(_) => None,
        }
    }

    /// Returns the key that gives the field back, and what it looks like.
    fn key_of(&self, field: usize) -> (&'static Template, Cow<'_, str>) {
        let partition = &self.keys.place().partition;
        if schema::gives_back(partition, field) {
            (partition, self.row.partition_key())
        } else {
            (self.keys.row(), self.row.row_key())
        }
    }

    /// Returns a field that is kept as text, from its text.
    pub fn json<T>(&self, field: usize, take: fn(Text<'_>) -> Result<T>) -> Result<T> {
        let source = Source::without_keys(self.keys.schema(), &self.row);
        take(source.text(field)?)
    }

    /// Fields of a flattened struct, of which this is the first.
    pub fn flattened<T>(&self, first: usize, take: fn(&mut Source<'_>) -> Result<T>) -> Result<T> {
        take(&mut Source::without_keys(self.keys.schema(), &self.row).taking_from(first))
    }

    /// Returns the fields of a group, which begin at this place.
    pub fn group<T>(&self, first: usize, take: fn(&Source<'_>, usize) -> Result<T>) -> Result<T> {
        take(&Source::without_keys(self.keys.schema(), &self.row), first)
    }

    fn property(&self, field: usize) -> &'static str {
        self.keys.schema().fields.get(field).map_or("", |field| field.property)
    }

    #[cold]
    fn refused(&self, field: usize, error: &ValueError) -> Error {
        let (name, entity) = (self.property(field), self.keys.schema().entity);
        self.located(format!("property `{name}` does not fit the struct `{entity}`: {error}"))
    }

    #[cold]
    fn misfit(&self, key: &str, template: &str) -> Error {
        self.located(format!("the key `{}` does not fit the template `{template}`", key.escape_debug()))
    }

    #[cold]
    fn located(&self, because: String) -> Error {
        Error::new(ErrorKind::SchemaMismatch)
            .because(because)
            .partition(&self.row.partition_key())
            .row(&self.row.row_key())
    }
}

fn owned_text<'a>(value: PropertyValue<'_>) -> Option<Cow<'a, str>> {
    match value.into_value()? {
        Value::String(text) => Some(Cow::Owned(text)),
        _ => None,
    }
}

/// Returns the text, borrowed from its property.
pub fn as_text(value: Option<ValueRef<'_>>) -> Result<&str, ValueError> {
    match value {
        Some(ValueRef::String(text)) => Ok(text),
        found => Err(ValueError::mistyped(EdmType::String, found)),
    }
}

/// Bytes, borrowed from their property.
pub fn as_bytes(value: Option<ValueRef<'_>>) -> Result<&[u8], ValueError> {
    match value {
        Some(ValueRef::Binary(bytes)) => Ok(bytes),
        found => Err(ValueError::mistyped(EdmType::Binary, found)),
    }
}

/// Returns the text, which may be absent, borrowed from its property.
pub fn as_text_option(value: Option<ValueRef<'_>>) -> Result<Option<&str>, ValueError> {
    value.map(|value| as_text(Some(value))).transpose()
}

/// Returns the bytes, which may be absent, borrowed from their property.
pub fn as_bytes_option(value: Option<ValueRef<'_>>) -> Result<Option<&[u8]>, ValueError> {
    value.map(|value| as_bytes(Some(value))).transpose()
}

/// What a query finds in a snapshot, in place. An error, of the query itself too, comes as an item, and ends it.
#[must_use = "an iterator does nothing until it is used"]
pub struct TypedViews<'s, E> {
    views: Result<Views<'s>, Option<Error>>,
    entity: std::marker::PhantomData<fn() -> E>,
    /// Where it looks, and what is asked of wide entities once their parts are read.
    origin: TableIn<'s>,
    beyond: Option<PartFilter>,
    /// How many are left to be given.
    left: usize,
}

impl<'s, E: Entity, Step> PathQuery<OwnRows<E>, TableIn<'s>, Whole, Step> {
    /// Returns the entities in place.
    #[doc(hidden)]
    pub fn views(mut self) -> TypedViews<'s, E> {
        let (mut beyond, mut left) = (Ok(None), usize::MAX);
        if const { E::SCHEMA.is_wide() } {
            beyond = self.take_beyond();
            if let Ok(Some(_)) = &beyond {
                left = self.take_limit().unwrap_or(usize::MAX);
            }
        }
        let table = AnyOrigin::table(self.origin());
        let scan_ranges = lowered(&self).map_err(|e| e.attempted("query").table(table.name()));
        let snapshot = self.origin().snapshot();
        let ready = super::check_index::<OwnRows<E>>(snapshot, table);
        let checked = ready.and_then(|()| snapshot.check_rows(table, E::SCHEMA));
        let views = checked.and(scan_ranges).and_then(|scan_ranges| snapshot.views_of(table, scan_ranges));
        let (views, beyond) = match beyond {
            Ok(beyond) => (views, beyond),
            Err(error) => (Err(error.attempted("query").table(table.name())), None),
        };
        let (origin, entity) = (self.origin().clone(), std::marker::PhantomData);
        TypedViews { views: views.map_err(Some), entity, origin, beyond, left }
    }
}

impl<'s, E: Entity> Iterator for TypedViews<'s, E> {
    type Item = Result<View<'s, E>>;

    fn next(&mut self) -> Option<Result<View<'s, E>>> {
        match &mut self.views {
            Ok(views) if const { E::SCHEMA.is_wide() } => {
                self.left.checked_sub(1)?;
                let (snapshot, table) = (self.origin.snapshot(), AnyOrigin::table(&self.origin));
                loop {
                    let whole = views.next()?.and_then(|row| {
                        super::check_seen::<E>(&row)?;
                        wide::whole::<E>(snapshot, table, row)
                    });
                    let passes =
                        |whole: &RowView<'_>| self.beyond.as_ref().map_or(Ok(true), |b| b.accepts(whole));
                    match whole.and_then(|whole| Ok(passes(&whole)?.then_some(whole))) {
                        Ok(None) => {}
                        Ok(Some(whole)) => {
                            self.left -= 1;
                            return Some(Ok(View::new(whole)));
                        }
                        Err(error) => {
                            self.left = 0;
                            return Some(Err(error.attempted("query").table(table.name())));
                        }
                    }
                }
            }
            // A view is large: it is moved as seldom as can be.
            Ok(views) => match views.next_row() {
                Ok(Some(row)) => match super::check_seen::<E>(&row) {
                    Ok(()) => Some(Ok(View::new(row))),
                    Err(error) => Some(Err(error)),
                },
                Ok(None) => None,
                Err(error) => Some(Err(error)),
            },
            Err(error) => error.take().map(Err),
        }
    }
}

impl<E: Entity> std::iter::FusedIterator for TypedViews<'_, E> {}

impl<E> fmt::Debug for TypedViews<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedViews").finish_non_exhaustive()
    }
}
