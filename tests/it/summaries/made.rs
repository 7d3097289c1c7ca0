//! Summaries that come while there are entities, and are made and mended by jobs.

use integration_tests::together::rebuild_while_others_write;
use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, ErrorKind, IfMatch, Store};

use super::{Employee, Level, Payroll, assert_summarized, employee};

/// The program before it had summaries, and one with a summary that counts otherwise.
mod former {
    use table_core::Entity;

    pub(super) mod none {
        use super::Entity;

        #[derive(Entity, Clone)]
        #[entity(table = "Club", kind = "member")]
        #[key(partition = "{club}", row = "member_{id:06}")]
        pub(crate) struct Member {
            pub(crate) club: String,
            pub(crate) id: u32,
            pub(crate) fee: i32,
        }
    }

    pub(super) mod one {
        use super::Entity;

        #[derive(Entity, Clone)]
        #[entity(table = "Club", kind = "member")]
        #[key(partition = "{club}", row = "member_{id:06}")]
        #[summarized_in(Club)]
        pub(crate) struct Member {
            pub(crate) club: String,
            pub(crate) id: u32,
            pub(crate) fee: i32,
        }

        #[derive(Entity, Clone, Debug, PartialEq)]
        #[entity(table = "Club", kind = "club")]
        #[key(partition = "{club}", row = "club")]
        #[summary(of = Member)]
        pub(crate) struct Club {
            pub(crate) club: String,
            #[summary(count)]
            pub(crate) members: u64,
        }
    }

    pub(super) mod two {
        use super::Entity;

        #[derive(Entity, Clone)]
        #[entity(table = "Club", kind = "member")]
        #[key(partition = "{club}", row = "member_{id:06}")]
        #[summarized_in(Club)]
        pub(crate) struct Member {
            pub(crate) club: String,
            pub(crate) id: u32,
            pub(crate) fee: i32,
        }

        #[derive(Entity, Clone, Debug, PartialEq)]
        #[entity(table = "Club", kind = "club")]
        #[key(partition = "{club}", row = "club")]
        #[summary(of = Member)]
        pub(crate) struct Club {
            pub(crate) club: String,
            #[summary(count)]
            pub(crate) members: u64,
            #[summary(sum = fee)]
            pub(crate) fees: i64,
        }
    }
}

use former::{none, one, two};

fn members(many: u32) -> Vec<none::Member> {
    (0..many).map(|id| none::Member { club: format!("c{}", id % 3), id, fee: 10 }).collect()
}

fn clubs(store: &Store) -> Vec<(u64, i64)> {
    let clubs = store.table::<two::Club>().unwrap();
    let read = |club: &str| {
        let found = clubs.get(two::Club::key(club)).unwrap();
        found.map_or((0, 0), |club| (club.members, club.fees))
    };
    ["c0", "c1", "c2"].map(read).to_vec()
}

#[test]
fn a_summary_that_is_added_is_made_by_rebuild_and_says_so_until_then() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let former = store.table::<none::Member>().unwrap();
    former.bulk_insert(members(900)).unwrap().into_result().unwrap();
    let (table, clubs_of_one) = (store.table::<one::Member>().unwrap(), store.table::<one::Club>().unwrap());
    // Nothing but the summary is held up, and nobody keeps it yet.
    table.insert(&one::Member { club: "c0".into(), id: 900, fee: 10 }).unwrap();
    former.insert(&none::Member { club: "c0".into(), id: 901, fee: 10 }).unwrap();
    let snapshot = store.snapshot().unwrap();
    for error in [
        clubs_of_one.get(one::Club::key("c0")).unwrap_err(),
        clubs_of_one.at(&snapshot).get(one::Club::key("c0")).unwrap_err(),
        clubs_of_one.rows().club("c0").count().unwrap_err(),
        clubs_of_one.view(one::Club::key("c0"), |club| club.members()).unwrap_err(),
        clubs_of_one.at(&snapshot).view(one::Club::key("c0")).unwrap_err(),
        clubs_of_one.at(&snapshot).rows().club("c0").views().next().unwrap().unwrap_err(),
        clubs_of_one.exists(one::Club::key("c0")).unwrap_err(),
        clubs_of_one.rows().across_partitions().into_iter().next().unwrap().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
        assert!(error.to_string().contains("`club`") && error.to_string().contains("rebuild"), "{error}");
    }
    let mut job = table.rebuild().unwrap();
    while job.step().unwrap() {
        // Entities come and go beside it, also such as are not counted yet.
        table.delete(one::Member::key("c1", 4 + 3 * job.progress().done as u32 % 300)).ok();
    }
    let count = |club: &str| table.rows().club(club).count().unwrap();
    for club in ["c0", "c1", "c2"] {
        let said = clubs_of_one.get(one::Club::key(club)).unwrap().unwrap().members;
        assert_eq!(said, count(club), "{club}");
    }
    assert!(table.check().unwrap().is_sound());
    // Who doesn't know the summary would leave it behind.
    let error = former.insert(&none::Member { club: "c0".into(), id: 999, fee: 1 }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert!(error.to_string().contains("`club`"), "{error}");

    // One that counts otherwise is made anew, and one that nobody wants is dropped.
    let error = store.table::<two::Club>().unwrap().get(two::Club::key("c0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IndexBuilding, "{error}");
    let changed = store.table::<two::Member>().unwrap();
    changed.rebuild().unwrap().run().unwrap();
    let said = clubs(&store);
    for (club, (members, fees)) in ["c0", "c1", "c2"].into_iter().zip(said) {
        assert_eq!((members, fees), (count(club), 10 * count(club) as i64));
    }
    changed.drop_index("club").unwrap().run().unwrap();
    former.insert(&none::Member { club: "c0".into(), id: 999, fee: 1 }).unwrap();
    let rows = store.dynamic_table("Club").unwrap().query(&table_core::Query::new()).unwrap();
    assert!(rows.map(Result::unwrap).all(|row| row.get("EntityType").unwrap().as_str() == Some("member")));
    assert_sound(&store);
}

#[test]
fn a_summary_is_made_exactly_while_others_write() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<none::Member>().unwrap().bulk_insert(members(600)).unwrap().into_result().unwrap();
    let table = store.table::<two::Member>().unwrap();
    rebuild_while_others_write(&table, |id, is_renewed| {
        let club = format!("c{}", id % 3);
        table.update(two::Member::key(&*club, id), |one| one.fee += 3).unwrap();
        if is_renewed {
            table.delete(two::Member::key(&*club, id)).unwrap();
            let new = two::Member { club: "c2".into(), id: 1_000 + id, fee: -5 };
            table.insert(&new).unwrap();
        }
    });
    let mut wanted = vec![(0, 0); 3];
    for row in table.rows().across_partitions() {
        let row = row.unwrap();
        let at = usize::from(row.club.as_bytes()[1] - b'0');
        wanted[at].0 += 1;
        wanted[at].1 += i64::from(row.fee);
    }
    assert_eq!(clubs(&store), wanted);
    assert!(table.check().unwrap().is_sound());
}

#[test]
fn check_finds_what_a_raw_write_has_done_to_a_summary_and_repair_mends_it() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    let people: Vec<_> = (0..20).map(|id| employee(["Sales", "Legal"][id as usize % 2], id, 4, 10)).collect();
    staff.bulk_insert(people.clone()).unwrap().into_result().unwrap();
    let raw = staff.dynamic().raw();
    let salaries = |by: i64| DynamicEntity::new("Sales", "payroll").with("Salaries", by);
    raw.merge(&salaries(7), IfMatch::Any).unwrap();
    raw.delete("Legal", "payroll").unwrap();
    let stray =
        DynamicEntity::new("Nowhere", "payroll").with("EntityType", "payroll").with("Employees", 3_i64);
    raw.insert(&stray).unwrap();
    let levels = store.dynamic_table("Levels").unwrap().raw();
    levels.merge(&DynamicEntity::new("all", "level_004").with("Paid", 1_i64), IfMatch::Any).unwrap();
    let report = staff.check().unwrap();
    assert_eq!((report.miscounted, report.summaries, report.wrong()), (4, 3, 4), "{report}");
    assert_eq!(report.problems[0].index, "payroll");
    // What is taken from a summary that never counted it is refused, with what to do.
    let error = staff.delete(Employee::key("Legal", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("`Table::repair`"), "{error}");

    assert_eq!(staff.repair().unwrap().run().unwrap().mended, 4);
    assert!(staff.check().unwrap().is_sound());
    assert!(store.jobs().unwrap().is_empty());
    assert_summarized(&store, &people);
}

#[test]
fn a_row_of_another_kind_in_the_place_of_a_summary_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = store.table::<Employee>().unwrap();
    staff.dynamic().insert(&DynamicEntity::new("Sales", "payroll").with("Note", "mine")).unwrap();
    let error = staff.insert(&employee("Sales", 1, 4, 10)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("`payroll`"), "{error}");
    assert_eq!(store.table::<Level>().unwrap().rows().count().unwrap(), 0);
    assert!(store.table::<Payroll>().unwrap().get(Payroll::key("Legal")).unwrap().is_none());
}
