//! Names of fields and variants in another case.

/// A case for names: serde's set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

/// Each case under the name that shows it.
pub(crate) const CASES: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    /// Returns the case of this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        CASES.iter().find(|(known, _)| *known == name).map(|(_, case)| *case)
    }

    /// Returns whether it puts `-` between words.
    pub(crate) fn is_kebab(self) -> bool {
        matches!(self, Self::Kebab | Self::ScreamingKebab)
    }

    // Only ASCII letters change: what a name is in the store must not depend on the compiler's Unicode tables.

    /// Returns a field's name, which is in snake case, in this one.
    pub(crate) fn of_field(self, field: &str) -> String {
        match self {
            Self::Lower | Self::Snake => field.to_owned(),
            Self::Upper | Self::ScreamingSnake => field.to_ascii_uppercase(),
            Self::Pascal => pascal(field),
            Self::Camel => lower_first(&pascal(field)),
            Self::Kebab => field.replace('_', "-"),
            Self::ScreamingKebab => field.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// Returns what the property of a field of this name is called, if that is the name of a field and no property is called so
    /// by this case.
    pub(crate) fn misnamed(self, name: &str) -> Option<String> {
        let is_field = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !name.contains(char::is_uppercase);
        Some(self.of_field(name)).filter(|property| is_field && property != name)
    }

    /// Returns a variant's name, which is in pascal case, in this one.
    pub(crate) fn of_variant(self, variant: &str) -> String {
        match self {
            Self::Pascal => variant.to_owned(),
            Self::Lower => variant.to_ascii_lowercase(),
            Self::Upper => variant.to_ascii_uppercase(),
            Self::Camel => lower_first(variant),
            Self::Snake => snake(variant),
            Self::ScreamingSnake => snake(variant).to_ascii_uppercase(),
            Self::Kebab => snake(variant).replace('_', "-"),
            Self::ScreamingKebab => snake(variant).to_ascii_uppercase().replace('_', "-"),
        }
    }
}

/// `first_name` as `FirstName`.
fn pascal(field: &str) -> String {
    let mut name = String::with_capacity(field.len());
    let mut first = true;
    for c in field.chars() {
        if c == '_' {
            first = true;
        } else {
            name.push(if first { c.to_ascii_uppercase() } else { c });
            first = false;
        }
    }
    name
}

/// `FirstName` as `first_name`.
pub(crate) fn snake(variant: &str) -> String {
    let mut name = String::with_capacity(variant.len() + 2);
    for (i, c) in variant.chars().enumerate() {
        if i > 0 && c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// `FirstName` as `firstName`.
fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_take_every_case() {
        let names = ["first_name", "id", "_x1", "a_b_c", "größe_b", "", "été"];
        let cases = [
            (Case::Lower, ["first_name", "id", "_x1", "a_b_c", "größe_b", "", "été"]),
            (Case::Upper, ["FIRST_NAME", "ID", "_X1", "A_B_C", "GRößE_B", "", "éTé"]),
            (Case::Pascal, ["FirstName", "Id", "X1", "ABC", "GrößeB", "", "été"]),
            (Case::Camel, ["firstName", "id", "x1", "aBC", "größeB", "", "été"]),
            (Case::Snake, ["first_name", "id", "_x1", "a_b_c", "größe_b", "", "été"]),
            (Case::ScreamingSnake, ["FIRST_NAME", "ID", "_X1", "A_B_C", "GRößE_B", "", "éTé"]),
            (Case::Kebab, ["first-name", "id", "-x1", "a-b-c", "größe-b", "", "été"]),
            (Case::ScreamingKebab, ["FIRST-NAME", "ID", "-X1", "A-B-C", "GRößE-B", "", "éTé"]),
        ];
        for (case, wanted) in cases {
            assert_eq!(names.map(|name| case.of_field(name)), wanted, "{case:?}");
        }
    }

    #[test]
    fn variants_take_every_case() {
        let names = ["Open", "VeryLate", "A", "ÜberAll"];
        let cases = [
            (Case::Lower, ["open", "verylate", "a", "Überall"]),
            (Case::Upper, ["OPEN", "VERYLATE", "A", "ÜBERALL"]),
            (Case::Pascal, ["Open", "VeryLate", "A", "ÜberAll"]),
            (Case::Camel, ["open", "veryLate", "a", "ÜberAll"]),
            (Case::Snake, ["open", "very_late", "a", "Über_all"]),
            (Case::ScreamingSnake, ["OPEN", "VERY_LATE", "A", "ÜBER_ALL"]),
            (Case::Kebab, ["open", "very-late", "a", "Über-all"]),
            (Case::ScreamingKebab, ["OPEN", "VERY-LATE", "A", "ÜBER-ALL"]),
        ];
        for (case, wanted) in cases {
            assert_eq!(names.map(|name| case.of_variant(name)), wanted, "{case:?}");
        }
    }

    #[test]
    fn a_case_is_named_by_example() {
        for (name, case) in CASES {
            assert_eq!(Case::parse(name), Some(case));
        }
        assert_eq!(Case::parse("Snake_Case"), None);
    }
}
