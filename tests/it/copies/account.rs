//! Accounts: unique indexes of pointers, of what may be absent, of folded text and sparse; indexes whose presence
//! hangs on what they don't copy, and whose key can't always be written; numbers padded, offset and inverted; every
//! type of property; renamed properties.

use integration_tests::random::Random;
use table_core::{Entity, ErrorKind, Key, Partition, Patch, Table, Ticks, Uuid};

use super::shape::{Row, Shape, escaped};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Accounts", kind = "account", rename_all = "camelCase")]
#[key(partition = "t{tenant:02}", row = "acc_{number:03:inverted}")]
#[index(by_email, row = "email_{email:escaped}", unique, copy = keys)]
#[index(by_phone, row = "phone_{phone:lower}", unique, when = Account::is_active, copy(alias))]
#[index(by_rank, row = "rank_{rank:02}_{number:03}", when = Account::is_ranked, copy = keys)]
#[index(by_level, row = "level_{level:offset}!{seen:inverted}_{number:03}")]
pub(super) struct Account {
    tenant: u8,
    number: u16,
    email: Option<String>,
    phone: String,
    is_active: bool,
    rank: u32,
    level: i16,
    score: f64,
    seen: Ticks,
    #[property(rename = "Nick")]
    alias: String,
    token: Uuid,
    photo: Vec<u8>,
}

impl Account {
    fn is_active(&self) -> bool {
        self.is_active
    }

    fn is_ranked(&self) -> bool {
        self.score > 0.0
    }
}

/// As folded text, and so.
const PHONES: [(&str, &str); 6] =
    [("+1", "+1"), ("A", "a"), ("a", "a"), ("Ä_!", "ä_!"), ("", ""), ("\u{1f600}", "\u{1f600}")];

/// No key can hold it.
const NO_PHONE: &str = "+1/2";

const MAX_TICKS: u64 = 3_155_378_975_999_999_999;

impl Shape for Account {
    fn random(random: &mut Random) -> Self {
        let phone = match random.below(12) {
            0 => NO_PHONE,
            _ => PHONES[random.below(6) as usize].0,
        };
        Self {
            tenant: random.below(2) as u8 * 99,
            number: [0, 1, 2, 3, 4, 500, 998, 999][random.below(8) as usize],
            email: [None, Some(""), Some("a"), Some("a!"), Some("a/b"), Some("ab")][random.below(6) as usize]
                .map(str::to_owned),
            phone: phone.to_owned(),
            is_active: random.below(2) == 0,
            rank: [0, 7, 99, 100][random.below(4) as usize],
            level: [i16::MIN, -1, 0, i16::MAX][random.below(4) as usize],
            score: [-1.5, 0.0, -0.0, f64::INFINITY, 1.0][random.below(5) as usize],
            seen: Ticks::new(MAX_TICKS - random.below(3)).unwrap(),
            alias: ["", "x"][random.below(2) as usize].to_owned(),
            token: Uuid::from_u128(u128::from(random.below(2))),
            photo: vec![0; random.below(3) as usize],
        }
    }

    fn partition_key(&self) -> String {
        format!("t{:02}", self.tenant)
    }

    fn row_key(&self) -> String {
        format!("acc_{:03}", 999 - self.number)
    }

    fn rows(&self) -> Result<Vec<Row>, ErrorKind> {
        let number = self.number;
        let all = |row: Row, has_level: bool| {
            let row = row
                .maybe("email", self.email.as_deref())
                .with("phone", self.phone.as_str())
                .with("isActive", self.is_active)
                .with("rank", self.rank);
            let row = if has_level { row.with("level", i32::from(self.level)) } else { row };
            let row = row.with("score", self.score);
            let row = if has_level { row.with("seen", self.seen) } else { row };
            row.with("Nick", self.alias.as_str()).with("token", self.token).with("photo", self.photo.clone())
        };
        let mut rows = vec![all(Row::new("account", self.row_key()), true)];
        if let Some(email) = &self.email {
            let key = format!("email_{}", escaped(email));
            rows.push(Row::unique("account.by_email", key).with("number", i32::from(number)));
        }
        if self.is_active {
            let folded = PHONES.iter().find(|(phone, _)| *phone == self.phone);
            let (_, folded) = folded.ok_or(ErrorKind::InvalidKey)?;
            rows.push(
                Row::unique("account.by_phone", format!("phone_{folded}"))
                    .with("number", i32::from(number))
                    .with("Nick", self.alias.as_str()),
            );
        }
        if self.score > 0.0 {
            if self.rank > 99 {
                return Err(ErrorKind::ValueOutOfRange);
            }
            rows.push(Row::new("account.by_rank", format!("rank_{:02}_{number:03}", self.rank)));
        }
        let level = i32::from(self.level) + 32_768;
        let key = format!("level_{level:05}!{:019}_{number:03}", MAX_TICKS - self.seen.get());
        rows.push(all(Row::new("account.by_level", key), false));
        Ok(rows)
    }

    fn key(&self) -> Key<Self> {
        Self::key(self.tenant, self.number)
    }

    fn partition(&self) -> Partition<Self> {
        Self::partition(self.tenant)
    }

    fn set_partition(&mut self, other: &Self) {
        self.tenant = other.tenant;
    }

    fn set_row(&mut self, other: &Self) {
        self.number = other.number;
    }

    fn set_unique(&mut self, other: &Self) {
        self.email.clone_from(&other.email);
        self.phone.clone_from(&other.phone);
    }

    fn set(&mut self, other: &Self, mask: u64) {
        let Self {
            tenant: _,
            number: _,
            email,
            phone,
            is_active,
            rank,
            level,
            score,
            seen,
            alias,
            token,
            photo,
        } = self;
        for bit in (0..10).filter(|bit| mask >> bit & 1 == 1) {
            match bit {
                0 => email.clone_from(&other.email),
                1 => phone.clone_from(&other.phone),
                2 => *is_active = other.is_active,
                3 => *rank = other.rank,
                4 => *level = other.level,
                5 => *score = other.score,
                6 => *seen = other.seen,
                7 => alias.clone_from(&other.alias),
                8 => *token = other.token,
                _ => photo.clone_from(&other.photo),
            }
        }
    }

    fn patch(other: &Self, mask: u64) -> Patch<Self> {
        (0..10).filter(|bit| mask >> bit & 1 == 1).fold(Self::patch(), |patch, bit| match bit {
            0 => patch.email(other.email.clone()),
            1 => patch.phone(other.phone.as_str()),
            2 => patch.is_active(other.is_active),
            3 => patch.rank(other.rank),
            4 => patch.level(other.level),
            5 => patch.score(other.score),
            6 => patch.seen(other.seen),
            7 => patch.alias(other.alias.as_str()),
            8 => patch.token(other.token),
            _ => patch.photo(other.photo.clone()),
        })
    }

    fn find(table: &Table<Self>, entities: &[&Self], random: &mut Random) {
        let probe = Self::random(random);
        let mut of_tenant: Vec<_> =
            entities.iter().copied().filter(|account| account.tenant == probe.tenant).collect();
        if let Some(email) = &probe.email {
            let found = table.get(Self::by_email(probe.tenant, email)).unwrap();
            let expected = of_tenant.iter().find(|account| account.email.as_ref() == Some(email));
            let found = found.map(|found| found.number);
            assert_eq!(found, expected.map(|account| account.number));
        }
        // The largest number first.
        of_tenant.sort_by_key(|account| std::cmp::Reverse(account.number));
        let found = table.rows().tenant(probe.tenant).number(2..=998).into_iter();
        let found: Vec<_> = found.map(|account| account.unwrap().number).collect();
        let expected = of_tenant.iter().map(|account| account.number);
        assert_eq!(found, expected.filter(|number| (2..=998).contains(number)).collect::<Vec<_>>());
        let found = table.by_level().tenant(probe.tenant).level(..0).count().unwrap();
        assert_eq!(found, of_tenant.iter().filter(|account| account.level < 0).count() as u64);
    }
}
