//! What an error says, with the keys that it names and without.

use std::borrow::Cow;
use std::fmt;

use super::Error;

impl Error {
    /// Returns the text without the keys that it names, for a log that is to hold none.
    ///
    /// ```
    /// use table_core::{DynamicEntity, Store};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::open(dir.path().join("company.tables"))?;
    /// let company = store.create_table("Company")?;
    /// let jun = DynamicEntity::new("Marketing", "empid_000002");
    /// company.insert(&jun)?;
    ///
    /// let error = company.insert(&jun).unwrap_err();
    /// assert_eq!(error.text_without_keys(), "cannot insert into table `Company`: the entity exists already");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn text_without_keys(&self) -> String {
        let mut text = String::new();
        // A text takes all that is written.
        self.write(&mut text, false).unwrap_or_default();
        text
    }

    fn write(&self, f: &mut impl fmt::Write, with_keys: bool) -> fmt::Result {
        let inner = &*self.0;
        if !inner.attempted.is_empty() {
            write!(f, "cannot {}", inner.attempted)?;
            let places = [
                ("queue", &inner.queue, true),
                ("container", &inner.container, true),
                ("blob", &inner.blob, false),
                ("table", &inner.table, true),
                ("partition", &inner.partition, false),
                ("row", &inner.row, false),
            ];
            let mut separator = " ";
            for (what, name, is_shown) in places {
                if let Some(name) = name.as_ref().filter(|_| is_shown || with_keys) {
                    write!(f, "{separator}{what} `{}`", name.escape_debug())?;
                    separator = ", ";
                }
            }
            if let Some(index) = inner.index {
                write!(f, "{separator}operation {index}")?;
            }
            f.write_str(": ")?;
        }
        match (&*inner.because, &inner.source) {
            ("", Some(source)) => match source.downcast_ref::<Self>() {
                Some(source) if !with_keys => write!(f, "{}: {}", inner.kind, source.text_without_keys())?,
                _ => write!(f, "{}: {source}", inner.kind)?,
            },
            ("", None) => write!(f, "{}", inner.kind)?,
            (because, _) if with_keys => f.write_str(because)?,
            (because, _) => f.write_str(&keyless(because))?,
        }
        if let Some(position) = inner.position {
            write!(f, " (at byte {position})")?;
        }
        Ok(())
    }
}

/// Returns a detail without the keys that it quotes. A key may hold a quote, so what lies between the first and the last goes.
fn keyless(because: &str) -> Cow<'_, str> {
    // U+0060 is the mark that names are quoted in.
    let quoted = ["partition \u{60}", "row \u{60}", "blob \u{60}"].into_iter();
    let begins = quoted.filter_map(|what| because.find(what).map(|at| at.saturating_add(what.len()))).min();
    let parts = begins.and_then(|begins| {
        let (before, quoted) = because.split_at_checked(begins)?;
        Some((before, quoted.rsplit_once('\u{60}').map_or("", |(_, after)| after)))
    });
    match parts {
        Some((before, after)) => Cow::Owned(format!("{before}..\u{60}{after}")),
        None => Cow::Borrowed(because),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}

#[cfg(test)]
mod tests {
    use crate::error::{Error, ErrorKind};

    #[test]
    fn the_text_names_the_place_and_the_reason() {
        let error = Error::new(ErrorKind::ConditionNotMet)
            .attempted("merge into")
            .table("Company")
            .partition("Sales")
            .row("empid_000001")
            .at_index(3);
        assert_eq!(
            error.to_string(),
            "cannot merge into table `Company`, partition `Sales`, row `empid_000001`, operation 3: \
             the entity's ETag is another; read it again"
        );
        assert_eq!(error.index(), Some(3));
    }

    #[test]
    fn a_text_without_keys_has_those_of_the_detail_left_out_too() {
        let error =
            Error::new(ErrorKind::Corrupt).attempted("read").table("Company").partition("Sales").row("1");
        let because = "row `a\u{60}b` is not part 2 of it: in partition `Sales`, row `1`, it is missing";
        let error = error.because(because).at_index(3);
        assert_eq!(
            error.text_without_keys(),
            "cannot read table `Company`, operation 3: row `..`, it is missing"
        );
        let error = Error::new(ErrorKind::Io).because("writing `/data/company.tables`: the disk is gone");
        assert_eq!(error.text_without_keys(), error.to_string());
    }
}
