//! The dates of headers.

use table_core::Ticks;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads a date in the form that HTTP has, of RFC 1123: `Sat, 28 Nov 2026 03:20:00 GMT`. Which day of the week it says is not
/// compared with the rest.
pub(super) fn parse(text: &str) -> Option<Ticks> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
