//! What a write transaction has found out about the tree of rows that it began with.

use std::collections::BTreeSet;

use super::{HEADER, NODE, Page, Steps, Way};
use crate::error::Result;
use crate::store::lmdb::pages::{damaged, is_whole};

/// The findings of a write transaction about the tree that it began with, which does not change while it lasts.
#[derive(Debug)]
pub(crate) struct Explored {
    /// Branches whose keys rise.
    pub(super) branches: BTreeSet<u64>,
    pub(super) rooms: Rooms,
    pub(super) leaves: Leaves,
    /// The places where rows were missed last: rows that are written one after the other often stand there, too.
    pub(super) gaps: [Option<Gap>; GAPS],
    /// Which of them was met when, the latest first.
    pub(super) order: [u8; GAPS],
    /// The way that was gone last.
    pub(super) steps: Steps,
    /// Whether that is the way to the row that was asked for last, and it is not known yet what becomes of the row.
    pub(super) has_way: bool,
}

/// Of the upper levels, the branch that was met last and whose room is where its header says.
#[derive(Debug, Default)]
pub(super) struct Rooms([u64; ROOMS]);

/// The levels of which that is remembered.
const ROOMS: usize = 4;

impl Rooms {
    /// Makes sure of the room on a branch that is so many levels below the root. Of a page that it is about to change, LMDB
    /// copies what lies before the room and what lies behind it, as the header says where it ends.
    #[inline]
    pub(super) fn check(&mut self, level: usize, number: u64, branch: &Page<'_>) -> Result<()> {
        let known = self.0.get_mut(level);
        if known.as_ref().is_some_and(|known| **known == number) {
            return Ok(());
        }
        if !branch.has_right_room() {
            return Err(damaged());
        }
        if let Some(known) = known {
            *known = number;
        }
        Ok(())
    }
}

/// The leaves that were met.
#[derive(Debug, Default)]
pub(super) struct Leaves(pub(super) Vec<Leaf>);

/// How many gaps are remembered.
pub(super) const GAPS: usize = 4;

/// The order before any was met.
const ORDER: [u8; GAPS] = [0, 1, 2, 3];

/// The number of leaves that are remembered one by one.
const FEW_LEAVES: usize = 32;

/// A row has pages of its own if its value would fill half of the leaf, or so many bytes fewer.
const OWN_PAGES: usize = 64;

/// A leaf that is whole.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) number: u64,
    /// Bytes that are to be put there.
    taken: usize,
    /// Bytes that were free.
    room: usize,
    /// Bytes of rows that are to go.
    freed: usize,
    /// Whether a row is to be put there, or to go. The next search on the leaf looks at other entries than one would have
    /// looked at before.
    is_changed: bool,
    /// Which of the first entries are sound, a bit for each.
    sound: u64,
    /// Whether the keys of the branches on the way to it rise.
    pub(super) in_order: bool,
    /// Whether what stands beside the way has been looked at, too.
    pub(super) has_neighbours: bool,
}

/// Between two sound rows that nothing stands between. Without one of them: before the first, or after the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// The leaf that rows of the gap are put on.
    pub(super) leaf: u64,
    pub(super) before: Option<Spot>,
    pub(super) after: Option<Spot>,
}

impl Gap {
    /// Whether LMDB comes to the gap's leaf for every key that stands there: not where it lies between that leaf and the next,
    /// or the one before, of which the branches then say which it is.
    pub(super) fn is_of_one_leaf(&self) -> bool {
        [self.before, self.after].into_iter().flatten().all(|spot| spot.leaf == self.leaf)
    }
}

/// The place of a row's key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) leaf: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Spot {
    pub(super) fn of(leaf: u64, page: &Page<'_>, key: &[u8]) -> Self {
        let start = key.as_ptr().addr().wrapping_sub(page.bytes.as_ptr().addr());
        Self { leaf, start, end: start.wrapping_add(key.len()) }
    }
}

impl Default for Explored {
    fn default() -> Self {
        Self {
            branches: BTreeSet::new(),
            rooms: Rooms::default(),
            leaves: Leaves::default(),
            gaps: [None; GAPS],
            order: ORDER,
            steps: Steps::default(),
            has_way: false,
        }
    }
}

impl Leaf {
    pub(super) fn of(way: &Way<'_, '_>) -> Result<Self> {
        if !is_whole(way.leaf.bytes) {
            return Err(damaged());
        }
        Ok(Self {
            number: way.number,
            taken: 0,
            room: way.leaf.room(),
            freed: 0,
            is_changed: false,
            sound: 0,
            in_order: false,
            has_neighbours: false,
        })
    }

    pub(super) fn is_sound(&self, entry: usize) -> bool {
        entry < 64 && self.sound >> entry & 1 != 0
    }

    pub(super) fn learn_sound(&mut self, entry: usize) {
        if entry < 64 {
            self.sound |= 1 << entry;
        }
    }

    /// Takes room for a new row of this length; whether nothing is known of the order that LMDB then goes by.
    pub(super) fn gets(&mut self, length: usize) -> bool {
        self.take_room(length);
        let asks = self.asks();
        self.is_changed = true;
        asks
    }

    /// The same for a row that is there, and comes to be longer or shorter, or goes.
    pub(super) fn changes(&mut self, old: usize, new: usize, page: usize) -> bool {
        self.freed = self.freed.saturating_add(old.saturating_sub(new));
        // Of a value with pages of its own hardly anything lies on the leaf.
        let on_leaf = if old < (page / 2).saturating_sub(OWN_PAGES) { old } else { 0 };
        if new > on_leaf {
            self.take_room(new - on_leaf);
        }
        self.asks()
    }

    fn take_room(&mut self, length: usize) {
        // The entry's header and offset, and what rounds it up.
        self.taken = self.taken.saturating_add(length + NODE + 4);
    }

    /// Whether LMDB goes by more than what a proof has looked at: it splits the leaf, or searches it after it was changed.
    fn asks(&self) -> bool {
        (self.is_changed || self.taken > self.room) && !self.in_order
    }

    /// Takes a row away that has been counted as [changed](Self::changes); whether LMDB may join the leaf with one beside it,
    /// of which nothing is known. It does when less than a quarter is left.
    pub(super) fn may_merge(&mut self, page: usize) -> bool {
        self.is_changed = true;
        self.freed = self.freed.saturating_add(NODE + 4);
        let usable = page.saturating_sub(HEADER);
        let left = usable.saturating_sub(self.room).saturating_sub(self.freed);
        left < usable / 4 && !self.has_neighbours
    }
}

impl Leaves {
    /// A way's leaf among those remembered; the last one always is.
    pub(super) fn of(&mut self, way: &Way<'_, '_>) -> Result<&mut Leaf> {
        let place = self.place(way, false)?;
        self.get(place)
    }

    /// The place of a way's leaf among those remembered, to which the way `is_first` to come, or may not be.
    pub(super) fn place(&mut self, way: &Way<'_, '_>, is_first: bool) -> Result<usize> {
        if let Some(known) = self.0.iter().rposition(|known| known.number == way.number) {
            return Ok(known);
        }
        let mut leaf = Leaf::of(way)?;
        if self.0.len() > FEW_LEAVES {
            self.0.pop();
            if !is_first {
                // Nobody remembers what this leaf is to get, and what is to go.
                (leaf.taken, leaf.freed, leaf.is_changed) = (leaf.room, way.leaf.bytes.len(), true);
            }
        }
        self.0.push(leaf);
        Ok(self.0.len().saturating_sub(1))
    }

    pub(super) fn get(&mut self, place: usize) -> Result<&mut Leaf> {
        self.0.get_mut(place).ok_or_else(damaged)
    }

    /// Whether the keys of the branches on the way to a leaf are known to rise.
    pub(super) fn is_in_order(&self, place: usize) -> bool {
        self.0.get(place).is_some_and(|leaf| leaf.in_order)
    }
}

impl Explored {
    /// Forgets everything: another transaction begins.
    pub(crate) fn begin(&mut self) {
        self.branches.clear();
        self.rooms = Rooms::default();
        self.leaves.0.clear();
        (self.gaps, self.order, self.has_way) = ([None; GAPS], ORDER, false);
    }

    /// Whether nothing is known yet.
    pub(super) fn is_new(&self) -> bool {
        self.leaves.0.is_empty()
    }

    /// Forgets which row was asked for last.
    pub(crate) fn forget_way(&mut self) {
        self.has_way = false;
    }

    /// Remembers a gap in the place of the one that was met longest ago.
    pub(super) fn learn_gap(&mut self, gap: Gap) {
        let [a, b, c, last] = self.order;
        if let Some(oldest) = self.gaps.get_mut(usize::from(last)) {
            *oldest = Some(gap);
        }
        self.order = [last, a, b, c];
    }

    /// Notes that the gap of this place in the order has been met.
    pub(super) fn meet(&mut self, place: usize) {
        let [a, b, c, d] = self.order;
        self.order = match place {
            0 => return,
            1 => [b, a, c, d],
            2 => [c, a, b, d],
            _ => [d, a, b, c],
        };
    }
}
