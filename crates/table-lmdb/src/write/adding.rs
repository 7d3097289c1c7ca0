//! What plans add to rows, inside the transaction: to the numbers of summaries and of entities, and to lists.
//!
//! The row is read where the transaction has it, with what plans before have added. So an addition is never refused
//! because another came first.

use table_engine::contents::{BlobContent, BlobId, LIST_TYPE};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::limits;
use table_engine::model::{Name, Value, ValueRef};
use table_engine::plan::{ListBecomes, RowProperty, blob_of, borrowed, damaged_list, row_of_blob, with_blob};
use table_engine::row::dict::Dict;
use table_engine::row::encode::{self, Under};
use table_engine::row::row_write::{self, RowWriter};
use table_engine::row::view::RowView;
use table_engine::row::{Row, shape_write};
use table_engine::sealing::sign;

use super::apply::{AppliedRow, Blobs, FEW_PUTS, New, OldRow, Writing};
use super::encoded::{Deferred, EncodedAddition, EncodedPlan};
use super::insert::Becomes;
use super::merging::check_merged_size;
use super::transaction::touched;
use crate::blobs::{BlobTxnState, BlobView, Sealed, no_such_container};
use crate::lmdb;

impl Writing<'_, '_> {
    /// Looks at the row that is added to, and puts it into bytes as it is to be.
    pub(super) fn examine_addition(
        &mut self,
        plan: &EncodedPlan,
        at: usize,
        addition: &EncodedAddition,
    ) -> Result<AppliedRow> {
        if addition.amounts.are_own() {
            return self.examine_own(plan, addition);
        }
        if addition.amounts.are_ids() {
            if self.gathered.has(plan.bytes(&addition.key)) {
                self.scratch.waiting.push(at);
                return Ok(AppliedRow::DONE);
            }
            return self.examine_list(plan, at, addition);
        }
        let key = plan.bytes(&addition.key);
        let found = self.dbs.data.get(self.txn, key).map_err(lmdb::error)?;
        let Some(bytes) = found else {
            let new = match addition.amounts.becomes(None)? {
                Some(properties) => self.encode(plan, addition, &properties)?,
                None => New::Nothing,
            };
            return self.reached_new(key, new);
        };
        self.check_value(bytes)?;
        let row = Row::parse(bytes)?;
        row.verify(addition.seed)?;
        let old = OldRow::of(&row, key.len() + bytes.len());
        let properties = {
            let Some(touched) = self.touched_by(plan, addition.group) else { return Err(no_table()) };
            let dict = self.dict_for(touched, &row)?;
            let view = RowView::new(key, row, &*dict, true);
            if view.kind()? != Some(addition.amounts.kind_name()) {
                return Err(addition.amounts.is_another());
            }
            addition.amounts.becomes(Some(&mut |name| Ok(view.get(name)?.and_then(ValueRef::as_i64))))?
        };
        let new = match properties {
            Some(properties) => self.encode(plan, addition, &properties)?,
            None => New::Nothing,
        };
        self.meet(key, Becomes::of(&new))?;
        Ok(AppliedRow::of(Some(old), new))
    }

    /// Makes sure that a row which was not found is absent, and returns the change that makes it `new`.
    fn reached_new(&mut self, key: &[u8], new: New) -> Result<AppliedRow> {
        match new {
            New::Nothing => self.check_miss(key)?,
            _ => self.meet(key, Becomes::Put)?,
        }
        Ok(AppliedRow::of(None, new))
    }

    /// Examines what is added to a list: ids come and go, the row comes with the first of them, and goes with the last.
    fn examine_list(
        &mut self,
        plan: &EncodedPlan,
        at: usize,
        addition: &EncodedAddition,
    ) -> Result<AppliedRow> {
        #[cfg(test)]
        EXAMINED.set(EXAMINED.get() + 1);
        let (key, amounts) = (plan.bytes(&addition.key), &addition.amounts);
        let Some(bytes) = self.dbs.data.get(self.txn, key).map_err(lmdb::error)? else {
            let becomes = amounts.becomes_of_list(None)?;
            self.scratch.listed.extend(becomes.bytes().map(|bytes| (at, bytes)));
            let new = match becomes {
                ListBecomes::Row(properties) => self.encode(plan, addition, &borrowed_values(&properties))?,
                ListBecomes::Long(text) => self.encode_long(plan, addition, &text, None)?,
                ListBecomes::Same | ListBecomes::Gone => New::Nothing,
            };
            return self.reached_new(key, new);
        };
        self.check_value(bytes)?;
        let row = Row::parse(bytes)?;
        row.verify(addition.seed)?;
        let old = OldRow::of(&row, key.len() + bytes.len());
        let (becomes, blob) = {
            let Some(touched) = self.touched_by(plan, addition.group) else { return Err(no_table()) };
            let dict = self.dict_for(touched, &row)?;
            let view = RowView::new(key, row, &*dict, true);
            if view.kind()? != Some(amounts.kind_name()) {
                return Err(amounts.is_another());
            }
            let blob = blob_of(&mut |name| view.get(name))?;
            let bytes = blob.map(|(id, length)| self.list_in(id, length)).transpose()?;
            let mut of_old = |name: &str| with_blob(bytes.as_deref(), name, || view.get(name));
            (amounts.becomes_of_list(Some(&mut of_old))?, blob)
        };
        self.scratch.listed.extend(becomes.bytes().map(|bytes| (at, bytes)));
        let new = match becomes {
            ListBecomes::Same => return Ok(AppliedRow::of(Some(old), New::Keyspace)),
            ListBecomes::Row(properties) => self.encode(plan, addition, &borrowed_values(&properties))?,
            ListBecomes::Long(text) => {
                let former = blob.map(|(id, _)| id);
                self.encode_long(plan, addition, &text, former)?
            }
            ListBecomes::Gone => New::Nothing,
        };
        self.meet(key, Becomes::of(&new))?;
        Ok(AppliedRow::of(Some(old), new))
    }

    /// Returns the blobs as the transaction has them.
    fn view_of_blobs(&self) -> Result<BlobView<'_>> {
        let Blobs { db, txn_state, .. } = self.blobs;
        // A plan that changes a list has had the database made before it was submitted.
        let db = db.ok_or_else(no_such_container)?;
        let changed_little = self.scratch.puts + txn_state.map_or(0, BlobTxnState::writes) <= FEW_PUTS;
        let removed = txn_state.and_then(BlobTxnState::removed);
        BlobView::of_write(self.environment, self.txn, db, removed, changed_little)
    }

    /// Returns the text of a list's ids that lie in a blob.
    fn list_in(&self, id: BlobId, length: usize) -> Result<Vec<u8>> {
        self.view_of_blobs()?
            .content(id, length)?
            .ok_or_else(|| damaged_list("the blob of its ids is missing"))
    }

    /// Puts the row of a list whose ids its row has no room for into bytes, and notes what is to be in its blob. That
    /// blob is a new one, since readers may have the former, unless `former` came with this very transaction.
    fn encode_long(
        &mut self,
        plan: &EncodedPlan,
        addition: &EncodedAddition,
        text: &str,
        former: Option<BlobId>,
    ) -> Result<New> {
        let own = former.map_or(Ok(None), |id| {
            let blob = self.view_of_blobs()?.blob(id)?;
            Ok::<_, Error>((blob.references == 1 && blob.made > self.blobs.begun).then_some(id))
        });
        let id = own?.unwrap_or_else(|| BlobId::new(self.blobs.identity));
        let content = BlobContent::of(id, 0, LIST_TYPE, text.as_bytes());
        let properties = row_of_blob(addition.amounts.kind_name(), id, content.length());
        let new = self.encode(plan, addition, &borrowed_values(&properties))?;
        self.scratch.lists.push(Sealed::of(content));
        Ok(new)
    }

    /// Examines what is added to an entity's own row, which must be there, and keeps what nothing is added to.
    fn examine_own(&mut self, plan: &EncodedPlan, addition: &EncodedAddition) -> Result<AppliedRow> {
        let key = plan.bytes(&addition.key);
        let Some(bytes) = self.dbs.data.get(self.txn, key).map_err(lmdb::error)? else {
            self.check_miss(key)?;
            return Err(Error::new(ErrorKind::EntityNotFound));
        };
        self.check_value(bytes)?;
        let row = Row::parse(bytes)?;
        row.verify(addition.seed)?;
        if row.is_signed() {
            return Err(sign::needs_its_struct());
        }
        let old = OldRow::of(&row, key.len() + bytes.len());
        let Some(touched) = self.touched_by(plan, addition.group) else { return Err(no_table()) };
        let dict = self.dict_for(touched, &row)?;
        let view = RowView::new(key, row, &*dict, true);
        if view.kind()? != Some(addition.amounts.kind_name()) {
            return Err(addition.amounts.is_another());
        }
        let sums = addition.amounts.becomes_of_own(&mut |name| view.get(name))?;
        let whole = if addition.amounts.row_kind().is_some_and(|kind| dict.wants_shape(kind)) {
            None
        } else {
            with_sums(&view, &dict, &sums, addition.seed)?
        };
        let new = if let Some(whole) = whole {
            let from = self.scratch.rows.len();
            self.scratch.rows.extend_from_slice(&whole);
            New::Scratch(from..self.scratch.rows.len())
        } else {
            // Some name has no number yet, or the kind no shape. The values are copied, since they lie in the bytes
            // that the new row replaces.
            let owned = |property: Result<RowProperty<'_>>| {
                property.map(|(name, value)| (Name::from(name), value.to_value()))
            };
            let mut properties = view.properties().map(owned).collect::<Result<Vec<_>>>()?;
            for (name, sum) in sums {
                match properties.iter_mut().find(|(known, _)| **known == *name) {
                    Some((_, value)) => *value = sum,
                    None => properties.push((Name::from(name), sum)),
                }
            }
            if properties.len() > limits::PROPERTIES {
                return Err(row_write::too_many(properties.len()));
            }
            self.encode(plan, addition, &borrowed(&properties))?
        };
        if let New::Scratch(range) = &new {
            let bytes = self.scratch.rows.get(range.clone()).unwrap_or_default();
            let Some(touched) = self.touched_by(plan, addition.group) else { return Err(no_table()) };
            let dict = self.dict_for(touched, &Row::parse(bytes)?)?;
            check_merged_size(key, bytes, &dict)?;
            self.meet(key, Becomes::Put)?;
        }
        Ok(AppliedRow::of(Some(old), new))
    }

    /// Puts a row into bytes, by the shape of its kind.
    fn encode(
        &mut self,
        plan: &EncodedPlan,
        addition: &EncodedAddition,
        properties: &[RowProperty<'_>],
    ) -> Result<New> {
        let group = plan.groups.get(addition.group);
        let Some(touched) = group.and_then(|group| touched(self.tables, group)) else {
            return Err(no_table());
        };
        let (kind, seed) = (addition.amounts.row_kind(), addition.seed);
        let known = touched.state.dict();
        let dict = touched.grown.as_ref().map_or(&*known, |grown| &grown.0);
        if kind.is_none_or(|kind| !dict.wants_shape(kind)) {
            let under = Under { dict, seed, digest: None };
            let scratch = &mut *self.scratch;
            let written =
                encode::write(properties, under, &mut scratch.order, &mut scratch.writer, &mut scratch.rows)?;
            if let Some(range) = written {
                return Ok(New::Scratch(range));
            }
        }
        // Some name has no number yet, or the kind no shape.
        let owned = |(name, value): &RowProperty<'_>| (Name::from(*name), value.to_value());
        let properties = properties.iter().map(owned).collect();
        let row = Deferred { properties, digest: None, kind };
        self.scratch.encode_now(self.dbs, self.txn, touched, &row, seed).map(New::Scratch)
    }
}

/// Returns an entity's own row with these sums in the place of what it has of them; `None` if one of them has no number
/// yet.
fn with_sums(
    view: &RowView<'_>,
    dict: &Dict,
    sums: &[(&'static str, Value)],
    seed: u64,
) -> Result<Option<Vec<u8>>> {
    let mut numbered = Vec::with_capacity(sums.len());
    for (name, sum) in sums {
        let Some(id) = dict.id(name) else { return Ok(None) };
        numbered.push((id, sum.as_value_ref()));
    }
    let mut whole = Vec::with_capacity(view.row().bytes().len());
    if shape_write::with_fixed(view.row(), dict, &numbered, &mut whole).is_some() {
        return Ok(Some(whole));
    }
    let mut properties = view.numbered()?.collect::<Result<Vec<_>>>()?;
    for ((id, value), (name, _)) in numbered.into_iter().zip(sums) {
        match properties.binary_search_by_key(&id, |(known, ..)| *known) {
            Ok(at) => properties.get_mut(at).into_iter().for_each(|(.., found)| *found = value),
            Err(at) => properties.insert(at, (id, name, value)),
        }
    }
    if properties.len() > limits::PROPERTIES {
        return Err(row_write::too_many(properties.len()));
    }
    let mut order: Vec<_> = properties.iter().zip(0..).map(|((id, ..), at)| (*id, at)).collect();
    let properties: Vec<_> = properties.iter().map(|(_, name, value)| (*name, *value)).collect();
    let under = Under { dict, seed, digest: None };
    let written =
        encode::write_numbered(&properties, under, &mut order, &mut RowWriter::default(), &mut whole)?;
    Ok(written.map(|_| whole))
}

fn borrowed_values<'v>(properties: &'v [(&'static str, Value)]) -> Vec<RowProperty<'v>> {
    properties.iter().map(|(name, value)| (*name, value.as_value_ref())).collect()
}

#[cfg(test)]
thread_local! {
    /// How many lists this thread has examined.
    pub(super) static EXAMINED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cold]
fn no_table() -> Error {
    Error::new(ErrorKind::TableNotFound)
}
