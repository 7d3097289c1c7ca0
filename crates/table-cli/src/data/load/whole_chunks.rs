//! Chunks that end between entities, and not between the rows of a wide one.

use std::collections::BTreeMap;

use super::super::counts::Counts;
use super::super::import::Chunks;
use super::super::kinds::{Kinds, WideRow};
use super::super::read::{Chunk, Item};
use super::wide::parts_said;
use crate::failure::Failure;

/// The rows of an entity are looked for among so many, the last ones of a chunk: other rows may stand between them.
const NEAR: usize = 200;

/// Gives the chunks of another source. The rows of a wide entity that its end cuts apart are held back, and begin the next one.
pub(crate) struct WholeChunks<C> {
    chunks: C,
    kinds: Kinds,
    held: Option<Chunk>,
}

impl<C: Chunks> WholeChunks<C> {
    pub(crate) fn new(chunks: C, kinds: Kinds) -> Self {
        Self { chunks, kinds, held: None }
    }

    /// Returns the place of the first entity near the end whose parts have not all come; `None` if there is none.
    fn open_from(&mut self, items: &[Item]) -> Option<usize> {
        let mut open: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
        for (at, item) in items.iter().enumerate().skip(items.len().saturating_sub(NEAR)) {
            let Some(WideRow { part, head, .. }) = self.kinds.wide_row(&item.entity) else { continue };
            let key = (item.entity.partition_key(), head);
            if part == 0 {
                let parts = parts_said(&item.entity).unwrap_or_default();
                open.insert(key, (at, parts));
            } else if let Some((_, left)) = open.get_mut(&key) {
                *left = left.saturating_sub(1);
            }
        }
        open.into_values().filter(|(_, left)| *left > 0).map(|(at, _)| at).min()
    }
}

impl<C: Chunks> Chunks for WholeChunks<C> {
    fn chunk(&mut self) -> Result<Option<Chunk>, Failure> {
        if !self.kinds.have_wide() {
            return self.chunks.chunk();
        }
        let mut chunk = match (self.held.take(), self.chunks.chunk()?) {
            (Some(held), Some(next)) => followed_by(held, next),
            (None, Some(next)) => next,
            // Nothing comes behind what was held back.
            (held, None) => return Ok(held),
        };
        loop {
            match self.open_from(&chunk.items) {
                None => return Ok(Some(chunk)),
                Some(0) => {}
                Some(at) => {
                    self.held = split_off(&mut chunk, at);
                    return Ok(Some(chunk));
                }
            }
            // Nothing would be left of it.
            match self.chunks.chunk()? {
                None => return Ok(Some(chunk)),
                Some(next) => chunk = followed_by(chunk, next),
            }
        }
    }
}

/// Returns a chunk and the next one as one.
fn followed_by(mut chunk: Chunk, next: Chunk) -> Chunk {
    chunk.items.extend(next.items);
    chunk.rejects.extend(next.rejects);
    chunk.left_out.add(&next.left_out);
    (chunk.to, chunk.keys) = (next.to, next.keys);
    chunk
}

/// Cuts off what begins with the item at this place.
fn split_off(chunk: &mut Chunk, at: usize) -> Option<Chunk> {
    let items = chunk.items.split_off(at);
    let place = items.first()?.place;
    let first = chunk.rejects.partition_point(|reject| reject.line < place.line);
    let rejects = chunk.rejects.split_off(first);
    let (to, keys) = (chunk.to, chunk.keys.take());
    chunk.to = place;
    chunk.keys = keys.as_ref().and_then(|_| chunk.items.last()).map(|last| {
        let (partition, row) = (last.entity.partition_key(), last.entity.row_key());
        (partition.to_owned(), row.to_owned())
    });
    Some(Chunk { items, rejects, from: place, to, keys, left_out: Counts::default() })
}

#[cfg(test)]
mod tests {
    use table_core::{DynamicEntity, Entity, Store};

    use super::super::super::read::Place;
    use super::*;

    #[derive(Entity)]
    #[entity(table = "Weather", kind = "year", wide)]
    #[key(partition = "{station}", row = "year_{number:04}")]
    struct Year {
        station: String,
        number: u32,
        #[part]
        diary: String,
    }

    /// Chunks of rows, of which each is a head (`h`), a part (`p`) or another row (`.`) of the entity that a digit names.
    struct Rows(Vec<&'static str>);

    impl Chunks for Rows {
        fn chunk(&mut self) -> Result<Option<Chunk>, Failure> {
            if self.0.is_empty() {
                return Ok(None);
            }
            let mut chunk = Chunk::default();
            for row in self.0.remove(0).split(' ') {
                let (of, what) = row.split_at(4);
                let offset = of.parse().unwrap_or_default();
                let place = Place { offset, line: offset };
                let entity = |key: String| DynamicEntity::new("Oslo", key);
                let entity = match what {
                    "h" => entity(format!("year_{of}")).with("EntityType", "year").with("EntityParts", 1),
                    "p" => entity(format!("year_{of}_01")).with("EntityType", "year.01"),
                    _ => entity(format!("other_{of}")),
                };
                chunk.items.push(Item::new(offset, place, entity));
                chunk.to = Place { offset: offset + 1, line: offset + 1 };
            }
            Ok(Some(chunk))
        }
    }

    /// Returns how many rows each chunk has, and where it ends.
    fn cut(rows: &[&'static str]) -> Vec<(usize, u64)> {
        let store = Store::temporary().unwrap();
        let year = Year { station: "Oslo".into(), number: 1, diary: String::new() };
        store.table::<Year>().unwrap().insert(&year).unwrap();
        let kinds = Kinds::of(&store, "Weather").unwrap();
        let mut chunks = WholeChunks::new(Rows(rows.to_vec()), kinds);
        let next = || chunks.chunk().unwrap().map(|chunk| (chunk.items.len(), chunk.to.offset));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn rows_of_an_entity_are_held_back_until_all_have_come() {
        assert_eq!(cut(&["0001. 0002h 0002p", "0003."]), [(3, 3), (1, 4)]);
        // The end of the first chunk, and the place where the next begins, go before the head.
        assert_eq!(cut(&["0001. 0002h", "0002p 0003."]), [(1, 2), (3, 4)]);
        assert_eq!(cut(&["0001. 0002h 0003.", "0004.", "0002p"]), [(1, 2), (4, 3)]);
        // One that is never whole is given at the end.
        assert_eq!(cut(&["0001h", "0002.", "0003."]), [(3, 4)]);
        assert_eq!(cut(&["0001p", "0002."]), [(1, 2), (1, 3)]);
        assert_eq!(cut(&[]), []);
    }
}
