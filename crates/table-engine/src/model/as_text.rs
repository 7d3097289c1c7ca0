//! serde's traits for what has one text: it is what is written and read.

/// `Serialize` and `Deserialize` by `Display` and `FromStr`; `$what` is what a reader expects.
macro_rules! as_text {
    ($type:ty, $what:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;

                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Text)
            }
        }
    };
}

pub(crate) use as_text;

as_text!(super::ETag, "an ETag");
as_text!(super::Ticks, "a UTC time such as `2014-07-31T18:00:00Z`");

#[cfg(all(test, feature = "json"))]
mod tests {
    use crate::model::{ETag, Ticks};
    use crate::query::Continuation;

    #[test]
    fn what_has_a_text_is_that_text() {
        let at: Ticks = "2026-11-22T12:00:00Z".parse().unwrap();
        let etag = ETag::from_timestamp(at);
        assert_eq!(serde_json::to_string(&at).unwrap(), "\"2026-11-22T12:00:00Z\"");
        assert_eq!(serde_json::from_str::<Ticks>("\"2026-11-22T12:00:00Z\"").unwrap(), at);
        let json = serde_json::to_string(&etag).unwrap();
        assert_eq!(serde_json::from_str::<ETag>(&json).unwrap(), etag);
        // Escapes make the text one that can't be borrowed.
        assert_eq!(serde_json::from_reader::<_, ETag>(json.as_bytes()).unwrap(), etag);
    }

    #[test]
    fn another_text_is_refused_in_words() {
        let error = serde_json::from_str::<Ticks>("\"yesterday\"").unwrap_err();
        assert!(error.to_string().starts_with("not a UTC time such as"), "{error}");
        let error = serde_json::from_str::<Ticks>("7").unwrap_err();
        assert!(error.to_string().contains("expected a UTC time such as"), "{error}");
        assert!(serde_json::from_str::<ETag>("\"*\"").is_err());
        let error = serde_json::from_str::<Continuation>("\"!\"").unwrap_err();
        assert!(error.to_string().contains("the token is damaged"), "{error}");
    }

    #[test]
    fn types_of_others_that_fields_have_are_known_to_serde_too() {
        fn is_known<T: serde::Serialize + for<'de> serde::Deserialize<'de>>() {}
        is_known::<uuid::Uuid>();
        #[cfg(feature = "chrono")]
        is_known::<chrono::DateTime<chrono::Utc>>();
        #[cfg(feature = "jiff")]
        is_known::<jiff::Timestamp>();
    }
}
