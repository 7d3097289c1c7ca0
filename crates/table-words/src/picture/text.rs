//! Pictures as tables of text.

use super::Design;

/// The columns of a picture.
pub(super) const TITLES: [&str; 4] = ["Row", "PartitionKey", "RowKey", "Properties"];
/// The columns of access patterns.
pub(super) const ACCESS_TITLES: [&str; 5] = ["By", "Call", "Class", "Reads", "In the order of"];

pub(super) fn draw(design: &Design) -> String {
    let lines = lines(design);
    format!("{} in table {}\n{}", design.title(), design.table, columns(&TITLES, &lines))
}

pub(super) fn draw_access(design: &Design) -> String {
    let lines = access_lines(design);
    // What a store has noted of a kind has no calls.
    if lines.iter().all(|[_, call, ..]| call.is_empty()) {
        let [by, _, class, reads, order] = ACCESS_TITLES;
        let lines: Vec<_> =
            lines.into_iter().map(|[by, _, class, reads, order]| [by, class, reads, order]).collect();
        return columns(&[by, class, reads, order], &lines);
    }
    columns(&ACCESS_TITLES, &lines)
}

/// Returns the heading of each row, its keys, and what it holds besides them.
pub(super) fn lines(design: &Design) -> Vec<[String; 4]> {
    let line =
        |row: &super::DesignRow| [row.heading(), row.partition.to_string(), row.row.to_string(), row.held()];
    design.rows.iter().map(line).collect()
}

pub(super) fn access_lines(design: &Design) -> Vec<[String; 5]> {
    let patterns = design.access_patterns().into_iter();
    let line = |pattern: super::AccessPattern| {
        let call = pattern.call.unwrap_or_default();
        [pattern.by, call, pattern.class.to_string(), pattern.reads, pattern.order]
    };
    patterns.map(line).collect()
}

/// Returns lines of cells, each as wide as the widest of its column.
fn columns<const COLUMNS: usize>(titles: &[&str; COLUMNS], lines: &[[String; COLUMNS]]) -> String {
    let mut widths = titles.map(|title| title.chars().count());
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut drawn = String::new();
    draw_line(&mut drawn, titles, &widths);
    for line in lines {
        drawn.push('\n');
        draw_line(&mut drawn, line, &widths);
    }
    drawn
}

fn draw_line(drawn: &mut String, cells: &[impl AsRef<str>], widths: &[usize]) {
    let mut gap = 0;
    for (cell, width) in cells.iter().map(AsRef::as_ref).zip(widths) {
        // The gap comes before a cell, so that no line ends in spaces.
        if !cell.is_empty() {
            drawn.extend(std::iter::repeat_n(' ', gap));
            drawn.push_str(cell);
            gap = 0;
        }
        gap += width + 2 - cell.chars().count();
    }
}
