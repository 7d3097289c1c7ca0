//! What the entities of a table cost, counted.

use std::fmt::Write;

use super::Table;
use crate::error::Result;
use crate::model::{keys_size, property_size};
use crate::query::Query;
use crate::row::view::RowView;
use crate::schema::{self, Basis, Cost, Index, RowCost, Schema, Template, Usage, Values};
use crate::typed::entity::Entity;

/// Rows that are looked at in one snapshot.
const ROWS: usize = 1_000;

impl<E: Entity> Table<E> {
    /// Returns what the entities and their copies cost: rows and bytes, each index's share of them, how many values it tells
    /// apart, and what each kind of change writes. Before there are entities [`Schema::cost`] estimates it.
    ///
    /// Every row of the table is looked at, and of the others where copies lie, a thousand in each snapshot: a writer is not
    /// held up, and what is written meanwhile may be counted or not.
    ///
    /// ```
    /// use table_core::{Entity, Store};
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_office, row = "office_{office}_{id:06}", copy = keys)]
    /// struct Employee {
    ///     department: String,
    ///     id: u32,
    ///     office: String,
    ///     age: i32,
    /// }
    ///
    /// let store = Store::temporary()?;
    /// let staff = store.table::<Employee>()?;
    /// staff.bulk_insert((0..200).map(|id| Employee {
    ///     department: "Sales".into(),
    ///     id,
    ///     office: if id % 10 == 0 { "Oslo" } else { "Bern" }.into(),
    ///     age: 40,
    /// }))?.into_result()?;
    ///
    /// let cost = staff.cost()?;
    /// let by_office = cost.rows[1].values.unwrap();
    /// assert_eq!((by_office.distinct, by_office.most), (2, 180));
    /// assert!(cost.advice[0].contains("tells little apart"));
    /// println!("{cost}");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn cost(&self) -> Result<Cost> {
        let schema = E::SCHEMA;
        let counted = std::cell::RefCell::new(Counted::new(schema));
        let table = self.dynamic();
        for (number, there) in table.family().iter().enumerate() {
            let mut after = None;
            loop {
                let snapshot = table.snapshot()?;
                let each = |view: &RowView<'_>| counted.borrow_mut().add(number == 0, view);
                let page =
                    snapshot
                        .page_by(there, Query::new().into(), ROWS, after.as_ref(), |_, view| each(view))?;
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        let Counted { rows, .. } = counted.into_inner();
        let rows: Vec<_> = rows.into_iter().map(OfRows::cost).collect();
        let entities = rows.first().map_or(0, |own| own.rows);
        Ok(Cost::new(schema, Basis::Counted, &Usage::default(), entities, rows))
    }
}

/// What was counted so far: the entities' own rows, then those of each index.
struct Counted {
    schema: &'static Schema,
    rows: Vec<OfRows>,
}

/// What was counted of the rows of one kind.
#[derive(Default)]
struct OfRows {
    cost: RowCost,
    run: Option<Run>,
}

/// The rows of an index, one after another in the order of their keys, that were found with one value.
struct Run {
    index: &'static Index,
    /// The fields of the value.
    fields: Vec<usize>,
    partition: String,
    value: String,
    rows: u64,
    seen: Values,
}

impl Counted {
    #[inline]
    fn new(schema: &'static Schema) -> Self {
        let own = OfRows::default();
        let of_index = |index: &'static Index| OfRows {
            cost: RowCost { index: Some(index.name), ..RowCost::default() },
            run: Run::of(schema, index),
        };
        let of_part = |kind: &&'static str| OfRows {
            cost: RowCost { index: Some(*kind), ..RowCost::default() },
            run: None,
        };
        let copies = schema.indexes.iter().map(of_index);
        Self {
            schema,
            rows: std::iter::once(own).chain(copies).chain(schema.parts.iter().map(of_part)).collect(),
        }
    }

    #[inline]
    fn add(&mut self, is_own_table: bool, view: &RowView<'_>) -> Result<()> {
        let Some(kind) = view.kind()? else { return Ok(()) };
        let number = if kind == self.schema.entity_type {
            if !is_own_table {
                return Ok(());
            }
            0
        } else {
            let index = self.schema.indexes.iter().position(|index| index.kind == kind);
            match (index, self.schema.part_of_kind(kind)) {
                (Some(at), _) => at + 1,
                (None, Some(part)) if is_own_table => self.schema.indexes.len() + part,
                _ => return Ok(()),
            }
        };
        let Some(rows) = self.rows.get_mut(number) else { return Ok(()) };
        let (partition, row) = view.keys();
        let mut size = keys_size(&partition, &row);
        for property in view.properties() {
            let (name, value) = property?;
            size += property_size(name, value.size());
        }
        rows.cost.rows += 1;
        rows.cost.service_bytes += u64::try_from(size).unwrap_or(u64::MAX);
        rows.cost.stored_bytes += u64::try_from(view.stored_length()).unwrap_or(u64::MAX);
        if let Some(run) = &mut rows.run {
            run.add(&partition, &row);
        }
        Ok(())
    }
}

impl OfRows {
    fn cost(self) -> RowCost {
        RowCost { values: self.run.map(Run::end), ..self.cost }
    }
}

impl Run {
    /// Begins a count; `None` where the index's key has no field of its own, or one whose value it does not give back.
    #[inline]
    fn of(schema: &'static Schema, index: &'static Index) -> Option<Self> {
        let own = schema.place();
        let is_own = |field| {
            schema::fields(&own.partition).chain(schema::fields(&own.row)).any(|part| part.field == field)
        };
        let parts = || schema::fields(&index.place.partition).chain(schema::fields(&index.place.row));
        let further = || parts().filter(|part| !is_own(part.field));
        if index.is_shared() || further().any(|part| !part.is_lossless()) {
            return None;
        }
        let fields: Vec<_> = further().map(|part| part.field).collect();
        let run = Self {
            index,
            fields,
            partition: String::new(),
            value: String::new(),
            rows: 0,
            seen: Values::default(),
        };
        (!run.fields.is_empty()).then_some(run)
    }

    #[inline]
    fn add(&mut self, partition: &str, row: &str) {
        let mut value = String::new();
        let place = &self.index.place;
        for (template, key) in [(&place.partition, partition), (&place.row, row)] {
            self.print(template, key, &mut value);
        }
        if self.rows > 0 && (self.value != value || self.partition != partition) {
            self.close();
        }
        if self.rows == 0 {
            partition.clone_into(&mut self.partition);
            self.value = value;
        }
        self.rows += 1;
    }

    /// Adds what a key gives back of the value, or the key itself if it is not of the template.
    #[inline]
    fn print(&self, template: &Template, key: &str, out: &mut String) {
        let from = out.len();
        let is_whole = schema::parse(template, key, |field, value| {
            if self.fields.contains(&field) {
                // Writing to a `String` can't fail.
                let _ = write!(out, "{value:?} ");
            }
        });
        if !is_whole {
            out.truncate(from);
            out.push_str(key);
        }
    }

    fn close(&mut self) {
        self.seen.distinct += 1;
        self.seen.most = self.seen.most.max(self.rows);
        self.rows = 0;
    }

    fn end(mut self) -> Values {
        if self.rows > 0 {
            self.close();
        }
        self.seen
    }
}
