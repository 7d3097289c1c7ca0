//! Names of queues, by the service's rules.

use crate::error::{Error, ErrorKind, Result};

/// The shortest and the longest name.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=63;

/// The end of the name of a queue for messages that were set aside.
pub(crate) const POISON: &str = "-poison";

/// Returns the name of the queue for messages that are set aside of the queue of this name; `None` if it is such a queue
/// itself.
pub fn poison_of(name: &str) -> Option<String> {
    if name.ends_with(POISON) { None } else { Some(format!("{name}{POISON}")) }
}

/// Refuses a name that no queue may have.
pub(crate) fn check(name: &str) -> Result<()> {
    let refuse = |because: String| Err(Error::new(ErrorKind::InvalidQueueName).because(because));
    check_of("queue", name).or_else(refuse)?;
    if !name.ends_with(POISON) && name.len() + POISON.len() > *LENGTHS.end() {
        let most = LENGTHS.end() - POISON.len();
        return refuse(format!(
            "the queue's name has {} characters; with `{POISON}` behind it, for messages that nobody can deal with, it \
             would be too long: it may have {most}",
            name.len()
        ));
    }
    Ok(())
}

/// Refuses a name that nothing may have which the service names as it names queues; why.
pub(crate) fn check_of(what: &str, name: &str) -> Result<(), String> {
    let refuse = Err;
    if !LENGTHS.contains(&name.len()) {
        let (least, most) = (LENGTHS.start(), LENGTHS.end());
        return refuse(format!("the {what}'s name has {} characters; it has {least} to {most}", name.len()));
    }
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if let Some(c) = name.chars().find(|c| !is_allowed(*c)) {
        let c = c.escape_debug();
        return refuse(format!("the {what}'s name has `{c}`; it has small letters, digits and hyphens"));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        return refuse(format!("in a {what}'s name each hyphen stands between letters or digits"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_the_service_has_them() {
        for name in ["abc", "hires", "a-b-c", "2026", "hires-poison", &"a".repeat(56)] {
            check(name).unwrap();
        }
        let long = "a".repeat(64);
        let without_room = "a".repeat(57);
        for (name, said) in [
            ("", "0 characters"),
            ("ab", "3 to 63"),
            (&*long, "64 characters"),
            (&*without_room, "it may have 56"),
            ("Hires", "`H`"),
            ("hi_res", "`_`"),
            ("hires\u{e9}", "small letters"),
            ("-hires", "between"),
            ("hires-", "between"),
            ("hi--res", "between"),
            ("hi\nres", "`\\n`"),
        ] {
            let error = check(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidQueueName, "{name}");
            assert!(error.to_string().contains(said), "{name}: {error}");
        }
    }

    #[test]
    fn the_longest_name_has_a_queue_for_what_nobody_deals_with() {
        let name = "a".repeat(56);
        let poison = poison_of(&name).unwrap();
        check(&poison).unwrap();
        assert_eq!(poison_of(&poison), None);
    }
}
