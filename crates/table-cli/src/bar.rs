//! How far a command has come, on a terminal: a line that is drawn again and again, and is gone when the command is through.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What takes no longer has no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// So often the line is drawn.
const OFTEN: Duration = Duration::from_millis(150);

/// So many characters a whole bar has.
const WIDTH: u64 = 24;

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    #[default]
    Rows,
    Bytes,
    Messages,
    Blobs,
}

/// What the line says besides how much is done.
#[derive(Clone, Debug, Default)]
struct Label {
    what: String,
    total: Option<u64>,
    unit: Unit,
}

#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    label: Mutex<Label>,
    is_ended: Mutex<bool>,
    ends: Condvar,
}

/// A bar, or nothing where none is wanted.
#[derive(Debug, Default)]
pub(crate) struct Bar(Option<(Arc<Shared>, JoinHandle<()>)>);

impl Bar {
    /// Makes a bar that is drawn on the standard error, which is a terminal.
    pub(crate) fn on_terminal() -> Self {
        let shared = Arc::new(Shared::default());
        let drawn = shared.clone();
        let drawing = thread::Builder::new().name("progress".into()).spawn(move || drawn.draw_all());
        // Where there is no thread to be had, the work goes on without a bar.
        Self(drawing.ok().map(|drawing| (shared, drawing)))
    }

    /// Begins with something of which so much is to be done, if that is known.
    pub(crate) fn begin(&self, what: impl Into<String>, total: Option<u64>, unit: Unit) {
        let Some((shared, _)) = &self.0 else { return };
        let what = what.into();
        *shared.label.lock().unwrap_or_else(PoisonError::into_inner) = Label { what, total, unit };
        shared.done.store(0, Ordering::Relaxed);
    }

    /// Returns whether this is what it counts.
    pub(crate) fn counts(&self, unit: Unit) -> bool {
        let of = |shared: &Shared| shared.label.lock().unwrap_or_else(PoisonError::into_inner).unit == unit;
        self.0.as_ref().is_some_and(|(shared, _)| of(shared))
    }

    /// Says how much is done.
    pub(crate) fn set(&self, done: u64) {
        if let Some((shared, _)) = &self.0 {
            shared.done.store(done, Ordering::Relaxed);
        }
    }

    /// Says that so much more is done.
    pub(crate) fn add(&self, more: u64) {
        if let Some((shared, _)) = &self.0 {
            shared.done.fetch_add(more, Ordering::Relaxed);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        let Some((shared, drawing)) = self.0.take() else { return };
        *shared.is_ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        shared.ends.notify_all();
        drop(drawing.join());
    }
}

impl Shared {
    fn draw_all(&self) {
        let begun = Instant::now();
        let (mut waits, mut is_drawn) = (PATIENCE, false);
        let mut is_ended = self.is_ended.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_ended {
            let waited = self.ends.wait_timeout(is_ended, waits);
            let timeout;
            (is_ended, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() && !*is_ended {
                let label = self.label.lock().unwrap_or_else(PoisonError::into_inner).clone();
                show(&line(&label, self.done.load(Ordering::Relaxed), begun.elapsed()));
                (waits, is_drawn) = (OFTEN, true);
            }
        }
        if is_drawn {
            show("");
        }
    }
}

/// Puts a text in the place of the line; a terminal that takes none is not written to by what is done either.
fn show(text: &str) {
    let mut error = io::stderr().lock();
    drop(write!(error, "\r\x1b[2K{text}").and_then(|()| error.flush()));
}

fn line(label: &Label, done: u64, elapsed: Duration) -> String {
    let Label { what, total, unit } = label;
    let unit = match unit {
        Unit::Rows => "rows",
        Unit::Bytes => "bytes",
        Unit::Messages => "messages",
        Unit::Blobs => "blobs",
    };
    match total.filter(|total| *total > 0) {
        Some(total) => {
            let done = done.min(total);
            let of = |whole: u64| {
                u64::try_from(u128::from(done) * u128::from(whole) / u128::from(total)).unwrap_or(whole)
            };
            let full = usize::try_from(of(WIDTH)).unwrap_or_default();
            let rest = usize::try_from(WIDTH).unwrap_or_default().saturating_sub(full);
            format!(
                "{what} [{}{}] {:>3} %  {done} of {total} {unit}",
                "#".repeat(full),
                ".".repeat(rest),
                of(100)
            )
        }
        None if done > 0 => format!("{what}  {done} {unit}"),
        None => format!("{what}  {} s", elapsed.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_much_of_what_is_done() {
        let label = |total| Label { what: "import Company".into(), total, unit: Unit::Bytes };
        let line = |total, done| line(&label(total), done, Duration::from_millis(3_900));
        assert_eq!(line(Some(200), 50), "import Company [######..................]  25 %  50 of 200 bytes");
        assert_eq!(line(Some(7), u64::MAX), "import Company [########################] 100 %  7 of 7 bytes");
        assert_eq!(
            line(Some(u64::MAX), 1),
            format!("import Company [{}]   0 %  1 of {} bytes", ".".repeat(24), u64::MAX)
        );
        assert_eq!(line(None, 12), "import Company  12 bytes");
        assert_eq!(line(Some(0), 0), "import Company  3 s");
    }

    #[test]
    fn a_bar_that_nobody_wants_does_nothing() {
        let bar = Bar::default();
        bar.begin("nothing", Some(1), Unit::Rows);
        bar.add(1);
        bar.set(2);
        assert!(bar.0.is_none());
    }
}
