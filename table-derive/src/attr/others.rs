//! The attributes of the derives beside `Entity`, each named after its derive.

use syn::{LitStr, Path};

use super::{Fill, Slot, Words, value};
use crate::case::Case;
use crate::symbol::{CRATE, OF, RENAME, RENAME_ALL, UNKNOWN};

/// `#[properties(..)]`.
pub(crate) struct PropertiesWords {
    pub(crate) rename_all: Slot<Case>,
    pub(crate) krate: Slot<Path>,
}

impl Default for PropertiesWords {
    fn default() -> Self {
        Self { rename_all: Slot::new(value::property_case), krate: Slot::new(value::path) }
    }
}

impl Words for PropertiesWords {
    const KNOWN: &'static [&'static str] = &[RENAME_ALL, CRATE];
    const EXAMPLE: &'static str = "#[properties(rename_all = \"..\")]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            RENAME_ALL => &mut self.rename_all,
            CRATE => &mut self.krate,
            _ => return None,
        })
    }
}

/// `#[projection(..)]`.
pub(crate) struct ProjectionWords {
    pub(crate) of: Slot<Path>,
    pub(crate) krate: Slot<Path>,
}

impl Default for ProjectionWords {
    fn default() -> Self {
        Self { of: Slot::new(value::path), krate: Slot::new(value::path) }
    }
}

impl Words for ProjectionWords {
    const KNOWN: &'static [&'static str] = &[OF, CRATE];
    const EXAMPLE: &'static str = "#[projection(of = Entity)]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            OF => &mut self.of,
            CRATE => &mut self.krate,
            _ => return None,
        })
    }
}

/// `#[entity_set(..)]` on the enum.
pub(crate) struct EntitySetWords {
    pub(crate) krate: Slot<Path>,
}

impl Default for EntitySetWords {
    fn default() -> Self {
        Self { krate: Slot::new(value::path) }
    }
}

impl Words for EntitySetWords {
    const KNOWN: &'static [&'static str] = &[CRATE];
    const EXAMPLE: &'static str = "#[entity_set(crate = path)]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        match word {
            CRATE => Some(&mut self.krate),
            _ => None,
        }
    }
}

/// `#[entity_set(..)]` on a variant.
pub(crate) struct MemberWords {
    pub(crate) unknown: Slot<()>,
}

impl Default for MemberWords {
    fn default() -> Self {
        Self { unknown: Slot::new(value::flag) }
    }
}

impl Words for MemberWords {
    const KNOWN: &'static [&'static str] = &[UNKNOWN];
    const EXAMPLE: &'static str = "#[entity_set(unknown)]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        match word {
            UNKNOWN => Some(&mut self.unknown),
            _ => None,
        }
    }
}

/// `#[key_part(..)]` on a variant.
pub(crate) struct KeyVariantWords {
    pub(crate) rename: Slot<LitStr>,
}

impl Default for KeyVariantWords {
    fn default() -> Self {
        Self { rename: Slot::new(value::text) }
    }
}

impl Words for KeyVariantWords {
    const KNOWN: &'static [&'static str] = &[RENAME];
    const EXAMPLE: &'static str = "#[key_part(rename = \"..\")]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        match word {
            RENAME => Some(&mut self.rename),
            _ => None,
        }
    }
}

/// `#[key_part(..)]` on the type.
pub(crate) struct KeyPartWords {
    pub(crate) rename_all: Slot<Case>,
    pub(crate) krate: Slot<Path>,
}

impl Default for KeyPartWords {
    fn default() -> Self {
        Self { rename_all: Slot::new(value::case), krate: Slot::new(value::path) }
    }
}

impl Words for KeyPartWords {
    const KNOWN: &'static [&'static str] = &[RENAME_ALL, CRATE];
    const EXAMPLE: &'static str = "#[key_part(rename_all = \"..\")]";

    fn slot(&mut self, word: &str) -> Option<&mut dyn Fill> {
        Some(match word {
            RENAME_ALL => &mut self.rename_all,
            CRATE => &mut self.krate,
            _ => return None,
        })
    }
}
