//! Lines of a log as JSON, of names and texts alone: no crate is needed for so little.

use std::fmt::{self, Debug};

use table_core::Ticks;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::{LookupSpan, Scope};

use crate::wire::json;

/// Writes fields as members of an object, each behind a comma.
pub(super) struct Fields;

/// Writes an event as an object, with the spans that it is within, the outermost first.
pub(super) struct Objects;

impl<'w> FormatFields<'w> for Fields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut members = Members { writer, result: Ok(()) };
        fields.record(&mut members);
        members.result
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> FormatEvent<S, Fields> for Objects {
    fn format_event(
        &self,
        context: &FmtContext<'_, S, Fields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let metadata = event.metadata();
        write!(writer, "{{\"time\":\"{}\",\"level\":\"{}\",\"target\":", Ticks::now(), metadata.level())?;
        write_text(&mut writer, metadata.target())?;
        context.format_fields(writer.by_ref(), event)?;
        let mut separator = ",\"spans\":[";
        for span in context.event_scope().into_iter().flat_map(Scope::from_root) {
            write!(writer, "{separator}{{\"name\":")?;
            write_text(&mut writer, span.name())?;
            if let Some(fields) = span.extensions().get::<FormattedFields<Fields>>() {
                writer.write_str(fields)?;
            }
            writer.write_char('}')?;
            separator = ",";
        }
        writer.write_str(if separator == "," { "]}\n" } else { "}\n" })
    }
}

/// Members of an object.
struct Members<'w> {
    writer: Writer<'w>,
    result: fmt::Result,
}

impl Members<'_> {
    fn add(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        let Self { writer, result } = self;
        *result = result.and_then(|()| {
            writer.write_char(',')?;
            write_text(writer, field.name())?;
            writer.write_char(':')?;
            value(writer)
        });
    }
}

impl Visit for Members<'_> {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, |writer| write!(writer, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, |writer| write_text(writer, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, |writer| write_text(writer, &format!("{value:?}")));
    }
}

fn write_text(writer: &mut Writer<'_>, text: &str) -> fmt::Result {
    let mut quoted = Vec::with_capacity(text.len().saturating_add(2));
    json::string(text, &mut quoted);
    writer.write_str(str::from_utf8(&quoted).map_err(|_| fmt::Error)?)
}
