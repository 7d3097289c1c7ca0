//! What a service keeps with the store: its properties, and the policies of what it serves.

use table_core::__executor::{Expected, RecordOwner};
use table_core::asynchronous::AsyncTables;

use crate::fault::Fault;
use crate::wire::acl::{self, SignedIdentifier};
use crate::wire::properties::ServiceProperties;

/// The record of the policies of a table or a queue, as XML.
const POLICIES: &str = "policies";
/// How often a change of the properties begins anew where another process has changed them meanwhile.
const TURNS: usize = 16;

/// The records of a service. Nothing is kept in memory, so what one process writes another one knows.
#[derive(Debug)]
pub(crate) struct Records {
    tables: AsyncTables,
    /// The record of the service's properties, as XML.
    properties: &'static str,
    read_policies: fn(&[u8]) -> Result<Vec<SignedIdentifier>, Fault>,
}

impl Records {
    /// Returns the records of the service of tables.
    pub(crate) fn of_tables(tables: AsyncTables) -> Self {
        Self { tables, properties: "properties", read_policies: acl::read }
    }

    /// Returns the records of the service of queues.
    #[cfg(feature = "queue")]
    pub(crate) fn of_queues(tables: AsyncTables) -> Self {
        Self { tables, properties: "queue-properties", read_policies: acl::read_of_queue }
    }

    /// Returns a record.
    pub(crate) async fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        Ok(self.tables.service_records().get(owner, name).await?)
    }

    /// Puts a record in the place of the one that is there, or removes it.
    pub(crate) async fn set(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        value: Option<&[u8]>,
    ) -> Result<(), Fault> {
        self.tables.service_records().replace(owner, name, Expected::Any, value).await?;
        Ok(())
    }

    /// Returns the policies of a table or a queue.
    pub(crate) async fn policies(&self, owner: RecordOwner<'_>) -> Result<Vec<SignedIdentifier>, Fault> {
        let stored = self.get(owner, POLICIES).await?;
        stored.map_or(Ok(Vec::new()), |xml| (self.read_policies)(&xml))
    }

    /// Gives a table or a queue these policies in place of those that it has.
    pub(crate) async fn set_policies(
        &self,
        owner: RecordOwner<'_>,
        policies: &[SignedIdentifier],
    ) -> Result<(), Fault> {
        let xml = (!policies.is_empty()).then(|| acl::to_xml(policies));
        self.set(owner, POLICIES, xml.as_deref()).await
    }

    /// Returns the properties of the service.
    pub(crate) async fn properties(&self) -> Result<ServiceProperties, Fault> {
        read_properties(self.get(RecordOwner::Store, self.properties).await?.as_deref())
    }

    /// Changes the properties of the service that the text names.
    pub(crate) async fn set_properties(&self, xml: &[u8]) -> Result<(), Fault> {
        let records = self.tables.service_records();
        for _ in 0..TURNS {
            let stored = records.get(RecordOwner::Store, self.properties).await?;
            let after = read_properties(stored.as_deref())?.updated(xml)?.to_xml();
            let expected = stored.as_deref().map_or(Expected::Absent, Expected::Value);
            if records.replace(RecordOwner::Store, self.properties, expected, Some(&after)).await? {
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
