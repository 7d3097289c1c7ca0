//! Fields with tokens in the course of time: their tokens, and the copies that lie under them, go along.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use table_core::crypt::{Scope, Secret};
use table_core::store::KeyInfo;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Key, Query, Store, Stored, Table, Value};

use super::{CANARY, Scratch, handles, kind, refused, rows};

/// A member with copies under tokens of every sort.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Club", kind = "member")]
#[key(partition = "{team}", row = "id_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
#[index(by_card, row = "card_{card:blind}_{id:06}", copy = keys)]
#[index(by_pin, row = "pin_{pin:blind}_{id:06}", when = Member::is_present, copy(name))]
#[index(by_name, row = "name_{name}_{id:06}", copy(ssn))]
struct Member {
    team: String,
    id: u32,
    name: String,
    present: bool,
    #[encrypt(blind)]
    ssn: Secret<String>,
    #[encrypt(blind, tokens = table, scope = partition)]
    card: Option<String>,
    #[encrypt(blind)]
    pin: i32,
    #[encrypt]
    note: String,
}

impl Member {
    fn is_present(&self) -> bool {
        self.present
    }

    /// How many rows it has.
    fn rows(&self) -> usize {
        3 + usize::from(self.card.is_some()) + usize::from(self.present)
    }
}

fn member(id: u32) -> Member {
    Member {
        team: "Red".into(),
        id,
        name: format!("Name{id}"),
        present: id.is_multiple_of(2),
        ssn: Secret::new(ssn(id)),
        card: (!id.is_multiple_of(3)).then(|| CANARY.into()),
        pin: 4711,
        note: CANARY.into(),
    }
}

fn ssn(id: u32) -> String {
    format!("{CANARY} {id}")
}

fn key(id: u32) -> Key<Member> {
    Member::key("Red", id)
}

fn club(store: &Store) -> Table<Member> {
    store.table().unwrap()
}

fn filled(store: &Store, ids: impl IntoIterator<Item = u32>) -> Table<Member> {
    let club = club(store);
    for id in ids {
        club.insert(&member(id)).unwrap();
    }
    club
}

/// The keys of all rows, and the tokens in them.
fn shape(club: &Table<Member>) -> Vec<(String, Vec<Value>)> {
    let tokens = |row: &DynamicEntity| {
        row.properties().filter(|(name, _)| name.ends_with("Token")).map(|(_, value)| value.clone()).collect()
    };
    rows(club.dynamic()).iter().map(|row| (row.row_key().to_owned(), tokens(row))).collect()
}

fn old_keys(store: &Store) -> Vec<KeyInfo> {
    store.encryption().unwrap().keys().unwrap().into_iter().filter(|key| !key.current).collect()
}

/// Each member is found on every way, and nothing else is there.
#[track_caller]
fn assert_found(club: &Table<Member>, ids: impl IntoIterator<Item = u32>) {
    let ids: BTreeSet<_> = ids.into_iter().collect();
    let members: Vec<_> = ids.iter().map(|id| member(*id)).collect();
    assert_eq!(rows(club.dynamic()).len(), members.iter().map(Member::rows).sum::<usize>());
    let red = |id: &u32| club.rows().team("Red").filter(|e| e.ssn.eq(&*ssn(*id)));
    for id in &ids {
        assert_eq!(club.get(Member::by_ssn("Red", &*ssn(*id))).unwrap().unwrap().id, *id);
        assert_eq!(red(id).into_iter().map(|found| found.unwrap().id).collect::<Vec<_>>(), [*id]);
        // What is unique stays so.
        let other = Member { id: 900_000, ..member(*id) };
        assert_eq!(kind(club.insert(&other)), ErrorKind::UniqueConflict);
    }
    let with_card = members.iter().filter(|member| member.card.is_some()).map(|member| member.id);
    let by_card = club.by_card().team("Red").card(CANARY).into_iter().map(|found| found.unwrap().id);
    assert_eq!(by_card.collect::<BTreeSet<_>>(), with_card.clone().collect());
    let everywhere = club.rows().across_partitions().filter(|e| e.card.eq(CANARY)).count().unwrap();
    assert_eq!(everywhere, with_card.count() as u64);
    let present = members.iter().filter(|member| member.present).map(|member| member.id);
    let by_pin = club.by_pin().team("Red").pin(4711).into_iter().map(|found| found.unwrap().id);
    assert_eq!(by_pin.collect::<BTreeSet<_>>(), present.collect());
}

#[test]
fn a_job_files_copies_under_new_tokens() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let club = filled(&store, 0..12);
    let encryption = store.encryption().unwrap();
    let (before, etag) = (shape(&club), Stored::etag(&club.get(key(1)).unwrap().unwrap()));
    assert_eq!(encryption.rotate_all().unwrap(), 3);
    club.insert(&member(12)).unwrap();
    assert_found(&club, 0..13);
    for old in old_keys(&store) {
        assert_eq!(kind(encryption.destroy(old.handle)), ErrorKind::KeyInUse);
    }

    let report = club.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (12, 0), "{report:?}");
    assert_found(&club, 0..13);
    let after = shape(&club);
    assert_eq!(Stored::etag(&club.get(key(1)).unwrap().unwrap()), etag);
    for (row, tokens) in &before {
        let stays = ["id_", "name_"].iter().any(|start| row.starts_with(start));
        let now = after.iter().find(|(key, _)| key == row);
        assert_eq!(now.is_some(), stays, "{row}");
        assert!(now.is_none_or(|(_, now)| now.iter().all(|token| !tokens.contains(token))), "{row}");
    }

    for old in old_keys(&store) {
        encryption.destroy(old.handle).unwrap();
    }
    assert_found(&club, 0..13);
    assert!(store.check().unwrap().problems.is_empty());
    assert_eq!(club.reencrypt().unwrap().run().unwrap().changed, 0);
}

/// With tokens of the table and values of their partitions, the table's key makes tokens and seals nothing.
#[test]
fn a_key_that_only_makes_tokens_is_in_use() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let club = filled(&store, [1, 2]);
    let encryption = store.encryption().unwrap();
    encryption.rotate(&club.dynamic().key_scope()).unwrap();
    let [old] = &old_keys(&store)[..] else { panic!("one key was rotated") };
    let found = store.sealed_values().unwrap();
    let found = found.iter().find(|found| found.key == old.handle).unwrap();
    // In the entities and in all their copies that have the field.
    assert_eq!((found.values, found.tokens, &*found.table), (0, 2 * 3, "Club"));
    assert_eq!(found.first.1, "card_".to_owned() + &found.first.1[5..]);
    let error = refused(encryption.destroy(old.handle));
    assert_eq!(error.kind(), ErrorKind::KeyInUse);
    assert!(error.to_string().contains("and 6 tokens are made with it: 6 in table `Club`"), "{error}");
    assert_eq!(encryption.destroy_unused().unwrap(), 0);
    assert_found(&club, [1, 2]);

    assert_eq!(club.reencrypt().unwrap().run().unwrap().changed, 2);
    assert_eq!(encryption.destroy_unused().unwrap(), 1);
    assert_found(&club, [1, 2]);
    drop((club, store));
    let found = scratch.without_provider().sealed_values().unwrap();
    assert!(!found.is_empty() && found.iter().all(|found| found.tokens == 0), "{found:?}");
}

/// Lookups go on while keys are rotated, rows sealed anew and old keys destroyed.
#[test]
fn lookups_find_what_is_sealed_anew_meanwhile() {
    const MEMBERS: u32 = 30;
    let scratch = Scratch::new();
    let store = scratch.store();
    let club = filled(&store, 0..MEMBERS);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..3 {
            let (club, is_over) = (club.clone(), &is_over);
            scope.spawn(move || {
                for round in 0_u32.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let id = (round * 7 + thread) % MEMBERS;
                    let found = club.get(Member::by_ssn("Red", &*ssn(id))).unwrap();
                    assert_eq!(found.map(|found| found.id), Some(id));
                    match round % 3 {
                        0 => assert_eq!(club.by_ssn().team("Red").ssn(&*ssn(id)).count().unwrap(), 1),
                        1 => drop(club.update(key(id), |e| e.name.push('x')).unwrap()),
                        _ => {
                            let other = Member { id: 900_000, ..member(id) };
                            assert_eq!(kind(club.insert(&other)), ErrorKind::UniqueConflict);
                        }
                    }
                }
            });
        }
        let encryption = store.encryption().unwrap();
        for _ in 0..8 {
            encryption.rotate_all().unwrap();
            let report = club.reencrypt().unwrap().run().unwrap();
            assert_eq!(report.failed, 0, "{report:?}");
            assert!(encryption.destroy_unused().unwrap() > 0);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let expected: usize = (0..MEMBERS).map(|id| member(id).rows()).sum();
    assert_eq!(rows(club.dynamic()).len(), expected);
    assert!(store.check().unwrap().problems.is_empty());
}

/// What a query has not come to yet when its key is destroyed is an error, and not passed over.
#[test]
fn a_query_that_began_before_a_key_was_destroyed_loses_nothing_unseen() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let club = filled(&store, 0..3);
    let mut by_filter = club.rows().team("Red").filter(|e| e.pin.eq(4711)).into_iter();
    let mut by_index = club.by_ssn().team("Red").ssn(&*ssn(1)).into_iter();
    let encryption = store.encryption().unwrap();
    encryption.rotate_all().unwrap();
    assert_eq!(club.reencrypt().unwrap().run().unwrap().changed, 3);
    assert_eq!(encryption.destroy_unused().unwrap(), 3);
    for error in [refused(by_filter.next().unwrap()), refused(by_index.next().unwrap())] {
        assert_eq!(error.kind(), ErrorKind::KeySuperseded);
        assert!(error.to_string().contains("begin it again"), "{error}");
    }
    assert_found(&club, 0..3);
}

/// Members whose keys are destroyed.
fn lost(scratch: &Scratch) -> (Store, Table<Member>) {
    let store = scratch.store();
    let club = filled(&store, [1, 2, 3, 4]);
    store.encryption().unwrap().shred(&Scope::store()).unwrap();
    assert_eq!(kind(club.get(key(2))), ErrorKind::KeyShredded);
    (store, club)
}

#[test]
fn a_lost_entity_is_removed_with_the_copies_under_its_tokens() {
    let scratch = Scratch::new();
    drop(lost(&scratch));
    let store = scratch.without_provider();
    let club = club(&store);
    for id in 1..=4 {
        club.delete(key(id)).unwrap();
        let left = (id + 1..=4).map(|id| member(id).rows()).sum::<usize>();
        let stats = store.stats().unwrap();
        assert_eq!(stats.tables[0].entities, u64::try_from(left).unwrap(), "{id}");
    }
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_new_entity_leaves_no_copy_of_a_lost_one() {
    let scratch = Scratch::new();
    let (store, club) = lost(&scratch);
    for id in [1, 2] {
        club.put(&member(id)).unwrap();
    }
    for id in [3, 4] {
        club.replace(&member(id), IfMatch::Any).unwrap();
    }
    assert_found(&club, 1..=4);
    assert!(store.check().unwrap().problems.is_empty());
    let old = store.sealed_values().unwrap();
    let alive: BTreeSet<_> =
        store.encryption().unwrap().keys().unwrap().into_iter().map(|key| key.handle).collect();
    assert!(old.iter().all(|of_key| alive.contains(&of_key.key)), "{old:?}");
}

/// Who takes a token away takes away what says where the copies are.
#[test]
fn an_entity_without_its_token_is_not_removed_by_halves() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let club = filled(&store, [2]);
    let mut row = club.dynamic().get("Red", "id_000002").unwrap().unwrap();
    row.remove("SsnToken");
    club.dynamic().raw().replace(&row, IfMatch::Any).unwrap();
    store.encryption().unwrap().rotate_all().unwrap();
    let report = club.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (0, 1));
    let text = refused::<()>(Err(report.failures.into_iter().next().unwrap())).to_string();
    assert!(text.contains("property `SsnToken`, the token of `Ssn`, is missing"), "{text}");

    let before = rows(club.dynamic());
    drop((club, store));
    let store = scratch.without_provider();
    let club = super::tokens::club(&store);
    assert_eq!(kind(club.delete(key(2))), ErrorKind::DecryptionFailed);
    drop((club, store));
    assert_eq!(rows(super::tokens::club(&scratch.store()).dynamic()), before);
}

/// One declaration of a card, with this attribute on its number.
macro_rules! declared {
    ($name:ident $(, #[$($encrypt:tt)*])?) => {
        #[derive(Entity, Clone, Debug, PartialEq)]
        #[entity(table = "Cards", kind = "card")]
        #[key(partition = "{bank}", row = "card_{id:06}")]
        #[index(by_owner, row = "owner_{owner}_{id:06}")]
        struct $name {
            bank: String,
            id: u32,
            owner: String,
            $(#[$($encrypt)*])?
            number: String,
        }
    };
}

macro_rules! card {
    ($name:ident, $id:expr) => {
        $name { bank: "B".into(), id: $id, owner: format!("o{}", $id), number: ssn($id) }
    };
}

declared!(Plain);
declared!(Dual, #[encrypt(dual, blind)]);
declared!(Sealed, #[encrypt(blind)]);
declared!(Untokened, #[encrypt]);

#[test]
fn what_was_plain_is_found_by_filters_all_the_while() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let plain = store.table::<Plain>().unwrap();
    for id in 0..6 {
        plain.insert(&card!(Plain, id)).unwrap();
    }
    let dual = store.table::<Dual>().unwrap();
    dual.insert(&card!(Dual, 6)).unwrap();
    dual.update(Dual::key("B", 1), |card| card.owner = "other".into()).unwrap();
    let found = |id| {
        let rows = dual.rows().bank("B").filter(|e| e.number.eq(ssn(id)));
        assert_eq!(rows.into_iter().map(|found| found.unwrap().id).collect::<Vec<_>>(), [id]);
        let anywhere = dual.rows().across_partitions().filter(|e| e.number.eq(ssn(id)));
        assert_eq!(anywhere.count().unwrap(), 1);
        let by_owner = dual.by_owner().bank("B").filter(|e| e.number.eq(ssn(id)));
        assert_eq!(by_owner.count().unwrap(), 1);
    };
    (0..7).for_each(found);
    assert_eq!(kind(store.table::<Sealed>()), ErrorKind::LayoutChanged);

    let report = dual.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (5, 0));
    (0..7).for_each(found);
    for row in dual.dynamic().query(&Query::new()).unwrap() {
        let row = row.unwrap();
        assert_eq!(handles(&row).len(), 1, "{}", row.row_key());
        assert_eq!(row.get("NumberToken").and_then(Value::as_bytes).map(<[u8]>::len), Some(17));
    }
    // Tokens neither go nor come.
    assert_eq!(kind(store.table::<Untokened>()), ErrorKind::LayoutChanged);
    let sealed = store.table::<Sealed>().unwrap();
    for id in 0..7 {
        assert_eq!(sealed.rows().bank("B").filter(|e| e.number.eq(ssn(id))).count().unwrap(), 1);
    }

    // From now on what is plain was put there by somebody, and is found by nobody.
    let forged = DynamicEntity::new("B", "card_000003").with("Number", ssn(3).as_str());
    sealed.dynamic().raw().merge(&forged, IfMatch::Any).unwrap();
    assert_eq!(sealed.rows().bank("B").filter(|e| e.number.eq(ssn(3))).count().unwrap(), 0);
}

/// A rule reads what the struct itself would.
#[test]
fn a_rule_gives_what_is_still_plain() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<Plain>().unwrap().insert(&card!(Plain, 0)).unwrap();
    let dual = store.table::<Dual>().unwrap();
    dual.insert(&card!(Dual, 1)).unwrap();
    let by_rule = dual.dynamic().encrypting(|_, _, _| false);
    for id in [0, 1] {
        let row = by_rule.get("B", &format!("card_{id:06}")).unwrap().unwrap();
        assert_eq!(row.get("Number").and_then(Value::as_str), Some(&*ssn(id)));
    }
}
