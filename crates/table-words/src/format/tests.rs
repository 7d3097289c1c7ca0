use super::*;

#[test]
fn every_format_is_understood() {
    let day = TimePattern::parse("%Y%m%d").unwrap();
    for (text, format, width) in [
        ("", Format::Plain, None),
        ("01", Format::Pad(1), Some(1)),
        ("020", Format::Pad(20), Some(20)),
        ("offset", Format::Offset, None),
        ("inverted", Format::Inverted, None),
        ("06:inverted", Format::PadInverted(6), Some(6)),
        ("ticks", Format::Ticks, Some(TICKS_DIGITS)),
        ("%Y%m%d", Format::Time(day), Some(8)),
        ("escaped", Format::Escaped, None),
        ("lower", Format::Lower, None),
        ("shard(2)", Format::Shard(2), Some(2)),
        ("shard(100)", Format::Shard(100), Some(2)),
        ("blind", Format::Blind, Some(BLIND_DIGITS)),
    ] {
        assert_eq!(Format::parse(text), Ok(format), "{text}");
        assert_eq!(format.width(), width, "{text}");
    }
    for word in WORDS {
        assert!(Format::parse(word) != Err(Mistake::Unknown(word)), "{word}");
        assert!(ALL.contains(&format!("`{word}")), "{word}");
    }
}

/// What the macros say of each mistake is tested there.
#[test]
fn a_mistake_is_of_the_first_piece_that_has_one() {
    for (text, mistake) in [
        (":06", Mistake::Missing),
        ("06:", Mistake::Missing),
        ("x:", Mistake::Unknown("x")),
        ("shards", Mistake::Unknown("shards")),
        ("06x", Mistake::Unknown("06x")),
        ("offset:06", Mistake::OffsetHasWidth),
        ("lower:06", Mistake::Apart { first: "lower", second: "06", is_width: false }),
        ("99999999999999999999", Mistake::Wide("99999999999999999999")),
        ("shard()", Mistake::NoCount),
        ("shard(", Mistake::NoCount),
        ("shard(1", Mistake::NoCount),
        ("shard(-2)", Mistake::NoCount),
        ("shard(99999999999999999999)", Mistake::Shards("99999999999999999999")),
        ("%é", Mistake::TimeUnknown("é")),
        ("%Yé%y", Mistake::TimeBeyondAscii("é")),
        ("%Y%", Mistake::TimeEnds),
    ] {
        assert_eq!(Format::parse(text), Err(mistake), "{text}");
    }
}

#[test]
fn a_time_is_taken_apart() {
    use TimeItem::{Char, Day, DayOfYear, Hour, Minute, Month, Second, Year};
    for (text, items, width) in [
        ("%Y%m%d%H", vec![Year, Month, Day, Hour], 10),
        ("%Y-%jT%M:%S", vec![Year, Char('-'), DayOfYear, Char('T'), Minute, Char(':'), Second], 14),
        ("%d of", vec![Day, Char(' '), Char('o'), Char('f')], 5),
    ] {
        let pattern = TimePattern::parse(text).unwrap();
        assert_eq!(pattern.items().collect::<Vec<_>>(), items);
        assert_eq!((pattern.text(), pattern.width()), (text, width));
    }
}

#[test]
fn a_time_sorts_from_the_year_on() {
    for (text, is_ordered) in [
        ("%Y", true),
        ("%Y-%m-%dT%H:%M:%S", true),
        ("%Y%j%H", true),
        ("%Y%d", false),
        ("%m%Y", false),
        ("%Y%m%j", false),
        ("%H", false),
    ] {
        assert_eq!(TimePattern::parse(text).unwrap().is_ordered(), is_ordered, "{text}");
    }
}

#[test]
fn shards_have_two_digits_at_least() {
    for shards in [1, 2, 16, 100, 101, 1_000, 1_001, u32::MAX] {
        assert_eq!(shard_digits(shards), (shards - 1).to_string().len().max(2), "{shards}");
    }
}

#[test]
fn only_some_formats_give_the_value_back() {
    for (text, is_lossless) in [
        ("", true),
        ("06", true),
        ("06:inverted", true),
        ("escaped", true),
        ("%Y", false),
        ("lower", false),
        ("shard(4)", false),
        ("blind", false),
    ] {
        assert_eq!(Format::parse(text).unwrap().is_lossless(), is_lossless, "{text}");
    }
}
