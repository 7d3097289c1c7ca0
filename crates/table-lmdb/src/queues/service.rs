//! Service records of queues: what a server keeps with a queue, as bytes that mean nothing here.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::service_records::{Expected, RECORDS, RecordOwner, too_many};
use table_engine::messages::keys::{self, Kind};

use super::overlay::QueueOverlay;
use super::view::{self, View};
use crate::records::features::Feature;

/// A service record of a queue, and what becomes of it.
#[derive(Clone, Debug)]
pub(crate) struct ServiceWork {
    pub(crate) queue: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) expected: Wanted,
    /// Its value; without one it goes.
    pub(crate) value: Option<Box<[u8]>>,
}

/// What a record must be for its replacement to take place, kept until a transaction looks.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Any,
    /// This value, or that there is none.
    Value(Option<Box<[u8]>>),
}

impl Wanted {
    /// Keeps what is expected.
    pub(crate) fn of(expected: Expected<'_>) -> Self {
        match expected {
            Expected::Any => Self::Any,
            Expected::Absent => Self::Value(None),
            Expected::Value(value) => Self::Value(Some(value.into())),
        }
    }

    fn is_met(&self, found: Option<&[u8]>) -> bool {
        match self {
            Self::Any => true,
            Self::Value(value) => found == value.as_deref(),
        }
    }
}

impl QueueOverlay<'_> {
    /// Gives a service record another value, or removes it, if it is what is expected; returns whether it was.
    pub(super) fn replace_service(&mut self, work: &ServiceWork) -> Result<bool> {
        let ServiceWork { queue, name, expected, value } = work;
        let number = self.directory()?.find(queue).map(|queue| queue.number).ok_or_else(missed)?;
        let key = keys::service(number, name);
        let old = self.find(&key)?.map(std::borrow::Cow::into_owned);
        if !expected.is_met(old.as_deref().map(view::body)) {
            return Ok(false);
        }
        if old.is_none() && value.is_none() {
            return Ok(true);
        }
        let all = self.state(number)?.set_digest(Kind::Service).count;
        if old.is_none() && usize::try_from(all).is_ok_and(|all| all >= RECORDS) {
            return Err(too_many(RecordOwner::Queue(queue), name));
        }
        self.set_feature(Feature::QueueRecords);
        self.replace(key, old.as_deref(), value.as_deref().map(<[u8]>::to_vec))?;
        Ok(true)
    }

    /// Removes the service records of a queue that goes.
    pub(super) fn remove_services(&mut self, queue: u32) -> Result<()> {
        let mut found = Vec::new();
        self.view.walk(&keys::prefix(Kind::Service, queue), None, |key, record| {
            found.push((key.to_vec(), record.to_vec()));
            Ok(std::ops::ControlFlow::Continue(view::Stop::Not))
        })?;
        for (key, record) in found {
            self.replace(key, Some(&record), None)?;
        }
        Ok(())
    }
}

impl View<'_> {
    /// Returns the value of a service record of the queue of this name; `None` if there is none.
    pub(crate) fn service(&self, queue: &str, name: &str) -> Result<Option<Vec<u8>>> {
        let number = self.directory()?.find(queue).map(|queue| queue.number).ok_or_else(missed)?;
        let record = self.record(&keys::service(number, name))?;
        Ok(record.map(|record| view::body(record).to_vec()))
    }
}

/// Returns the error of a queue that is not there.
#[cold]
pub(crate) fn missed() -> Error {
    Error::new(ErrorKind::QueueNotFound).because("there is no such queue")
}
