//! Access: a handle of a store that can do no more than it says, and tokens that say it.
//!
//! [`Tables::restricted`](crate::Tables::restricted) has the rules. With the feature `sas`, an access is what a shared
//! access signature says: `sas` makes and verifies those, as the service's own libraries make them.

mod range;
mod restricted;
#[cfg(feature = "sas")]
pub mod sas;

use std::fmt;

pub(crate) use self::range::{End, PairRange};
#[cfg(not(feature = "access-testing"))]
pub(crate) use self::restricted::checks;
#[cfg(feature = "access-testing")]
#[doc(hidden)]
pub use self::restricted::checks;
use crate::executor::Rights;
use crate::model::Ticks;

/// What a handle may do: in which tables, with which entities, what, and when.
///
/// It begins with nothing: each method adds a permission, or narrows what the permissions are for. Ranges are those of
/// the service's tokens: of pairs of partition key and row key, in the order of the keys, both ends included.
///
/// ```
/// use table_core::access::Access;
/// use table_core::{DynamicEntity, ErrorKind, Query, Store};
///
/// let store = Store::temporary()?;
/// let company = store.create_table("Company")?;
/// company.insert(&DynamicEntity::new("Sales", "1"))?;
/// company.insert(&DynamicEntity::new("Legal", "1"))?;
///
/// let access = Access::to_table("Company").read().add().partition("Sales");
/// assert_eq!(access.to_string(), "read, add in table `Company`, partition `Sales`");
///
/// let clerk = store.restricted(&access).dynamic_table("Company")?;
/// assert_eq!(clerk.query(&Query::new())?.count(), 1);
/// assert!(clerk.get("Legal", "1")?.is_none());
/// let error = clerk.insert(&DynamicEntity::new("Legal", "2")).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::OutsideRange);
/// let error = clerk.delete("Sales", "1").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotPermitted);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an access does nothing by itself: `Tables::restricted` takes it"]
pub struct Access {
    pub(crate) tables: Names,
    pub(crate) rights: Rights,
    pub(crate) range: PairRange,
    pub(crate) from: Option<Ticks>,
    pub(crate) until: Option<Ticks>,
    pub(crate) queues: Names,
    pub(crate) containers: Names,
}

/// Names of tables, queues or containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    These(Vec<Box<str>>),
    All,
}

impl Names {
    const NONE: Self = Self::These(Vec::new());

    fn of<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::These(names.into_iter().map(|name| name.as_ref().into()).collect())
    }

    /// Returns whether a name is among them. None differ by the case of letters alone.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::These(names) => names.iter().any(|known| known.eq_ignore_ascii_case(name)),
            Self::All => true,
        }
    }

    fn are_none(&self) -> bool {
        matches!(self, Self::These(names) if names.is_empty())
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, one: &str, many: &str) -> fmt::Result {
        match self {
            Self::All => write!(f, "all {many}"),
            Self::These(names) => {
                f.write_str(match names.len() {
                    0 => return write!(f, "no {many}"),
                    1 => one,
                    _ => many,
                })?;
                for (at, name) in names.iter().enumerate() {
                    write!(f, "{} `{}`", if at == 0 { "" } else { "," }, name.escape_debug())?;
                }
                Ok(())
            }
        }
    }
}

/// What it is to.
impl Access {
    /// Returns the access to one table, with no permission yet.
    pub fn to_table(name: impl AsRef<str>) -> Self {
        Self::to(Names::of([name]))
    }

    /// Returns the access to these tables, with no permission yet.
    pub fn to_tables<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::to(Names::of(names))
    }

    /// Returns the access to every table, with no permission yet.
    pub fn to_all_tables() -> Self {
        Self::to(Names::All)
    }

    fn to(tables: Names) -> Self {
        Self {
            tables,
            rights: Rights::NONE,
            range: PairRange::default(),
            from: None,
            until: None,
            queues: Names::NONE,
            containers: Names::NONE,
        }
    }

    /// Adds these queues, which are refused otherwise, and which must be there. To look at messages takes [`read`](Self::read), to send them
    /// [`add`](Self::add), and to receive and complete them `read` and [`delete`](Self::delete).
    pub fn queues<S: AsRef<str>>(self, names: impl IntoIterator<Item = S>) -> Self {
        Self { queues: Names::of(names), ..self }
    }

    /// Adds every queue.
    pub fn all_queues(self) -> Self {
        Self { queues: Names::All, ..self }
    }

    /// Adds these containers of blobs, which are refused otherwise, and which must be there.
    pub fn containers<S: AsRef<str>>(self, names: impl IntoIterator<Item = S>) -> Self {
        Self { containers: Names::of(names), ..self }
    }

    /// Adds every container, and the blobs in fields of entities, which are in none.
    pub fn all_containers(self) -> Self {
        Self { containers: Names::All, ..self }
    }
}

/// What it permits.
impl Access {
    /// Permits to read, one entity and many.
    pub fn read(self) -> Self {
        self.permitting(Rights::READ)
    }

    /// Permits to insert. What writes an entity whether or not there is one takes [`update`](Self::update) too.
    pub fn add(self) -> Self {
        self.permitting(Rights::ADD)
    }

    /// Permits to replace entities, and to change them. What shows the closure of a change what is stored takes
    /// [`read`](Self::read) too.
    pub fn update(self) -> Self {
        self.permitting(Rights::UPDATE)
    }

    /// Permits to delete.
    pub fn delete(self) -> Self {
        self.permitting(Rights::DELETE)
    }

    /// Permits to read, add, update and delete.
    pub fn everything(self) -> Self {
        self.permitting(Rights::ALL)
    }

    pub(crate) fn permitting(self, rights: Rights) -> Self {
        Self { rights: self.rights.and(rights), ..self }
    }
}

/// Where it ends.
impl Access {
    /// Narrows it to the entities of one partition.
    pub fn partition(self, partition: &str) -> Self {
        self.within(Some(End::new(partition, None)), Some(End::new(partition, None)))
    }

    /// Narrows it to the entities from the start of a partition on.
    pub fn from_partition(self, partition: &str) -> Self {
        self.within(Some(End::new(partition, None)), None)
    }

    /// Narrows it to the entities from one on, which it includes: those of the partitions behind it, too.
    pub fn from_row(self, partition: &str, row: &str) -> Self {
        self.within(Some(End::new(partition, Some(row))), None)
    }

    /// Narrows it to the entities through the end of a partition.
    pub fn through_partition(self, partition: &str) -> Self {
        self.within(None, Some(End::new(partition, None)))
    }

    /// Narrows it to the entities through one, which it includes: those of the partitions before it, too.
    pub fn through_row(self, partition: &str, row: &str) -> Self {
        self.within(None, Some(End::new(partition, Some(row))))
    }

    /// Sets the ends that are given; another one stays as it is.
    pub(crate) fn within(self, start: Option<End>, end: Option<End>) -> Self {
        let range = PairRange { start: start.or(self.range.start), end: end.or(self.range.end) };
        Self { range, ..self }
    }

    /// Permits nothing before this time.
    pub fn from(self, time: Ticks) -> Self {
        Self { from: Some(time), ..self }
    }

    /// Permits nothing from this time on.
    pub fn until(self, time: Ticks) -> Self {
        Self { until: Some(time), ..self }
    }

    /// Returns whether it holds at this time: from its start on, and before its end. The clock is compared as it is.
    #[must_use]
    pub fn holds_at(&self, now: Ticks) -> bool {
        self.from.is_none_or(|from| now >= from) && self.until.is_none_or(|until| now < until)
    }
}

impl Names {
    fn both(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, names) | (names, Self::All) => names.clone(),
            (Self::These(names), other) => {
                Self::These(names.iter().filter(|name| other.has(name)).cloned().collect())
            }
        }
    }
}

impl Access {
    /// Returns what both permit.
    pub(crate) fn both(&self, other: &Self) -> Self {
        Self {
            tables: self.tables.both(&other.tables),
            rights: self.rights.both(other.rights),
            range: self.range.both(&other.range),
            from: self.from.max(other.from),
            until: self.until.into_iter().chain(other.until).min(),
            queues: self.queues.both(&other.queues),
            containers: self.containers.both(&other.containers),
        }
    }
}

/// For people: what it permits, where and when.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in ", self.rights)?;
        self.tables.write(f, "table", "tables")?;
        if !self.range.is_all() {
            write!(f, ", {}", self.range)?;
        }
        if !self.queues.are_none() {
            f.write_str(", ")?;
            self.queues.write(f, "queue", "queues")?;
        }
        if !self.containers.are_none() {
            f.write_str(", ")?;
            self.containers.write(f, "container", "containers")?;
        }
        if let Some(from) = self.from {
            write!(f, ", not before {from}")?;
        }
        match self.until {
            Some(until) => write!(f, ", until {until}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_it_permits() {
        let time = |text: &str| text.parse::<Ticks>().unwrap();
        let access = Access::to_tables(["Company", "Log"])
            .everything()
            .from_row("a\n", "1")
            .through_partition("z")
            .queues(["jobs"])
            .all_containers()
            .from(time("2020-01-01"))
            .until(time("2099-01-02T03:04:05Z"));
        assert_eq!(
            access.to_string(),
            "read, add, update, delete in tables `Company`, `Log`, from partition `a\\n`, row `1` through partition `z`, \
             queue `jobs`, all containers, not before 2020-01-01T00:00:00Z, until 2099-01-02T03:04:05Z"
        );
        assert_eq!(Access::to_all_tables().to_string(), "nothing in all tables");
        assert_eq!(Access::to_tables::<&str>([]).read().to_string(), "read in no tables");
    }

    #[test]
    fn it_holds_from_its_start_on_and_not_at_its_end() {
        let time = |ticks| Ticks::new(ticks).unwrap();
        let access = Access::to_all_tables().from(time(10)).until(time(20));
        let holds = [9, 10, 19, 20].map(|now| access.holds_at(time(now)));
        assert_eq!(holds, [false, true, true, false]);
        assert!(Access::to_all_tables().holds_at(Ticks::MAX));
    }
}
