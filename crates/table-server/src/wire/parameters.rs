//! The query of an address.

use table_wire::percent;

use crate::fault::Fault;

/// The most parameters of a query: clients send a dozen. Each is compared with all before it, before the sender is
/// authenticated.
const MOST: usize = 100;

/// The parameters of a query, decoded.
#[derive(Clone, Debug, Default)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads a query. In a value a `+` is a space, as forms write it; clients of the protocol escape a plus that is meant.
    pub fn parse(query: &str) -> Result<Self, Fault> {
        let mut all: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = percent::decode(name)?.into_owned();
            let value = percent::decode(&value.replace('+', " "))?.into_owned();
            add(name, value, &mut all)?;
        }
        Ok(Self(all))
    }

    /// Returns them with names in small letters, as shared keys sign those of queues: in other letters none is passed over.
    #[cfg(feature = "queue")]
    pub fn in_small_letters(self) -> Result<Self, Fault> {
        let mut all = Vec::with_capacity(self.0.len());
        for (name, value) in self.0 {
            add(name.to_ascii_lowercase(), value, &mut all)?;
        }
        Ok(Self(all))
    }

    /// Returns the value of a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// Adds a parameter; two of a name could be read as one by what checks and as the other by what acts.
fn add(name: String, value: String, all: &mut Vec<(String, String)>) -> Result<(), Fault> {
    if all.len() == MOST {
        let text = format!("The query has more than {MOST} parameters.");
        return Err(Fault::new(400, "InvalidQueryParameterValue", text));
    }
    if all.iter().any(|(other, _)| *other == name) {
        let text = format!("The query parameter `{}` is there twice.", name.escape_debug());
        return Err(Fault::new(400, "InvalidQueryParameterValue", text));
    }
    all.push((name, value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_there_once() {
        let read = Parameters::parse("$filter=A+eq%20'x%2By'&comp&&sig=a%3D=").unwrap();
        assert_eq!(read.get("$filter"), Some("A eq 'x+y'"));
        assert_eq!((read.get("comp"), read.get("sig"), read.get("Comp")), (Some(""), Some("a=="), None));
        let twice = Parameters::parse("tn=a&%74n=b").unwrap_err();
        assert_eq!((twice.status, &*twice.code), (400, "InvalidQueryParameterValue"));
        assert_eq!(Parameters::parse("a=%").unwrap_err().code, "InvalidUri");
    }

    #[test]
    fn there_are_at_most_a_hundred_parameters() {
        let many =
            |count: usize| (0..count).map(|number| format!("p{number}=1")).collect::<Vec<_>>().join("&");
        assert!(Parameters::parse(&many(100)).is_ok());
        let refused = Parameters::parse(&many(101)).unwrap_err();
        assert_eq!((refused.status, &*refused.code), (400, "InvalidQueryParameterValue"));
    }
}
