//! heed by hand.

use std::ops::Range;

use super::{Wide, WideMaker, positional};
use crate::Digest;
use crate::company::{Answer, Done, Lmdb, Opening, SyncMode};

pub(super) const MAKER: WideMaker = WideMaker {
    name: "floor",
    what: "heed by hand: postcard by position under the id; the row is decoded, its texts not copied",
    open: |dir, width| {
        Ok(Box::new(Floor { lmdb: Lmdb::open(dir, &Opening::with(SyncMode::Lax), ["wide"])?, width }))
    },
};

struct Floor {
    lmdb: Lmdb<1>,
    width: usize,
}

impl Wide for Floor {
    fn load(&self, ids: Range<u32>) -> Done {
        let [data] = self.lmdb.databases;
        let mut txn = self.lmdb.env.write_txn()?;
        for id in ids {
            data.put(&mut txn, &id.to_be_bytes(), &positional::encode(id, self.width)?)?;
        }
        Ok(txn.commit()?)
    }

    fn middle(&self, ids: &[u32]) -> Answer {
        let [data] = self.lmdb.databases;
        let mut digest = Digest::default();
        let txn = self.lmdb.env.read_txn()?;
        for id in ids {
            let bytes = data.get(&txn, &id.to_be_bytes())?.ok_or("there is no such row")?;
            positional::add_middle(&mut digest, self.width, bytes)?;
        }
        Ok(digest)
    }
}
