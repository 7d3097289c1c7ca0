//! Tests that take minutes: processes that are killed, damaged files, power failures, failing system calls, and random
//! operations against models. `cargo test` leaves them out; `cargo xtask test` runs them by tiers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a test that fails panics"
)]

mod copies;
mod crash;
mod faults;
mod hostile;
mod model;
mod power;

/// Modules that are compiled for Linux alone. Elsewhere a run says that they are left out.
#[cfg(not(target_os = "linux"))]
mod on_linux_alone {
    macro_rules! left_out {
        ($($name:ident: $why:literal)*) => { $(
            #[test]
            #[ignore = $why]
            fn $name() {
                panic!("Linux alone: {}", $why);
            }
        )* };
    }

    left_out! {
        faults: "system calls are made to fail by a library that is preloaded, as Linux does it"
        hostile: "the places of a store's files are filled with what Linux has"
        power: "writes and flushes are recorded by a library that is preloaded, as Linux does it"
    }
}
