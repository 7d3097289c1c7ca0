//! A table for each day beside one table with the same entities: a point read, a span of time, and what it takes to drop days.

use std::error::Error;
use std::time::{Duration, Instant};

use table_core::typed::Periods;
use table_core::{Durability, Entity, Store, Table, Ticks};

use crate::Arguments;
use crate::measure::{count_of, median, nanoseconds};
use crate::place::Place;
use crate::profile::profiled;
use crate::random::Random;
use crate::report;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The days of the year.
const DAYS: u32 = 365;
/// Who logs in.
const USERS: u32 = 10;
const DAY: Duration = Duration::from_secs(86_400);
/// Each cell is the median of so many.
const ROUNDS: usize = 9;

/// Declares a login of this name in a table for each day or in one. The time comes behind the user: days follow one another.
macro_rules! login {
    ($name:ident, $table:literal, $row:literal) => {
        #[derive(Entity)]
        #[entity(table = $table, kind = "login")]
        #[key(partition = "{user}", row = $row)]
        struct $name {
            user: String,
            number: u32,
            at: Ticks,
            address: String,
            count: i32,
        }

        impl $name {
            fn new(number: u32, at: Ticks) -> Self {
                let (user, address) = (user(number), format!("10.0.{}.{}", number % 7, number % 200));
                Self { user, number, at, address, count: 1 }
            }
        }
    };
}

login!(Daily, "Logins{at:%Y%m%d}", "at_{at:ticks}_{number:08}");
login!(Plain, "Plain", "at_{at:ticks}_{number:08}");
// Something else comes first: the rows of all days lie among each other.
login!(DailyMixed, "Mixed{at:%Y%m%d}", "n_{number:08}_{at:ticks}");
login!(PlainMixed, "PlainMixed", "n_{number:08}_{at:ticks}");

fn user(number: u32) -> String {
    format!("user{:02}", number % USERS)
}

fn first() -> Result<Ticks> {
    Ok("2014-01-01".parse()?)
}

/// When the login of this number was, of so many a day.
fn time(number: u32, a_day: u32) -> Result<Ticks> {
    let (day, of_day) = (number / a_day, number % a_day);
    let time = first()?.checked_add(DAY * day + DAY * of_day / a_day);
    time.ok_or_else(|| "beyond the calendar".into())
}

struct All {
    daily: Periods<Daily>,
    plain: Table<Plain>,
    mixed: Periods<DailyMixed>,
    plain_mixed: Table<PlainMixed>,
    a_day: u32,
}

impl All {
    fn new(store: &Store, rows: usize) -> Result<Self> {
        let a_day = (u32::try_from(rows)? / DAYS).max(USERS);
        let all = Self {
            daily: store.periods()?,
            plain: store.table()?,
            mixed: store.periods()?,
            plain_mixed: store.table()?,
            a_day,
        };
        let numbers = 0..a_day * DAYS;
        macro_rules! load {
            ($into:expr, $of:ident) => {{
                let logins = numbers.clone().map(|n| Ok($of::new(n, time(n, a_day)?)));
                let report = $into.bulk_insert(logins.collect::<Result<Vec<_>>>()?)?;
                if !report.failures.is_empty() {
                    return Err("some were not loaded".into());
                }
            }};
        }
        load!(all.daily, Daily);
        load!(all.plain, Plain);
        load!(all.mixed, DailyMixed);
        load!(all.plain_mixed, PlainMixed);
        Ok(all)
    }

    /// Logins by their numbers, read one by one.
    fn points(&self, numbers: &[u32], is_daily: bool) -> Result<u64> {
        let mut found = 0;
        for number in numbers {
            let (user, at) = (user(*number), time(*number, self.a_day)?);
            found += u64::from(if is_daily {
                self.daily.get(Daily::key(&user, at, *number))?.is_some()
            } else {
                self.plain.get(Plain::key(&user, at, *number))?.is_some()
            });
        }
        Ok(found)
    }

    /// The logins of so many days of a user, counted by reading each.
    fn span(&self, days: u32, is_daily: bool, is_mixed: bool) -> Result<u64> {
        let from = first()?;
        let to = from.checked_add(DAY * days).ok_or("beyond the calendar")?;
        let (user, mut sum) = (user(3), 0);
        match (is_daily, is_mixed) {
            (true, false) => {
                for login in self.daily.during(from..to)?.rows().user(&user) {
                    sum += u64::from(login?.count == 1);
                }
            }
            (false, false) => {
                for login in self.plain.rows().user(&user).at(from..to) {
                    sum += u64::from(login?.count == 1);
                }
            }
            (true, true) => {
                for login in self.mixed.during(from..to)?.rows().user(&user) {
                    sum += u64::from(login?.count == 1);
                }
            }
            (false, true) => {
                for login in self.plain_mixed.rows().user(&user).filter(|login| login.at.lt(to)) {
                    sum += u64::from(login?.count == 1);
                }
            }
        }
        Ok(sum)
    }
}

/// The medians of two works in nanoseconds for each of what they count, round by round in turn.
fn both(mut work: impl FnMut(bool) -> Result<u64>) -> Result<[f64; 2]> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (times, is_daily) in times.iter_mut().zip([true, false]) {
            let begun = Instant::now();
            let count = work(is_daily)?;
            times.push(nanoseconds(begun.elapsed()) / count_of(count.max(1)));
        }
    }
    Ok(times.map(|times| median(&times)))
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::in_memory()?;
    let options = Store::options().durability(Durability::Relaxed).map_size(4 << 30);
    let store = options.open(place.join("periods"))?;
    let all = All::new(&store, usize::try_from(arguments.rows)?)?;
    let mut random = Random::new(1);
    let last = u64::from(all.a_day * DAYS);
    let numbers = (0..arguments.count.max(2_000)).map(|_| Ok(u32::try_from(random.below(last))?));
    let numbers = numbers.collect::<Result<Vec<_>>>()?;
    if arguments.op == "point" || arguments.op == "point-plain" {
        let is_daily = arguments.op == "point";
        // Each table is known by then.
        all.points(&numbers, is_daily)?;
        let found = profiled(|| all.points(&numbers, is_daily))?;
        println!("{}: {found} operations", arguments.op);
        return Ok(());
    }
    println!("\n## A table for each period");
    let words = "relaxed, in memory; one thread; medians of nine rounds in turn";
    report::machine(place.path(), words);
    println!("{} logins in {DAYS} days\n", all.a_day * DAYS);
    println!("| | 365 tables, ns | one table, ns | ratio |\n| --- | ---: | ---: | ---: |");
    let line = |what: &str, [daily, plain]: [f64; 2]| {
        println!("| {what} | {daily:.0} | {plain:.0} | {:.2} |", daily / plain);
    };
    line("a point read", both(|is_daily| all.points(&numbers, is_daily))?);
    for (is_mixed, how) in
        [(false, "days follow one another"), (true, "merged, beside one table with a filter")]
    {
        for days in [1, 30, 365] {
            let each = both(|is_daily| all.span(days, is_daily, is_mixed))?;
            line(&format!("a row of {days} days; {how}"), each);
        }
    }
    drop((all, store));

    let store = options.open(place.join("dropping"))?;
    let daily = store.periods::<Daily>()?;
    let a_day = 10_000;
    for day in 0..DAYS {
        let logins = (day * a_day..(day + 1) * a_day).map(|n| Ok(Daily::new(n, time(n, a_day)?)));
        daily.bulk_insert(logins.collect::<Result<Vec<_>>>()?)?.into_result()?;
    }
    let begun = Instant::now();
    let dropped = daily.drop_before(first()?.checked_add(DAY * DAYS).ok_or("beyond the calendar")?)?;
    let took = begun.elapsed();
    let begun = Instant::now();
    store.reclaim()?;
    println!(
        "\n{} periods of {a_day} rows dropped in {:.1} ms; their space is back after {:.1} s.",
        dropped.tables,
        took.as_secs_f64() * 1e3,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
