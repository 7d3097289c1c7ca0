//! A subscriber to the warnings of a store, for tests.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

/// Keeps events as text: their names, and their fields in order.
#[derive(Clone, Default)]
pub(crate) struct Listener(Arc<Mutex<Vec<String>>>);

impl Listener {
    /// Runs this and listens to the thread.
    pub(crate) fn hear<R>(&self, run: impl FnOnce() -> R) -> R {
        // With one subscriber alone `tracing` keeps what the first thread at a callsite finds: a thread of another test, which has
        // none, would switch the callsite off for all.
        static ANOTHER: OnceLock<Dispatch> = OnceLock::new();
        ANOTHER.get_or_init(|| Dispatch::new(Self::default()));
        tracing::subscriber::with_default(self.clone(), run)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the events of this name that were told so far.
    pub(crate) fn take(&self, name: &str) -> Vec<String> {
        let mut told = self.lock();
        let (found, rest) = told.drain(..).partition(|told| told.starts_with(&format!("{name} ")));
        *told = rest;
        found
    }
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap_or_default();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(format!("{} ", event.metadata().name()));
        event.record(&mut text);
        self.lock().push(text.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
