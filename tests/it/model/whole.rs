//! What holds for the whole store, and over another opening.

use table_core::{Durability, ErrorKind, Result, Store};

use super::Run;
use super::oracle::{self};

impl Run {
    pub(super) fn stats(&mut self) {
        let stats = self.store.stats().unwrap();
        let counted = stats.tables.iter().map(|table| (table.name.clone(), table.entities as usize));
        let mut tables: Vec<_> =
            self.tables.values().map(|table| (table.name.clone(), table.rows.len())).collect();
        tables.sort_by_key(|(name, _)| name.to_ascii_lowercase());
        assert_eq!(counted.collect::<Vec<_>>(), tables);
        let names: Vec<_> = tables.into_iter().map(|(name, _)| name).collect();
        assert_eq!(self.store.tables().unwrap(), names);
        let living = self.snapshots.len() + self.readings.len();
        assert_eq!(self.store.snapshots().len(), living);
    }

    pub(super) fn check(&mut self) {
        self.count("checks");
        let report = self.store.check().unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        assert_eq!(report.tables as usize, self.tables.len());
        assert_eq!(report.rows as usize, self.tables.values().map(|table| table.rows.len()).sum::<usize>());
    }

    /// Compares everything there is.
    pub(super) fn whole(&mut self) {
        self.check();
        self.stats();
        for (id, table) in &self.tables {
            let found = self.handles[id].query(&table_core::Query::new()).unwrap();
            let found: Vec<_> = found.map(Result::unwrap).collect();
            assert!(oracle::compare(&table.rows, found.iter()));
        }
    }

    /// Opens the store with any options: none of them changes what it does.
    fn open(&mut self) -> Store {
        let durability = *self.random.pick(&[Durability::Durable, Durability::Relaxed]);
        let options = Store::options().durability(durability).verify_reads(!self.random.once_in(4));
        let options = options.group_limit(*self.random.pick(&[1, 256]));
        loop {
            match options.open(&self.path) {
                // A thread that frees space has it open still.
                Err(error) if error.kind() == ErrorKind::OptionsConflict => std::thread::yield_now(),
                opened => return opened.unwrap(),
            }
        }
    }

    /// Closes the store and opens it again, or a copy of it.
    pub(super) fn reopen(&mut self) {
        self.whole();
        let old = self.path.clone();
        let copied = self.random.once_in(4);
        if copied {
            self.path = self.scratch.path().join(format!("copy{}", self.step));
            self.store.copy_to(&self.path).unwrap();
        }
        self.snapshots.clear();
        self.readings.clear();
        self.handles.clear();
        // The field can't be left empty: another store stands in for the moment.
        let aside = Store::open(self.scratch.path().join("aside")).unwrap();
        drop(std::mem::replace(&mut self.store, aside));
        self.store = self.open();
        if copied {
            std::fs::remove_dir_all(old).unwrap();
        }
        // With the same options, it may be open still and be shared.
        let really = self.store.stats().unwrap().commits == 0;
        self.count(if copied {
            "copies"
        } else if really {
            "reopened"
        } else {
            "not closed"
        });
        for (id, table) in &self.tables {
            self.handles.insert(*id, self.store.dynamic_table(&table.name).unwrap());
        }
        self.whole();
    }
}
