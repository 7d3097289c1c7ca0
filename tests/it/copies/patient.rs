//! Patients: sealed fields of several types, some of them absent, in whole copies, in a copy of some fields and in one
//! of none; and an index whose presence hangs on what is sealed.

use integration_tests::random::Random;
use table_core::{Entity, ErrorKind, Key, Partition, Patch, Table};

use super::shape::{Row, Shape, escaped, json, text};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{ward}", row = "patient_{id:03}")]
#[index(by_code, row = "code_{code:escaped}", unique)]
#[index(by_age, row = "age_{age:03}_{id:03}", copy(diagnosis, name))]
#[index(by_room, row = "room_{room:02}_{id:03}", copy = keys)]
#[index(by_risk, row = "risk_{risk:03}_{id:03}", when = Patient::is_listed)]
pub(super) struct Patient {
    ward: String,
    id: u16,
    code: String,
    age: u8,
    room: Option<u16>,
    risk: u8,
    name: String,
    #[encrypt]
    diagnosis: String,
    #[encrypt]
    remark: Option<String>,
    #[encrypt]
    weight: f64,
    #[encrypt]
    #[property(json)]
    drugs: Vec<String>,
    #[encrypt]
    listed: bool,
}

impl Patient {
    fn is_listed(&self) -> bool {
        self.listed
    }
}

impl Shape for Patient {
    const SEALED: &'static [&'static str] = &["Diagnosis", "Remark", "Weight", "Drugs", "Listed"];

    fn random(random: &mut Random) -> Self {
        Self {
            ward: ["north", "south"][random.below(2) as usize].to_owned(),
            id: random.below(10) as u16,
            code: format!("{}{}", text(random), random.below(3)),
            age: 30 + random.below(3) as u8,
            room: (random.below(2) == 0).then(|| random.below(3) as u16),
            risk: random.below(3) as u8,
            name: text(random),
            diagnosis: text(random),
            remark: (random.below(2) == 0).then(|| text(random)),
            weight: [0.0, -0.0, 61.5, f64::INFINITY][random.below(4) as usize],
            drugs: (0..random.below(3)).map(|_| text(random)).collect(),
            listed: random.below(2) == 0,
        }
    }

    fn partition_key(&self) -> String {
        self.ward.clone()
    }

    fn row_key(&self) -> String {
        format!("patient_{:03}", self.id)
    }

    fn rows(&self) -> Result<Vec<Row>, ErrorKind> {
        let id = self.id;
        let sealed = |row: Row| {
            row.with("Diagnosis", self.diagnosis.as_str())
                .maybe("Remark", self.remark.as_deref())
                .with("Weight", self.weight)
                .with("Drugs", json(&self.drugs))
                .with("Listed", self.listed)
                .with("Name", self.name.as_str())
        };
        let (age, risk) = (i32::from(self.age), i32::from(self.risk));
        let with_code = |row: Row| row.with("Code", self.code.as_str());
        let with_room = |row: Row| row.maybe("Room", self.room.map(i32::from));
        let mut rows = vec![
            with_room(
                with_code(sealed(Row::new("patient", self.row_key()))).with("Age", age).with("Risk", risk),
            ),
            with_room(sealed(Row::unique("patient.by_code", format!("code_{}", escaped(&self.code)))))
                .with("Id", i32::from(id))
                .with("Age", age)
                .with("Risk", risk),
            Row::new("patient.by_age", format!("age_{:03}_{id:03}", self.age))
                .with("Diagnosis", self.diagnosis.as_str())
                .with("Name", self.name.as_str()),
        ];
        if let Some(room) = self.room {
            rows.push(Row::new("patient.by_room", format!("room_{room:02}_{id:03}")));
        }
        if self.listed {
            let row = Row::new("patient.by_risk", format!("risk_{:03}_{id:03}", self.risk));
            rows.push(with_room(with_code(sealed(row))).with("Age", age));
        }
        Ok(rows)
    }

    fn key(&self) -> Key<Self> {
        Self::key(self.ward.as_str(), self.id)
    }

    fn partition(&self) -> Partition<Self> {
        Self::partition(&self.ward)
    }

    fn set_partition(&mut self, other: &Self) {
        self.ward.clone_from(&other.ward);
    }

    fn set_row(&mut self, other: &Self) {
        self.id = other.id;
    }

    fn set_unique(&mut self, other: &Self) {
        self.code.clone_from(&other.code);
    }

    fn set(&mut self, other: &Self, mask: u64) {
        let other = other.clone();
        let Self { ward: _, id: _, code, age, room, risk, name, diagnosis, remark, weight, drugs, listed } =
            self;
        for bit in (0..10).filter(|bit| mask >> bit & 1 == 1) {
            match bit {
                0 => code.clone_from(&other.code),
                1 => *age = other.age,
                2 => *room = other.room,
                3 => *risk = other.risk,
                4 => name.clone_from(&other.name),
                5 => diagnosis.clone_from(&other.diagnosis),
                6 => remark.clone_from(&other.remark),
                7 => *weight = other.weight,
                8 => drugs.clone_from(&other.drugs),
                _ => *listed = other.listed,
            }
        }
    }

    fn patch(other: &Self, mask: u64) -> Patch<Self> {
        (0..10).filter(|bit| mask >> bit & 1 == 1).fold(Self::patch(), |patch, bit| match bit {
            0 => patch.code(other.code.as_str()),
            1 => patch.age(other.age),
            2 => patch.room(other.room),
            3 => patch.risk(other.risk),
            4 => patch.name(other.name.as_str()),
            5 => patch.diagnosis(other.diagnosis.as_str()),
            6 => patch.remark(other.remark.clone()),
            7 => patch.weight(other.weight),
            8 => patch.drugs(other.drugs.clone()),
            _ => patch.listed(other.listed),
        })
    }

    fn find(table: &Table<Self>, entities: &[&Self], random: &mut Random) {
        let probe = Self::random(random);
        let ward = probe.ward.as_str();
        let of_ward = || entities.iter().copied().filter(|patient| patient.ward == ward);
        let by_code = table.get(Self::by_code(ward, probe.code.as_str())).unwrap();
        assert_eq!(by_code.as_deref(), of_ward().find(|patient| patient.code == probe.code));

        let ages = table.by_age().ward(ward).age(31..).into_iter();
        let ages: Vec<_> = ages.map(|row| row.map(|row| (row.age, row.id, row.diagnosis)).unwrap()).collect();
        let mut expected: Vec<_> = of_ward()
            .filter(|patient| patient.age >= 31)
            .map(|patient| (patient.age, patient.id, patient.diagnosis.clone()))
            .collect();
        expected.sort_unstable();
        assert_eq!(ages, expected);

        let mut listed: Vec<_> = of_ward().filter(|patient| patient.listed).collect();
        listed.sort_by_key(|patient| (patient.risk, patient.id));
        let found: Vec<_> = table.by_risk().ward(ward).into_iter().map(Result::unwrap).collect();
        assert_eq!(found.iter().map(|copy| &**copy).collect::<Vec<_>>(), listed);
    }
}
