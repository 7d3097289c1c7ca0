//! An entity as the planner sees it: one value for each field.

use crate::model::ValueRef;
use crate::schema::{
    self, FieldPart, Format, KeyElements, KeyValues, Property, PropertyValue, TOKEN_BYTES, Template,
    ValueError, token_text,
};

/// The token of a field's value.
#[derive(Clone, Debug)]
pub(crate) struct FieldToken {
    field: usize,
    /// As rows hold it.
    bytes: [u8; TOKEN_BYTES],
    /// As keys print it.
    text: String,
    /// Others that the value may have been filed under by another entity, as keys print them.
    others: Vec<String>,
}

impl FieldToken {
    pub(crate) fn new(field: usize, bytes: [u8; TOKEN_BYTES], others: &[[u8; TOKEN_BYTES]]) -> Self {
        Self { field, bytes, text: token_text(&bytes), others: others.iter().map(token_text).collect() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the token itself, and then the others.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.text).chain(&self.others).map(String::as_str)
    }
}

/// The fields of an entity, in the order of its schema. Generated code fills it.
#[derive(Debug, Default)]
pub struct Values<'a> {
    /// As properties hold them.
    fields: Vec<PropertyValue<'a>>,
    /// The elements that stand in keys one by one, of the fields that have such.
    elements: Vec<(usize, Vec<PropertyValue<'a>>)>,
    /// The values of the fields that have one.
    tokens: Vec<FieldToken>,
    /// The first field whose value no property can hold.
    refused: Option<(usize, ValueError)>,
}

impl<'a> Values<'a> {
    pub fn with_capacity(fields: usize) -> Self {
        Self { fields: Vec::with_capacity(fields), ..Self::default() }
    }

    /// Adds the next field, whose elements stand in keys: `stored` is the property itself.
    pub fn push_elements<C: KeyElements>(
        &mut self,
        collection: &'a C,
        stored: Result<PropertyValue<'a>, ValueError>,
    ) {
        let field = self.fields.len();
        self.push(stored);
        match collection.elements().map(Property::to_property).collect() {
            Ok(elements) => self.elements.push((field, elements)),
            Err(error) => {
                self.refused.get_or_insert((field, error));
            }
        }
    }

    /// Adds the next field by what its conversion gave.
    // Inlined, so that a value is made where it is to lie: moved there, it costs more than it takes to make it.
    #[inline]
    pub fn push(&mut self, value: Result<PropertyValue<'a>, ValueError>) {
        match value {
            Ok(value) => self.fields.push(value),
            Err(error) => self.refuse(error),
        }
    }

    #[cold]
    fn refuse(&mut self, error: ValueError) {
        self.refused.get_or_insert((self.fields.len(), error));
        self.fields.push(PropertyValue::Absent);
    }

    /// Adds the next field as it is stored, whose elements stand in keys.
    pub(crate) fn push_each(&mut self, elements: Vec<PropertyValue<'a>>, stored: PropertyValue<'a>) {
        self.elements.push((self.fields.len(), elements));
        self.push(Ok(stored));
    }

    /// Returns every key that a template prints of the fields; none if it prints none.
    pub(crate) fn keys(&self, template: &Template) -> Vec<String> {
        let (mut text, mut places) = (Vec::new(), Vec::new());
        match schema::print_all(template, self, &mut text, &mut |place| places.push(place)) {
            Ok(()) => {
                let text = schema::into_text(text);
                places.into_iter().filter_map(|place| text.get(place).map(str::to_owned)).collect()
            }
            Err(_) => Vec::new(),
        }
    }

    /// Returns the key that a template prints of the fields; the first one, where it prints one for each element.
    pub fn key(&self, template: &Template) -> Option<String> {
        self.keys(template).into_iter().next()
    }

    /// Returns the first field that was refused.
    pub(crate) fn refused(&mut self) -> Option<(usize, ValueError)> {
        self.refused.take()
    }

    /// Lends the values.
    pub(crate) fn lent(&self) -> Values<'_> {
        fn lend<'v>(values: &'v [PropertyValue<'_>]) -> Vec<PropertyValue<'v>> {
            values.iter().map(PropertyValue::lent).collect()
        }
        Values {
            fields: lend(&self.fields),
            elements: self.elements.iter().map(|(field, elements)| (*field, lend(elements))).collect(),
            tokens: self.tokens.clone(),
            refused: self.refused,
        }
    }

    /// Returns the values, which refer to nothing any more.
    pub(crate) fn into_owned(self) -> Values<'static> {
        let own =
            |values: Vec<PropertyValue<'a>>| values.into_iter().map(PropertyValue::into_owned).collect();
        Values {
            fields: own(self.fields),
            elements: self.elements.into_iter().map(|(field, elements)| (field, own(elements))).collect(),
            tokens: self.tokens,
            refused: self.refused,
        }
    }

    /// Puts what is stored of a field in the place of its value.
    pub fn set_stored(&mut self, field: usize, stored: PropertyValue<'a>) {
        if let Some(value) = self.fields.get_mut(field) {
            *value = stored;
        }
    }

    /// Notes the token of a field's value.
    pub(crate) fn push_token(&mut self, token: FieldToken) {
        self.tokens.push(token);
    }

    /// Puts a token in the place of the one that is noted of the field's value, if any is.
    pub(crate) fn set_token(&mut self, token: FieldToken) {
        self.tokens.retain(|noted| noted.field != token.field);
        self.tokens.push(token);
    }

    pub(crate) fn token(&self, field: usize) -> Option<&FieldToken> {
        self.tokens.iter().find(|token| token.field == field)
    }

    /// Returns what the property of a field holds.
    #[inline]
    pub fn get(&self, field: usize) -> Option<ValueRef<'_>> {
        self.fields.get(field).and_then(PropertyValue::as_value_ref)
    }
}

impl KeyValues for Values<'_> {
    #[inline]
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let value = if part.format == Format::Blind {
            self.token(part.field).map(|token| ValueRef::String(&token.text))
        } else {
            self.get(part.field)
        };
        Ok(value.map_or(PropertyValue::Absent, PropertyValue::Borrowed))
    }

    fn elements(&self, part: &FieldPart) -> Result<Vec<PropertyValue<'_>>, ValueError> {
        let found = self.elements.iter().find(|(field, _)| *field == part.field);
        let Some((_, elements)) = found else { return Ok(Vec::new()) };
        Ok(elements.iter().filter_map(|value| value.as_value_ref().map(PropertyValue::Borrowed)).collect())
    }
}
