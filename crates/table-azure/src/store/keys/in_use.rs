//! What is left under old keys, and what stands in the way of new ones.

use std::sync::Arc;

use table_engine::__executor::{KeyUses, ShownRow};
use table_engine::crypt::{KeyInfo, Scope, SealedValues};
use table_engine::executor::layouts;
use table_engine::schema::Layout;
use table_engine::{Error, ErrorKind, Result, Value};

use super::super::AzureStore;
use super::super::table::TableEntry;
use crate::client::PageRequest;

/// What is shown each table, with the layouts of its kinds.
type SeeTable<'s> = &'s mut dyn FnMut(&Arc<TableEntry>, &[Layout]) -> Result<()>;

impl AzureStore {
    /// Shows each table, with the layouts that are noted of its kinds.
    fn each_layout(self: &Arc<Self>, see: SeeTable<'_>) -> Result<()> {
        let service = self.service.clone();
        for name in self.wait(async move { service.table_names().await })? {
            let seen = self.find(&name).and_then(|entry| {
                let (service, of) = (self.service.clone(), entry.clone());
                let noted = self.wait(async move { service.read_noted(&of).await })?;
                // What can't be read may say that a key is in use.
                let layouts = noted.texts.iter().map(|(kind, layout)| layouts::read(layout, kind));
                see(&entry, &layouts.collect::<Result<Vec<_>>>()?)
            });
            match seen {
                // It was dropped meanwhile.
                Err(error) if error.kind() == ErrorKind::TableNotFound => {}
                seen => seen.map_err(|error| error.table(&name))?,
            }
        }
        Ok(())
    }

    /// Refuses a new key of a scope whose tokens keep values unique: the service can't demand that no row lies under a token of
    /// another key.
    pub(super) fn check_not_unique(self: &Arc<Self>, scopes: &[Scope]) -> Result<()> {
        let mut refused = None;
        self.each_layout(&mut |entry, layouts| {
            for (index, property) in layouts.iter().flat_map(Layout::unique_by_tokens) {
                let Some(tokens) = property.tokens() else { continue };
                let of = tokens.key_scope(property.scope());
                let is_of_it = |scope: &&Scope| {
                    let bytes = of.bytes(entry.id(), scope.partition_key().unwrap_or_default());
                    *bytes == *scope.as_bytes()
                };
                if let Some(scope) = scopes.iter().find(is_of_it) {
                    refused.get_or_insert_with(|| keeps_unique(&index.name, entry.name(), scope));
                }
            }
            Ok(())
        })?;
        refused.map_or(Ok(()), Err)
    }

    /// Returns what is left under these keys, in all rows. An entity's own row stays where it is as long as the entity does, and
    /// nothing is sealed with an old key any more: so none slips through that is written meanwhile.
    pub(super) fn key_uses(self: &Arc<Self>, keys: &[&KeyInfo]) -> Result<Vec<SealedValues>> {
        let wants = |handle| keys.iter().any(|key| key.handle == handle);
        let mut uses = KeyUses::new(&wants, keys.iter().map(|key| (*key).clone()));
        self.each_layout(&mut |entry, layouts| {
            uses.begin_table(entry.id(), entry.name(), layouts.iter().cloned());
            let mut request = PageRequest::default();
            loop {
                let (service, of, asked) = (self.service.clone(), entry.clone(), request.clone());
                let page = self.wait(async move { service.page(&of, &asked).await })?;
                for row in &page.entities {
                    let kind = row.get("EntityType").and_then(Value::as_str);
                    let shown =
                        ShownRow { partition: row.partition_key().into(), row: row.row_key().into(), kind };
                    let properties = row.properties();
                    uses.add_row(&shown, properties.map(|(name, value)| Ok((name, value.as_value_ref()))))?;
                }
                request.after = page.next;
                if request.after.is_none() {
                    return Ok(());
                }
            }
        })?;
        Ok(uses.into_found())
    }
}

#[cold]
fn keeps_unique(index: &str, table: &str, scope: &Scope) -> Error {
    let because = format!(
        "the index `{index}` of table `{table}` keeps values unique by tokens of {scope}, and while a scope has two keys, a writer has to demand that \
         no row lies under the other key's token: that takes the ability `expect`"
    );
    Error::new(ErrorKind::Unsupported).because(because)
}
