//! Behaviour of the store, a module for each.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a test that fails panics"
)]

mod another_store;
mod architecture;
mod blind;
mod blobs;
mod canary;
mod changing;
mod concurrency;
mod conveniences;
mod copied;
mod copies;
mod cost;
mod crash;
mod damage;
mod derive;
mod documents;
mod elsewhere;
mod encrypting;
mod encryption;
mod errors;
mod eventual;
mod executors;
mod faults;
mod format;
mod guide;
mod hostile;
mod hygiene;
mod jobs;
mod layouts;
mod limits;
mod lints;
mod lists;
mod model;
mod operations;
mod pairs;
mod periods;
mod power;
mod queries;
mod queues;
mod ranges;
mod reads;
mod references;
mod refusals;
mod root;
mod sealed;
mod series;
mod sets;
mod shapes;
mod signed;
mod space;
mod suggestions;
mod summaries;
mod tables;
mod tampering;
mod temporary;
mod time;
mod transactions;
mod types;
mod values;
mod verify;
mod web;
mod wide;
mod writes;

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
