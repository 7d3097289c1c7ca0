//! One error for everything that can go wrong.

mod kind;
mod service;
mod text;

use std::borrow::Cow;
use std::fmt;

pub use self::kind::ErrorKind;
use crate::query::Continuation;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What was attempted, on which row, what is wrong, and what would be right.
///
/// Match on [`kind`](Self::kind); show the `Display` text to people. It names tables and keys, and never the
/// value of a property.
///
/// ```
/// use table_core::{DynamicEntity, ErrorKind, Store};
///
/// # let dir = tempfile::tempdir()?;
/// let store = Store::open(dir.path().join("company.tables"))?;
/// let company = store.create_table("Company")?;
/// let jun = DynamicEntity::new("Marketing", "empid_000002");
/// company.insert(&jun)?;
///
/// let error = company.insert(&jun).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::EntityAlreadyExists);
/// assert_eq!((error.kind().code(), error.kind().status()), ("EntityAlreadyExists", 409));
/// assert_eq!(
///     error.to_string(),
///     "cannot insert into table `Company`, partition `Marketing`, row `empid_000002`: \
///      the entity exists already"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    /// The service's code for the operation, where it is another than the kind's.
    code: Option<&'static str>,
    attempted: &'static str,
    queue: Option<Box<str>>,
    container: Option<Box<str>>,
    blob: Option<Box<str>>,
    table: Option<Box<str>>,
    partition: Option<Box<str>>,
    row: Option<Box<str>>,
    index: Option<usize>,
    position: Option<usize>,
    because: Cow<'static, str>,
    continuation: Option<Box<Continuation>>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    #[doc(hidden)]
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            code: None,
            attempted: "",
            queue: None,
            container: None,
            blob: None,
            table: None,
            partition: None,
            row: None,
            index: None,
            position: None,
            because: Cow::Borrowed(""),
            continuation: None,
            source: None,
        }))
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the service's own code for the error: its [kind's](ErrorKind::code), but for one operation. Dropping a table that
    /// is not there is `ResourceNotFound`, where all else that is asked of one is `TableNotFound`; the kind is the same.
    ///
    /// ```
    /// use table_core::{ErrorKind, Store};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::open(dir.path().join("company.tables"))?;
    /// let (opened, dropped) = (store.dynamic_table("Company").unwrap_err(), store.drop_table("Company").unwrap_err());
    /// assert_eq!((opened.kind(), opened.code()), (ErrorKind::TableNotFound, "TableNotFound"));
    /// assert_eq!((dropped.kind(), dropped.code()), (ErrorKind::TableNotFound, "ResourceNotFound"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn code(&self) -> &'static str {
        self.0.code.unwrap_or_else(|| self.0.kind.code())
    }

    /// Returns the HTTP status that the service sends with it.
    pub fn status(&self) -> u16 {
        self.0.kind.status()
    }

    /// Returns the queue concerned, if there is one.
    pub fn queue_name(&self) -> Option<&str> {
        self.0.queue.as_deref()
    }

    /// Returns the container concerned, if there is one.
    pub fn container_name(&self) -> Option<&str> {
        self.0.container.as_deref()
    }

    /// Returns the name of the blob concerned, if there is one.
    pub fn blob_name(&self) -> Option<&str> {
        self.0.blob.as_deref()
    }

    /// Returns the table concerned, if there is one.
    pub fn table_name(&self) -> Option<&str> {
        self.0.table.as_deref()
    }

    /// Returns the partition key concerned.
    pub fn partition_key(&self) -> Option<&str> {
        self.0.partition.as_deref()
    }

    /// Returns the row key concerned.
    pub fn row_key(&self) -> Option<&str> {
        self.0.row.as_deref()
    }

    /// Returns which operation of a batch failed, counted from zero.
    pub fn index(&self) -> Option<usize> {
        self.0.index
    }

    /// Returns where a filter's text went wrong, as a byte offset into it.
    pub fn position(&self) -> Option<usize> {
        self.0.position
    }

    /// Returns where a page of the query goes on, of the error of a stream that has given up its snapshot.
    pub fn continuation(&self) -> Option<&Continuation> {
        self.0.continuation.as_deref()
    }

    /// Says where a page of the query goes on.
    #[cfg(feature = "async")]
    #[must_use]
    pub(crate) fn going_on_at(mut self, place: Continuation) -> Self {
        self.0.continuation = Some(Box::new(place));
        self
    }

    /// Returns what is wrong, in the words that follow what was attempted.
    #[doc(hidden)]
    pub fn reason(&self) -> &str {
        if self.0.because.is_empty() { self.0.kind.text() } else { &self.0.because }
    }

    /// Adds the detail: the number that is too large, the character that is not allowed.
    #[doc(hidden)]
    #[must_use]
    pub fn because(mut self, because: impl Into<Cow<'static, str>>) -> Self {
        self.0.because = because.into();
        self
    }

    /// Adds to the detail.
    #[doc(hidden)]
    #[must_use]
    pub fn and(mut self, more: &str) -> Self {
        self.0.because = Cow::Owned(format!("{}{more}", self.reason()));
        self
    }

    /// Says what was attempted, in words that follow "cannot ". The outermost caller's words stand.
    #[doc(hidden)]
    #[must_use]
    pub fn attempted(mut self, attempted: &'static str) -> Self {
        self.0.attempted = attempted;
        self
    }

    /// Says what was attempted, and where, if that has not been said yet.
    #[cold]
    #[must_use]
    pub(crate) fn placed(
        self,
        attempted: &'static str,
        table: &str,
        partition: &str,
        row: Option<&str>,
    ) -> Self {
        if self.0.table.is_some() {
            return self;
        }
        let placed = self.attempted(attempted).table(table).partition(partition);
        match row {
            Some(row) => placed.row(row),
            None => placed,
        }
    }

    #[must_use]
    pub(crate) fn queue(mut self, name: &str) -> Self {
        self.0.queue = Some(shown(name));
        self
    }

    #[cfg(feature = "blob")]
    #[must_use]
    pub(crate) fn container(mut self, name: &str) -> Self {
        self.0.container = Some(shown(name));
        self
    }

    #[cfg(feature = "blob")]
    #[must_use]
    pub(crate) fn blob(mut self, name: &str) -> Self {
        self.0.blob = Some(shown(name));
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn table(mut self, name: &str) -> Self {
        self.0.table = Some(shown(name));
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn partition(mut self, key: &str) -> Self {
        self.0.partition = Some(shown(key));
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn row(mut self, key: &str) -> Self {
        self.0.row = Some(shown(key));
        self
    }

    #[must_use]
    pub(crate) fn at_index(mut self, index: usize) -> Self {
        self.0.index = Some(index);
        self
    }

    /// Returns the failure as another kind.
    #[must_use]
    pub(crate) fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self.0.code = None;
        self
    }

    /// Returns the failure with another code than the kind's.
    #[must_use]
    pub(crate) fn with_code(mut self, code: &'static str) -> Self {
        self.0.code = Some(code);
        self
    }

    #[must_use]
    pub(crate) fn at_position(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// Returns the error once more, with its place. Its source becomes text.
    pub(crate) fn again(&self) -> Self {
        let inner = &*self.0;
        let mut error = self.duplicate();
        error.0.attempted = inner.attempted;
        error.0.queue.clone_from(&inner.queue);
        error.0.container.clone_from(&inner.container);
        error.0.blob.clone_from(&inner.blob);
        error.0.table.clone_from(&inner.table);
        error.0.partition.clone_from(&inner.partition);
        error.0.row.clone_from(&inner.row);
        error.0.index = inner.index;
        error.0.position = inner.position;
        error.0.continuation.clone_from(&inner.continuation);
        error
    }

    /// Returns the error for another member of a group that failed as one. Its source becomes text.
    #[doc(hidden)]
    #[must_use]
    pub fn duplicate(&self) -> Self {
        let inner = &*self.0;
        let because = match &inner.source {
            Some(source) if inner.because.is_empty() => Cow::Owned(source.to_string()),
            _ => inner.because.clone(),
        };
        let mut error = Self::new(inner.kind).because(because);
        error.0.code = inner.code;
        error
    }
}

/// Returns a key as an error shows it. A refused key may have any length; its start says enough.
fn shown(text: &str) -> Box<str> {
    const SHOWN: usize = 200;
    match text.char_indices().nth(SHOWN) {
        None => text.into(),
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()).into(),
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {self})", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| {
            let source: &(dyn std::error::Error + 'static) = source;
            source
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_its_own_goes_with_the_error_and_not_with_another_kind() {
        let error = Error::new(ErrorKind::TableNotFound).with_code("ResourceNotFound").table("Company");
        for error in [error.again(), error.duplicate()] {
            assert_eq!(
                (error.kind(), error.code(), error.status()),
                (ErrorKind::TableNotFound, "ResourceNotFound", 404)
            );
        }
        assert_eq!(error.with_kind(ErrorKind::Io).code(), "InternalError");
        assert_eq!(Error::new(ErrorKind::TableNotFound).code(), "TableNotFound");
    }

    #[test]
    fn a_long_or_odd_key_is_shown_short_and_escaped() {
        let error = Error::new(ErrorKind::InvalidKey).attempted("insert into").row(&"\n".repeat(1_000));
        assert!(error.to_string().len() < 500, "{error}");
        assert!(!error.to_string().contains('\n'));
    }

    #[test]
    fn every_kind_has_a_code_of_its_status() {
        for kind in ErrorKind::ALL {
            assert!((400..=599).contains(&kind.status()), "{kind:?}");
            assert!(kind.code().chars().all(|c| c.is_ascii_alphabetic()), "{kind:?}");
            assert!(!kind.to_string().ends_with('.'), "{kind:?}");
        }
    }
}
