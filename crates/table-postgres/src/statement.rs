//! A plan as one statement: a part for each sort of change, and a result that is an error unless all that is demanded holds.
//!
//! The statement's text depends on the tables, on the sorts of changes, and on how many rows there are while these are few. So the
//! server has few to prepare.

use std::collections::BTreeMap;

#[cfg(feature = "blob")]
use crate::blobs::{BlobTables, PlanReferences};
use crate::builder::Builder;
use crate::connection::Call;
use crate::demand::Demand;
use crate::given::{FEW, given};
use crate::keys::{behind_prefix, escape};
use crate::locks::share_locks;
use crate::op::{Becomes, Op};
use crate::outbox::Settled;
use crate::param::{Json, Param, Params};
use crate::rewrite::{Rewrite, Times};
use crate::sealing::StoreKeys;
use crate::table::TableEntry;
use crate::token::Token;
#[cfg(feature = "blob")]
use crate::unreferenced;
use crate::work::{Work, WorkAct};

/// A sort of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Insert,
    Upsert,
    Update,
    UpdateOf,
    Delete,
    DeletePresent,
    DeleteOf,
    KeepPresent,
    KeepOf,
    KeepAbsent,
}

impl Sort {
    /// Returns the sort of a change; `None` if nothing is changed, and nothing demanded.
    fn of(op: &Op) -> Option<Self> {
        Some(match (&op.becomes, op.demand) {
            (Becomes::Written(_), Demand::Absent) => Self::Insert,
            (Becomes::Written(_), Demand::Nothing) => Self::Upsert,
            (Becomes::Written(_), Demand::Present) => Self::Update,
            (Becomes::Written(_), Demand::Tag(_) | Demand::Is(_)) => Self::UpdateOf,
            (Becomes::Gone, Demand::Nothing) => Self::Delete,
            (Becomes::Gone, Demand::Present) => Self::DeletePresent,
            (Becomes::Gone, Demand::Tag(_) | Demand::Is(_)) => Self::DeleteOf,
            (Becomes::Gone | Becomes::Kept, Demand::Absent) => Self::KeepAbsent,
            (Becomes::Kept, Demand::Nothing) => return None,
            (Becomes::Kept, Demand::Present) => Self::KeepPresent,
            (Becomes::Kept, Demand::Tag(_) | Demand::Is(_)) => Self::KeepOf,
        })
    }

    fn writes(self) -> bool {
        matches!(self, Self::Insert | Self::Upsert | Self::Update | Self::UpdateOf)
    }

    /// Returns whether its rows stay as they are.
    fn keeps(self) -> bool {
        matches!(self, Self::KeepPresent | Self::KeepOf | Self::KeepAbsent)
    }

    /// Returns whether it is of rows of a certain time.
    fn is_of_time(self) -> bool {
        matches!(self, Self::UpdateOf | Self::DeleteOf | Self::KeepOf)
    }

    /// Returns how many rows its part gives: as many as it is of, none, or however many.
    fn gives(self) -> Gives {
        match self {
            // A key that is taken is an error by itself.
            Self::Insert | Self::Delete => Gives::Any,
            Self::KeepAbsent => Gives::None,
            _ => Gives::All,
        }
    }
}

enum Gives {
    Any,
    None,
    All,
}

/// The changes of one sort in one table.
#[derive(Default)]
struct Changes {
    partitions: Vec<String>,
    rows: Vec<String>,
    times: Vec<i64>,
    /// How often each was written without a new time; [`ANY`] of one of which it does not count.
    again: Vec<i64>,
    kinds: Vec<Option<String>>,
    bodies: Vec<Json>,
}

/// What a statement carries besides its changes.
pub(crate) struct Frame<'f> {
    /// The time of the rows that are written.
    pub(crate) time: i64,
    /// Whether rows that are there keep theirs.
    pub(crate) keeps_times: bool,
    /// Its token, and where that is put; `None` if another statement of its transaction has one.
    pub(crate) token: Option<(&'f str, Token)>,
    /// Whether it shares the locks of its partitions with others.
    pub(crate) shares_locks: bool,
    /// What its locks begin with.
    pub(crate) identity: i64,
    /// The generation of the store by which the plan was examined, and the table that has it.
    pub(crate) generation: Option<(&'f str, i64)>,
    /// The places of tables that it holds, so that what is noted of their kinds stays as it is until it is carried out.
    pub(crate) held: &'f [usize],
    pub(crate) keys: &'f StoreKeys,
    /// The table with the outbox, and what is left of the entries that the plan settles.
    pub(crate) outbox: &'f str,
    pub(crate) settled: Settled,
    /// Whether rows that are written or removed may refer to blobs; if not, it is demanded that none of their tables does.
    #[cfg(feature = "blob")]
    pub(crate) counts_references: bool,
    /// The tables of blobs.
    #[cfg(feature = "blob")]
    pub(crate) blobs: &'f BlobTables,
}

/// Returns the statement of these changes.
pub(crate) fn of(work: &Work, ops: Vec<Op>, frame: &Frame<'_>) -> Call {
    let mut builder = Builder::default();
    let time = builder.params.add(Param::Number(frame.time));
    // A plan of messages alone has no partition.
    if frame.shares_locks && !work.partitions.is_empty() {
        share_locks(&work.partitions, frame.identity, &mut builder);
    }
    if let Some((store, generation)) = frame.generation {
        let generation = builder.params.add(Param::Text(generation.to_string()));
        builder
            .demands
            .push(format!("EXISTS (SELECT FROM {store} WHERE name = 'generation' AND value = {generation})"));
    }
    if let Some(generation) = work.sealed_at {
        frame.keys.demand(generation, &mut builder);
    }
    if let Some((commits, token)) = frame.token {
        let session = builder.params.add(Param::Number(token.session));
        let number = builder.params.add(Param::Number(token.number));
        builder.part(&format!(
            "INSERT INTO {commits} (session, number, time) VALUES ({session}, {number}, {time})"
        ));
    }
    #[cfg(feature = "blob")]
    match unreferenced(work, &ops, frame.counts_references) {
        Some(tables) => {
            for table in tables {
                let demand = unreferenced::demand(&frame.blobs.references, table, &mut builder.params);
                builder.demands.push(demand);
            }
        }
        None => PlanReferences::of(work, &ops).add_to(&mut builder, frame.blobs),
    }
    let as_of = work.as_of.map(|time| builder.params.add(Param::Number(time)));
    let changes = sorted(work, ops);
    for held in frame.held {
        let writes = |(_, table, sort, _): &Batch| table == held && !sort.keeps();
        let Some(entry) = work.tables.get(*held).filter(|_| !changes.keys().any(writes)) else { continue };
        // It writes nothing, and holds the table as what writes does.
        builder.part(&format!("DELETE FROM {} WHERE false", entry.rows));
    }
    for ((_, table, sort, is_added), changes) in changes {
        let Some(entry) = work.tables.get(table) else { continue };
        let rewrite = match &as_of {
            Some(as_of) if !is_added => Rewrite { time: as_of, times: Times::Given },
            _ if frame.keeps_times => Rewrite { time: &time, times: Times::Kept },
            _ => Rewrite { time: &time, times: Times::Risen },
        };
        if changes.rows.len() == 1 {
            one(&mut builder, &entry.rows, sort, changes, &rewrite);
        } else {
            many(&mut builder, &entry.rows, sort, changes, &rewrite);
        }
    }
    for range in &work.ranges {
        let Some(entry) = work.tables.get(range.table) else { continue };
        let found = digest_of(entry, &range.partition_key, &range.prefix, &mut builder.params);
        let expected = builder.params.add(Param::Number(range.digest));
        builder.demands.push(format!("{found} = {expected}"));
    }
    if let Some(entries) = &work.entries {
        entries.add_to(&mut builder, frame.outbox, &frame.settled);
    }
    #[cfg(feature = "queue")]
    if let Some(messages) = &work.messages {
        messages.add_to(&mut builder);
    }
    builder.finish()
}

/// Returns the numbers of the tables of which it is enough to demand that no row refers to a blob; `None` if the references of
/// the rows have to be counted.
#[cfg(feature = "blob")]
fn unreferenced(work: &Work, ops: &[Op], counts: bool) -> Option<Vec<u32>> {
    let mut tables = Vec::new();
    for op in ops {
        if let Becomes::Written(body) = &op.becomes
            && (!body.references.is_empty() || body.list.is_some())
        {
            return None;
        }
        if matches!(op.becomes, Becomes::Kept) || op.demand == Demand::Absent {
            continue;
        }
        let entry = work.rows.get(op.of).and_then(|row| work.tables.get(row.table))?;
        if counts {
            return None;
        }
        if !tables.contains(&entry.id) {
            tables.push(entry.id);
        }
    }
    Some(tables)
}

/// The number of a table, its place in the plan, a sort of change, and whether the rows are added to.
type Batch = (u32, usize, Sort, bool);

/// Returns the changes by batches.
fn sorted(work: &Work, ops: Vec<Op>) -> BTreeMap<Batch, Changes> {
    let mut all: BTreeMap<Batch, Changes> = BTreeMap::new();
    let mut ops: Vec<_> = ops.into_iter().filter_map(|op| Some((work.rows.get(op.of)?, op))).collect();
    // In one order for all plans, so that two seldom wait for each other.
    ops.sort_by(|(one, _), (other, _)| (&one.partition, &one.row).cmp(&(&other.partition, &other.row)));
    for (row, op) in ops {
        let Some(sort) = Sort::of(&op) else { continue };
        let Some(entry) = work.tables.get(row.table) else { continue };
        // A row that is added to is of many entities, and of no one's time.
        let is_added = work.as_of.is_some() && matches!(row.act, WorkAct::Add(_));
        let changes = all.entry((entry.id, row.table, sort, is_added)).or_default();
        changes.partitions.push(row.partition.clone());
        changes.rows.push(row.row.clone());
        match op.demand {
            Demand::Tag(time) => {
                changes.times.push(time);
                changes.again.push(ANY);
            }
            Demand::Is(version) => {
                changes.times.push(version.time);
                changes.again.push(version.again.into());
            }
            Demand::Absent | Demand::Present | Demand::Nothing => {}
        }
        if let Becomes::Written(body) = op.becomes {
            changes.kinds.push(body.kind);
            changes.bodies.push(body.json);
        }
    }
    all
}

/// Stands for any number of times that a row was written.
const ANY: i64 = -1;

/// Adds a part that changes one row.
fn one(builder: &mut Builder, table: &str, sort: Sort, changes: Changes, rewrite: &Rewrite<'_>) {
    let (params, time) = (&mut builder.params, rewrite.time);
    let mut text = |texts: Vec<String>| params.add(Param::Text(texts.into_iter().next().unwrap_or_default()));
    let (partition, row) = (text(changes.partitions), text(changes.rows));
    let mut matched = format!("pk = {partition} AND rk = {row}");
    if sort.is_of_time() {
        let mut number =
            |numbers: &[i64]| params.add(Param::Number(numbers.first().copied().unwrap_or_default()));
        let (time, again) = (number(&changes.times), number(&changes.again));
        matched += &format!(" AND ts = {time} AND ({again} < 0 OR coalesce(again, 0) = {again})");
    }
    let mut content = ("NULL".to_owned(), "NULL".to_owned());
    if sort.writes() {
        let kind = params.add(Param::MaybeText(changes.kinds.into_iter().next().flatten()));
        let body = changes.bodies.into_iter().next().unwrap_or_else(|| Json(bytes::Bytes::new()));
        content = (kind, params.add(Param::Json(body)));
    }
    let (kind, body) = content;
    let values = format!("(pk, rk, ts, kind, body) VALUES ({partition}, {row}, {time}, {kind}, {body})");
    let sql = match sort {
        Sort::Insert => format!("INSERT INTO {table} {values}"),
        Sort::Upsert => format!("INSERT INTO {table} AS t {values} {}", rewrite.on_conflict()),
        Sort::Update | Sort::UpdateOf => format!(
            "UPDATE {table} AS t SET {} WHERE {matched} AND {} RETURNING 1",
            rewrite.set(&kind, &body),
            rewrite.condition()
        ),
        Sort::Delete => format!("DELETE FROM {table} WHERE {matched}"),
        Sort::DeletePresent | Sort::DeleteOf => format!("DELETE FROM {table} WHERE {matched} RETURNING 1"),
        Sort::KeepPresent => format!("SELECT 1 FROM {table} WHERE {matched} FOR KEY SHARE"),
        Sort::KeepOf => format!("SELECT 1 FROM {table} WHERE {matched} FOR SHARE"),
        Sort::KeepAbsent => format!("SELECT 1 FROM {table} WHERE {matched}"),
    };
    demand(builder, sort, &sql, 1);
}

/// Adds a part that changes several rows.
fn many(builder: &mut Builder, table: &str, sort: Sort, changes: Changes, rewrite: &Rewrite<'_>) {
    let (count, time) = (changes.rows.len(), rewrite.time);
    let mut columns = vec![Param::Texts(changes.partitions), Param::Texts(changes.rows)];
    let mut names = "n_pk, n_rk".to_owned();
    let mut matched = "t.pk = n_pk AND t.rk = n_rk".to_owned();
    if sort.is_of_time() {
        columns.extend([Param::Numbers(changes.times), Param::Numbers(changes.again)]);
        names += ", n_ts, n_again";
        matched += " AND t.ts = n_ts AND (n_again < 0 OR coalesce(t.again, 0) = n_again)";
    }
    if sort.writes() {
        columns.extend([Param::MaybeTexts(changes.kinds), Param::Jsons(changes.bodies)]);
        names += ", n_kind, n_body";
    }
    let given = format!("{} AS n({names})", given(&mut builder.params, count, columns));
    let values = format!("(pk, rk, ts, kind, body) SELECT n_pk, n_rk, {time}, n_kind, n_body FROM {given}");
    let sql = match sort {
        Sort::Insert => format!("INSERT INTO {table} {values}"),
        Sort::Upsert => format!("INSERT INTO {table} AS t {values} {}", rewrite.on_conflict()),
        Sort::Update | Sort::UpdateOf => format!(
            "UPDATE {table} AS t SET {} FROM {given} WHERE {matched} AND {} RETURNING 1",
            rewrite.set("n_kind", "n_body"),
            rewrite.condition()
        ),
        Sort::Delete => format!("DELETE FROM {table} AS t USING {given} WHERE {matched}"),
        Sort::DeletePresent | Sort::DeleteOf => {
            format!("DELETE FROM {table} AS t USING {given} WHERE {matched} RETURNING 1")
        }
        Sort::KeepPresent => {
            format!("SELECT 1 FROM {table} AS t, {given} WHERE {matched} FOR KEY SHARE OF t")
        }
        Sort::KeepOf => format!("SELECT 1 FROM {table} AS t, {given} WHERE {matched} FOR SHARE OF t"),
        Sort::KeepAbsent => format!("SELECT 1 FROM {table} AS t, {given} WHERE {matched}"),
    };
    demand(builder, sort, &sql, count);
}

/// Adds a part of this sort, which is of so many rows, and what is demanded of it.
fn demand(builder: &mut Builder, sort: Sort, sql: &str, rows: usize) {
    let part = builder.part(sql);
    builder.demands.push(match sort.gives() {
        Gives::Any => return,
        Gives::None => format!("NOT EXISTS (SELECT FROM {part})"),
        // Keys are unique, so one row gives no more.
        Gives::All if rows == 1 => format!("EXISTS (SELECT FROM {part})"),
        Gives::All if rows <= FEW => format!("(SELECT count(*) FROM {part}) = {rows}"),
        Gives::All => {
            let rows = builder.params.add(Param::Number(i64::try_from(rows).unwrap_or(i64::MAX)));
            format!("(SELECT count(*) FROM {part}) = {rows}")
        }
    });
}

/// Returns the statement that gives the digest of the rows of a partition whose keys begin with a prefix.
pub(crate) fn digest(entry: &TableEntry, partition: &str, prefix: &str) -> Call {
    let mut params = Params::default();
    let digest = digest_of(entry, partition, prefix, &mut params);
    Call { sql: format!("SELECT {digest}"), params }
}

fn digest_of(entry: &TableEntry, partition: &str, prefix: &str, params: &mut Params) -> String {
    let prefix = escape(prefix);
    let partition = params.add(Param::Text(escape(partition).into_owned()));
    let mut condition = format!("pk = {partition} AND rk >= {}", params.add((&*prefix).into()));
    if let Some(end) = behind_prefix(&prefix) {
        condition += &format!(" AND rk < {}", params.add(Param::Text(end)));
    }
    // A sum, in whatever order rows come. 2^62 leaves room for the sign.
    format!(
        "(SELECT coalesce(sum(hashtextextended(rk, ts) # coalesce(again, 0)) % 4611686018427387904, 0)::bigint FROM {} WHERE {condition})",
        entry.rows
    )
}
