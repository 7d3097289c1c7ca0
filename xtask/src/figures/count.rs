//! Counts of one source file.

use super::source::{code_alone, parameters, without_comments};

/// The longest file that the project wants.
pub(crate) const LONG: usize = 400;

/// The most parameters that a function should have.
const MANY: usize = 5;

/// What is counted. Lines of tests are not among those of code and comments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) files: usize,
    pub(crate) long_files: usize,
    pub(crate) code: usize,
    /// Lines of comments that document an item.
    pub(crate) docs: usize,
    /// Lines of other comments. One behind code is not counted.
    pub(crate) comments: usize,
    pub(crate) test_code: usize,
    /// `pub(in ..)`.
    pub(crate) restricted: usize,
    pub(crate) tuple_parameters: usize,
    /// Functions with more than five parameters.
    pub(crate) many_parameters: usize,
    /// Doc comments that begin with "The same".
    pub(crate) the_same: usize,
}

impl Counts {
    /// Counts a file; of one that has tests alone, everything is tests' code.
    pub(crate) fn of(text: &str, is_test: bool) -> Self {
        let uncommented = without_comments(text);
        let lines: Vec<(&str, &str)> = text.lines().zip(uncommented.lines()).collect();
        let end = if is_test { 0 } else { tests_begin(&lines) };
        let (own, tests) = lines.split_at(end.min(lines.len()));
        let is_code = |(_, code): &&(&str, &str)| !code.trim().is_empty();
        let comments: Vec<&str> = own
            .iter()
            .filter(|(line, code)| code.trim().is_empty() && !line.trim().is_empty())
            .map(|(line, _)| line.trim_start())
            .collect();
        let docs = comments.iter().filter(|line| line.starts_with("///") || line.starts_with("//!")).count();
        let code = code_alone(text);
        let lists = parameters(&code);
        Self {
            files: 1,
            long_files: usize::from(lines.len() > LONG),
            code: own.iter().filter(is_code).count(),
            docs,
            comments: comments.len() - docs,
            test_code: tests.iter().filter(is_code).count(),
            restricted: code.matches("pub(in ").count(),
            tuple_parameters: lists.iter().flatten().filter(|parameter| is_tuple(parameter)).count(),
            many_parameters: lists.iter().filter(|list| list.len() > MANY).count(),
            the_same: the_same(text),
        }
    }

    /// Adds the counts of another file.
    pub(crate) fn add(&mut self, other: Self) {
        self.files += other.files;
        self.long_files += other.long_files;
        self.code += other.code;
        self.docs += other.docs;
        self.comments += other.comments;
        self.test_code += other.test_code;
        self.restricted += other.restricted;
        self.tuple_parameters += other.tuple_parameters;
        self.many_parameters += other.many_parameters;
        self.the_same += other.the_same;
    }
}

/// Returns the number of the line at which a module of tests begins, which stands at a file's end.
fn tests_begin(lines: &[(&str, &str)]) -> usize {
    let begins = |at: &usize| {
        let mut rest = lines.iter().skip(*at).map(|(line, _)| line.trim());
        rest.next().is_some_and(|line| line.starts_with("#[cfg(test)]"))
            && rest.find(|line| !line.starts_with("#[")).is_some_and(|line| line.ends_with('{'))
    };
    (0..lines.len()).find(begins).unwrap_or(lines.len())
}

/// Returns whether a parameter is a tuple, or a reference to one. `()` is none.
fn is_tuple(parameter: &str) -> bool {
    if parameter.starts_with('(') {
        return true;
    }
    let Some((_, of_type)) = parameter.split_once(':') else { return false };
    let of_type = of_type.trim().trim_start_matches('&').trim_start();
    let of_type = of_type.strip_prefix("mut ").unwrap_or(of_type);
    // Bounds that stand in brackets are no tuple either.
    of_type.starts_with('(') && !["()", "(impl ", "(dyn "].iter().any(|other| of_type.starts_with(other))
}

fn the_same(text: &str) -> usize {
    let (mut count, mut is_inside) = (0, false);
    for line in text.lines().map(str::trim_start) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let begins = !is_inside && comment.is_some_and(|text| text.trim_start().starts_with("The same"));
        count += usize::from(begins);
        is_inside = comment.is_some();
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! About.\n\nuse a::b; // why\n// Why.\n/// The same, of c.\n/// The same again.\n\
                        pub(in crate::x) fn f((a, b): (u8, u8), c: &mut (u8, u8), d: (), e: &(dyn E + 'static), \
                        g: &mut (impl G + ?Sized), h: u8) {}\n\
                        const S: &str = \"pub(in // no comment\n\n two\";\n\
                        #[cfg(test)]\nmod tests {\n    // why\n    fn t() {}\n}\n";

    #[test]
    fn a_file_is_counted() {
        let counts = Counts::of(FILE, false);
        let expected = Counts {
            files: 1,
            long_files: 0,
            code: 4,
            docs: 3,
            comments: 1,
            test_code: 4,
            restricted: 1,
            tuple_parameters: 2,
            many_parameters: 1,
            the_same: 1,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn everything_in_a_file_of_tests_is_tests_code() {
        let counts = Counts::of(FILE, true);
        assert_eq!((counts.code, counts.docs, counts.comments, counts.test_code), (0, 0, 0, 8));
    }

    #[test]
    fn a_module_of_tests_in_a_file_of_its_own_ends_nothing() {
        let text = "#[cfg(test)]\nmod tests;\nfn f() {}\n";
        assert_eq!(Counts::of(text, false).code, 3);
    }

    #[test]
    fn long_files_are_those_over_the_limit() {
        assert_eq!(Counts::of(&"a\n".repeat(LONG), false).long_files, 0);
        assert_eq!(Counts::of(&"a\n".repeat(LONG + 1), false).long_files, 1);
    }

    #[test]
    fn counts_are_added() {
        let mut sum = Counts::of(FILE, false);
        sum.add(Counts::of(FILE, true));
        assert_eq!((sum.files, sum.code, sum.test_code, sum.the_same), (2, 4, 12, 2));
    }
}
