//! Entities that are written, one at a time.

use std::borrow::Cow;

use http::{StatusCode, header};
use table_core::odata::Source;
use table_core::{DynamicEntity, ETag, Result, ValueRef};

use super::Service;
use super::answer::{self, PREFERENCE_APPLIED};
use super::call::Call;
use super::change::{Change, Keys};
use crate::exchange::Response;
use crate::fault::Fault;
use crate::wire::headers::{Prefer, if_match};

impl Service {
    /// Carries out a change of one entity, and answers with what became of it.
    pub(super) async fn write_entity(
        &self,
        call: &Call<'_>,
        table: &str,
        keys: Keys<'_>,
    ) -> Result<Response, Fault> {
        let condition = if_match(call.request.header("if-match"))?;
        let change = &match Change::read(call.method, keys, condition, &call.request.body) {
            Ok(change) => change,
            // Of a table that is not there, that is what is told, whatever is wrong with the body.
            Err(fault) => {
                self.on_table(call, table, |_| async { Ok(()) }).await?;
                return Err(fault);
            }
        };
        let made = self.on_table(call, table, |table| async move {
            let etag = change.make(&table).await?;
            Ok((etag, table))
        });
        let (etag, table) = made.await?;
        let prefer = Prefer::read(call.request.header("prefer"));
        Written { added: change.added(), etag, table: table.name() }.answer(call, prefer)
    }
}

/// A change that was made.
pub(super) struct Written<'w> {
    /// The entity, if it was added: of it alone more is told than the version.
    pub(super) added: Option<&'w DynamicEntity>,
    /// The version of the entity; of one that was removed, `None`.
    pub(super) etag: Option<ETag>,
    /// The name of the table, as it was given when it was created.
    pub(super) table: &'w str,
}

impl Written<'_> {
    /// Answers with what was made: an inserted entity, unless the sender prefers none.
    pub(super) fn answer(&self, call: &Call<'_>, prefer: Prefer) -> Result<Response, Fault> {
        let mut response = match (self.added, self.etag) {
            (Some(entity), Some(etag)) if prefer != Prefer::NoContent => {
                let mut text = Vec::with_capacity(512);
                call.writer(self.table).entity(Inserted { entity, etag }, &mut text)?;
                answer::json(StatusCode::CREATED, text, call.metadata)
            }
            _ => answer::empty(StatusCode::NO_CONTENT),
        };
        if let Some(entity) = self.added {
            let address = call.address_of(self.table, [entity.partition_key(), entity.row_key()]);
            answer::add(&mut response, header::LOCATION, &address);
            if let Some(applied) = prefer.applied() {
                answer::add(&mut response, PREFERENCE_APPLIED, applied);
            }
        }
        if let Some(etag) = self.etag {
            answer::add_etag(&mut response, etag);
        }
        Ok(response)
    }
}

/// An entity as it was stored, with its version.
struct Inserted<'e> {
    entity: &'e DynamicEntity,
    etag: ETag,
}

impl Source for Inserted<'_> {
    fn keys(&self) -> Result<(Cow<'_, str>, Cow<'_, str>)> {
        self.entity.keys()
    }

    fn etag(&self) -> Option<ETag> {
        Some(self.etag)
    }

    fn property(&self, name: &str) -> Result<Option<ValueRef<'_>>> {
        self.entity.property(name)
    }

    fn for_each_property(&self, visit: impl FnMut(&str, ValueRef<'_>) -> Result<()>) -> Result<()> {
        self.entity.for_each_property(visit)
    }
}
