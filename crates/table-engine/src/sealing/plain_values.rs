//! Plain values of properties that are to be sealed.

use crate::error::{Error, ErrorKind};

/// What rows hold plain of properties that a declaration has sealed alone.
#[derive(Debug)]
pub struct PlainValues {
    /// How many values there are.
    pub values: u64,
    /// The keys of the first row that has one.
    pub first: (String, String),
}

impl PlainValues {
    /// Returns the error of a declaration by which these properties are sealed.
    #[cold]
    pub fn refusal(&self, properties: &[String]) -> Error {
        let because = format!(
            "{} values of `{}` are still plain, the first of them in this row; declare them with `#[encrypt(dual)]` until \
             `Table::reencrypt` has sealed them",
            self.values,
            properties.join("`, `")
        );
        let (partition, row) = &self.first;
        Error::new(ErrorKind::LayoutChanged).because(because).partition(partition).row(row)
    }
}
