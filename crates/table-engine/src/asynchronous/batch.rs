//! Several operations as one, awaited.

use super::dynamic::{AsyncDynamicTable, hand_over};
use super::{WriteToken, outcome};
use crate::error::Result;
use crate::handle::batch::{Batch, COMMIT};
use crate::model::{DynamicEntity, IfMatch, IntoIfMatch};
use crate::plan::{self, Act, Committed, Condition, Plan, Refused};
use crate::sealing::SealedAt;
use crate::typed::by_layout::is_of_declared;
use crate::typed::change::awaited::HandedOver;

/// Up to 100 operations on one partition of a table that happen together or not at all, as [`Batch`] has them; to commit them
/// is awaited.
#[derive(Clone, Debug)]
#[must_use = "a batch does nothing until it is committed"]
pub struct AsyncBatch {
    batch: Batch,
    token: Option<WriteToken>,
}

impl AsyncBatch {
    pub(super) fn new(batch: Batch, token: Option<WriteToken>) -> Self {
        Self { batch, token }
    }

    fn with(mut self, condition: Condition, act: Act<()>, entity: DynamicEntity) -> Self {
        self.batch = self.batch.with(condition, act, entity);
        self
    }

    plan::writes_of_entities!(Self, DynamicEntity => with -> Self);

    /// Removes the entity of this row key.
    pub fn delete(self, row_key: impl Into<String>) -> Self {
        self.delete_if(row_key, IfMatch::Any)
    }

    /// Removes the entity of this row key, if it is of the version demanded.
    pub fn delete_if(mut self, row_key: impl Into<String>, condition: impl IntoIfMatch) -> Self {
        self.batch = self.batch.delete_if(row_key, condition);
        self
    }

    /// Returns how many operations there are.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Returns whether there is no operation yet.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Returns the batch as one of another table, or of another handle of its own: one that was renamed or made anew meanwhile.
    ///
    /// ```
    /// # use table_core::asynchronous::block_on;
    /// # use table_core::{DynamicEntity, ErrorKind, Store};
    /// # block_on(async {
    /// let store = Store::temporary()?.to_async();
    /// let company = store.create_table("Company").await?;
    /// let batch = company.batch("Sales").insert(DynamicEntity::new("Sales", "empid_000001"));
    ///
    /// store.drop_table("Company").await?;
    /// assert_eq!(batch.commit().await.unwrap_err().kind(), ErrorKind::TableNotFound);
    /// let company = store.create_table("Company").await?;
    /// batch.of_table(&company).commit().await?;
    /// assert!(company.get("Sales", "empid_000001").await?.is_some());
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn of_table(mut self, table: &AsyncDynamicTable) -> Self {
        self.batch = self.batch.of_table(table.blocking());
        self
    }

    /// Carries out every operation, or none. Returns the version of each entity that was written.
    pub async fn commit(&self) -> Result<Committed> {
        // What is sealed, or planned by a layout, has several steps.
        if self.batch.sealing.is_some() {
            return self.commit_by_steps().await;
        }
        let table = &self.batch.table;
        let tables = std::slice::from_ref(table);
        let submit = || {
            let handed_over = self.batch.with_group(|group| {
                let plan = Plan { groups: group.into(), is_raw: table.is_raw(), ..Plan::default() };
                Ok(HandedOver::of(tables, &plan, &SealedAt::NOTHING, self.token.as_ref()))
            });
            handed_over.unwrap_or_else(|error| Err(Refused::whole(error)))
        };
        let committed = match hand_over(table.exec().store(), submit).await {
            Ok(handed_over) => handed_over.refused_or(tables).await,
            Err(refused) => Err(refused),
        };
        match committed.map_err(Refused::numbered) {
            Err(refused) if is_of_declared(&refused, table) => self.commit_by_steps().await,
            done => done.map_err(|e| e.placed(COMMIT, table.name(), &self.batch.partition, None)),
        }
    }

    async fn commit_by_steps(&self) -> Result<Committed> {
        let batch = self.batch.clone();
        outcome::carry_out(self.token.as_ref(), move || batch.commit()).await
    }
}
