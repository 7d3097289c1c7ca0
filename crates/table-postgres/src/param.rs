//! What a statement is given: values with their types, so that it need not be described by the server first.

use std::error::Error;

use bytes::{BufMut, Bytes, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// The value of a parameter.
#[derive(Debug)]
#[cfg_attr(not(feature = "queue"), expect(dead_code, reason = "some are of messages alone"))]
pub(crate) enum Param {
    Text(String),
    MaybeText(Option<String>),
    Number(i64),
    MaybeNumber(Option<i64>),
    Flag(bool),
    Bytes(Vec<u8>),
    Json(Json),
    Texts(Vec<String>),
    MaybeTexts(Vec<Option<String>>),
    Numbers(Vec<i64>),
    MaybeNumbers(Vec<Option<i64>>),
    MaybeBytes(Vec<Option<Vec<u8>>>),
    Jsons(Vec<Json>),
}

/// The values of a statement's parameters.
#[derive(Debug, Default)]
pub(crate) struct Params(Vec<Param>);

impl Params {
    /// Adds a value, and returns how the statement names it.
    pub(crate) fn add(&mut self, param: Param) -> String {
        let mut name = String::with_capacity(4);
        self.add_to(param, &mut name);
        name
    }

    /// Adds a value, and appends how the statement names it to a text.
    pub(crate) fn add_to(&mut self, param: Param, sql: &mut String) {
        self.0.push(param);
        sql.push('$');
        put_number(self.0.len(), sql);
    }

    pub(crate) fn all(&self) -> &[Param] {
        &self.0
    }
}

/// Appends a number, of which a statement has many: quicker than a text that is formatted.
fn put_number(number: usize, sql: &mut String) {
    if number >= 10 {
        put_number(number / 10, sql);
    }
    sql.extend(u32::try_from(number % 10).ok().and_then(|digit| char::from_digit(digit, 10)));
}

impl Param {
    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Text(_) | Self::MaybeText(_) => Type::TEXT,
            Self::Number(_) | Self::MaybeNumber(_) => Type::INT8,
            Self::Flag(_) => Type::BOOL,
            Self::Bytes(_) => Type::BYTEA,
            Self::Json(_) => Type::JSON,
            Self::Texts(_) | Self::MaybeTexts(_) => Type::TEXT_ARRAY,
            Self::Numbers(_) | Self::MaybeNumbers(_) => Type::INT8_ARRAY,
            Self::MaybeBytes(_) => Type::BYTEA_ARRAY,
            Self::Jsons(_) => Type::JSON_ARRAY,
        }
    }

    /// Returns the elements of an array, each as a value; any other value alone.
    pub(crate) fn each(self) -> Vec<Self> {
        match self {
            Self::Texts(all) => all.into_iter().map(Self::Text).collect(),
            Self::MaybeTexts(all) => all.into_iter().map(Self::MaybeText).collect(),
            Self::Numbers(all) => all.into_iter().map(Self::Number).collect(),
            Self::MaybeNumbers(all) => all.into_iter().map(Self::MaybeNumber).collect(),
            Self::Jsons(all) => all.into_iter().map(Self::Json).collect(),
            other => vec![other],
        }
    }

    pub(crate) fn value(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Text(value) => value,
            Self::MaybeText(value) => value,
            Self::Number(value) => value,
            Self::MaybeNumber(value) => value,
            Self::Flag(value) => value,
            Self::Bytes(value) => value,
            Self::Json(value) => value,
            Self::Texts(value) => value,
            Self::MaybeTexts(value) => value,
            Self::Numbers(value) => value,
            Self::MaybeNumbers(value) => value,
            Self::MaybeBytes(value) => value,
            Self::Jsons(value) => value,
        }
    }
}

impl From<&str> for Param {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The text of a JSON value.
#[derive(Clone, Debug)]
pub(crate) struct Json(pub(crate) Bytes);

impl ToSql for Json {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::JSON
    }

    to_sql_checked!();
}

/// The text of a JSON value that is lent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonText<'a>(pub(crate) &'a [u8]);

impl<'a> FromSql<'a> for JsonText<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::JSON
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_named_by_their_numbers() {
        let mut params = Params::default();
        let names: Vec<_> = (0..1_001).map(|_| params.add(Param::Flag(true))).collect();
        for (at, name) in (1..).zip(&names) {
            assert_eq!(*name, format!("${at}"));
        }
        let mut sql = "a = ".to_owned();
        params.add_to(Param::Flag(false), &mut sql);
        assert_eq!((&*sql, params.all().len()), ("a = $1002", 1_002));
    }
}
