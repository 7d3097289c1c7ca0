//! Plans as operations of the service, with nothing of the plan held.

use std::borrow::Cow;
use std::sync::Arc;

use table_engine::__executor::{
    Act, Amounts, ChangeId, Condition, Content, Epoch, Group, OutboxOp, Plan, Refused, RowProperty, RowWrite,
    TableExec, check_rules,
};
use table_engine::model::EntityKeys;
use table_engine::odata::{Metadata, Source, Writer};
use table_engine::{ETag, Result, Value, ValueRef};

use super::outbox::Note;
use super::rings::{Keys, PROPERTY, Token};
use super::service::Service;
use super::table::TableEntry;
use super::{explain, marks, own};
use crate::client::Operation;

/// The property that says what a row is.
const KIND: &str = "EntityType";

/// A change of rows in one partition.
pub(super) struct Planned {
    /// `None` of a plan that changes nothing.
    pub(super) table: Option<Arc<TableEntry>>,
    pub(super) partition: String,
    pub(super) rows: Vec<PlannedRow>,
    pub(super) additions: Vec<PlannedAddition>,
    /// What is noted of copies that are to follow.
    pub(super) notes: Vec<Note>,
    /// How many rows the plan has, those among them that stay as they are.
    pub(super) slots: usize,
    pub(super) token: Token,
    /// The change whose turn it is, if it has asked for one.
    pub(super) change: Option<ChangeId>,
    /// The epochs in which it was planned.
    pub(super) epochs: Vec<Epoch>,
    /// Of what in the plan its rows are.
    pub(super) group: usize,
    /// The generation of the keys at which its values were sealed, if any were.
    pub(super) sealed_at: Option<u64>,
    /// What its epochs are of: the first of the plan's tables, where its rows lie in another.
    pub(super) stated: Option<Arc<TableEntry>>,
}

/// A row that is changed.
pub(super) struct PlannedRow {
    /// Its place among the plan's rows.
    pub(super) place: usize,
    pub(super) key: String,
    pub(super) condition: Condition,
    pub(super) act: Act<()>,
    body: Vec<u8>,
    /// The index that it is a copy in.
    pub(super) index: Option<&'static str>,
    /// Whether it tells the change.
    pub(super) is_marked: bool,
    /// What the row that it was planned on tells, if that is known.
    pub(super) before: Option<String>,
    /// What is looked at before it is written: of a row that is written by its properties.
    pub(super) guard: Option<Guard>,
}

/// What a row that is written by its properties will be.
pub(super) struct Guard {
    /// Whether it is written whatever it is, unless its struct has to sign it.
    pub(super) is_raw: bool,
    /// The kind that it will say it is of.
    pub(super) kind: Option<String>,
    /// Whether a row is there afterwards.
    pub(super) writes: bool,
    /// The properties that are merged into what is there.
    pub(super) merged: Vec<(String, Value)>,
}

/// What is added to a row.
pub(super) struct PlannedAddition {
    pub(super) place: usize,
    pub(super) key: String,
    pub(super) amounts: Amounts,
}

impl Planned {
    /// Encodes a plan.
    pub(super) fn of(service: &Service, tables: &[&dyn TableExec], plan: &Plan<'_>) -> Result<Self, Refused> {
        check_rules(plan)?;
        let mut planned = Self {
            table: None,
            partition: String::new(),
            rows: Vec::new(),
            additions: Vec::new(),
            notes: Vec::new(),
            slots: 0,
            token: Token::new(),
            change: ChangeId::current(),
            epochs: plan.groups.iter().flat_map(|group| group.epochs.iter().copied()).collect(),
            group: 0,
            sealed_at: None,
            stated: None,
        };
        // The ability to change several was not said to be there: others than the last one state their epochs.
        let Some(group) = plan.groups.last() else { return Ok(planned) };
        planned.group = plan.groups.len().saturating_sub(1);
        if let Some(first) = plan.groups.get(0).filter(|_| planned.group > 0)
            && let Some(table) = tables.get(first.table)
        {
            planned.stated = Some(own(*table).map_err(Refused::whole)?.entry.clone());
        }
        let table = tables.get(group.table).ok_or_else(|| Refused::whole(explain::missing()))?;
        let entry = own(*table).map_err(Refused::whole)?.entry.clone();
        entry.check_exists().map_err(Refused::whole)?;
        group.partition.clone_into(&mut planned.partition);
        planned.slots = group.rows.len();
        // A row of which something is demanded is written as it is; of one that is to stay away, nothing is.
        let is_free =
            |of: Condition| matches!(of, Condition::Any | Condition::Absent | Condition::StillAbsent);
        let is_sent = |row: &RowWrite<'_>| !row.act.keeps() || !is_free(row.condition);
        for (place, row) in group.rows.iter().enumerate().filter(|(_, row)| is_sent(row)) {
            let encoded = PlannedRow::of(service, &entry, group, row).map_err(|error| Refused {
                error,
                group: planned.group,
                row: Some(place),
            })?;
            // Who writes by a handle that says so writes any row but one that is signed.
            let is_guarded =
                row.kind.is_none() && !row.act.keeps() && !(plan.is_raw && row.act.content().is_none());
            let guard = is_guarded.then(|| Guard { is_raw: plan.is_raw, ..Guard::of(row) });
            planned.rows.push(PlannedRow { place, guard, ..encoded });
        }
        planned.mark(service, group, plan.is_raw);
        for (place, addition) in (planned.slots..).zip(&group.additions) {
            let (key, amounts) = (addition.key.to_owned(), addition.amounts.clone());
            planned.additions.push(PlannedAddition { place, key, amounts });
        }
        for outbox_op in &plan.outbox_ops {
            if let OutboxOp::Follow(follow) = outbox_op {
                planned.notes.push(Note::of(follow).map_err(Refused::whole)?);
            }
        }
        planned.table = Some(entry);
        Ok(planned)
    }

    /// Chooses the rows that tell the change: entities' own, or the first that a struct declares.
    fn mark(&mut self, service: &Service, group: &Group<'_>, is_raw: bool) {
        if !service.settings.has_tokens || is_raw {
            return;
        }
        let writes = |row: &PlannedRow| matches!(row.act, Act::Put(()) | Act::Merge(()));
        let of = |row: &PlannedRow| group.rows.get(row.place);
        for row in &mut self.rows {
            row.is_marked = writes(row) && of(row).is_some_and(RowWrite::is_own);
        }
        if self.rows.iter().all(|row| !row.is_marked) {
            let mut declared = self.rows.iter_mut();
            if let Some(first) =
                declared.find(|row| writes(row) && of(row).is_some_and(|row| row.kind.is_some()))
            {
                first.is_marked = true;
            }
        }
    }
}

impl PlannedRow {
    fn of(service: &Service, table: &TableEntry, group: &Group<'_>, row: &RowWrite<'_>) -> Result<Self> {
        let nothing = Content::Properties(&[]);
        let content = if row.act.keeps() { Some(&nothing) } else { row.act.content() };
        let body = match content {
            Some(content) => {
                let digest = digest(table, EntityKeys::new(group.partition, row.key), content)?;
                body(&Row { partition: group.partition, key: row.key, content, digest: digest.as_deref() })?
            }
            None => Vec::new(),
        };
        let etag = match row.condition {
            Condition::Tag(etag) => Some(etag),
            Condition::Is(version) => Some(version.etag),
            _ => None,
        };
        let keys = Keys { partition: group.partition, row: row.key };
        let before = etag.and_then(|etag| service.rings.find(table.remote(), keys, etag));
        Ok(Self {
            place: 0,
            key: row.key.to_owned(),
            condition: row.condition,
            act: row.act.bare(),
            body,
            index: row.index(),
            is_marked: false,
            before,
            guard: None,
        })
    }

    /// Returns what the service is asked to do under this condition; the row tells the changes of `ring`.
    pub(super) fn operation(&self, condition: Condition, ring: Option<&str>) -> Operation {
        let tag = match condition {
            Condition::Present => Some("*".to_owned()),
            Condition::Tag(etag) => Some(etag.to_string()),
            Condition::Is(version) => Some(version.etag.to_string()),
            Condition::Absent | Condition::StillAbsent | Condition::Any => None,
        };
        let is_absent = matches!(condition, Condition::Absent | Condition::StillAbsent);
        match self.act {
            Act::Put(()) | Act::Merge(()) if is_absent => Operation::insert(&self.key, self.body_with(ring)),
            Act::Put(()) => Operation::replace(&self.key, tag, self.body_with(ring)),
            Act::Merge(()) => Operation::merge(&self.key, tag, self.body_with(ring)),
            // Nothing is merged into it, under the version that is demanded.
            Act::Keep => Operation::merge(&self.key, tag, self.body_with(None)),
            Act::Remove => Operation::delete(&self.key, tag.unwrap_or_else(|| "*".to_owned())),
        }
    }

    fn body_with(&self, ring: Option<&str>) -> Vec<u8> {
        with_ring(self.body.clone(), ring)
    }

    /// Returns whether a row is there afterwards that may not have been before.
    pub(super) fn puts(&self) -> bool {
        matches!(self.act, Act::Put(()) | Act::Merge(()))
    }

    /// Returns whether the rest of the change goes on without it where it is gone already.
    pub(super) fn may_be_gone(&self) -> bool {
        matches!(self.act, Act::Remove) && self.condition == Condition::Any
    }
}

impl Guard {
    fn of(row: &RowWrite<'_>) -> Self {
        let mut properties: Vec<(String, Value)> = Vec::new();
        if let Some(content) = row.act.content() {
            for_each(content, |(name, value)| properties.push((name.to_owned(), value.to_value())));
        }
        let kind = properties.iter().find(|(name, _)| name == KIND);
        let kind = kind.and_then(|(_, value)| value.as_str()).map(str::to_owned);
        let merges = matches!(row.act, Act::Merge(_));
        let writes = row.act.content().is_some();
        Self { is_raw: false, kind, writes, merged: if merges { properties } else { Vec::new() } }
    }
}

/// Calls a function with each property of a planned row.
pub(super) fn for_each<'p>(content: &Content<'p>, mut visit: impl FnMut(RowProperty<'p>)) {
    match content {
        Content::Properties(given) => given.iter().copied().for_each(visit),
        Content::Row(row) => row.properties().for_each(&mut visit),
    }
}

/// Returns the body of a row.
pub(super) fn body(row: &impl Source) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    Writer::new(Metadata::Minimal).double_types().entity(row, &mut body)?;
    Ok(body)
}

/// Returns the body of a row that tells these changes, too.
pub(super) fn with_ring(mut body: Vec<u8>, ring: Option<&str>) -> Vec<u8> {
    // A body is an object with two keys at the least.
    if let (Some(ring), Some(&b'}')) = (ring, body.last()) {
        body.pop();
        body.extend_from_slice(format!(",\"{PROPERTY}\":\"{ring}\"}}").as_bytes());
    }
    body
}

/// Returns the keyed digest of what a row of these keys is to hold, if its kind's rows are signed.
pub(super) fn digest(
    table: &TableEntry,
    keys: EntityKeys<'_>,
    content: &Content<'_>,
) -> Result<Option<Vec<u8>>> {
    match content {
        Content::Row(row) if row.kind.signs() => table.sign(keys, row.properties().collect()).map(Some),
        _ => Ok(None),
    }
}

/// A planned row as the writer of bodies takes it.
struct Row<'p> {
    partition: &'p str,
    key: &'p str,
    content: &'p Content<'p>,
    /// Its keyed digest, if it is signed.
    digest: Option<&'p [u8]>,
}

impl Source for Row<'_> {
    fn keys(&self) -> Result<(Cow<'_, str>, Cow<'_, str>)> {
        Ok((self.partition.into(), self.key.into()))
    }

    fn etag(&self) -> Option<ETag> {
        None
    }

    fn property(&self, name: &str) -> Result<Option<ValueRef<'_>>> {
        Ok(match self.content {
            Content::Properties(given) => {
                given.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
            }
            Content::Row(row) => row.properties().find(|(other, _)| *other == name).map(|(_, value)| value),
        })
    }

    fn for_each_property(&self, mut visit: impl FnMut(&str, ValueRef<'_>) -> Result<()>) -> Result<()> {
        match self.content {
            Content::Properties(given) => given.iter().try_for_each(|(name, value)| visit(name, *value)),
            Content::Row(row) => row.properties().try_for_each(|(name, value)| visit(name, value)),
        }?;
        self.digest.map_or(Ok(()), |digest| visit(marks::DIGEST, ValueRef::Binary(digest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_engine::DynamicEntity;

    #[test]
    fn a_body_says_the_types_of_numbers_and_tells_the_change() {
        let body = body(&DynamicEntity::new("p", "r").with("Age", 7).with("Rate", 34.0)).unwrap();
        let plain = r#"{"PartitionKey":"p","RowKey":"r","Age":7,"Rate@odata.type":"Edm.Double","Rate":34.0}"#;
        assert_eq!(str::from_utf8(&with_ring(body.clone(), None)).unwrap(), plain);
        let told = plain.replace("34.0}", r#"34.0,"TcCommit":"a;b"}"#);
        assert_eq!(str::from_utf8(&with_ring(body, Some("a;b"))).unwrap(), told);
    }
}
