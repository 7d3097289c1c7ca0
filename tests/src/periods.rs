//! Work on periods, for processes that are killed in the middle of it: entities of days that pass, and days that go.

use std::collections::BTreeSet;

use table_core::typed::Periods;
use table_core::{Entity, ErrorKind, Result, Store, Ticks};

use crate::random::Random;

/// A login of a user.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "at_{at:ticks}")]
#[index(by_address, row = "address_{address}_{at:ticks}")]
pub struct Login {
    /// Who.
    pub user: String,
    /// When.
    pub at: Ticks,
    /// From where.
    pub address: u32,
}

const DAY: u64 = 24 * 36_000_000_000;

/// One who writes logins of the days about now, which pass with each step.
#[derive(Debug)]
pub struct Worker {
    logins: Periods<Login>,
    user: String,
    random: Random,
    step: u64,
}

impl Worker {
    /// A worker with choices of its own, at this day of its calendar.
    pub fn new(store: &Store, seed: u64, day: u64) -> Result<Self> {
        let user = format!("user{seed}");
        Ok(Self { logins: store.periods()?, user, random: Random::new(seed), step: day * 8 })
    }

    /// Does one thing; what was done, for who counts on it.
    pub fn step(&mut self) -> Option<String> {
        self.step += 1;
        let today = Ticks::UNIX_EPOCH.get() + self.step / 8 * DAY;
        if self.random.below(16) == 0 {
            let until = Ticks::new(today - self.random.below(5) * DAY)?;
            let dropped = self.logins.drop_before(until);
            return dropped.ok().map(|dropped| format!("floor {}", dropped.floor.get()));
        }
        let ago = self.random.below(6) * DAY;
        let at = Ticks::new(today + self.random.below(DAY) - ago)?;
        let address = u32::try_from(self.random.below(9)).ok()?;
        let login = Login { user: self.user.clone(), at, address };
        match self.logins.insert(&login) {
            Ok(_) => Some(format!("in {} {}", login.user, at.get())),
            Err(error) => {
                let expected = [ErrorKind::PeriodDropped, ErrorKind::EntityAlreadyExists];
                assert!(expected.contains(&error.kind()), "{error}");
                None
            }
        }
    }
}

/// What was acknowledged.
#[derive(Debug, Default)]
pub struct Known {
    logins: BTreeSet<(String, u64)>,
    /// The highest floor.
    pub floor: u64,
}

impl Known {
    /// Takes in what a worker has said.
    pub fn hear(&mut self, line: &str) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["in", user, at] => drop(self.logins.insert((user.to_owned(), at.parse().unwrap_or_default()))),
            ["floor", floor] => self.floor = self.floor.max(floor.parse().unwrap_or_default()),
            _ => {}
        }
    }

    /// What is not as it was acknowledged: a login that is lost, or a day that is dropped and there. Returns how many logins
    /// there are, and the floor.
    pub fn check(&self, store: &Store) -> Result<(usize, Ticks), String> {
        let words = |error: table_core::Error| error.to_string();
        let logins = store.periods::<Login>().map_err(words)?;
        let floor = logins.floor().map_err(words)?;
        if floor.get() < self.floor {
            return Err(format!("the floor went back from {} to {}", self.floor, floor.get()));
        }
        let mut there = BTreeSet::new();
        for login in logins.all_periods().all() {
            let login = login.map_err(words)?;
            there.insert((login.user.clone(), login.at.get()));
        }
        if let Some((user, at)) = there.iter().find(|(_, at)| *at < floor.get()) {
            return Err(format!("{user} at {at} is there, below {}", floor.get()));
        }
        let lost = self.logins.iter().find(|login| login.1 >= floor.get() && !there.contains(*login));
        if let Some((user, at)) = lost {
            return Err(format!("{user} at {at} is lost, above {}", floor.get()));
        }
        let first = logins.list().map_err(words)?.first().map_or(Ticks::MAX, |period| period.start);
        if first < floor {
            return Err(format!("a period of {first} is there, below {floor}"));
        }
        if floor > Ticks::MIN_PROPERTY {
            let at = Ticks::new(floor.get() - 1).ok_or("before the calendar")?;
            let late = logins.insert(&Login { user: "late".into(), at, address: 0 });
            if late.map_err(|error| error.kind()) != Err(ErrorKind::PeriodDropped) {
                return Err(format!("an entity before {floor} was taken"));
            }
        }
        Ok((there.len(), floor))
    }
}
