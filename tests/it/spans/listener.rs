//! What listens: every field of every span and event, kept as text.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

thread_local! {
    /// The spans that the thread is in, of whichever listener.
    static INSIDE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

pub(super) type Fields = BTreeMap<String, String>;

/// A span or an event.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) name: &'static str,
    pub(super) target: &'static str,
    pub(super) level: Level,
    /// The span that it is in.
    pub(super) parent: Option<u64>,
    pub(super) fields: Fields,
    /// Of a span, its number; zero of an event.
    pub(super) number: u64,
    /// How many hold the span.
    holders: u32,
}

impl Told {
    fn of(metadata: &'static Metadata<'static>, parent: Option<u64>, number: u64) -> Self {
        let (name, target, level) = (metadata.name(), metadata.target(), *metadata.level());
        Self { name, target, level, parent, fields: Fields::new(), number, holders: 1 }
    }

    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    #[track_caller]
    pub(super) fn number(&self, name: &str) -> u64 {
        self.field(name).unwrap_or_else(|| panic!("no {name} in {self:?}")).parse().unwrap()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.holders == 0
    }
}

struct Put<'f>(&'f mut Fields);

impl Visit for Put<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

/// A subscriber that keeps what it is told, up to a level.
#[derive(Clone)]
pub(super) struct Listener {
    most: LevelFilter,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Listener {
    pub(super) fn new(most: impl Into<LevelFilter>) -> Self {
        Self { most: most.into(), told: Arc::default() }
    }

    /// Runs this and listens to the thread.
    pub(super) fn hear<R>(&self, run: impl FnOnce() -> R) -> R {
        // Where there is one subscriber alone, `tracing` asks that of the thread that comes by a place in the code first whether
        // anybody listens there: for a thread of another test nobody does.
        static ANOTHER: OnceLock<Dispatch> = OnceLock::new();
        ANOTHER.get_or_init(|| Dispatch::new(Self::new(LevelFilter::TRACE)));
        tracing::subscriber::with_default(self.clone(), run)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Told>> {
        self.told.lock().unwrap()
    }

    /// Everything that was told, in order.
    pub(super) fn all(&self) -> Vec<Told> {
        self.lock().clone()
    }

    /// What was told by this name since it was asked last.
    pub(super) fn take(&self, name: &str) -> Vec<Told> {
        let mut told = self.lock();
        let found = told.iter().filter(|told| told.name == name).cloned().collect();
        told.retain(|told| told.name != name);
        found
    }

    /// The one span or event of this name since it was asked last.
    #[track_caller]
    pub(super) fn one(&self, name: &str) -> Told {
        let found = self.take(name);
        let [one] = found.as_slice() else { panic!("{name}: {found:#?}") };
        one.clone()
    }

    pub(super) fn forget(&self) {
        self.lock().clear();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most && !metadata.target().starts_with("unheard")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.most)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let inside = || INSIDE.with_borrow(|inside| inside.last().copied());
        let parent = span.parent().map(Id::into_u64).or_else(|| span.is_contextual().then(inside).flatten());
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let mut told = Told::of(span.metadata(), parent, number);
        span.record(&mut Put(&mut told.fields));
        self.lock().push(told);
        Id::from_u64(number)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some(told) = self.lock().iter_mut().find(|told| told.number == span.into_u64()) {
            assert!(!told.has_ended(), "{told:?} is recorded after its end");
            values.record(&mut Put(&mut told.fields));
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let inside = || INSIDE.with_borrow(|inside| inside.last().copied());
        let parent = event.parent().map(Id::into_u64).or_else(inside);
        let mut told = Told::of(event.metadata(), parent, 0);
        event.record(&mut Put(&mut told.fields));
        self.lock().push(told);
    }

    fn enter(&self, span: &Id) {
        INSIDE.with_borrow_mut(|inside| inside.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        let left = INSIDE.with_borrow_mut(Vec::pop);
        assert_eq!(left, Some(span.into_u64()), "spans are left in another order than they were entered");
    }

    fn clone_span(&self, span: &Id) -> Id {
        if let Some(told) = self.lock().iter_mut().find(|told| told.number == span.into_u64()) {
            told.holders += 1;
        }
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let mut told = self.lock();
        let Some(told) = told.iter_mut().find(|told| told.number == span.into_u64()) else { return true };
        told.holders -= 1;
        told.has_ended()
    }
}
