//! Advice on entities with a table for each period, which are queried within a span of time.

use super::Never;
use crate::typed::entity::InPeriods;
use crate::typed::periods::{Periods, PeriodsAt};

impl<E: InPeriods> Periods<E> {
    #[doc(hidden)]
    pub fn rows<T>(&self) -> T
    where
        E: SpanOfTime,
    {
        match E::NEVER {}
    }

    #[doc(hidden)]
    pub fn all<T>(&self) -> T
    where
        E: SpanOfTime,
    {
        match E::NEVER {}
    }
}

impl<E: InPeriods> PeriodsAt<'_, E> {
    #[doc(hidden)]
    pub fn rows<T>(&self) -> T
    where
        E: SpanOfTime,
    {
        match E::NEVER {}
    }

    #[doc(hidden)]
    pub fn all<T>(&self) -> T
    where
        E: SpanOfTime,
    {
        match E::NEVER {}
    }
}

/// What no entity is, so that the compiler says that the time comes first.
#[diagnostic::on_unimplemented(
    message = "a query over periods says which times it is of",
    label = "say the times before this: `.during(from..until)?`, or `.all_periods()`"
)]
pub trait SpanOfTime: Never {}
