//! Pictures as JSON.

use super::{AccessPattern, Design, DesignKey, DesignRow, Held, KeyPiece, RowRole, push};

pub(super) fn draw(design: &Design) -> String {
    let mut out = Writer::default();
    out.object(|out| {
        out.optional("entity", design.entity.as_deref());
        out.text("kind", &design.kind);
        out.raw("version", &design.version.to_string());
        out.text("table", &design.table);
        out.raw("inPeriods", if design.in_periods { "true" } else { "false" });
        out.list("rows", &design.rows, draw_row);
        out.list("access", &design.access_patterns(), draw_access);
    });
    out.text
}

fn draw_row(out: &mut Writer, row: &DesignRow) {
    out.object(|out| {
        let (role, part) = match row.role {
            RowRole::Entity => ("entity", None),
            RowRole::Part(part) => ("part", Some(part)),
            RowRole::Copy => ("copy", None),
            RowRole::List => ("list", None),
            RowRole::Summary => ("summary", None),
        };
        out.text("role", role);
        if let Some(part) = part {
            out.raw("part", &part.to_string());
        }
        out.text("name", &row.name);
        out.text("kind", &row.kind);
        out.optional("table", row.table.as_deref());
        out.list("words", &row.words, |out, word| out.string(word));
        draw_key(out, "partitionKey", &row.partition);
        draw_key(out, "rowKey", &row.row);
        out.list("properties", &row.holds, |out, Held { name, what }| {
            out.object(|out| {
                out.text("name", name);
                out.text("holds", what);
            });
        });
    });
}

fn draw_key(out: &mut Writer, name: &str, key: &DesignKey) {
    out.name(name);
    out.object(|out| {
        out.text("template", &key.to_string());
        out.list("parts", &key.pieces, |out, piece| {
            out.object(|out| match piece {
                KeyPiece::Text(text) => out.text("text", text),
                KeyPiece::Field(field) => {
                    out.text("field", &field.name);
                    out.text("format", &field.format);
                    out.raw("each", if field.each { "true" } else { "false" });
                }
            });
        });
    });
}

fn draw_access(out: &mut Writer, pattern: &AccessPattern) {
    out.object(|out| {
        out.text("by", &pattern.by);
        out.optional("call", pattern.call.as_deref());
        out.optional("index", pattern.index.as_deref());
        out.list("given", &pattern.given, |out, name| out.string(name));
        out.optional("narrowedBy", pattern.narrowed_by.as_deref());
        out.text("class", pattern.class.name());
        out.text("reads", &pattern.reads);
        out.text("order", &pattern.order);
    });
}

/// Writes JSON as it comes.
#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.text.push('{');
        members(self);
        self.text.push('}');
    }

    fn list<T>(&mut self, name: &str, members: &[T], draw: impl Fn(&mut Self, &T)) {
        self.name(name);
        self.text.push('[');
        for member in members {
            self.separate();
            draw(self, member);
        }
        self.text.push(']');
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(name, value),
            None => self.raw(name, "null"),
        }
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.string(value);
    }

    fn raw(&mut self, name: &str, value: &str) {
        self.name(name);
        self.text.push_str(value);
    }

    fn name(&mut self, name: &str) {
        self.separate();
        self.string(name);
        self.text.push(':');
    }

    /// Writes a comma, unless what comes is the first of its object or its list.
    fn separate(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(['{', '[']) {
            self.text.push(',');
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                c if c.is_control() => push(&mut self.text, format_args!("\\u{:04x}", u32::from(c))),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }
}
