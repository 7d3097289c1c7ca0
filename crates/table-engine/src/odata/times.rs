//! Times as text of a fixed form: `2014-07-31T18:00:00.1234567Z`.

use crate::model::{ETag, Ticks};

/// The text of a time with its seven decimals.
pub(super) type TimeText = [u8; 28];

/// What the text of a version is around its time, whose colons are escaped.
const BEFORE: &[u8] = b"W/\"datetime'";
const AFTER: &[u8] = b"'\"";

/// Returns the text of a time, all seven decimals of it.
pub(super) fn text_of(time: Ticks) -> TimeText {
    let t = time.civil();
    let mut text = *b"0000-00-00T00:00:00.0000000Z";
    let [y1, y2, y3, y4, _, m1, m2, _, d1, d2, _, h1, h2, _, n1, n2, _, s1, s2, _, fraction @ .., _] =
        &mut text;
    let pairs = [
        (y1, y2, t.year / 100),
        (y3, y4, t.year % 100),
        (m1, m2, t.month),
        (d1, d2, t.day),
        (h1, h2, t.hour),
        (n1, n2, t.minute),
        (s1, s2, t.second),
    ];
    for (tens, ones, number) in pairs {
        (*tens, *ones) = (digit(number / 10), digit(number));
    }
    let mut rest = t.fraction;
    for place in fraction.iter_mut().rev() {
        *place = digit(rest);
        rest /= 10;
    }
    text
}

/// Returns the last digit of a number.
#[inline]
fn digit(number: u64) -> u8 {
    b'0' + u8::try_from(number % 10).unwrap_or_default()
}

/// Returns the text of a time without the decimals that are all zero.
#[inline]
pub(super) fn shortened(text: &TimeText) -> (&[u8], &[u8]) {
    match text.split_at(19) {
        (whole, b".0000000Z") => (whole, b"Z"),
        both => both,
    }
}

/// Returns the time of a text in the form that [`text_of`] gives, with less decimals or none, too.
pub(super) fn parse(text: &[u8]) -> Option<Ticks> {
    let (whole, fraction) = text.split_first_chunk::<19>()?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2] = *whole
    else {
        return None;
    };
    let clock = [number([n1, n2])?, number([s1, s2])?];
    let date = [number([y1, y2, y3, y4])?, number([m1, m2])?, number([d1, d2])?, number([h1, h2])?];
    let fraction = match fraction {
        [b'.', digits @ .., b'Z'] if (1..=7).contains(&digits.len()) => {
            let mut seven = *b"0000000";
            seven.iter_mut().zip(digits).for_each(|(place, digit)| *place = *digit);
            number(seven)?
        }
        b"Z" => 0,
        _ => return None,
    };
    let [minute, second] = clock;
    if minute > 59 || second > 59 {
        return None;
    }
    let hour = Ticks::of_date(date)?;
    Ticks::new(hour.get() + (minute * 60 + second) * 10_000_000 + fraction)
}

/// Returns the number that some digits say.
#[inline]
fn number<const N: usize>(digits: [u8; N]) -> Option<u64> {
    let mut number = 0;
    for digit in digits {
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return None;
        }
        number = number * 10 + u64::from(value);
    }
    Some(number)
}

/// Appends the text of a version, as a string in JSON, by the text of its time.
pub(super) fn etag(time: &TimeText, out: &mut Vec<u8>) {
    let [date @ .., b':', m1, m2, b':', s1, s2, b'.', f1, f2, f3, f4, f5, f6, f7, b'Z'] = time else {
        return;
    };
    out.extend_from_slice(b"\"W/\\\"datetime'");
    out.extend_from_slice(date);
    out.extend_from_slice(&[b'%', b'3', b'A', *m1, *m2, b'%', b'3', b'A', *s1, *s2, b'.']);
    out.extend_from_slice(&[*f1, *f2, *f3, *f4, *f5, *f6, *f7]);
    out.extend_from_slice(b"Z'\\\"\"");
}

/// Returns the version that a text says, if it is one of the service's.
pub(super) fn parse_etag(text: &[u8]) -> Option<ETag> {
    let time = text.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    etag_of(time)
}

/// Returns the version that a string in JSON says, if it is one of the service's, and its escapes are the usual ones.
#[inline]
pub(super) fn parse_raw_etag(raw: &[u8]) -> Option<ETag> {
    etag_of(raw.strip_prefix(b"W/\\\"datetime'")?.strip_suffix(b"'\\\"")?)
}

/// Returns the version of a time whose colons are escaped.
fn etag_of(time: &[u8]) -> Option<ETag> {
    let (date, rest) = time.split_first_chunk::<13>()?;
    let [b'%', b'3', b'A', m1, m2, b'%', b'3', b'A', s1, s2, fraction @ ..] = rest else { return None };
    let mut plain = *b"0000-00-00T00:00:00.0000000Z";
    let (start, others) = plain.split_first_chunk_mut::<13>()?;
    *start = *date;
    let [_, minute1, minute2, _, second1, second2, decimals @ ..] = others else { return None };
    (*minute1, *minute2, *second1, *second2) = (*m1, *m2, *s1, *s2);
    // One version has one text, with all decimals.
    if fraction.len() != decimals.len() {
        return None;
    }
    decimals.copy_from_slice(fraction);
    parse(&plain).map(ETag::from_timestamp)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(time: Ticks) -> String {
        let text = text_of(time);
        let (whole, rest) = shortened(&text);
        String::from_utf8([whole, rest].concat()).unwrap()
    }

    fn written(etag_of: Ticks) -> String {
        let mut out = Vec::new();
        etag(&text_of(etag_of), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn other_texts_are_no_time() {
        for text in [
            "",
            "2014-07-31",
            "2014-07-31T18:00:00",
            "2014-07-31T18:00:00.Z",
            "2014-07-31T18:00:00.12345678Z",
            "2014-02-29T00:00:00Z",
            "2014-07-31T24:00:00Z",
            "2014-07-31T18:60:00Z",
            "2014-07-31T18:00:60Z",
            "2014-07-31t18:00:00Z",
            "2014-07-31T18:00:00.12a4567Z",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(b"2014-07-31T18:00:00.5Z").unwrap().to_string(), "2014-07-31T18:00:00.5000000Z");
    }

    proptest! {
        #[test]
        fn texts_are_those_of_the_model(ticks in 0..=Ticks::MAX.get(), whole: bool) {
            let ticks = if whole { ticks - ticks % 10_000_000 } else { ticks };
            let time = Ticks::new(ticks).unwrap();
            prop_assert_eq!(shown(time), time.to_string());
            prop_assert_eq!(parse(time.to_string().as_bytes()), Some(time));
            let etag = ETag::from_timestamp(time);
            prop_assert_eq!(written(time), format!("{:?}", etag.to_string()));
            prop_assert_eq!(parse_etag(etag.to_string().as_bytes()), Some(etag));
        }

        #[test]
        fn what_is_a_version_here_is_one_of_the_model(at in 0..55_usize, byte in "[0-9:%.ZW/']", cut: bool) {
            let mut text = ETag::from_timestamp(Ticks::UNIX_EPOCH).to_string();
            let end = if cut { at } else { at + 1 };
            if end <= text.len() {
                text.replace_range(at..end, &byte);
            }
            // One of another store is the version of nothing.
            let own = text.parse().ok().filter(|etag: &ETag| !etag.is_foreign());
            prop_assert_eq!(parse_etag(text.as_bytes()), own);
        }
    }
}
