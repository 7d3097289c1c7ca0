//! The names of attributes and of the words in them.

// Attributes of `Entity` on the struct.
pub(crate) const ENTITY: &str = "entity";
pub(crate) const KEY: &str = "key";
pub(crate) const INDEX: &str = "index";
pub(crate) const INDEX_LIST: &str = "index_list";
pub(crate) const COPIED_INTO: &str = "copied_into";
pub(crate) const SUMMARY: &str = "summary";
pub(crate) const SUMMARIZED_IN: &str = "summarized_in";

// Attributes on fields.
pub(crate) const PROPERTY: &str = "property";
pub(crate) const FLATTEN: &str = "flatten";
pub(crate) const DUAL: &str = "dual";
pub(crate) const ENCRYPT: &str = "encrypt";
pub(crate) const SERIES: &str = "series";
pub(crate) const SIGNED: &str = "signed";
pub(crate) const BLOB: &str = "blob";
pub(crate) const COPY_OF: &str = "copy_of";
pub(crate) const PART: &str = "part";

// Attributes of the other derives.
pub(crate) const PROPERTIES: &str = "properties";
pub(crate) const PROJECTION: &str = "projection";
pub(crate) const ENTITY_SET: &str = "entity_set";
pub(crate) const KEY_PART: &str = "key_part";

// Words.
pub(crate) const ALLOW: &str = "allow";
pub(crate) const AS: &str = "as";
pub(crate) const ATOMIC: &str = "atomic";
pub(crate) const BLIND: &str = "blind";
pub(crate) const COPY: &str = "copy";
pub(crate) const COUNT: &str = "count";
pub(crate) const CRATE: &str = "crate";
pub(crate) const DEFAULT: &str = "default";
pub(crate) const EVENTUAL: &str = "eventual";
pub(crate) const FORMER: &str = "former";
pub(crate) const FROM: &str = "from";
pub(crate) const GONE: &str = "gone";
pub(crate) const JSON: &str = "json";
pub(crate) const KEEP: &str = "keep";
pub(crate) const KIND: &str = "kind";
pub(crate) const NAME: &str = "name";
pub(crate) const OF: &str = "of";
pub(crate) const PARTITION: &str = "partition";
pub(crate) const PARTITION_NAME: &str = "partition_name";
pub(crate) const PATCH_NAME: &str = "patch_name";
pub(crate) const PICTURE: &str = "picture";
pub(crate) const RENAME: &str = "rename";
pub(crate) const RENAME_ALL: &str = "rename_all";
pub(crate) const ROW: &str = "row";
pub(crate) const SCOPE: &str = "scope";
pub(crate) const SKIP: &str = "skip";
pub(crate) const SLOT: &str = "slot";
pub(crate) const SUM: &str = "sum";
pub(crate) const TABLE: &str = "table";
pub(crate) const TOKENS: &str = "tokens";
pub(crate) const TYPES: &str = "types";
pub(crate) const UNIQUE: &str = "unique";
pub(crate) const PLAIN: &str = "plain";
pub(crate) const UNKNOWN: &str = "unknown";
pub(crate) const VERSION: &str = "version";
pub(crate) const WAS: &str = "was";
pub(crate) const NEW: &str = "new";
pub(crate) const WHEN: &str = "when";
pub(crate) const WHEN_VERSION: &str = "when_version";
pub(crate) const WIDTH: &str = "width";
pub(crate) const WIDE: &str = "wide";

// What `copy = ..` says.
pub(crate) const ALL: &str = "all";
pub(crate) const KEYS: &str = "keys";

// What `types(..)` names, besides indexes.
pub(crate) const COLUMNS: &str = "columns";
pub(crate) const INDEXES: &str = "indexes";
pub(crate) const PATCH: &str = "patch";
pub(crate) const QUERY: &str = "query";
pub(crate) const VIEW: &str = "view";

// What `allow(..)` switches off.
pub(crate) const HOT_PARTITION: &str = "hot_partition";
