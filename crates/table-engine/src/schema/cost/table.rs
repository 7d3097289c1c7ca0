//! A cost as tables of text.

use std::fmt;

use super::{Basis, Cost, Values, percent};

impl fmt::Display for Cost {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let basis = match self.basis {
            Basis::Estimated => "expected",
            Basis::Counted => "counted",
        };
        writeln!(f, "{} of {} {basis}", self.entities, self.entity)?;
        let mut rows = vec![
            ["rows of", "rows", "service bytes", "share", "stored bytes", "values", "most frequent"]
                .map(str::to_owned),
        ];
        for row in &self.rows {
            let values = |of: fn(&Values) -> u64| row.values.as_ref().map(of);
            rows.push([
                row.index.unwrap_or("the entity itself").to_owned(),
                row.rows.to_string(),
                row.service_bytes.to_string(),
                percent(row.service_bytes, self.service_bytes()),
                row.stored_bytes.to_string(),
                values(|values| values.distinct).map(|distinct| distinct.to_string()).unwrap_or_default(),
                values(|values| values.most).map(|most| percent(most, row.rows)).unwrap_or_default(),
            ]);
        }
        aligned(f, &rows)?;
        let mut changes = vec![["change of", "rows", "requests"].map(str::to_owned)];
        for change in &self.changes {
            let figure = |figure: f64| format!("{figure:.1}").trim_end_matches(".0").to_owned();
            changes.push([change.change.clone(), figure(change.rows), figure(change.requests)]);
        }
        writeln!(f, "\n")?;
        aligned(f, &changes)?;
        for (at, advice) in self.advice.iter().enumerate() {
            write!(f, "{}{advice}", if at == 0 { "\n\n" } else { "\n" })?;
        }
        Ok(())
    }
}

/// Lines whose cells stand below each other: the first to the left, figures to the right.
#[inline]
fn aligned<const N: usize>(f: &mut fmt::Formatter<'_>, lines: &[[String; N]]) -> fmt::Result {
    let mut widths = [0; N];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            f.write_str("\n")?;
        }
        // The gap comes before a cell, so that no line ends in spaces.
        let mut gap = 0;
        for (at, (cell, width)) in line.iter().zip(widths).enumerate() {
            let rest = width - cell.chars().count();
            let before = if at == 0 { 0 } else { gap + 2 + rest };
            if !cell.is_empty() {
                write!(f, "{:before$}{cell}", "")?;
            }
            gap = match (at, cell.is_empty()) {
                (0, _) => rest,
                (_, true) => before,
                (_, false) => 0,
            };
        }
    }
    Ok(())
}
