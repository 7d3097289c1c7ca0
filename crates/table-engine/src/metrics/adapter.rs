//! The numbers, for the crate `metrics`.

use ::metrics::{Key, KeyName, Label, Level, Metadata, Recorder, Unit};

use super::{Metric, Metrics, Number};

/// Where the numbers come from.
static METADATA: Metadata<'static> = Metadata::new("table_core::metrics", Level::INFO, Some(module_path!()));

impl Metrics {
    /// Describes all numbers to the recorder of the crate `metrics` that is in force, and sets them there; without one it does
    /// nothing. Nothing is recorded between two calls: call it before what you have recorded is exported.
    ///
    /// That crate takes a histogram by single values, which are not kept here. So of a histogram it gets the count and the
    /// sum: `table_core_commit_wait_seconds_count` and `table_core_commit_wait_seconds_sum`, of which a mean is made. The text of
    /// the numbers has the buckets.
    ///
    /// ```
    /// use table_core::Store;
    ///
    /// let store = Store::temporary()?;
    /// store.metrics()?.record();
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn record(&self) {
        ::metrics::with_recorder(|recorder| self.each().for_each(|metric| self.set(&metric, recorder)));
    }

    fn set(&self, metric: &Metric<'_>, recorder: &dyn Recorder) {
        let Metric { name, help, number, .. } = *metric;
        match number {
            Number::Counter(count) => {
                recorder.describe_counter(KeyName::from_const_str(name), None, help.into());
                let key = self.key(name.into(), metric);
                recorder.register_counter(&key, &METADATA).absolute(count);
            }
            Number::Gauge(value) => {
                recorder.describe_gauge(KeyName::from_const_str(name), None, help.into());
                let key = self.key(name.into(), metric);
                recorder.register_gauge(&key, &METADATA).set(as_f64(value));
            }
            Number::Histogram(histogram) => {
                let (count, sum) = (format!("{name}_count"), format!("{name}_sum"));
                let unit = name.ends_with("_seconds").then_some(Unit::Seconds);
                recorder.describe_counter(count.clone().into(), None, help.into());
                recorder.describe_gauge(sum.clone().into(), unit, help.into());
                let (count, sum) = (self.key(count.into(), metric), self.key(sum.into(), metric));
                recorder.register_counter(&count, &METADATA).absolute(histogram.count());
                recorder.register_gauge(&sum, &METADATA).set(histogram.sum());
            }
        }
    }

    fn key(&self, name: KeyName, metric: &Metric<'_>) -> Key {
        let mut labels = vec![
            Label::new("db.system.name", "table-core"),
            Label::new("db.namespace", self.namespace.clone()),
        ];
        labels.extend(metric.error.map(|kind| Label::new("error.type", format!("{kind:?}"))));
        Key::from_parts(name, labels)
    }
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a figure to be looked at")]
fn as_f64(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use ::metrics::{Counter, Gauge, Histogram, SharedString, with_local_recorder};

    use super::*;
    use crate::error::ErrorKind;
    use crate::telemetry::{Committed, Telemetry};

    /// Keeps what is set.
    #[derive(Default)]
    struct Kept {
        described: Mutex<Vec<String>>,
        counters: Mutex<BTreeMap<String, Arc<AtomicU64>>>,
        gauges: Mutex<BTreeMap<String, Arc<AtomicU64>>>,
    }

    impl Kept {
        fn describe(&self, name: &KeyName) {
            self.described.lock().unwrap().push(name.as_str().to_owned());
        }

        fn counter(&self, key: &str) -> u64 {
            self.counters.lock().unwrap()[key].load(Ordering::Relaxed)
        }

        fn gauge(&self, key: &str) -> f64 {
            f64::from_bits(self.gauges.lock().unwrap()[key].load(Ordering::Relaxed))
        }
    }

    impl Recorder for Kept {
        fn describe_counter(&self, key: KeyName, _: Option<Unit>, _: SharedString) {
            self.describe(&key);
        }

        fn describe_gauge(&self, key: KeyName, _: Option<Unit>, _: SharedString) {
            self.describe(&key);
        }

        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
            unreachable!("no histogram is handed over");
        }

        fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
            Counter::from_arc(self.counters.lock().unwrap().entry(key.to_string()).or_default().clone())
        }

        fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::from_arc(self.gauges.lock().unwrap().entry(key.to_string()).or_default().clone())
        }

        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            unreachable!("no histogram is handed over");
        }
    }

    #[test]
    fn a_recorder_has_each_number_under_its_labels() {
        let telemetry = Telemetry::default();
        telemetry.committed(&Committed { batches: 3, ..Committed::default() });
        telemetry.waited(Duration::from_secs(2));
        telemetry.failed(ErrorKind::EntityNotFound, "Company");
        let kept = Kept::default();
        with_local_recorder(&kept, || telemetry.metrics("company.tables").record());
        // They are set, and not added.
        telemetry.waited(Duration::from_secs(1));
        with_local_recorder(&kept, || telemetry.metrics("company.tables").record());

        let key = |name: &str, more: &str| {
            format!("Key({name}, [db.system.name = table-core, db.namespace = company.tables{more}])")
        };
        assert_eq!(kept.counter(&key("table_core_commits", "")), 1);
        assert_eq!(kept.counter(&key("table_core_batches", "")), 3);
        assert_eq!(kept.counter(&key("table_core_commit_wait_seconds_count", "")), 2);
        assert!((kept.gauge(&key("table_core_commit_wait_seconds_sum", "")) - 3.0).abs() < 1e-9);
        assert_eq!(kept.counter(&key("table_core_errors", ", error.type = EntityNotFound")), 1);
        assert!(kept.gauge(&key("table_core_open_snapshots", "")).abs() < 1e-9);
        let described = kept.described.lock().unwrap();
        let set = kept.counters.lock().unwrap().len() + kept.gauges.lock().unwrap().len();
        assert_eq!(described.len(), 2 * set);
    }
}
