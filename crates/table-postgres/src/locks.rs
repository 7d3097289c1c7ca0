//! Locks of partitions, which a plan holds until its transaction ends.

use crate::builder::Builder;
use crate::connection::Call;
use crate::param::{Param, Params};

/// Returns the statement that locks partitions until its transaction ends: alone, or with others that do not
/// demand that rows are absent.
pub(crate) fn take(partitions: &[(u32, String)], identity: i64, is_alone: bool) -> Call {
    let mut params = Params::default();
    let sql = locks_of(partitions, identity, is_alone, &mut params);
    Call { sql, params }
}

/// Adds that a statement shares the locks of these partitions with others, before it asks for anything else.
pub(crate) fn share_locks(partitions: &[(u32, String)], identity: i64, builder: &mut Builder) {
    if let [(table, partition)] = partitions {
        let key = builder.params.add(partition.as_str().into());
        let seed = builder.params.add(Param::Number(identity ^ i64::from(*table)));
        // The function returns nothing, which is no NULL.
        builder
            .demands
            .push(format!("pg_advisory_xact_lock_shared(hashtextextended({key}, {seed})) IS NOT NULL"));
        return;
    }
    let part = locks_of(partitions, identity, false, &mut builder.params);
    let part = builder.part(&part);
    // What nothing asks for is not evaluated.
    builder.demands.push(format!("(SELECT count(*) FROM {part}) > 0"));
}

fn locks_of(all: &[(u32, String)], identity: i64, is_alone: bool, params: &mut Params) -> String {
    let (mut partitions, mut seeds) = (Vec::new(), Vec::new());
    for (table, partition) in all {
        partitions.push(partition.clone());
        // The locks are the database's: those of other stores in it are others.
        seeds.push(identity ^ i64::from(*table));
    }
    let (partitions, seeds) = (params.add(Param::Texts(partitions)), params.add(Param::Numbers(seeds)));
    let lock = if is_alone { "pg_advisory_xact_lock" } else { "pg_advisory_xact_lock_shared" };
    format!("SELECT {lock}(hashtextextended(p, s)) FROM unnest({partitions}, {seeds}) AS l(p, s)")
}
