//! The copies that a changed entity is to hold of others.

use super::attempt::Sources;
use crate::error::Result;
use crate::model::{EntityKeys, Value, ValueRef};
use crate::plan::{Act, Cause, Condition, PlanBuilder, RowKind, RowWrite, Values};
use crate::schema::{CopiedFields, KeyPair, PropertyValue, Schema, keys};
use crate::typed::entity::dependent::CopyReader;
use crate::typed::read::key::{Arguments, KeyResult};

/// A copy that an entity is to hold.
#[derive(Debug)]
pub(crate) struct Holding {
    copy: &'static CopiedFields,
    /// The values of its properties.
    values: Vec<Option<Value>>,
    /// The source that it was read of, and what must be so of that.
    relies_on: Option<(&'static Schema, KeyPair, Condition)>,
}

/// Returns the key of the source that an entity with these values refers to, if it does.
pub(crate) fn key_of(
    source: &'static Schema,
    copy: &CopiedFields,
    values: &Values<'_>,
) -> Result<Option<KeyPair>> {
    let mut given: Vec<KeyResult<'_>> = Vec::with_capacity(copy.key.len());
    for field in copy.key {
        let Some(value) = values.get(*field) else { return Ok(None) };
        given.push(Ok(PropertyValue::Borrowed(value)));
    }
    let place = source.place();
    keys(source, place, &Arguments::new(place, &given), "make a key for").map(Some)
}

/// Returns the copies that an entity of this declaration is to hold, which was so `before` and has these values now. What
/// refers to the same source as before holds what it held, unless that changes as well; without a `before` all are made anew.
/// A copy that follows its source is made anew by each change of its dependent: that may have another key now, where a search
/// for the dependents of a changed source no longer finds it.
pub(crate) fn copy_fields(
    schema: &'static Schema,
    readers: &'static [CopyReader],
    before: Option<&Values<'_>>,
    after: &Values<'_>,
    sources: &dyn Sources,
) -> Result<Vec<Holding>> {
    let mut holdings = Vec::with_capacity(readers.len());
    for (copy, reader) in schema.copied.iter().zip(readers) {
        let source = reader.schema();
        let none = || vec![None; copy.count];
        let Some(keys) = key_of(source, copy, after)? else {
            holdings.push(Holding { copy, values: none(), relies_on: None });
            continue;
        };
        let referred = before.map(|before| key_of(source, copy, before)).transpose().ok().flatten().flatten();
        let is_same = referred.is_some_and(|referred| referred.as_keys() == keys.as_keys());
        let is_new = copy.is_eventual() && sources.are_asked();
        if let (Some(before), true, false) = (before, is_same && !sources.changes(source, &keys), is_new) {
            let value = |at: usize| before.get(copy.first + at).map(ValueRef::to_value);
            let values = (0..copy.count).map(value).collect();
            holdings.push(Holding { copy, values, relies_on: None });
            continue;
        }
        let found = sources.get(reader, &keys)?;
        let relies_on = found.condition.map(|condition| (source, keys, condition));
        holdings.push(Holding { copy, values: found.values.unwrap_or_else(none), relies_on });
    }
    Ok(holdings)
}

impl Holding {
    /// Puts the copies in the place of what these values have there.
    pub(crate) fn put<'h>(holdings: &'h [Self], values: &mut Values<'h>) {
        for Self { copy, values: copied, .. } in holdings {
            for (at, value) in copied.iter().enumerate() {
                let value = value.as_ref().map_or(PropertyValue::Absent, |value| value.as_value_ref().into());
                values.set_stored(copy.first + at, value);
            }
        }
    }

    /// Returns the source that the copy follows, if it does.
    pub(crate) fn follows(&self) -> Option<(&'static Schema, &KeyPair)> {
        let (schema, keys, _) = self.relies_on.as_ref().filter(|_| self.copy.is_eventual())?;
        Some((schema, keys))
    }

    /// Returns the name of the field.
    pub(crate) fn name(&self) -> &'static str {
        self.copy.name
    }

    /// Returns whether the copy says what an entity of this declaration with these values does: a number that was written
    /// before its field grew is the same number, and what a row lacks is the field's default, if there is a source at all.
    pub(crate) fn is_in(&self, schema: &Schema, values: &Values<'_>) -> bool {
        let has_source = self.values.iter().any(Option::is_some);
        let is_same = |(at, value): (usize, &Option<Value>)| {
            let place = self.copy.first + at;
            match (values.get(place), value.as_ref().map(Value::as_value_ref)) {
                (Some(held), Some(value)) => held.says_same(value),
                (None, None) => true,
                (Some(value), None) | (None, Some(value)) => {
                    let default = schema.fields.get(place).and_then(|field| field.absent?.value());
                    has_source && default.is_some_and(|default| default.as_value_ref().says_same(value))
                }
            }
        };
        self.values.iter().enumerate().all(is_same)
    }

    /// Demands that the sources which were read are still the same.
    pub(crate) fn plan<'p>(holdings: &'p [Self], of: usize, builder: &mut PlanBuilder<'p>) {
        for (schema, keys, condition) in holdings.iter().filter_map(|holding| holding.relies_on.as_ref()) {
            let EntityKeys { partition, row: key } = keys.as_keys();
            let is_there = matches!(condition, Condition::Is(_));
            let kind = is_there.then_some(RowKind { schema, cause: Cause::Entity });
            let row = RowWrite { key, condition: *condition, act: Act::Keep, kind, of };
            builder.expect(schema.place().table.source(), partition, row);
        }
    }
}
