//! What becomes of a kind when its rows are converted from one version to another.

use table_engine::__executor::{self as executor, Conversion};
use table_engine::executor::layouts::check_apart;
use table_engine::schema::{Index, KindEvent, Layout, LayoutIndex, Schema};
use table_engine::{ErrorKind, Result};

use super::elsewhere::{self, NotedKind};
use super::record;
use crate::change::{Change, Trouble};
use crate::kinds;
use crate::table::PostgresTable;
use crate::views;

/// Carries out what happens to a kind. Returns whether it did.
pub(super) fn convert(table: &PostgresTable, conversion: &Conversion<'_>) -> Result<bool> {
    let done = table.store.change(|change| carry_out(table, change, conversion));
    let done = done.map_err(|error| table.store.say_new_name(&table.entry, error))?;
    if let Some(generation) = done {
        table.store.observe_generation(generation);
    }
    Ok(done.is_some())
}

fn carry_out(
    table: &PostgresTable,
    change: &Change<'_>,
    conversion: &Conversion<'_>,
) -> Result<Option<i64>, Trouble> {
    let Conversion { schema, event, epoch, job: (name, record) } = conversion;
    let (catalog, own, kind) = (&table.store.catalog, &*table.entry, schema.kind);
    let begun = record::found(&change.ask(&record::all(catalog, own.id))?)?;
    let swept = begun.iter().filter(|(known, _)| known == name).flat_map(|(_, record)| record.tables());
    let swept: Vec<_> = swept.map(str::to_owned).collect();
    let declared = Layout::of(schema);
    let others = schema.other_tables().map(str::to_owned).chain(swept.clone());
    elsewhere::lock_all(change, table, others)?;
    let known = table.kinds_in(change)?;
    let Some(noted) = known.layout(kind)? else { return Ok(None) };
    let mut states = known.states(kind);
    let begins = matches!(event, KindEvent::Convert { .. });
    // The declaration that begins a conversion is of a later version than the one that is noted; from then on it is the one
    // that is noted.
    if states.epoch != *epoch || begins != (noted.version() < schema.version) {
        return Ok(None);
    }
    if !states.transit_kind(if begins { &declared } else { &noted }, event.clone()) {
        return Ok(None);
    }
    let mut record = record.cloned();
    let layout = if begins { declared.clone() } else { noted.clone() };
    let text = layout.to_string();
    change.ask(&kinds::put(catalog, own.id, kind, &text, &states))?;
    if begins {
        check_places(&noted, schema)?;
        let layouts = known.layouts.iter().map(|(kind, layout)| (kind.as_str(), layout.as_str()));
        check_apart(&own.name, layouts, schema)?;
        if let Some(view) = views::of_kind(catalog, own, kind, &text) {
            change.attempt(&view)?;
        }
        let mut former = previous_tables(&own.name, &noted);
        // The jobs that are begun are of the version before.
        for (known, begun) in &begun {
            let of_index = ["rebuild", "drop"].map(|word| format!("{word} {kind} "));
            let is_of_index = of_index.iter().any(|of_index| known.starts_with(of_index));
            if is_of_index || known == name {
                // They may not have purged these yet.
                unite(&mut former, &own.name, &mut begun.tables());
            }
            if is_of_index {
                change.ask(&record::put(catalog, own.id, known, None))?;
            }
        }
        let noted = NotedKind { table: own, schema, layout: &declared };
        for index in schema.indexes {
            noted.note_elsewhere(change, index.name)?;
        }
        if let Some(record) = &mut record {
            record.asked = former.join("\n");
        }
    }
    if *event == KindEvent::Converted {
        NotedKind { table: own, schema, layout: &declared }.forget_elsewhere(change, &swept)?;
    }
    change.ask(&record::put(catalog, own.id, name, record.as_ref()))?;
    change.raise_generation().map(Some)
}

/// Returns the tables in which copies of entities of this layout may lie, but for the entities' own.
fn previous_tables(own: &str, noted: &Layout) -> Vec<String> {
    let mut tables = Vec::new();
    let of_copies = noted.indexes().filter(|index| !index.is_summary());
    unite(&mut tables, own, &mut of_copies.filter_map(|index| noted.table_of(index)));
    tables
}

/// Adds the tables that are not there yet.
fn unite(tables: &mut Vec<String>, own: &str, others: &mut dyn Iterator<Item = &str>) {
    for other in others.filter(|other| !other.is_empty() && !other.eq_ignore_ascii_case(own)) {
        elsewhere::add(tables, other.to_owned());
    }
}

/// Refuses a version whose entities could have a key of a copy of the version before, which is there as long as they are
/// converted; and one that leaves a summary behind, whose rows no version says.
fn check_places(noted: &Layout, schema: &Schema) -> Result<()> {
    let keeps = |summary: &LayoutIndex| {
        let mut summaries = schema.indexes.iter().filter(|index| index.summary.is_some());
        let there = noted.table_of(summary).map(str::to_ascii_lowercase);
        let table = |index: &Index| elsewhere::table_of(schema, index.name).map(str::to_ascii_lowercase);
        summaries.any(|index| index.kind == noted.index_kind(summary) && table(index) == there)
    };
    if let Some(left) = noted.indexes().find(|index| index.is_summary() && !keeps(index)) {
        let because = format!(
            "the entities of version {} of `{}` are counted in the summary `{name}`, and those of version {} are not, or \
             in another table: drop it first, by `Table::drop_index(\"{name}\")` in a program of version {0}",
            noted.version(),
            schema.kind,
            schema.version,
            name = left.name
        );
        return Err(executor::error(ErrorKind::LayoutConflict, because));
    }
    let mut copies = noted.indexes().filter(|index| !index.is_summary());
    match copies.find(|index| noted.meets(index, schema.place())) {
        None => Ok(()),
        Some(index) => {
            let because = format!(
                "an entity of version {} of `{}` could have the key of a copy in the index `{}` of version {}, whose copies \
                 are there until all is converted: keep the row key of the entity apart from it",
                schema.version,
                schema.kind,
                index.name,
                noted.version()
            );
            Err(executor::error(ErrorKind::LayoutConflict, because))
        }
    }
}
