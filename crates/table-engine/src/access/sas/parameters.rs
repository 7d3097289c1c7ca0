//! The parameters of a token, and the text that is signed.

use super::error::SasError;
use super::text;

/// The parameters, in the order in which a token has them.
const NAMES: [&str; 16] =
    ["st", "se", "sp", "sip", "spr", "sv", "si", "ss", "srt", "ses", "tn", "spk", "srk", "epk", "erk", "sig"];

/// The first version of tokens of tables.
const FIRST_OF_TABLES: &str = "2012-02-12";
/// From here on the resource names its service.
const NAMES_SERVICE: &str = "2015-02-21";
/// From here on addresses and protocols are signed, and there are tokens of accounts.
const FIRST_OF_ACCOUNTS: &str = "2015-04-05";
/// From here on tokens of accounts have `ses`.
const HAS_SCOPE: &str = "2020-12-06";

/// The values of a token's parameters, as they were before they were escaped. One that is empty counts as absent.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    values: [Option<String>; NAMES.len()],
}

impl Parameters {
    /// Reads them out of the query of a URL, which may have others.
    pub(super) fn of_query(query: &str) -> Result<Self, SasError> {
        let (mut found, mut seen) = (Self::default(), [false; NAMES.len()]);
        let query = query.strip_prefix('?').unwrap_or(query);
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let name = text::unescape(name).ok_or(SasError::NotAQuery)?;
            let Some(at) = NAMES.iter().position(|known| *known == name) else { continue };
            if let (Some(seen), Some(name)) = (seen.get_mut(at), NAMES.get(at))
                && std::mem::replace(seen, true)
            {
                return Err(SasError::Twice(name));
            }
            let value = text::unescape(value).ok_or(SasError::NotAQuery)?;
            if let (Some(found), false) = (found.values.get_mut(at), value.is_empty()) {
                *found = Some(value);
            }
        }
        Ok(found)
    }

    /// Returns the query of a URL that has these.
    pub(super) fn to_query(&self) -> String {
        let mut query = String::new();
        for (name, value) in NAMES.iter().zip(&self.values) {
            let Some(value) = value else { continue };
            if !query.is_empty() {
                query.push('&');
            }
            query.push_str(name);
            query.push('=');
            text::escape(value, &mut query);
        }
        query
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let at = NAMES.iter().position(|known| *known == name)?;
        self.values.get(at)?.as_deref()
    }

    /// Sets a parameter; a value that is empty is none.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        let at = NAMES.iter().position(|known| *known == name);
        if let Some(slot) = at.and_then(|at| self.values.get_mut(at)) {
            *slot = Some(value.into()).filter(|value| !value.is_empty());
        }
    }

    pub(super) fn need(&self, name: &'static str) -> Result<&str, SasError> {
        self.get(name).ok_or(SasError::Missing(name))
    }

    /// Returns whether it is the token of an account, and not of a table.
    pub(super) fn are_of_account(&self) -> bool {
        self.get("ss").is_some() || self.get("srt").is_some()
    }

    /// Refuses the first of these parameters that is there.
    pub(super) fn lack(&self, names: &[&'static str]) -> Result<(), SasError> {
        match names.iter().find(|name| self.get(name).is_some()) {
            Some(name) => Err(SasError::Unexpected(name)),
            None => Ok(()),
        }
    }

    /// Returns the text that is signed of the token of a queue, or of an account.
    pub(super) fn to_sign_of_queue(&self, account: &str, queue: &str) -> Result<String, SasError> {
        if self.are_of_account() {
            return self.to_sign(account);
        }
        let version = self.version()?;
        if version < FIRST_OF_TABLES {
            return Err(SasError::VersionTooOld);
        }
        let service = if version >= NAMES_SERVICE { "/queue" } else { "" };
        let mut fields = self.first_fields(&format!("{service}/{account}/{queue}"), version).join("\n");
        fields.push('\n');
        fields.push_str(version);
        Ok(fields)
    }

    /// Returns the version, which is a date.
    fn version(&self) -> Result<&str, SasError> {
        let version = self.need("sv")?;
        let is_version = version.len() == 10 && version.parse::<crate::model::Ticks>().is_ok();
        if is_version { Ok(version) } else { Err(SasError::Malformed("sv")) }
    }

    /// Returns what is signed of the token of a resource before the version.
    fn first_fields<'f>(&'f self, resource: &'f str, version: &str) -> Vec<&'f str> {
        let value = |name| self.get(name).unwrap_or_default();
        let mut fields = vec![value("sp"), value("st"), value("se"), resource, value("si")];
        if version >= FIRST_OF_ACCOUNTS {
            fields.extend([value("sip"), value("spr")]);
        }
        fields
    }

    /// Returns the text that is signed of the token of a table, or of an account.
    pub(super) fn to_sign(&self, account: &str) -> Result<String, SasError> {
        let version = self.version()?;
        let has = |since: &str| version >= since;
        let value = |name| self.get(name).unwrap_or_default();
        if self.are_of_account() {
            if !has(FIRST_OF_ACCOUNTS) {
                return Err(SasError::VersionTooOld);
            }
            let mut signed = account.to_owned();
            signed.push('\n');
            let scope = has(HAS_SCOPE).then_some("ses");
            for name in ["sp", "ss", "srt", "st", "se", "sip", "spr", "sv"].into_iter().chain(scope) {
                signed.push_str(value(name));
                signed.push('\n');
            }
            return Ok(signed);
        }
        if !has(FIRST_OF_TABLES) {
            return Err(SasError::VersionTooOld);
        }
        let service = if has(NAMES_SERVICE) { "/table" } else { "" };
        let resource = format!("{service}/{account}/{}", self.need("tn")?.to_ascii_lowercase());
        let mut fields = self.first_fields(&resource, version);
        fields.extend(["sv", "spk", "srk", "epk", "erk"].map(value));
        Ok(fields.join("\n"))
    }
}
