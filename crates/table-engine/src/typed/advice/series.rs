//! Advice on series in filters, whose slots are compared and not the whole.

use super::Never;
use crate::query::Filter;
use crate::typed::series::{SeriesColumn, SlotColumns};

/// Comparisons as a column has them.
macro_rules! comparisons {
    ($column:ident, $trait:ident: $($name:ident)+; $($plain:ident)+) => {
        #[allow(clippy::should_implement_trait, reason = "they are called as those of a column are")]
        impl<T, A> $column<T, A> {
            $(
                #[doc(hidden)]
                pub fn $name<V>(&self, _: V) -> Filter
                where
                    T: $trait,
                {
                    match T::NEVER {}
                }
            )+

            $(
                #[doc(hidden)]
                pub fn $plain(&self) -> Filter
                where
                    T: $trait,
                {
                    match T::NEVER {}
                }
            )+
        }
    };
}

comparisons!(SeriesColumn, OneSlot: eq ne gt ge lt le between is_in; is_some is_none);
comparisons!(SlotColumns, AnyOrAll: eq ne gt ge lt le between is_in; is_some is_none);

/// What no slot is, so that the compiler says which slots are to be compared.
#[diagnostic::on_unimplemented(
    message = "a series is compared slot by slot",
    label = "say which slot before this: `.at(13)`; or ask of several: `.range(9..17).any(|slot| ..)`, `.all_slots().all(|slot| ..)`"
)]
pub trait OneSlot: Never {}

/// What no slot is, so that the compiler says whether any or all of them are to be so.
#[diagnostic::on_unimplemented(
    message = "several slots of a series are compared by `any` or by `all`",
    label = "write `.any(|slot| ..)` or `.all(|slot| ..)`, and compare the slot there"
)]
pub trait AnyOrAll: Never {}
