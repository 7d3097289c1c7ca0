//! Lists that are longer than a row: their text lies in a blob, which the row refers to.

use table_engine::__executor::BlobId;
use table_engine::Result;
use table_engine::contents::SEGMENT;

use super::BlobTables;
use crate::adding::OldRow;
use crate::catalog::column;
use crate::connection::{Call, Connection};
use crate::param::{Param, Params};

/// The text of a list, and the blob that it is put into.
#[derive(Clone, Debug)]
pub(crate) struct ListText {
    pub(crate) id: BlobId,
    pub(crate) text: String,
}

impl ListText {
    pub(super) fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.text.as_bytes().chunks(SEGMENT)
    }
}

/// Reads the texts of lists that are about to be changed, and lie in blobs.
pub(crate) async fn read_lists(
    connection: &Connection,
    tables: &BlobTables,
    rows: impl Iterator<Item = &mut OldRow>,
) -> Result<Result<()>, tokio_postgres::Error> {
    let mut long = Vec::new();
    for row in rows {
        match row.list_blob() {
            Ok(Some((id, _))) => long.push((id, row)),
            Ok(None) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    if long.is_empty() {
        return Ok(Ok(()));
    }
    let mut params = Params::default();
    let ids = params.add(Param::MaybeBytes(long.iter().map(|(id, _)| Some(id.0.to_vec())).collect()));
    let sql =
        format!("SELECT blob, body FROM {} WHERE blob = ANY ({ids}) ORDER BY blob, number", tables.segments);
    let answer = connection.query(&Call { sql, params }).await?;
    Ok(long.into_iter().try_for_each(|(id, row)| {
        let mut text = Vec::new();
        for part in &answer {
            if column::<&[u8]>(part, 0)? == id.0 {
                text.extend_from_slice(column(part, 1)?);
            }
        }
        row.list = Some(text);
        Ok(())
    }))
}
