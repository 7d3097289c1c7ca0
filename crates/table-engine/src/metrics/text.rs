//! The text of `OpenMetrics`.

use std::fmt::{Formatter, Result};

use super::{Metric, Metrics, Number};

/// Writes all numbers, those of one name together.
pub(super) fn write(metrics: &Metrics, f: &mut Formatter<'_>) -> Result {
    let labels = format!("db_system_name=\"table-core\",db_namespace=\"{}\"", escaped(&metrics.namespace));
    let mut last = "";
    for metric in metrics.each() {
        if metric.name != last {
            head(&metric, f)?;
            last = metric.name;
        }
        let Metric { name, number, .. } = metric;
        match number {
            Number::Counter(count) => match metric.error {
                Some(kind) => writeln!(f, "{name}_total{{{labels},error_type=\"{kind:?}\"}} {count}")?,
                None => writeln!(f, "{name}_total{{{labels}}} {count}")?,
            },
            Number::Gauge(value) => writeln!(f, "{name}{{{labels}}} {value}")?,
            Number::Histogram(histogram) => {
                for (bound, count) in histogram.buckets() {
                    if bound.is_finite() {
                        writeln!(f, "{name}_bucket{{{labels},le=\"{bound:?}\"}} {count}")?;
                    } else {
                        writeln!(f, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}")?;
                    }
                }
                writeln!(f, "{name}_count{{{labels}}} {}", histogram.count())?;
                writeln!(f, "{name}_sum{{{labels}}} {:?}", histogram.sum())?;
            }
        }
    }
    f.write_str("# EOF\n")
}

fn head(metric: &Metric<'_>, f: &mut Formatter<'_>) -> Result {
    let Metric { name, help, number, .. } = metric;
    let of_type = match number {
        Number::Counter(_) => "counter",
        Number::Gauge(_) => "gauge",
        Number::Histogram(_) => "histogram",
    };
    writeln!(f, "# TYPE {name} {of_type}")?;
    if name.ends_with("_seconds") {
        writeln!(f, "# UNIT {name} seconds")?;
    }
    writeln!(f, "# HELP {name} {help}")
}

/// Returns the value of a label.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::error::ErrorKind;
    use crate::telemetry::{Committed, Telemetry};

    #[test]
    fn the_text_has_buckets_that_add_up_and_escaped_labels() {
        let telemetry = Telemetry::default();
        telemetry.waited(Duration::from_nanos(900));
        telemetry.waited(Duration::from_micros(3));
        telemetry.waited(Duration::from_secs(60));
        telemetry.committed(&Committed { batches: 3, rows_written: 7, ..Committed::default() });
        telemetry.failed(ErrorKind::EntityNotFound, "Company");
        telemetry.failed(ErrorKind::EntityNotFound, "Company");
        let text = telemetry.metrics("a\"b\\c\n").to_string();
        let labels = "{db_system_name=\"table-core\",db_namespace=\"a\\\"b\\\\c\\n\"";
        for line in [
            format!("table_core_commits_total{labels}}} 1"),
            format!("table_core_rows_written_total{labels}}} 7"),
            format!("table_core_batches_per_commit_bucket{labels},le=\"2.0\"}} 0"),
            format!("table_core_batches_per_commit_bucket{labels},le=\"4.0\"}} 1"),
            "# UNIT table_core_commit_wait_seconds seconds".into(),
            format!("table_core_commit_wait_seconds_bucket{labels},le=\"1e-6\"}} 1"),
            format!("table_core_commit_wait_seconds_bucket{labels},le=\"5e-6\"}} 2"),
            format!("table_core_commit_wait_seconds_bucket{labels},le=\"10.0\"}} 2"),
            format!("table_core_commit_wait_seconds_bucket{labels},le=\"+Inf\"}} 3"),
            format!("table_core_commit_wait_seconds_count{labels}}} 3"),
            format!("table_core_errors_total{labels},error_type=\"EntityNotFound\"}} 2"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.ends_with("\n# EOF\n"));
        assert_eq!(text.matches("# TYPE table_core_errors counter\n").count(), 1);
    }

    #[test]
    fn rows_are_added_when_a_tally_ends() {
        let telemetry = Telemetry::default();
        let (mut read, mut returned) = (telemetry.rows_read(), telemetry.query());
        read.add(5);
        returned.add(2);
        assert_eq!(telemetry.metrics("").rows_read, 0);
        drop((read, returned));
        let metrics = telemetry.metrics("");
        assert_eq!((metrics.queries, metrics.rows_read, metrics.rows_returned), (1, 5, 2));
    }
}
