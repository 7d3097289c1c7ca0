//! Plain values of properties that are to be sealed.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::row::key::{self, Number, StoredKey};
use table_engine::row::view::{self, RowView};
use table_engine::row::{self, Row};
use table_engine::schema::Schema;
use table_engine::sealing::{self, PlainValues};

use crate::lmdb::{self, Databases};
use crate::records::catalog::TableState;
use crate::records::counts::Counts;
use crate::scan::read;

/// Returns the values of these properties that rows of the kind, and copies of them, hold plain.
pub(crate) fn plain_values(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &Schema,
    properties: &[String],
) -> Result<Option<PlainValues>> {
    let mut found = None::<PlainValues>;
    let (mut walked, mut last) = (0_u64, None::<&[u8]>);
    let mut dict = table.dict();
    for pair in dbs.data.prefix_iter(txn, &Number::of(table.id)).map_err(lmdb::error)? {
        let (key, bytes) = pair.map_err(lmdb::error)?;
        walked += 1;
        // A row that is met twice in the place of another would come to the table's number, too.
        if last.is_some_and(|last| last >= key) {
            return Err(key::locate(read::out_of_order(), key));
        }
        last = Some(key);
        let (row, seed) = (Row::parse(bytes).map_err(damaged(key))?, row::key_seed(key));
        row.verify(seed).map_err(damaged(key))?;
        if !view::covers(&dict, &row) {
            dict = table.reload_for(dbs, txn, &row)?;
        }
        let view = RowView::new(key, row, &*dict, true);
        let kind = view.kind()?.unwrap_or_default();
        if kind != schema.entity_type && schema.indexes.iter().all(|index| index.kind != kind) {
            continue;
        }
        for property in properties {
            if view.get(property)?.is_some_and(|value| !sealing::looks_sealed(value)) {
                let plain = found.get_or_insert_with(|| PlainValues { values: 0, first: texts(key) });
                plain.values += 1;
            }
        }
    }
    if walked != Counts::read(dbs.main, txn, table.id)?.entities {
        return Err(Error::new(ErrorKind::Corrupt).because("the table counts other rows than were found"));
    }
    Ok(found)
}

/// Returns the keys of a row with this stored key.
pub(super) fn texts(key: &[u8]) -> (String, String) {
    let texts = StoredKey::parse(key).and_then(|key| key.texts());
    texts.map(|(partition, row)| (partition.into_owned(), row.into_owned())).unwrap_or_default()
}

/// Says in which row the damage is.
pub(super) fn damaged(key: &[u8]) -> impl Fn(row::Damaged) -> Error {
    move |damaged| key::locate(damaged.into(), key)
}
