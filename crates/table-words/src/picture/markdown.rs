//! Pictures as tables of Markdown.

use super::Design;
use super::text::{ACCESS_TITLES, TITLES, access_lines, lines};

pub(super) fn draw(design: &Design) -> String {
    let mut drawn = head(&TITLES);
    for [row, partition, row_key, properties] in lines(design) {
        let cells = [plain(&row), code(&partition), code(&row_key), plain(&properties)];
        draw_line(&mut drawn, &cells);
    }
    drawn
}

pub(super) fn draw_access(design: &Design) -> String {
    let lines = access_lines(design);
    // What a store has noted of a kind has no calls.
    let has_calls = lines.iter().any(|[_, call, ..]| !call.is_empty());
    let titles: Vec<_> = ACCESS_TITLES.into_iter().filter(|title| has_calls || *title != "Call").collect();
    let mut drawn = head(&titles);
    for [by, call, class, reads, order] in lines {
        let mut cells = vec![plain(&by), code(&call), plain(&class), plain(&reads), plain(&order)];
        if !has_calls {
            cells.remove(1);
        }
        draw_line(&mut drawn, &cells);
    }
    drawn
}

fn head(titles: &[&str]) -> String {
    let mut drawn = format!("| {} |\n|", titles.join(" | "));
    drawn.push_str(&" --- |".repeat(titles.len()));
    drawn
}

fn draw_line(drawn: &mut String, cells: &[String]) {
    drawn.push_str("\n|");
    for cell in cells {
        drawn.extend([" ", cell, " |"]);
    }
}

/// Returns a text as a piece of code in a cell.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    // As many ticks as no run of them in the text has.
    let longest = text.split(|c| c != '\u{60}').map(str::len).max().unwrap_or(0);
    let ticks = "\u{60}".repeat(longest + 1);
    let space = if text.starts_with('\u{60}') || text.ends_with('\u{60}') { " " } else { "" };
    let text: String = text.chars().map(visible).collect();
    // A cell ends at a bar, even in code.
    format!("{ticks}{space}{}{space}{ticks}", text.replace('|', "\\|"))
}

/// Returns a text of which nothing is a mark of Markdown or of HTML.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().map(visible).peekable();
    while let Some(c) = chars.next() {
        let is_within = before.is_alphanumeric() && chars.peek().is_some_and(|c| c.is_alphanumeric());
        if matches!(c, '|' | '<' | '&' | '\u{60}' | '*' | '[' | ']' | '\\' | '~' | '$')
            || c == '_' && !is_within
        {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

/// Returns the character, or one for those that would end a line or are not seen.
fn visible(c: char) -> char {
    if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }
}
