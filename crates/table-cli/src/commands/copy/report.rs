//! What a copy prints.

use table_core::ErrorKind;

use super::super::export::count;
use crate::data::copy::Copied;
use crate::data::copy_journal::Part;
use crate::data::refused;
use crate::failure::{Exit, Failure};
use crate::output::Cell;
use crate::session::Session;

/// The columns of a line.
const NAMES: [&str; 10] = [
    "kind",
    "name",
    "read",
    "written",
    "skipped",
    "copies",
    "rejected",
    "differences",
    "digest",
    "targetDigest",
];

/// Prints a line for each part, and refuses to call done what was not taken or differs.
pub(super) fn report(session: &mut Session<'_>, done: &[(Part, Copied)]) -> Result<Exit, Failure> {
    let mut lines = session.output().lines(&NAMES);
    let (mut is_whole, mut sealed) = (true, Vec::new());
    for (part, Copied { counts, compared, .. }) in done {
        let differences = compared.map(|compared| compared.only_first + compared.changed);
        is_whole &= counts.rejected == 0 && differences.unwrap_or_default() == 0;
        sealed.extend(counts.sealed_text());
        lines.push(vec![
            Cell::text(part.what()),
            Cell::text(part.name()),
            count(counts.read),
            count(counts.written),
            count(counts.skipped),
            count(counts.copies),
            count(counts.rejected),
            differences.map_or(Cell::Null, count),
            compared.map_or(Cell::Null, |compared| Cell::text(compared.first.text())),
            compared.map_or(Cell::Null, |compared| Cell::text(compared.second.text())),
        ])?;
    }
    lines.finish()?;
    if !sealed.is_empty() {
        let sealed = sealed.join(", ");
        return Err(refused(
            ErrorKind::KeyUnavailable,
            format!(
                "entities with sealed values were left out: {sealed}; the rest is written. Give --keys to open them"
            ),
        ));
    }
    Ok(if is_whole { Exit::Done } else { Exit::Refused })
}
