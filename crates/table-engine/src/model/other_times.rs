//! Times of other crates, as ticks and back.

#[cfg(feature = "jiff")]
mod with_jiff {
    use super::super::ticks::{PER_SECOND, Ticks, TicksOutOfRange, UNIX_EPOCH_TICKS};
    use jiff::Timestamp;

    /// Floors to the tick.
    impl TryFrom<Timestamp> for Ticks {
        type Error = TicksOutOfRange;

        fn try_from(time: Timestamp) -> Result<Self, TicksOutOfRange> {
            let ticks = time.as_nanosecond().div_euclid(100) + i128::from(UNIX_EPOCH_TICKS);
            u64::try_from(ticks).ok().and_then(Self::new).ok_or(TicksOutOfRange(()))
        }
    }

    /// jiff's range ends a few hours before the last tick of 9999.
    impl TryFrom<Ticks> for Timestamp {
        type Error = TicksOutOfRange;

        fn try_from(ticks: Ticks) -> Result<Self, TicksOutOfRange> {
            let seconds = i64::try_from(ticks.get() / PER_SECOND).map_err(|_| TicksOutOfRange(()))?
                - i64::try_from(UNIX_EPOCH_TICKS / PER_SECOND).map_err(|_| TicksOutOfRange(()))?;
            let nanos = i32::try_from(ticks.get() % PER_SECOND * 100).map_err(|_| TicksOutOfRange(()))?;
            Self::new(seconds, nanos).map_err(|_| TicksOutOfRange(()))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn jiff_and_ticks_agree() {
            for text in
                ["2026-11-20T20:37:52.6107149Z", "1969-12-31T23:59:59.9999999Z", "0001-01-01T00:00:00Z"]
            {
                let ticks: Ticks = text.parse().unwrap();
                let stamp: Timestamp = text.parse().unwrap();
                assert_eq!(Ticks::try_from(stamp).unwrap(), ticks);
                assert_eq!(Timestamp::try_from(ticks).unwrap(), stamp);
            }
        }
    }
}

#[cfg(feature = "chrono")]
mod with_chrono {
    use super::super::ticks::{PER_SECOND, Ticks, TicksOutOfRange, UNIX_EPOCH_TICKS};
    use chrono::{DateTime, Utc};

    /// Floors to the tick. A leap second is the first of the next minute.
    impl TryFrom<DateTime<Utc>> for Ticks {
        type Error = TicksOutOfRange;

        fn try_from(time: DateTime<Utc>) -> Result<Self, TicksOutOfRange> {
            let seconds = i128::from(time.timestamp()) * i128::from(PER_SECOND);
            let part = i128::from(time.timestamp_subsec_nanos() / 100);
            let ticks = seconds + part + i128::from(UNIX_EPOCH_TICKS);
            u64::try_from(ticks).ok().and_then(Self::new).ok_or(TicksOutOfRange(()))
        }
    }

    impl From<Ticks> for DateTime<Utc> {
        fn from(ticks: Ticks) -> Self {
            let at = |ticks: u64| {
                let epoch = i64::try_from(UNIX_EPOCH_TICKS / PER_SECOND).ok()?;
                let seconds = i64::try_from(ticks / PER_SECOND).ok()? - epoch;
                Self::from_timestamp(seconds, u32::try_from(ticks % PER_SECOND * 100).ok()?)
            };
            // chrono's years go to 262,142, those of ticks to 9999.
            at(ticks.get()).unwrap_or(Self::MAX_UTC)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn chrono_and_ticks_agree() {
            for text in [
                "2026-11-20T20:37:52.6107149Z",
                "1969-12-31T23:59:59.9999999Z",
                "0001-01-01T00:00:00Z",
                "9999-12-31T23:59:59.9999999Z",
            ] {
                let ticks: Ticks = text.parse().unwrap();
                let time: DateTime<Utc> = text.parse().unwrap();
                assert_eq!(Ticks::try_from(time), Ok(ticks));
                assert_eq!(DateTime::from(ticks), time);
            }
        }

        #[test]
        fn chronos_times_floor_and_end_with_the_calendar() {
            let before = DateTime::from_timestamp(-1, 999_999_999).unwrap();
            assert_eq!(Ticks::try_from(before).unwrap().get(), UNIX_EPOCH_TICKS - 1);
            let leap = DateTime::from_timestamp(59, 1_500_000_000).unwrap();
            assert_eq!(
                Ticks::try_from(leap).unwrap().get(),
                UNIX_EPOCH_TICKS + 60 * PER_SECOND + PER_SECOND / 2
            );
            for time in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
                assert!(Ticks::try_from(time).is_err());
            }
        }
    }
}
