//! Rows put into bytes inside the transaction, since some of their names have no number yet.

use super::apply::Scratch;
use super::transaction::Touched;
use crate::error::Result;
use crate::model::names::ENTITY_TYPE;
use crate::model::{Name, Value};
use crate::row::DIGEST;
use crate::row::encode;
use crate::store::lmdb::{Databases, WriteTxn};

/// A row some of whose names have no number yet.
#[derive(Clone, Copy)]
pub(super) struct Unnumbered<'a> {
    pub(super) properties: &'a [(Name, Value)],
    pub(super) digest: Option<&'a [u8; DIGEST]>,
    pub(super) seed: u64,
}

/// Puts a row into bytes, numbering the names that have no number yet.
pub(super) fn encode_now(
    dbs: &Databases,
    txn: &WriteTxn<'_>,
    touched: &mut Touched,
    scratch: &mut Scratch,
    row: Unnumbered<'_>,
) -> Result<std::ops::Range<usize>> {
    let grown = if let Some(grown) = touched.grown.take() {
        grown
    } else {
        // Another process may have numbered them meanwhile.
        let dict = (*touched.state.reload(dbs, txn)?).clone();
        let on_disk = dict.len();
        Box::new((dict, on_disk))
    };
    let dict = &mut touched.grown.insert(grown).0;
    let Unnumbered { properties, digest, seed } = row;
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
    scratch.writer.clear();
    encode::write(&crate::plan::borrowed(properties), dict, &mut scratch.order, &mut scratch.writer, seed);
    let from = scratch.writer.finish(&mut scratch.rows, digest)?;
    Ok(from..scratch.rows.len())
}
