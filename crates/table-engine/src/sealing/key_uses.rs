//! What is left under data keys: a key is destroyed when nothing is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::crypt::{KeyHandle, KeyInfo, KeyScope, Scope, SealedValues, Token};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ValueRef;
use crate::schema::{Layout, LayoutProperty, TOKEN_BYTES};

/// Counts the values that data keys sealed and the tokens that they made, as it is shown the rows of tables.
pub struct KeyUses<'k> {
    wants: &'k dyn Fn(KeyHandle) -> bool,
    /// The keys of each scope, with the byte by which their tokens begin: no two living keys of a scope share one.
    makers: BTreeMap<Scope, Vec<(u8, KeyHandle)>>,
    /// The table whose rows are shown, by its number and its name.
    table: u32,
    name: String,
    /// Its properties that hold tokens, by the kinds of rows, and whose key makes what they hold.
    tokens: BTreeMap<String, Vec<(String, KeyScope)>>,
    found: BTreeMap<(u32, KeyHandle), SealedValues>,
}

/// A row that is shown.
#[derive(Debug)]
pub struct ShownRow<'r> {
    /// Its partition key.
    pub partition: Cow<'r, str>,
    /// Its row key.
    pub row: Cow<'r, str>,
    /// The text of `EntityType`.
    pub kind: Option<&'r str>,
}

impl<'k> KeyUses<'k> {
    /// Counts the values of the keys that `wants` names, and the tokens of those of them that are among these.
    pub fn new(wants: &'k dyn Fn(KeyHandle) -> bool, keys: impl IntoIterator<Item = KeyInfo>) -> Self {
        let mut makers = BTreeMap::<_, Vec<_>>::new();
        for key in keys.into_iter().filter(|key| wants(key.handle)) {
            makers.entry(key.scope).or_default().push((Token::version_byte(key.version), key.handle));
        }
        let (tokens, found) = (BTreeMap::new(), BTreeMap::new());
        Self { wants, makers, table: 0, name: String::new(), tokens, found }
    }

    /// Goes to a table, whose kinds have these layouts.
    pub fn begin_table(&mut self, number: u32, name: &str, layouts: impl IntoIterator<Item = Layout>) {
        self.table = number;
        name.clone_into(&mut self.name);
        self.tokens.clear();
        for layout in layouts {
            let token = |property: &LayoutProperty| {
                Some((property.token()?, property.tokens()?.key_scope(property.scope())))
            };
            let tokens: Vec<_> = layout.properties.iter().filter_map(token).collect();
            if !tokens.is_empty() {
                self.tokens.extend(layout.indexes().map(|index| (layout.index_kind(index), tokens.clone())));
                self.tokens.insert(layout.entity_type(), tokens);
            }
        }
    }

    /// Counts what a row of the table holds.
    pub fn add_row<'p>(
        &mut self,
        row: &ShownRow<'_>,
        properties: impl IntoIterator<Item = Result<(&'p str, ValueRef<'p>)>>,
    ) -> Result<()> {
        for property in properties {
            let (name, ValueRef::Binary(bytes)) = property? else { continue };
            if let Some(handle) = KeyHandle::of(bytes) {
                if (self.wants)(handle) {
                    self.of(handle, row).values += 1;
                }
            } else if let Some(handle) = self.maker(row, name, bytes) {
                self.of(handle, row).tokens += 1;
            }
        }
        Ok(())
    }

    /// Returns the key that made a token; `None` of what is none, or of a key that is not wanted.
    fn maker(&self, row: &ShownRow<'_>, name: &str, token: &[u8]) -> Option<KeyHandle> {
        let version = token.first().filter(|_| token.len() == TOKEN_BYTES)?;
        let (_, scope) = self.tokens.get(row.kind?)?.iter().find(|(property, _)| property == name)?;
        let scope = Scope::from_bytes(&scope.bytes(self.table, &row.partition))?;
        let of_scope = self.makers.get(&scope)?;
        of_scope.iter().find(|(of_key, _)| of_key == version).map(|(_, handle)| *handle)
    }

    fn of(&mut self, handle: KeyHandle, row: &ShownRow<'_>) -> &mut SealedValues {
        self.found.entry((self.table, handle)).or_insert_with(|| SealedValues {
            key: handle,
            table: self.name.clone(),
            values: 0,
            tokens: 0,
            first: (row.partition.clone().into_owned(), row.row.clone().into_owned()),
        })
    }

    /// Returns what was found, by tables and keys.
    pub fn into_found(self) -> Vec<SealedValues> {
        self.found.into_values().collect()
    }
}

impl fmt::Debug for KeyUses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyUses").field("found", &self.found).finish_non_exhaustive()
    }
}

/// Returns the keys that nothing was found of.
pub fn unused_keys(keys: impl IntoIterator<Item = KeyHandle>, found: &[SealedValues]) -> BTreeSet<KeyHandle> {
    let is_unused = |handle: &KeyHandle| found.iter().all(|found| found.key != *handle);
    keys.into_iter().filter(is_unused).collect()
}

/// Refuses to destroy a key of which something was found.
pub fn check_unused(handle: KeyHandle, found: &[SealedValues]) -> Result<()> {
    let found: Vec<_> = found.iter().filter(|found| found.key == handle).collect();
    match found.first() {
        None => Ok(()),
        Some(first) => Err(in_use(handle, first, &found)),
    }
}

#[cold]
fn in_use(handle: KeyHandle, first: &SealedValues, found: &[&SealedValues]) -> Error {
    let (values, tokens) = found.iter().fold((0, 0), |(v, t), found| (v + found.values, t + found.tokens));
    let tokens = if tokens == 0 { String::new() } else { format!(", and {tokens} tokens are made with it") };
    let tables: Vec<_> = found
        .iter()
        .map(|found| format!("{} in table `{}`", found.values + found.tokens, found.table))
        .collect();
    let (partition, row) = &first.first;
    Error::new(ErrorKind::KeyInUse)
        .because(format!(
            "{values} values are still sealed with the data key {handle}{tokens}: {}; the first is in this row. Seal them \
             anew by `Table::reencrypt`, or give them up with their scope by `shred`",
            tables.join(", ")
        ))
        .table(&first.table)
        .partition(partition)
        .row(row)
}
