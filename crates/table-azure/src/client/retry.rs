//! How often a request is sent, and how long is waited in between.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// How often a request is sent again that was not answered, or answered by a server that is busy or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    attempts: u32,
    first: Duration,
    longest: Duration,
}

impl Default for Retries {
    /// Five times, after up to 200 ms, 400 ms, and so on; never longer than 10 seconds, unless the service asks for it. After
    /// connections that broke the waits begin to double with the fourth.
    fn default() -> Self {
        Self { attempts: 5, first: Duration::from_millis(200), longest: Duration::from_secs(10) }
    }
}

/// Why a request is sent again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cause {
    /// The service is busy, or fails; it may ask to be left alone for so long.
    Busy(Option<Duration>),
    /// The connection broke, or could not be made.
    Lost,
}

/// The longest that the service is left alone because it asks for it.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

impl Retries {
    /// Makes a rule by which nothing is sent again.
    #[must_use]
    pub const fn none() -> Self {
        Self { attempts: 0, first: Duration::ZERO, longest: Duration::ZERO }
    }

    /// Returns the rule with so many attempts beyond the first.
    #[must_use]
    pub const fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Returns the rule with waits that begin at up to this long, and double.
    #[must_use]
    pub const fn first_wait(self, first: Duration) -> Self {
        Self { first, ..self }
    }

    /// Returns the rule with no wait longer than this.
    #[must_use]
    pub const fn longest_wait(self, longest: Duration) -> Self {
        Self { longest, ..self }
    }

    /// Returns how long is waited after so many attempts; `None` if there is to be no other. Who waits, waits by chance: many
    /// who were refused together do not come back together. `cause` is why there is to be another.
    pub(super) fn wait(&self, attempted: u32, cause: Cause) -> Option<Duration> {
        if attempted > self.attempts {
            return None;
        }
        // A connection that broke says nothing of the service, and the sooner it is asked again, the more it knows.
        let (asked, doublings) = match cause {
            Cause::Busy(asked) => (asked, attempted.saturating_sub(1)),
            Cause::Lost => (None, attempted.saturating_sub(3)),
        };
        let doubled = self.first.saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX));
        let most = doubled.min(self.longest);
        let by_chance = most / 2 + (most / 2).mul_f64(chance());
        Some(asked.map_or(by_chance, |asked| asked.min(LONGEST_ASKED).max(by_chance)))
    }
}

/// Returns a number from 0 to 1.
fn chance() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(0_u8) >> 32).unwrap_or_default();
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_by_chance_up_to_the_longest_and_end() {
        let retries = Retries::default().attempts(4).first_wait(Duration::from_millis(100));
        let retries = retries.longest_wait(Duration::from_millis(300));
        for (attempted, most) in [(1, 100), (2, 200), (3, 300), (4, 300)] {
            let most = Duration::from_millis(most);
            let waits: Vec<_> =
                (0..50).map(|_| retries.wait(attempted, Cause::Busy(None)).unwrap()).collect();
            assert!(waits.iter().all(|wait| (most / 2..=most).contains(wait)), "{waits:?}");
            assert!(waits.iter().any(|wait| *wait != waits[0]));
        }
        assert!(
            (1..=3)
                .all(|attempted| retries.wait(attempted, Cause::Lost).unwrap() <= Duration::from_millis(100))
        );
        assert_eq!(retries.wait(5, Cause::Lost), None);
        assert_eq!(Retries::none().wait(1, Cause::Busy(Some(Duration::from_secs(1)))), None);
    }

    #[test]
    fn what_the_service_asks_for_is_waited_at_least_and_a_minute_at_most() {
        let retries = Retries::default();
        assert_eq!(retries.wait(1, Cause::Busy(Some(Duration::from_secs(3)))), Some(Duration::from_secs(3)));
        assert_eq!(retries.wait(1, Cause::Busy(Some(Duration::from_secs(300)))), Some(LONGEST_ASKED));
        assert!(retries.wait(1, Cause::Busy(Some(Duration::ZERO))).unwrap() >= Duration::from_millis(100));
    }
}
