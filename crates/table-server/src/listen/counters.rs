//! What a server has done, in numbers.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The bounds of the buckets of times, in seconds.
const BOUNDS: [f64; 12] = [1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 0.1, 0.5, 1.0, 5.0];

/// What a server has done since it began to listen, in numbers. They are printed as `OpenMetrics` has them.
#[derive(Debug, Default)]
pub struct Counters {
    connections: AtomicU64,
    accepted: AtomicU64,
    refused: AtomicU64,
    accept_failures: AtomicU64,
    handshake_failures: AtomicU64,
    timeouts: AtomicU64,
    panics: AtomicU64,
    in_flight: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
    /// By operation and status: there are a few dozen of both together.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    buckets: [AtomicU64; BOUNDS.len()],
    nanoseconds: AtomicU64,
}

/// Counts one less when it is dropped.
#[derive(Debug)]
pub(super) struct Gauged<'a>(&'a AtomicU64);

impl<'a> Gauged<'a> {
    fn new(gauge: &'a AtomicU64) -> Self {
        add(gauge, 1);
        Self(gauge)
    }
}

impl Drop for Gauged<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

fn bytes(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Counters {
    /// Returns how many connections there are.
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns how many requests are answered at this moment.
    pub fn requests_in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Returns how many clients took longer than they may.
    pub fn timeouts(&self) -> u64 {
        self.timeouts.load(Ordering::Relaxed)
    }

    /// Returns how many bytes were read from clients.
    pub fn received_bytes(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(super) fn connected(&self) -> Gauged<'_> {
        add(&self.accepted, 1);
        Gauged::new(&self.connections)
    }

    pub(super) fn in_flight(&self) -> Gauged<'_> {
        Gauged::new(&self.in_flight)
    }

    pub(super) fn refused(&self) {
        add(&self.refused, 1);
    }

    pub(super) fn accept_failed(&self) {
        add(&self.accept_failures, 1);
    }

    #[cfg(feature = "tls")]
    pub(super) fn handshake_failed(&self) {
        add(&self.handshake_failures, 1);
    }

    pub(super) fn timed_out(&self) {
        add(&self.timeouts, 1);
    }

    pub(super) fn panicked(&self) {
        add(&self.panics, 1);
    }

    pub(super) fn received(&self, count: usize) {
        add(&self.received, bytes(count));
    }

    pub(super) fn sent(&self, count: usize) {
        add(&self.sent, bytes(count));
    }

    pub(super) fn answered(&self, operation: &'static str, status: u16, took: Duration) {
        let seconds = took.as_secs_f64();
        if let Some((bucket, _)) = self.buckets.iter().zip(BOUNDS).find(|(_, bound)| seconds <= *bound) {
            add(bucket, 1);
        }
        add(&self.nanoseconds, u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let count = requests.entry((operation, status)).or_default();
        *count = count.saturating_add(1);
    }
}

impl fmt::Display for Counters {
    /// Writes the lines of all numbers, without the `# EOF` that ends a text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let name = "table_server_requests";
        head(f, name, "counter", "Requests that were answered.")?;
        for ((operation, status), count) in &requests {
            let labels = format!("db_operation_name=\"{operation}\",http_response_status_code=\"{status}\"");
            writeln!(f, "{name}_total{{{labels}}} {count}")?;
        }
        self.durations(requests.values().sum(), f)?;
        for (name, help, gauge) in [
            ("table_server_requests_in_flight", "Requests that are being answered.", &self.in_flight),
            ("table_server_connections", "Connections that are open.", &self.connections),
        ] {
            head(f, name, "gauge", help)?;
            writeln!(f, "{name} {}", gauge.load(Ordering::Relaxed))?;
        }
        for (name, help, counter) in [
            ("table_server_connections_accepted", "Connections that were accepted.", &self.accepted),
            ("table_server_connections_refused", "Connections beyond the limit.", &self.refused),
            (
                "table_server_accept_failures",
                "Connections that the system could not give.",
                &self.accept_failures,
            ),
            ("table_server_handshake_failures", "Connections without TLS.", &self.handshake_failures),
            ("table_server_timeouts", "Clients that took longer than they may.", &self.timeouts),
            ("table_server_panics", "Requests that made the service panic.", &self.panics),
            ("table_server_received_bytes", "Bytes read from clients.", &self.received),
            ("table_server_sent_bytes", "Bytes written to clients.", &self.sent),
        ] {
            head(f, name, "counter", help)?;
            writeln!(f, "{name}_total {}", counter.load(Ordering::Relaxed))?;
        }
        Ok(())
    }
}

impl Counters {
    fn durations(&self, count: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = "table_server_request_duration_seconds";
        head(f, name, "histogram", "How long requests took, from their headers on.")?;
        let mut sum = 0;
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS) {
            sum += bucket.load(Ordering::Relaxed);
            // A request that is counted between two of these lines must not make one bucket more than all.
            writeln!(f, "{name}_bucket{{le=\"{bound:?}\"}} {}", sum.min(count))?;
        }
        writeln!(f, "{name}_bucket{{le=\"+Inf\"}} {count}")?;
        writeln!(f, "{name}_count {count}")?;
        let seconds = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        writeln!(f, "{name}_sum {seconds:?}")
    }
}

fn head(f: &mut impl Write, name: &str, of_type: &str, help: &str) -> fmt::Result {
    writeln!(f, "# TYPE {name} {of_type}")?;
    for unit in ["seconds", "bytes"] {
        if name.ends_with(unit) {
            writeln!(f, "# UNIT {name} {unit}")?;
        }
    }
    writeln!(f, "# HELP {name} {help}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Counters;

    #[test]
    fn the_text_has_each_operation_and_buckets_that_add_up() {
        let counters = Counters::default();
        counters.answered("InsertEntity", 204, Duration::from_micros(30));
        counters.answered("InsertEntity", 204, Duration::from_micros(70));
        counters.answered("GetEntity", 404, Duration::from_secs(60));
        let _connection = counters.connected();
        drop(counters.in_flight());
        counters.sent(17);
        let text = counters.to_string();
        for line in [
            "# TYPE table_server_requests counter",
            "table_server_requests_total{db_operation_name=\"InsertEntity\",http_response_status_code=\"204\"} 2",
            "table_server_requests_total{db_operation_name=\"GetEntity\",http_response_status_code=\"404\"} 1",
            "# UNIT table_server_request_duration_seconds seconds",
            "table_server_request_duration_seconds_bucket{le=\"1e-5\"} 0",
            "table_server_request_duration_seconds_bucket{le=\"5e-5\"} 1",
            "table_server_request_duration_seconds_bucket{le=\"5.0\"} 2",
            "table_server_request_duration_seconds_bucket{le=\"+Inf\"} 3",
            "table_server_request_duration_seconds_sum 60.0001",
            "table_server_connections 1",
            "table_server_requests_in_flight 0",
            "# UNIT table_server_sent_bytes bytes",
            "table_server_sent_bytes_total 17",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
