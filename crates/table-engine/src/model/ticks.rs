//! Points in time as the service counts them.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::text;

pub(super) const PER_SECOND: u64 = 10_000_000;
const PER_HOUR: u64 = 3_600 * PER_SECOND;
const PER_DAY: u64 = 24 * PER_HOUR;
/// Ticks from 0001-01-01 to 1970-01-01.
pub(super) const UNIX_EPOCH_TICKS: u64 = 621_355_968_000_000_000;

/// A point in time in UTC: the number of 100 ns ticks since 0001-01-01T00:00:00.
///
/// This is .NET's `DateTime.Ticks`, the form in which the design guide puts times into keys. The largest value
/// is the last tick of the year 9999.
///
/// ```
/// use table_core::Ticks;
///
/// let t: Ticks = "2014-07-31T18:00:00Z".parse()?;
/// assert_eq!(t.get(), 635_424_264_000_000_000);
/// assert_eq!(t.to_string(), "2014-07-31T18:00:00Z");
///
/// // The newest sorts first: the log-tail pattern.
/// let later = Ticks::new(t.get() + 1).unwrap();
/// assert!(later.inverted() < t.inverted());
/// assert_eq!(Ticks::from_inverted(t.inverted()), Some(t));
/// # Ok::<(), table_core::model::ParseTicksError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(u64);

impl Ticks {
    /// 0001-01-01T00:00:00Z.
    pub const MIN: Self = Self(0);
    /// The last tick of the year 9999: .NET's `DateTime.MaxValue.Ticks`.
    pub const MAX: Self = Self(3_155_378_975_999_999_999);
    /// 1601-01-01T00:00:00Z, the earliest time that a `DateTime` property may hold.
    pub const MIN_PROPERTY: Self = Self(504_911_232_000_000_000);
    /// 1970-01-01T00:00:00Z, from which Unix counts.
    ///
    /// ```
    /// use std::time::Duration;
    /// use table_core::Ticks;
    ///
    /// let seconds = 1_406_829_600;
    /// let t = Ticks::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap();
    /// assert_eq!(t.to_string(), "2014-07-31T18:00:00Z");
    /// assert_eq!(t.saturating_since(Ticks::UNIX_EPOCH).as_secs(), seconds);
    /// ```
    pub const UNIX_EPOCH: Self = Self(UNIX_EPOCH_TICKS);

    /// Returns the time with this number of ticks, or `None` beyond the year 9999.
    pub const fn new(ticks: u64) -> Option<Self> {
        if ticks <= Self::MAX.0 { Some(Self(ticks)) } else { None }
    }

    /// Returns the number of ticks since 0001-01-01.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns `DateTime.MaxValue.Ticks - ticks`: the form whose text sorts the newest first.
    pub const fn inverted(self) -> u64 {
        Self::MAX.0 - self.0
    }

    /// Returns the time whose [inverted](Self::inverted) form this is.
    pub const fn from_inverted(inverted: u64) -> Option<Self> {
        match Self::MAX.0.checked_sub(inverted) {
            Some(ticks) => Some(Self(ticks)),
            None => None,
        }
    }

    /// Returns the present time by the system's clock; clocks set before the year 1 or after 9999 give the nearest
    /// time there is.
    pub fn now() -> Self {
        match Self::try_from(SystemTime::now()) {
            Ok(now) => now,
            Err(TicksOutOfRange { .. }) => Self::MAX,
        }
    }

    /// Returns the time so much later, or `None` beyond the year 9999. Less than a tick is left out.
    pub fn checked_add(self, span: Duration) -> Option<Self> {
        Self::new(self.0.checked_add(ticks_of(span)?)?)
    }

    /// Returns the time so much earlier, or `None` before the year 1. Less than a tick is left out.
    pub fn checked_sub(self, span: Duration) -> Option<Self> {
        self.0.checked_sub(ticks_of(span)?).map(Self)
    }

    /// Returns the time from `earlier` to this one; zero if `earlier` is later.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        let ticks = self.0.saturating_sub(earlier.0);
        Duration::from_secs(ticks / PER_SECOND) + Duration::from_nanos(ticks % PER_SECOND * 100)
    }

    /// The ticks of an hour.
    pub(crate) const HOUR: u64 = PER_HOUR;

    /// Returns the beginning of this hour of a year, month and day; `None` where there is none such.
    pub(crate) fn of_date([year, month, day, hour]: [u64; 4]) -> Option<Self> {
        let days = days_from_civil(year, month, day)?;
        (hour < 24).then_some(Self(days * PER_DAY + hour * PER_HOUR))
    }

    /// Bytes of the longest text of a time.
    pub const TEXT_BYTES: usize = 28;

    /// Writes the text into a buffer, and returns it: what `Display` writes, without a formatter or an allocation.
    ///
    /// ```
    /// use table_core::Ticks;
    ///
    /// let time: Ticks = "2014-07-31T18:00:00.5Z".parse()?;
    /// let mut buffer = [0; Ticks::TEXT_BYTES];
    /// assert_eq!(time.encode(&mut buffer), "2014-07-31T18:00:00.5000000Z");
    /// # Ok::<(), table_core::model::ParseTicksError>(())
    /// ```
    #[inline]
    pub fn encode(self, buffer: &mut [u8; Self::TEXT_BYTES]) -> &str {
        let Text { year, month, day, hour, minute, second, fraction } = self.text();
        let ([y0, y1, y2, y3], [m0, m1], [d0, d1]) = (year, month, day);
        let ([h0, h1], [i0, i1], [s0, s1]) = (hour, minute, second);
        let [f0, f1, f2, f3, f4, f5, f6] = fraction;
        *buffer = [
            y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b'T', h0, h1, b':', i0, i1, b':', s0, s1, b'.', f0,
            f1, f2, f3, f4, f5, f6, b'Z',
        ];
        let mut length = Self::TEXT_BYTES;
        if fraction == [b'0'; 7] {
            length = 20;
            if let Some(point) = buffer.get_mut(19) {
                *point = b'Z';
            }
        }
        buffer.get(..length).and_then(text::of).unwrap_or_default()
    }

    /// Returns the digits of the time's text.
    #[inline]
    pub(super) fn text(self) -> Text {
        let t = self.civil();
        Text {
            year: digits(t.year),
            month: digits(t.month),
            day: digits(t.day),
            hour: digits(t.hour),
            minute: digits(t.minute),
            second: digits(t.second),
            fraction: digits(t.fraction),
        }
    }

    /// Returns year, month, day, hour, minute, second and ticks of the second.
    pub(crate) fn civil(self) -> Civil {
        let (year, month, day) = civil_from_days(self.0 / PER_DAY);
        let in_day = self.0 % PER_DAY;
        let seconds = in_day / PER_SECOND;
        Civil {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            fraction: in_day % PER_SECOND,
        }
    }
}

impl Civil {
    /// Returns the number of the day in its year. The first of January is day 1.
    pub(crate) fn day_of_year(&self) -> u64 {
        let first = days_from_civil(self.year, 1, 1).unwrap_or_default();
        let day = days_from_civil(self.year, self.month, self.day).unwrap_or_default();
        day - first + 1
    }
}

fn ticks_of(span: Duration) -> Option<u64> {
    span.as_secs().checked_mul(PER_SECOND)?.checked_add(u64::from(span.subsec_nanos() / 100))
}

/// A time taken apart; all in UTC.
#[derive(Clone, Copy)]
pub(crate) struct Civil {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
    /// In ticks, below 10,000,000.
    pub(crate) fraction: u64,
}

/// A time's digits, as its text has them.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) year: [u8; 4],
    pub(super) month: [u8; 2],
    pub(super) day: [u8; 2],
    pub(super) hour: [u8; 2],
    pub(super) minute: [u8; 2],
    pub(super) second: [u8; 2],
    pub(super) fraction: [u8; 7],
}

/// Returns the last digits of a number.
#[inline]
fn digits<const N: usize>(number: u64) -> [u8; N] {
    // No part of a time takes more than 32 bits, in which division is quicker.
    let mut rest = u32::try_from(number).unwrap_or_default();
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit += u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    digits
}

/// Days before each month in a year that starts in March, so that the leap day comes last.
const BEFORE_MONTH: [u64; 12] = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337];

/// Returns year, month and day of a day counted from 0001-01-01 in the proleptic Gregorian calendar.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    // Counted from 0000-03-01, four hundred years have 146,097 days and every leap day ends a year.
    let days = days + 306;
    let (cycle, in_cycle) = (days / 146_097, days % 146_097);
    let year_of_cycle = (in_cycle - in_cycle / 1_460 + in_cycle / 36_524 - in_cycle / 146_096) / 365;
    let day_of_year = in_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let mut from_march = 0;
    let mut before = 0;
    for (index, start) in (0_u64..).zip(BEFORE_MONTH) {
        if start <= day_of_year {
            (from_march, before) = (index, start);
        }
    }
    let year = cycle * 400 + year_of_cycle + u64::from(from_march >= 10);
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year, month, day_of_year - before + 1)
}

/// Days from 0001-01-01 to this date, or `None` where there is no such date.
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if day > length {
        return None;
    }
    let from_march = (month + 9) % 12;
    let year = if month < 3 { year - 1 } else { year };
    let before = BEFORE_MONTH.get(usize::try_from(from_march).ok()?)?;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + before + day - 1 - 306)
}

/// `2014-07-31T18:00:00.1234567Z`, without the fraction where it is zero.
impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.encode(&mut [0; Self::TEXT_BYTES]))
    }
}

/// The text is not a time that [`Ticks`] can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseTicksError(());

impl fmt::Display for ParseTicksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a UTC time such as `2014-07-31T18:00:00Z`, with at most seven decimals of a second")
    }
}

impl std::error::Error for ParseTicksError {}

/// Reads ISO 8601 in UTC: a date, or a date and a time to the minute, the second or up to seven decimals of it,
/// with `Z` or without.
impl FromStr for Ticks {
    type Err = ParseTicksError;

    fn from_str(text: &str) -> Result<Self, ParseTicksError> {
        parse(text).ok_or(ParseTicksError(()))
    }
}

fn parse(text: &str) -> Option<Ticks> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let days =
        days_from_civil(number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?)?;
    if parts.next().is_some() {
        return None;
    }
    let mut ticks = days * PER_DAY;
    if let Some(time) = time {
        let mut parts = time.split(':');
        let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
        let (second, fraction) = match parts.next() {
            None => (0, 0),
            Some(text) => match text.split_once('.') {
                None => (number(text, 2)?, 0),
                Some((second, fraction)) => (number(second, 2)?, decimals(fraction)?),
            },
        };
        if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        ticks += (hour * 3600 + minute * 60 + second) * PER_SECOND + fraction;
    }
    Ticks::new(ticks)
}

/// Returns a number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<u64> {
    if text.len() == digits && text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// Reads one to seven decimals of a second, in ticks.
fn decimals(text: &str) -> Option<u64> {
    let missing = 7_usize.checked_sub(text.len())?;
    Some(number(text, text.len())? * 10_u64.pow(u32::try_from(missing).ok()?))
}

/// A time before the year 1 or after the year 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicksOutOfRange(pub(super) ());

impl fmt::Display for TicksOutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is outside the years 1 to 9999")
    }
}

impl std::error::Error for TicksOutOfRange {}

/// Floors to the tick.
impl TryFrom<SystemTime> for Ticks {
    type Error = TicksOutOfRange;

    fn try_from(time: SystemTime) -> Result<Self, TicksOutOfRange> {
        let ticks = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => ticks_of(after).and_then(|ticks| ticks.checked_add(UNIX_EPOCH_TICKS)),
            Err(before) => {
                let before = before.duration();
                // Flooring a time before the epoch means going further back.
                let partial = u64::from(before.subsec_nanos() % 100 != 0);
                ticks_of(before)
                    .and_then(|ticks| ticks.checked_add(partial))
                    .and_then(|ticks| UNIX_EPOCH_TICKS.checked_sub(ticks))
            }
        };
        ticks.and_then(Self::new).ok_or(TicksOutOfRange(()))
    }
}

impl From<Ticks> for SystemTime {
    fn from(ticks: Ticks) -> Self {
        if ticks >= Ticks::UNIX_EPOCH {
            UNIX_EPOCH + ticks.saturating_since(Ticks::UNIX_EPOCH)
        } else {
            UNIX_EPOCH - Ticks::UNIX_EPOCH.saturating_since(ticks)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_have_their_dotnet_ticks() {
        for (text, ticks) in [
            ("0001-01-01T00:00:00Z", 0),
            ("1601-01-01T00:00:00Z", 504_911_232_000_000_000),
            ("1970-01-01T00:00:00Z", 621_355_968_000_000_000),
            ("2000-02-29T23:59:59.9999999Z", 630_874_655_999_999_999),
            ("9999-12-31T23:59:59.9999999Z", 3_155_378_975_999_999_999),
        ] {
            let parsed: Ticks = text.parse().unwrap();
            assert_eq!(parsed.get(), ticks, "{text}");
            assert_eq!(parsed.to_string(), text);
        }
    }

    #[test]
    fn every_day_of_ten_thousand_years_survives_the_calendar() {
        let mut previous = (0, 12, 31);
        for days in 0..=Ticks::MAX.get() / PER_DAY {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), Some(days));
            assert!((year, month, day) > previous);
            previous = (year, month, day);
        }
        assert_eq!(previous, (9999, 12, 31));
    }

    #[test]
    fn malformed_times_are_refused() {
        for text in [
            "",
            "2014",
            "2014-7-31",
            "2014-02-29",
            "2014-13-01",
            "0000-01-01",
            "2014-07-31T24:00:00Z",
            "2014-07-31T18:60:00Z",
            "2014-07-31T18:00:60Z",
            "2014-07-31T18:00:00.12345678Z",
            "2014-07-31T18:00:00.Z",
            "2014-07-31T18Z",
            "2014-07-31T18:00:00+01:00",
            "2014-07-31 18:00:00Z",
            "+014-07-31",
        ] {
            assert!(text.parse::<Ticks>().is_err(), "{text}");
        }
        assert_eq!("2014-07-31T18:00".parse::<Ticks>(), "2014-07-31T18:00:00Z".parse());
        assert_eq!(
            "2014-07-31T18:00:00.5Z".parse::<Ticks>().unwrap().to_string(),
            "2014-07-31T18:00:00.5000000Z"
        );
    }

    #[test]
    fn system_times_floor_to_the_tick() {
        let after = UNIX_EPOCH + Duration::from_nanos(199);
        assert_eq!(Ticks::try_from(after).unwrap().get(), UNIX_EPOCH_TICKS + 1);
        let before = UNIX_EPOCH - Duration::from_nanos(1);
        assert_eq!(Ticks::try_from(before).unwrap().get(), UNIX_EPOCH_TICKS - 1);
        for ticks in [0, 1, UNIX_EPOCH_TICKS - 1, UNIX_EPOCH_TICKS + 1, Ticks::MAX.get()] {
            let ticks = Ticks::new(ticks).unwrap();
            assert_eq!(Ticks::try_from(SystemTime::from(ticks)), Ok(ticks));
        }
    }

    #[test]
    fn inverting_twice_gives_the_time_back() {
        assert_eq!(Ticks::MAX.inverted(), 0);
        assert_eq!(Ticks::from_inverted(Ticks::MAX.get() + 1), None);
        assert_eq!(Ticks::from_inverted(Ticks::MIN.inverted()), Some(Ticks::MIN));
    }

    #[test]
    fn arithmetic_ends_at_the_calendar() {
        assert_eq!(Ticks::MAX.checked_add(Duration::from_nanos(100)), None);
        assert_eq!(Ticks::MIN.checked_sub(Duration::from_nanos(100)), None);
        assert_eq!(Ticks::MIN.checked_add(Duration::MAX), None);
        assert_eq!(Ticks::MIN.checked_add(Duration::from_secs(1)).unwrap().get(), PER_SECOND);
    }
}
