//! What no job can do on the service is refused by the name of the ability that it takes, and nothing is written.

use table_azure::AzureOptions;
use table_core::{Entity, ErrorKind, Result};

use super::releases::staff_of_second;
use super::{LEASE, Shared};

mod before {
    use table_core::Entity;

    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "Crew", kind = "sailor")]
    #[key(partition = "{ship}", row = "sailor_{id:06}")]
    pub(crate) struct Sailor {
        pub(crate) ship: String,
        pub(crate) id: u32,
        pub(crate) rank: u8,
    }
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Crew", kind = "sailor")]
#[key(partition = "{ship}", row = "sailor_{id:06}")]
#[index_list(by_rank, row = "rank_{rank}", of = id)]
struct Listed {
    ship: String,
    id: u32,
    rank: u8,
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Crew", kind = "sailor")]
#[key(partition = "{ship}", row = "sailor_{id:06}")]
#[index(by_rank, table = "Ranks", partition = "rank_{rank}", row = "{ship}_{id:06}", eventual)]
struct Elsewhere {
    ship: String,
    id: u32,
    rank: u8,
}

fn lacks(done: Result<()>, ability: &str) {
    let error = done.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains(ability), "{error}");
}

#[test]
fn an_index_whose_rows_are_no_copies_beside_their_entities_is_not_made_of_entities_that_are_there() {
    let shared = Shared::new();
    let tables = shared.connect();
    let crew = tables.table::<before::Sailor>().unwrap();
    let sailor = before::Sailor { ship: "Ship".into(), id: 1, rank: 3 };
    crew.insert(&sailor).unwrap();
    lacks(tables.table::<Listed>().unwrap().rebuild().map(drop), "`snapshot`");
    lacks(tables.table::<Elsewhere>().unwrap().rebuild().map(drop), "`groups`");
    assert!(tables.jobs().unwrap().is_empty());
    // Nothing was noted by which the first program could not write any more.
    crew.put(&before::Sailor { rank: 4, ..sailor }).unwrap();
}

#[test]
fn without_layouts_there_are_no_jobs() {
    let shared = Shared::new();
    let options = AzureOptions::new().prefix(&shared.prefix).lease(LEASE).assume_layouts();
    let tables = options.connect(&shared.connection).unwrap();
    let staff = staff_of_second(&tables);
    lacks(staff.rebuild().map(drop), "`AzureOptions::assume_layouts`");
    lacks(staff.drop_index("by_email").map(drop), "jobs");
}
