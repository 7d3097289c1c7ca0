//! Entities on index lists, and what the rows of the lists must say of them.

use std::collections::BTreeMap;

use table_core::{Entity, Query, Tables};

use crate::executors::Executor;

/// Somebody who is found by a name that others have, too.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index_list(by_last_name, row = "last_{last_name}", of = id)]
#[index_list(by_skill, row = "skill_{skills[]:lower}", of = id)]
#[index_list(by_team, table = "Teams", partition = "all", row = "team_{team}", of(department, id), atomic)]
pub struct Employee {
    /// The name of their department.
    pub department: String,
    /// Their number in it.
    pub id: u32,
    /// Their address, of which each department has one.
    pub email: String,
    /// The name that the list `by_last_name` has them under.
    pub last_name: String,
    /// What they can do: each has them on a list.
    #[property(json)]
    pub skills: Vec<String>,
    /// Their team, whose list is in another table.
    pub team: Option<String>,
}

/// Returns an employee without skills and team.
pub fn employee(department: &str, id: u32, last_name: &str) -> Employee {
    Employee {
        department: department.into(),
        id,
        email: format!("{department}{id}@contoso.com"),
        last_name: last_name.into(),
        skills: Vec::new(),
        team: None,
    }
}

/// Where each list lies, its kind, and the keys that are on it, as (table, partition, row).
pub type Lists = BTreeMap<(String, String, String), Vec<(String, u32)>>;

/// What a plain look at the entities finds.
pub fn wanted(staff: &[Employee]) -> Lists {
    let mut lists = Lists::new();
    for one in staff {
        let mut put = |table: &str, partition: &str, row: String| {
            let ids = lists.entry((table.into(), partition.into(), row)).or_default();
            ids.push((one.department.clone(), one.id));
            ids.sort();
            ids.dedup();
        };
        put("Company", &one.department, format!("last_{}", one.last_name));
        for skill in &one.skills {
            put("Company", &one.department, format!("skill_{}", skill.to_lowercase()));
        }
        if let Some(team) = &one.team {
            put("Teams", "all", format!("team_{team}"));
        }
    }
    lists
}

/// What the rows of the lists say, read by their properties.
pub fn stored(store: &Tables) -> Lists {
    let mut lists = Lists::new();
    for table in ["Company", "Teams"] {
        for row in store.dynamic_table(table).unwrap().query(&Query::new()).unwrap() {
            let row = row.unwrap();
            let text = |name: &str| row.get(name).and_then(|value| value.as_str()).map(str::to_owned);
            let Some(ids) = text("Ids") else { continue };
            let kind = text("EntityType").unwrap();
            assert!(
                ["by_last_name", "by_skill", "by_team"].iter().any(|name| kind == format!("employee.{name}"))
            );
            let ids = ids.split(',').map(|id| match id.split_once(';') {
                Some((department, id)) => (department.to_owned(), id.parse().unwrap()),
                None => (row.partition_key().to_owned(), id.parse().unwrap()),
            });
            lists.insert((table.into(), row.partition_key().into(), row.row_key().into()), ids.collect());
        }
    }
    lists
}

/// The lists say what a plain look finds, the typed reads give the entities, and a check agrees.
pub fn assert_listed(store: &Tables, staff: &[Employee]) {
    let wanted = wanted(staff);
    assert_eq!(stored(store), wanted);
    let table = store.table::<Employee>().unwrap();
    for ((_, partition, row), ids) in &wanted {
        let (list, value) = row.split_once('_').unwrap();
        let key = match list {
            "last" => Employee::by_last_name(&**partition, value),
            "skill" => Employee::by_skill(&**partition, value),
            _ => Employee::by_team(value),
        };
        let list = table.list(key).unwrap();
        assert_eq!(list.len(), ids.len());
        let found: Vec<_> = list.entities().map(Result::unwrap).collect();
        for (found, (department, id)) in found.iter().zip(ids) {
            let one = staff.iter().find(|one| (&one.department, one.id) == (department, *id)).unwrap();
            assert_eq!(&**found, one);
        }
        for (key, (department, id)) in list.keys().zip(ids) {
            assert!(key == Employee::key(&**department, *id));
        }
    }
    if Executor::of_test() == Executor::Lmdb {
        let report = table.check().unwrap();
        assert!(report.is_sound(), "{report}: {:?}", report.problems);
        assert_eq!(report.lists, wanted.len() as u64);
    }
}
