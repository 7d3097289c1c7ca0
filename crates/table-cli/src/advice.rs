//! Which index reads less for a filter: one that a kind has, or one that it could have.

use table_core::EdmType;
use table_core::introspect::{IndexCondition, KindInfo};
use table_core::query::{Explain, QueryClass};
use table_core::schema::{AccessClass, AccessPattern};

use crate::terms::Term;

/// Returns what would make less be read of the entities of a kind, in a sentence; `None` if nothing would, or if the filter is
/// not about them.
pub(crate) fn advise(kind: &KindInfo, terms: &[Term], now: &Explain) -> Option<String> {
    if matches!(now.class(), QueryClass::Nothing | QueryClass::Point) {
        return None;
    }
    let asked = Asked::of(kind, terms)?;
    if let Some(found) = asked.index_that_is_there(now.class()) {
        return Some(found);
    }
    asked.index_that_could_be(now.class())
}

/// What a filter says of the properties of a kind.
struct Asked<'k> {
    kind: &'k KindInfo,
    /// Those of which one value is left.
    equal: Vec<String>,
    /// Those of which a range is left.
    ranges: Vec<String>,
    has_partition: bool,
}

impl<'k> Asked<'k> {
    fn of(kind: &'k KindInfo, terms: &[Term]) -> Option<Self> {
        let mut asked = Self { kind, equal: Vec::new(), ranges: Vec::new(), has_partition: false };
        let properties = kind.properties();
        for term in terms {
            match term.name.as_str() {
                "PartitionKey" => asked.has_partition |= term.is_equal,
                "RowKey" | "Timestamp" | "EntityType" => {}
                name => {
                    // A filter of another kind's property.
                    let property = properties.iter().find(|known| known.name == name)?;
                    if property.encrypted {
                        return None;
                    }
                    let list = if term.is_equal { &mut asked.equal } else { &mut asked.ranges };
                    list.push(name.to_owned());
                }
            }
        }
        if asked.equal.is_empty() && asked.ranges.is_empty() {
            return None;
        }
        if asked.has_partition {
            let fields = kind.keys(None).map(|keys| keys.fields()).unwrap_or_default();
            asked.equal.extend(fields.into_iter().filter(|field| field.in_partition).map(|field| field.name));
        }
        Some(asked)
    }

    fn knows(&self, name: &str) -> bool {
        self.equal.iter().any(|known| known == name)
    }

    fn reads(&self, pattern: &AccessPattern) -> Option<QueryClass> {
        if !pattern.given.iter().all(|name| self.knows(name)) {
            return None;
        }
        let narrowed = pattern.narrowed_by.as_ref();
        let is_narrowed = narrowed.is_some_and(|name| self.ranges.iter().any(|known| known == name));
        Some(match pattern.class {
            AccessClass::Point => QueryClass::Point,
            AccessClass::Range => QueryClass::Range,
            AccessClass::PartitionScan if is_narrowed => QueryClass::Range,
            AccessClass::PartitionScan => QueryClass::PartitionScan,
            _ => QueryClass::TableScan,
        })
    }

    /// Returns the index that answers the filter by reading less.
    fn index_that_is_there(&self, now: QueryClass) -> Option<String> {
        let indexes = self.kind.indexes();
        let condition = |name: &str| indexes.iter().find(|index| index.name == name)?.condition.clone();
        let is_left = |name: &str| !matches!(condition(name), Some(IndexCondition::Dropping));
        let patterns = self.kind.access_patterns();
        let better = patterns.iter().filter_map(|pattern| {
            let index = pattern.index.as_deref().filter(|name| is_left(name))?;
            // A range that says nothing of what the filter asks for would be no help.
            let helps = pattern.given.iter().chain(&pattern.narrowed_by).any(|name| self.is_asked(name));
            let class = self.reads(pattern).filter(|class| helps && *class < now)?;
            Some((class, index, pattern))
        });
        let (class, index, pattern) = better.min_by_key(|(class, ..)| *class)?;
        if let Some(condition) = condition(index).filter(|condition| *condition != IndexCondition::Ready) {
            return Some(format!("a {class} by `{index}`, once that can be read: it is {condition}"));
        }
        let kind = format!("{}/{}", self.kind.entities_table(), self.kind.kind());
        if class == QueryClass::Point {
            let given: Vec<_> = pattern.given.iter().map(|name| format!("{name}=..")).collect();
            return Some(format!("a point read by `{index}`: tables get {kind}.{index} {}", given.join(" ")));
        }
        let design = self.kind.design();
        let row = design.rows.iter().find(|row| row.name == index)?;
        let table = row.table.as_deref().unwrap_or_else(|| self.kind.entities_table());
        Some(format!(
            "a {class} by `{index}`, whose rows have the keys {} and {}: tables query {table} \
             \"PartitionKey eq '..'\" --copies",
            row.partition, row.row
        ))
    }

    /// Returns whether the filter itself says something of a property, and not by the partition key.
    fn is_asked(&self, name: &str) -> bool {
        let fields = self.kind.keys(None).map(|keys| keys.fields()).unwrap_or_default();
        let by_partition =
            self.has_partition && fields.iter().any(|field| field.in_partition && field.name == name);
        !by_partition && (self.knows(name) || self.ranges.iter().any(|known| known == name))
    }

    /// Returns a name for an index, with a number behind it if the kind has one of that name.
    fn free_name(&self, name: &str) -> String {
        let taken = self.kind.indexes();
        let is_free = |name: &String| taken.iter().all(|index| index.name != *name);
        let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
        std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
    }

    /// Returns the declaration of an index that would make the filter read less.
    fn index_that_could_be(&self, now: QueryClass) -> Option<String> {
        let in_row: Vec<_> =
            self.equal.iter().filter(|name| self.is_asked(name)).chain(self.ranges.first()).collect();
        let first = in_row.first()?;
        let name = self.free_name(&format!("by_{}", snake(first)));
        let own = self.kind.keys(None).ok()?.fields();
        let properties = self.kind.properties();
        let part = |name: &str| {
            let edm = properties
                .iter()
                .find(|known| known.name == *name)
                .map_or(EdmType::String, |known| known.edm);
            match edm {
                EdmType::Int32 | EdmType::Int64 => format!("{{{}:offset}}", snake(name)),
                EdmType::DateTime => format!("{{{}:ticks}}", snake(name)),
                _ => format!("{{{}}}", snake(name)),
            }
        };
        let begin: Vec<_> = in_row.iter().map(|name| part(name)).collect();
        // What tells entities apart that agree in what is asked for.
        let rest = own.iter().filter(|field| !in_row.contains(&&field.name));
        let rest: Vec<_> = rest
            .filter(|field| !(self.has_partition && field.in_partition))
            .map(|field| written(&field.name, &field.format))
            .collect();
        let row = [begin.join("_"), rest.join("_")].join("_");
        let (place, reads) = if self.has_partition {
            (String::new(), "a range")
        } else {
            (", partition = \"all\", atomic".to_owned(), "a range of one partition")
        };
        if now <= QueryClass::Range {
            return None;
        }
        Some(format!(
            "an index of `{}` would make it {reads}: #[index({name}{place}, row = \"{}_{}\")]",
            self.kind.kind(),
            snake(first),
            row.trim_end_matches('_')
        ))
    }
}

fn written(name: &str, format: &str) -> String {
    if format.is_empty() { format!("{{{}}}", snake(name)) } else { format!("{{{}:{format}}}", snake(name)) }
}

/// Returns the name that a field has whose property is called so: `last_name` of `LastName`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}
