//! What the service keeps of queues beside their messages: its properties, and metadata and policies of each.

use table_core::__executor::{Expected, RecordOwner};
use table_core::asynchronous::AsyncTables;

use super::metadata::Metadata;
use crate::fault::Fault;
use crate::wire::acl::{self, SignedIdentifier};
use crate::wire::properties::ServiceProperties;

/// The record of a queue's policies, as XML.
const POLICIES: &str = "policies";
/// The record of a queue's metadata.
const METADATA: &str = "metadata";
/// The record of the properties of the service, as XML. Those of tables are others.
const PROPERTIES: &str = "queue-properties";
/// How often a change of the properties begins anew where another process has changed them meanwhile.
const TURNS: usize = 16;

/// The records of the service. Nothing is kept in memory, so what one process writes another one knows.
#[derive(Debug)]
pub(super) struct QueueRecords {
    tables: AsyncTables,
}

impl QueueRecords {
    pub(super) fn new(tables: AsyncTables) -> Self {
        Self { tables }
    }

    /// Returns the metadata of a queue.
    pub(super) async fn metadata(&self, queue: &str) -> Result<Metadata, Fault> {
        let stored = self.tables.service_records().get(RecordOwner::Queue(queue), METADATA).await?;
        Ok(stored.map(|text| Metadata::read(&text)).unwrap_or_default())
    }

    /// Gives a queue this metadata in place of what it has.
    pub(super) async fn set_metadata(&self, queue: &str, metadata: &Metadata) -> Result<(), Fault> {
        let (text, records) = (metadata.text(), self.tables.service_records());
        records.replace(RecordOwner::Queue(queue), METADATA, Expected::Any, text.as_deref()).await?;
        Ok(())
    }

    /// Returns the policies of a queue.
    pub(super) async fn policies(&self, queue: &str) -> Result<Vec<SignedIdentifier>, Fault> {
        let stored = self.tables.service_records().get(RecordOwner::Queue(queue), POLICIES).await?;
        stored.map_or(Ok(Vec::new()), |xml| acl::read_of_queue(&xml))
    }

    /// Gives a queue these policies in place of those that it has.
    pub(super) async fn set_policies(&self, queue: &str, policies: &[SignedIdentifier]) -> Result<(), Fault> {
        let xml = (!policies.is_empty()).then(|| acl::to_xml(policies));
        let records = self.tables.service_records();
        records.replace(RecordOwner::Queue(queue), POLICIES, Expected::Any, xml.as_deref()).await?;
        Ok(())
    }

    /// Returns the properties of the service.
    pub(super) async fn properties(&self) -> Result<ServiceProperties, Fault> {
        let stored = self.tables.service_records().get(RecordOwner::Store, PROPERTIES).await?;
        read_properties(stored.as_deref())
    }

    /// Changes the properties of the service that the text names.
    pub(super) async fn set_properties(&self, xml: &[u8]) -> Result<(), Fault> {
        let records = self.tables.service_records();
        for _ in 0..TURNS {
            let stored = records.get(RecordOwner::Store, PROPERTIES).await?;
            let after = read_properties(stored.as_deref())?.updated(xml)?.to_xml();
            let expected = stored.as_deref().map_or(Expected::Absent, Expected::Value);
            if records.replace(RecordOwner::Store, PROPERTIES, expected, Some(&after)).await? {
                return Ok(());
            }
        }
        Err(Fault::server_busy())
    }
}

fn read_properties(stored: Option<&[u8]>) -> Result<ServiceProperties, Fault> {
    let defaults = ServiceProperties::default();
    match stored {
        Some(xml) => defaults.updated(xml),
        None => Ok(defaults),
    }
}
