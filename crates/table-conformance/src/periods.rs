//! Tables for each period, which a backend may make and drop.

use std::sync::Arc;

use table_derive::Entity;
use table_engine::__executor::Backend;
use table_engine::typed::Periods;
use table_engine::{ErrorKind, Ticks};

use super::{check_lacks, snapshot, tables};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
#[key(partition = "{user}", row = "{at:ticks}")]
struct Login {
    user: String,
    at: Ticks,
}

fn at(text: &str) -> Ticks {
    text.parse().unwrap()
}

fn login(time: &str) -> Login {
    Login { user: "ann".into(), at: at(time) }
}

/// Returns the tables of the periods. A backend that makes none says so, and makes none.
fn logins(backend: &Arc<dyn Backend>) -> Option<Periods<Login>> {
    match tables(backend).periods::<Login>() {
        Ok(logins) => Some(logins),
        Err(error) => {
            check_lacks(&error, "period");
            assert_eq!(tables(backend).tables().unwrap(), Vec::<String>::new());
            None
        }
    }
}

pub(crate) fn each_period_has_a_table(backend: &Arc<dyn Backend>) {
    let Some(logins) = logins(backend) else { return };
    let times = ["2014-07-31T18:00", "2014-07-29T09:00", "2014-07-31T08:00", "2014-07-30T09:00"];
    for time in times {
        logins.insert(&login(time)).unwrap();
    }
    let names = ["Logins20140729", "Logins20140730", "Logins20140731"];
    assert_eq!(tables(backend).tables().unwrap(), names);
    assert!(logins.get(Login::key("ann", at(times[0]))).unwrap().is_some());
    assert!(logins.get(Login::key("ann", at("2014-08-01T00:00"))).unwrap().is_none());
    assert_eq!(tables(backend).tables().unwrap(), names, "a read has made a table");
    let found = |from: &str, to: &str| -> Vec<Ticks> {
        let span = logins.during(at(from)..at(to)).unwrap();
        span.rows().user("ann").into_iter().map(|login| login.unwrap().at).collect()
    };
    assert_eq!(found("2014-07-29", "2014-08-01"), [times[1], times[3], times[2], times[0]].map(at));
    assert_eq!(found("2014-07-30", "2014-07-31T12:00"), [times[3], times[2]].map(at));
}

/// A period that was dropped stays dropped; a snapshot from before has it still.
pub(crate) fn a_period_goes_with_its_table(backend: &Arc<dyn Backend>) {
    let Some(logins) = logins(backend) else { return };
    for time in ["2014-07-29T09:00", "2014-07-30T09:00", "2014-07-31T08:00"] {
        logins.insert(&login(time)).unwrap();
    }
    let before = snapshot(backend);
    logins.drop_before(at("2014-07-31")).unwrap();
    assert_eq!(tables(backend).tables().unwrap(), ["Logins20140731"]);
    assert_eq!(logins.floor().unwrap(), at("2014-07-31"));
    let late = logins.insert(&login("2014-07-30T10:00")).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::PeriodDropped, "{late}");
    assert_eq!(tables(backend).tables().unwrap(), ["Logins20140731"]);
    assert_eq!(logins.all_periods().rows().user("ann").count().unwrap(), 1);
    if let Some(before) = before {
        assert_eq!(logins.at(&before).all_periods().rows().user("ann").count().unwrap(), 3);
    }
}
