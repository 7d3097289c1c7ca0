//! Rows put into bytes inside the transaction, since some of their names have no number yet, or their kind no shape.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::Value;
use table_engine::model::names::ENTITY_TYPE;
use table_engine::row::encode::{self, Under};

use super::apply::Scratch;
use super::encoded::Deferred;
use super::transaction::TableDelta;
use crate::lmdb::{Databases, WriteTxn};

impl Scratch {
    /// Puts a row into bytes, numbering the names that have no number yet, and the shape of its kind.
    pub(super) fn encode_now(
        &mut self,
        dbs: &Databases,
        txn: &WriteTxn<'_>,
        touched: &mut TableDelta,
        row: &Deferred,
        seed: u64,
    ) -> Result<std::ops::Range<usize>> {
        let grown = if let Some(grown) = touched.grown.take() {
            grown
        } else {
            // Another process may have numbered them meanwhile.
            let dict = (*touched.state.reload(dbs, txn)?).clone();
            let length = dict.len();
            Box::new((dict, length))
        };
        let dict = &mut touched.grown.insert(grown).0;
        let Deferred { properties, digest, kind } = row;
        for (name, value) in properties {
            if dict.id(name).is_none() && !dict.names_full() {
                dict.push_name(name.clone());
            }
            if let (ENTITY_TYPE, Value::String(text)) = (&**name, value)
                && dict.id(ENTITY_TYPE).is_some()
                && dict.symbol_id(text).is_none()
                && dict.takes_symbol(text)
            {
                dict.push_symbol(text.as_str().into());
            }
        }
        if let Some(kind) = *kind {
            // The shape has a place for each property of the kind, also for those that this row does without.
            for (name, _) in kind.properties() {
                if dict.id(name).is_none() && !dict.names_full() {
                    dict.push_name(name.into());
                }
            }
            dict.push_shape_of(kind);
        }
        let Self { order, writer, rows, .. } = self;
        let under = Under { dict, seed, digest: digest.as_ref() };
        let written = encode::write(&table_engine::plan::borrowed(properties), under, order, writer, rows)?;
        // By now there is a number for everything that is to have one.
        written.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt).because("a name has no number that was just given one")
        })
    }
}
