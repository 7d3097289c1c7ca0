//! The names in the first line of CSV.

use super::csv::{self, Fields};

/// What the columns of CSV are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) delimiter: u8,
    pub(super) columns: Vec<Column>,
}

/// What a column has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    PartitionKey,
    RowKey,
    /// A property, and the column with its types, if there is one.
    Property {
        name: String,
        types: Option<usize>,
    },
    /// What the store sets itself, or types of another column.
    Skipped,
}

/// The bytes between which columns stand, the usual one first.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// What the name of a column with types has behind the property's.
const TYPE: &str = "@type";

impl Header {
    /// Reads the line with the names.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        for delimiter in DELIMITERS {
            let mut fields = Fields::default();
            if csv::split(line, delimiter, true, &mut fields).is_err() {
                continue;
            }
            let names: Vec<_> =
                fields.texts(line).collect::<Option<_>>().ok_or("the first line is not UTF-8")?;
            let has = |wanted: &str| names.iter().any(|name| name == wanted);
            if has("PartitionKey") && has("RowKey") {
                return Self::of(delimiter, &names);
            }
        }
        Err("its first line is no object of JSON, and does not name the columns `PartitionKey` and `RowKey` of CSV".into())
    }

    fn of(delimiter: u8, names: &[String]) -> Result<Self, String> {
        for (at, name) in names.iter().enumerate() {
            if names.get(..at).is_some_and(|before| before.contains(name)) {
                return Err(format!("two columns are called `{}`", name.escape_debug()));
            }
        }
        let columns = names.iter().map(|name| match &**name {
            "PartitionKey" => Ok(Column::PartitionKey),
            "RowKey" => Ok(Column::RowKey),
            "Timestamp" | "odata.etag" => Ok(Column::Skipped),
            // A property may be called so; then its types stand beside it.
            "etag" if !names.iter().any(|types| types.strip_suffix(TYPE) == Some(name)) => {
                Ok(Column::Skipped)
            }
            "" => Err("a column has no name".to_owned()),
            _ => match name.strip_suffix(TYPE) {
                Some(of) if names.iter().any(|name| name == of) => Ok(Column::Skipped),
                Some(of) => Err(format!("there are types of `{}`, and no such column", of.escape_debug())),
                None if name.contains(['@', '.']) => {
                    Err(format!("`{}` is no property's name", name.escape_debug()))
                }
                None => {
                    let types = names.iter().position(|types| types.strip_suffix(TYPE) == Some(name));
                    Ok(Column::Property { name: name.clone(), types })
                }
            },
        });
        Ok(Self { delimiter, columns: columns.collect::<Result<_, _>>()? })
    }
}
