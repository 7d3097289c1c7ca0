//! Lists that mostly have one entry.

/// Things in their order, of which there is mostly one: that one needs no memory of its own.
#[derive(Clone, Debug)]
pub struct OneOrMore<T> {
    first: Option<T>,
    /// The items behind the first.
    others: Vec<T>,
}

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self { first: None, others: Vec::new() }
    }
}

impl<T> From<T> for OneOrMore<T> {
    fn from(only: T) -> Self {
        Self { first: Some(only), others: Vec::new() }
    }
}

impl<T> OneOrMore<T> {
    /// Adds one behind all others.
    pub fn push(&mut self, one: T) {
        if self.first.is_none() {
            self.first = Some(one);
        } else {
            self.others.push(one);
        }
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.first = None;
        self.others.clear();
    }

    /// Returns how many there are.
    #[expect(clippy::len_without_is_empty, reason = "every caller counts")]
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    /// Returns the item of this place.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        match at.checked_sub(1) {
            None => self.first.as_ref(),
            Some(at) => self.others.get(at),
        }
    }

    /// Returns the first.
    pub fn first(&self) -> Option<&T> {
        self.first.as_ref()
    }

    /// Returns the last.
    pub fn last(&self) -> Option<&T> {
        self.others.last().or(self.first.as_ref())
    }

    /// Returns the last, to be changed.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.others.last_mut().or(self.first.as_mut())
    }

    /// Returns the item of this place, to be changed.
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        match at.checked_sub(1) {
            None => self.first.as_mut(),
            Some(at) => self.others.get_mut(at),
        }
    }

    /// Returns all items, in their order, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(&mut self.others)
    }

    /// Returns all items, in their order, given away.
    pub(crate) fn into_all(self) -> impl Iterator<Item = T> {
        self.first.into_iter().chain(self.others)
    }

    /// Returns what `make` makes of each, in their order.
    pub(crate) fn map<U>(self, mut make: impl FnMut(T) -> U) -> OneOrMore<U> {
        let first = self.first.map(&mut make);
        OneOrMore { first, others: self.others.into_iter().map(make).collect() }
    }

    /// Returns all items, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.others)
    }
}

impl<T> FromIterator<T> for OneOrMore<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut all = all.into_iter();
        Self { first: all.next(), others: all.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_places_however_many_there_are() {
        for count in 0..4_usize {
            let mut list = OneOrMore::default();
            (0..count).for_each(|number| list.push(number));
            let all: Vec<_> = list.iter().copied().collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
            assert_eq!((list.len(), list.get(count)), (count, None));
            assert!((0..count).all(|number| list.get(number) == Some(&number)));
            assert_eq!((list.first(), list.last()), (all.first(), all.last()));
            assert_eq!(list.last_mut().map(|last| *last), all.last().copied());
            list.iter_mut().for_each(|number| *number += 1);
            if let Some(last) = count.checked_sub(1).and_then(|at| list.get_mut(at)) {
                *last += 1;
            }
            let changed: Vec<_> = (1..=count).map(|number| number + usize::from(number == count)).collect();
            assert_eq!(list.clone().into_all().collect::<Vec<_>>(), changed);
            let doubled = list.clone().map(|number| 2 * number).into_all();
            assert!(doubled.eq(changed.iter().map(|number| 2 * number)));
            let collected: OneOrMore<_> = all.iter().copied().collect();
            assert!(collected.iter().eq(&all));
        }
    }
}
