//! A request whose sender is known, and what every operation asks of it.

use table_core::asynchronous::AsyncTables;
use table_core::odata::{Metadata, Writer};

use crate::auth::Caller;
use crate::exchange::Request;
use crate::fault::Fault;
use crate::wire::address::address_of_entity;
use crate::wire::parameters::Parameters;

/// A request that is being answered.
pub(super) struct Call<'r> {
    pub(super) request: &'r Request,
    /// The method: that of `X-HTTP-Method`, if a POST has one.
    pub(super) method: &'r str,
    pub(super) parameters: &'r Parameters,
    pub(super) caller: &'r Caller,
    /// The tables as far as the sender may use them, if he may not use all.
    pub(super) restricted: Option<AsyncTables>,
    pub(super) metadata: Metadata,
    /// The address of the service, as the sender has it: nothing in it needs an escape in JSON or XML.
    pub(super) root: &'r str,
    pub(super) account: &'r str,
    pub(super) request_id: &'r str,
}

impl<'r> Call<'r> {
    /// Returns the call with so much metadata in its answer.
    pub(super) fn of_metadata(&self, metadata: Metadata) -> Call<'r> {
        Call { metadata, restricted: self.restricted.clone(), ..*self }
    }

    /// Refuses a sender who may not do this with the service or its tables: who has none of these permissions for resources of
    /// this type, by the letters of an account's token.
    pub(super) fn need(&self, permissions: &[&str], resource: char) -> Result<(), Fault> {
        let may = permissions.iter().any(|letters| self.caller.permits_of_account(letters, resource));
        match self.caller {
            _ if may => Ok(()),
            Caller::Account(_) if !self.caller.is_for_resources(resource) => {
                Err(Fault::wrong_resource_type())
            }
            _ => Err(Fault::not_authorized()),
        }
    }

    /// Returns what writes the entities of a table.
    pub(super) fn writer(&self, table: &str) -> Writer {
        let writer = Writer::new(self.metadata);
        // Without metadata no address is written.
        if self.metadata == Metadata::None {
            writer
        } else {
            writer.of_service(self.root, self.account, table)
        }
    }

    /// Appends a table, as a text of its own or as one of a list. Its name is ASCII letters and digits.
    pub(super) fn table(&self, name: &str, is_alone: bool, text: &mut Vec<u8>) {
        let Self { root, account, .. } = self;
        let mut add = |part: &str| text.extend_from_slice(part.as_bytes());
        add("{");
        if is_alone && self.metadata != Metadata::None {
            add(&format!("\"odata.metadata\":\"{root}/$metadata#Tables/@Element\","));
        }
        if self.metadata == Metadata::Full {
            add(&format!(
                "\"odata.type\":\"{account}.Tables\",\"odata.id\":\"{root}/Tables('{name}')\",\
                 \"odata.editLink\":\"Tables('{name}')\","
            ));
        }
        add(&format!("\"TableName\":\"{name}\"}}"));
    }

    /// Returns the address of an entity.
    pub(super) fn address_of(&self, table: &str, keys: [&str; 2]) -> String {
        address_of_entity(self.root, table, keys)
    }
}
