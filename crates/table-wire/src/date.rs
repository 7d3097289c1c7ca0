//! The dates of headers.

use table_engine::Ticks;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const TICKS_OF_A_DAY: u64 = 24 * 60 * 60 * 10_000_000;

/// Reads a date in the form that HTTP has, of RFC 1123: `Sat, 28 Nov 2026 03:20:00 GMT`. Which day of the week it says is not
/// compared with the rest.
#[must_use]
pub fn parse(text: &str) -> Option<Ticks> {
    let (day_of_week, rest) = text.split_once(", ")?;
    let rest = rest.strip_suffix(" GMT")?;
    let mut parts = rest.split(' ');
    let (day, month, year, time) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if !DAYS.contains(&day_of_week) || parts.next().is_some() || time.len() != 8 {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    // Seconds may have no fraction here, which the other form allows: the length says so.
    format!("{year}-{month:02}-{day:0>2}T{time}Z").parse().ok()
}

/// Returns a time in the form that HTTP has, without the fraction of its second.
#[must_use]
pub fn format(time: Ticks) -> String {
    let text = time.to_string();
    let (day, clock) = text.split_once('T').unwrap_or_default();
    let mut parts = day.splitn(3, '-');
    let mut part = || parts.next().unwrap_or_default();
    let (year, month, day) = (part(), part(), part());
    let month =
        month.parse().ok().and_then(|month: usize| MONTHS.get(month.checked_sub(1)?)).unwrap_or(&"Jan");
    let clock = clock.get(..8).unwrap_or_default();
    // Ticks count from a Monday.
    let days = time.get() / TICKS_OF_A_DAY % 7;
    let day_of_week = usize::try_from(days).ok().and_then(|day| DAYS.get(day)).unwrap_or(&"Mon");
    format!("{day_of_week}, {day} {month} {year} {clock} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_as_it_is_read() {
        for (time, text) in [
            ("2026-11-28T03:20:09.1234567Z", "Sat, 28 Nov 2026 03:20:09 GMT"),
            ("2024-02-29T23:59:59Z", "Thu, 29 Feb 2024 23:59:59 GMT"),
            ("0001-01-01T00:00:00Z", "Mon, 01 Jan 0001 00:00:00 GMT"),
        ] {
            assert_eq!(format(time.parse().unwrap()), text);
            assert_eq!(parse(text).unwrap().to_string().get(..19), time.get(..19));
        }
    }

    #[test]
    fn dates_are_read_by_one_form() {
        let read = |text: &str| parse(text).map(|time| time.to_string());
        assert_eq!(read("Sat, 28 Nov 2026 03:20:09 GMT").as_deref(), Some("2026-11-28T03:20:09Z"));
        assert_eq!(read("Thu, 29 Feb 2024 23:59:59 GMT").as_deref(), Some("2024-02-29T23:59:59Z"));
        assert_eq!(read("Sun, 1 Nov 2026 00:00:00 GMT").as_deref(), Some("2026-11-01T00:00:00Z"));
        for bad in [
            "",
            "Sat, 28 Nov 2026 03:20:09",
            "Sat, 28 Nov 2026 03:20:09 UTC",
            "28 Nov 2026 03:20:09 GMT",
            "Sat, 31 Nov 2026 03:20:09 GMT",
            "Sat, 28 nov 2026 03:20:09 GMT",
            "Sat, 28 Nov 26 03:20:09 GMT",
            "Sat, 28 Nov 2026 3:20:09 GMT",
            "Sat, 28 Nov 2026 24:20:09 GMT",
            "Sat, 28 Nov 2026 03:20.0 GMT",
            "Sat, 28 Nov 2026 03:20 GMT",
            "Sat, 28 Nov 2026  03:20:09 GMT",
            "Sat, -8 Nov 2026 03:20:09 GMT",
            "Saturday, 28-Nov-26 03:20:09 GMT",
            "Sat Nov 28 03:20:09 2026",
            "2026-11-28T03:20:09Z",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
