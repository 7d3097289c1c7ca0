//! Batches: up to 100 changes of one partition, together or not at all, or one query of an entity.

use table_core::odata::Metadata;
use table_core::{DynamicEntity, Error, ErrorKind};

use super::Service;
use super::call::Call;
use super::change::Change;
use super::writes::Written;
use crate::exchange::{Detail, Response};
use crate::fault::Fault;
use crate::wire::address::{Address, Resource};
use crate::wire::batch::{AnswerWriter, Part, parts};
use crate::wire::error::{self, Form};
use crate::wire::headers::{Prefer, if_match, metadata};
use crate::wire::parameters::Parameters;

/// An operation of a batch that has been read.
struct Operation {
    change: Change,
    prefer: Prefer,
    metadata: Metadata,
}

/// What is kept of an operation for its answer.
struct Asked {
    /// The entity that is added, or its keys if no more is told of it.
    added: Option<DynamicEntity>,
    is_removal: bool,
    prefer: Prefer,
    metadata: Metadata,
}

impl Operation {
    fn asked(&self) -> Asked {
        let Self { change, prefer, metadata } = self;
        let added = change.added().map(|entity| match prefer {
            Prefer::NoContent => DynamicEntity::new(entity.partition_key(), entity.row_key()),
            _ => entity.clone(),
        });
        let is_removal = matches!(change, Change::Delete { .. });
        Asked { added, is_removal, prefer: *prefer, metadata: *metadata }
    }
}

impl Service {
    /// Carries out a batch. What is wrong with an operation is told as its answer, so the batch itself is accepted.
    pub(super) async fn batch(&self, call: &Call<'_>) -> Result<Response, Fault> {
        if call.method != "POST" {
            return Err(Fault::unsupported_verb());
        }
        let parts = parts(call.request.header("content-type").unwrap_or(""), &call.request.body);
        let mut answers = AnswerWriter::new(call.request_id);
        let done = match parts {
            Ok(parts) => self.answers(call, &parts).await,
            // What is wrong with one operation is its answer; what is wrong with the whole, the batch's.
            Err(fault) if fault.index.is_none() => return Err(fault),
            Err(fault) => Err(fault),
        };
        let detail = match done {
            Ok(all) => {
                for response in &all {
                    answers.add(response);
                }
                None
            }
            Err(fault) => {
                let mut refused = error::response(&fault, Form::Json, call.request_id);
                answers.add(&refused);
                refused.extensions_mut().remove::<Detail>()
            }
        };
        let mut response = answers.finish();
        // The batch itself is accepted, and who runs the server is told all the same.
        if let Some(detail) = detail {
            response.extensions_mut().insert(detail);
        }
        Ok(response)
    }

    async fn answers(&self, call: &Call<'_>, parts: &[Part<'_>]) -> Result<Vec<Response>, Fault> {
        let mut table: Option<String> = None;
        let mut operations = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            let at = |fault: Fault| Fault { index: fault.index.or(Some(index)), ..fault };
            let address = Address::parse(part.path(), part.host(), call.account).map_err(at)?;
            let (name, keys) = match &address.resource {
                Resource::Rows(name) => (name, None),
                Resource::Row { table, partition_key, row_key } => {
                    (table, Some((partition_key.as_str(), row_key.as_str())))
                }
                _ => return Err(at(Fault::invalid_input("An operation of a batch is of one entity."))),
            };
            if table.as_ref().is_some_and(|first| !first.eq_ignore_ascii_case(name)) {
                return Err(at(Fault::invalid_input("All operations of a batch are of one table.")));
            }
            table.get_or_insert_with(|| name.clone());
            let parameters = Parameters::parse(part.query()).map_err(at)?;
            let metadata = match (part.header("accept"), parameters.get("$format")) {
                (None, None) => call.metadata,
                (accept, format) => metadata(accept, format).map_err(at)?,
            };
            let method = part.method();
            if method == "GET" {
                // A query is alone in its batch.
                let (1, Some((partition_key, row_key))) = (parts.len(), keys) else {
                    return Err(at(Fault::invalid_input(
                        "A batch holds changes, or one query by both keys.",
                    )));
                };
                let call = Call { parameters: &parameters, ..call.of_metadata(metadata) };
                return self.get_entity(&call, name, [partition_key, row_key]).await.map(|one| vec![one]);
            }
            let condition = if_match(part.header("if-match")).map_err(at)?;
            let change = Change::read(method, keys, condition, part.body).map_err(at)?;
            operations.push(Operation { change, prefer: Prefer::read(part.header("prefer")), metadata });
        }
        let Some(table) = table else { return Err(Fault::invalid_input("The batch holds no operation.")) };
        self.commit(call, &table, operations).await
    }

    async fn commit(
        &self,
        call: &Call<'_>,
        table: &str,
        operations: Vec<Operation>,
    ) -> Result<Vec<Response>, Fault> {
        let partition = operations.first().map_or("", |operation| operation.change.keys().0);
        if let Some(index) = operations.iter().position(|operation| operation.change.keys().0 != partition) {
            let fault = Fault::from(Error::new(ErrorKind::DifferentPartitions));
            return Err(Fault { index: Some(index), ..fault });
        }
        let partition = partition.to_owned();
        let asked: Vec<_> = operations.iter().map(Operation::asked).collect();
        let changes = operations.into_iter().map(|operation| operation.change);
        let mut opened = self.open_table(call, table).await?;
        let mut batch = changes.fold(opened.batch(partition), |batch, change| change.add_to(batch));
        let committed = match batch.commit().await {
            Ok(committed) => committed,
            Err(error) => {
                opened = self.reopen_table(call, table, error).await?;
                batch = batch.of_table(&opened);
                batch.commit().await?
            }
        };
        let answers = asked.iter().enumerate().map(|(index, asked)| {
            let etag = (!asked.is_removal).then(|| committed.etag(index));
            let written = Written { added: asked.added.as_ref(), etag, table: opened.name() };
            written.answer(&call.of_metadata(asked.metadata), asked.prefer)
        });
        answers.collect()
    }
}
