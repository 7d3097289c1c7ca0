//! Lookups by the tokens of sealed values.
//!
//! Only a program with the store's keys can print a key that holds a token. After a rotation it stands for several keys, one
//! for each key of the store that is alive. So the value that was given is kept, unseen, until a table is asked.

use super::key::{Arguments, KeyResult, print_values};

use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{EntityKeys, ValueRef};
use crate::plaintext::Plaintext;
use crate::plan;
use crate::query::{KeyProperties, StoredRow, are_equal};
use crate::row::view::RowView;
use crate::schema::{
    self, BLIND_DIGITS, Blind, Field, FieldPart, Format, KeyPair, KeyValues, PropertyValue, TokenScope,
    ValueError, token_text,
};
use crate::sealing::open as open_sealed;
use crate::typed::entity::path::{PathKeys, check_kind};

/// So often in a row keys are not rotated.
const PATIENCE: usize = 32;

/// A key with tokens in it, of which only the values are known.
#[derive(Clone)]
pub(crate) struct BlindKey {
    path: &'static PathKeys,
    /// The arguments of its constructor.
    given: Vec<Result<Option<Plaintext>, ValueError>>,
}

impl BlindKey {
    pub(crate) fn new(path: &'static PathKeys, given: &[KeyResult<'_>]) -> Self {
        let kept = |given: &KeyResult<'_>| match given {
            Ok(value) => Ok(value.as_value_ref().map(|value| Plaintext::new(value.to_value()))),
            Err(error) => Err(*error),
        };
        Self { path, given: given.iter().map(kept).collect() }
    }

    /// Gives `read` the row that the values lead to, maybe several times; whether there is one.
    pub(crate) fn find(&self, table: &DynamicTable, read: &mut ReadRow<'_>) -> Result<bool> {
        let mut is_found = false;
        let mut find = || {
            is_found = self.find_in(&table.snapshot()?, table, read)?;
            Ok(())
        };
        match steadily(table, &mut find) {
            Ok(()) => Ok(is_found),
            Err(error) => Err(error.attempted("read from").table(table.name())),
        }
    }

    /// Gives `read` the row in this snapshot, which was taken before the keys are looked at.
    pub(crate) fn find_in(
        &self,
        snapshot: &Snapshot,
        table: &DynamicTable,
        read: &mut ReadRow<'_>,
    ) -> Result<bool> {
        let located = |error: Error| error.attempted("read from").table(table.name());
        for keys in self.candidates(table).map_err(located)? {
            let EntityKeys { partition, row } = keys.as_keys();
            let Some(view) = snapshot.view(table, partition, row)? else { continue };
            let mut found = || {
                check_kind(&view, self.path.tag())?;
                let holds = self.holds(&view)?;
                if holds { read(&view).map(|()| true) } else { Ok(false) }
            };
            if found().map_err(|error| located(error).partition(partition).row(row))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the keys under which the row may lie, in the order in which they are to be looked at.
    fn candidates(&self, table: &DynamicTable) -> Result<Vec<KeyPair>> {
        let (schema, place) = (self.path.schema(), self.path.place());
        let given: Vec<_> = self.given.iter().map(as_given).collect();
        let arguments = Arguments::new(place, &given);
        let nothing = "0".repeat(BLIND_DIGITS);
        // Refuses what no key can hold before any key of the store is asked for.
        let printed = self.without_tokens()?;
        let mut choices = vec![Vec::new()];
        for part in self.blind_parts() {
            let Some((field, blind)) = self.path.blind(part.field) else { continue };
            let Some(value) = arguments.given(part.field) else { return Ok(Vec::new()) };
            let mut tokens = table.live_tokens(printed.as_keys().partition, field, blind, value)?;
            look_in_order(table, &mut tokens);
            let texts: Vec<String> = tokens.iter().map(token_text).collect();
            choices = combined(&choices, |choice| {
                texts
                    .iter()
                    .map(|text| choice.iter().cloned().chain([(part.field, text.clone())]).collect())
                    .collect()
            })?;
        }
        let print = |tokens: Vec<(usize, String)>| {
            print_values(
                schema,
                place,
                &WithTokens { arguments: &arguments, tokens: &tokens, nothing: &nothing },
            )
        };
        choices.into_iter().map(print).collect()
    }

    /// Returns the keys with zeros in the place of each token.
    pub(crate) fn without_tokens(&self) -> Result<KeyPair> {
        let (schema, place) = (self.path.schema(), self.path.place());
        let given: Vec<_> = self.given.iter().map(as_given).collect();
        let arguments = Arguments::new(place, &given);
        let nothing = "0".repeat(BLIND_DIGITS);
        print_values(schema, place, &WithTokens { arguments: &arguments, tokens: &[], nothing: &nothing })
    }

    /// Returns whether the values to be looked up by tokens are those of another key of the same index.
    pub(crate) fn asks_the_same(&self, other: &Self) -> bool {
        let given: [Vec<_>; 2] = [self, other].map(|key| key.given.iter().map(as_given).collect());
        let [own, others] = given.each_ref().map(|given| Arguments::new(self.path.place(), given));
        self.blind_parts().all(|part| match (own.given(part.field), others.given(part.field)) {
            (Some(a), Some(b)) => are_equal(a, b),
            (a, b) => a.is_none() && b.is_none(),
        })
    }

    /// Returns whether the row has the values that were given, once it is open: an attacker that writes the file can put a
    /// row under any token.
    fn holds(&self, view: &RowView<'_>) -> Result<bool> {
        let given: Vec<_> = self.given.iter().map(as_given).collect();
        let arguments = Arguments::new(self.path.place(), &given);
        for part in self.blind_parts() {
            let (Some((field, _)), Some(value)) = (self.path.blind(part.field), arguments.given(part.field))
            else {
                continue;
            };
            let Some(sealed) = view.stored(field.property)?.and_then(ValueRef::as_bytes) else {
                return Ok(false);
            };
            let opened = open_sealed(view, &self.path.own_row_key(view)?, field.property, sealed)?;
            if !are_equal(opened.expose().as_value_ref(), value) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the parts that print tokens, each field once.
    fn blind_parts(&self) -> impl Iterator<Item = &'static FieldPart> {
        let mut seen = Vec::new();
        schema::fields(self.path.row()).filter(move |part| {
            let is_new = part.format == Format::Blind && !seen.contains(&part.field);
            seen.push(part.field);
            is_new
        })
    }

    /// Returns the error of a request to see the key.
    #[cold]
    pub(crate) fn unseen(&self) -> Error {
        let because = format!(
            "the key `{}` holds a token, which only a table can make: give the key to the table's `get`",
            self.path.row().source
        );
        Error::new(ErrorKind::InvalidKey)
            .because(because)
            .attempted("make a key for")
            .table(self.path.place().table.source())
    }
}

/// Says of which template it is, and nothing of the values.
impl std::fmt::Debug for BlindKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.path.row().source)
    }
}

fn as_given(given: &Result<Option<Plaintext>, ValueError>) -> KeyResult<'_> {
    match given {
        Ok(Some(value)) => Ok(PropertyValue::Borrowed(value.expose().as_value_ref())),
        Ok(None) => Ok(PropertyValue::Absent),
        Err(error) => Err(*error),
    }
}

/// Puts tokens, newest first, into the order in which rows are looked for under them. Without snapshots that is from the oldest to
/// the newest, as rows move when they are sealed anew: one that is not there any more is found under the next.
pub(crate) fn look_in_order<T>(table: &DynamicTable, tokens: &mut [T]) {
    if !table.exec().store().abilities().snapshot {
        tokens.reverse();
    }
}

/// Returns every choice, with each that follows it.
pub(crate) fn combined<C>(choices: &[C], next: impl Fn(&C) -> Vec<C>) -> Result<Vec<C>> {
    let combined: Vec<_> = choices.iter().flat_map(next).collect();
    plan::check_tokens(combined.len())?;
    Ok(combined)
}

/// The arguments of a key with tokens in the place of values.
struct WithTokens<'a> {
    arguments: &'a Arguments<'a>,
    tokens: &'a [(usize, String)],
    /// What stands for a token that is not known.
    nothing: &'a str,
}

impl KeyValues for WithTokens<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let value = self.arguments.value(part)?;
        if part.format != Format::Blind || value == PropertyValue::Absent {
            return Ok(value);
        }
        let known = self.tokens.iter().find(|(field, _)| *field == part.field);
        let text = known.map_or(self.nothing, |(_, text)| text);
        Ok(PropertyValue::Borrowed(ValueRef::String(text)))
    }
}

/// Reads a row that was found. The closure keeps what it makes of the row, so that the lookup is not compiled again for each
/// type.
pub(crate) type ReadRow<'r> = dyn FnMut(&RowView<'_>) -> Result<()> + 'r;

/// Returns what `read` gives; once more if a key was destroyed with nothing left under it: then a row was read before it was
/// sealed anew, and opened after.
pub(crate) fn or_again<T>(read: impl Fn() -> Result<T>) -> Result<T> {
    match read() {
        Err(error) if error.kind() == ErrorKind::KeySuperseded => read(),
        done => done,
    }
}

/// Returns what is read by tokens, as if at one moment: a row that a job files anew under a younger key, while its tokens are
/// looked at one by one, must not slip through, and neither must one whose key is destroyed after that. `read` takes its
/// snapshot before it asks for tokens; what it read last counts.
pub(crate) fn steadily(table: &DynamicTable, read: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    for _ in 0..PATIENCE {
        let before = table.keys_generation()?;
        let found = read();
        if table.keys_generation()? == before {
            return found;
        }
    }
    read()
}

/// Returns the tokens of a field's value, where it is known in which partition: `None` if they depend on it and it is not.
pub(crate) fn tokens_in(
    table: &DynamicTable,
    partition: Option<&str>,
    field: &Field,
    blind: Blind,
    value: ValueRef<'_>,
) -> Result<Option<Vec<[u8; schema::TOKEN_BYTES]>>> {
    match (partition, blind.tokens) {
        (None, TokenScope::Partition) => Ok(None),
        // A table's tokens are the same in each.
        (partition, _) => table.live_tokens(partition.unwrap_or_default(), field, blind, value).map(Some),
    }
}
