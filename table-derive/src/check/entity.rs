//! Rules about the entity as a whole.

use table_words::limits::TABLE_NAME_MAX;
use table_words::names::TableMistake;

use crate::ctxt::Ctxt;
use crate::model::{Entity, Periods, Spanned};

/// C13: the service takes the table's name: 3 to 63 ASCII letters and digits, a letter first, and not `tables`.
pub(super) fn c13_the_service_takes_the_table(cx: &Ctxt, entity: &Entity<'_>) {
    match &entity.periods {
        Some(periods) => the_service_takes_each(cx, periods),
        // What was no template of a period has its message.
        None if entity.table.value.contains('{') => {}
        None => the_service_takes(cx, &entity.table),
    }
    for table in entity.indexes.iter().filter_map(|index| index.table.as_ref()) {
        the_service_takes(cx, table);
    }
}

fn the_service_takes(cx: &Ctxt, table: &Spanned<String>) {
    let name = table.value.as_str();
    if name.contains('{') {
        cx.error(table.span, "an index lies in one table, and not in one for each period");
        return;
    }
    if let Some(mistake) = TableMistake::of(name) {
        cx.error(table.span, mistake.rule());
    }
}

/// Refuses names of tables of periods that the service doesn't take: digits follow what the names begin with.
fn the_service_takes_each(cx: &Ctxt, periods: &Periods) {
    let (stem, most) = (periods.stem.as_str(), TABLE_NAME_MAX - periods.digits);
    let message = if !stem.bytes().all(|b| b.is_ascii_alphanumeric()) {
        TableMistake::Character.rule().to_owned()
    } else if !stem.bytes().next().is_some_and(|b| b.is_ascii_alphabetic()) {
        TableMistake::Start.rule().to_owned()
    } else if stem.len() > most {
        format!("{}: {most} at most before the period's {}", TableMistake::Length.rule(), periods.digits)
    } else {
        return;
    };
    cx.error(periods.span, message);
}

/// A kind is a word, without the `.` that sets an index's name apart from it on the rows of copies.
pub(super) fn kind_is_a_word(cx: &Ctxt, entity: &Entity<'_>) {
    let kind = &entity.kind;
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if kind.value.is_empty() || !kind.value.chars().all(word) {
        cx.error(kind.span, "a kind is a word: letters, digits, `_` and `-`");
    } else if kind.value.len() > 64 {
        cx.error(kind.span, "a kind has at most 64 bytes: it stands on every row");
    }
}
