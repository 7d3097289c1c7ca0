//! What tells an attempt to change something from all others, so that the server can be asked what became of it.

use std::sync::atomic::{AtomicI64, Ordering};

use table_engine::__executor as executor;
use table_engine::{ErrorKind, Result};

/// Tells an attempt to carry out a plan from all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) session: i64,
    pub(crate) number: i64,
    /// The time that its rows get; 0 of a change that writes none.
    pub(crate) time: i64,
}

/// Gives tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// Tells these from those of all other handles and processes.
    session: i64,
    number: AtomicI64,
}

impl Tokens {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { session: random()?.cast_signed(), number: AtomicI64::new(0) })
    }

    /// Returns a token that no other attempt has.
    pub(crate) fn next(&self) -> Token {
        // Relaxed: the numbers differ, and order nothing.
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        Token { session: self.session, number, time: 0 }
    }
}

/// Returns a number that nobody guesses.
pub(crate) fn random() -> Result<u64> {
    let mut bytes = [0; 8];
    let failed = |_| executor::error(ErrorKind::Io, "the operating system gave no random number");
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(u64::from_le_bytes(bytes))
}
