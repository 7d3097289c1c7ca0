//! Rules about summaries.

use syn::spanned::Spanned;
use table_words::limits;

use crate::ctxt::Ctxt;
use crate::model::{Counts, Entity, Storage};

/// The most numbers that a summary has: a bit each says in which of them an entity counts.
const MOST: usize = 64;

/// A summary holds its key and numbers, of which one counts all entities: its row goes when that is 0. It is written by
/// the changes of others, so it has no rows that follow it.
pub(super) fn a_summary_holds_numbers(cx: &Ctxt, entity: &Entity<'_>) {
    let numbers = || entity.fields.iter().filter_map(|field| field.number.as_ref());
    let Some(summary) = &entity.summary else {
        for number in numbers().filter(|_| !entity.is_summary) {
            cx.error(
                number.span(),
                "a number of a summary stands in a summary: `#[summary(of = Entity)]` on the struct",
            );
        }
        return;
    };
    let in_key = entity.key_arguments();
    for (at, field) in entity.fields.iter().enumerate() {
        if let Some(encrypted) = field.encrypted {
            cx.error(
                encrypted.span,
                "a summary holds nothing that is encrypted: the store adds to its numbers",
            );
        }
        match (&field.number, in_key.contains(&at)) {
            (Some(number), true) => {
                cx.error(number.span(), format!("`{}` is in the key, and no number", field.name));
            }
            (None, false) if field.is_number => {}
            (None, false) => cx.error(
                field.ident.span(),
                format!(
                    "`{}` is neither in the key nor a number: say `#[summary(count)]` or `#[summary(sum = field)]`",
                    field.name
                ),
            ),
            (Some(number), false) if field.storage != Storage::Value => {
                cx.error(number.span(), "a number of a summary is a property by itself");
            }
            _ => {}
        }
    }
    if !numbers().any(|number| matches!(number.is, Counts::All)) {
        cx.error(
            summary.word.span(),
            "a summary counts its entities, since its row goes with the last of them: `#[summary(count)]` on a `u64`",
        );
    }
    if let Some(number) = numbers().nth(MOST) {
        cx.error(number.span(), format!("a summary has at most {MOST} numbers"));
    }
    for index in &entity.indexes {
        cx.error(index.ident.span(), "a summary has no indexes: nobody writes its rows who could keep them");
    }
    if let Some(signed) = &entity.signed {
        cx.error(signed.span(), "a summary can't be `signed`: the store adds to its numbers, and has no key");
    }
    if let Some(other) = entity.summarized_in.first() {
        cx.error(other.span(), "a summary can't be summarized: this one can be of the same entities");
    }
}

/// C19, with summaries: a change may leave a row of one and come to another.
pub(super) fn c19_a_transaction_holds_the_summaries(cx: &Ctxt, entity: &Entity<'_>) {
    let most = (limits::BATCH_OPERATIONS - 1) / 2;
    let Some(first) = most.checked_sub(entity.indexes.len()).and_then(|at| entity.summarized_in.get(at))
    else {
        return;
    };
    cx.error(
        first.span(),
        format!(
            "`{}` has {} indexes and {} summaries; a change may move its row in each, and a transaction of {} rows can \
             move {most}",
            entity.ident,
            entity.indexes.len(),
            entity.summarized_in.len(),
            limits::BATCH_OPERATIONS,
        ),
    );
}
