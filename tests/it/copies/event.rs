//! Events: a field that stands in the primary key twice, once in part; times as ticks, inverted and by the day; enums, newtypes, UUIDs and truth values in keys; text inside a key.

use integration_tests::random::Random;
use table_core::{Entity, ErrorKind, Key, KeyPart, Partition, Patch, Table, Ticks, Uuid};

use super::shape::{Row, Shape};

#[derive(KeyPart, Clone, Copy, Debug, PartialEq, Eq)]
#[key_part(rename_all = "lowercase")]
enum Level {
    Info,
    Warning,
    Error,
}

#[derive(KeyPart, Clone, Copy, Debug, PartialEq, Eq)]
struct Customer(u32);

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Events", kind = "event")]
#[key(partition = "{source}!{zone:offset}", row = "ev_{at:%Y%m%d}_{id}_{at:ticks}")]
#[index(by_time, row = "time_{at:inverted}_{id}", copy(level))]
#[index(by_level, row = "lv_{level}!{customer}_{at:ticks}_{id}")]
#[index(by_text, row = "text_{text:lower}!{at:ticks}_{id}", copy = keys)]
#[index(by_alarm, row = "alarm_{alarm}_{level}!{ticket}", unique, when = Event::is_alarm, copy = all)]
pub(super) struct Event {
    source: String,
    zone: i8,
    at: Ticks,
    id: Uuid,
    level: Level,
    customer: Customer,
    text: String,
    alarm: bool,
    ticket: Option<u16>,
}

impl Event {
    fn is_alarm(&self) -> bool {
        self.alarm || self.level == Level::Error
    }

    fn name(&self) -> &'static str {
        match self.level {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }

    fn id(&self) -> String {
        self.id.as_simple().to_string()
    }
}

/// The 29th of February 2024 and its ends.
const DAY: u64 = 638_447_616_000_000_000;
const NEXT: u64 = DAY + 864_000_000_000;
const TIMES: [(u64, &str); 4] =
    [(DAY - 1, "20240228"), (DAY, "20240229"), (NEXT - 1, "20240229"), (NEXT, "20240301")];
const TEXTS: [(&str, &str); 5] = [("", ""), ("A", "a"), ("a", "a"), ("É_", "é_"), ("Σς", "σσ")];

impl Shape for Event {
    fn random(random: &mut Random) -> Self {
        let text = match random.below(20) {
            0 => "a!",
            1 => "a#",
            _ => TEXTS[random.below(5) as usize].0,
        };
        Self {
            source: ["", "\u{e000}"][random.below(2) as usize].to_owned(),
            zone: [-1, 1][random.below(2) as usize],
            at: Ticks::new(TIMES[random.below(4) as usize].0).unwrap(),
            id: Uuid::from_u128(u128::from(random.below(3))),
            level: [Level::Info, Level::Warning, Level::Error][random.below(3) as usize],
            customer: Customer([0, u32::MAX][random.below(2) as usize]),
            text: text.to_owned(),
            alarm: random.below(2) == 0,
            ticket: (random.below(3) > 0).then(|| random.below(3) as u16),
        }
    }

    fn partition_key(&self) -> String {
        format!("{}!{:03}", self.source, i32::from(self.zone) + 128)
    }

    fn row_key(&self) -> String {
        let day = TIMES.iter().find(|(time, _)| *time == self.at.get()).unwrap().1;
        format!("ev_{day}_{}_{:019}", self.id(), self.at.get())
    }

    fn rows(&self) -> Result<Vec<Row>, ErrorKind> {
        let (at, id, level) = (self.at.get(), self.id(), self.name());
        let customer = i64::from(self.customer.0);
        let mut rows = vec![
            Row::new("event", self.row_key())
                .with("Level", level)
                .with("Customer", customer)
                .with("Text", self.text.as_str())
                .with("Alarm", self.alarm)
                .maybe("Ticket", self.ticket.map(i32::from)),
            Row::new("event.by_time", format!("time_{:019}_{id}", 3_155_378_975_999_999_999 - at))
                .with("Level", level),
            Row::new("event.by_level", format!("lv_{level}!{:010}_{at:019}_{id}", self.customer.0))
                .with("Text", self.text.as_str())
                .with("Alarm", self.alarm)
                .maybe("Ticket", self.ticket.map(i32::from)),
        ];
        let folded = TEXTS.iter().find(|(text, _)| *text == self.text).ok_or(ErrorKind::InvalidKey)?.1;
        rows.push(Row::new("event.by_text", format!("text_{folded}!{at:019}_{id}")));
        if let (true, Some(ticket)) = (self.is_alarm(), self.ticket) {
            let key = format!("alarm_{}_{level}!{ticket:05}", u8::from(self.alarm));
            rows.push(
                Row::unique("event.by_alarm", key)
                    .with("At", self.at)
                    .with("Id", self.id)
                    .with("Customer", customer)
                    .with("Text", self.text.as_str()),
            );
        }
        Ok(rows)
    }

    fn key(&self) -> Key<Self> {
        Self::key(self.source.as_str(), self.zone, self.at, self.id)
    }

    fn partition(&self) -> Partition<Self> {
        Self::partition(&self.source, self.zone)
    }

    fn set_partition(&mut self, other: &Self) {
        self.source.clone_from(&other.source);
        self.zone = other.zone;
    }

    fn set_row(&mut self, other: &Self) {
        self.at = other.at;
        self.id = other.id;
    }

    fn set_unique(&mut self, other: &Self) {
        self.alarm = other.alarm;
        self.level = other.level;
        self.ticket = other.ticket;
    }

    fn set(&mut self, other: &Self, mask: u64) {
        let Self { source: _, zone: _, at: _, id: _, level, customer, text, alarm, ticket } = self;
        for bit in (0..5).filter(|bit| mask >> bit & 1 == 1) {
            match bit {
                0 => *level = other.level,
                1 => *customer = other.customer,
                2 => text.clone_from(&other.text),
                3 => *alarm = other.alarm,
                _ => *ticket = other.ticket,
            }
        }
    }

    fn patch(other: &Self, mask: u64) -> Patch<Self> {
        (0..5).filter(|bit| mask >> bit & 1 == 1).fold(Self::patch(), |patch, bit| match bit {
            0 => patch.level(other.level),
            1 => patch.customer(other.customer),
            2 => patch.text(other.text.as_str()),
            3 => patch.alarm(other.alarm),
            _ => patch.ticket(other.ticket),
        })
    }

    fn find(table: &Table<Self>, entities: &[&Self], random: &mut Random) {
        let probe = Self::random(random);
        let there =
            || entities.iter().copied().filter(|event| event.partition_key() == probe.partition_key());
        // The last instant of the day, and not the day.
        let found = table.rows().source(probe.source.as_str()).zone(probe.zone).at(probe.at);
        let found: Vec<_> = found.into_iter().map(|event| event.unwrap().id).collect();
        let mut expected: Vec<_> =
            there().filter(|event| event.at == probe.at).map(|event| event.id).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);

        let found = table.by_time().source(probe.source.as_str()).zone(probe.zone).at(probe.at..).count();
        assert_eq!(found.unwrap(), there().filter(|event| event.at >= probe.at).count() as u64);
        let found = table.by_level().source(probe.source.as_str()).zone(probe.zone).level(probe.level);
        let found: Vec<_> =
            found.customer(probe.customer).into_iter().map(|event| event.unwrap().id).collect();
        let same = |event: &&Self| event.level == probe.level && event.customer == probe.customer;
        assert_eq!(found.len(), there().filter(same).count());
    }
}
