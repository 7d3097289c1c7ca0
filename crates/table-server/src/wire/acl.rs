//! The policies of a table or a queue, as XML.

use std::collections::HashSet;

use table_core::Ticks;
use table_core::access::sas::Policy;
#[cfg(feature = "queue")]
use table_core::access::sas::QueuePolicy;

use super::xml::{self, Element, Writer};
use crate::fault::Fault;

/// How many policies a table or a queue may have.
pub const MOST: usize = 5;
/// How long the name of one may be, in UTF-16 units.
const ID_UNITS: usize = 64;

/// The letters that policies of tables have.
const OF_TABLES: &str = "raud";
/// The letters that policies of queues have.
#[cfg(feature = "queue")]
const OF_QUEUES: &str = "raup";

/// A policy of a table or a queue, with its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedIdentifier {
    /// The name that tokens have; it may be empty, and then none has it.
    pub id: String,
    /// The time from which it permits something.
    pub start: Option<Ticks>,
    /// The time from which it permits nothing.
    pub expiry: Option<Ticks>,
    /// What it permits, by letters as they were sent.
    pub permission: Option<String>,
}

impl SignedIdentifier {
    /// Returns what it says of the tokens of a queue that name it.
    #[cfg(feature = "queue")]
    pub fn policy_of_queue(&self) -> QueuePolicy {
        let letters = self.permission.as_deref();
        let policy = letters.and_then(|letters| QueuePolicy::new().permissions(letters).ok());
        let policy = self.start.into_iter().fold(policy.unwrap_or_default(), QueuePolicy::from);
        self.expiry.into_iter().fold(policy, QueuePolicy::until)
    }

    /// Returns what it says of the tokens of a table that name it.
    pub fn policy(&self) -> Policy {
        let policy = self.permission.as_deref().and_then(|letters| Policy::new().permissions(letters).ok());
        let policy = policy.unwrap_or_default();
        let policy = self.start.into_iter().fold(policy, Policy::from);
        self.expiry.into_iter().fold(policy, Policy::until)
    }
}

/// Reads the policies of a table. No text at all is none, as clients send it to remove them.
pub fn read(bytes: &[u8]) -> Result<Vec<SignedIdentifier>, Fault> {
    read_with(bytes, OF_TABLES)
}

/// Reads the policies of a queue, as those of tables are read.
#[cfg(feature = "queue")]
pub fn read_of_queue(bytes: &[u8]) -> Result<Vec<SignedIdentifier>, Fault> {
    read_with(bytes, OF_QUEUES)
}

fn read_with(bytes: &[u8], letters: &str) -> Result<Vec<SignedIdentifier>, Fault> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let root = Element::read(bytes, "SignedIdentifiers")?;
    if root.children.len() > MOST {
        return Err(xml::invalid(&format!("there are at most {MOST} policies")));
    }
    let mut ids = HashSet::new();
    let read = root.children.iter().map(|element| {
        let policy = one(element, letters)?;
        if ids.insert(policy.id.clone()) {
            Ok(policy)
        } else {
            Err(xml::invalid("two policies have one `Id`"))
        }
    });
    read.collect()
}

fn one(element: &Element, known: &str) -> Result<SignedIdentifier, Fault> {
    if element.name != "SignedIdentifier" {
        return Err(xml::invalid("`SignedIdentifiers` holds what is no `SignedIdentifier`"));
    }
    let id = element.text_of("Id")?.unwrap_or_default().to_owned();
    if id.encode_utf16().count() > ID_UNITS {
        return Err(xml::invalid("an `Id` has at most 64 characters"));
    }
    let Some(policy) = element.child("AccessPolicy")? else {
        return Ok(SignedIdentifier { id, ..SignedIdentifier::default() });
    };
    let permission = policy.text_of("Permission")?;
    let is_right = |letters: &str| {
        let once = |letter| known.contains(letter) && letters.matches(letter).count() == 1;
        letters.chars().all(once)
    };
    if !permission.is_none_or(is_right) {
        return Err(xml::invalid_value(
            "Permission",
            &format!("made of the letters `{known}`, each at most once"),
        ));
    }
    Ok(SignedIdentifier {
        id,
        start: time(policy, "Start")?,
        expiry: time(policy, "Expiry")?,
        permission: permission.map(str::to_owned),
    })
}

fn time(policy: &Element, name: &str) -> Result<Option<Ticks>, Fault> {
    let time = policy.text_of(name)?.map(str::parse);
    time.transpose().map_err(|_| xml::invalid_value(name, "a time such as `2026-11-28T03:20:00Z`"))
}

/// Returns policies as XML. Clients expect each `Id`, empty or not, and no `AccessPolicy` of a policy that says nothing.
#[must_use]
pub fn to_xml(policies: &[SignedIdentifier]) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.element("SignedIdentifiers", |writer| {
        for SignedIdentifier { id, start, expiry, permission } in policies {
            writer.element("SignedIdentifier", |writer| {
                writer.text("Id", id);
                if start.is_none() && expiry.is_none() && permission.is_none() {
                    return;
                }
                writer.element("AccessPolicy", |writer| {
                    writer.optional("Start", start.map(|time| time.to_string()).as_deref());
                    writer.optional("Expiry", expiry.map(|time| time.to_string()).as_deref());
                    writer.optional("Permission", permission.as_deref());
                });
            });
        }
    });
    writer.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(inner: &str) -> Result<Vec<SignedIdentifier>, Fault> {
        read(format!("<SignedIdentifiers>{inner}</SignedIdentifiers>").as_bytes())
    }

    #[test]
    fn policies_are_read_and_rendered_anew() {
        assert_eq!(read(b" \r\n"), Ok(Vec::new()));
        assert_eq!(of(""), Ok(Vec::new()));
        let read = of("<SignedIdentifier><Id>a&lt;</Id><AccessPolicy><Permission>dr</Permission>\
                       <Expiry>2026-11-28T03:20:00.0000000Z</Expiry><Start>2026-11-27</Start></AccessPolicy></SignedIdentifier>\
                       <SignedIdentifier><Id/></SignedIdentifier><SignedIdentifier><Id>e</Id><AccessPolicy/></SignedIdentifier>");
        let read = read.unwrap();
        let text = String::from_utf8(to_xml(&read)).unwrap();
        assert_eq!(
            text,
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>a&lt;</Id><AccessPolicy>\
             <Start>2026-11-27T00:00:00Z</Start><Expiry>2026-11-28T03:20:00Z</Expiry><Permission>dr</Permission></AccessPolicy>\
             </SignedIdentifier><SignedIdentifier><Id></Id></SignedIdentifier><SignedIdentifier>\
             <Id>e</Id></SignedIdentifier></SignedIdentifiers>"
        );
        let time = |text: &str| text.parse::<Ticks>().unwrap();
        let expected =
            Policy::new().read().delete().from(time("2026-11-27")).until(time("2026-11-28T03:20:00Z"));
        assert_eq!(read.first().map(SignedIdentifier::policy), Some(expected));
        assert_eq!(read.last().map(SignedIdentifier::policy), Some(Policy::new()));
    }

    #[test]
    fn what_no_policy_can_be_is_refused() {
        let policy = |inner: &str| {
            let text = format!(
                "<SignedIdentifier><Id>a</Id><AccessPolicy>{inner}</AccessPolicy></SignedIdentifier>"
            );
            of(&text).unwrap_err().code.into_owned()
        };
        for bad in [
            "<Permission>x</Permission>",
            "<Permission>rr</Permission>",
            "<Start>now</Start>",
            "<Expiry>1</Expiry>",
        ] {
            assert_eq!(policy(bad), "InvalidXmlNodeValue", "{bad}");
        }
        let code = |inner: &str| of(inner).unwrap_err().code.into_owned();
        let named = |id: &str| format!("<SignedIdentifier><Id>{id}</Id></SignedIdentifier>");
        assert_eq!(policy("<Start/><Start/>"), "InvalidXmlDocument");
        assert_eq!(code(&named("a").repeat(2)), "InvalidXmlDocument");
        assert_eq!(code(&(0..6).map(|id| named(&id.to_string())).collect::<String>()), "InvalidXmlDocument");
        assert_eq!(
            of(&(0..5).map(|id| named(&id.to_string())).collect::<String>()).map(|read| read.len()),
            Ok(5)
        );
        assert_eq!(code(&named(&"x".repeat(65))), "InvalidXmlDocument");
        assert!(of(&named(&"x".repeat(64))).is_ok());
        assert_eq!(code("<Other/>"), "InvalidXmlDocument");
        assert_eq!(read(b"<Other/>").unwrap_err().code, "InvalidXmlDocument");
    }

    proptest! {
        #[test]
        fn policies_come_back(id in "[!-~é]{0,20}", start: Option<u32>, expiry: Option<u32>, permission in "(r?a?u?d?)") {
            let time = |ticks: u32| Ticks::new(u64::from(ticks) << 29).unwrap();
            let permission = Some(permission).filter(|letters| !letters.is_empty());
            let policies = [SignedIdentifier { id, start: start.map(time), expiry: expiry.map(time), permission }];
            prop_assert_eq!(read(&to_xml(&policies)), Ok(policies.to_vec()));
        }
    }
}
