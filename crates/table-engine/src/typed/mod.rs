//! Typed tables: what a derived entity is written, read and queried through.
//!
//! The types here are thin: they turn fields into values and back, and leave the work to functions that know no
//! user's type. What a method takes or gives is named here, for signatures.
//!
//! Traits that only say what a method takes are sealed:
//!
//! ```compile_fail
//! struct Mine;
//! impl table_core::typed::Comparable for Mine {}
//! ```
//!
//! ```compile_fail
//! struct Mine;
//! impl table_core::typed::BlindArg<u32> for Mine {
//!     fn to_value(&self) -> Result<table_core::schema::PropertyValue<'_>, table_core::schema::ValueError> {
//!         Ok(table_core::schema::PropertyValue::Absent)
//!     }
//! }
//! ```

mod advice;
pub(crate) mod by_layout;
pub(crate) mod change;
mod encrypt;
pub(crate) mod entity;
pub(crate) mod job;
#[cfg(feature = "json")]
#[doc(hidden)]
pub mod json;
#[cfg(not(feature = "json"))]
#[doc(hidden)]
#[path = "json/without.rs"]
pub mod json;
pub(crate) mod periods;
pub(crate) mod propagate;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod series;
pub(crate) mod set;
pub(crate) mod table;

pub use self::change::Refusal;
pub use self::change::egt::{Egt, MemberOf};
pub use self::change::transaction::StoreTransaction;
#[cfg(feature = "encrypt")]
pub use self::encrypt::reencrypt::ReencryptReport;
pub use self::entity::column::{
    Always, Blind, Column, ColumnArg, Comparable, Dual, Encrypted, Equatable, MayLack, Maybe, Plain, Unequal,
};
pub use self::entity::comparisons::Condition;
pub use self::entity::path::Path;
pub use self::entity::previous_version::{MadeFrom, PreviousVersion};
pub use self::entity::stored::{Copied, Eventual, Stored};
pub use self::entity::{Columns, Entity, InOneTable, InPeriods, Patch, PatchOf};
pub use self::job::{CopyProblem, CopyReport, Job, JobInfo, JobProgress, Migration, QueryOfEntities};
pub use self::periods::{
    DroppedPeriods, InPeriodRange, InPeriodRangeAt, PeriodInfo, PeriodRange, Periods, PeriodsAt, Time, Times,
};
pub use self::propagate::{FailedPropagation, PendingPropagation, Propagation};
pub use self::query::{
    At, ByKey, Comes, ComesAfter, CountsBackwards, Ended, Ends, EventualCopies, FieldNamed, FieldNumber,
    Fits, GoesOn, HasField, HeldBy, Holds, HoldsAll, InOne, InPartition, Latest, Newest, Open, OwnRows,
    PathQuery, Prefix, Ready, Turns, TypedRows, WholeCopies, prefix,
};
pub use self::read::TableAt;
pub use self::read::join::Joined;
pub use self::read::key::{
    BlindArg, IndexKey, Key, KeyArg, KeyOf, Lookup, Partition, Ref, RefArg, RefColumn, RefTarget,
};
pub use self::read::list::{ListEntities, ListKey, ListedEntities};
pub use self::read::origin::{AnyOrigin, Origin, TableIn};
pub use self::read::projection::{Projected, Projection};
pub use self::read::reading::{Entities, ReadAs, Selected, Whole};
pub use self::read::view::{TypedViews, View};
pub use self::series::{Additions, AddsTo, SeriesColumn, SeriesView, SlotColumns, Slots};
pub use self::set::{EntitySet, SetAt, SetQuery, SetRows, SetTable};
pub use self::table::Table;
pub use crate::plan::WriteExplain;

// What generated code names, by `__private`.
#[cfg(feature = "async")]
#[doc(hidden)]
pub use self::advice::Blocks;
#[doc(hidden)]
pub use self::{
    advice::{AnyQuery, Never, QueriedAsAList},
    entity::dependent::{CopyOf, CopyReader, Dependent, kin},
    entity::group::{Group, group_fields, group_is_exact, group_names, group_names_len},
    entity::path::{read_copied, read_stored},
    entity::previous_version::{FromPreviousVersion, converted},
    entity::properties::{FlatColumns, Properties, side_by_side},
    entity::source::Source,
    entity::{Elements, OneTable, TableForEachPeriod, elements, exchange},
    query::{KeyArgs, Offers, OffersPrefix, OffersRange, PartArg, RowsOf},
    read::key::{KeyResult, token_key},
    read::shown::ShownRow,
    read::view::{EntityView, FieldViews, as_bytes, as_bytes_option, as_text, as_text_option},
    series::{SeriesOf, SeriesPatch, add_to_slot, slot_places},
    set::{OfAnyKind, SetMember, Visitor, declared},
    table::kept_layouts,
};
