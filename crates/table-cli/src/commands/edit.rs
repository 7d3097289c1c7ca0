//! `tables put`, `merge` and `delete`: one entity, with its copies.

use clap::Args;
use table_core::introspect::KindInfo;
use table_core::{DynamicEntity, EdmType, ErrorKind, IfMatch, Tables};

use crate::failure::{Exit, Failure};
use crate::kinds::ENTITY_TYPE;
use crate::session::Session;
use crate::target::Target;
use crate::values::Given;

/// What is done with an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Put,
    Merge,
    Delete,
}

/// The arguments of `put`, `merge` and `delete`.
#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// TABLE/KIND, or a TABLE for a row that no kind declares
    target: Target,
    /// Of a kind: PROPERTY=VALUE for each. Of a table: PARTITION ROW, and then PROPERTY:TYPE=VALUE; the types are string (if
    /// none is said), i32, i64, f64, bool, time, guid and binary
    #[arg(required = true, value_name = "VALUES")]
    given: Vec<String>,
    /// Write this one row as it is, even if it is of a declared kind: its copies are not kept
    #[arg(long)]
    raw: bool,
}

impl Edit {
    pub(crate) fn run(&self, session: &mut Session<'_>, change: Change) -> Result<Exit, Failure> {
        session.demand_write(change.name())?;
        let tables = session.tables()?;
        if !self.target.has_kind() {
            let entity = self.row(change)?;
            return self.write(session, &tables, None, &entity, change);
        }
        let kinds = session.kinds()?;
        let kind = kinds.owner(self.target.find_kind(&kinds)?);
        let entity = self.entity(kind, change)?;
        self.write(session, &tables, Some(kind), &entity, change)
    }

    /// Returns a row by its keys, with the properties that are given.
    fn row(&self, change: Change) -> Result<DynamicEntity, Failure> {
        let [partition, row, given @ ..] = &self.given[..] else {
            return Err(Failure::Usage(format!(
                "a row of a table is named by two keys: tables {} {} PARTITION ROW ..",
                change.name(),
                self.target.table
            )));
        };
        let mut entity = DynamicEntity::new(partition, row);
        for text in given {
            let given = Given::parse(text).map_err(Failure::Usage)?;
            let value = given.value(EdmType::String)?;
            if entity.set(&given.name, value).is_some() {
                return Err(twice(&given.name));
            }
        }
        if change == Change::Delete && !given.is_empty() {
            return Err(Failure::Usage("a row is deleted by its two keys alone".into()));
        }
        Ok(entity)
    }

    /// Returns an entity of a kind: its keys are made of the properties that stand in them.
    fn entity(&self, kind: &KindInfo, change: Change) -> Result<DynamicEntity, Failure> {
        let keys = kind.keys(None)?;
        let (fields, properties) = (keys.fields(), kind.properties());
        let mut named: Vec<(String, Given)> = Vec::new();
        for text in &self.given {
            let given = Given::parse(text).map_err(Failure::Usage)?;
            let name = named_property(kind, &given.name)?;
            if named.iter().any(|(known, _)| *known == name) {
                return Err(twice(&name));
            }
            named.push((name, given));
        }
        let field = |name: &str| fields.iter().find(|field| field.name == name);
        let in_key: Vec<_> = named.iter().filter(|(name, _)| field(name).is_some()).collect();
        let texts: Vec<_> = in_key.iter().map(|(name, given)| (name.as_str(), given.text.as_str())).collect();
        let (partition, row) = keys.print_text(&texts)?;
        let mut entity = DynamicEntity::new(partition, row);
        if change == Change::Delete {
            if in_key.len() < named.len() {
                return Err(Failure::Usage("an entity is deleted by the properties in its key alone".into()));
            }
            return Ok(entity);
        }
        if change == Change::Put {
            entity.set(ENTITY_TYPE, kind.entity_type());
        }
        for (name, given) in &named {
            // What the key says whole, the row does not say again.
            if field(name).is_some_and(|field| field.is_whole) {
                continue;
            }
            let edm = properties
                .iter()
                .find(|known| known.name == *name)
                .map_or(EdmType::String, |known| known.edm);
            entity.set(name, given.value(edm)?);
        }
        let is_open = |name: &str| properties.iter().any(|known| known.name == name && known.encrypted);
        if let Some((name, _)) = named.iter().find(|(name, _)| self.raw && is_open(name)) {
            return Err(Failure::Usage(format!(
                "`{}` seals `{name}`, and a row that is written as it is would have it open: leave --raw out",
                kind.kind()
            )));
        }
        let is_given = |name: &str| named.iter().any(|(known, _)| known == name);
        let missing: Vec<_> = properties
            .iter()
            .filter(|known| change == Change::Put && !known.optional && !is_given(&known.name))
            .map(|known| format!("{}=..", known.name))
            .collect();
        if !missing.is_empty() {
            return Err(Failure::Usage(format!(
                "`put` takes a whole entity, and of `{}` it lacks {}; `merge` sets some properties of one that is there",
                kind.kind(),
                missing.join(" ")
            )));
        }
        Ok(entity)
    }

    fn write(
        &self,
        session: &mut Session<'_>,
        tables: &Tables,
        kind: Option<&KindInfo>,
        entity: &DynamicEntity,
        change: Change,
    ) -> Result<Exit, Failure> {
        let declared =
            kind.filter(|_| !self.raw).and_then(|kind| session.declared(kind.entities_table(), kind.kind()));
        let (partition, row) = (entity.partition_key(), entity.row_key());
        if let Some(declared) = declared {
            match change {
                Change::Put => declared.put(tables, entity)?,
                Change::Merge => declared.merge(tables, entity)?,
                Change::Delete => declared.delete(tables, partition, row)?,
            }
        } else {
            let name = kind.map_or(self.target.table.as_str(), KindInfo::entities_table);
            let mut table = session.table(name)?;
            if self.raw {
                table = table.raw();
                session.note("written as it is: copies of the row, if it has any, are as they were");
            }
            let done = match change {
                Change::Put => table.put(entity).map(drop),
                Change::Merge => table.merge(entity, IfMatch::Any).map(drop),
                Change::Delete => table.delete(partition, row),
            };
            if let (Err(error), None) = (&done, kind)
                && error.kind() == ErrorKind::SchemaMismatch
            {
                session.note(format!(
                    "a value whose type is not said is a text: write Age:i32=41, or name the kind: {}/KIND",
                    self.target.table
                ));
            }
            done?;
        }
        session.note(format!("{} `{}`, `{}`", change.done(), partition.escape_debug(), row.escape_debug()));
        Ok(Exit::Done)
    }
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Merge => "merge",
            Self::Delete => "delete",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Merge => "merged into",
            Self::Delete => "deleted",
        }
    }
}

/// Returns the property of a kind that is called so, or alike but for the case of letters and underscores.
fn named_property(kind: &KindInfo, name: &str) -> Result<String, Failure> {
    let folded =
        |name: &str| name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect::<String>();
    let mut known: Vec<String> = kind.properties().into_iter().map(|property| property.name).collect();
    for field in kind.keys(None)?.fields() {
        if !known.contains(&field.name) {
            known.push(field.name);
        }
    }
    if known.iter().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    let alike: Vec<_> = known.iter().filter(|known| folded(known) == folded(name)).collect();
    match &alike[..] {
        [one] => Ok((*one).clone()),
        _ => Err(Failure::Usage(format!(
            "`{}` has no property `{name}`; it has {}",
            kind.kind(),
            known.join(", ")
        ))),
    }
}

fn twice(name: &str) -> Failure {
    Failure::Usage(format!("`{name}` is given twice"))
}

#[cfg(test)]
mod tests {
    use table_core::Value;

    use super::*;

    #[test]
    fn a_row_is_named_by_two_keys() {
        let edit = |given: &[&str]| Edit {
            target: "Notes".parse().unwrap(),
            given: given.iter().map(|&text| text.to_owned()).collect(),
            raw: false,
        };
        let row = edit(&["p", "r", "Age:i32=41", "Text=a=b"]).row(Change::Put).unwrap();
        assert_eq!(
            (row.get("Age"), row.get("Text")),
            (Some(&Value::Int32(41)), Some(&Value::String("a=b".into())))
        );
        assert!(matches!(edit(&["p"]).row(Change::Put), Err(Failure::Usage(_))));
        assert!(matches!(edit(&["p", "r", "A=1", "A=2"]).row(Change::Put), Err(Failure::Usage(_))));
        assert!(matches!(edit(&["p", "r", "A=1"]).row(Change::Delete), Err(Failure::Usage(_))));
    }
}
