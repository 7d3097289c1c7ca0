//! What a service keeps with the store: its properties, and the policies of tables.

use table_core::__executor::{Expected, RecordOwner};
use table_core::asynchronous::AsyncTables;

use crate::fault::Fault;
use crate::wire::acl::{self, SignedIdentifier};
use crate::wire::properties::ServiceProperties;

/// The record of a table's policies, as XML.
const POLICIES: &str = "policies";
/// The record of the service's properties, as XML.
const PROPERTIES: &str = "properties";
/// How often a change of the properties begins anew where another process has changed them meanwhile.
const TURNS: usize = 16;

/// The records of a service. Nothing is kept in memory, so what one process writes another one knows.
#[derive(Debug)]
pub(super) struct Records {
    tables: AsyncTables,
}

impl Records {
    pub(super) fn new(tables: AsyncTables) -> Self {
        Self { tables }
    }

    /// Returns the policies of a table.
    pub(super) async fn policies(&self, table: &str) -> Result<Vec<SignedIdentifier>, Fault> {
        let stored = self.tables.service_records().get(RecordOwner::Table(table), POLICIES).await?;
        stored.map_or(Ok(Vec::new()), |xml| acl::read(&xml))
    }

    /// Gives a table these policies in place of those that it has.
    pub(super) async fn set_policies(&self, table: &str, policies: &[SignedIdentifier]) -> Result<(), Fault> {
        let xml = (!policies.is_empty()).then(|| acl::to_xml(policies));
        let records = self.tables.service_records();
        records.replace(RecordOwner::Table(table), POLICIES, Expected::Any, xml.as_deref()).await?;
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
