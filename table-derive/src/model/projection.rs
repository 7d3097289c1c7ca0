//! A struct of some of an entity's fields.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{DeriveInput, Path, Type, Visibility};

use super::field::{of_a_field, referred};
use super::{Field, Krate, Spanned, named_fields, no_generics};
use crate::attr::{self, DefaultWord, FieldAttrs, ProjectionWords, PropertyWords, SeriesWords, Slot};
use crate::case::Case;
use crate::ctxt::Ctxt;
use crate::symbol::PROJECTION;

/// `#[derive(Projection)]`.
pub(crate) struct Projection<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) vis: &'a Visibility,
    pub(crate) krate: Krate,
    /// The entity.
    pub(crate) of: Path,
    /// The fields, each named like a field of the entity.
    pub(crate) fields: Vec<ProjectionField<'a>>,
}

impl<'a> Projection<'a> {
    /// Returns the fields as a copy of them is stored.
    pub(crate) fn as_group(&self) -> Vec<Field<'a>> {
        self.fields.iter().map(|field| Field::of_projection(field, self.vis)).collect()
    }
}

/// A field of a projection.
pub(crate) struct ProjectionField<'a> {
    /// As the user wrote it.
    pub(crate) ident: &'a Ident,
    /// Its name without `r#`.
    pub(crate) name: String,
    pub(crate) ty: &'a Type,
    /// `json`: the entity keeps it as text.
    pub(crate) json: bool,
    /// `default`: what an absent property is.
    pub(crate) default: Option<DefaultWord>,
    /// `was`: what the property was called that holders of a copy keep it in.
    pub(crate) was: Option<Spanned<String>>,
    /// `new`: it is none of the properties that those have.
    pub(crate) is_new: bool,
    /// Whether it is a reference.
    pub(crate) refers: bool,
    /// `series`: which slots of which series it is.
    pub(crate) slots: Option<ProjectedSlots>,
}

impl ProjectionField<'_> {
    /// Returns the entity's field that it is, or whose slots.
    pub(crate) fn of(&self) -> &str {
        self.slots.as_ref().map_or(&self.name, |slots| &slots.of)
    }
}

/// Slots of one of the entity's series.
pub(crate) struct ProjectedSlots {
    /// The series, as the user names it.
    pub(crate) of: String,
    /// The first of them.
    pub(crate) from: u32,
    /// Whether it is that one alone, and no array.
    pub(crate) alone: bool,
}

impl ProjectedSlots {
    fn read(cx: &Ctxt, name: &str, words: &SeriesWords) -> Self {
        if let Some(word) = words.width.word() {
            cx.error(word.span(), "`width` says nothing here: the names are the entity's");
        }
        if let (Some(_), Some(word)) = (words.slot.word(), words.from.word()) {
            cx.error(
                word.span(),
                "`slot` is one value, and `from` an array of several: leave out one of the two",
            );
        }
        let number = |slot: &Slot<Spanned<u32>>| slot.get().map(|number| number.value);
        Self {
            of: words.of.get().map_or_else(|| name.to_owned(), |of| of.unraw().to_string()),
            from: number(&words.slot).or_else(|| number(&words.from)).unwrap_or_default(),
            alone: words.slot.get().is_some(),
        }
    }
}

impl<'a> Projection<'a> {
    /// Reads the input. `None` if there is nothing to go on with.
    pub(crate) fn read(cx: &Ctxt, input: &'a DeriveInput) -> Option<Self> {
        no_generics(cx, &input.generics, "a projection");
        let fields = named_fields(cx, input, "a projection")?;
        let mut words = ProjectionWords::default();
        attr::read_named(cx, &input.attrs, PROJECTION, &mut words);
        // C30: a projection is one of an entity.
        if words.of.is_missing() {
            cx.error(input.ident.span(), "a projection says of what: `#[projection(of = Entity)]`");
        }
        let fields = fields
            .iter()
            .filter_map(|field| {
                let ident = field.ident.as_ref()?;
                let words = FieldAttrs::read(cx, &field.attrs, false);
                let property = &words.property;
                // C24: the names are the entity's, and what is left out needs no field.
                for word in [property.rename.word(), property.skip.word(), words.flatten.as_ref()]
                    .into_iter()
                    .flatten()
                {
                    cx.error(
                        word.span(),
                        format!("`{word}` says nothing here: a projection's field is one of the entity's"),
                    );
                }
                let refers = referred(&field.ty).is_some() && property.json.get().is_none();
                for word in [property.was.word(), property.new.word()].into_iter().flatten() {
                    if refers || words.series.is_some() {
                        cx.error(
                            word.span(),
                            format!(
                                "`{word}` says nothing here: a reference or a series is several properties"
                            ),
                        );
                    }
                }
                Some(ProjectionField {
                    ident,
                    name: ident.unraw().to_string(),
                    ty: &field.ty,
                    was: was(cx, property, ident),
                    is_new: property.new.get().is_some(),
                    json: property.json.get().is_some(),
                    default: property.default.get().cloned(),
                    refers,
                    slots: words
                        .series
                        .as_ref()
                        .map(|(_, series)| ProjectedSlots::read(cx, &ident.unraw().to_string(), series)),
                })
            })
            .collect();
        Some(Self {
            ident: &input.ident,
            vis: &input.vis,
            krate: Krate::new(words.krate.into_value()),
            of: words.of.into_value()?,
            fields,
        })
    }
}

/// Returns what the property was called that holders of a copy keep the field in.
fn was(cx: &Ctxt, words: &PropertyWords, field: &Ident) -> Option<Spanned<String>> {
    let literal = words.was.get()?;
    let was = Spanned { value: literal.value(), span: literal.span() };
    if let Some(new) = words.new.word() {
        cx.error(new.span(), "`new` and `was` contradict each other: what is new was nothing before");
    }
    let name = Case::Pascal.of_field(&field.unraw().to_string());
    if let Some(meant) = Case::Pascal.misnamed(&was.value) {
        cx.error(was.span, of_a_field(&was.value, &meant, &name));
    }
    Some(was)
}
