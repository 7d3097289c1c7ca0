//! The two keys of a row.

/// A partition key and a row key, in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPair {
    text: String,
    /// The bytes of the partition key.
    partition: usize,
}

impl KeyPair {
    /// The keys in a text, of which the partition key has so many bytes.
    pub(crate) fn new(text: String, partition: usize) -> Self {
        Self { text, partition }
    }

    /// A copy of these keys.
    pub(crate) fn of(partition: &str, row: &str) -> Self {
        Self::new([partition, row].concat(), partition.len())
    }

    /// Both keys.
    pub(crate) fn as_strs(&self) -> (&str, &str) {
        self.text.split_at_checked(self.partition).unwrap_or_default()
    }

    /// The partition key.
    pub(crate) fn into_partition(mut self) -> String {
        self.text.truncate(self.partition);
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_apart_again() {
        for (partition, row) in [("", ""), ("Sales", "empid_000001"), ("", "r"), ("p", ""), ("\u{e000}", "é")]
        {
            let pair = KeyPair::of(partition, row);
            assert_eq!(pair.as_strs(), (partition, row));
            assert_eq!(pair.into_partition(), partition);
        }
    }

    #[test]
    fn keys_of_one_text_differ_by_where_the_first_ends() {
        assert_ne!(KeyPair::of("ab", "c"), KeyPair::of("a", "bc"));
    }
}
