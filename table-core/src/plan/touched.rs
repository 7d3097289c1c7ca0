//! What a change of one entity does to each of its rows.

use super::addition::{Addition, Amounts};
use super::content::{Cause, RowContent, RowKind};
use super::draft::Printed;
use super::row_write::{Act, Condition, Content, RowWrite};
use super::rows::{EntityRow, EntityRows, Found};

/// What becomes of a row.
#[derive(Debug)]
pub(super) enum Touched<'p> {
    /// It is to be there. One that is right as it is stays so, whatever it is: another entity may want it.
    Wanted(RowWrite<'p>),
    /// Nobody may be filed there: an entity is alone there with what is unique to it.
    Reserved(RowWrite<'p>),
    /// It goes.
    Gone(Gone<'p>),
    /// It is a summary's, or a list: the entity is counted in it, or no more.
    Added(Addition<'p>),
}

/// A row that goes, unless another entity wants it.
#[derive(Debug)]
pub(super) struct Gone<'p> {
    pub(super) row: RowWrite<'p>,
    /// What it holds, if that is surely known.
    pub(super) holds: Option<RowContent<'p>>,
    /// Whether the row surely is there.
    pub(super) is_certain: bool,
}

/// Gives `take` each row that the change of an entity touches, with the rows of the entity among which it is; `is_alone` if
/// no other is changed.
#[inline]
pub(super) fn touched<'p>(
    of: usize,
    entity: &'p Printed<'p>,
    is_alone: bool,
    mut take: impl FnMut(&'p EntityRows<'p>, &'p EntityRow<'p>, Touched<'p>),
) {
    let old = entity.old.as_ref();
    if let Some(new) = &entity.new {
        for row in &new.rows {
            let kind = row.content.kind;
            if entity.keeps_own && kind.part() > 0 {
                continue;
            }
            if kind.is_shared() {
                let takes = old.and_then(|old| old.rows.find(new, row));
                if let Some(added) = added(of, entity, (new, row), (Some(row), takes)) {
                    take(new, row, Touched::Added(added));
                }
                continue;
            }
            let content = old.map_or(row.content, |old| row.content.carrying(old.carried(kind)));
            let found = old.and_then(|old| Some((old.rows.find(new, row)?, old)));
            let (condition, act) = match found {
                Some((there, old)) => {
                    let is_exact = old.is_exact && there.is_certain && there.found == Found::Unread;
                    let holds = there.content.carrying(old.carried(there.content.kind));
                    // What an index that is being filled has there is what was found.
                    match there.cause() {
                        Cause::Entity if entity.keeps_own => (Condition::Is(old.version), Act::Keep),
                        Cause::Entity => (Condition::Is(old.version), Act::Put(Content::Row(content))),
                        // The copy, or the part, is right as it is.
                        Cause::Part(_) | Cause::Index(_) if is_exact && holds.is_same(&content) => {
                            if is_alone {
                                continue;
                            }
                            (Condition::Any, Act::Keep)
                        }
                        // Whoever changes a part changes the head, too.
                        Cause::Part(_) | Cause::Index(_) => {
                            (there.found.condition(), Act::Put(Content::Row(content)))
                        }
                    }
                }
                None if old.is_none() || must_be_free(kind) => {
                    (Condition::Absent, Act::Put(Content::Row(content)))
                }
                None => (Condition::Any, Act::Put(Content::Row(content))),
            };
            take(
                new,
                row,
                Touched::Wanted(RowWrite { key: new.key(row), condition, act, kind: Some(kind), of }),
            );
        }
        for row in &new.reserved {
            let (key, kind) = (new.key(row), Some(row.content.kind));
            let reserved = RowWrite { key, condition: Condition::Absent, act: Act::Keep, kind, of };
            take(new, row, Touched::Reserved(reserved));
        }
    }
    let Some(old) = old else { return };
    for row in &old.rows.rows {
        if entity.new.as_ref().is_some_and(|new| new.find(&old.rows, row).is_some()) {
            continue;
        }
        let kind = row.content.kind;
        if kind.is_shared() {
            if let Some(added) = added(of, entity, (&old.rows, row), (None, Some(row))) {
                take(&old.rows, row, Touched::Added(added));
            }
            continue;
        }
        let (condition, act) = match (kind.cause, row.found) {
            (Cause::Entity, _) => (Condition::Is(old.version), Act::Remove),
            (Cause::Part(_), _) | (Cause::Index(_), Found::Unread | Found::Filling) => {
                (Condition::Any, Act::Remove)
            }
            (Cause::Index(_), Found::Mine(version)) => (Condition::Is(version), Act::Remove),
            (Cause::Index(_), Found::Missing) => (Condition::StillAbsent, Act::Keep),
            // Another entity has it, which was there first.
            (Cause::Index(_), Found::Others) => continue,
        };
        let goes = RowWrite { key: old.rows.key(row), condition, act, kind: Some(kind), of };
        let touched = if is_alone && row.is_certain {
            Touched::Wanted(goes)
        } else {
            Touched::Gone(Gone {
                row: goes,
                holds: (old.is_exact && row.is_certain && row.found == Found::Unread)
                    .then(|| row.content.carrying(old.carried(kind))),
                is_certain: row.is_certain,
            })
        };
        take(&old.rows, row, touched);
    }
}

/// What an entity gives to a row of a summary or to a list, and takes from it; `None` if that is nothing.
fn added<'p>(
    of: usize,
    entity: &Printed<'_>,
    (rows, row): (&'p EntityRows<'p>, &'p EntityRow<'p>),
    (gives, takes): (Option<&EntityRow<'p>>, Option<&EntityRow<'p>>),
) -> Option<Addition<'p>> {
    fn counted<'r, 'p>(row: &'r EntityRow<'p>) -> (&'r RowContent<'p>, u64) {
        (&row.content, row.counted)
    }
    let is_building = match row.cause() {
        Cause::Index(index) => entity.standing.is_filling(index),
        Cause::Entity | Cause::Part(_) => false,
    };
    let (gives, takes) = (gives.map(counted), takes.map(counted));
    let amounts = Amounts::between(row.content.kind, gives, takes, is_building)?;
    Some(Addition { key: rows.key(row), amounts, of })
}

/// Whether a row that stands there already would be another entity's, or none of this one's.
fn must_be_free(kind: RowKind) -> bool {
    matches!(kind.cause, Cause::Entity | Cause::Part(_)) || kind.unique_index().is_some()
}
