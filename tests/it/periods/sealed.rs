//! Entities of periods with sealed fields, and signed ones: each table vouches for itself.

use std::sync::Arc;

use table_core::crypt::MemoryKeys;
use table_core::{Entity, ErrorKind, Store, Ticks};

use super::at;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Visits{at:%Y%m}", kind = "visit", signed)]
#[key(partition = "{patient}", row = "at_{at:ticks}")]
#[index(by_room, row = "room_{room:04}_{at:ticks}")]
struct Visit {
    patient: String,
    at: Ticks,
    room: u16,
    #[encrypt]
    finding: String,
}

fn visit(patient: &str, time: &str) -> Visit {
    Visit { patient: patient.into(), at: at(time), room: 7, finding: format!("{patient}: well") }
}

#[test]
fn sealed_and_signed_entities_lie_in_their_periods() {
    let dir = tempfile::tempdir().unwrap();
    let (path, keys) = (dir.path().join("store"), Arc::new(MemoryKeys::new().unwrap()));
    let open = || Store::options().encryption(keys.clone()).open(&path).unwrap();
    let store = open();
    let visits = store.periods::<Visit>().unwrap();
    for month in 1..=6 {
        visits.insert(&visit("ann", &format!("2014-{month:02}-15"))).unwrap();
        visits.insert(&visit("bob", &format!("2014-{month:02}-15"))).unwrap();
    }
    let key = |month: u32| Visit::key("ann", at(&format!("2014-{month:02}-15")));
    assert_eq!(visits.get(key(3)).unwrap().unwrap().finding, "ann: well");
    assert_eq!(visits.update(key(3), |visit| visit.finding = "ill".into()).unwrap().finding, "ill");
    let during = visits.during(at("2014-02-01")..at("2014-04-20")).unwrap();
    let found =
        during.by_room().patient("ann").room(7).into_iter().map(|visit| visit.unwrap().finding.clone());
    assert_eq!(found.collect::<Vec<_>>(), ["ann: well", "ill", "ann: well"]);

    // Every table is vouched for, those that are left when others go as well.
    assert_eq!(visits.drop_before(at("2014-03-20")).unwrap().tables, 2);
    assert_eq!(visits.insert(&visit("cao", "2014-02-28")).unwrap_err().kind(), ErrorKind::PeriodDropped);
    let report = store.check().unwrap();
    assert!(report.problems.is_empty() && report.wrong_copies.is_empty(), "{report:?}");
    drop((during, visits, store));
    let store = open();
    let visits = store.periods::<Visit>().unwrap();
    visits.insert(&visit("cao", "2014-07-01")).unwrap();
    assert_eq!(visits.all_periods().all().count().unwrap(), 9);
    assert!(store.check().unwrap().problems.is_empty());

    // Without the keys nothing is made.
    drop((visits, store));
    // What frees the space of dropped tables holds the store until its step has ended.
    let store = (0..500).find_map(|_| {
        let opened = Store::open(&path);
        if opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::OptionsConflict) {
            std::thread::sleep(std::time::Duration::from_millis(10));
            return None;
        }
        Some(opened.unwrap())
    });
    let store = store.unwrap();
    let refused = store.periods::<Visit>().and_then(|visits| visits.insert(&visit("dan", "2014-12-01")));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::KeyUnavailable);
    assert_eq!(store.tables().unwrap().len(), 5);
}
