//! Sorting, compiled once.
//!
//! The sort of the standard library is 2,600 lines of LLVM's for each type and order that it sorts by. Here it sorts places
//! alone, and what is compiled for each type is short. Lists of a few need not even that.

use std::cmp::Ordering;

/// How many elements are put in order one by one.
const FEW: usize = 16;

/// Sorts as `sort_by` does: equal elements stay in their order.
pub(crate) fn sort_by<T>(elements: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    if elements.len() > FEW {
        let mut order: Vec<usize> = (0..elements.len()).collect();
        sort_places(&mut order, &mut |a, b| match (elements.get(a), elements.get(b)) {
            (Some(a), Some(b)) => compare(a, b),
            _ => Ordering::Equal,
        });
        take_places(&mut order, &mut |a, b| elements.swap(a, b));
        return;
    }
    for end in 1..elements.len() {
        let mut at = end;
        while let Some([before, this]) = at.checked_sub(1).and_then(|before| elements.get(before..=at))
            && compare(before, this).is_gt()
        {
            elements.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Sorts as `sort_by_key` does.
#[doc(hidden)]
pub fn sort_by_key<T, K: Ord>(elements: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(elements, |a, b| key(a).cmp(&key(b)));
}

/// Sorts as `sort` does.
#[doc(hidden)]
pub fn sort<T: Ord>(elements: &mut [T]) {
    sort_by(elements, T::cmp);
}

fn sort_places(order: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

/// Brings to each place what `order` names there.
fn take_places(order: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        // What lay at the start is passed on around its circle.
        let mut at = start;
        while let Some(from) = order.get_mut(at).map(|from| std::mem::replace(from, at))
            && from != start
            && from != at
        {
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_sorted_as_the_standard_library_does() {
        let mut random = 1_u32;
        for length in (0..60).chain([100, 1_000]) {
            for distinct in [1, 2, 7, 1_000] {
                let mut next = |at| {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    ((random >> 16) % distinct, at)
                };
                let elements: Vec<(u32, usize)> = (0..length).map(&mut next).collect();
                let (mut sorted, mut expected) = (elements.clone(), elements);
                sort_by_key(&mut sorted, |(key, _)| *key);
                expected.sort_by_key(|(key, _)| *key);
                assert_eq!(sorted, expected, "{length} of {distinct}");
                sorted.reverse();
                sort(&mut sorted);
                expected.sort_unstable();
                assert_eq!(sorted, expected);
            }
        }
    }
}
