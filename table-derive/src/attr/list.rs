//! `#[index_list(..)]`.

use syn::Attribute;

use super::{Fill, IndexWords, Words};
use crate::ctxt::Ctxt;
use crate::symbol::{ATOMIC, COPY, EVENTUAL, NAME, OF, PARTITION, ROW, TABLE, UNIQUE, WHEN};

/// The words of an index list, which are those of an index but for some.
pub(super) struct ListWords(pub(super) IndexWords);

impl ListWords {
    /// Reads an index list; `None` after an error in its name.
    pub(super) fn read(cx: &Ctxt, attr: &Attribute) -> Option<IndexWords> {
        let (name, _) = super::name(attr)?;
        let mut words = Self(IndexWords { list: Some(name.clone()), ..IndexWords::new() });
        super::read_with(cx, attr, &mut words, |words, input| {
            words.0.index = super::index::index_name::<Self>("an index list", name.span(), input)?;
            Ok(())
        });
        words.0.index.is_some().then_some(words.0)
    }
}

impl Words for ListWords {
    const KNOWN: &'static [&'static str] = &[ROW, OF, PARTITION, TABLE, ATOMIC, EVENTUAL, NAME];
    const EXAMPLE: &'static str = "#[index_list(by_name, row = \"..\", of = id)]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        match word {
            OF => Some(&mut self.0.of),
            // Those that an index has and a list has not are read, to be refused by what they say.
            ROW | PARTITION | TABLE | ATOMIC | NAME | UNIQUE | COPY | EVENTUAL | WHEN => self.0.slot(word),
            _ => None,
        }
    }
}
