//! What stands around every page: the document, its style, the switch of light and dark.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style that all pages have.
pub(super) const STYLE: &str = include_str!("assets/style.css");

/// Returns the switch of light and dark. It takes no script: the style asks which one is chosen.
pub(super) fn theme_switch() -> Markup {
    let choices =
        [("theme-auto", "auto", "Auto"), ("theme-light", "light", "Light"), ("theme-dark", "dark", "Dark")];
    html! {
        fieldset.theme {
            legend { "Theme" }
            @for (id, value, name) in choices {
                label { input id=(id) type="radio" name="theme" value=(value) checked[value == "auto"]; (name) }
            }
        }
    }
}

/// Returns a document that needs no other file, and by its policy can ask for none and run no script.
pub(super) fn standalone(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body.alone { main { (body) } }
        }
    }
}
