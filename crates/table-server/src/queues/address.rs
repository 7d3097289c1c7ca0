//! The address of a request for queues: which resource of which account.

use table_wire::percent;

use crate::exchange::Request;
use crate::fault::Fault;
use crate::wire::address::{self, AccountPath};

/// What a request is addressed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Whether it is the account's secondary address.
    pub(super) is_secondary: bool,
    /// The resource.
    pub(super) resource: Resource,
    prefix: String,
}

/// A resource of an account's queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    /// The service.
    Service,
    /// A queue.
    Queue(String),
    /// The messages of a queue.
    Messages(String),
    /// One of them, by its id.
    Message(String, String),
}

impl Address {
    /// Reads the path of a request, with its escapes, and the host, if it is known.
    pub(super) fn parse(path: &str, host: Option<&str>, account: &str) -> Result<Self, Fault> {
        let AccountPath { is_secondary, rest, prefix } = AccountPath::split(path, host, account)?;
        Ok(Self { is_secondary, resource: Resource::parse(rest)?, prefix })
    }

    /// Returns the address of the service, as the sender has it.
    pub(super) fn root(&self, request: &Request) -> String {
        address::root(request, &self.prefix)
    }
}

impl Resource {
    fn parse(path: &str) -> Result<Self, Fault> {
        let path = percent::decode(path.trim_end_matches('/'))?;
        let mut parts = path.split('/').map(str::to_owned);
        match (parts.next().unwrap_or_default(), parts.next().as_deref(), parts.next(), parts.next()) {
            (name, None, ..) if name.is_empty() => Ok(Self::Service),
            (name, None, ..) => Ok(Self::Queue(name)),
            (name, Some("messages"), None, _) => Ok(Self::Messages(name)),
            (name, Some("messages"), Some(id), None) => Ok(Self::Message(name, id)),
            _ => Err(Fault::invalid_uri()),
        }
    }

    /// Returns the name of the queue, which is empty for the service.
    pub(super) fn queue(&self) -> &str {
        match self {
            Self::Service => "",
            Self::Queue(name) | Self::Messages(name) | Self::Message(name, _) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_read_from_paths() {
        let of = |path: &str| {
            let address = Address::parse(path, Some("127.0.0.1:10001"), "acme");
            address.map(|address| address.resource).map_err(|fault| fault.code.into_owned())
        };
        let [hires, id] = ["hires", "1"].map(str::to_owned);
        assert_eq!(of("/acme"), Ok(Resource::Service));
        assert_eq!(of("/acme/"), Ok(Resource::Service));
        assert_eq!(of("/acme/hires"), Ok(Resource::Queue(hires.clone())));
        assert_eq!(of("/acme/hires/messages"), Ok(Resource::Messages(hires.clone())));
        assert_eq!(of("/acme/h%69res/messages/1"), Ok(Resource::Message(hires, id)));
        for bad in [
            "/acme/hires/other",
            "/acme/hires/messages/1/2",
            "/acme//messages/1/2",
            "/acme/%ff",
            "/other/hires",
        ] {
            assert_eq!(of(bad), Err("InvalidUri".to_owned()), "{bad}");
        }
    }

    #[test]
    fn the_account_stands_in_the_path_or_in_the_host() {
        let of = |path: &str, host: &str| Address::parse(path, Some(host), "acme").unwrap();
        let hires = Resource::Queue("hires".to_owned());
        let address = of("/hires", "acme-secondary.queue.localhost:1");
        assert_eq!((address.is_secondary, &address.resource, &*address.prefix), (true, &hires, ""));
        let address = of("/acme/hires", "localhost:1");
        assert_eq!((address.is_secondary, &address.resource, &*address.prefix), (false, &hires, "/acme"));
    }
}
