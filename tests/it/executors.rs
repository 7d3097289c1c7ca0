//! What an executor that is not on LMDB can't do is refused by an error that names it; what it can, it does whole or not at
//! all.

use std::sync::Arc;

use integration_tests::map::MapStore;
use table_core::__executor::{
    Abilities, Act, Backend, Condition, Content, Group, Plan, Range, RowWrite, SealedAt, TableExec, Version,
};
use table_core::{DynamicEntity, ETag, Entity, ErrorKind, IfMatch, Query, Result, Tables, ValueRef, limits};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "pay")]
#[key(partition = "{department}", row = "pay_{id:06}")]
struct Pay {
    department: String,
    id: u32,
    #[encrypt]
    salary: i64,
}

fn refused<T>(done: Result<T>) -> (ErrorKind, String) {
    match done {
        Ok(_) => panic!("it was not refused"),
        Err(error) => (error.kind(), error.to_string()),
    }
}

fn rows(tables: &Tables, table: &str) -> Vec<(String, Option<ETag>)> {
    let table = tables.dynamic_table(table).unwrap();
    table
        .query(&Query::new())
        .unwrap()
        .map(|row| row.map(|row| (row.row_key().into(), row.etag())).unwrap())
        .collect()
}

#[test]
fn a_kind_that_is_sealed_is_refused_by_a_store_that_seals_nothing() {
    for map in [MapStore::new(), MapStore::as_the_service()] {
        let (kind, text) = refused(map.tables().table::<Pay>());
        assert_eq!(kind, ErrorKind::Unsupported, "{text}");
        assert_eq!(text, "cannot open table `Payroll`: the store seals no values and signs no rows");
    }
}

#[test]
fn a_rule_that_seals_is_refused_by_a_store_that_seals_nothing() {
    for map in [MapStore::new(), MapStore::as_the_service()] {
        let company = map.tables().create_table("Company").unwrap();
        let sealed = company.encrypting(|_, _, property| property == "Ssn");
        let ann = DynamicEntity::new("Sales", "1").with("Name", "Ann");
        sealed.insert(&ann).unwrap();
        let (kind, text) =
            refused(sealed.insert(&DynamicEntity::new("Sales", "2").with("Ssn", "078-05-1120")));
        assert_eq!(kind, ErrorKind::Unsupported, "{text}");
        assert!(text.ends_with("the store seals no values and signs no rows"), "{text}");
        assert_eq!(company.get("Sales", "2").unwrap(), None);
        assert_eq!(sealed.get("Sales", "1").unwrap().unwrap().get("Name"), ann.get("Name"));

        // What is stored in the clear under a name that is to be sealed is not given, nor compared.
        company.insert(&DynamicEntity::new("Sales", "3").with("Ssn", "219-09-9999")).unwrap();
        assert_eq!(refused(sealed.get("Sales", "3")).0, ErrorKind::DecryptionFailed);
        let query = Query::new().partition("Sales").filter(table_core::prop("Ssn").eq("219-09-9999"));
        assert_eq!(refused(sealed.page(&query, 10, None)).0, ErrorKind::InvalidQuery);
        let mut rows = sealed.query(&query).unwrap();
        assert_eq!(refused(rows.next().unwrap()).0, ErrorKind::InvalidQuery);
    }
}

#[test]
fn an_entity_is_no_larger_on_any_executor_whatever_is_merged_into_it() {
    let text = "x".repeat(limits::STRING_UNITS);
    let texts = |names: std::ops::Range<u32>| {
        names.fold(DynamicEntity::new("p", "r"), |all, name| all.with(&format!("P{name}"), &*text))
    };
    let scratch = integration_tests::Scratch::new();
    for store in [MapStore::new().tables(), MapStore::as_the_service().tables(), scratch.tables()] {
        let table = store.create_table("Limits").unwrap();
        assert_eq!(refused(table.insert(&texts(0..17))).0, ErrorKind::EntityTooLarge);
        assert_eq!(table.get("p", "r").unwrap(), None);
        table.insert(&texts(0..15)).unwrap();
        let before = table.get("p", "r").unwrap();
        assert_eq!(refused(table.merge(&texts(10..17), IfMatch::Any)).0, ErrorKind::EntityTooLarge);
        let many = (0..250).fold(DynamicEntity::new("p", "r"), |all, name| all.with(&format!("Q{name}"), 1));
        assert_eq!(refused(table.insert_or_merge(&many)).0, ErrorKind::TooManyProperties);
        assert_eq!(table.get("p", "r").unwrap(), before);
    }
}

#[test]
fn rows_of_declared_kinds_are_their_structs_on_any_executor() {
    for map in [MapStore::new(), MapStore::as_the_service()] {
        let store = map.tables();
        let staff = store.table::<Employee>().unwrap();
        let jun = Employee { department: "Sales".into(), id: 1, email: "jun@contoso.com".into() };
        staff.insert(&jun).unwrap();
        let change = DynamicEntity::new("Sales", "empid_000001").with("Email", "cao@contoso.com");
        let before = rows(&store, "Company");
        let other = DynamicEntity::new("Sales", "x").with("EntityType", "employee.by_email");
        for done in [staff.dynamic().merge(&change, IfMatch::Any), staff.dynamic().insert(&other)] {
            assert_eq!(refused(done).0, ErrorKind::DeclaredKind);
        }
        assert_eq!(rows(&store, "Company"), before);
        staff.dynamic().raw().merge(&change, IfMatch::Any).unwrap();
        assert_ne!(rows(&store, "Company"), before);
    }
}

/// A plan by hand: rows of these groups, each a table's place among those given and a partition.
fn plan<'p>(groups: Vec<(usize, &'p str, Vec<RowWrite<'p>>, Vec<Range<'p>>)>) -> Plan<'p> {
    let group =
        |(table, partition, rows, unchanged)| Group { table, unchanged, ..Group::new(partition, rows) };
    Plan { groups: groups.into_iter().map(group).collect(), is_raw: true, ..Plan::default() }
}

fn row<'p>(key: &'p str, condition: Condition, act: Act<Content<'p>>) -> RowWrite<'p> {
    RowWrite { key, condition, act, kind: None, of: 0 }
}

#[test]
fn a_plan_of_several_tables_happens_whole_or_not_at_all() {
    let map = MapStore::new();
    assert_eq!(map.abilities(), Abilities { queues: false, eventual: false, ..Abilities::ALL });
    let store = map.tables();
    let [first, second]: [Arc<dyn TableExec>; 2] =
        ["First", "Second"].map(|name| map.clone().create(name).unwrap());
    let tables = [&*first, &*second];
    let put = [("Number", ValueRef::Int32(1))];
    let put = || Act::Put(Content::Properties(&put));
    let commit = |plan: &Plan<'_>| map.commit(&tables, plan, &SealedAt::NOTHING);
    let both = |condition| {
        plan(vec![
            (0, "p", vec![row("a", Condition::Any, put())], vec![]),
            (1, "q", vec![row("b", condition, put())], vec![]),
        ])
    };
    let etag = commit(&both(Condition::Absent)).unwrap();
    assert_eq!(
        [rows(&store, "First"), rows(&store, "Second")],
        [[("a".into(), Some(etag))], [("b".into(), Some(etag))]]
    );
    let before = [rows(&store, "First"), rows(&store, "Second")];
    let refused = commit(&both(Condition::Absent)).unwrap_err();
    assert_eq!(
        (refused.error.kind(), refused.group, refused.row),
        (ErrorKind::EntityAlreadyExists, 1, Some(0))
    );
    assert_eq!([rows(&store, "First"), rows(&store, "Second")], before);

    // What is demanded of rows that are not written.
    let is = |etag| Condition::Is(Version { etag, proof: [0; 3] });
    let digest = |prefix| map.digest(first.id(), "p", prefix);
    let demanding = |etag, digest| {
        let range = Range { prefix: "a", digest };
        plan(vec![(
            0,
            "p",
            vec![row("a", is(etag), Act::Keep), row("c", Condition::Absent, put())],
            vec![range],
        )])
    };
    let seen = digest("a");
    commit(&plan(vec![(0, "p", vec![row("ab", Condition::Absent, put())], vec![])])).unwrap();
    let refused = commit(&demanding(etag, seen)).unwrap_err();
    assert_eq!((refused.error.kind(), refused.group, refused.row), (ErrorKind::ConditionNotMet, 0, None));
    commit(&demanding(etag, digest("a"))).unwrap();
    let old = ETag::from_timestamp(table_core::Ticks::MIN);
    let refused = commit(&demanding(old, digest("a"))).unwrap_err();
    assert_eq!((refused.error.kind(), refused.row), (ErrorKind::ConditionNotMet, Some(0)));
}
