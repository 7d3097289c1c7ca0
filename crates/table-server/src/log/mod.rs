//! The log of the binary: what the crate `tracing` is told, on the standard error.
//!
//! With `error` it says what failed within the server and what is damaged, with `warn` who was told to come later and which
//! queries have read a whole table, with `debug` each request. No key, no signature and no value of an entity is told.

mod json;

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::Subscriber;
use tracing_subscriber::fmt::format::FmtSpan;

/// How much is logged, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogSettings {
    /// The least important that is logged.
    pub level: LevelFilter,
    /// How it is written.
    pub format: LogFormat,
}

/// How a log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// As lines for people.
    #[default]
    Lines,
    /// As an object of JSON in each line.
    Json,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: LevelFilter::ERROR, format: LogFormat::default() }
    }
}

/// Has the process log what it is told from now on. A process that logs already goes on as it does.
pub fn start(settings: LogSettings) {
    // A span is told when it ends, with all that was learnt meanwhile. Spans are of the level `debug`.
    let builder = Subscriber::builder().with_max_level(settings.level).with_span_events(FmtSpan::CLOSE);
    // A standard error that is closed ends nothing, and there is no other place to say so.
    let builder = builder.with_writer(io::stderr).with_ansi(false).log_internal_errors(false);
    let started = match settings.format {
        LogFormat::Lines => tracing::subscriber::set_global_default(builder.finish()),
        LogFormat::Json => {
            let builder = builder.fmt_fields(json::Fields).event_format(json::Objects);
            tracing::subscriber::set_global_default(builder.finish())
        }
    };
    started.ok();
}
