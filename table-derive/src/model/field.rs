//! A field of an entity or of `Properties`.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, GenericArgument, Lit, PathArguments, Token, Type, Visibility};

use super::{CopyOf, Number, ProjectionField, Spanned};
use crate::attr::{DefaultWord, FieldAttrs, KeyScope, TokenScope};
use crate::case::Case;
use crate::ctxt::Ctxt;

/// Where the value of a field stands as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// In rows, as a property.
    InRows,
    /// In a key of the entity or of an index, too.
    InAKey,
}

/// A field.
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the declaration")]
pub(crate) struct Field<'a> {
    /// Its name as the user wrote it, `r#` included.
    pub(crate) ident: &'a Ident,
    /// Its name without `r#`: what templates call it.
    pub(crate) name: String,
    pub(crate) vis: &'a Visibility,
    pub(crate) ty: &'a Type,
    /// What the user says of it: the first paragraph of its documentation.
    pub(crate) docs: Option<String>,
    /// How it is stored.
    pub(crate) storage: Storage,
    /// The name of its property, and the token that gives it: the one in `rename`, or the field's name. Means nothing
    /// unless [`Storage`] is `Value` or `Json`; of a `Grouped` one and of a series the names begin with it.
    pub(crate) property: Spanned<String>,
    /// Whether `rename` gives it.
    pub(crate) renamed: bool,
    /// `default`: what an absent property is.
    pub(crate) default: Option<DefaultWord>,
    /// `was`: the name that the property had before, and where it stands.
    pub(crate) was: Option<Spanned<String>>,
    /// `new`: it is none of the properties that rows have.
    pub(crate) is_new: bool,
    /// `plain`: rows may hold it as it is, though its type hides it from `Debug`.
    pub(crate) plain: bool,
    /// Where its value stands as it is.
    pub(crate) stands: Stands,
    /// `encrypt`, and where: the property holds the value sealed.
    pub(crate) encrypted: Option<Encrypted>,
    /// `width` of a series: how many digits the number of a slot has at least, and where that is said.
    pub(crate) width: Option<Spanned<u32>>,
    /// `summary`: it is a number of a summary; whether it was to be one, and what it is if it says so rightly.
    pub(crate) is_number: bool,
    pub(crate) number: Option<Number>,
    /// `copy_of`: it is a copy of another entity's fields.
    pub(crate) copy: Option<CopyOf>,
    /// `part`, the word itself: the next row of a wide entity begins with it.
    pub(crate) begins: Option<Ident>,
    /// Which row of a wide entity holds it; 0 is the head.
    pub(crate) part: usize,
}

/// How a field is sealed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encrypted {
    /// Where `encrypt` stands.
    pub(crate) span: Span,
    /// `scope`: whose key seals it.
    pub(crate) scope: KeyScope,
    /// `dual`: rows may still hold it plain.
    pub(crate) dual: bool,
    /// `blind`: it has tokens.
    pub(crate) blind: Option<Blind>,
}

/// That a field can be looked up by tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blind {
    /// Where `blind` stands.
    pub(crate) span: Span,
    /// `tokens`: the scope in which equal values have equal tokens.
    pub(crate) tokens: TokenScope,
}

/// How a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// As one property of a type of the store's.
    Value,
    /// `json`: as one string property.
    Json,
    /// `flatten`: as the properties of its own fields.
    Flattened,
    /// As several properties named after the field: a reference.
    Grouped,
    /// `series`: each slot as a property of its own.
    Series,
    /// `skip`: not at all; the type's default when it is read.
    Skipped,
}

impl<'a> Field<'a> {
    /// Returns the fields' names.
    pub(crate) fn names(fields: &[Self]) -> Vec<&str> {
        fields.iter().map(|field| field.name.as_str()).collect()
    }

    /// Returns the fields of a struct. `of_entity`: not of one that is merely flattened into entities.
    pub(crate) fn read_all(
        cx: &Ctxt,
        fields: &'a Punctuated<syn::Field, Token![,]>,
        case: Option<Case>,
        of_entity: bool,
    ) -> Vec<Self> {
        let case = case.unwrap_or(Case::Pascal);
        let mut part = 0;
        let in_part = |mut field: Self| {
            part += usize::from(field.begins.is_some());
            field.part = part;
            field
        };
        fields.iter().filter_map(|field| Self::read(cx, field, case, of_entity)).map(in_part).collect()
    }

    fn read(cx: &Ctxt, field: &'a syn::Field, case: Case, of_entity: bool) -> Option<Self> {
        let ident = field.ident.as_ref()?;
        let attrs = FieldAttrs::read(cx, &field.attrs, of_entity);
        let name = ident.unraw().to_string();
        let storage = storage(cx, &attrs, &field.ty);
        let rename = &attrs.property.rename;
        let property = match rename.get() {
            Some(literal) => Spanned { value: literal.value(), span: literal.span() },
            None if rename.is_missing() => Spanned { value: case.of_field(&name), span: ident.span() },
            // A name that couldn't be read: the default might break rules that the right one doesn't.
            None => Spanned { value: name.clone(), span: ident.span() },
        };
        Some(Self {
            ident,
            name,
            vis: &field.vis,
            ty: &field.ty,
            docs: docs(&field.attrs),
            storage,
            renamed: rename.get().is_some(),
            default: attrs.property.default.get().cloned(),
            was: was(cx, &attrs, case, &property),
            is_new: attrs.property.new.get().is_some(),
            property,
            plain: attrs.property.plain.get().is_some(),
            stands: Stands::InRows,
            encrypted: encrypted(cx, &attrs),
            width: attrs.series.as_ref().and_then(|(_, words)| words.width.get().cloned()),
            is_number: attrs.number.is_some(),
            number: attrs.number.and_then(|(word, words)| Number::new(cx, word, words)),
            copy: attrs.copy.and_then(|words| CopyOf::new(cx, words)),
            begins: attrs.part,
            part: 0,
        })
    }

    /// Returns the user's own words of the field, and then what generated code says of it.
    pub(crate) fn documented(&self, own: &str) -> String {
        self.docs.as_ref().map_or_else(|| own.to_owned(), |docs| format!("{docs}\n\n{own}"))
    }

    /// Returns what generated code does with the field, and then the user's own words of it.
    pub(crate) fn done_with(&self, own: &str) -> String {
        self.docs.as_ref().map_or_else(|| own.to_owned(), |docs| format!("{own}\n\n{docs}"))
    }

    /// Returns how its tokens are made, if it has any.
    pub(crate) fn blind(&self) -> Option<Blind> {
        self.encrypted.and_then(|encrypted| encrypted.blind)
    }

    /// Returns the name of the property that holds its token, if it has one.
    pub(crate) fn token_property(&self) -> String {
        format!("{}Token", self.property.value)
    }

    /// Returns whether it is one property of its own.
    pub(crate) fn is_property(&self) -> bool {
        matches!(self.storage, Storage::Value | Storage::Json)
    }

    /// Returns whether it lies behind the fields that are one property each.
    pub(crate) fn is_behind(&self) -> bool {
        matches!(self.storage, Storage::Flattened | Storage::Grouped | Storage::Series)
    }

    /// Returns the `T` of a type that is written `Ref<T>` or `Option<Ref<T>>`.
    pub(crate) fn referred(&self) -> Option<&'a Type> {
        referred(self.ty)
    }

    /// Returns what the slots of a series hold, if its type is written as an array.
    pub(crate) fn slots(&self) -> Option<&'a Type> {
        array(self.ty)
    }

    /// Returns whether the type is written `String`.
    pub(crate) fn is_string(&self) -> bool {
        matches!(self.ty, Type::Path(path) if path.path.is_ident("String"))
    }

    /// Returns the `T` of a type that is written `Option<T>`.
    pub(crate) fn optional(&self) -> Option<&'a Type> {
        argument(self.ty, "Option")
    }

    /// Returns the `T` of a type that is written `Vec<T>`.
    pub(crate) fn elements(&self) -> Option<&'a Type> {
        argument(self.ty, "Vec")
    }
}

/// Returns the `T` of a type that is written `Ref<T>` or `Option<Ref<T>>`.
pub(crate) fn referred(ty: &Type) -> Option<&Type> {
    argument(argument(ty, "Option").unwrap_or(ty), "Ref")
}

/// Returns the first paragraph of a field's documentation, without what is no text: an example would run once more for each item
/// that has it.
fn docs(attrs: &[Attribute]) -> Option<String> {
    let texts = attrs.iter().filter(|attr| attr.path().is_ident("doc")).filter_map(|attr| {
        let value = &attr.meta.require_name_value().ok()?.value;
        match value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        }
    });
    let lines: Vec<String> =
        texts.flat_map(|text| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>()).collect();
    let paragraph: Vec<_> = lines
        .iter()
        .map(String::as_str)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty() && !line.starts_with("```"))
        .collect();
    (!paragraph.is_empty()).then(|| paragraph.join("\n"))
}

/// What `encrypt` says, with the words beside it.
// C24: words that contradict each other.
fn encrypted(cx: &Ctxt, attrs: &FieldAttrs) -> Option<Encrypted> {
    let span = attrs.encrypt.as_ref()?.span();
    let words = &attrs.sealing;
    if let Some(word) = attrs.property.plain.word() {
        cx.error(word.span(), "`plain` and `#[encrypt]` contradict each other");
    }
    if let (Some(word), true) = (words.tokens.word(), words.blind.is_missing()) {
        cx.error(word.span(), "`tokens` says nothing without `blind`: there are no tokens");
    }
    if let (Some(word), Some(())) = (words.blind.word(), attrs.property.json.get()) {
        cx.error(word.span(), "`blind` is not for `json`: one value can be written as several texts");
    }
    let blind = words.blind.word().map(|word| Blind {
        span: word.span(),
        tokens: words.tokens.get().copied().unwrap_or(TokenScope::Partition),
    });
    let scope = words.scope.get().copied().unwrap_or(KeyScope::Store);
    Some(Encrypted { span, scope, dual: words.dual.get().is_some(), blind })
}

/// The name that the property had before.
// C24: words that contradict each other.
fn was(cx: &Ctxt, attrs: &FieldAttrs, case: Case, property: &Spanned<String>) -> Option<Spanned<String>> {
    let (word, literal) = (attrs.property.was.word()?, attrs.property.was.get()?);
    if let Some(new) = attrs.property.new.word() {
        cx.error(new.span(), "`new` and `was` contradict each other: what is new was nothing before");
    }
    if attrs.encrypt.is_some() {
        let name = literal.value();
        cx.error(
            word.span(),
            format!(
                "`was` is not for `#[encrypt]`: a sealed value opens under the name alone that it was sealed for; \
                 `#[property(rename = \"{name}\")]` keeps that name"
            ),
        );
    }
    let was = Spanned { value: literal.value(), span: literal.span() };
    // Who names both names means them.
    if attrs.property.rename.is_missing()
        && attrs.encrypt.is_none()
        && let Some(meant) = case.misnamed(&was.value)
    {
        let (name, property) = (&was.value, &property.value);
        cx.error(
            was.span,
            format!(
                "{}; if rows do have `{name}`, say both names: `#[property(rename = \"{property}\", was = \"{name}\")]`",
                of_a_field(name, &meant, property)
            ),
        );
    }
    Some(was)
}

/// Returns what is said of the name of a field where that of its property, `meant`, was to be, by a field that gives `property`.
pub(super) fn of_a_field(name: &str, meant: &str, property: &str) -> String {
    let instead = if meant == property {
        ", which this one still is: leave `was` out".to_owned()
    } else {
        format!(": `#[property(was = \"{meant}\")]`")
    };
    format!("`{name}` is the name of a field, and its property is called `{meant}`{instead}")
}

/// What the words of a field say together.
// C24: words that contradict each other.
fn storage(cx: &Ctxt, attrs: &FieldAttrs, ty: &Type) -> Storage {
    let words = &attrs.property;
    if attrs.series.is_some() {
        return series_storage(cx, attrs, ty);
    }
    let is_group = (referred(ty).is_some() || attrs.copy.is_some())
        && attrs.flatten.is_none()
        && words.skip.get().is_none()
        && words.json.get().is_none();
    let unsealed = if attrs.flatten.is_some() {
        Some("it stands on the fields of the flattened struct")
    } else if is_group {
        Some("a reference or a copy is stored as it is")
    } else {
        words.skip.get().map(|()| "a skipped field is not stored")
    };
    if let (Some(word), Some(why)) = (&attrs.encrypt, unsealed) {
        cx.error(word.span(), format!("`#[encrypt]` says nothing here: {why}"));
    }
    let given = [
        words.rename.word(),
        words.json.word(),
        words.default.word(),
        words.was.word(),
        words.new.word(),
        words.plain.word(),
    ];
    if attrs.flatten.is_some() {
        if let Some(word) = given.into_iter().chain([words.skip.word()]).flatten().next() {
            cx.error(
                word.span(),
                format!("`{word}` says nothing here: a flattened field is no property itself"),
            );
        }
        return Storage::Flattened;
    }
    if words.skip.get().is_some() {
        if let Some(word) = given.into_iter().flatten().next() {
            cx.error(word.span(), format!("`{word}` says nothing here: a skipped field is not stored"));
        }
        return Storage::Skipped;
    }
    if is_group {
        for word in [words.default.word(), words.was.word(), words.new.word(), words.plain.word()]
            .into_iter()
            .flatten()
        {
            cx.error(
                word.span(),
                format!("`{word}` says nothing here: a reference or a copy is several properties; one that may be absent is an `Option`"),
            );
        }
        return Storage::Grouped;
    }
    if words.json.get().is_some() { Storage::Json } else { Storage::Value }
}

impl<'a> Field<'a> {
    /// Makes a field of a projection, as a copy of it is stored.
    pub(super) fn of_projection(of: &ProjectionField<'a>, vis: &'a Visibility) -> Self {
        let storage = match (of.json, of.refers) {
            (true, _) => Storage::Json,
            (_, true) => Storage::Grouped,
            _ => Storage::Value,
        };
        Self {
            ident: of.ident,
            name: of.name.clone(),
            vis,
            ty: of.ty,
            docs: None,
            storage,
            property: Spanned { value: Case::Pascal.of_field(&of.name), span: of.ident.span() },
            renamed: false,
            default: of.default.clone(),
            was: of.was.clone(),
            is_new: of.is_new,
            encrypted: None,
            is_number: false,
            number: None,
            width: None,
            copy: None,
            begins: None,
            part: 0,
            plain: false,
            stands: Stands::InRows,
        }
    }
}

/// Returns whether a type can't be an array, as it is written. A name alone may be another name of one.
fn is_no_array(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_no_array(&group.elem),
        Type::Paren(paren) => is_no_array(&paren.elem),
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| !matches!(last.arguments, PathArguments::None))
        }
        Type::Array(_) | Type::Macro(_) => false,
        _ => true,
    }
}

/// What the words of a series say together.
// C28: words that are not for a series.
fn series_storage(cx: &Ctxt, attrs: &FieldAttrs, ty: &Type) -> Storage {
    let words = &attrs.property;
    let refused = [
        (
            attrs.flatten.as_ref(),
            "its slots are properties, and no struct's fields: leave out one of the two",
        ),
        (
            words.json.word(),
            "one text would hold all slots, which then can't be changed and compared one by one: leave out one of the two",
        ),
        (words.skip.word(), "a skipped field is not stored: leave out one of the two"),
        (
            words.was.word(),
            "its properties are many: `#[property(rename = \"..\")]` keeps what their names begin with",
        ),
        (words.new.word(), "its slots are told from others by what their names begin with"),
        (
            attrs.encrypt.as_ref(),
            "a slot is compared, patched and added to as it is stored; `#[property(json)]` and `#[encrypt]` seal an array as a whole",
        ),
    ];
    for (word, why) in refused {
        if let Some(word) = word {
            cx.error(word.span(), format!("`{word}` is not for a series: {why}"));
        }
    }
    if let Some((_, words)) = &attrs.series {
        for word in [words.of.word(), words.slot.word(), words.from.word()].into_iter().flatten() {
            cx.error(word.span(), format!("`{word}` is for a projection, which takes some of the slots"));
        }
    }
    if is_no_array(ty) {
        cx.error(
            ty.span(),
            "a series is an array, `[Option<f64>; 24]`, whose slots are properties; `#[property(json)]` keeps a list or a map \
             in one text property, and values of any number are entities, each with a row",
        );
        // Nothing more is said of it.
        return Storage::Skipped;
    }
    Storage::Series
}

/// Returns the `T` of `[T; N]`.
fn array(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Group(group) => array(&group.elem),
        Type::Paren(paren) => array(&paren.elem),
        Type::Array(array) => Some(&array.elem),
        _ => None,
    }
}

/// Returns the `T` of `Option<T>`, of any type.
pub(crate) fn in_option(ty: &Type) -> Option<&Type> {
    argument(ty, "Option")
}

/// Returns the `T` of `Wrapper<T>`, by whatever path the wrapper is named.
fn argument<'a>(ty: &'a Type, wrapper: &str) -> Option<&'a Type> {
    let path = match ty {
        // A type that came through a `macro_rules` macro.
        Type::Group(group) => return argument(&group.elem, wrapper),
        Type::Paren(paren) => return argument(&paren.elem, wrapper),
        Type::Path(path) if path.qself.is_none() => &path.path,
        _ => return None,
    };
    let last = path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if last.ident == wrapper && arguments.args.len() == 1 => {
            Some(inner)
        }
        _ => None,
    }
}
