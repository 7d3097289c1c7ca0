//! The user's guide: a chapter for each subject, with programs that run.
//!
//! Begin with the [`tutorial`]; [`recipes`] answer common questions, and [`troubleshooting`] has every error.

macro_rules! chapters {
    ($($name:ident)+) => { $(
        #[doc = table_derive::__chapter!($name)]
        pub mod $name {
            // So that a chapter is read again when it changes.
            const _: &str = include_str!(concat!("../guide/", stringify!($name), ".md"));
        }
    )+ };
}

chapters! {
    tutorial
    keys
    indexes
    queries
    changes
    modelling
    versions
    promises
    asynchronous
    queues
    blobs
    encryption
    access
    odata
    tools
    telemetry
    recipes
    azure
    troubleshooting
}
