//! Tables of periods: a kind of entity has one for each year, month, day or hour of a time in its key.
//!
//! Times are in UTC, by the proleptic Gregorian calendar, in the years 1 to 9999.

use std::fmt::Write;

use super::keys::gives_back;
use super::{Place, Schema, TableTemplate, Template, parse_field};
use crate::model::Ticks;

/// How long a table's period is, and how its name says when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Period {
    /// `%Y`: a year.
    Year,
    /// `%Y%m`: a month.
    Month,
    /// `%Y%m%d`: a day.
    Day,
    /// `%Y%j`: a day, by its number in the year.
    DayOfYear,
    /// `%Y%m%d%H`: an hour.
    Hour,
}

/// The tables of a kind that has one for each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeriodTables {
    /// The template as declared: `Logins{at:%Y%m%d}`.
    pub source: &'static str,
    /// What every table's name begins with; it ends with no digit.
    pub stem: &'static str,
    /// The field whose time says in which table an entity lies.
    pub field: usize,
    /// How long a period is.
    pub period: Period,
    /// How many seconds an entity is kept when what is older is asked to go.
    pub keep: Option<u64>,
}

impl PeriodTables {
    /// Returns the tables of a template, for the time in this field.
    #[must_use]
    pub const fn new(source: &'static str, stem: &'static str, field: usize, period: Period) -> Self {
        Self { source, stem, field, period, keep: None }
    }

    /// Returns the tables with entities that are kept for so many seconds.
    #[must_use]
    pub const fn keep(mut self, seconds: u64) -> Self {
        self.keep = Some(seconds);
        self
    }

    /// Returns the name of the table of the period that begins then.
    #[doc(hidden)]
    pub fn name(&self, start: Ticks) -> String {
        self.period.name(self.stem, start)
    }

    /// Returns when the period of the table of this name begins; `None` if it is no table of a period.
    #[doc(hidden)]
    pub fn start_of(&self, name: &str) -> Option<Ticks> {
        self.period.start_of(self.stem, name)
    }
}

impl Period {
    /// Every period.
    #[doc(hidden)]
    pub const ALL: [Self; 5] = [Self::Year, Self::Month, Self::Day, Self::DayOfYear, Self::Hour];

    /// Returns the number that stands for the period's length in records.
    #[doc(hidden)]
    pub const fn number(self) -> u8 {
        match self {
            Self::Year => 1,
            Self::Month => 2,
            Self::Day => 3,
            Self::DayOfYear => 4,
            Self::Hour => 5,
        }
    }

    /// Returns what stands for the period in the template of a table's name.
    #[doc(hidden)]
    pub const fn pattern(self) -> &'static str {
        match self {
            Self::Year => "%Y",
            Self::Month => "%Y%m",
            Self::Day => "%Y%m%d",
            Self::DayOfYear => "%Y%j",
            Self::Hour => "%Y%m%d%H",
        }
    }

    /// Returns how many digits a name ends with.
    const fn digits(self) -> usize {
        match self {
            Self::Year => 4,
            Self::Month => 6,
            Self::DayOfYear => 7,
            Self::Day => 8,
            Self::Hour => 10,
        }
    }

    /// Returns the beginning of the period that a time lies in.
    pub(crate) fn start(self, time: Ticks) -> Ticks {
        let civil = time.civil();
        let (month, day, hour) = match self {
            Self::Year => (1, 1, 0),
            Self::Month => (civil.month, 1, 0),
            Self::Day | Self::DayOfYear => (civil.month, civil.day, 0),
            Self::Hour => (civil.month, civil.day, civil.hour),
        };
        // A time has a date.
        Ticks::of_date([civil.year, month, day, hour]).unwrap_or(Ticks::MIN)
    }

    /// Returns the beginning of the next period; `None` behind the last.
    pub(crate) fn end(self, start: Ticks) -> Option<Ticks> {
        let civil = start.civil();
        match self {
            Self::Year => Ticks::of_date([civil.year + 1, 1, 1, 0]),
            Self::Month if civil.month == 12 => Ticks::of_date([civil.year + 1, 1, 1, 0]),
            Self::Month => Ticks::of_date([civil.year, civil.month + 1, 1, 0]),
            Self::Day | Self::DayOfYear => Ticks::new(start.get().checked_add(24 * Ticks::HOUR)?),
            Self::Hour => Ticks::new(start.get().checked_add(Ticks::HOUR)?),
        }
    }

    /// Returns the name of the table of the period that begins then.
    pub(crate) fn name(self, stem: &str, start: Ticks) -> String {
        let mut name = String::with_capacity(stem.len() + self.digits());
        name.push_str(stem);
        let civil = start.civil();
        let (year, month, day) = (civil.year, civil.month, civil.day);
        // Writing to a `String` can't fail.
        let _: std::fmt::Result = match self {
            Self::Year => write!(name, "{year:04}"),
            Self::Month => write!(name, "{year:04}{month:02}"),
            Self::Day => write!(name, "{year:04}{month:02}{day:02}"),
            Self::DayOfYear => write!(name, "{year:04}{:03}", civil.day_of_year()),
            Self::Hour => write!(name, "{year:04}{month:02}{day:02}{:02}", civil.hour),
        };
        name
    }

    /// Returns when the period of the table of this name begins; `None` if no period has it.
    #[doc(hidden)]
    pub fn start_of(self, stem: &str, name: &str) -> Option<Ticks> {
        let (head, digits) = name.split_at_checked(stem.len())?;
        if !head.eq_ignore_ascii_case(stem) {
            return None;
        }
        self.read(digits)
    }

    /// Returns when the period begins of which a name ends with these digits.
    fn read(self, digits: &str) -> Option<Ticks> {
        if digits.len() != self.digits() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = |from: usize, to: usize| digits.get(from..to)?.parse::<u64>().ok();
        let year = number(0, 4)?;
        match self {
            Self::Year => Ticks::of_date([year, 1, 1, 0]),
            Self::Month => Ticks::of_date([year, number(4, 6)?, 1, 0]),
            Self::Day => Ticks::of_date([year, number(4, 6)?, number(6, 8)?, 0]),
            Self::DayOfYear => {
                let first = Ticks::of_date([year, 1, 1, 0])?;
                let before = number(4, 7)?.checked_sub(1)?;
                let day = Ticks::new(first.get().checked_add(before.checked_mul(24 * Ticks::HOUR)?)?)?;
                // The year may have no such day.
                (day.civil().year == year).then_some(day)
            }
            Self::Hour => Ticks::of_date([year, number(4, 6)?, number(6, 8)?, number(8, 10)?]),
        }
    }
}

impl Schema {
    /// Returns the tables of the kind, if it has one for each period.
    #[must_use]
    pub const fn periods(&self) -> Option<&'static PeriodTables> {
        match &self.place().table {
            TableTemplate::Periods(tables) => Some(tables),
            TableTemplate::Fixed(_) => None,
        }
    }

    /// Returns whether its own rows lie in the table of this name.
    #[doc(hidden)]
    pub fn lies_in(&self, table: &str) -> bool {
        match self.place().table {
            TableTemplate::Fixed(name) => name.eq_ignore_ascii_case(table),
            TableTemplate::Periods(tables) => tables.start_of(table).is_some(),
        }
    }

    /// Returns the time of the entity that these keys of a place are of; `None` if they don't say it.
    pub(crate) fn time_in(place: &Place, tables: &PeriodTables, partition: &str, row: &str) -> Option<Ticks> {
        let templates = [(&place.row, row), (&place.partition, partition)];
        let holds = |(template, _): &(&Template, &str)| gives_back(template, tables.field);
        let (template, key) = templates.into_iter().find(holds)?;
        parse_field(template, key.as_bytes(), tables.field)?.as_value_ref()?.as_ticks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Ticks {
        text.parse().unwrap()
    }

    #[test]
    fn names_say_when_their_period_begins() {
        let time = at("2014-07-31T18:05:09.1234567Z");
        for (period, name, start, end) in [
            (Period::Year, "Logins2014", "2014-01-01", "2015-01-01"),
            (Period::Month, "Logins201407", "2014-07-01", "2014-08-01"),
            (Period::Day, "Logins20140731", "2014-07-31", "2014-08-01"),
            (Period::DayOfYear, "Logins2014212", "2014-07-31", "2014-08-01"),
            (Period::Hour, "Logins2014073118", "2014-07-31T18:00", "2014-07-31T19:00"),
        ] {
            let begins = period.start(time);
            assert_eq!(begins, at(start));
            assert_eq!(period.end(begins), Some(at(end)));
            assert_eq!(period.name("Logins", begins), name);
            assert_eq!(period.start_of("Logins", name), Some(begins));
            assert_eq!(period.start_of("LOGINS", &name.to_lowercase()), Some(begins));
            let others = Period::ALL.into_iter().filter(|other| *other != period);
            for other in others {
                assert_eq!(other.start_of("Logins", name), None, "{other:?} {name}");
            }
        }
    }

    #[test]
    fn every_period_of_ten_thousand_years_follows_the_one_before() {
        for period in [Period::Year, Period::Month, Period::Day, Period::DayOfYear] {
            let (mut start, mut last) = (Ticks::MIN, String::new());
            loop {
                let name = period.name("T", start);
                assert!(name > last, "{name} {last}");
                assert_eq!(period.start_of("T", &name), Some(start));
                assert_eq!(period.start(start), start);
                let Some(next) = period.end(start) else { break };
                assert_eq!(period.start(Ticks::new(next.get() - 1).unwrap()), start);
                (start, last) = (next, name);
            }
            assert_eq!(period.start(Ticks::MAX), start);
        }
        // The hours of days around the ends of months and of leap years.
        for day in ["0001-01-01", "1900-02-28", "2000-02-29", "2023-12-31", "9999-12-31"] {
            let mut start = at(day);
            for _ in 0..24 {
                let name = Period::Hour.name("T", start);
                assert_eq!(Period::Hour.start_of("T", &name), Some(start));
                let Some(next) = Period::Hour.end(start) else {
                    assert_eq!(Period::Hour.start(Ticks::MAX), start);
                    break;
                };
                assert_eq!(Period::Hour.start(Ticks::new(next.get() - 1).unwrap()), start);
                start = next;
            }
        }
    }

    #[test]
    fn what_is_no_date_is_no_period() {
        for (period, name) in [
            (Period::Year, "T0000"),
            (Period::Year, "T12345"),
            (Period::Year, "T+123"),
            (Period::Year, "U2014"),
            (Period::Year, "T"),
            (Period::Month, "T201413"),
            (Period::Month, "T201400"),
            (Period::Day, "T20140229"),
            (Period::Day, "T20140732"),
            (Period::Day, "T2014073x"),
            (Period::DayOfYear, "T2014366"),
            (Period::DayOfYear, "T2014000"),
            (Period::Hour, "T2014073124"),
        ] {
            assert_eq!(period.start_of("T", name), None, "{name}");
        }
        assert!(Period::DayOfYear.start_of("T", "T2016366").is_some());
    }
}
