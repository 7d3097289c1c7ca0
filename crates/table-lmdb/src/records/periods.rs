//! The templates of tables for periods, and how far their tables have been dropped.
//!
//! A template's record lies in the catalog, behind the tables whose names begin as it says: the set digest that proves a table
//! absent proves it too.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::fields::Fields;
use table_engine::model::Ticks;
use table_engine::schema::{Period, PeriodTables};

use super::catalog::{self, AllRecords, Entry};
use super::features::Feature;
use super::meta::{self, Meta};
use crate::lmdb::{self, Databases, WriteTxn};

/// A template whose tables the store has, or has had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeriodsEntry {
    /// The start of its tables' names, as it was first declared.
    pub(crate) stem: Box<str>,
    pub(crate) period: Period,
    /// The time before which no period has a table, or gets one again.
    pub(crate) floor: Ticks,
}

/// The byte that follows the stem in the record's key: no table's name holds it.
const MARK: u8 = b'{';

/// Returns whether a record of the catalog is one of a template.
pub(crate) fn is_one(key: &[u8]) -> bool {
    key.last() == Some(&MARK)
}

/// Returns the key of a template's record.
pub(crate) fn key(stem: &str) -> Vec<u8> {
    let mut key = stem.to_ascii_lowercase().into_bytes();
    key.push(MARK);
    key
}

impl PeriodsEntry {
    pub(crate) fn decode(key: &[u8], record: &[u8]) -> Result<Self> {
        Self::read(key, record).ok_or_else(|| {
            let because = format!("the record of the periods under `{}` is damaged", key.escape_ascii());
            Error::new(ErrorKind::Corrupt).because(because)
        })
    }

    fn read(key: &[u8], record: &[u8]) -> Option<Self> {
        let mut body = Fields(meta::opened(key, record)?);
        let floor = Ticks::new(body.u64()?)?;
        let [of] = body.take()?;
        let period = Period::ALL.into_iter().find(|period| period.number() == of)?;
        let stem = std::str::from_utf8(body.0).ok()?;
        (self::key(stem) == key).then(|| Self { stem: stem.into(), period, floor })
    }

    pub(crate) fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut body = Vec::with_capacity(9 + self.stem.len() + meta::CHECKSUM);
        body.extend_from_slice(&self.floor.get().to_le_bytes());
        body.push(self.period.number());
        body.extend_from_slice(self.stem.as_bytes());
        meta::sealed(key, body)
    }

    /// Returns when the period of the table of this name begins, if it is one of the template's.
    fn start_of(&self, name: &str) -> Option<Ticks> {
        self.period.start_of(&self.stem, name)
    }

    /// Returns the template as it was declared, but for the field.
    fn shown(&self) -> String {
        format!("{}{{{}}}", self.stem, self.period.pattern())
    }

    /// Refuses a period that was dropped.
    pub(crate) fn check(&self, start: Ticks, name: &str) -> Result<()> {
        if start >= self.floor {
            return Ok(());
        }
        let because = format!(
            "the periods before {} were dropped, and no entity of that time is taken any more",
            self.floor
        );
        Err(Error::new(ErrorKind::PeriodDropped).because(because).table(name))
    }
}

/// The tables of a store, and the record of one template.
pub(crate) struct Noted {
    pub(crate) entries: Vec<Entry>,
    /// `None` if the template has no tables and never had any.
    pub(crate) template: Option<PeriodsEntry>,
}

/// Finds the record of a template in the catalog. A store that has the stem with another period is refused, as long as there
/// are tables of that.
pub(crate) fn noted(catalog: AllRecords, tables: &PeriodTables) -> Result<Noted> {
    let AllRecords { entries, templates } = catalog;
    let noted = templates.into_iter().find(|noted| noted.stem.eq_ignore_ascii_case(tables.stem));
    if let Some(noted) = &noted
        && noted.period != tables.period
        && let Some(there) = entries.iter().find(|entry| noted.start_of(&entry.name).is_some())
    {
        let because = format!(
            "the store has tables of the template `{}`, `{}` among them, and the struct says `{}`: drop those tables, or \
             declare the former template",
            noted.shown(),
            there.name,
            tables.source
        );
        return Err(Error::new(ErrorKind::LayoutChanged).because(because).table(tables.source));
    }
    Ok(Noted { entries, template: noted })
}

/// Notes a template, or how far its tables are dropped now.
pub(crate) fn put(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    former: Option<&PeriodsEntry>,
    now: &PeriodsEntry,
) -> Result<()> {
    let key = key(&now.stem);
    if let Some(former) = former {
        meta.catalog.subtract(&former.encode(&key));
    }
    let record = now.encode(&key);
    meta.catalog.add(&record);
    meta.features.set(Feature::Periods);
    meta.generation += 1;
    dbs.catalog.put(txn, &key, &record).map_err(lmdb::error)
}

/// Notes a template whose first table is about to be made. No other table may have a name that fits it.
pub(crate) fn begin(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    noted: &Noted,
    tables: &PeriodTables,
) -> Result<PeriodsEntry> {
    let former = noted.template.as_ref();
    if let Some(known) = former.filter(|former| former.period == tables.period) {
        return Ok(known.clone());
    }
    if let Some(other) = noted.entries.iter().find(|entry| tables.start_of(&entry.name).is_some()) {
        let because = format!(
            "the table `{}` has a name that fits `{}`, and is none of its periods: give it another name by \
             `Store::rename_table`",
            other.name, tables.source
        );
        return Err(Error::new(ErrorKind::TableAlreadyExists).because(because).table(&other.name));
    }
    let floor = former.map_or(Ticks::MIN, |former| former.floor);
    let stem = former.map_or(tables.stem, |former| &former.stem).into();
    let now = PeriodsEntry { stem, period: tables.period, floor };
    put(dbs, txn, meta, former, &now)?;
    Ok(now)
}

/// Refuses a name for a table by itself that fits a template.
pub(crate) fn check_plain(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta, name: &str) -> Result<()> {
    if !meta.features.has(Feature::Periods) {
        return Ok(());
    }
    let AllRecords { templates, .. } = catalog::all(dbs, txn, meta)?;
    let Some(noted) = templates.iter().find(|noted| noted.start_of(name).is_some()) else { return Ok(()) };
    let because = format!(
        "the name is that of a period of `{}`, whose tables are made by `Store::periods`",
        noted.shown()
    );
    Err(Error::new(ErrorKind::InvalidTableName).because(because).table(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_and_every_flipped_bit_of_it_and_of_its_key_is_seen() {
        for period in Period::ALL {
            let floor = "2014-07-31".parse().unwrap();
            let entry = PeriodsEntry { stem: "Logins".into(), period, floor };
            let key = key(&entry.stem);
            assert!(is_one(&key) && key == b"logins{");
            let record = entry.encode(&key);
            assert_eq!(PeriodsEntry::decode(&key, &record).unwrap(), entry);
            for bit in 0..record.len() * 8 {
                let mut flipped = record.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(
                    PeriodsEntry::decode(&key, &flipped).unwrap_err().kind(),
                    ErrorKind::Corrupt,
                    "{bit}"
                );
            }
            for bit in 0..key.len() * 8 {
                let mut flipped = key.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let error = if is_one(&flipped) {
                    PeriodsEntry::decode(&flipped, &record).unwrap_err()
                } else {
                    catalog::decode(&flipped, &record).unwrap_err()
                };
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{bit}");
            }
        }
    }
}
