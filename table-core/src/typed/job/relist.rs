//! Index lists compared with the entities that are to be on them, and made right again.
//!
//! What a list lacks, and what it has too much, is found in one snapshot. It is put right in small transactions, each under
//! the condition that the entities in question are as they were then, or are still not there. Whoever writes one
//! meanwhile puts it on the list.

use std::collections::{BTreeMap, BTreeSet};

use super::recount::each;
use crate::error::{ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::handle::write::carry_out;
use crate::plan::{
    Act, Addition, Amounts, Cause, Condition, EntityRows, Epoch, Group, Listing, Plan, RowKind, RowWrite,
    Version, ids_of, with_blob,
};
use crate::row::version::version_of;
use crate::schema::KeyPair;
use crate::sealing::SealedAt;
use crate::typed::encrypt::unopened;
use crate::typed::entity::{Entity, wide};
use crate::typed::read::list::key_of;

/// Ids that one transaction puts right.
const IDS: usize = 50;

/// What is wrong with the lists of an index.
#[derive(Default)]
pub(super) struct Compared {
    /// How many lists there are.
    pub(super) rows: u64,
    /// The lists that are wrong, and what is to become of ids on them.
    pub(super) wrong: BTreeMap<(String, String), Vec<Wrong>>,
}

/// An id on a list that is to come or to go.
pub(super) struct Wrong {
    listing: Listing,
    /// The keys of the entity that it is the id of, if it is one, and the version of it that was found.
    entity: Option<(KeyPair, Option<Version>)>,
}

impl Wrong {
    /// Whether an entity is not on the list.
    pub(super) fn is_missing(&self) -> bool {
        self.listing.stays
    }
}

/// What is to be on a list, and was not found there yet: the entity's keys and its version.
type Wanted = BTreeMap<String, (KeyPair, Version)>;

/// Compares the lists of an index with its entities, all as it is in the snapshot.
pub(super) fn compare<E: Entity>(
    table: &DynamicTable,
    snapshot: &Snapshot,
    index: usize,
) -> Result<Compared> {
    let (mut wanted, mut compared) = (BTreeMap::<(String, String), Wanted>::new(), Compared::default());
    let Some((of, list)) = E::SCHEMA.list(index) else { return Ok(compared) };
    let state = snapshot.state();
    // Wide entities that lack a part, of which the check of the rows tells: nobody can say on what lists they are to be.
    let mut halves = BTreeSet::<(String, String)>::new();
    each(table, snapshot, &mut |view| {
        if view.kind()? != Some(E::SCHEMA.entity_type) {
            return Ok(());
        }
        let (partition, row) = view.keys();
        let whole = match wide::whole::<E>(snapshot, table, view.clone()) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                halves.insert((partition.into_owned(), row.into_owned()));
                return Ok(());
            }
            whole => whole?,
        };
        let values = unopened::read::<E>(&whole)?;
        let rows = EntityRows::of(E::SCHEMA, &values, Some((&partition, &row)), None, &|at| at == index)?;
        for listed in rows.rows.iter().filter(|row| row.cause() == Cause::Index(index)) {
            let Some(id) = listed.content.id(list) else { continue };
            let key = (rows.place_of(listed).1.to_owned(), rows.key(listed).to_owned());
            let keys = KeyPair::of(&partition, &row);
            wanted.entry(key).or_default().insert(id, (keys, version_of(view, state)));
        }
        Ok(())
    })?;
    each(table.member(of.place.table.source()), snapshot, &mut |view| {
        if view.kind()? != Some(of.kind) {
            return Ok(());
        }
        compared.rows += 1;
        let (partition, row) = view.keys();
        let mut expected =
            wanted.remove(&(partition.clone().into_owned(), row.clone().into_owned())).unwrap_or_default();
        let mut wrong = Vec::new();
        let long = snapshot.long_list(view)?;
        match ids_of(&mut |name| with_blob(long.as_deref(), name, || view.get(name))) {
            Ok(ids) => {
                let shared = of.values_in((&partition, &row)).unwrap_or_default();
                for id in ids.into_iter().filter(|id| expected.remove(&**id).is_none()) {
                    let keys = key_of(E::SCHEMA, (of, list), (&partition, &shared), &id).ok();
                    let is_half =
                        |(partition, row): (&str, &str)| halves.contains(&(partition.into(), row.into()));
                    if !halves.is_empty() && keys.as_ref().is_some_and(|keys| is_half(keys.as_strs())) {
                        continue;
                    }
                    let entity = keys.map(|keys| {
                        let (partition, row) = keys.as_strs();
                        let found = snapshot.view(table, partition, row)?;
                        let version = found.map(|view| version_of(&view, state));
                        Ok::<_, crate::Error>((keys, version))
                    });
                    let listing = Listing { id: id.into_owned(), stays: false };
                    wrong.push(Wrong { listing, entity: entity.transpose()? });
                }
            }
            // All that is to be on it is put there anew.
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                if expected.is_empty() {
                    let listing = Listing { id: String::new(), stays: false };
                    wrong.push(Wrong { listing, entity: None });
                }
            }
            Err(error) => return Err(error),
        }
        wrong.extend(expected.into_iter().map(Wrong::missing));
        if !wrong.is_empty() {
            compared.wrong.insert((partition.into_owned(), row.into_owned()), wrong);
        }
        Ok(())
    })?;
    for (key, expected) in wanted {
        compared.wrong.insert(key, expected.into_iter().map(Wrong::missing).collect());
    }
    Ok(compared)
}

impl Wrong {
    fn missing((id, (keys, version)): (String, (KeyPair, Version))) -> Self {
        Self { listing: Listing { id, stays: true }, entity: Some((keys, Some(version))) }
    }
}

/// Puts the lists right that are wrong; returns how many ids were. What somebody has written meanwhile is left as it is.
pub(super) fn mend<E: Entity>(
    table: &DynamicTable,
    index: usize,
    compared: &Compared,
    epoch: Epoch,
) -> Result<u64> {
    let Some((of, _)) = E::SCHEMA.list(index) else { return Ok(0) };
    let kind = RowKind { schema: E::SCHEMA, cause: Cause::Index(index) };
    let family = table.family();
    let place = of.place.table.source();
    let there =
        family.iter().position(|member| member.name().eq_ignore_ascii_case(place)).unwrap_or_default();
    let mut mended = 0;
    for ((partition, key), wrong) in &compared.wrong {
        for some in wrong.chunks(IDS) {
            let listings: Vec<_> = some.iter().map(|wrong| wrong.listing.clone()).collect();
            let amounts = Amounts::listing(kind, &listings, true);
            let mut groups = vec![Group {
                table: there,
                additions: vec![Addition { key, amounts, of: 0 }],
                ..Group::new(partition, Vec::new())
            }];
            for (keys, version) in some.iter().filter_map(|wrong| wrong.entity.as_ref()) {
                let (of_entity, row) = keys.as_strs();
                let condition = version.map_or(Condition::Absent, Condition::Is);
                let stays = RowWrite { key: row, condition, act: Act::Keep, kind: None, of: 0 };
                match groups.iter_mut().find(|group| group.table == 0 && group.partition == of_entity) {
                    Some(group) => group.rows.push(stays),
                    None => groups.push(Group::new(of_entity, vec![stays])),
                }
            }
            for group in groups.iter_mut().filter(|group| group.table == 0) {
                group.epochs.push(epoch);
            }
            let plan = Plan { groups: groups.into_iter().collect(), is_wide: true, ..Plan::default() };
            match carry_out(family, &plan, &SealedAt::NOTHING) {
                Ok(_) => mended += u64::try_from(some.len()).unwrap_or(u64::MAX),
                Err(failure) if failure.was_stale || super::check::is_another_s(failure.error.kind()) => {}
                Err(failure) => return Err(failure.error),
            }
        }
    }
    Ok(mended)
}
