//! What may be meant otherwise, where a query finds nothing.

use table_core::EdmType;
use table_core::introspect::KindInfo;

use crate::kinds::Kinds;
use crate::terms::Term;

/// What every row has, or rows that the store makes.
const OF_ALL: [&str; 7] = ["PartitionKey", "RowKey", "Timestamp", "ETag", "EntityType", "EntityParts", "Ids"];

/// The kinds of a table, by which names are known.
pub(crate) struct Hints<'h> {
    pub(crate) kinds: &'h Kinds,
    pub(crate) table: &'h str,
}

impl Hints<'_> {
    fn all(&self) -> impl Iterator<Item = &KindInfo> {
        self.kinds.in_table(self.table)
    }

    /// Returns what there is to say of names of properties. A row of no kind may have any, so nothing is said of a table that
    /// has noted none.
    pub(crate) fn of_names(&self, names: &[String]) -> Vec<String> {
        names.iter().filter_map(|name| self.of_name(name)).collect()
    }

    /// Returns what there is to say of comparisons that left nothing.
    pub(crate) fn of_terms(&self, terms: &[Term]) -> Vec<String> {
        terms.iter().filter_map(|term| self.of_name(&term.name).or_else(|| self.of_type(term))).collect()
    }

    fn of_name(&self, name: &str) -> Option<String> {
        let table = self.table;
        let mut alike = None;
        let mut is_any = false;
        for kind in self.all() {
            is_any = true;
            let in_keys: Vec<_> = kind.keys(None).map(|keys| keys.fields()).unwrap_or_default();
            if in_keys.iter().any(|field| field.name == name && field.is_whole) {
                return Some(format!(
                    "`{name}` of `{}` stands in the keys alone, so a filter asks for PartitionKey or RowKey: `tables schema \
                     {table}/{}` shows them",
                    kind.kind(),
                    kind.kind()
                ));
            }
            let (design, properties) = (kind.design(), kind.properties());
            let own = properties.iter().flat_map(|known| [Some(known.name.as_str()), known.token.as_deref()]);
            let held = design.rows.iter().flat_map(|row| row.holds.iter().map(|held| held.name.as_str()));
            for known in own.flatten().chain(held).chain(OF_ALL) {
                if known == name {
                    return None;
                }
                if known.eq_ignore_ascii_case(name) {
                    alike = Some(known.to_owned());
                }
            }
        }
        let meant = alike.map(|alike| format!("; there is `{alike}`")).unwrap_or_default();
        is_any.then(|| format!("no kind in `{table}` has a property `{name}`{meant}"))
    }

    /// Returns what there is to say of a property that is no text, and is compared with one.
    fn of_type(&self, term: &Term) -> Option<String> {
        let name = &term.name;
        let mut types = self.all().flat_map(KindInfo::properties).filter(|known| known.name == *name);
        let first = types.next()?;
        let is_text = |edm| edm == EdmType::String;
        if !term.is_text || first.encrypted || is_text(first.edm) || types.any(|known| is_text(known.edm)) {
            return None;
        }
        Some(format!("`{name}` is {}, and is compared with a text: leave the quotes out", first.edm.name()))
    }
}
