//! A table for each period of a time.

use proc_macro2::{Ident, Span};
use syn::LitStr;
use table_words::names::TableMistake;

use super::{Field, Spanned};
use crate::ctxt::Ctxt;
use crate::template::{self, Format, Part};

/// The tables of an entity that has one for each period.
pub(crate) struct Periods {
    /// The template, where every message stands: there is no smaller token.
    pub(crate) span: Span,
    /// The part as written, and its column, for the start of a message.
    pub(crate) place: String,
    /// What every table's name begins with.
    pub(crate) stem: String,
    /// The field whose time says in which table an entity lies, among all fields.
    pub(crate) field: usize,
    /// How long a period is: the name of a variant of `table_core::schema::Period`.
    pub(crate) period: &'static str,
    /// How many digits a name ends with.
    pub(crate) digits: usize,
    /// For how many seconds an entity is kept.
    pub(crate) keep: Option<u64>,
}

/// The periods that there are, for messages.
const PERIODS: &str = "a period is `%Y`, `%Y%m`, `%Y%m%d`, `%Y%j` or `%Y%m%d%H`";

impl Periods {
    /// Reads the name of a table; `None` if it is one name, or no template that could be understood.
    pub(crate) fn read(
        cx: &Ctxt,
        table: &Spanned<String>,
        keep: Option<LitStr>,
        entity: &Ident,
        fields: &[Field<'_>],
    ) -> Option<Self> {
        let kept = keep.as_ref().and_then(|literal| seconds(cx, literal));
        if !table.value.contains('{') {
            if let Some(literal) = keep {
                cx.error(
                    literal.span(),
                    "`keep` says how long the tables of periods are kept: `table` is one table, without a period such as \
                     `{at:%Y%m%d}` in its name",
                );
            }
            return None;
        }
        let names = Field::names(fields);
        let (parts, errors) = template::parse(&table.value, &entity.to_string(), &names);
        let error = |message: String| cx.error(table.span, message);
        for message in &errors {
            error(message.clone());
        }
        if !errors.is_empty() {
            return None;
        }
        let (stem, part) = match parts.as_slice() {
            [Part::Literal(stem), Part::Field(part)] => (stem, part),
            [Part::Field(part), ..] => {
                error(format!(
                    "{}: a table's name begins with text of its own, and its period stands last",
                    part.place()
                ));
                return None;
            }
            [Part::Literal(_), Part::Field(part), Part::Literal(_), ..] => {
                error(format!("{}: a period stands last in a table's name", part.place()));
                return None;
            }
            [Part::Literal(_), Part::Field(_), Part::Field(part), ..] => {
                error(format!("{}: a table's name has one period", part.place()));
                return None;
            }
            _ => {
                error(TableMistake::Character.rule().to_owned());
                return None;
            }
        };
        let period = match part.format() {
            Format::Time(pattern) if !part.each => period(pattern.text()),
            _ => None,
        };
        let Some((period, digits)) = period else {
            error(format!("{}: {PERIODS}", part.place()));
            return None;
        };
        if stem.ends_with(|last: char| last.is_ascii_digit()) {
            error(format!(
                "`{stem}` ends with a digit, so that its tables could be those of another period: put a letter before \
                 `{}`",
                part.piece
            ));
            return None;
        }
        Some(Self {
            span: table.span,
            place: part.place(),
            stem: stem.clone(),
            field: part.field,
            period,
            digits,
            keep: kept,
        })
    }
}

/// Returns the name of a period, and its digits.
fn period(pattern: &str) -> Option<(&'static str, usize)> {
    Some(match pattern {
        "%Y" => ("Year", 4),
        "%Y%m" => ("Month", 6),
        "%Y%m%d" => ("Day", 8),
        "%Y%j" => ("DayOfYear", 7),
        "%Y%m%d%H" => ("Hour", 10),
        _ => return None,
    })
}

/// Returns the seconds of `90 days`.
fn seconds(cx: &Ctxt, literal: &LitStr) -> Option<u64> {
    const HOUR: u64 = 3_600;
    // The calendar has no more days.
    const LONGEST: u64 = 3_652_059 * 24 * HOUR;
    let text = literal.value();
    let read = || {
        let (number, unit) = text.split_once(' ')?;
        let unit = match unit {
            "hour" | "hours" => HOUR,
            "day" | "days" => 24 * HOUR,
            "week" | "weeks" => 7 * 24 * HOUR,
            _ => return None,
        };
        let number: u64 = if number.bytes().all(|digit| digit.is_ascii_digit()) {
            number.parse().ok()?
        } else {
            return None;
        };
        number.checked_mul(unit).filter(|seconds| (1..=LONGEST).contains(seconds))
    };
    let seconds = read();
    if seconds.is_none() {
        cx.error(literal.span(), "`keep` is a number of `hours`, `days` or `weeks`: `keep = \"90 days\"`");
    }
    seconds
}
