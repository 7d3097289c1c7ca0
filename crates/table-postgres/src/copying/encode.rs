//! Rows as `COPY` takes them in its binary form.

use bytes::{BufMut, Bytes, BytesMut};

use crate::work::WorkRow;

/// What a copy begins with: the form's signature, no flags, and no extension of the header.
const HEADER: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Stands where a field has no value, and behind the last row where there is no other.
const NONE: i32 = -1;
const END: i16 = -1;

/// About so many bytes are sent at a time.
const PIECE: usize = 256 << 10;

/// The columns of a row, in the order in which they are written.
pub(super) const COLUMNS: &str = "pk, rk, ts, kind, body";
const COLUMN_COUNT: i16 = 5;

/// The rows of one table, as they are sent.
pub(super) struct Copy {
    sent: Vec<Bytes>,
    piece: BytesMut,
}

impl Copy {
    /// Begins with no row.
    pub(super) fn new() -> Self {
        Self { sent: Vec::new(), piece: BytesMut::from(&HEADER[..]) }
    }

    /// Adds a row of this time, kind and body.
    pub(super) fn add(&mut self, row: &WorkRow, time: i64, kind: Option<&str>, body: &[u8]) {
        self.piece.put_i16(COLUMN_COUNT);
        self.put(Some(row.partition.as_bytes()));
        self.put(Some(row.row.as_bytes()));
        self.put(Some(&time.to_be_bytes()));
        self.put(kind.map(str::as_bytes));
        self.put(Some(body));
        if self.piece.len() >= PIECE {
            self.sent.push(self.piece.split().freeze());
        }
    }

    fn put(&mut self, field: Option<&[u8]>) {
        // No field is as long as its length can't say: a row is at most a MiB.
        let length = field.map_or(NONE, |field| i32::try_from(field.len()).unwrap_or(i32::MAX));
        self.piece.put_i32(length);
        self.piece.put_slice(field.unwrap_or_default());
    }

    /// Returns the pieces to be sent, behind which nothing comes.
    pub(super) fn finish(mut self) -> Vec<Bytes> {
        self.piece.put_i16(END);
        self.sent.push(self.piece.freeze());
        self.sent
    }
}
