//! The policies of a table, as XML.

use std::collections::HashSet;

use table_core::Ticks;
use table_core::access::sas::Policy;

use super::xml::{self, Element, Writer};
use crate::fault::Fault;

/// How many policies a table may have.
pub const MOST: usize = 5;
/// How long the name of one may be, in UTF-16 units.
const ID_UNITS: usize = 64;

/// A policy of a table, with its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedIdentifier {
    /// The name that tokens have; it may be empty, and then none has it.
    pub id: String,
    /// The time from which it permits something.
    pub start: Option<Ticks>,
    /// The time from which it permits nothing.
    pub expiry: Option<Ticks>,
    /// What it permits, by letters of `raud`, as they were sent.
    pub permission: Option<String>,
}

impl SignedIdentifier {
    /// Returns what it says of the tokens that name it.
    pub fn policy(&self) -> Policy {
        let policy = self.permission.as_deref().and_then(|letters| Policy::new().permissions(letters).ok());
        let policy = policy.unwrap_or_default();
        let policy = self.start.into_iter().fold(policy, Policy::from);
        self.expiry.into_iter().fold(policy, Policy::until)
    }
}

/// Reads policies. No text at all is none, as clients send it to remove them.
pub fn read(bytes: &[u8]) -> Result<Vec<SignedIdentifier>, Fault> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let root = Element::read(bytes, "SignedIdentifiers")?;
    if root.children.len() > MOST {
        return Err(xml::invalid(&format!("a table has at most {MOST} policies")));
    }
    let mut ids = HashSet::new();
    let read = root.children.iter().map(|element| {
        let policy = one(element)?;
        if ids.insert(policy.id.clone()) {
            Ok(policy)
        } else {
            Err(xml::invalid("two policies have one `Id`"))
        }
    });
    read.collect()
}

fn one(element: &Element) -> Result<SignedIdentifier, Fault> {
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
    if permission.is_some_and(|letters| Policy::new().permissions(letters).is_err()) {
        return Err(xml::invalid_value("Permission", "made of the letters `raud`, each at most once"));
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
