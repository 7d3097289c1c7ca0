//! The rows: what is in each, and how it is keyed and stored by hand.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table_core::typed::InOneTable;
use table_core::{Entity, Key, Table};

use crate::random::Random;
use crate::{Digest, Result};

/// Rows of one form.
pub(super) trait Form: InOneTable + Sized {
    /// What of a row does not stand in its key.
    type Rest: Serialize + DeserializeOwned;

    /// The row of this number.
    fn numbered(number: u32) -> Self;
    /// The key of the row of this number.
    fn key(number: u32) -> Key<Self>;
    /// Returns the key of the row of this number as it is made by hand: partition, 0, row.
    fn key_by_hand(number: u32) -> Vec<u8>;
    fn rest(&self) -> Self::Rest;
    /// A row of its two keys and the rest.
    fn of(partition: &str, row: &str, rest: Self::Rest) -> Result<Self>;
    fn add(&self, digest: &mut Digest);
    /// Adds every row.
    fn scan(table: &Table<Self>, digest: &mut Digest) -> Result<()>;
}

fn joined(partition: &str, row: &[u8]) -> Vec<u8> {
    [partition.as_bytes(), &[0], row].concat()
}

/// The row key of a number.
fn row_key(mut number: u32) -> [u8; 12] {
    let mut key = *b"row_00000000";
    for digit in key.iter_mut().skip(4).rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
    key
}

fn number_of(row: &str) -> Result<u32> {
    Ok(row.strip_prefix("row_").ok_or("a row is of another kind")?.parse()?)
}

/// Adds rows that an iterator gives.
fn add_all<F: Form>(
    rows: impl Iterator<Item = table_core::Result<table_core::Stored<F>>>,
    digest: &mut Digest,
) -> Result<()> {
    for row in rows {
        row?.add(digest);
    }
    Ok(())
}

macro_rules! sparse {
    ($($text:ident $number:ident)*) => {
        /// Many properties, of which a row has a quarter.
        #[derive(Entity)]
        #[entity(table = "Forms", kind = "sparse")]
        #[key(partition = "forms", row = "row_{id:08}")]
        pub(super) struct Sparse {
            id: u32,
            $($text: Option<String>, $number: Option<i64>,)*
        }

        #[derive(Serialize, Deserialize)]
        pub(super) struct SparseRest {
            $($text: Option<String>, $number: Option<i64>,)*
        }

        impl Form for Sparse {
            type Rest = SparseRest;

            fn numbered(id: u32) -> Self {
                let mut place = id;
                let mut is_there = || {
                    place += 1;
                    place.is_multiple_of(4)
                };
                Self {
                    id,
                    $(
                        $text: is_there().then(|| format!("{} {id}", stringify!($text))),
                        $number: is_there().then(|| i64::from(id) << 20),
                    )*
                }
            }

            fn key(number: u32) -> Key<Self> {
                Self::key(number)
            }

            fn key_by_hand(number: u32) -> Vec<u8> {
                joined("forms", &row_key(number))
            }

            fn rest(&self) -> SparseRest {
                SparseRest { $($text: self.$text.clone(), $number: self.$number,)* }
            }

            fn of(_: &str, row: &str, rest: SparseRest) -> Result<Self> {
                Ok(Self { id: number_of(row)?, $($text: rest.$text, $number: rest.$number,)* })
            }

            fn add(&self, digest: &mut Digest) {
                digest.one(self.id.into());
                $(
                    digest.text(self.$text.as_deref().unwrap_or_default());
                    digest.add(self.$number.unwrap_or(-1).cast_unsigned());
                )*
            }

            fn scan(table: &Table<Self>, digest: &mut Digest) -> Result<()> {
                add_all(table.rows().into_iter(), digest)
            }
        }
    };
}

sparse! {
    t00 n00 t01 n01 t02 n02 t03 n03 t04 n04 t05 n05 t06 n06 t07 n07 t08 n08 t09 n09
    t10 n10 t11 n11 t12 n12 t13 n13 t14 n14 t15 n15 t16 n16 t17 n17 t18 n18 t19 n19
}

/// Texts of 0 to 2,000 bytes.
#[derive(Entity)]
#[entity(table = "Forms", kind = "letter")]
#[key(partition = "forms", row = "row_{id:08}")]
pub(super) struct Letter {
    id: u32,
    subject: String,
    body: String,
    note: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct LetterRest {
    subject: String,
    body: String,
    note: String,
}

impl Form for Letter {
    type Rest = LetterRest;

    fn numbered(id: u32) -> Self {
        let mut random = Random::new(id.into());
        let mut text = || "letter ".chars().cycle().take(random.index(2_001)).collect();
        Self { id, subject: text(), body: text(), note: text() }
    }

    fn key(number: u32) -> Key<Self> {
        Self::key(number)
    }

    fn key_by_hand(number: u32) -> Vec<u8> {
        joined("forms", &row_key(number))
    }

    fn rest(&self) -> LetterRest {
        LetterRest { subject: self.subject.clone(), body: self.body.clone(), note: self.note.clone() }
    }

    fn of(_: &str, row: &str, LetterRest { subject, body, note }: LetterRest) -> Result<Self> {
        Ok(Self { id: number_of(row)?, subject, body, note })
    }

    fn add(&self, digest: &mut Digest) {
        digest.one(self.id.into());
        digest.text(&self.subject);
        digest.text(&self.body);
        digest.text(&self.note);
    }

    fn scan(table: &Table<Self>, digest: &mut Digest) -> Result<()> {
        add_all(table.rows().into_iter(), digest)
    }
}

/// Keys of text alone.
#[allow(clippy::struct_field_names, reason = "a word is what it is called by")]
#[derive(Entity)]
#[entity(table = "Forms", kind = "word")]
#[key(partition = "{language}", row = "word_{word}")]
pub(super) struct Word {
    language: String,
    word: String,
    count: i64,
}

/// The languages, which have as many words each.
const LANGUAGES: [&str; 4] = ["Deutsch", "English", "Italiano", "Polski"];

fn language(number: u32) -> &'static str {
    usize::try_from(number % 4).ok().and_then(|at| LANGUAGES.get(at)).unwrap_or(&"English")
}

fn word(number: u32) -> String {
    format!("{:x} {number}", Random::new(number.into()).next())
}

impl Form for Word {
    type Rest = i64;

    fn numbered(number: u32) -> Self {
        Self { language: language(number).to_owned(), word: word(number), count: number.into() }
    }

    fn key(number: u32) -> Key<Self> {
        Self::key(language(number), word(number))
    }

    fn key_by_hand(number: u32) -> Vec<u8> {
        [language(number).as_bytes(), b"\0word_", word(number).as_bytes()].concat()
    }

    fn rest(&self) -> i64 {
        self.count
    }

    fn of(partition: &str, row: &str, count: i64) -> Result<Self> {
        let word = row.strip_prefix("word_").ok_or("a row is of another kind")?;
        Ok(Self { language: partition.to_owned(), word: word.to_owned(), count })
    }

    fn add(&self, digest: &mut Digest) {
        digest.one(self.count.cast_unsigned());
        digest.text(&self.language);
        digest.text(&self.word);
    }

    fn scan(table: &Table<Self>, digest: &mut Digest) -> Result<()> {
        for language in LANGUAGES {
            add_all(table.rows().language(language).into_iter(), digest)?;
        }
        Ok(())
    }
}
