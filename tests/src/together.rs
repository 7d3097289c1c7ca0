//! What rows that many entities share are put to, lists and summaries alike: many writers at one time, and random changes
//! of any form.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use table_core::typed::InOneTable;
use table_core::{ETag, Entity, Key, Result, Snapshot, Store, Table};

use crate::random::Random;

/// Who write at one time.
pub const WRITERS: u32 = 8;
/// Entities of each.
pub const EACH: u32 = 40;

/// The numbers of the entities that [`write_beside_each_other`] leaves.
pub fn left() -> impl Iterator<Item = u32> {
    (0..WRITERS * EACH).filter(|id| !is_removed(*id))
}

fn is_removed(id: u32) -> bool {
    (id % EACH).is_multiple_of(4)
}

/// Many threads add, change and remove entities of their own, and none of them plans anything twice: so they are never in
/// each other's way. Meanwhile `look` compares each moment with itself.
pub fn write_beside_each_other<E: InOneTable>(
    store: &Store,
    make: impl Fn(u32) -> E + Sync,
    change: impl Fn(&mut E) + Sync,
    look: impl Fn(&Table<E>, &Snapshot) + Send,
) {
    let (begin, is_over) = (Barrier::new(WRITERS as usize + 1), AtomicBool::new(false));
    let write = |writer: u32| {
        let table = store.table::<E>().unwrap();
        begin.wait();
        let mut planned = 0;
        for id in writer * EACH..(writer + 1) * EACH {
            let one = make(id);
            table.insert(&one).unwrap();
            // A closure that runs twice has lost to another thread, though only this one has the entity.
            let counted = |one: &mut E| {
                planned += 1;
                change(one);
            };
            table.update(Key::of(&one), counted).unwrap();
            if is_removed(id) {
                table.delete(Key::of(&one)).unwrap();
            }
        }
        planned
    };
    thread::scope(|scope| {
        let write = &write;
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        let (begin, is_over) = (&begin, &is_over);
        scope.spawn(move || {
            let table = store.table::<E>().unwrap();
            begin.wait();
            while !is_over.load(Ordering::Relaxed) {
                look(&table, &store.snapshot().unwrap());
            }
        });
        let planned: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        let planned: Vec<u32> = planned.into_iter().map(|planned| planned.unwrap()).collect();
        assert_eq!(planned, vec![EACH; WRITERS as usize], "somebody has planned again");
    });
}

/// Two threads rebuild a table's indexes while two others write: each calls `write` for half of the numbers from 0 to 299,
/// and tells it of every third of its own.
pub fn rebuild_while_others_write<E: Entity>(table: &Table<E>, write: impl Fn(u32, bool) + Sync)
where
    Table<E>: Sync,
{
    let (begin, write) = (&Barrier::new(4), &write);
    thread::scope(|scope| {
        for writer in 0..2_u32 {
            scope.spawn(move || {
                begin.wait();
                for round in 0..150 {
                    write(writer + 2 * round, round % 3 == 0);
                }
            });
        }
        // Two threads that make it at one time share the work, and count nothing twice.
        for _ in 0..2 {
            scope.spawn(move || {
                begin.wait();
                table.rebuild().unwrap().run().unwrap();
            });
        }
    });
}

/// A transaction of one to four changes of different entities, of any form. Returns the entities that there are if it is
/// carried out, and whether it was. `any` makes an entity; `set` gives the one there some of what another has.
pub fn change_at_random<E: InOneTable + Clone>(
    store: &Store,
    random: &mut Random,
    there: &[E],
    any: impl Fn(&mut Random) -> E,
    set: impl Fn(&mut E, &E),
) -> (Vec<E>, Result<ETag>) {
    let mut becomes = there.to_vec();
    let mut wanted: Vec<(u64, E)> = Vec::new();
    for _ in 0..1 + random.below(4) {
        let one = any(random);
        if wanted.iter().all(|(_, other)| Key::of(other) != Key::of(&one)) {
            wanted.push((random.below(4), one));
        }
    }
    let set = &set;
    let mut transaction = store.transaction();
    for (what, one) in &wanted {
        let key = Key::of(one);
        let at = becomes.iter().position(|other| Key::of(other) == key);
        match (what, at) {
            (0, Some(at)) => {
                becomes.remove(at);
                transaction = transaction.delete(key);
            }
            (1, Some(at)) => {
                set(&mut becomes[at], one);
                transaction = transaction.update(key, move |old: &mut E| set(old, one));
            }
            (_, Some(at)) => {
                becomes[at] = one.clone();
                transaction = transaction.put(one);
            }
            (_, None) => {
                becomes.push(one.clone());
                transaction = transaction.insert(one);
            }
        }
    }
    let done = transaction.commit().map(|committed| committed.etag(0));
    (becomes, done)
}
