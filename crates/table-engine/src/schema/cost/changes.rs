//! What each kind of change writes.

use super::super::{Copies, Index, Schema, SumOf, fields, holds};
use super::RowCost;

/// What one change of an entity takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangeCost {
    /// The change: `insert`, `delete`, or the fields of which any is changed.
    pub change: String,
    /// The rows that it writes or removes, on average.
    pub rows: f64,
    /// The requests that it would take on the service: one to read the entity where what is there decides which copies are
    /// written, and one for each partition that is written to.
    pub requests: f64,
}

/// Returns the rows of each index that an entity has on average: as counted, or one. It counts in one row of a summary, and is
/// on one list.
#[inline]
pub(super) fn per_entity(schema: &Schema, entities: u64, rows: &[RowCost]) -> Vec<f64> {
    let of = |rows: Option<&RowCost>| match rows {
        Some(rows) if entities > 0 => super::share(rows.rows, entities),
        _ => 1.0,
    };
    let indexes = schema.indexes.iter().enumerate();
    indexes.map(|(at, index)| if index.is_shared() { 1.0 } else { of(rows.get(at + 1)) }).collect()
}

/// What a change does to the rows of each index, and whether it writes a part.
type Group = (Vec<Touch>, bool);

/// Returns what each kind of change takes: fields whose change writes the same rows stand together.
#[inline]
pub(super) fn of(schema: &Schema, copies: &[f64]) -> Vec<ChangeCost> {
    let elsewhere = |written: &dyn Fn(&Index) -> f64| {
        schema.indexes.iter().filter(|index| index.is_elsewhere()).map(written).sum::<f64>()
    };
    let others = elsewhere(&|_| 1.0);
    let all: f64 = copies.iter().sum();
    let read = if schema.indexes.is_empty() { 0.0 } else { 1.0 };
    let own = (0..=schema.parts.len()).map(|_| 1.0).sum::<f64>();
    // The parts of a wide entity are read to change it.
    let read = if schema.is_wide() { own } else { read };
    let mut changes = vec![
        ChangeCost { change: "insert".into(), rows: own + all, requests: 1.0 + others },
        ChangeCost { change: "delete".into(), rows: own + all, requests: 1.0 + read + others },
    ];
    let mut groups: Vec<(Group, Vec<&str>)> = Vec::new();
    for (at, field) in schema.fields.iter().enumerate() {
        if schema.place().gives_back(at) || is_of_key(schema, at) {
            continue;
        }
        let touched: Vec<_> = (0..schema.indexes.len()).map(|index| Touch::of(schema, index, at)).collect();
        let touched = (touched, field.part > 0);
        match groups.iter_mut().find(|(known, _)| *known == touched) {
            Some((_, names)) => names.push(field.name),
            None => groups.push((touched, vec![field.name])),
        }
    }
    for ((touched, is_in_part), names) in groups {
        // The head is written with each change of a part.
        let own = if is_in_part { 2.0 } else { 1.0 };
        let rows: f64 = touched.iter().zip(copies).map(|(touch, rows)| touch.rows() * rows).sum();
        let touch_of = |index: &Index| {
            let at = schema.indexes.iter().position(|other| other.name == index.name);
            at.and_then(|at| touched.get(at)).map_or(0.0, |touch| touch.rows())
        };
        changes.push(ChangeCost {
            change: names.join(", "),
            rows: own + rows,
            requests: 1.0 + read + elsewhere(&touch_of),
        });
    }
    changes
}

/// What a change of one field does to the rows of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Nothing,
    /// They are written anew.
    Content,
    /// They go, and come under other keys.
    Key,
}

impl Touch {
    #[inline]
    pub(super) fn of(schema: &Schema, number: usize, field: usize) -> Self {
        let Some(index) = schema.indexes.get(number) else { return Self::Nothing };
        let prints = |template| fields(template).any(|part| part.field == field);
        if prints(&index.place.partition) || prints(&index.place.row) {
            Self::Key
        } else if let Some(summary) = index.summary {
            // What a function of the user's picks may depend on any field.
            let adds = |of: SumOf| of == SumOf::Field(field) || of == SumOf::CountWhen;
            if summary.sums.iter().any(|sum| adds(sum.of)) { Self::Content } else { Self::Nothing }
        } else if index.copies == Copies::All || holds(schema, Some(number), field) {
            Self::Content
        } else {
            Self::Nothing
        }
    }

    fn rows(self) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Content => 1.0,
            Self::Key => 2.0,
        }
    }
}

/// Returns whether the entity's own key is printed from the field: a change of it makes another entity.
#[inline]
fn is_of_key(schema: &Schema, field: usize) -> bool {
    let place = schema.place();
    fields(&place.partition).chain(fields(&place.row)).any(|part| part.field == field)
}
