//! Plans put together: those that touch no row of each other are carried out by one statement.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::table::TableEntry;
use crate::work::{Work, WorkAct, WorkKinds, WorkRow};

/// The most rows of a statement, unless one plan has more.
const MOST_ROWS: usize = 4_096;

/// Returns the plans in their order, those together that one statement may carry out.
pub(crate) fn batches(works: &[Work]) -> Vec<&[Work]> {
    let (mut batches, mut begun, mut seen) = (Vec::new(), 0, Seen::default());
    for (at, work) in works.iter().enumerate() {
        let first = works.get(begun).filter(|_| begun < at);
        let joins = first.is_none_or(|first| first.goes_with(work)) && seen.has_room_for(work);
        if !joins {
            batches.extend(works.get(begun..at));
            (begun, seen) = (at, Seen::default());
        }
        seen.add(work);
    }
    batches.extend(works.get(begun..).filter(|rest| !rest.is_empty()));
    batches
}

/// The rows of the plans of a batch.
#[derive(Default)]
struct Seen<'w> {
    /// By their table's number and their stored keys: whether they stay as they are.
    rows: HashMap<(u32, &'w str, &'w str), bool>,
    count: usize,
}

impl<'w> Seen<'w> {
    fn place(work: &Work, row: &'w WorkRow) -> (u32, &'w str, &'w str) {
        (work.tables.get(row.table).map_or(0, |entry| entry.id), &row.partition, &row.row)
    }

    /// Returns whether the plan touches no row that another changes, and changes none that another reads.
    fn has_room_for(&self, work: &'w Work) -> bool {
        let is_apart = |row: &'w WorkRow| {
            let stays = matches!(row.act, WorkAct::Keep);
            self.rows.get(&Self::place(work, row)).is_none_or(|others_stay| *others_stay && stays)
        };
        self.count == 0 || self.count + work.rows.len() <= MOST_ROWS && work.rows.iter().all(is_apart)
    }

    fn add(&mut self, work: &'w Work) {
        self.count += work.rows.len().max(1);
        for row in &work.rows {
            let stays = matches!(row.act, WorkAct::Keep);
            let others = self.rows.entry(Self::place(work, row)).or_insert(true);
            *others &= stays;
        }
    }
}

impl Work {
    /// Returns whether another plan may be carried out by one statement with it, if their rows are others.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        let alike = self.is_raw == other.is_raw
            && self.keeps_times == other.keeps_times
            && self.sealed_at == other.sealed_at
            && self.as_of == other.as_of;
        alike && self.is_of_rows_alone() && other.is_of_rows_alone()
    }

    /// Returns the plan of all of these, which go together.
    pub(crate) fn together(works: &[Self]) -> Self {
        let mut all = Self::without_rows(&works.iter().collect::<Vec<_>>());
        for work in works {
            let places: Vec<_> = work.tables.iter().map(|table| all.place_of(table)).collect();
            let place = |table: usize| places.get(table).copied().unwrap_or_default();
            let rows = work.rows.iter().map(|row| WorkRow { table: place(row.table), ..row.clone() });
            all.rows.extend(rows);
        }
        all
    }

    /// Returns what these, which go together, rely on, and the tables that they are of.
    pub(crate) fn without_rows(works: &[&Self]) -> Self {
        let mut all = Self {
            tables: Vec::new(),
            rows: Vec::new(),
            ranges: Vec::new(),
            kinds: Vec::new(),
            partitions: Vec::new(),
            is_raw: works.iter().all(|work| work.is_raw),
            keeps_times: works.iter().all(|work| work.keeps_times),
            sealed_at: works.iter().find_map(|work| work.sealed_at),
            as_of: works.iter().find_map(|work| work.as_of),
            #[cfg(feature = "blob")]
            references: Vec::new(),
            entries: None,
            #[cfg(feature = "queue")]
            messages: None,
        };
        let mut partitions = HashSet::new();
        for work in works {
            let places: Vec<_> = work.tables.iter().map(|table| all.place_of(table)).collect();
            for kinds in &work.kinds {
                all.rely_on(places.get(kinds.table).copied().unwrap_or_default(), kinds);
            }
            for partition in &work.partitions {
                if !partitions.contains(partition) {
                    partitions.insert(partition.clone());
                }
            }
        }
        all.partitions = partitions.into_iter().collect();
        // In one order for all plans, so that two seldom wait for each other.
        all.partitions.sort_unstable();
        all
    }

    pub(crate) fn place_of(&mut self, table: &Arc<TableEntry>) -> usize {
        if let Some(place) = self.tables.iter().position(|known| known.id == table.id) {
            return place;
        }
        self.tables.push(table.clone());
        self.tables.len() - 1
    }

    /// Takes in what rows of a table rely on, which those of most plans have in common.
    fn rely_on(&mut self, table: usize, kinds: &WorkKinds) {
        let known = self.kinds.iter_mut().find(|known| known.table == table && known.epochs == kinds.epochs);
        let Some(known) = known else {
            self.kinds.push(WorkKinds { table, ..kinds.clone() });
            return;
        };
        for declared in &kinds.declarations {
            if !known.declarations.iter().any(|known| std::ptr::eq(*known, *declared)) {
                known.declarations.push(declared);
            }
        }
    }
}
