//! Where one batch ends and the next one begins.

use std::collections::HashSet;
use std::ops::Range;

use table_core::limits;

use super::super::read::Item;

/// Entities of a batch come to at most so much, as the service counts them: what JSON makes of texts is larger.
const BATCH_SIZE: usize = limits::BATCH_BYTES / 3;

/// Takes out the entities whose keys others before them have. They are written when those are: a batch that was refused is made
/// up for behind all others.
pub(super) fn take_repeated(items: &mut Vec<Item>) -> Vec<Item> {
    let mut is_repeated = Vec::with_capacity(items.len());
    let mut rows: HashSet<&str> = HashSet::new();
    let mut partition = "";
    for Item { entity, .. } in items.iter() {
        if entity.partition_key() != partition {
            partition = entity.partition_key();
            rows.clear();
        }
        is_repeated.push(!rows.insert(entity.row_key()));
    }
    if !is_repeated.contains(&true) {
        return Vec::new();
    }
    let (mut kept, mut repeated) = (Vec::with_capacity(items.len()), Vec::new());
    for (item, is_repeated) in std::mem::take(items).into_iter().zip(is_repeated) {
        if is_repeated { repeated.push(item) } else { kept.push(item) }
    }
    *items = kept;
    repeated
}

/// Cuts entities, which stand by their partitions, into batches: of one partition, and not too large. No two are of one key.
pub(super) fn cut(items: &[Item]) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let (mut from, mut size) = (0, 0);
    let mut partition = "";
    for (at, Item { entity, .. }) in items.iter().enumerate() {
        let own = entity.size();
        let is_new = at == from
            || entity.partition_key() != partition
            || at - from == limits::BATCH_OPERATIONS
            || size + own > BATCH_SIZE;
        if is_new {
            if at > from {
                cuts.push(from..at);
            }
            (from, size, partition) = (at, 0, entity.partition_key());
        }
        size += own;
    }
    if from < items.len() {
        cuts.push(from..items.len());
    }
    cuts
}

#[cfg(test)]
mod tests {
    use table_core::DynamicEntity;

    use super::super::super::read::Place;
    use super::*;

    fn item(partition: &str, row: &str, bytes: usize) -> Item {
        let entity = DynamicEntity::new(partition, row).with("Text", "x".repeat(bytes));
        Item::new(1, Place::default(), entity)
    }

    #[test]
    fn a_batch_ends_with_its_partition_and_its_room() {
        let mut items: Vec<_> = (0..250).map(|row| item("a", &row.to_string(), 1)).collect();
        items.push(item("b", "1", 1));
        items.push(item("b", "2", 1));
        items.extend((0..60).map(|row| item("c", &row.to_string(), 30_000)));
        let cuts = cut(&items);
        assert_eq!(cuts[..4], [0..100, 100..200, 200..250, 250..252]);
        assert_eq!(cuts.last().unwrap().end, items.len());
        for cut in &cuts[4..] {
            assert!((10..40).contains(&cut.len()), "{cut:?}");
        }
        assert!(cut(&[]).is_empty());
    }

    #[test]
    fn an_entity_waits_for_those_of_its_key_that_stand_before_it() {
        let keys = |items: &[Item]| -> Vec<_> {
            let key = |item: &Item| format!("{}{}", item.entity.partition_key(), item.entity.row_key());
            items.iter().map(key).collect()
        };
        let mut items: Vec<_> = ["1", "2", "1", "1"].iter().map(|row| item("a", row, 1)).collect();
        items.push(item("b", "1", 1));
        let repeated = take_repeated(&mut items);
        assert_eq!(
            (keys(&items), keys(&repeated)),
            (vec!["a1".into(), "a2".into(), "b1".into()], vec!["a1".into(), "a1".into()])
        );
    }
}
