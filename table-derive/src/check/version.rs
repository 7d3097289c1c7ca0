//! Rules about versions of an entity.

use proc_macro2::Span;
use syn::spanned::Spanned;

use crate::ctxt::Ctxt;
use crate::model::Entity;

/// C31, the part that one struct shows: versions are counted from 1, a previous version is read and nothing else, and what is
/// made from one says its own. Whether a version follows the one that it is made from, the generated code finds.
pub(super) fn c31_versions_follow_one_another(cx: &Ctxt, entity: &Entity<'_>) {
    if let (0, Some(span)) = (entity.version, entity.version_span) {
        cx.error(span, "versions are counted from 1");
    }
    if let (Some(from), 0 | 1) = (&entity.from, entity.version)
        && entity.version_span.is_none_or(|_| entity.version == 1)
    {
        let span = entity.version_span.unwrap_or_else(|| from.span());
        let message =
            "what is made `from` a previous version is one later: `version = 2`, if that was the first";
        cx.error(span, message);
    }
    if let (true, Some(span)) = (entity.is_summary && entity.version > 1, entity.version_span) {
        cx.error(span, "a summary has no versions: its rows are counted anew by `Table::rebuild`");
    }
    if let (Some(_), Some(span), None) =
        (&entity.periods, entity.version_span.filter(|_| entity.version > 1), &entity.former)
    {
        let message = "a kind with a table for each period has no versions: no migration goes over all of its tables; keep \
                       the new struct under another kind and in other tables, until the periods of this one are dropped";
        cx.error(span, message);
    }
    for index in &entity.indexes {
        match (&index.when_version, &index.when) {
            (Some(version), None) => {
                cx.error(version.span, "`when_version` is the version of a function: `when = path` names it");
            }
            (Some(version), Some(_)) if version.value == 0 => {
                cx.error(version.span, "versions are counted from 1");
            }
            _ => {}
        }
    }
    for (at, gone) in entity.gone.iter().enumerate() {
        let name = &gone.value;
        if let Some(field) =
            entity.fields.iter().find(|field| field.is_property() && field.property.value == *name)
        {
            cx.error(gone.span, format!("`{name}` is to go, and the field `{}` gives it", field.name));
        } else if entity.gone.iter().take(at).any(|earlier| earlier.value == *name) {
            cx.error(gone.span, format!("`{name}` is named twice"));
        } else if !is_name(name) {
            cx.error(gone.span, format!("`{name}` is no property's name: letters, digits and `_`"));
        } else if let Some(meant) = entity.case.misnamed(name)
            // Who names both names means them.
            && entity.gone.iter().all(|other| other.value != meant)
        {
            cx.error(
                gone.span,
                format!(
                    "`{name}` is the name of a field, and its property is called `{meant}`: `gone(\"{meant}\")`; if rows do \
                     have `{name}`, say both names: `gone(\"{meant}\", \"{name}\")`"
                ),
            );
        }
    }
    let Some(former) = &entity.former else { return };
    if let Some(summary) = entity.summarized_in.first() {
        cx.error(summary.span(), "a previous version is read, and nothing else: leave out its summaries");
    }
    if entity.is_summary {
        cx.error(former.span(), "a summary has no versions: its rows are counted anew by `Table::rebuild`");
    }
    if entity.version_span.is_none() {
        cx.error(former.span(), "a previous version says which it was: `version = 1`");
    }
    for word in &entity.idle {
        cx.error(word.span(), format!("a previous version is read, and nothing else: leave out `{word}`"));
    }
    for index in &entity.indexes {
        let span: Span = index.ident.span();
        cx.error(span, "a previous version is read, and nothing else: leave out its indexes");
    }
}

/// Returns whether a property can have the name, as far as letters tell.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
