//! The texts that a key of an account signs.

/// What of a request is signed. A header that the request does not have is empty.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'r> {
    /// The name of the account.
    pub account: &'r str,
    /// The method of HTTP.
    pub method: &'r str,
    /// The header `Content-MD5`.
    pub content_md5: &'r str,
    /// The header `Content-Type`.
    pub content_type: &'r str,
    /// The header `x-ms-date`, or `Date` where there is none.
    pub date: &'r str,
    /// The path as it is sent, with its escapes.
    pub path: &'r str,
    /// The value of the parameter `comp`, without escapes, if the query has one.
    pub comp: Option<&'r str>,
}

impl Signed<'_> {
    /// Returns the text that the scheme `SharedKey` signs.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n{}", self.method, self.content_md5, self.content_type, self.lite_text())
    }

    /// Returns the text that the scheme `SharedKeyLite` signs.
    #[must_use]
    pub fn lite_text(&self) -> String {
        let comp = self.comp.map(|comp| format!("?comp={comp}")).unwrap_or_default();
        format!("{}\n/{}{}{comp}", self.date, self.account, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_has_its_text() {
        let signed = Signed {
            account: "acme",
            method: "GET",
            content_md5: "",
            content_type: "application/json",
            date: "Sat, 28 Nov 2026 03:20:09 GMT",
            path: "/acme/Company(PartitionKey='a%20b',RowKey='')",
            comp: None,
        };
        let resource = "/acme/acme/Company(PartitionKey='a%20b',RowKey='')";
        assert_eq!(signed.lite_text(), format!("Sat, 28 Nov 2026 03:20:09 GMT\n{resource}"));
        assert_eq!(
            signed.text(),
            format!("GET\n\napplication/json\nSat, 28 Nov 2026 03:20:09 GMT\n{resource}")
        );
        let acl = Signed { path: "/Company", comp: Some("acl"), ..signed };
        assert_eq!(acl.lite_text(), "Sat, 28 Nov 2026 03:20:09 GMT\n/acme/Company?comp=acl");
    }
}
