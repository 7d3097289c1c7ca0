//! Spans and moments as they are typed: `90s`, `1h`, `2014-07-31T18:00:00Z`.

use std::time::Duration;

use table_core::Ticks;

/// Reads a span of time: a number, and `ms`, `s`, `m`, `h` or `d`.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no span of time such as 500ms, 90s, 15m, 1h or 7d");
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at_checked(digits).ok_or_else(wrong)?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let millis: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60 * 1_000,
        "h" => 60 * 60 * 1_000,
        "d" => 24 * 60 * 60 * 1_000,
        _ => return Err(wrong()),
    };
    number.checked_mul(millis).map(Duration::from_millis).ok_or_else(wrong)
}

/// Reads a moment: a time, or a span of time before now.
pub(crate) fn moment(text: &str) -> Result<Ticks, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let before = span(text).ok().and_then(|span| Ticks::now().checked_sub(span));
    before.ok_or_else(|| {
        format!("`{text}` is neither a time such as 2014-07-31T18:00:00Z nor a span such as 1h")
    })
}

/// Reads a time, or a day, which begins at midnight.
pub(crate) fn time(text: &str) -> Result<Ticks, String> {
    text.parse().map_err(|_| format!("`{text}` is no time such as 2027-01-01 or 2014-07-31T18:00:00Z"))
}

/// Prints a span of time, in its largest unit that leaves a whole number or a decimal.
pub(crate) fn printed(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        s if s < 1.0 => format!("{} ms", span.as_millis()),
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7_200.0 => format!("{:.1} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_moments_are_read() {
        assert_eq!(span("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(span("2d"), Ok(Duration::from_secs(172_800)));
        for wrong in ["", "s", "1", "1y", "99999999999999999999s", "18446744073709551615d", "1é"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
        assert_eq!(moment("2014-07-31T18:00:00Z"), Ok("2014-07-31T18:00:00Z".parse().unwrap()));
        let before = moment("1h").unwrap();
        assert!(before <= Ticks::now().checked_sub(Duration::from_secs(3_600)).unwrap());
        assert!(moment("soon").is_err());
        assert_eq!(printed(Duration::from_secs(90)), "90.0 s");
    }
}
