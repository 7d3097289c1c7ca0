//! What plans put on index lists, and take off them.
//!
//! Nothing is read for it: the executor does it inside its transaction, as it adds to the numbers of summaries. The ids of a
//! list are sorted, each once, and lie in as many properties as they take. Where a row has no room for them they lie in a
//! blob, which the row refers to.

use std::borrow::Cow;

use crate::contents::{BlobId, reference};
use crate::error::{Error, ErrorKind, Result};
use crate::model::names::ENTITY_TYPE;
use crate::model::{Value, ValueRef};
use crate::schema::LIST_SEPARATOR;
use crate::{limits, sorting};

/// The properties in which the ids of a list lie, the first of which is always there. All of them full, and the keys, are
/// less than an entity may have.
const PROPERTIES: [&str; 15] = [
    "Ids", "Ids2", "Ids3", "Ids4", "Ids5", "Ids6", "Ids7", "Ids8", "Ids9", "Ids10", "Ids11", "Ids12",
    "Ids13", "Ids14", "Ids15",
];

/// The first of them. It is what refers to the blob of a list that is too long for a row.
const IDS: &str = "Ids";

/// The most UTF-16 units of a property.
const UNITS: usize = limits::STRING_UNITS;

/// The most bytes of a list in a blob: what a transaction may bring of a blob.
pub const MOST: usize = 4 << 20;

/// What becomes of an id on a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listing {
    pub(crate) id: String,
    /// Whether it is to be there.
    pub(crate) stays: bool,
}

/// What becomes of the row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListBecomes {
    /// It says so already.
    Same,
    /// No id is left, or ever was there.
    Gone,
    /// These are its properties.
    Row(Vec<(&'static str, Value)>),
    /// It has more ids than its row has room for, and this is their text.
    Long(String),
}

impl ListBecomes {
    /// Returns how many bytes the ids have that are written, with what stands between them.
    pub fn bytes(&self) -> Option<usize> {
        match self {
            Self::Same | Self::Gone => None,
            Self::Row(properties) => {
                let texts = properties.iter().filter(|(name, _)| *name != ENTITY_TYPE);
                Some(texts.filter_map(|(_, text)| text.as_str()).map(|text| text.len() + 1).sum())
            }
            Self::Long(text) => Some(text.len()),
        }
    }
}

/// What gives the value that a row has in a property, if it has one.
pub type TextOf<'n, 'v> = &'n mut dyn FnMut(&str) -> Result<Option<ValueRef<'v>>>;

/// Brings those for one list together: an id that any entity wants there stays.
pub(super) fn unite(listings: &mut Vec<Listing>, others: &[Listing]) {
    listings.extend_from_slice(others);
    sorting::sort_by(listings, |a, b| a.id.cmp(&b.id).then(b.stays.cmp(&a.stays)));
    listings.dedup_by(|next, first| next.id == first.id);
}

/// Returns the blob in which the ids of a list lie, and its length, if the row has no room for them.
pub fn blob_of(read: TextOf<'_, '_>) -> Result<Option<(BlobId, usize)>> {
    let Some(ValueRef::Binary(bytes)) = read(IDS)? else { return Ok(None) };
    // The bytes of a blob that is longer than a list can be are not read.
    let is_list = |(id, length)| Some((id, usize::try_from(length).ok().filter(|length| *length <= MOST)?));
    Ok(reference::decode(bytes).and_then(is_list))
}

/// Returns what a list's row says of a property, if its ids lie in a blob of these bytes.
pub fn with_blob<'v>(
    blob: Option<&'v [u8]>,
    name: &str,
    read: impl FnOnce() -> Result<Option<ValueRef<'v>>>,
) -> Result<Option<ValueRef<'v>>> {
    match blob.filter(|_| name == IDS) {
        // Bytes that are no text are no list's.
        Some(bytes) => Ok(Some(std::str::from_utf8(bytes).map_or(ValueRef::Binary(bytes), ValueRef::String))),
        None => read(),
    }
}

/// Returns the properties of the row of a list whose ids lie in a blob.
pub fn row_of_blob(kind: &'static str, id: BlobId, length: u64) -> Vec<(&'static str, Value)> {
    vec![(ENTITY_TYPE, Value::String(kind.into())), (IDS, Value::Binary(reference::encode(id, length)))]
}

/// Returns the ids on a list that is there, in order; an error if it is damaged.
pub fn ids_of<'v>(read: TextOf<'_, 'v>) -> Result<Vec<Cow<'v, str>>> {
    let ids = all_ids_of(read)?;
    if ids.windows(2).any(|pair| matches!(pair, [a, b] if a >= b)) {
        return Err(damaged("its ids are not in order"));
    }
    Ok(ids)
}

/// Returns the ids of a list in whatever order, each as often as it is there.
fn all_ids_of<'v>(read: TextOf<'_, 'v>) -> Result<Vec<Cow<'v, str>>> {
    let mut ids = Vec::new();
    for (at, property) in PROPERTIES.iter().enumerate() {
        match read(property)? {
            Some(ValueRef::String(text)) => ids.extend(text.split(LIST_SEPARATOR).map(Cow::Borrowed)),
            Some(_) => return Err(damaged("its ids are no text")),
            None if at == 0 => return Err(damaged("it has no ids")),
            None => break,
        }
    }
    Ok(ids)
}

/// Returns what becomes of a list with these changes; `old` gives the properties of the row that is there, if one is. `kind`
/// is the text of its `EntityType`, `index` the name of the index that an error gives, and `mends` says whether what is
/// damaged is to be put right.
pub(super) fn becomes(
    kind: &'static str,
    index: &str,
    listings: &[Listing],
    mends: bool,
    old: Option<TextOf<'_, '_>>,
) -> Result<ListBecomes> {
    let mut before = match old {
        None => Vec::new(),
        Some(read) if mends => all_ids_of(read).unwrap_or_default(),
        Some(read) => ids_of(read)?,
    };
    let is_in_order = before.is_sorted_by(|a, b| a < b);
    if !is_in_order {
        sorting::sort(&mut before);
        before.dedup();
    }
    let is_said =
        |listing: &Listing| before.binary_search_by(|id| (**id).cmp(&*listing.id)).is_ok() == listing.stays;
    if is_in_order && !before.is_empty() && listings.iter().all(is_said) {
        return Ok(ListBecomes::Same);
    }
    let ids = merged(&before, listings);
    if ids.is_empty() {
        return Ok(ListBecomes::Gone);
    }
    let texts = texts(&ids);
    if texts.len() > PROPERTIES.len() {
        let separator = LIST_SEPARATOR.len_utf8();
        let bytes = ids.iter().fold(0, |bytes, id| bytes + id.len() + separator).saturating_sub(separator);
        if bytes > MOST {
            return Err(too_long(index, ids.len()));
        }
        let mut text = String::with_capacity(bytes);
        for id in ids {
            if !text.is_empty() {
                text.push(LIST_SEPARATOR);
            }
            text.push_str(id);
        }
        return Ok(ListBecomes::Long(text));
    }
    let mut properties = vec![(ENTITY_TYPE, Value::String(kind.into()))];
    let named = PROPERTIES.iter().zip(texts);
    properties.extend(named.map(|(name, text)| (*name, Value::String(text))));
    Ok(ListBecomes::Row(properties))
}

/// Returns the ids that are there, without those that go and with those that come, in order.
fn merged<'i>(before: &'i [Cow<'_, str>], listings: &'i [Listing]) -> Vec<&'i str> {
    let (mut ids, mut changes) =
        (Vec::with_capacity(before.len() + listings.len()), listings.iter().peekable());
    for id in before.iter().map(|id| &**id) {
        while let Some(change) = changes.next_if(|change| *change.id < *id) {
            ids.extend(change.stays.then_some(&*change.id));
        }
        let change = changes.next_if(|change| change.id == id);
        ids.extend(change.is_none_or(|change| change.stays).then_some(id));
    }
    ids.extend(changes.filter(|change| change.stays).map(|change| &*change.id));
    ids
}

/// Returns the ids as the properties have them: as many in each as it takes.
fn texts(ids: &[&str]) -> Vec<String> {
    let (mut texts, mut units): (Vec<String>, usize) = (Vec::new(), 0);
    for id in ids {
        let more = id.chars().map(char::len_utf16).sum::<usize>() + 1;
        match texts.last_mut() {
            Some(text) if units + more <= UNITS => {
                text.push(LIST_SEPARATOR);
                text.push_str(id);
                units += more;
            }
            _ => {
                texts.push((*id).to_owned());
                units = more - 1;
            }
        }
    }
    texts
}

#[cold]
fn too_long(index: &str, ids: usize) -> Error {
    Error::new(ErrorKind::EntityTooLarge).because(format!(
        "the list would have {ids} ids, which are more than {} MiB of text; `#[index({index}, ..)]` has a row for each \
         entity, and no such end",
        MOST >> 20
    ))
}

/// Returns the refusal of an executor that has no blobs.
#[cold]
pub(super) fn no_room(index: &str) -> Error {
    Error::new(ErrorKind::EntityTooLarge).because(format!(
        "the list's row has room for no more than {} texts of {UNITS} characters, and the store keeps no blobs; \
         `#[index({index}, ..)]` has a row for each entity, and no such end",
        PROPERTIES.len()
    ))
}

#[cold]
pub fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt).because(format!(
        "the row is none of an index list: {what}; `Table::repair` of the entities mends it"
    ))
}
