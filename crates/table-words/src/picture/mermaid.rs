//! Pictures as entity relationship diagrams of Mermaid.

use super::{Design, DesignRow, RowRole, push};

pub(super) fn draw(design: &Design) -> String {
    let mut drawn = "erDiagram".to_owned();
    for row in &design.rows {
        let name = name(row);
        push(&mut drawn, format_args!("\n    {name}[\"{}\"] {{", comment(&row.heading())));
        for (key, of) in [("PartitionKey", &row.partition), ("RowKey", &row.row)] {
            push(&mut drawn, format_args!("\n        key {key} PK \"{}\"", comment(&of.to_string())));
        }
        for held in &row.holds {
            // A type is one word; what more there is to say stands behind the name.
            let of = word(held.what.rsplit(' ').next().unwrap_or_default());
            let name = word(&held.name.replace(" .. ", "_to_"));
            push(&mut drawn, format_args!("\n        {of} {name}"));
            if of != held.what {
                push(&mut drawn, format_args!(" \"{}\"", comment(&held.what)));
            }
        }
        drawn.push_str("\n    }");
    }
    let Some(own) = design.rows.first().map(name) else { return drawn };
    for row in design.rows.iter().skip(1) {
        let (ends, label) = match row.role {
            RowRole::Entity | RowRole::Part(_) => ("||--||", "continues in".to_owned()),
            RowRole::Copy if row.row.fields().any(|field| field.each) => ("||--o{", row.name.clone()),
            RowRole::Copy => ("||--o|", row.name.clone()),
            RowRole::List => ("}o--||", format!("is on {}", row.name)),
            RowRole::Summary => ("}o--||", "counts in".to_owned()),
        };
        push(&mut drawn, format_args!("\n    {own} {ends} {} : \"{}\"", name(row), comment(&label)));
    }
    drawn
}

/// Returns the name of a row in the diagram.
fn name(row: &DesignRow) -> String {
    match row.role {
        RowRole::Part(part) => format!("{}_part_{part}", word(&row.kind)),
        _ => word(&row.kind),
    }
}

/// Returns a text as one word, which a diagram takes for a name.
fn word(text: &str) -> String {
    let mut word: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect::<String>()
        .trim_end_matches('_')
        .to_owned();
    if !word.starts_with(|first: char| first.is_ascii_alphabetic()) {
        word.insert_str(0, "x_");
    }
    word
}

/// Returns a text that can stand in quotes. There is no way to write a quote there.
fn comment(text: &str) -> String {
    let shown = |c: char| match c {
        '"' => '\'',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(shown).collect()
}
