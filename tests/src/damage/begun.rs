//! What is on its way in the store that is damaged: an index that is being filled and one that is being swept, with the
//! cursors of their jobs, copies in another table and partition, and queues with messages that wait, are due later, are held
//! and were set aside. What else is on its way has a module of its own each: blobs, long lists, copies that are to
//! follow, those that others hold, periods and their floor, what follows from other entities.

use std::time::Duration;

use table_core::queue::Queue;
use table_core::store::QueueStats;
use table_core::{Copied, ErrorKind, Key, Result, Store, Stored};

use self::after::Sailor;
use super::people::{all, compare, one};
use super::{Findings, blobs, fleet, held, letters, rolls, tides};

/// The crew as it was first declared, with copies in another table.
pub(crate) mod before {
    use table_core::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Crew", kind = "sailor")]
    #[key(partition = "{ship}", row = "sailor_{id:04}")]
    #[index(by_age, row = "age_{age:03}_{id:04}", copy = keys)]
    #[index(by_port, table = "Ports", partition = "{port}", row = "{ship}_{id:04}", copy(mail), atomic)]
    pub(crate) struct Sailor {
        pub(crate) ship: String,
        pub(crate) id: u32,
        pub(crate) age: u8,
        pub(crate) port: String,
        pub(crate) mail: String,
    }
}

/// The crew with two indexes more, neither of which is ready.
pub(crate) mod after {
    use table_core::Entity;

    #[expect(clippy::duplicated_attributes, reason = "each index says for itself when its copies come")]
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Crew", kind = "sailor")]
    #[key(partition = "{ship}", row = "sailor_{id:04}")]
    #[index(by_age, row = "age_{age:03}_{id:04}", copy = keys)]
    #[index(by_port, table = "Ports", partition = "{port}", row = "{ship}_{id:04}", copy(mail), atomic)]
    #[index(by_mail, partition = "mails", row = "mail_{mail}", atomic, unique)]
    #[index(by_rank, row = "rank_{id:04}_{age}")]
    pub(crate) struct Sailor {
        pub(crate) ship: String,
        pub(crate) id: u32,
        pub(crate) age: u8,
        pub(crate) port: String,
        pub(crate) mail: String,
    }
}

/// The tables of the crew.
const TABLES: [&str; 2] = ["Crew", "Ports"];
const SHIPS: [&str; 2] = ["Argo", "Beagle"];
const PORTS: [&str; 3] = ["Bergen", "Cadiz", "Lima"];
const SAILORS: u32 = 60;
/// For so long nothing shows of what is to show later, nor of what a receiver holds.
const LONG: Duration = Duration::from_secs(6 * 24 * 3_600);

fn pick<'n>(names: &[&'n str], id: u32) -> &'n str {
    names[usize::try_from(id).unwrap_or_default() % names.len()]
}

impl Sailor {
    pub(crate) fn new(id: u32) -> Self {
        Self {
            ship: pick(&SHIPS, id).into(),
            id,
            age: 20 + u8::try_from(id % 7).unwrap_or_default(),
            port: pick(&PORTS, id).into(),
            mail: format!("{id}@sea.org"),
        }
    }
}

impl From<Sailor> for before::Sailor {
    fn from(sailor: Sailor) -> Self {
        let Sailor { ship, id, age, port, mail } = sailor;
        Self { ship, id, age, port, mail }
    }
}

/// Whether the rows of a table are entities of these kinds, and their copies.
pub(super) fn is_declared(table: &str) -> bool {
    let known = || {
        TABLES
            .iter()
            .chain(&letters::TABLES)
            .chain(&fleet::TABLES)
            .chain(&blobs::TABLES)
            .chain(&rolls::TABLES)
            .chain(&held::TABLES)
    };
    is_of_period(table) || known().any(|known| *known == table)
}

/// Whether it is the table of a period.
pub(super) fn is_of_period(table: &str) -> bool {
    table.starts_with(tides::TABLES)
}

fn queue(store: &Store) -> Result<Queue<String>> {
    Ok(store.queue("orders")?.max_dequeues(1))
}

pub(super) fn build(store: &Store) -> Result<()> {
    let crew = store.table::<before::Sailor>()?;
    crew.bulk_insert((0..SAILORS).map(|id| before::Sailor::from(Sailor::new(id))))?.into_result()?;
    let crew = store.table::<Sailor>()?;
    let mut job = crew.rebuild()?.gentle();
    // The first index is half filled.
    while store.jobs()?.iter().all(|job| job.changed < 20) {
        assert!(job.step()?, "it is not to be through");
    }

    let orders = queue(store)?;
    for number in 0..3 {
        orders.send(&format!("held {number}"))?;
    }
    assert_eq!(orders.receive_many(3, LONG)?.len(), 3);
    orders.send(&"given up".to_owned())?;
    let failed = orders.receive(LONG)?.expect("it was sent");
    failed.fail("the sea is rough", Duration::ZERO)?;
    orders.send(&"done".to_owned())?;
    let done = orders.receive(LONG)?.expect("it was sent");
    done.delete()?;
    for number in 0..5 {
        orders.send(&format!("waits {number}"))?;
        orders.send_after(&format!("later {number}"), LONG)?;
        orders.send_unique(&format!("key {number}"), &format!("unique {number}"))?;
    }
    blobs::build(store)?;
    rolls::build(store)?;
    tides::build(store)?;
    letters::build(store)?;
    held::build(store)?;
    letters::change(store)?;
    fleet::build(store)
}

/// What is there.
#[derive(Debug)]
pub(crate) struct Begun {
    sailors: Vec<Sailor>,
    /// The job's name, and how far each is.
    jobs: Vec<(String, u64, u64)>,
    queues: Vec<(String, QueueStats)>,
    /// The messages that wait, in their order.
    waits: Vec<String>,
}

fn jobs(store: &Store) -> Result<Vec<(String, u64, u64)>> {
    Ok(store.jobs()?.into_iter().map(|job| (job.name, job.done, job.changed)).collect())
}

fn waits(store: &Store) -> Result<Vec<String>> {
    Ok(queue(store)?.peek(100)?.into_iter().map(|message| message.into_inner()).collect())
}

impl Begun {
    /// Makes sure that a sound store has it.
    pub(super) fn read(store: &Store) -> Result<Self> {
        let mut sailors: Vec<_> = (0..SAILORS).map(Sailor::new).collect();
        sailors.sort_by(|one, other| (&one.ship, one.id).cmp(&(&other.ship, other.id)));
        let queues = store.queues()?;
        let stats = |name: String| Ok((name.clone(), store.queue::<String>(&name)?.stats()?));
        let queues = queues.into_iter().map(stats).collect::<Result<Vec<_>>>()?;
        let begun = Self { sailors, jobs: jobs(store)?, queues, waits: waits(store)? };
        assert_eq!(begun.jobs.len(), 2);
        let orders = begun.queues.iter().find(|(name, _)| name == "orders").map(|(_, stats)| stats);
        let orders = orders.expect("the queue is there");
        assert_eq!((begun.queues.len(), orders.hidden, orders.unique, orders.completed), (2, 8, 5, 1));
        assert_eq!(begun.waits.len(), 10);
        let mut findings = Findings::default();
        begun.compare(store, &mut findings);
        assert_eq!((findings.errors, findings.wrong, &findings.notes), (0, 0, &Vec::new()));
        Ok(begun)
    }

    /// Reads it in every way. That an index is being made is right, and no error.
    pub(super) fn compare(&self, store: &Store, findings: &mut Findings) {
        match jobs(store) {
            Ok(jobs) if jobs == self.jobs => {}
            Ok(jobs) => findings.wrong(|| format!("the jobs are {jobs:?}")),
            Err(error) => findings.error(&error),
        }
        self.compare_crew(store, findings);
        self.compare_queues(store, findings);
        blobs::compare(store, findings);
        rolls::compare(store, findings);
        tides::compare(store, findings);
        letters::compare(store, findings);
        held::compare(store, findings);
        fleet::compare(store, findings);
        match store.pending_propagation() {
            Ok(found)
                if found.entities == letters::pending_propagation() + held::UNSETTLED
                    && found.failing.len() == held::FAILING => {}
            Ok(found) => findings.missed(|| format!("to follow is {found}")),
            Err(error) => findings.error(&error),
        }
    }

    fn compare_crew(&self, store: &Store, findings: &mut Findings) {
        let (old, crew) = match (store.table::<before::Sailor>(), store.table::<Sailor>()) {
            (Ok(old), Ok(crew)) => (old, crew),
            (Err(error), _) | (_, Err(error)) => return findings.error(&error),
        };
        for sailor in &self.sailors {
            let Sailor { ship, id, port, mail, .. } = sailor;
            one(findings, crew.get(Key::of(sailor)).map(|found| found.map(Stored::into_inner)), sailor);
            let by_port = crew.get(Sailor::by_port(port, ship, *id));
            one(findings, by_port.map(|found| found.map(|found| found.mail.clone())), mail);
            let unread = crew.get(Sailor::by_mail(mail.as_str())).map(|found| found.map(Copied::into_inner));
            building(findings, unread);
        }
        building(findings, crew.by_rank().across_partitions().count());
        for port in PORTS {
            let expected: Vec<_> = self.sailors.iter().filter(|sailor| sailor.port == port).collect();
            all(findings, crew.by_port().port(port).entities(), &expected);
            let old = old.by_port().port(port).entities().into_iter();
            compare(findings, old.map(|row| row.map(|row| row.id)), expected.iter().map(|sailor| &sailor.id));
        }
        all(findings, crew.rows().across_partitions(), &self.sailors.iter().collect::<Vec<_>>());
    }

    fn compare_queues(&self, store: &Store, findings: &mut Findings) {
        match store.queues() {
            Ok(names) if names.iter().eq(self.queues.iter().map(|(name, _)| name)) => {}
            Ok(names) => findings.missed(|| format!("the queues are {names:?}")),
            Err(error) => findings.error(&error),
        }
        for (name, stats) in &self.queues {
            match store.queue::<String>(name).and_then(|queue| queue.stats()) {
                Ok(found) if found == *stats => {}
                Ok(found) => findings.wrong(|| format!("{found:?} in place of {stats:?}")),
                Err(error) => findings.error(&error),
            }
        }
        match waits(store) {
            Ok(waits) if waits == self.waits => {}
            Ok(waits) => findings.missed(|| format!("what waits is {waits:?}")),
            Err(error) => findings.error(&error),
        }
    }

    /// Goes on with what has begun: what comes of it is right, or an error.
    pub(super) fn go_on(&self, store: &Store, findings: &mut Findings) {
        self.go_on_with_crew(store, findings);
        if let Err(error) = self.go_on_with_queue(store, findings) {
            findings.error(&error);
        }
        blobs::go_on(store, findings);
        rolls::go_on(store, findings);
        tides::go_on(store, findings);
        // All that is to follow is propagated at once.
        if let Err(error) = held::open(store) {
            findings.error(&error);
        }
        letters::go_on(store, findings);
        held::go_on(store, findings);
        fleet::go_on(store, findings);
    }

    fn go_on_with_crew(&self, store: &Store, findings: &mut Findings) {
        let (old, crew) = match (store.table::<before::Sailor>(), store.table::<Sailor>()) {
            (Ok(old), Ok(crew)) => (old, crew),
            (Err(error), _) | (_, Err(error)) => return findings.error(&error),
        };
        let [first, .., last] = &self.sailors[..] else { return };
        // A program that does not know the index would leave a copy out.
        match old.update(Key::of(&before::Sailor::from(first.clone())), |sailor| sailor.age += 1) {
            Ok(_) => findings.wrong(|| "a program wrote that can't keep an index".to_owned()),
            Err(error) if error.kind() == ErrorKind::LayoutChanged => {}
            Err(error) => findings.error(&error),
        }
        let twin = Sailor { mail: first.mail.clone(), ..Sailor::new(1_000) };
        match crew.insert(&twin) {
            Ok(_) => findings.wrong(|| format!("another's mail: {twin:?}")),
            Err(error) if error.kind() == ErrorKind::UniqueConflict => {}
            Err(error) => findings.error(&error),
        }
        if let Err(error) = crew.update(Key::of(last), |sailor| sailor.mail = "new@sea.org".into()) {
            findings.error(&error);
        }
        let made = crew.rebuild().and_then(|job| job.run());
        if let Err(error) = made {
            return findings.error(&error);
        }
        match crew.check() {
            Ok(report) if report.is_sound() => {}
            Ok(report) => findings.wrong(|| format!("after the job: {report}: {:?}", report.problems)),
            Err(error) => findings.error(&error),
        }
        for sailor in self.sailors.iter().filter(|sailor| *sailor != last) {
            let found = crew.get(Sailor::by_mail(sailor.mail.as_str()));
            one(findings, found.map(|found| found.map(Copied::into_inner)), sailor);
        }
        match store.jobs() {
            Ok(jobs) if jobs.is_empty() => {}
            Ok(jobs) => findings.wrong(|| format!("jobs that have ended: {jobs:?}")),
            Err(error) => findings.error(&error),
        }
    }

    fn go_on_with_queue(&self, store: &Store, findings: &mut Findings) -> Result<()> {
        let orders = queue(store)?;
        if orders.send_unique("key 3", &"a second".to_owned())? {
            findings.wrong(|| "a second message of one key".to_owned());
        }
        let received = orders.receive_many(100, LONG)?;
        let bodies: Vec<String> = received.iter().map(|message| (**message).clone()).collect();
        if bodies != self.waits {
            findings.missed(|| format!("received {bodies:?}"));
        }
        for message in &received {
            message.delete()?;
        }
        let left = orders.stats()?;
        if (left.ready, left.hidden) != (0, 8) {
            findings.wrong(|| format!("{left:?} after all was received"));
        }
        let poison = store.queue::<String>("orders-poison")?.receive(LONG)?;
        if poison.as_deref().map(String::as_str) != Some("given up") {
            findings.missed(|| format!("set aside is {poison:?}"));
        }
        Ok(())
    }
}

/// What must say that the index is not ready.
fn building<T: std::fmt::Debug>(findings: &mut Findings, found: Result<T>) {
    match found {
        Ok(found) => findings.wrong(|| format!("{found:?} by an index that is not ready")),
        Err(error) if error.kind() == ErrorKind::IndexBuilding => {}
        Err(error) => findings.error(&error),
    }
}
