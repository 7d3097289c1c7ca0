//! "Did you mean": the known word that is nearest to an unknown one.

/// Returns the candidate that the user most likely meant, if one is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = plain(word);
    // A third of the word may be wrong, as in rustc's own suggestions.
    let most = word.chars().count().max(3) / 3;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        // `FirstName` for `first_name` is one mistake, however many letters it takes.
        let distance = if self::plain(candidate) == plain { 0 } else { distance(word, candidate) };
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `; did you mean ..?`, or nothing.
pub(crate) fn hint<'a, I: IntoIterator<Item = &'a str>>(word: &str, candidates: I) -> String {
    nearest(word, candidates).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}

/// Returns the word without what tells one case from another.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns how many letters must be put in, taken out, replaced or swapped with their neighbour to make `b` of `a`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // Three rows of the usual table: this one, the last and the one before it.
    let mut older: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut before = None;
    for (i, x) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        let mut left = i + 1;
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, j) + usize::from(x != *y);
            let mut cost = replaced.min(left + 1).min(at(&last, j + 1) + 1);
            let swapped = before == Some(*y) && j > 0 && b.get(j - 1) == Some(&x);
            if swapped && x != *y {
                cost = cost.min(at(&older, j - 1).saturating_add(1));
            }
            row.push(cost);
            left = cost;
        }
        older = std::mem::replace(&mut last, row);
        before = Some(x);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        let cases = [
            ("", "", 0),
            ("abc", "abc", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("department", "departmnt", 1),
            ("table", "tabel", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("größe", "grosse", 3),
        ];
        for (a, b, edits) in cases {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_is_suggested_and_nothing_far() {
        let fields = ["department", "id", "first_name", "last_name"];
        assert_eq!(nearest("departmnt", fields), Some("department"));
        assert_eq!(nearest("frist_name", fields), Some("first_name"));
        assert_eq!(nearest("FirstName", fields), Some("first_name"));
        assert_eq!(nearest("name", fields), None);
        assert_eq!(nearest("ie", fields), Some("id"));
        assert_eq!(nearest("email", fields), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn the_first_of_equally_near_ones_wins() {
        assert_eq!(nearest("ac", ["ab", "ad"]), Some("ab"));
    }
}
