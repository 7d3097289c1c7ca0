//! Plans of several rows, as a change of an entity has them.

use std::sync::Arc;

use table_engine::__executor::{
    Abilities, Act, Backend, Committed, Condition, Content, Group, Plan, Range, Refused, RowWrite, SealedAt,
    TableExec, Version,
};
use table_engine::model::EntityKeys;
use table_engine::row::version::version_of;
use table_engine::{DynamicEntity, ETag, ErrorKind, Query, Ticks, ValueRef};

use super::{check_lacks, tables};

/// What rows hold that are written here.
const NUMBER: [(&str, ValueRef<'static>); 1] = [("Number", ValueRef::Int32(1))];

pub(crate) fn put<'p>() -> Act<Content<'p>> {
    Act::Put(Content::Properties(&NUMBER))
}

pub(crate) fn row<'p>(key: &'p str, condition: Condition, act: Act<Content<'p>>) -> RowWrite<'p> {
    RowWrite { key, condition, act, kind: None, of: 0 }
}

/// A group of rows of the table at this place.
pub(crate) fn group<'p>(table: usize, partition: &'p str, rows: Vec<RowWrite<'p>>) -> Group<'p> {
    Group { table, ..Group::new(partition, rows) }
}

fn plan(groups: Vec<Group<'_>>) -> Plan<'_> {
    Plan { groups: groups.into_iter().collect(), is_raw: true, ..Plan::default() }
}

/// Two empty tables of a backend.
struct Pair {
    backend: Arc<dyn Backend>,
    tables: [Arc<dyn TableExec>; 2],
}

impl Pair {
    fn new(backend: Arc<dyn Backend>) -> Self {
        let tables = ["First", "Second"].map(|name| backend.clone().create(name).unwrap());
        Self { backend, tables }
    }

    fn commit(&self, groups: Vec<Group<'_>>) -> Result<Committed, Refused> {
        self.carry_out(&plan(groups))
    }

    fn carry_out(&self, plan: &Plan<'_>) -> Result<Committed, Refused> {
        let [first, second] = &self.tables;
        self.backend.abilities().check(plan)?;
        self.backend.commit(&[&**first, &**second], plan, &SealedAt::NOTHING)
    }

    /// The rows of each table: partition, row and version.
    fn rows(&self) -> [Vec<(String, String, Option<ETag>)>; 2] {
        let tables = tables(&self.backend);
        ["First", "Second"].map(|name| {
            let rows = tables.dynamic_table(name).unwrap().query(&Query::new()).unwrap().map(|row| {
                let row: DynamicEntity = row.unwrap();
                (row.partition_key().to_owned(), row.row_key().to_owned(), row.etag())
            });
            rows.collect()
        })
    }

    /// The version of a row of the first table, as a reader is given it.
    fn version(&self, partition: &str, row: &str) -> Version {
        let snapshot = self.backend.clone().read_snapshot().unwrap();
        let view = snapshot.get(&*self.tables[0], EntityKeys::new(partition, row), false).unwrap().unwrap();
        version_of(&view, snapshot.state())
    }

    fn digest(&self, partition: &str, prefix: &str) -> u64 {
        let snapshot = self.backend.clone().read_snapshot().unwrap();
        snapshot.digest(&*self.tables[0], partition, prefix).unwrap()
    }
}

/// What was refused: the kind of the error, the group and the row.
fn refused(done: Result<Committed, Refused>) -> (ErrorKind, usize, Option<usize>) {
    let refused = done.unwrap_err();
    (refused.error.kind(), refused.group, refused.row)
}

pub(crate) fn a_plan_happens_whole_or_not_at_all(backend: &Arc<dyn Backend>) {
    let pair = Pair::new(backend.clone());
    let rows = |condition| vec![row("a", Condition::Any, put()), row("b", condition, put())];
    let committed = pair.commit(vec![group(0, "p", rows(Condition::Absent))]).unwrap();
    let at = |row: &str, etag| ("p".to_owned(), row.to_owned(), Some(etag));
    assert_eq!(pair.rows(), [vec![at("a", committed.etag(0)), at("b", committed.etag(1))], vec![]]);
    let before = pair.rows();
    let again = pair.commit(vec![group(0, "p", rows(Condition::Absent))]);
    assert_eq!(refused(again), (ErrorKind::EntityAlreadyExists, 0, Some(1)));
    let stale = Condition::Tag(ETag::from_timestamp(Ticks::MIN));
    let removed = vec![row("a", Condition::Present, Act::Remove), row("b", stale, Act::Remove)];
    assert_eq!(refused(pair.commit(vec![group(0, "p", removed)])), (ErrorKind::ConditionNotMet, 0, Some(1)));
    let absent = vec![row("a", Condition::Present, put()), row("z", Condition::Present, Act::Remove)];
    assert_eq!(refused(pair.commit(vec![group(0, "p", absent)])), (ErrorKind::EntityNotFound, 0, Some(1)));
    assert_eq!(pair.rows(), before);
    if !pair.backend.abilities().groups {
        return;
    }

    let both = |condition| {
        vec![
            group(0, "p", vec![row("c", Condition::Absent, put())]),
            group(1, "q", vec![row("d", condition, put())]),
        ]
    };
    assert_eq!(refused(pair.commit(both(Condition::Present))), (ErrorKind::EntityNotFound, 1, Some(0)));
    assert_eq!(pair.rows(), before);
    let committed = pair.commit(both(Condition::Absent)).unwrap();
    let [first, second] = pair.rows();
    assert_eq!(first.last(), Some(&at("c", committed.etag(0))));
    assert_eq!(second, [("q".to_owned(), "d".to_owned(), Some(committed.etag(1)))]);
}

pub(crate) fn what_a_plan_demands_of_other_rows(backend: &Arc<dyn Backend>) {
    let pair = Pair::new(backend.clone());
    let Abilities { expect, expects_present, range, .. } = pair.backend.abilities();
    pair.commit(vec![group(0, "p", vec![row("a", Condition::Absent, put())])]).unwrap();
    let first = pair.version("p", "a");
    pair.commit(vec![group(0, "p", vec![row("a", Condition::Present, put())])]).unwrap();
    let is = |version| Condition::Is(version);
    // The row itself, in the version that was read.
    let before = pair.rows();
    let stale = pair.commit(vec![group(0, "p", vec![row("a", is(first), put())])]);
    assert_eq!(refused(stale), (ErrorKind::ConditionNotMet, 0, Some(0)));
    assert_eq!(pair.rows(), before);
    pair.commit(vec![group(0, "p", vec![row("a", is(pair.version("p", "a")), put())])]).unwrap();

    if expect || expects_present {
        let demanding = |version| {
            vec![group(0, "p", vec![row("a", is(version), Act::Keep), row("b", Condition::Any, put())])]
        };
        assert_eq!(refused(pair.commit(demanding(first))), (ErrorKind::ConditionNotMet, 0, Some(0)));
        let kept = pair.rows()[0][0].clone();
        pair.commit(demanding(pair.version("p", "a"))).unwrap();
        if expect {
            assert_eq!(pair.rows()[0][0], kept, "a row that is kept was written");
        }
        let missing = vec![group(
            0,
            "p",
            vec![row("z", Condition::Present, Act::Keep), row("b", Condition::Any, put())],
        )];
        assert_eq!(refused(pair.commit(missing)), (ErrorKind::EntityNotFound, 0, Some(0)));
    }
    if range {
        let demanding = |digest| {
            let unchanged = vec![Range { prefix: "a", digest }];
            vec![Group { unchanged, ..group(0, "p", vec![row("c", Condition::Any, put())]) }]
        };
        let seen = pair.digest("p", "a");
        pair.commit(demanding(seen)).unwrap();
        for change in [
            row("ab", Condition::Absent, put()),
            row("a", Condition::Present, put()),
            row("ab", Condition::Present, Act::Remove),
        ] {
            let seen = pair.digest("p", "a");
            pair.commit(vec![group(0, "p", vec![change])]).unwrap();
            assert_eq!(refused(pair.commit(demanding(seen))), (ErrorKind::ConditionNotMet, 0, None));
        }
        // What lies beside the range doesn't count.
        let seen = pair.digest("p", "a");
        pair.commit(vec![group(0, "p", vec![row("b", Condition::Any, put())])]).unwrap();
        pair.commit(demanding(seen)).unwrap();
    }
}

pub(crate) fn what_goes_beyond_the_abilities_is_refused_by_name(backend: &Arc<dyn Backend>) {
    let pair = Pair::new(backend.clone());
    let abilities = pair.backend.abilities();
    let one = |key| vec![row(key, Condition::Any, put())];
    let words = |done: Result<Committed, Refused>| done.unwrap_err().error.to_string();
    if !abilities.groups {
        let said = words(pair.commit(vec![group(0, "p", one("a")), group(0, "q", one("a"))]));
        assert!(said.contains("the ability `groups`"), "{said}");
    }
    if !abilities.expect {
        let kept = row("b", Condition::StillAbsent, Act::Keep);
        let said = words(pair.commit(vec![group(0, "p", vec![row("a", Condition::Any, put()), kept])]));
        assert!(said.contains("the ability `expect`"), "{said}");
    }
    if !abilities.range {
        let unchanged = vec![Range { prefix: "a", digest: 0 }];
        let said = words(pair.commit(vec![Group { unchanged, ..group(0, "p", one("a")) }]));
        assert!(said.contains("the ability `range`"), "{said}");
        let snapshot = pair.backend.clone().read_snapshot().unwrap();
        let error = snapshot.digest(&*pair.tables[0], "p", "a").map(drop);
        assert!(error.is_ok() || error.unwrap_err().kind() == ErrorKind::Unsupported);
    }
    if let Some(many) = abilities.rows.checked_add(1) {
        let keys: Vec<_> = (0..many).map(|at| format!("{at:06}")).collect();
        let rows = keys.iter().map(|key| row(key, Condition::Any, put())).collect();
        let said = words(pair.commit(vec![group(0, "p", rows)]));
        assert!(said.contains("ability `rows`"), "{said}");
    }
    if !abilities.queues {
        assert_eq!(pair.backend.queues().map(drop).unwrap_err().kind(), ErrorKind::Unsupported);
    }
    if !abilities.eventual {
        assert_eq!(pair.backend.outbox().map(drop).unwrap_err().kind(), ErrorKind::Unsupported);
    }
    assert_eq!(pair.rows(), [vec![], vec![]], "what was refused has written");
}

pub(crate) fn rows_keep_their_times_where_the_plan_says_so(backend: &Arc<dyn Backend>) {
    let pair = Pair::new(backend.clone());
    pair.commit(vec![group(0, "p", vec![row("a", Condition::Absent, put())])]).unwrap();
    let before = pair.rows();
    let rewrite =
        row("a", Condition::Present, Act::Put(Content::Properties(&[("Name", ValueRef::String("x"))])));
    let done = pair.carry_out(&Plan { keeps_times: true, ..plan(vec![group(0, "p", vec![rewrite])]) });
    let name = || {
        let table = tables(&pair.backend).dynamic_table("First").unwrap();
        table.get("p", "a").unwrap().unwrap().get("Name").cloned()
    };
    if pair.backend.abilities().times {
        done.unwrap();
        assert_eq!(name(), Some("x".into()));
    } else {
        check_lacks(&done.unwrap_err().error, "the ability `times`");
        assert_eq!(name(), None);
    }
    assert_eq!(pair.rows(), before);
    // Any other write gives it a new one.
    pair.commit(vec![group(0, "p", vec![rewrite])]).unwrap();
    assert_ne!(pair.rows(), before);
}

/// Batches that are loaded together happen or fail one by one, whether or not the backend has a way of its own for many.
pub(crate) fn a_load_fails_batch_by_batch(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let table = tables.create_table("Company").unwrap();
    let entity = |partition: &str, row: u32| DynamicEntity::new(partition, format!("{row:03}"));
    table.insert(&entity("p001", 1)).unwrap();
    let batch = |number: u32| {
        let partition = format!("p{number:03}");
        (0..3).fold(table.batch(&*partition), |batch, row| batch.insert(entity(&partition, row)))
    };
    let report = tables.bulk((0..40).map(batch)).unwrap();
    assert_eq!(report.committed, 39);
    let failures: Vec<_> = report.failures.iter().map(|failed| (failed.index, failed.error.kind())).collect();
    assert_eq!(failures, [(1, ErrorKind::EntityAlreadyExists)]);
    assert_eq!(table.query(&Query::new().partition("p001")).unwrap().count(), 1);
    assert_eq!(table.query(&Query::new()).unwrap().count(), 39 * 3 + 1);
}
