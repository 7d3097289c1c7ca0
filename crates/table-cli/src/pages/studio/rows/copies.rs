//! The copies of an entity, and whether each says what its entity says.
//!
//! What the layout tells is compared. Which entities have a row in an index with a function, where a sealed value's token
//! stands in the key, and what a value that is not there is read as, only the struct and the keys know: of such a copy nothing
//! is claimed.

use table_core::introspect::{IndexInfo, KindInfo};
use table_core::model::names::ENTITY_TYPE;
use table_core::{DynamicEntity, DynamicTable, Error, ErrorKind, Result, Tables, Value};

use super::moment::Moment;

/// Whether a copy says what its entity says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// It does.
    Agrees,
    /// These properties say something else.
    Differs(Vec<String>),
    /// It is not there.
    Missing,
    /// It follows its entity, and has not yet.
    Follows,
    /// It can't be told, for this reason.
    Untold(String),
}

impl Agreement {
    /// Returns whether something is wrong.
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self, Self::Differs(_) | Self::Missing)
    }
}

/// A copy that an entity is to have.
#[derive(Clone, Debug)]
pub(crate) struct CopyState {
    /// Its index.
    pub(crate) index: String,
    /// Its table.
    pub(crate) table: String,
    /// Its partition key and row key, where they are known.
    pub(crate) keys: Option<(String, String)>,
    /// Whether it agrees.
    pub(crate) agreement: Agreement,
}

/// Finds the copies of entities, all at one moment.
pub(crate) struct Copies<'s> {
    pub(crate) tables: &'s Tables,
    pub(crate) moment: &'s Moment,
}

/// The values of an entity, by the names of its properties: those that its keys say among them.
type Values = Vec<(String, Value)>;

/// The keys that values print.
enum Printed {
    Keys(String, String),
    /// A property is absent that stands in them.
    Absent(String),
    Untold(String),
}

impl Copies<'_> {
    /// Returns the copies that an entity is to have, those of lists and sums aside, which are of many.
    pub(crate) fn of_entity(&self, kind: &KindInfo, row: &DynamicEntity) -> Result<Vec<CopyState>> {
        let values = values(kind, None, row);
        let mut states = Vec::new();
        for index in kind.indexes().iter().filter(|index| !index.shared) {
            states.push(self.of_index(kind, index, &values)?);
        }
        Ok(states)
    }

    fn of_index(&self, kind: &KindInfo, index: &IndexInfo, values: &Values) -> Result<CopyState> {
        let state = |keys, agreement| CopyState {
            index: index.name.clone(),
            table: index.table.clone(),
            keys,
            agreement,
        };
        if let Some(condition) = &index.condition
            && !matches!(condition, table_core::introspect::IndexCondition::Ready)
        {
            return Ok(state(None, Agreement::Untold(format!("the index is {condition}"))));
        }
        let (partition, row) = match printed(kind, Some(&index.name), values) {
            Printed::Keys(partition, row) => (partition, row),
            Printed::Absent(name) => {
                return Ok(state(None, Agreement::Untold(format!("none without {name}"))));
            }
            Printed::Untold(why) => return Ok(state(None, Agreement::Untold(why))),
        };
        let found = match self.row(&index.table, &partition, &row) {
            Ok(found) => found,
            Err(error) if is_unreadable(&error) => {
                return Ok(state(Some((partition, row)), Agreement::Untold(error.reason().to_owned())));
            }
            Err(error) => return Err(error),
        };
        let agreement = match found {
            None if index.eventual => Agreement::Follows,
            None if index.sparse => Agreement::Untold("a function says which entities have one".into()),
            None => Agreement::Missing,
            Some(copy) if entity_type(&copy) != Some(&index.entity_type) => Agreement::Missing,
            Some(copy) => match differences(kind, index, values, &copy) {
                names if names.is_empty() => Agreement::Agrees,
                _ if index.eventual => Agreement::Follows,
                names => Agreement::Differs(names),
            },
        };
        Ok(state(Some((partition, row)), agreement))
    }

    /// Returns the keys of the entity that a row of an index is a copy of, where it says them, and how they agree.
    pub(crate) fn owner(
        &self,
        kind: &KindInfo,
        index: &IndexInfo,
        copy: &DynamicEntity,
    ) -> Result<(Option<(String, String)>, Agreement)> {
        let said = values(kind, Some(&index.name), copy);
        let (partition, row) = match printed(kind, None, &said) {
            Printed::Keys(partition, row) => (partition, row),
            Printed::Absent(name) => return Ok((None, Agreement::Untold(format!("it does not say {name}")))),
            Printed::Untold(why) => return Ok((None, Agreement::Untold(why))),
        };
        let own = match self.row(kind.entities_table(), &partition, &row) {
            Ok(own) => own.filter(|own| entity_type(own) == Some(&kind.entity_type())),
            Err(error) if is_unreadable(&error) => {
                return Ok((Some((partition, row)), Agreement::Untold(error.reason().to_owned())));
            }
            Err(error) => return Err(error),
        };
        let agreement = match own {
            None if index.eventual => Agreement::Follows,
            None => Agreement::Missing,
            Some(own) => {
                let values = values(kind, None, &own);
                let mut names = differences(kind, index, &values, copy);
                if let Printed::Keys(partition, row) = printed(kind, Some(&index.name), &values)
                    && (partition != copy.partition_key() || row != copy.row_key())
                {
                    names.insert(0, "the key".to_owned());
                }
                match names {
                    names if names.is_empty() => Agreement::Agrees,
                    _ if index.eventual => Agreement::Follows,
                    names => Agreement::Differs(names),
                }
            }
        };
        Ok((Some((partition, row)), agreement))
    }

    fn row(&self, table: &str, partition: &str, row: &str) -> Result<Option<DynamicEntity>> {
        let table: DynamicTable = self.tables.dynamic_table(table)?;
        self.moment.get(&table, partition, row)
    }
}

/// Returns whether a row can't be read for want of keys.
pub(crate) fn is_closed(error: &Error) -> bool {
    error.kind() == ErrorKind::KeyUnavailable
}

/// Returns whether it is one row that can't be read: for want of keys, or since it is damaged.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    let kind = error.kind();
    is_closed(error) || kind.is_damage() || kind.is_destroyed() || kind == ErrorKind::DecryptionFailed
}

pub(crate) fn entity_type(row: &DynamicEntity) -> Option<&str> {
    row.get(ENTITY_TYPE).and_then(Value::as_str)
}

fn values(kind: &KindInfo, index: Option<&str>, row: &DynamicEntity) -> Values {
    let keys = kind.keys(index).ok();
    let mut values = keys.and_then(|keys| keys.read(row.partition_key(), row.row_key())).unwrap_or_default();
    for (name, value) in row.properties() {
        if values.iter().all(|(known, _)| known != name) {
            values.push((name.to_owned(), value.clone()));
        }
    }
    values
}

fn find<'v>(values: &'v Values, name: &str) -> Option<&'v Value> {
    values.iter().find(|(of, _)| of == name).map(|(_, value)| value)
}

fn printed(kind: &KindInfo, index: Option<&str>, values: &Values) -> Printed {
    let keys = match kind.keys(index) {
        Ok(keys) => keys,
        Err(error) => return Printed::Untold(error.reason().to_owned()),
    };
    let fields = keys.fields();
    if let Some(field) = fields.iter().find(|field| field.each) {
        return Printed::Untold(format!("one for each element of {}", field.name));
    }
    let properties = kind.properties();
    let is_sealed =
        |name: &str| properties.iter().any(|property| property.name == name && property.encrypted);
    if let Some(field) = fields.iter().find(|field| is_sealed(&field.name)) {
        return Printed::Untold(format!("its key has a token of {}, which is sealed", field.name));
    }
    let mut given = Vec::with_capacity(fields.len());
    for field in &fields {
        match find(values, &field.name) {
            Some(value) => given.push((field.name.as_str(), value.clone())),
            None => return Printed::Absent(field.name.clone()),
        }
    }
    match keys.print(&given) {
        Ok((partition, row)) => Printed::Keys(partition, row),
        Err(error) => Printed::Untold(error.reason().to_owned()),
    }
}

/// Returns the properties of which a copy says something else than its entity does.
fn differences(kind: &KindInfo, index: &IndexInfo, values: &Values, copy: &DynamicEntity) -> Vec<String> {
    let properties = kind.properties();
    let is_closed = |name: &str| {
        properties.iter().any(|property| {
            (property.name == name && property.encrypted) || property.token.as_deref() == Some(name)
        })
    };
    let mut names: Vec<_> = copy
        .properties()
        .filter(|(name, _)| *name != ENTITY_TYPE && !is_closed(name))
        .filter(|(name, value)| find(values, name).is_some_and(|own| !says_same(own, value)))
        .map(|(name, _)| name.to_owned())
        .collect();
    let design = kind.design();
    let held = design.rows.iter().find(|row| row.name == index.name).map_or(&[][..], |row| &row.holds);
    let keys = kind.keys(Some(&index.name)).ok();
    let said = keys.and_then(|keys| keys.read(copy.partition_key(), copy.row_key())).unwrap_or_default();
    let is_lacking = |name: &str| {
        copy.get(name).is_none()
            && find(&said, name).is_none()
            && find(values, name).is_some()
            && !is_closed(name)
    };
    names.extend(held.iter().map(|held| &held.name).filter(|name| is_lacking(name)).cloned());
    names
}

/// Compares values; whole numbers by what they count, since keys say nothing of their width.
fn says_same(own: &Value, copy: &Value) -> bool {
    let whole = |value: &Value| value.as_i64().or_else(|| value.as_i32().map(i64::from));
    own == copy || whole(own).is_some_and(|own| whole(copy) == Some(own))
}
