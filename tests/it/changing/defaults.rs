//! A field with a default is read of rows that lack it, and filters find what is read.

use integration_tests::Scratch;
use table_core::typed::Columns;
use table_core::{Entity, EntitySet, Filter, Projection, Properties, Store, Stored, Table, prop};

mod before {
    use super::*;

    #[derive(Entity, Clone)]
    #[entity(table = "Desk", kind = "ticket")]
    #[key(partition = "{customer}", row = "ticket_{number:06}")]
    #[index(by_title, row = "title_{title:lower}_{number:06}")]
    pub(super) struct Ticket {
        pub(super) customer: String,
        pub(super) number: u32,
        pub(super) title: String,
    }
}

#[derive(Properties, Clone, Debug, Default, PartialEq)]
struct Review {
    #[property(default)]
    stars: u8,
    #[property(default = true)]
    open: bool,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", kind = "ticket")]
#[key(partition = "{customer}", row = "ticket_{number:06}")]
#[index(by_title, row = "title_{title:lower}_{number:06}")]
struct Ticket {
    customer: String,
    number: u32,
    title: String,
    #[property(default)]
    level: i32,
    #[property(default = "open")]
    state: String,
    #[property(default = (1 << 40))]
    size: u64,
    #[property(default = true)]
    public: bool,
    #[property(default)]
    agent: Option<String>,
    #[flatten]
    review: Review,
    #[property(json, default = vec![1, 2])]
    history: Vec<u8>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", kind = "note")]
#[key(partition = "{customer}", row = "note_{number:06}")]
struct Note {
    customer: String,
    number: u32,
    level: Option<i32>,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Desk {
    Ticket(Ticket),
    Note(Note),
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Ticket)]
struct Brief {
    number: u32,
    #[property(default = 7)]
    level: i32,
}

fn ticket(number: u32, level: i32) -> Ticket {
    Ticket {
        customer: "acme".into(),
        number,
        title: format!("Broken {number}"),
        level,
        state: "closed".into(),
        size: 5,
        public: false,
        agent: Some("jun".into()),
        review: Review { stars: 4, open: false },
        history: vec![3],
    }
}

/// What is read of a row of the former struct.
fn read_of(number: u32) -> Ticket {
    Ticket {
        level: 0,
        state: "open".into(),
        size: 1 << 40,
        public: true,
        agent: None,
        review: Review { stars: 0, open: true },
        history: vec![1, 2],
        ..ticket(number, 0)
    }
}

/// Ten tickets of the former struct, and ten of the new one of the levels -2 to 7.
fn desk(scratch: &Scratch) -> Store {
    let store = scratch.store();
    let former = store.table::<before::Ticket>().unwrap();
    for number in 0..10 {
        let title = format!("Broken {number}");
        former.insert(&before::Ticket { customer: "acme".into(), number, title }).unwrap();
    }
    drop(former);
    let desk = store.table::<Ticket>().unwrap();
    for number in 10..20 {
        desk.insert(&ticket(number, i32::try_from(number).unwrap() - 12)).unwrap();
    }
    store
}

type Case = (fn(&Columns<Ticket>) -> Filter, fn(&Ticket) -> bool);

const CASES: [Case; 24] = [
    (|t| t.level.eq(0), |t| t.level == 0),
    (|t| t.level.ne(0), |t| t.level != 0),
    (|t| t.level.gt(-1), |t| t.level > -1),
    (|t| t.level.ge(1), |t| t.level >= 1),
    (|t| t.level.lt(1), |t| t.level < 1),
    (|t| t.level.le(-1), |t| t.level <= -1),
    (|t| !t.level.eq(0), |t| t.level != 0),
    (|t| !t.level.ne(0), |t| t.level == 0),
    (|t| t.level.between(-1..=3), |t| (-1..=3).contains(&t.level)),
    (|t| t.level.is_in([0, 5]), |t| [0, 5].contains(&t.level)),
    (|t| t.level.is_in([5]), |t| t.level == 5),
    (|t| t.level.is_some(), |_| true),
    (|t| t.level.is_none(), |_| false),
    (|t| t.level.eq(0) & t.state.eq("open"), |t| t.level == 0 && t.state == "open"),
    (|t| t.level.eq(0) | t.state.eq("closed"), |t| t.level == 0 || t.state == "closed"),
    (|t| t.state.starts_with("op"), |t| t.state.starts_with("op")),
    (|t| t.state.starts_with("x"), |t| t.state.starts_with('x')),
    (|t| t.size.gt(1_u64 << 39), |t| t.size > 1 << 39),
    (|t| t.public.is_true(), |t| t.public),
    (|t| !t.public.is_true(), |t| !t.public),
    (|t| t.agent.is_none(), |t| t.agent.is_none()),
    (|t| t.agent.eq("jun".to_owned()), |t| t.agent.as_deref() == Some("jun")),
    (|t| t.review.stars.lt(1), |t| t.review.stars < 1),
    (|t| t.review.open.eq(true) & t.number.lt(5_u32), |t| t.review.open && t.number < 5),
];

fn all(desk: &Table<Ticket>) -> Vec<Ticket> {
    desk.rows().customer("acme").into_iter().map(|t| Stored::into_inner(t.unwrap())).collect()
}

#[test]
fn a_filter_finds_what_is_read() {
    let scratch = Scratch::new();
    let store = desk(&scratch);
    let desk = store.table::<Ticket>().unwrap();
    let read = all(&desk);
    assert_eq!(read.len(), 20);
    assert_eq!(read[..10], (0..10).map(read_of).collect::<Vec<_>>());
    for (at, (filter, wanted)) in CASES.into_iter().enumerate() {
        let wanted: Vec<_> = read.iter().filter(|t| wanted(t)).map(|t| t.number).collect();
        let rows = || desk.rows().customer("acme").filter(filter);
        let found: Vec<_> = rows().into_iter().map(|t| t.unwrap().number).collect();
        assert_eq!(found, wanted, "case {at}: {:?}", rows().explain());
        assert_eq!(rows().count().unwrap(), u64::try_from(wanted.len()).unwrap(), "case {at}");
        let from_last: Vec<_> = rows().rev().into_iter().map(|t| t.unwrap().number).collect();
        assert_eq!(from_last, wanted.iter().rev().copied().collect::<Vec<_>>(), "case {at}");
        // Every partition, a page after another.
        let scan = || desk.rows().across_partitions().filter(filter);
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = scan().page(3, after.as_ref()).unwrap();
            paged.extend(page.entities.iter().map(|t| t.number));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(paged, wanted, "case {at}");
        let brief: Vec<_> = rows().select::<Brief>().into_iter().map(|t| t.unwrap().number).collect();
        assert_eq!(brief, wanted, "case {at}");
        // Copies lack what their entities do.
        let copied = desk.by_title().customer("acme").filter(filter);
        let mut copied: Vec<_> = copied.into_iter().map(|t| t.unwrap().number).collect();
        copied.sort_unstable();
        assert_eq!(copied, wanted, "case {at}");
        // In place.
        let snapshot = store.snapshot().unwrap();
        let at_moment = desk.at(&snapshot);
        let views = at_moment.rows().customer("acme").filter(filter).views();
        let seen: Vec<_> = views
            .map(|view| {
                let view = view.unwrap();
                let number = view.number().unwrap();
                let whole = read.iter().find(|t| t.number == number).unwrap();
                assert_eq!(view.level().unwrap(), whole.level);
                assert_eq!(view.state().unwrap(), whole.state);
                assert_eq!(view.size().unwrap(), whole.size);
                assert_eq!(view.public().unwrap(), whole.public);
                assert_eq!(view.review().unwrap(), whole.review);
                assert_eq!(view.history().unwrap(), whole.history);
                number
            })
            .collect();
        assert_eq!(seen, wanted, "case {at}");
    }
}

#[test]
fn a_continuation_is_of_the_default_too() {
    #[derive(Entity, Debug)]
    #[entity(table = "Desk", kind = "ticket")]
    #[key(partition = "{customer}", row = "ticket_{number:06}")]
    #[index(by_title, row = "title_{title:lower}_{number:06}")]
    struct Other {
        customer: String,
        number: u32,
        title: String,
        #[property(default = 9)]
        level: i32,
    }

    let scratch = Scratch::new();
    let store = desk(&scratch);
    let desk = store.table::<Ticket>().unwrap();
    let page = desk.rows().customer("acme").filter(|t| t.level.eq(0)).page(2, None).unwrap();
    let after = page.next.unwrap();
    drop(desk);
    drop(store);
    let store = scratch.store();
    // Its rows without a level are no answer to the query that the token goes on with.
    if let Ok(other) = store.table::<Other>() {
        let error =
            other.rows().customer("acme").filter(|t| t.level.eq(0)).page(2, Some(&after)).unwrap_err();
        assert_eq!(error.kind(), table_core::ErrorKind::InvalidContinuation);
    }
}

#[test]
fn a_projection_says_its_own_default() {
    let scratch = Scratch::new();
    let store = desk(&scratch);
    let desk = store.table::<Ticket>().unwrap();
    let brief: Vec<_> = desk.rows().customer("acme").top(1).select::<Brief>().into_iter().collect();
    assert_eq!(brief.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [Brief { number: 0, level: 7 }]);
}

#[test]
fn a_set_compares_the_default_of_each_kind() {
    let scratch = Scratch::new();
    let store = desk(&scratch);
    let notes = store.table::<Note>().unwrap();
    notes.insert(&Note { customer: "acme".into(), number: 1, level: None }).unwrap();
    notes.insert(&Note { customer: "acme".into(), number: 2, level: Some(0) }).unwrap();
    let all = store.set::<Desk>().unwrap();
    let level = |entity: &Desk| match entity {
        Desk::Ticket(ticket) => Some(ticket.level),
        Desk::Note(note) => note.level,
    };
    type SetCase = (fn() -> Filter, fn(Option<i32>) -> bool);
    let cases: [SetCase; 6] = [
        (|| prop("Level").eq(0), |level| level == Some(0)),
        (|| prop("Level").ne(0), |level| level.is_some_and(|level| level != 0)),
        (|| !prop("Level").eq(0), |level| level != Some(0)),
        (|| prop("Level").lt(1) & prop("Level").gt(-2), |level| level.is_some_and(|l| l < 1 && l > -2)),
        (|| prop("Level").ge(6) | !prop("Level").le(0), |level| level.is_none_or(|level| level > 0)),
        // The key says it, and no row has it.
        (|| prop("Number").eq(0), |_| false),
    ];
    let every: Vec<Desk> = all
        .partition(Ticket::partition("acme"))
        .into_iter()
        .map(|e| Stored::into_inner(e.unwrap()))
        .collect();
    assert_eq!(every.len(), 22);
    for (at, (filter, wanted)) in cases.into_iter().enumerate() {
        let wanted: Vec<_> = every.iter().filter(|e| wanted(level(e))).collect();
        let query = || all.partition(Ticket::partition("acme")).filter(filter());
        let found: Vec<Desk> = query().into_iter().map(|e| Stored::into_inner(e.unwrap())).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "case {at}: {:?}", query().explain());
        assert_eq!(query().count().unwrap(), u64::try_from(wanted.len()).unwrap());
    }
}

/// A time of which the key of an index keeps the year: the rest is asked of the row.
#[test]
fn the_rest_of_a_range_is_asked_of_the_default() {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    #[derive(Entity, Debug)]
    #[entity(table = "Logs", kind = "entry")]
    #[key(partition = "{host}", row = "entry_{number:06}")]
    #[index(by_year, row = "year_{at:%Y}_{number:06}", copy = keys)]
    struct Entry {
        host: String,
        number: u32,
        #[property(default = UNIX_EPOCH)]
        at: SystemTime,
    }

    let scratch = Scratch::new();
    let store = scratch.store();
    let entries = store.table::<Entry>().unwrap();
    let late = UNIX_EPOCH + Duration::from_secs(1_000);
    entries.insert(&Entry { host: "a".into(), number: 1, at: late }).unwrap();
    let dynamic = entries.dynamic().raw();
    // As a program would have left it that knew the index and not the time.
    for key in ["entry_000002", "year_1970_000002"] {
        let mut row = table_core::DynamicEntity::new("a", key);
        let kind = if key.starts_with("year") { "entry.by_year" } else { "entry" };
        row.set("EntityType", kind);
        dynamic.insert(&row).unwrap();
    }
    let within = |from: u64, to: u64| {
        let range = UNIX_EPOCH + Duration::from_secs(from)..UNIX_EPOCH + Duration::from_secs(to);
        let rows = entries.by_year().host("a").at(range);
        rows.into_iter().map(|row| row.unwrap().number).collect::<Vec<_>>()
    };
    assert_eq!(within(0, 10), [2]);
    assert_eq!(within(500, 2_000), [1]);
    assert_eq!(within(0, 2_000), [1, 2]);
    assert!(within(2_000, 3_000).is_empty());
}
