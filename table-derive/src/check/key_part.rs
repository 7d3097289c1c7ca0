//! Rules about the user's types in keys.

use table_words::key::RULE;

use super::key;
use crate::ctxt::Ctxt;
use crate::model::{KeyPart, KeyPartShape};

/// C7, of one type: no two variants have one text.
pub(super) fn c7_variants_have_texts_of_their_own(cx: &Ctxt, part: &KeyPart<'_>) {
    let KeyPartShape::Enum(variants) = &part.shape else { return };
    for (i, variant) in variants.iter().enumerate() {
        let text = &variant.text;
        if let Some(first) = variants.iter().take(i).find(|first| first.text.value == text.value) {
            cx.error(text.span, format!("the text `{}` is already that of `{}`", text.value, first.ident));
        }
    }
}

/// C14, of one type: a key can hold each text.
pub(super) fn c14_a_key_can_hold_the_texts(cx: &Ctxt, part: &KeyPart<'_>) {
    let KeyPartShape::Enum(variants) = &part.shape else { return };
    for variant in variants {
        let text = &variant.text;
        if text.value.is_empty() {
            cx.error(text.span, "a variant needs a text, to be told apart in a key");
        } else if let Some(c) = key::forbidden(&text.value) {
            cx.error(text.span, format!("`{}`: a key holds {RULE}", key::shown(c)));
        }
    }
}
