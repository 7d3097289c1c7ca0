//! The list of queues, by pages.

use http::StatusCode;

use super::QueueService;
use super::call::{Call, Need, wrong_value};
use super::metadata::Metadata;
use crate::exchange::Response;
use crate::fault::Fault;
use crate::service::answer;
use crate::wire::xml::Writer;

/// How many queues a page has at most.
const MOST: i64 = 5_000;

impl QueueService {
    /// Answers with a page of the queues, in the order of their names.
    pub(super) async fn list_queues(&self, call: &Call<'_>) -> Result<Response, Fault> {
        call.need(&Need::of_account("l", 's'))?;
        let most = call.number("maxresults", 1..=MOST)?;
        let size = usize::try_from(most.unwrap_or(MOST)).unwrap_or(usize::MAX);
        let has_metadata = match call.get("include") {
            None => false,
            Some("metadata") => true,
            Some(_) => return Err(wrong_value("include", "`metadata`")),
        };
        let (prefix, marker) = (call.get("prefix"), call.get("marker"));
        let names = self.tables.queues().await?;
        // A page begins with the queue that the marker names, or the first behind it if that was dropped.
        let mut names = names.into_iter().filter(|name| {
            prefix.is_none_or(|prefix| name.starts_with(prefix))
                && marker.is_none_or(|marker| name.as_str() >= marker)
        });
        let mut page = Vec::new();
        for name in names.by_ref().take(size) {
            if !has_metadata {
                page.push((name, None));
                continue;
            }
            match Metadata::kept(&self.records, &name).await {
                Ok(metadata) => page.push((name, Some(metadata))),
                // It was dropped meanwhile.
                Err(fault) if fault.code == "QueueNotFound" => {}
                Err(fault) => return Err(fault),
            }
        }
        let next = names.next();
        let mut writer = Writer::new();
        writer.element_with("EnumerationResults", "ServiceEndpoint", &format!("{}/", call.root), |writer| {
            writer.optional("Prefix", prefix);
            writer.optional("Marker", marker);
            writer.optional("MaxResults", most.map(|most| most.to_string()).as_deref());
            writer.element("Queues", |writer| {
                for (name, metadata) in &page {
                    write(name, metadata.as_ref(), writer);
                }
            });
            writer.text("NextMarker", next.as_deref().unwrap_or_default());
        });
        Ok(answer::xml(StatusCode::OK, writer.finish()))
    }
}

fn write(name: &str, metadata: Option<&Metadata>, writer: &mut Writer) {
    writer.element("Queue", |writer| {
        writer.text("Name", name);
        let Some(metadata) = metadata else { return };
        writer.element("Metadata", |writer| {
            for (name, value) in metadata.iter() {
                writer.text(name, value);
            }
        });
    });
}
