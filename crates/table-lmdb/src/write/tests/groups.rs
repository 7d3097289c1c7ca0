//! Several groups in one transaction.

use table_engine::error::ErrorKind;
use table_engine::model::IfMatch;

use super::*;

#[test]
fn groups_of_two_tables_and_two_partitions_are_one_transaction() {
    let (_dir, store) = store();
    let (a, b) = (store.create_table("Ann").unwrap(), store.create_table("Bob").unwrap());
    b.insert(&entity("p", "goes")).unwrap();
    a.insert(&entity("q", "stays")).unwrap();
    let before = store.stats().unwrap().commits;
    let groups = vec![
        group(0, "p", vec![insert("new"), row("other", Condition::Any, Act::Put(()))]),
        group(1, "p", vec![row("goes", Condition::Present, Act::Remove), insert("new")]),
        group(0, "q", vec![row("stays", Condition::Present, Act::Merge(())), insert("new")]),
    ];
    let etag = carry_out(groups, &[&a, &b]).unwrap();
    assert_eq!(rows(&store), ["Ann p new", "Ann p other", "Ann q new", "Ann q stays", "Bob p new"]);
    for (table, partition, row) in
        [(&a, "p", "new"), (&a, "p", "other"), (&a, "q", "stays"), (&b, "p", "new")]
    {
        let found = table.get(partition, row).unwrap().unwrap();
        assert_eq!(found.etag(), Some(etag));
        assert_eq!(found.get("Text").and_then(|text| text.as_str()), Some("written"));
    }
    assert_eq!(store.stats().unwrap().commits, before + 1);
}

#[test]
fn a_refusal_in_the_second_group_leaves_the_first_unwritten_and_says_which() {
    let (_dir, store) = store();
    let (a, b) = (store.create_table("Ann").unwrap(), store.create_table("Bob").unwrap());
    b.insert(&entity("q", "there")).unwrap();
    let kept = rows(&store);
    let etag = b.get("q", "there").unwrap().unwrap().etag().unwrap();
    b.merge(&entity("q", "there"), IfMatch::Any).unwrap();
    let refused = [
        (row("there", Condition::Absent, Act::Put(())), ErrorKind::EntityAlreadyExists),
        (row("there", Condition::Absent, Act::Keep), ErrorKind::EntityAlreadyExists),
        (row("there", Condition::Tag(etag), Act::Put(())), ErrorKind::ConditionNotMet),
        (row("there", Condition::Tag(etag), Act::Keep), ErrorKind::ConditionNotMet),
        (row("missing", Condition::Present, Act::Remove), ErrorKind::EntityNotFound),
        (row("missing", Condition::Present, Act::Keep), ErrorKind::EntityNotFound),
    ];
    for (write, kind) in refused {
        // With rows that are put without a look, with one that is looked at, and with one of names that have no number.
        let unnumbered = [("Name", ValueRef::String("new")), ("Text", ValueRef::String("new"))];
        let content = Content::Properties(&unnumbered);
        let deferred = RowWrite { act: Act::Put(content), ..insert("deferred") };
        let firsts = [
            vec![insert("new")],
            vec![insert("new"), row("other", Condition::Any, Act::Put(()))],
            vec![deferred],
        ];
        for first in firsts {
            let groups = vec![group(0, "p", first), group(1, "q", vec![insert("aside"), write])];
            let refused = carry_out(groups, &[&a, &b]).unwrap_err();
            assert_eq!((refused.group, refused.row), (1, Some(1)));
            assert_eq!(refused.error.kind(), kind);
            assert_eq!(refused.error.table_name(), Some("Bob"));
            assert_eq!(refused.error.partition_key(), Some("q"));
            assert_eq!(refused.error.row_key(), Some(write.key));
            assert_eq!(rows(&store), kept);
        }
    }
    // Names that only refused plans brought are not counted as taken.
    a.insert(&entity("p", "new").with("Other", 1)).unwrap();
    assert_eq!(a.get("p", "new").unwrap().unwrap().properties().len(), 2);
}

#[test]
fn a_table_that_was_dropped_refuses_the_plan_by_its_group() {
    let (_dir, store) = store();
    let (a, b) = (store.create_table("Ann").unwrap(), store.create_table("Bob").unwrap());
    store.drop_table("Bob").unwrap();
    let groups = vec![group(0, "p", vec![insert("new")]), group(1, "p", vec![insert("new")])];
    let refused = carry_out(groups, &[&a, &b]).unwrap_err();
    assert_eq!((refused.group, refused.row), (1, Some(0)));
    assert_eq!(refused.error.kind(), ErrorKind::TableNotFound);
    assert_eq!(rows(&store), <[&str; 0]>::default());
}

#[test]
fn what_one_group_may_not_hold_a_plan_may_not_either() {
    let (_dir, store) = store();
    let a = store.create_table("Ann").unwrap();
    let keys: Vec<String> = (0..101).map(|number| format!("{number:03}")).collect();
    let many = keys.iter().map(|key| insert(key)).collect();
    let refused =
        carry_out(vec![group(0, "p", vec![insert("new")]), group(0, "q", many)], &[&a]).unwrap_err();
    assert_eq!((refused.group, refused.error.kind()), (1, ErrorKind::BatchLength));

    let twice = vec![group(0, "p", vec![insert("new")]), group(0, "p", vec![insert("other"), insert("new")])];
    let refused = carry_out(twice, &[&a]).unwrap_err();
    assert_eq!((refused.group, refused.row, refused.error.kind()), (1, Some(1), ErrorKind::DuplicateRow));

    let nowhere = vec![group(0, "p", vec![insert("new")]), group(1, "p", vec![insert("new")])];
    let refused = carry_out(nowhere, &[&a]).unwrap_err();
    assert_eq!((refused.group, refused.error.kind()), (1, ErrorKind::TableNotFound));
    assert_eq!(rows(&store), <[&str; 0]>::default());

    // Two groups of one table and partition are as good as one, and rows that stay count for no limit.
    let kept = keys.iter().map(|key| row(key, Condition::Absent, Act::Keep)).collect();
    carry_out(vec![group(0, "p", vec![insert("new")]), group(0, "p", kept)], &[&a]).unwrap();
    assert_eq!(rows(&store), ["Ann p new"]);
}
