//! The properties of the service, and its statistics, as XML.

use table_core::Ticks;
use table_wire::date;

use super::xml::{self, Element, Writer};
use crate::fault::Fault;

/// How many rules of origins there may be.
const RULES: usize = 5;
/// How long the lists of all rules may be together, in bytes.
const RULE_BYTES: usize = 2 << 10;
/// The version of what is logged and measured.
const VERSION: &str = "1.0";

/// The properties of the service. Of logs and measurements they are kept and told, and nothing else is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceProperties {
    /// What is logged.
    pub logging: Logging,
    /// What is measured by the hour.
    pub hour_metrics: Metrics,
    /// What is measured by the minute.
    pub minute_metrics: Metrics,
    /// Which pages of others a browser may let ask.
    pub cors: Vec<CorsRule>,
}

/// What is logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logging {
    /// Deletions.
    pub delete: bool,
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// For how many days, if not for ever.
    pub days: Option<u16>,
}

/// What is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Whether anything is.
    pub enabled: bool,
    /// Whether each operation is by itself, if that was said.
    pub include_apis: Option<bool>,
    /// For how many days it is kept, if not for ever.
    pub days: Option<u16>,
}

/// Which pages of others a browser may let ask, and what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorsRule {
    /// The origins of the pages, or `*`.
    pub origins: Vec<String>,
    /// The methods.
    pub methods: Vec<String>,
    /// The headers that may be sent, or how they begin, with a `*`.
    pub allowed_headers: Vec<String>,
    /// The headers that a page may see of an answer.
    pub exposed_headers: Vec<String>,
    /// For how many seconds a browser may remember it.
    pub max_age: u32,
}

impl ServiceProperties {
    /// Returns these with what a text says; what it leaves out stays as it is.
    pub fn updated(&self, bytes: &[u8]) -> Result<Self, Fault> {
        let root = Element::read(bytes, "StorageServiceProperties")?;
        let mut all = self.clone();
        if let Some(logging) = root.child("Logging")? {
            all.logging = Logging {
                delete: flag(logging, "Delete")?.unwrap_or(false),
                read: flag(logging, "Read")?.unwrap_or(false),
                write: flag(logging, "Write")?.unwrap_or(false),
                days: days(logging)?,
            };
        }
        for (name, kept) in
            [("HourMetrics", &mut all.hour_metrics), ("MinuteMetrics", &mut all.minute_metrics)]
        {
            if let Some(metrics) = root.child(name)? {
                *kept = Metrics {
                    enabled: flag(metrics, "Enabled")?.unwrap_or(false),
                    include_apis: flag(metrics, "IncludeAPIs")?,
                    days: days(metrics)?,
                };
            }
        }
        if let Some(cors) = root.child("Cors")? {
            if cors.children.len() > RULES {
                return Err(xml::invalid(&format!("there are at most {RULES} rules of `Cors`")));
            }
            all.cors = cors.children.iter().map(CorsRule::read).collect::<Result<_, _>>()?;
            if all.cors.iter().map(CorsRule::bytes).sum::<usize>() > RULE_BYTES {
                return Err(xml::invalid(&format!("the rules of `Cors` are longer than {RULE_BYTES} bytes")));
            }
        }
        Ok(all)
    }

    /// Returns them as XML, complete.
    #[must_use]
    pub fn to_xml(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.element("StorageServiceProperties", |writer| {
            let Logging { delete, read, write, days } = self.logging;
            writer.element("Logging", |writer| {
                writer.text("Version", VERSION);
                for (name, value) in [("Delete", delete), ("Read", read), ("Write", write)] {
                    writer.text(name, flag_text(value));
                }
                retention(days, writer);
            });
            for (name, metrics) in
                [("HourMetrics", &self.hour_metrics), ("MinuteMetrics", &self.minute_metrics)]
            {
                writer.element(name, |writer| {
                    writer.text("Version", VERSION);
                    writer.text("Enabled", flag_text(metrics.enabled));
                    writer.optional("IncludeAPIs", metrics.include_apis.map(flag_text));
                    retention(metrics.days, writer);
                });
            }
            writer.element("Cors", |writer| self.cors.iter().for_each(|rule| rule.write(writer)));
        });
        writer.finish()
    }
}

impl CorsRule {
    /// The methods that a rule may name.
    const METHODS: [&'static str; 8] = ["DELETE", "GET", "HEAD", "MERGE", "OPTIONS", "PATCH", "POST", "PUT"];

    fn read(element: &Element) -> Result<Self, Fault> {
        if element.name != "CorsRule" {
            return Err(xml::invalid("`Cors` holds what is no `CorsRule`"));
        }
        let list = |name: &str| -> Result<Vec<String>, Fault> {
            let items = element.text_of(name)?.unwrap_or_default().split(',').map(str::trim);
            let items: Vec<_> = items.filter(|item| !item.is_empty()).map(str::to_owned).collect();
            // They are told in headers.
            let is_plain = |item: &String| item.bytes().all(|byte| byte.is_ascii_graphic());
            if items.len() <= 64 && items.iter().all(|item| item.len() <= 256 && is_plain(item)) {
                Ok(items)
            } else {
                Err(xml::invalid_value(
                    name,
                    "a list of at most 64 texts of ASCII, with commas between, of at most 256 letters each",
                ))
            }
        };
        let rule = Self {
            origins: list("AllowedOrigins")?,
            methods: list("AllowedMethods")?,
            allowed_headers: list("AllowedHeaders")?,
            exposed_headers: list("ExposedHeaders")?,
            max_age: number(element, "MaxAgeInSeconds", 0..=i32::MAX.unsigned_abs())?.unwrap_or(0),
        };
        if rule.origins.is_empty() {
            return Err(xml::invalid_value("AllowedOrigins", "`*`, or one origin at least"));
        }
        if rule.methods.is_empty()
            || rule.methods.iter().any(|method| !Self::METHODS.contains(&method.as_str()))
        {
            return Err(xml::invalid_value(
                "AllowedMethods",
                "one method at least, and methods of HTTP alone",
            ));
        }
        Ok(rule)
    }

    fn lists(&self) -> [(&'static str, &[String]); 4] {
        [
            ("AllowedOrigins", &self.origins),
            ("AllowedMethods", &self.methods),
            ("AllowedHeaders", &self.allowed_headers),
            ("ExposedHeaders", &self.exposed_headers),
        ]
    }

    fn bytes(&self) -> usize {
        self.lists().iter().flat_map(|(_, list)| list.iter()).map(|item| item.len() + 1).sum()
    }

    fn write(&self, writer: &mut Writer) {
        writer.element("CorsRule", |writer| {
            for (name, list) in self.lists() {
                writer.text(name, &list.join(","));
            }
            writer.text("MaxAgeInSeconds", &self.max_age.to_string());
        });
    }
}

fn flag_text(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}

fn flag(element: &Element, name: &str) -> Result<Option<bool>, Fault> {
    match element.text_of(name)? {
        None => Ok(None),
        // Some clients write their language's own word.
        Some("true" | "True") => Ok(Some(true)),
        Some("false" | "False") => Ok(Some(false)),
        Some(_) => Err(xml::invalid_value(name, "`true` or `false`")),
    }
}

fn number(element: &Element, name: &str, range: std::ops::RangeInclusive<u32>) -> Result<Option<u32>, Fault> {
    let Some(text) = element.text_of(name)? else { return Ok(None) };
    let number = text.parse().ok().filter(|number| range.contains(number));
    let right = || format!("a number from {} to {}", range.start(), range.end());
    number.map(Some).ok_or_else(|| xml::invalid_value(name, &right()))
}

fn days(element: &Element) -> Result<Option<u16>, Fault> {
    let Some(policy) = element.child("RetentionPolicy")? else { return Ok(None) };
    let days = number(policy, "Days", 1..=365)?.and_then(|days| u16::try_from(days).ok());
    match (flag(policy, "Enabled")?.unwrap_or(false), days) {
        (true, None) => Err(xml::invalid_value("Days", "needed where the policy is enabled")),
        (true, days) => Ok(days),
        (false, _) => Ok(None),
    }
}

fn retention(days: Option<u16>, writer: &mut Writer) {
    writer.element("RetentionPolicy", |writer| {
        writer.text("Enabled", flag_text(days.is_some()));
        writer.optional("Days", days.map(|days| days.to_string()).as_deref());
    });
}

/// Returns the statistics of the service: its secondary address has all that was written until this time.
#[must_use]
pub fn stats(now: Ticks) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.element("StorageServiceStats", |writer| {
        writer.element("GeoReplication", |writer| {
            writer.text("Status", "live");
            writer.text("LastSyncTime", &date::format(now));
        });
    });
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updated(from: &ServiceProperties, inner: &str) -> Result<ServiceProperties, Fault> {
        from.updated(format!("<StorageServiceProperties>{inner}</StorageServiceProperties>").as_bytes())
    }

    fn rule(origins: &str, methods: &str) -> String {
        format!(
            "<CorsRule><AllowedOrigins>{origins}</AllowedOrigins><AllowedMethods>{methods}</AllowedMethods>\
             <AllowedHeaders>x-ms-meta*, accept</AllowedHeaders><ExposedHeaders>*</ExposedHeaders>\
             <MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule>"
        )
    }

    #[test]
    fn defaults_are_written_out() {
        let text = String::from_utf8(ServiceProperties::default().to_xml()).unwrap();
        let metrics = "<Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>";
        assert_eq!(
            text,
            format!(
                "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Logging><Version>1.0</Version>\
                 <Delete>false</Delete><Read>false</Read><Write>false</Write><RetentionPolicy><Enabled>false</Enabled>\
                 </RetentionPolicy></Logging><HourMetrics>{metrics}</HourMetrics><MinuteMetrics>{metrics}</MinuteMetrics>\
                 <Cors></Cors></StorageServiceProperties>"
            )
        );
    }

    #[test]
    fn what_is_left_out_stays_and_all_comes_back() {
        let days = |days: u16| {
            format!("<RetentionPolicy><Enabled>true</Enabled><Days>{days}</Days></RetentionPolicy>")
        };
        let first = updated(
            &ServiceProperties::default(),
            &format!(
                "<Logging><Version>1.0</Version><Delete>true</Delete><Read>True</Read><Write>false</Write>{}</Logging>\
                 <HourMetrics><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>{}</HourMetrics>",
                days(1),
                days(365)
            ),
        );
        let first = first.unwrap();
        assert_eq!(first.logging, Logging { delete: true, read: true, write: false, days: Some(1) });
        let second =
            updated(&first, &format!("<Cors>{}</Cors>", rule("http://a,http://b", "GET, PUT").repeat(5)))
                .unwrap();
        assert_eq!((&second.logging, &second.hour_metrics), (&first.logging, &first.hour_metrics));
        assert_eq!((second.hour_metrics.days, second.hour_metrics.include_apis), (Some(365), Some(true)));
        assert_eq!((second.cors.len(), second.cors.first().map(|rule| rule.max_age)), (5, Some(60)));
        assert_eq!(ServiceProperties::default().updated(&second.to_xml()), Ok(second.clone()));
        assert_eq!(updated(&second, "<Cors/>"), Ok(first));
    }

    #[test]
    fn what_no_property_can_be_is_refused() {
        let code = |inner: &str| updated(&ServiceProperties::default(), inner).unwrap_err().code.into_owned();
        let days = |days: &str| {
            format!("<Logging><RetentionPolicy><Enabled>true</Enabled>{days}</RetentionPolicy></Logging>")
        };
        for bad in ["", "<Days>0</Days>", "<Days>366</Days>", "<Days>x</Days>", "<Days>-1</Days>"] {
            assert_eq!(code(&days(bad)), "InvalidXmlNodeValue", "{bad}");
        }
        assert_eq!(code("<Logging><Read>yes</Read></Logging>"), "InvalidXmlNodeValue");
        assert_eq!(code("<Logging/><Logging/>"), "InvalidXmlDocument");
        let rules = |rules: &str| code(&format!("<Cors>{rules}</Cors>"));
        assert_eq!(rules(&rule("*", "GET").repeat(6)), "InvalidXmlDocument");
        assert_eq!(rules("<Rule/>"), "InvalidXmlDocument");
        for (origins, methods) in [
            ("", "GET"),
            ("*", ""),
            ("*", "TEA"),
            ("a\r\nb", "GET"),
            ("é", "GET"),
            (&*"x".repeat(257), "GET"),
        ] {
            assert_eq!(rules(&rule(origins, methods)), "InvalidXmlNodeValue", "{origins} {methods}");
        }
        assert_eq!(rules(&rule(&format!("{0},{0}", "x".repeat(256)), "GET").repeat(5)), "InvalidXmlDocument");
    }

    #[test]
    fn statistics_have_a_time_of_headers() {
        let text = String::from_utf8(stats("2026-11-28T03:20:09.1234567Z".parse().unwrap())).unwrap();
        assert!(
            text.contains("<Status>live</Status><LastSyncTime>Sat, 28 Nov 2026 03:20:09 GMT</LastSyncTime>"),
            "{text}"
        );
    }
}
