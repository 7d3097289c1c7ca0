//! Rules about entities with a table for each period.

use syn::spanned::Spanned;

use crate::ctxt::Ctxt;
use crate::model::Entity;

/// C27: the primary key says in which table the entity lies, and all that is kept of it lies there.
pub(super) fn c27_all_of_an_entity_lies_in_its_period(cx: &Ctxt, entity: &Entity<'_>) {
    let Some(periods) = &entity.periods else { return };
    let keys = [&entity.key.partition, &entity.key.row];
    let name = entity.field(periods.field).map_or("", |field| field.name.as_str());
    // A template that couldn't be read might have had it.
    let is_in_key = keys.iter().any(|key| !key.sound || key.fields().any(|part| part.field == periods.field));
    if !is_in_key {
        cx.error(
            periods.span,
            format!(
                "{}: `{name}` stands in neither key, so that a key would not say in which table its entity lies: add \
                 `{{{name}:ticks}}` to the row key",
                periods.place
            ),
        );
    }
    for index in entity.indexes.iter().filter(|index| entity.lies_elsewhere(index)) {
        let at = index.place.as_ref().unwrap_or(&index.ident);
        cx.error(
            at.span(),
            format!(
                "`{}` lies elsewhere than its entity: of a kind with a table for each period, copies lie in their \
                 entity's partition, so that they go with its table",
                index.name
            ),
        );
    }
    for summary in &entity.summarized_in {
        cx.error(
            summary.span(),
            "a kind with a table for each period is counted in no summary: that would lie outside of its periods",
        );
    }
    if entity.is_summary {
        cx.error(periods.span, "a summary lies in one table, and not in one for each period");
    }
    for blind in entity.fields.iter().filter_map(crate::model::Field::blind) {
        cx.error(
            blind.span,
            "of a kind with a table for each period no field can be looked up by a token: each table has tokens of its own",
        );
    }
}
