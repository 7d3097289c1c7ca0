//! What tells an attempt to change something from all others, so that the server can be asked what became of it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use table_engine::__executor as executor;
use table_engine::{ErrorKind, Result};

use crate::connection::{Call, Connection};
use crate::param::{Param, Params};

/// For so long tokens stay with the server. What is asked for later is not known.
const KEPT_FOR: Duration = Duration::from_secs(600);

/// The longest that a call waits for a server that was lost, so that what it asks for then is still there.
pub(crate) const LONGEST_PATIENCE: Duration = Duration::from_secs(300);

/// After so many tokens those that are old are removed.
const STEP: i64 = 1_024;

/// Tells an attempt to carry out a plan from all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) session: i64,
    pub(crate) number: i64,
    /// The time that its rows get; 0 of a change that writes none.
    pub(crate) time: i64,
    /// When the attempt began.
    pub(crate) begun: Instant,
}

impl Token {
    /// Returns whether it may have been removed from the server by now, so that nothing tells what became of the attempt.
    pub(crate) fn may_be_removed(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.begun) > KEPT_FOR
    }
}

/// Gives tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// Tells these from those of all other handles and processes.
    session: i64,
    number: AtomicI64,
    /// Numbers, and since when all before them are given.
    marks: Mutex<VecDeque<(Instant, i64)>>,
}

impl Tokens {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { session: random()?.cast_signed(), number: AtomicI64::new(0), marks: Mutex::default() })
    }

    /// Returns a token that no other attempt has.
    pub(crate) fn next(&self) -> Token {
        // Relaxed: the numbers differ, and order nothing.
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        Token { session: self.session, number, time: 0, begun: Instant::now() }
    }

    /// Removes, now and then, the tokens of this session that are asked for no more from the table `commits`. `token` is of
    /// what was carried out just now. Nothing depends on it: what stays is removed another time.
    pub(crate) async fn remove_old(&self, connection: &Connection, commits: &str, token: Token) {
        let Some(before) = self.outlived(token, Instant::now()) else { return };
        let mut params = Params::default();
        let (session, before) = (params.add(Param::Number(self.session)), params.add(Param::Number(before)));
        let sql = format!(
            "DELETE FROM {commits} WHERE session = {session} AND number < {before}
             AND at < now() - interval '{} seconds'",
            KEPT_FOR.as_secs()
        );
        drop(connection.query(&Call { sql, params }).await);
    }

    /// Returns the statement that removes what sessions have left that are no more.
    pub(crate) fn remove_left(commits: &str) -> String {
        format!("DELETE FROM {commits} WHERE at < now() - interval '1 day'")
    }

    /// Returns the number before which all tokens are old, once in so many of them.
    fn outlived(&self, token: Token, now: Instant) -> Option<i64> {
        if token.number == 0 || token.number % STEP != 0 {
            return None;
        }
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.push_back((now, token.number));
        let mut outlived = None;
        while let Some((since, number)) = marks.front().copied()
            && now.saturating_duration_since(since) > KEPT_FOR
        {
            outlived = Some(number);
            marks.pop_front();
        }
        outlived
    }
}

/// Returns the call that takes the lock of a token until its transaction ends, given its parts as a statement names them.
pub(crate) fn lock(session: &str, number: &str) -> String {
    format!("pg_advisory_xact_lock(hashint8extended({number}, {session}))")
}

/// Returns the number that tells a store from all others as bytes: twice, since as many are wanted.
pub(crate) fn identity_bytes(identity: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (half, number) in bytes.chunks_exact_mut(8).zip([identity; 2]) {
        half.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// Returns a random number.
pub(crate) fn random() -> Result<u64> {
    let mut bytes = [0; 8];
    let failed = |_| executor::error(ErrorKind::Io, "the operating system gave no random number");
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_an_attempt_is_known_as_long_as_its_token_is_kept() {
        let token = Tokens::new().unwrap().next();
        assert!(!token.may_be_removed(token.begun));
        assert!(!token.may_be_removed(token.begun + KEPT_FOR));
        assert!(token.may_be_removed(token.begun + KEPT_FOR + Duration::from_secs(1)));
    }

    #[test]
    fn tokens_are_old_when_those_behind_them_have_been_given_for_long() {
        let tokens = Tokens::new().unwrap();
        let begun = Instant::now();
        let token = |number: i64| Token { session: 1, number, time: 0, begun };
        for number in [0, 1, 5, STEP - 1, STEP + 1] {
            assert_eq!(tokens.outlived(token(number), begun), None);
        }
        let at = |minutes: u64| begun + Duration::from_secs(60 * minutes);
        for (number, minutes, expected) in
            [(1, 0, None), (2, 5, None), (3, 10, None), (4, 11, Some(1)), (5, 12, None), (6, 30, Some(5))]
        {
            assert_eq!(
                tokens.outlived(token(number * STEP), at(minutes)),
                expected.map(|step: i64| step * STEP)
            );
        }
    }
}
