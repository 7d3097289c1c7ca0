//! A field of an entity or of `Properties`.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{GenericArgument, PathArguments, Token, Type, Visibility};

use super::{CopyOf, Number, ProjectionField, Spanned};
use crate::attr::{DefaultWord, FieldAttrs, KeyScope, TokenScope};
use crate::case::Case;
use crate::ctxt::Ctxt;

/// A field.
pub(crate) struct Field<'a> {
    /// Its name as the user wrote it, `r#` included.
    pub(crate) ident: &'a Ident,
    /// Its name without `r#`: what templates call it.
    pub(crate) name: String,
    pub(crate) vis: &'a Visibility,
    pub(crate) ty: &'a Type,
    /// How it is stored.
    pub(crate) storage: Storage,
    /// The name of its property, and the token that gives it: the one in `rename`, or the field's name. Means nothing
    /// unless [`Storage`] is `Value` or `Json`; of a `Grouped` one the names begin with it.
    pub(crate) property: Spanned<String>,
    /// Whether `rename` gives it.
    pub(crate) renamed: bool,
    /// `default`: what an absent property is.
    pub(crate) default: Option<DefaultWord>,
    /// `was`: the name that the property had before, and where it stands.
    pub(crate) was: Option<Spanned<String>>,
    /// `plain`: rows may hold it as it is, though its type hides it from `Debug`.
    pub(crate) plain: bool,
    /// `encrypt`, and where: the property holds the value sealed.
    pub(crate) encrypted: Option<Encrypted>,
    /// `summary`: it is a number of a summary; whether it was to be one, and what it is if it says so rightly.
    pub(crate) is_number: bool,
    pub(crate) number: Option<Number>,
    /// `copy_of`: it is a copy of another entity's fields.
    pub(crate) copy: Option<CopyOf>,
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
    /// `skip`: not at all; the type's default when it is read.
    Skipped,
}

impl<'a> Field<'a> {
    /// The fields of a struct. `of_entity`: not of one that is merely flattened into entities.
    pub(crate) fn read_all(
        cx: &Ctxt,
        fields: &'a Punctuated<syn::Field, Token![,]>,
        case: Option<Case>,
        of_entity: bool,
    ) -> Vec<Self> {
        let case = case.unwrap_or(Case::Pascal);
        fields.iter().filter_map(|field| Self::read(cx, field, case, of_entity)).collect()
    }

    fn read(cx: &Ctxt, field: &'a syn::Field, case: Case, of_entity: bool) -> Option<Self> {
        let ident = field.ident.as_ref()?;
        let attrs = FieldAttrs::read(cx, &field.attrs, of_entity);
        let name = ident.unraw().to_string();
        let storage = storage(cx, &attrs, referred(&field.ty).is_some());
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
            storage,
            property,
            renamed: rename.get().is_some(),
            default: attrs.property.default.get().cloned(),
            was: was(cx, &attrs),
            plain: attrs.property.plain.get().is_some(),
            encrypted: encrypted(cx, &attrs),
            is_number: attrs.number.is_some(),
            number: attrs.number.and_then(|number| Number::new(cx, number)),
            copy: attrs.copy.and_then(|words| CopyOf::new(cx, words)),
        })
    }

    /// How its tokens are made, if it has any.
    pub(crate) fn blind(&self) -> Option<Blind> {
        self.encrypted.and_then(|encrypted| encrypted.blind)
    }

    /// The name of the property that holds its token, if it has one.
    pub(crate) fn token_property(&self) -> String {
        format!("{}Token", self.property.value)
    }

    /// Whether it is one property of its own.
    pub(crate) fn is_property(&self) -> bool {
        matches!(self.storage, Storage::Value | Storage::Json)
    }

    /// Whether the type is written `String`.
    pub(crate) fn is_string(&self) -> bool {
        matches!(self.ty, Type::Path(path) if path.path.is_ident("String"))
    }

    /// Whether it lies behind the fields that are one property each.
    pub(crate) fn is_behind(&self) -> bool {
        matches!(self.storage, Storage::Flattened | Storage::Grouped)
    }

    /// The `T` of a type that is written `Ref<T>` or `Option<Ref<T>>`.
    pub(crate) fn referred(&self) -> Option<&'a Type> {
        referred(self.ty)
    }

    /// The `T` of a type that is written `Option<T>`.
    pub(crate) fn optional(&self) -> Option<&'a Type> {
        argument(self.ty, "Option")
    }

    /// The `T` of a type that is written `Vec<T>`.
    pub(crate) fn elements(&self) -> Option<&'a Type> {
        argument(self.ty, "Vec")
    }
}

/// The `T` of a type that is written `Ref<T>` or `Option<Ref<T>>`.
pub(crate) fn referred(ty: &Type) -> Option<&Type> {
    argument(argument(ty, "Option").unwrap_or(ty), "Ref")
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
fn was(cx: &Ctxt, attrs: &FieldAttrs) -> Option<Spanned<String>> {
    let (word, literal) = (attrs.property.was.word()?, attrs.property.was.get()?);
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
    Some(Spanned { value: literal.value(), span: literal.span() })
}

/// What the words of a field say together.
// C24: words that contradict each other.
fn storage(cx: &Ctxt, attrs: &FieldAttrs, refers: bool) -> Storage {
    let words = &attrs.property;
    let refers = refers || attrs.copy.is_some();
    let is_group =
        refers && attrs.flatten.is_none() && words.skip.get().is_none() && words.json.get().is_none();
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
    let given =
        [words.rename.word(), words.json.word(), words.default.word(), words.was.word(), words.plain.word()];
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
        for word in [words.default.word(), words.was.word(), words.plain.word()].into_iter().flatten() {
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
    /// A field of a projection, as a copy of it is stored.
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
            storage,
            property: Spanned { value: Case::Pascal.of_field(&of.name), span: of.ident.span() },
            renamed: false,
            default: of.default.clone(),
            was: None,
            encrypted: None,
            is_number: false,
            number: None,
            copy: None,
            plain: false,
        }
    }
}

/// The `T` of `Wrapper<T>`, by whatever path the wrapper is named.
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
